"""Records that are to be forgotten → files without them, open or packed, and a line that says so.

In: refs, sessions, keys or a namespace. Out: what goes out of which file, and then files in which it no
longer stands, nor in the copies that the state folder keeps of them. The line names refs and no word of what
was said; it comes first, so that nothing can be brought in again whatever happens next.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from huimem import files
from huimem.errors import Conflict, NotFound, UsageError, WriteFailed
from huimem.folders import seen_from
from huimem.months import archived
from huimem.records import Ref, Session
from huimem.vault.archive import restore, tell_again
from huimem.vault.facts import parse_facts, timeline
from huimem.vault.forgotten import FOLDER, forgotten
from huimem.vault.front import set_field
from huimem.vault.layout import file_name, namespace_folders, namespace_of, namespace_text, week_folder
from huimem.vault.markdown import sort_of
from huimem.vault.sources import session_of
from huimem.vault.vault import Vault

COPIES = ("recovered", "backups")
MARK = b"[forgotten]"
LEAST = 8  # bytes of a text that is looked for in other places: shorter ones stand everywhere


@dataclass(frozen=True, slots=True)
class Doomed:
    """What goes out of one file: the refs of its records, and what they say; `whole`: nothing stays."""

    path: str
    refs: tuple[str, ...]
    said: tuple[bytes, ...]
    whole: bool


@dataclass(frozen=True, slots=True)
class _Piece:
    """A record in a file: bytes [start, end)."""

    ref: Ref
    start: int
    end: int
    said: tuple[bytes, ...]


def doomed(
    vault: Vault, wanted: Sequence[str], *, key: str | None = None, namespace: str | None = None
) -> tuple[Doomed, ...]:
    """What goes out of which files. `wanted` are refs, or ids of sessions; `key` names a fact, in the
    `namespace` that is given, else the whole namespace with all below goes.

    What was forgotten before and stands nowhere is nothing. Raises `NotFound` for what never was there,
    `UsageError` where nothing is named.
    """
    if not wanted and key is None and namespace is None:
        raise UsageError("nothing is named to be forgotten", "Name a ref, --key or --namespace.")
    chosen: dict[str, set[Ref] | None] = {}
    if key is not None:
        _add_key(vault, key, namespace_text(namespace or ""), chosen)
    elif namespace is not None and not wanted:
        folder = vault.namespace_folder(namespace_text(namespace))
        if not folder:
            raise UsageError("the whole vault would be forgotten", "Delete its folder, if that is meant.")
        chosen |= {path: None for path in _listed(vault) if path.startswith(folder)}
        if not chosen:
            raise NotFound(f"no namespace {namespace}", "huimem list shows what is there.")
    for text in wanted:
        _add(vault, text, chosen)
    return tuple(_doomed(vault, path, refs) for path, refs in sorted(chosen.items()))


def _listed(vault: Vault) -> list[str]:
    """Every file, open or packed."""
    scan = vault.scan()
    return sorted([*scan.files, *(str(place) for place, _ in vault.archives.inside(scan.archives))])


def _add(vault: Vault, text: str, chosen: dict[str, set[Ref] | None]) -> None:
    """Add what a ref or an id of a session names."""
    try:
        ref = Ref.parse(text)
    except ValueError:
        owner, _, session = text.rpartition("/")
        paths = [path for path in _holding(vault, namespace_text(owner), session) if _pieces(vault, path)]
        chosen |= dict.fromkeys(paths)
        if not paths and not _known_gone(vault, f"{text}#"):
            raise NotFound(f"no session {text}", "huimem list shows what is there.") from None
        return
    paths = [path for path in _where(vault, ref) if any(piece.ref == ref for piece in _pieces(vault, path))]
    if not paths and not _known_gone(vault, text):
        raise NotFound(f"no record {text}", "huimem list shows what is there.")
    for path in paths:
        refs = chosen.setdefault(path, set())
        if refs is not None:
            refs.add(ref)


def _where(vault: Vault, ref: Ref) -> Iterable[str]:
    """The files that may hold a record: those of its session, or for a fact all of its namespace's."""
    if ref.mark == "#":
        return _holding(vault, ref.namespace, ref.session)
    return [path for path in vault.scan().files if namespace_of(path) == ref.namespace]


def _holding(vault: Vault, namespace: str, session: str) -> list[str]:
    """Every file of a session, open and packed: for a moment it may be both."""
    found = dict.fromkeys(vault.places(namespace, session))
    archives = [path for path in vault.scan().archives if namespace_of(path) == namespace]
    packed = vault.archives.inside(archives)
    found |= {str(place): None for place, member in packed if member.id == session}
    return [path for path in found if vault.stamp(path) and vault.id_of(path) == (namespace, session)]


def _add_key(vault: Vault, key: str, namespace: str, chosen: dict[str, set[Ref] | None]) -> None:
    for path in vault.scan().files:
        if namespace_of(path) == namespace:
            refs = {piece.ref for piece in _pieces(vault, path) if _of_key(piece.ref, key)}
            if refs:
                chosen[path] = refs
    if not chosen and not _known_gone(vault, f"{key}@"):
        raise NotFound(f"no fact of the key {key}", "huimem list --kind fact shows the keys.")


def _of_key(ref: Ref, key: str) -> bool:
    return ref.mark == "@" and ref.session.casefold() == key.casefold()


def _known_gone(vault: Vault, beginning: str) -> bool:
    """Whether a line says that this was forgotten."""
    gone, _ = forgotten(vault.root, [*namespace_folders(vault.root)])
    return any(ref.startswith(beginning) for ref in gone)


def _pieces(vault: Vault, path: str) -> list[_Piece]:
    data, original = vault.contents(path)
    if sort_of(data, original) == "facts":
        return _facts(vault, data, original)
    return _turns(session_of(data, original, zone=vault.zone), data)


def _turns(session: Session, data: bytes) -> list[_Piece]:
    found, at = [], 0
    for turn in session.turns:
        raws = [message.raw or b"" for message in turn.messages]
        start = data.find(raws[0], at)
        for raw in raws:
            at = data.find(raw, at) + len(raw)
        said = tuple(message.text.strip().encode("utf-8", "replace") for message in turn.messages)
        found.append(_Piece(turn.ref, start, at, said))
    return found


def _facts(vault: Vault, data: bytes, path: str) -> list[_Piece]:
    file = parse_facts(data, path, zone=vault.zone, namespace=namespace_of(path))
    refs = {fact.line: fact.ref for fact in timeline(file.versions, namespace=file.namespace, file=file.id)}
    found, at = [], 0
    for version in file.versions:
        raw = version.raw or b""
        start = data.find(raw, at)
        at = start + len(raw)
        if version.line in refs:
            said = (version.text.strip().encode("utf-8", "replace"),)
            found.append(_Piece(refs[version.line], start, at, said))
    return found


def _doomed(vault: Vault, path: str, refs: set[Ref] | None) -> Doomed:
    pieces = _pieces(vault, path)
    gone = [piece for piece in pieces if refs is None or piece.ref in refs]
    said = tuple(text for piece in gone for text in piece.said if text)
    whole = refs is None or len(gone) == len(pieces)
    return Doomed(path, tuple(str(piece.ref) for piece in gone), said, whole)


def owners(wanted: Sequence[str]) -> frozenset[tuple[str, str]]:
    """Namespace and id of the sessions that are named, or whose records are."""
    found = set()
    for text in wanted:
        with suppress(ValueError):
            ref = Ref.parse(text)
            found.add((ref.namespace, ref.session))
            continue
        owner, _, session = text.rpartition("/")
        found.add((namespace_text(owner), session))
    return frozenset(found)


def mark(vault: Vault, refs: Sequence[str], now: datetime) -> str:
    """Write down that these refs are forgotten; the path of the file that says so."""
    path = f"{FOLDER}/feedback_{week_folder(now, vault.zone)}.md"
    at = now.astimezone(vault.zone).strftime("%Y-%m-%d %H:%M:%S")
    lines = "".join(f"- {at} forgot {ref}\n" for ref in refs).encode()

    def with_lines(base: bytes) -> bytes:
        gap = b"" if base.endswith(b"\n") or not base else b"\n"
        return base + gap + lines

    files.rewrite(vault.root / path, with_lines, within=vault.root)
    return path


def take_out(vault: Vault, one: Doomed) -> None:
    """Take records out of their file; a packed one is put back first, and its archive made again without it.

    A file in which nothing is left is deleted. Raises `Locked`, `Conflict`, `WriteFailed`, `Unreadable`.
    """
    path = one.path
    if packed := archived(path):
        vault.archives.unpacked.drop([vault.archives.member(packed).sha256])
        path = restore(vault, packed)
    if vault.stamp(path) is None:  # it was packed as well, and went with that
        return
    owner = vault.id_of(path)
    with files.lock(vault.session_lock_path(*owner)):
        data, _ = files.read(vault.root / path, within=vault.root)
        pieces = _pieces(vault, path)
        gone = [piece for piece in pieces if str(piece.ref) in one.refs]
        if one.whole and len(gone) == len(pieces):  # nothing was said since, nor in a state that went on
            files.take_away(vault.root / path, data, within=vault.root)
            files.remove_folder((vault.root / path).parent, within=vault.root)
        elif gone:
            files.replace(vault.root / path, _without(vault, data, path, gone), data, within=vault.root)
    vault.forget_recorded(*owner)


def _without(vault: Vault, data: bytes, path: str, gone: Sequence[_Piece]) -> bytes:
    """A file without some records; where its title says what they said, the session's id is its title."""
    kept = data
    for piece in reversed(gone):
        kept = kept[: piece.start] + kept[piece.end :]
    if sort_of(data, path) != "session":
        return kept
    session = session_of(data, path, zone=vault.zone)
    if not _told_by_title(session.title, [text for piece in gone for text in piece.said]):
        return kept
    return _retitled(session, kept)


def _told_by_title(title: str, said: Collection[bytes]) -> bool:
    told = " ".join(title.split()).rstrip("…").rstrip().casefold()
    return bool(told) and any(
        told in " ".join(text.decode("utf-8", "replace").split()).casefold() for text in said
    )


def _retitled(session: Session, data: bytes) -> bytes:
    front = session.front
    for name, value in (("title", session.id), ("aliases", (session.id,))):
        if name in session.fields:
            with suppress(ValueError):
                front = set_field(front, name, value)
    head = session.preface_raw.replace(session.title.encode(), session.id.encode())
    return front + head + data[len(session.front) + len(session.preface_raw) :]


def scrub(vault: Vault, said: Collection[bytes]) -> int:
    """Take what was said, and every record ever forgotten, out of the copies that the state folder keeps.

    In how many something stood. What writers that died left behind is looked at too, and no unpacked file
    stays: it may be of a month that was put back since.
    """
    vault.rescue()
    _finish(vault)
    vault.archives.unpacked.empty()
    gone, _ = forgotten(vault.root, [*namespace_folders(vault.root)])
    refs = [Ref.parse(ref) for ref in gone]
    texts = sorted((text for text in said if len(text) >= LEAST), key=len, reverse=True)
    changed = 0
    for path in _copies(vault):
        with suppress(files.Unreadable, Conflict):
            data, _ = files.read(path)
            left = _scrubbed(vault, path.name, data, refs)
            for text in texts:
                left = left.replace(text, MARK)
            if left != data:
                files.replace(path, left, data)
                changed += 1
    return changed


def _finish(vault: Vault) -> None:
    """What an earlier run took out does not come back, and stands in no list beside an archive."""
    for place in filter(None, map(archived, sorted(vault.scan().archives))):
        with suppress(files.Unreadable):
            tell_again(vault, place)
    for folder, below, _ in os.walk(vault.root):
        below[:] = [name for name in below if not name.startswith(".")]
        with suppress(WriteFailed):  # of a folder that nobody may open nothing was taken
            files.settle(Path(folder, "any"), within=vault.root)


def _scrubbed(vault: Vault, name: str, data: bytes, refs: Sequence[Ref]) -> bytes:
    """A copy of a session's file, or of some of its messages, without the records of these refs."""
    session = session_of(data, name, zone=vault.zone)
    owners = {(ref.session, ref.at) for ref in refs}
    owners |= {(session.id, ref.at) for ref in refs if name.startswith(f"{file_name(ref.session)}-")}
    for piece in reversed(_turns(session, data)):
        if (piece.ref.session, piece.ref.at) in owners:
            data = data[: piece.start] + data[piece.end :]
    return data


def _copies(vault: Vault) -> list[Path]:
    folders = [vault.state / name for name in COPIES]
    return sorted(
        path for folder in folders if folder.is_dir() for path in folder.iterdir() if path.is_file()
    )


def still_said(vault: Vault, said: Collection[bytes]) -> tuple[str, ...]:
    """Files in which any of these texts still stands, byte for byte: the vault's, else those of its state.

    What another file says the index holds as well.
    """
    texts = [text for text in said if len(text) >= LEAST]
    own = [path for path in vault.root.rglob("*") if not path.is_relative_to(vault.state)]
    return _saying(vault, own, texts) or _saying(vault, vault.state.rglob("*"), texts)


def _saying(vault: Vault, paths: Iterable[Path], texts: Sequence[bytes]) -> tuple[str, ...]:
    found = []
    for path in sorted(paths):
        with suppress(OSError):
            if path.is_file() and not path.is_symlink() and any(map(path.read_bytes().__contains__, texts)):
                found.append(str(seen_from(vault.root, path)))
    return tuple(found)

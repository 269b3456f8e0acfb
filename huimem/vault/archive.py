"""Cold months → one checked archive each, and back.

In: a vault and a plan. Out: archives beside their manifests and lists; or the files again, byte for byte.
What is deleted is deleted last, one by one, and only while it equals what was read back from the disk. Any
step may be the last one: the next run goes on from what is there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from datetime import tzinfo
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Protocol

from huimem import files
from huimem.errors import Conflict, HuimemError, NotFound, Problem
from huimem.months import Archived
from huimem.vault import pack
from huimem.vault.archives import Archives
from huimem.vault.layout import namespace_of
from huimem.vault.pack import BadArchive, Manifest, Member
from huimem.vault.sources import digest, session_of

BRIEFLY = 0.2  # seconds that a session is waited for by whoever packs it

Contents = dict[str, tuple[Member, bytes]]


class Vault(Protocol):
    """What is asked of the vault whose months these are."""

    root: Path
    zone: tzinfo
    archives: Archives

    def id_of(self, path: str) -> tuple[str, str]: ...
    def stamp(self, path: str) -> files.Stamp | None: ...
    def prepare(self, name: str) -> Path: ...
    def session_lock_path(self, namespace: str, session: str) -> Path: ...


@dataclass(frozen=True, slots=True)
class Cold:
    """A file that may be packed: its path, the month it began in, that of the newest thing said in it, and
    what the manifest will say of it."""

    path: str
    month: str
    newest: str
    member: Member


@dataclass(frozen=True, slots=True)
class Done:
    """What became of one archive: how many files went into it or came out of it, its bytes, and the files
    that stay where they are, each with the reason."""

    place: Archived
    files: int = 0
    size: int = 0
    kept: tuple[Problem, ...] = ()


def archive(
    vault: Vault, place: Archived, cold: Sequence[Cold], published: Callable[[], None] | None = None
) -> Done:
    """Pack files into the archive of their month, and delete those that the archive is seen to hold.

    `published` is called once the archive stands, before anything is deleted. A file that changed stays,
    and so does one that somebody writes to. Raises `Locked`, `Conflict`, `WriteFailed`, or `Unreadable`
    where an archive stands there that cannot be read; then no file is gone.
    """
    with _month(vault, place):
        base, held = _held(vault, place)
        before = dict(held)
        going: list[tuple[Cold, bytes]] = []
        kept: list[Problem] = []
        for one in cold:
            data = _unchanged(vault, one)
            if data is None:
                kept.append(Problem(one.path, 0, "is not packed: it has just been changed"))
                continue
            going.append((one, data))
            _add(vault, held, one.member, data)
        if held != before:
            _write(vault, place, held, base)
        _tell(vault, place)
        if published is not None:
            published()
        deleted = [one for one, data in going if _deleted(vault, one, data, kept)]
        _remove_folders(vault, [one.path for one, _ in going])
        return Done(place, len(deleted), _size(vault, place), tuple(kept))


def restore_month(vault: Vault, place: Archived) -> Done:
    """Put all files of an archive back where they lay, then delete it.

    Where another file has taken a place, the packed one goes beside it. Raises `NotFound` where there is no
    such archive, `Unreadable` where it is damaged; nothing is written then.
    """
    with _month(vault, place):
        base, held = _held(vault, place)
        if base is None:
            raise NotFound(f"there is no {place.archive}", "huimem list shows what is there.")
        for member, data in held.values():
            _put_back(vault, place, member, data)
        _remove_archive(vault, place)
        return Done(place, len(held))


def restore(vault: Vault, place: Archived) -> str:
    """Put one file of an archive back and take it out of that; its path now. Raises as `restore_month`."""
    with _month(vault, place):
        base, held = _held(vault, place)
        if place.name not in held:
            raise NotFound(f"there is no {place}", "huimem list shows what is there.")
        path = _put_back(vault, place, *held.pop(place.name))
        if held:
            _write(vault, place, held, base)
            _tell(vault, place)
        else:
            _remove_archive(vault, place)
        return path


def tell_again(vault: Vault, place: Archived) -> None:
    """See that the manifest and the list beside an archive say what it holds: who changed it may have died
    before they did. Raises `Locked`, `WriteFailed`, `Unreadable`."""
    with _month(vault, place):
        if vault.stamp(place.archive):
            _tell(vault, place)


def _month(vault: Vault, place: Archived) -> AbstractContextManager[object]:
    """The lock of whoever changes an archive."""
    name = digest(place.archive.encode("utf-8", "surrogateescape"))
    return files.lock(vault.prepare("locks") / f"month-{name[:8]}.lock")


def _held(vault: Vault, place: Archived) -> tuple[bytes | None, Contents]:
    """The bytes of an archive and what it holds, all of it checked; None where there is none.

    Raises `Unreadable`.
    """
    if not vault.stamp(place.archive):
        return None, {}
    base = vault.archives.whole(place)
    try:
        return base, {member.name: (member, data) for member, data in pack.contents(base)}
    except BadArchive as error:
        raise vault.archives.bad(place, error) from error


def _unchanged(vault: Vault, one: Cold) -> bytes | None:
    """The bytes of a file, None where they are not what was planned with."""
    with suppress(files.Unreadable):
        data, _ = files.read(vault.root / one.path, within=vault.root)
        if digest(data) == one.member.digest:
            return data
    return None


def _add(vault: Vault, held: Contents, member: Member, data: bytes) -> None:
    """Add a file. Another one of its name that came in earlier stays, and this one gets a name beside it,
    unless it is that one, which was put back and went on."""
    there = held.get(member.name)
    if there is not None and there[0].digest != member.digest:
        if went_on(vault.zone, member.name, there[1], data):
            del held[member.name]
        else:
            member = replace(member, name=_beside(member.name, member.digest))
    held.setdefault(member.name, (member, data))


def went_on(zone: tzinfo, name: str, earlier: bytes, data: bytes) -> bool:
    """Whether the head of an earlier state of a session, and each of its messages, stand in it still."""
    before, after = (session_of(each, name, zone=zone) for each in (earlier, data))
    kept, now = (Counter((one.raw or b"").strip() for one in each.messages) for each in (before, after))
    return (before.front, before.preface_raw) == (after.front, after.preface_raw) and kept <= now


def _beside(path: str, mark: str) -> str:
    stem, _, ending = path.rpartition(".")
    return f"{stem}-{mark[:8]}.{ending}"


def _write(vault: Vault, place: Archived, held: Contents, base: bytes | None) -> None:
    """Write an archive, read back before it gets its name; the old one, `base`, goes when it stands."""
    path = vault.root / place.archive
    data = pack.pack(place.month, list(held.values()))

    def check(written: bytes) -> None:
        found = {member.name: data for member, data in pack.contents(written)}
        if found != {name: data for name, (_, data) in held.items()}:
            raise BadArchive("what was written is not what was to be written")

    try:
        if base is not None:
            files.replace(path, data, base, within=vault.root, check=check)
        else:
            files.make_folder(path.parent, within=vault.root)
            files.create(path, data, within=vault.root, check=check)
    except BadArchive as error:
        raise vault.archives.bad(place, error) from error


def _tell(vault: Vault, place: Archived) -> None:
    """Write the manifest and the list beside an archive, for people and for recovery by hand."""
    manifest = vault.archives.manifest(place)
    for path, data in beside(place, manifest).items():
        files.rewrite(vault.root / path, partial(_instead, data), within=vault.root)


def _instead(data: bytes, _: bytes) -> bytes:
    return data


def beside(place: Archived, manifest: Manifest) -> dict[str, bytes]:
    """What lies beside an archive: a copy of its manifest, and the list for people."""
    return {
        place.manifest: pack.text_of(manifest),
        place.listing: _listing(place, manifest.members).encode(),
    }


def in_order(members: Sequence[Member]) -> list[Member]:
    """Members in the order in which people are shown them."""
    return sorted(members, key=lambda member: (member.created, member.name))


def told(member: Member) -> tuple[str, str, str]:
    """What people are shown of a file: the day it began, its title, the ref of its first turn."""
    title = " ".join(member.title.split()) or member.id
    return member.created[:10], title, member.refs[0] if member.refs else member.id


def way_back(place: Archived) -> str:
    """The command line that puts a month back: `huimem unarchive 2025-12 --namespace work`."""
    owner = namespace_of(place.archive)
    return f"huimem unarchive {place.month}" + (f" --namespace {owner}" if owner else "")


def _listing(place: Archived, members: Sequence[Member]) -> str:
    """The text of the list that lies beside an archive."""
    lines = [f"- {day} · {title} · `{ref}`" for day, title, ref in map(told, in_order(members))]
    head = (
        f"# {place.month}\n\nPacked in `{place.month}.tar.zst`; every question still finds it.\n"
        f"`{way_back(place)}` puts the files back.\n\n"
    )
    return head + "\n".join(lines) + "\n"


def _deleted(vault: Vault, one: Cold, data: bytes, kept: list[Problem]) -> bool:
    """Delete a packed file; where it is no longer what was packed it is `kept`."""
    namespace, session = namespace_of(one.path), one.member.id
    try:
        # Who records holds the session and may wait for the month: whoever has the month does not wait.
        with files.lock(vault.session_lock_path(namespace, session), timeout=BRIEFLY):
            files.take_away(vault.root / one.path, data, within=vault.root, durable=False)
    except (HuimemError, OSError) as error:
        said = error.message if isinstance(error, HuimemError) else str(error.strerror)
        kept.append(
            Problem(one.path, 0, f"is packed and stays: {said}", "The next run packs it as it is then.")
        )
        return False
    return True


def _remove_folders(vault: Vault, paths: Sequence[str]) -> None:
    for folder in sorted({str(PurePosixPath(path).parent) for path in paths}):
        files.remove_folder(vault.root / folder, within=vault.root)


def _put_back(vault: Vault, place: Archived, member: Member, data: bytes) -> str:
    """Write a file where it lay, or beside what lies there now; its path."""
    path = place.owner + member.name
    for each in (path, _beside(path, member.digest)):
        with suppress(files.Unreadable):
            found, _ = files.read(vault.root / each, within=vault.root)
            if found == data or went_on(vault.zone, each, data, found):
                files.settle(vault.root / each, within=vault.root)
                return each
        files.make_folder((vault.root / each).parent, within=vault.root)
        with suppress(Conflict):
            files.create(
                vault.root / each, data, within=vault.root, mode=member.mode, mtime_ns=member.mtime_ns
            )
            return each
    raise Conflict(f"{path} cannot be restored: files lie there and beside it", "Move one of them away.")


def _remove_archive(vault: Vault, place: Archived) -> None:
    for path in (place.listing, place.manifest, place.archive):
        files.remove(vault.root / path, within=vault.root)


def _size(vault: Vault, place: Archived) -> int:
    stamp = vault.stamp(place.archive)
    return stamp.size if stamp else 0

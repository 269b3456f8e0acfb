"""Where things lie in a vault: names, folders, namespaces, and what belongs.

In: instants, labels, relative paths. Out: names that are safe on every disk, and whether a path belongs to
the vault. All rules are pure but for the listing of namespaces and the file that leaves out. Paths are
relative to the vault and use `/`.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, tzinfo
from hashlib import blake2b
from itertools import count
from pathlib import Path, PurePosixPath
from typing import Protocol
from urllib.parse import unquote_to_bytes

from huimem.errors import UsageError
from huimem.files import Unreadable, read
from huimem.vault.text import whole

NAMESPACES = "namespaces"
EVERYTHING = "**"  # as the last label of a question's namespace: with all below
IGNORE_FILE = ".huimemignore"
NAME_BYTES = 120
LABEL_BYTES = 80

_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{port}{n}" for port in ("com", "lpt") for n in "0123456789¹²³"]
)
_LABEL_SAFE = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789_-")
_SHORTENED = re.compile(r"[a-z0-9_%-]*~[0-9a-f]{16}")
_CONFLICT = re.compile(r"\.sync-conflict-|conflicted copy", re.IGNORECASE)
# What huimem keeps beside the notes and never indexes, by the name of its folder.
ASIDE = {"archive": re.compile(r"\d{4}-\d{2}\.md"), "feedback": re.compile(r"feedback_.*\.md", re.DOTALL)}
_OWN = re.compile(r"(?:namespaces/.+/)?(?:sessions/\d{4}-W\d\d/|facts/)|namespaces/")


def week_folder(at: datetime, zone: tzinfo) -> str:
    """The ISO week of `zone` that holds `at`, as `2026-W15`."""
    year, week, _ = at.astimezone(zone).isocalendar()
    return f"{year:04}-W{week:02}"  # %G has three digits for the year 202


def session_name(at: datetime, zone: tzinfo, taken: Callable[[str], bool]) -> str:
    """The id of a new session, `chat_2026-04-06_091423`; `-2`, `-3` … where that is taken."""
    here = at.astimezone(zone)
    return free_name(f"chat_{here.date().isoformat()}_{here:%H%M%S}", taken)


def free_name(name: str, taken: Callable[[str], bool]) -> str:
    """`name`, or the first of `name-2`, `name-3` … that is not taken."""
    return next(filter(lambda each: not taken(each), (f"{name}-{n}" if n > 1 else name for n in count(1))))


def file_name(session: str) -> str:
    """The file name of a session whose id somebody gave: the id itself where every disk can hold it."""
    safe = slug(session)
    return session if session.casefold() == safe else safe


def slug(text: str, *, limit: int = NAME_BYTES) -> str:
    """A file name (without ending) for `text`: never empty, at most `limit` bytes, safe on any disk.

    Letters, marks and digits of any script, `-` and `_`, NFC and case folded; all else is one `-`.
    A name that had to be cut, or of which nothing was left, ends in a hash of the whole text.
    """
    plain = folded(text)
    kept = "".join(c if c in "-_" or unicodedata.category(c)[0] in "LMN" else " " for c in plain)
    name = "-".join(kept.split()).strip("-_")
    if not name or len(name.encode()) > limit:
        name = f"{cut(name, limit - 9)}-{_hash(plain, 4)}".lstrip("-")
    return f"{name}_" if name in _DEVICES else name


def folded(name: str) -> str:
    """A name as disks compare it that do not tell cases apart: NFC and case folded."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def cut(text: str, limit: int) -> str:
    """`text` cut to at most `limit` bytes of UTF-8, between characters."""
    return text.encode()[:limit].decode(errors="ignore").rstrip("-_")


def _hash(text: str, size: int) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()


def encode_namespace(label: str) -> str:
    """One label as a folder name and as it stands in refs.

    `a-z 0-9 _ -` stand for themselves, every other byte is `%xx`; the names of Windows devices get
    their first letter encoded. Over 80 bytes: the beginning, `~` and a hash (the label itself then
    belongs in `namespace.toml`). Raises `UsageError` for an empty label.
    """
    if not label:
        raise UsageError("a namespace label is empty", "Name it with at least one character.")
    data = label.encode("utf-8", "surrogatepass")
    name = "".join(chr(byte) if byte in _LABEL_SAFE else f"%{byte:02x}" for byte in data)
    if name in _DEVICES:
        name = f"%{data[0]:02x}{name[1:]}"
    if len(name) > LABEL_BYTES:
        begin = re.sub(r"%.?$", "", name[: LABEL_BYTES - 17])
        name = f"{begin}~{_hash(label, 8)}"
    return name


def decode_namespace(name: str) -> str:
    """The label that `encode_namespace` wrote; a shortened one stays as it is."""
    return name if _SHORTENED.fullmatch(name) else unquote_to_bytes(name).decode("utf-8", "replace")


def namespace_text(text: str) -> str:
    """A namespace as people type it (`Alice/work`, encoded or not) in the one form used everywhere.

    The empty text is the root. Raises `UsageError` for an empty label between slashes.
    """
    if not text:
        return ""
    return "/".join(
        label if _SHORTENED.fullmatch(label) else encode_namespace(decode_namespace(label))
        for label in whole(text).split("/")
    )


def names_many(text: str) -> bool:
    """Whether a namespace as it was typed, `alice/**`, names all that lie below one."""
    return text.split("/")[-1] == EVERYTHING


def namespaces_asked(text: str | None) -> str | None:
    """The namespaces that a question names: `text` as for `namespace_text`, `/**` behind it for all below.

    None, the root alone, and `**`, everything, stay what they are.
    """
    if text is None or text == EVERYTHING:
        return text
    owner = text.removesuffix(f"/{EVERYTHING}")
    return namespace_text(owner) if owner == text else f"{namespace_text(owner)}/{EVERYTHING}"


def namespace_folder(namespace: str) -> str:
    """`alice/work` → `namespaces/alice/namespaces/work`; the root is the empty path."""
    if not namespace:
        return ""
    return "/".join(f"{NAMESPACES}/{label}" for label in namespace_text(namespace).split("/"))


def namespace_folders(root: Path, folder: str = "") -> Iterator[str]:
    """The folders of all namespaces as they stand on disk, "" or ending in /, the vault's own first."""
    yield folder
    with suppress(OSError), os.scandir(root / folder / NAMESPACES) as entries:
        names = [one.name for one in entries if one.is_dir(follow_symlinks=False) and not ignored(one.name)]
        for name in sorted(names):
            yield from namespace_folders(root, f"{folder}{NAMESPACES}/{name}/")


def namespace_of(path: str) -> str:
    """The namespace that a file's path lies in: `namespaces/alice/sessions/…` → `alice`."""
    return split_namespace(path)[0]


def split_namespace(path: str) -> tuple[str, str]:
    """The namespace of a path and the rest of the path inside it."""
    labels, parts = [], path.split("/")
    while len(parts) > 2 and parts[0] == NAMESPACES and parts[1]:
        labels.append(parts[1])
        parts = parts[2:]
    return namespace_text("/".join(labels)), "/".join(parts)


def inside(path: str) -> bool:
    """Whether a path that somebody gave is a plain place below the vault, hidden files left out."""
    parts = PurePosixPath(path).parts
    plain = bool(parts) and not any(part.startswith(".") or "\\" in part or "\0" in part for part in parts)
    return plain and not path.startswith("/") and ":" not in parts[0]


def ignored(name: str) -> bool:
    """Whether a name is nobody's note: hidden, an editor's, a sync program's or a writer's temp file."""
    return (
        name[0] in ".~#"
        or name[-1] == "~"
        or name == "4913"
        or name.endswith((".swp", ".swx", ".tmp", ".part"))
    )


def note_name(name: str) -> bool:
    """Whether a name is that of a Markdown file that may belong to a vault."""
    return name.endswith((".md", ".MD")) and not ignored(name)


def conflict_copy(name: str) -> bool:
    """Whether a sync program made this copy of a note that was changed on two machines."""
    return _CONFLICT.search(name) is not None


class _Spec(Protocol):
    def match_file(self, path: str) -> bool: ...


def _spec(patterns: Iterable[str]) -> _Spec:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(patterns)


@dataclass(frozen=True, slots=True)
class Filter:
    """What belongs to a vault, by relative path: one rule for the scan and for whoever watches."""

    include: _Spec | None = None
    exclude: _Spec | None = None

    @classmethod
    def of(cls, root: Path, include: Sequence[str] = ()) -> Filter:
        """The filter of a vault: `.huimemignore` leaves out, `include` narrows (gitignore patterns).

        Raises `Unreadable` where there is such a file and its patterns cannot be known.
        """
        try:
            lines = read(root / IGNORE_FILE, within=root)[0].decode("utf-8", "replace").splitlines()
        except Unreadable as error:
            if not error.gone:
                raise
            lines = []
        return cls(_spec(include) if include else None, _spec(lines) if lines else None)

    @property
    def all(self) -> bool:
        return self.include is None and self.exclude is None

    def takes(self, path: str) -> bool:
        """Whether a file with a good name belongs; what huimem itself writes is always included."""
        if self.exclude is not None and self.exclude.match_file(path):
            return False
        return self.include is None or _OWN.match(path) is not None or self.include.match_file(path)

    def enters(self, folder: str) -> bool:
        return self.exclude is None or not self.exclude.match_file(f"{folder}/")

    def lists(self, path: str) -> bool:
        """Whether a scan lists a regular file of that path: what belongs, by name and by place."""
        *folders, name = path.split("/")
        aside = ASIDE.get(folders[-1]) if folders else None
        named = note_name(name) and not conflict_copy(name) and not (aside and aside.fullmatch(name))
        if not named or any(map(ignored, folders)) or not encodable(path):
            return False
        entered = ("/".join(folders[:depth]) for depth in range(1, len(folders) + 1))
        return self.takes(path) and all(map(self.enters, entered))


def printable(path: str) -> str:
    """A path that can be shown and stored, whatever bytes its name is made of."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def encodable(path: str) -> bool:
    """Whether a name is UTF-8, so that it can be stored and shown as it is."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True

"""A file, a folder, a zip or standard input → its documents: named streams of bytes, opened one at a time.

Nothing is unpacked to disk. What cannot be opened is told with its name and stops nothing.
"""

from __future__ import annotations

import io
import lzma
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO

from huimem.errors import UsageError
from huimem.importers.glance import HEAD, Glance, glance
from huimem.importers.options import Skipped
from huimem.importers.streams import stream

STDIN = "-"
# What an export may be made of; everything else in a folder is none of ours.
_PACKED = (".zip", ".tar.zst")
_ENDINGS = (".json", ".jsonl", ".ndjson", ".md", *_PACKED)


@dataclass(frozen=True, slots=True)
class Document:
    """One file of an export. `modified` is its date, UTC; `size` in bytes, 0 where nobody knows.

    `name` is shown, `file` its last part alone; `path` is where it lies, None for what lies in another
    file. `open` may be called again, but on standard input only once; there `head` holds what was read.
    """

    name: str
    modified: datetime
    size: int
    open: Callable[[], BinaryIO]
    head: bytes | None = None
    file: str = ""
    path: Path | None = None

    @property
    def stem(self) -> str:
        """The file's name without its ending."""
        name = self.file or self.name.rpartition("/")[2]
        return name.rpartition(".")[0] or name

    def glance(self) -> Glance:
        """What its first bytes show. Raises OSError, and zipfile's errors, where it cannot be read."""
        name = self.file or self.name
        if self.head is not None:
            return glance(name, self.head)
        with self.open() as opened:
            return glance(name, opened.read(HEAD))

    def digest(self, place: str = "") -> bytes:
        """blake2b-128 of all its bytes, another one for each place that it is brought to."""
        found = blake2b(place.encode(), digest_size=16)
        with self.open() as opened:
            while data := opened.read(1 << 20):
                found.update(data)
        return found.digest()


def documents(source: Path, now: datetime, stdin: BinaryIO | None = None) -> Iterator[Document | Skipped]:
    """The documents of a source in order; a folder's by date, then name. `-` is standard input, of `now`.

    Raises UsageError for a source that is not there.
    """
    if str(source) == STDIN:
        yield _standard_input(stdin, now)
    elif source.is_dir():
        refused: list[OSError] = []
        for path in _below(source, refused.append):
            yield from _opened(path, path.relative_to(source).as_posix())
        for error in refused:
            place = Path(os.fsdecode(error.filename)).relative_to(source).as_posix()
            yield Skipped("" if place == "." else f"{place}/", _cannot(error, "a folder that cannot be read"))
    elif source.is_file():
        yield from _documents(source, source.name)
    elif source.exists():
        raise UsageError(f"{source} is neither a file nor a folder", "Name an export.")
    else:
        raise UsageError(f"{source} does not exist", "Check its path; a shell expands ~ only without quotes.")


def _below(folder: Path, refused: Callable[[OSError], None]) -> list[Path]:
    """Files below a folder, hidden ones and links left out: the oldest first, archives behind all others."""
    found = []
    for above, folders, names in os.walk(folder, onerror=refused):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(above, name)
            if name.startswith(".") or not name.lower().endswith(_ENDINGS) or path.is_symlink():
                continue
            with suppress(OSError):
                if path.is_file():
                    packed = name.lower().endswith(_PACKED)
                    found.append((packed, path.stat().st_mtime_ns, path))
    return [path for *_, path in sorted(found)]


def _opened(path: Path, name: str) -> Iterator[Document | Skipped]:
    """The documents of a file that may be gone by now."""
    try:
        yield from _documents(path, name)
    except OSError as error:
        yield Skipped(name, _cannot(error, "cannot be read"))


def is_zip(path: Path) -> bool:
    """Whether a file is a zip, whole or not, by its name or by what it holds."""
    return path.suffix.lower() == ".zip" or zipfile.is_zipfile(path)


def _documents(path: Path, name: str) -> Iterator[Document | Skipped]:
    status = path.stat()
    if is_zip(path):
        yield from _zipped(path, name)
        return
    try:
        modified = datetime.fromtimestamp(int(status.st_mtime), UTC)
    except (ValueError, OverflowError):
        modified = datetime(1980, 1, 1, tzinfo=UTC)
    yield Document(name, modified, status.st_size, lambda: path.open("rb"), file=path.name, path=path)


def _zipped(path: Path, name: str) -> Iterator[Document | Skipped]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        yield Skipped(name, _cannot(error, "a zip that cannot be read"))
        return
    for member in sorted(members, key=lambda member: member.filename):
        shown = f"{name}: {member.filename}"
        parts = member.filename.split("/")
        if member.is_dir() or not parts[-1].lower().endswith(_ENDINGS[:-2]):
            continue
        if any(part.startswith(".") for part in parts if part not in (".", "..")):
            continue
        if member.flag_bits & 1:
            yield Skipped(shown, "encrypted: unpack it first")
            continue
        file = member.filename.rpartition("/")[2]
        yield Document(shown, _date_of(member), member.file_size, _opener(path, member), file=file)


def _date_of(member: zipfile.ZipInfo) -> datetime:
    """A zip gives wall clocks without a zone."""
    with suppress(ValueError):
        return datetime(*member.date_time, tzinfo=UTC)
    return datetime(1980, 1, 1, tzinfo=UTC)


def _opener(path: Path, member: zipfile.ZipInfo) -> Callable[[], BinaryIO]:
    """Opens a member, whose archive is closed with it."""

    def opened() -> BinaryIO:
        with ExitStack() as until_closed:
            archive = until_closed.enter_context(zipfile.ZipFile(path))
            data = until_closed.enter_context(archive.open(member))
            return stream(data.read, until_closed.pop_all().close)

    return opened


def _standard_input(stdin: BinaryIO | None, now: datetime) -> Document:
    if stdin is None:
        raise UsageError("standard input is closed", "Send an export through a pipe, or name its file.")
    head = b""
    while len(head) < HEAD and (data := stdin.read(HEAD - len(head))):
        head += data
    if head.startswith(b"PK\x03\x04"):
        raise UsageError("a zip cannot be read from standard input", "Name its file: huimem import FILE.")
    first = io.BytesIO(head)
    joined = stream(lambda size: first.read(size) or stdin.read(size))
    return Document(STDIN, now, 0, lambda: joined, head)


def refusal(error: Exception) -> str:
    """Why a document cannot be read to its end, "" where it is no fault of the document's."""
    if isinstance(error, (OSError, EOFError, zipfile.BadZipFile, zlib.error, lzma.LZMAError)):
        return _cannot(error, "cannot be read further")
    if isinstance(error, NotImplementedError):
        return "cannot be read further (packed in a way that is not known here)"
    return ""


def _cannot(error: Exception, what: str) -> str:
    """What cannot be done, and the system's word for it; no text of the error, which may quote a file."""
    return f"{what} ({getattr(error, 'strerror', None) or type(error).__name__})"

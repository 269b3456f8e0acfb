"""Digests of derived files: what tells a file from one in which a single bit is another.

In: files, and for SQLite's the journal that goes into them. Out: numbers. They are sums of checksums and
keep no attacker out: they tell of a disk that gives back something else than was written to it. The digest
of a database is a sum over its blocks, so that a write costs what it changes and not what the file holds.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from zlib import crc32

from huimem.index import raw

BLOCK = 1 << 14  # bytes: a checksum of so many lets other threads run
_AT_ONCE = 1 << 20  # bytes of one read
# What tantivy writes behind each file: a version and a checksum as JSON, the length of that, a mark; both
# numbers in four bytes, little-endian.
_FOOTER = re.compile(rb'\{"version":(\{[^{}]{1,200}\}),"crc":(\d{1,10})\}')
_FOOTER_MARK = 1337
_LONGEST_FOOTER = 300
# https://www.sqlite.org/fileformat.html: of the journal, its header and that before each page in it.
_HEADER, _FRAME = 32, 24

Stop = Callable[[], bool]


def never() -> bool:
    return False


class Stopped(Exception):
    """Nobody waits for the digest any more."""


def of_file(path: Path, stop: Stop = never) -> int:
    """The checksum of all bytes. Raises OSError, `Stopped`."""
    found = 0
    with open(path, "rb", buffering=0) as file:
        while data := file.read(_AT_ONCE):
            found = crc32(data, found)
            if stop():
                raise Stopped
    return found


def of_words(path: Path) -> int:
    """The same of a file that tantivy has just written, from the checksum in its footer where it has one."""
    with open(path, "rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - _LONGEST_FOOTER))
        tail = file.read(_LONGEST_FOOTER)
    found = footer(tail)
    return crc32(tail[found.start() :], int(found[2])) if found else of_file(path)


def footer(tail: bytes) -> re.Match[bytes] | None:
    """What tantivy says at the end of a file: its version, and the checksum of all that stands before."""
    end = len(tail) - 8
    if end <= 0 or int.from_bytes(tail[end + 4 :], "little") != _FOOTER_MARK:
        return None
    start = end - int.from_bytes(tail[end : end + 4], "little")
    return _FOOTER.fullmatch(tail, start, end) if start >= 0 else None


def of_database(path: Path, stop: Stop = never) -> int:
    """The digest of all blocks of a SQLite file as they stand on the disk. Raises OSError, `Stopped`."""
    with raw.reading(path) as descriptor:
        size = os.fstat(descriptor).st_size
        found = 0
        for start in range(0, size, _AT_ONCE):
            data = memoryview(raw.read(descriptor, _AT_ONCE, start))
            for at in range(0, len(data), BLOCK):
                found += crc32(data[at : at + BLOCK], (start + at) // BLOCK)
            if stop():
                raise Stopped
    return found


@dataclass(slots=True)
class Tally:
    """The digest of a SQLite file while it is written to; `total` None: it will be made from all bytes.

    The one writer says `leaving` each time before the journal goes into the file, and may say `arrived`
    once it has closed it. Nobody else may move the journal meanwhile.
    """

    path: Path
    total: int | None = None
    _size: int = -1
    _blocks: set[int] = field(default_factory=set)

    def leaving(self) -> None:
        """Take out what the journal is about to overwrite. Raises OSError."""
        if self.total is None:
            return
        with raw.reading(self.path) as descriptor:
            size = os.fstat(descriptor).st_size
            self._size = size if self._size < 0 else self._size
            last = {self._size // BLOCK}  # the file may become longer
            blocks = (_overwritten(self.path.with_name(f"{self.path.name}-wal")) | last) - self._blocks
            self.total -= _sum(descriptor, blocks)
            self._blocks |= blocks

    def arrived(self) -> int:
        """The digest of what stands there now. Raises OSError."""
        if self.total is None or self._size < 0:
            return of_database(self.path)
        with raw.reading(self.path) as descriptor:
            size = os.fstat(descriptor).st_size
            if size < self._size:
                return of_database(self.path)
            self._blocks.update(range(self._size // BLOCK, -(-size // BLOCK)))
            return self.total + _sum(descriptor, self._blocks)


def _sum(descriptor: int, blocks: Iterable[int]) -> int:
    found = 0
    for number in blocks:
        if data := raw.read(descriptor, BLOCK, number * BLOCK):
            found += crc32(data, number)
    return found


def _overwritten(journal: Path) -> set[int]:
    """The blocks of which a journal holds pages, those of an older use of it too."""
    blocks: set[int] = set()
    with suppress(FileNotFoundError), open(journal, "rb", buffering=0) as file:
        page = int.from_bytes(file.read(_HEADER)[8:12], "big")
        size = os.fstat(file.fileno()).st_size
        for at in range(_HEADER, size - page, _FRAME + page) if page else ():
            number = int.from_bytes(raw.read(file.fileno(), 4, at), "big") - 1
            blocks.update(range(number * page // BLOCK, ((number + 1) * page - 1) // BLOCK + 1))
    return blocks

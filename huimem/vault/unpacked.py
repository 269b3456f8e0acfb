"""Unpacked files of archives, kept for a while: a second look costs no unpacking.

Derived, in the state folder: entries are named by the hash of their bytes and checked against it, so a
half-written or changed one is never used. It may be deleted at any time, also while others read.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from huimem import files
from huimem.errors import HuimemError

FOLDER = "unpacked"
MOST_BYTES = 256 << 20  # of all entries; the longest unused go first
OFTEN = 64  # entries added until old ones are looked for again
# Nothing else there is ours to read or delete: neither a path that an archive gives as a hash, nor what lies
# in a folder that somebody put in the place of this one.
_ENTRY = re.compile(r"[0-9a-f]{64}")


def changed(state: Path) -> Iterator[str]:
    """Names of entries below a state folder that no longer hold what their names say."""
    for path in sorted((state / FOLDER).glob("*")):
        with suppress(OSError):
            if _ENTRY.fullmatch(path.name) and sha256(path.read_bytes()).hexdigest() != path.name:
                yield path.name


class Unpacked:
    """The kept files of one vault. Nothing here fails: without a disk every read unpacks anew."""

    def __init__(
        self, state: Path, hours: float, most: int = MOST_BYTES, clock: Callable[[], float] = time.time
    ) -> None:
        self._folder = state / FOLDER
        self._seconds = hours * 3600
        self._most = most
        self._clock = clock
        self._until_cleaning = 0

    def get(self, digest: str) -> bytes | None:
        """The bytes of that SHA-256; None where they are not kept, or are no longer what they were."""
        if self._seconds <= 0 or not _ENTRY.fullmatch(digest):
            return None
        path = self._folder / digest
        try:
            data, _ = files.read(path, within=self._folder.parent)
        except files.Unreadable:
            return None
        if sha256(data).hexdigest() != digest:
            self.drop([digest])
            return None
        self._use(path)
        return data

    def put(self, digest: str, data: bytes) -> None:
        """Keep bytes, which nobody may write to; with no hours to keep them for, nothing is kept."""
        if self._seconds > 0 and len(data) <= self._most and _ENTRY.fullmatch(digest):
            with suppress(HuimemError, OSError):
                files.own_folder(self._folder.parent, self._folder.name)
                files.jot(self._folder / digest, data, mode=0o400)
                self._use(self._folder / digest)
        self._until_cleaning -= 1
        if self._until_cleaning < 0:
            self.clean()

    def _use(self, path: Path) -> None:
        now = self._clock()
        with suppress(OSError):  # another process may just have deleted it
            os.utime(path, (now, now))

    def drop(self, digests: Iterable[str]) -> int:
        """Delete entries; how many there were."""
        return sum(map(self._deleted, filter(_ENTRY.fullmatch, digests)))

    def empty(self) -> None:
        """Delete all entries."""
        self.drop([name for name, _, _ in self._entries()])

    def clean(self) -> None:
        """Delete what nobody has used for so long, and the longest unused of what is too much.

        An entry used in the future, by a clock that was wrong, is as old as one can be.
        """
        self._until_cleaning = OFTEN
        entries, left = self._entries(), []
        now = self._clock()  # after the listing: what others use meanwhile is not of the future
        for name, used, size in entries:
            if 0 <= now - used <= self._seconds and not files.leftover(name):
                left.append((used, size, name))
            else:
                self._deleted(name)
        whole = sum(size for _, size, _ in left)
        for _, size, name in sorted(left):
            if whole <= self._most:
                break
            whole -= size
            self._deleted(name)

    def _entries(self) -> list[tuple[str, float, int]]:
        """Name, last use and size of what is ours there, temp files among it."""
        ours, found = [], []
        with suppress(OSError), os.scandir(self._folder) as entries:
            ours = [one for one in entries if _ENTRY.fullmatch(one.name) or files.TEMP.fullmatch(one.name)]
        for entry in ours:
            with suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                found.append((entry.name, status.st_mtime, status.st_size))
        return found

    def _deleted(self, name: str) -> bool:
        with suppress(OSError):
            if not self._folder.is_symlink():
                os.unlink(self._folder / name)
                return True
        return False

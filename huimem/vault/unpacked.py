"""Unpacked files of archives, kept for a while: a second look costs no unpacking.

Derived, in the state folder: entries are named by the hash of their bytes and checked against it, so a
half-written or changed one is never used. It may be deleted at any time, also while others read.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from huimem import files
from huimem.errors import WriteFailed

FOLDER = "unpacked"
MOST_BYTES = 256 << 20  # of all entries; the longest unused go first
OFTEN = 64  # entries added until old ones are looked for again


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
        path = self._folder / digest
        try:
            data, _ = files.read(path)
        except files.Unreadable:
            return None
        if sha256(data).hexdigest() != digest:
            self.drop([digest])
            return None
        now = self._clock()
        with suppress(OSError):
            os.utime(path, (now, now))
        return data

    def put(self, digest: str, data: bytes) -> None:
        """Keep bytes, which nobody may write to; with no hours to keep them for, nothing is kept."""
        if self._seconds <= 0 or len(data) > self._most:
            return
        with suppress(WriteFailed):
            if not self._folder.is_dir():
                files.make_derived_folder(self._folder.parent)
                files.make_folder(self._folder)
            files.jot(self._folder / digest, data, mode=0o400)
            now = self._clock()
            os.utime(self._folder / digest, (now, now))
        self._until_cleaning -= 1
        if self._until_cleaning < 0:
            self.clean()

    def drop(self, digests: Iterable[str]) -> int:
        """Delete entries; how many there were."""
        gone = 0
        for digest in digests:
            with suppress(OSError):
                os.unlink(self._folder / digest)
                gone += 1
        return gone

    def clean(self) -> None:
        """Delete what nobody has used for so long, and the longest unused of what is too much.

        An entry used in the future, by a clock that was wrong, is as old as one can be.
        """
        self._until_cleaning = OFTEN
        now, left = self._clock(), []
        for name, used, size in self._entries():
            if 0 <= now - used <= self._seconds:
                left.append((used, size, name))
            else:
                self.drop([name])
        whole = sum(size for _, size, _ in left)
        for _, size, name in sorted(left):
            if whole <= self._most:
                break
            whole -= size
            self.drop([name])

    def _entries(self) -> list[tuple[str, float, int]]:
        found = []
        with suppress(OSError), os.scandir(self._folder) as entries:
            for entry in entries:
                with suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    found.append((entry.name, status.st_mtime, status.st_size))
        return found

"""What a process comes to use for the first time → whether the disk gives back what was written there.

In: the state folder, at each use of it. Out: names of files that hold other bytes than were sealed. Few
bytes are read at once, before anything is answered from them; many in a thread that gives way, once the
process has stayed for a moment: most commands end before. Files that come to be while it lives are read
too; what is written into the catalog meanwhile is not, for whoever does so is alive.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from huimem.index import rot, seal
from huimem.index.digests import Stopped
from huimem.index.seal import CATALOG, EMBEDDINGS, JOURNAL, SEAL, Entries
from huimem.yielding import give_way

# Bytes that are read at once, at the beginning (some 25 ms) and of files that others made later.
AT_ONCE, LATER = 16 << 20, 1 << 20
DELAY = 1.0  # seconds
LONGEST_PAUSE = 60.0  # until the catalog is read once more where somebody wrote to it meanwhile
_LONGEST_STOP = 2.0

Known = dict[str, object]


class Touch:
    """What one process has read of an index once, or written itself. Usable from several threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._guard = threading.Lock()
        self._seal: object = None  # by which the last look went
        self._known: Known | None = None
        self._rotten: frozenset[str] = frozenset()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def found(self) -> frozenset[str]:
        """The files that are known to hold other bytes; what is new is read, or begun to be."""
        with self._guard:
            if self._thread is not None and not self._thread.is_alive():
                self._thread = None
            if self._thread is None:
                self._look()
            return self._rotten

    def wrote(self) -> None:
        """This process has changed the index: that is read by nobody."""
        with self._guard:
            if self._known is not None and self._thread is None:
                self._seal = _seal_of(self._folder)
                self._known = _marks(self._folder, seal.entries(self._folder) or seal.NONE)

    def confirmed(self, *, thorough: bool) -> frozenset[str]:
        """What is so still of what was found, `thorough`: of everything. The caller holds the lock."""
        if not (thorough or self._rotten):
            return frozenset()
        return rot.rotten(self._folder, None if thorough else self._rotten)

    def mended(self) -> None:
        """What was found is known no longer."""
        with self._guard:
            self._rotten = frozenset()

    def stop(self) -> None:
        """End the thread."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(_LONGEST_STOP)

    def _look(self) -> None:
        """Read what is new by the seal; where there is none, others write and will leave one."""
        sealed_by = _seal_of(self._folder)
        if sealed_by == self._seal or (entries := seal.entries(self._folder)) is None:
            return
        first, known, marks = self._known is None, self._known or {}, _marks(self._folder, entries)
        self._seal, self._known = sealed_by, marks
        fresh = {name for name, mark in marks.items() if known.get(name) != mark}
        fresh |= {EMBEDDINGS} if first else set()
        sizes = (seal.stamp(self._folder, name) for name in fresh)
        if sum(size for size, _ in filter(None, sizes)) <= (AT_ONCE if first else LATER):
            self._read(fresh)
            if _seal_of(self._folder) != sealed_by:  # somebody wrote meanwhile
                self._seal, marks[CATALOG] = None, None
            return
        delay = DELAY if first else 0.0
        work = threading.Thread(target=self._run, args=(fresh, delay), name="huimem-reading", daemon=True)
        self._thread = work
        work.start()

    def _run(self, names: Collection[str], delay: float) -> None:
        while not self._ended.wait(delay):
            give_way()
            before = _seal_of(self._folder)
            self._read(names)
            if CATALOG not in names or before == _seal_of(self._folder) is not None:
                return
            names, delay = {CATALOG}, min(max(1.0, 2 * delay), LONGEST_PAUSE)

    def _read(self, names: Collection[str]) -> None:
        with suppress(Stopped):
            self._rotten |= rot.rotten(self._folder, names, self._ended.is_set)


def _seal_of(folder: Path) -> object:
    try:
        status = os.stat(folder / SEAL)
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def _marks(folder: Path, entries: Entries) -> Known:
    """What tells each file from another one: of the catalog, into which is written, which file it is."""
    marks: Known = {name: entry for name, entry in entries.items() if name != JOURNAL}
    with suppress(OSError):
        marks[CATALOG] = os.stat(folder / CATALOG).st_ino
    return marks

"""Files and catalog → the difference, and the difference → batches that are published one by one.

In: a listing of paths with their stamps, and a function that reads one. Out: an index that agrees with
the files. Reading and cutting hold no lock; only publishing a batch does.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

from huimem import files, forking
from huimem.errors import HuimemError, Problem, unexpected
from huimem.index import catalog, lexical, repair
from huimem.index.batch import (
    Batch,
    CutSource,
    Held,
    as_problems,
    as_text,
    cut_source,
    held,
    postings,
    stands,
)
from huimem.index.disk import file_clock
from huimem.index.mentions import Times
from huimem.index.rows import Changes, SyncReport
from huimem.index.seal import Damaged
from huimem.records import Source

Read = Callable[[str], Source]
T = TypeVar("T")
Progress = Callable[[int, int], None]

MOST_SOURCES = 1_000  # in one batch
MOST_CHUNKS = 10_000  # in one batch: bounds memory and the time that the lock is held
SECOND_LOOK = 0.1  # seconds until what is gone or shrank is looked at again
LOOKS = 5
RACY_NS = 2_000_000_000  # the coarsest clock of a file system still in use (FAT) ticks every 2 s


def compare(
    db: sqlite3.Connection,
    listing: Mapping[str, str],
    *,
    only: Collection[str] | None = None,
    unreadable: Collection[str] = (),
    full: bool = False,
) -> Changes:
    """How `listing` (path → stamp) differs from the catalog.

    `only`: paths or folders; nothing else is looked at. What is missing below an `unreadable` folder
    is not taken for deleted. `full` doubts every file.
    """
    known = {path: (stamp, racy) for path, stamp, racy in db.execute("SELECT path, stamp, racy FROM source")}
    if only is not None:
        listing = {path: stamp for path, stamp in listing.items() if _under(path, only)}
        known = {path: seen for path, seen in known.items() if _under(path, only)}
    new, changed, shrunk, doubtful, unchanged = [], [], [], [], 0
    for path, stamp in listing.items():
        seen = known.get(path)
        if seen is None:
            new.append(path)
        elif seen[0] != stamp:
            changed.append(path)
            if _size(stamp) < _size(seen[0]):
                shrunk.append(path)
        elif seen[1] or full:
            doubtful.append(path)
        else:
            unchanged += 1
    removed = [path for path in known.keys() - listing.keys() if not _under(path, unreadable)]
    return Changes(
        tuple(new), tuple(changed), tuple(sorted(removed)), tuple(doubtful), unchanged, tuple(shrunk)
    )


def _size(stamp: str) -> int:
    """How many bytes a file had; 0 where its stamp does not say."""
    try:
        return files.Stamp.parse(stamp).size
    except ValueError:
        return 0


def _under(path: str, places: Collection[str]) -> bool:
    """Whether `path` is one of the places or lies in one; "" is the vault itself."""
    if path in places or "" in places or "." in places:
        return True
    return any(path.startswith(f"{place.rstrip('/')}/") for place in places)


def is_racy(stamp: str, clock: int) -> bool:
    """Whether a file changed so shortly before `clock` that a later change may leave the same stamp."""
    try:
        parsed = files.Stamp.parse(stamp)
    except ValueError:
        return False
    return any(abs(clock - at) < RACY_NS for at in (parsed.mtime_ns, parsed.ctime_ns))


@dataclass(frozen=True, slots=True)
class Listing:
    """What lies in a vault at one moment: path → stamp, and what could not be looked at."""

    stamps: Mapping[str, str]
    unreadable: tuple[str, ...] = ()


def settled(
    seen: Listing, compare: Callable[[Listing], Changes], again: Callable[[], Listing] | None
) -> tuple[Listing, Changes]:
    """The listing and its changes once what is gone or shrank looks the same twice in a row.

    A save may empty a file or take it away for a moment. Where nothing comes to rest, the last look counts.
    """
    changes = compare(seen)
    for _ in range(LOOKS if again else 0):
        moving = {path: seen.stamps.get(path) for path in (*changes.removed, *changes.shrunk)}
        if not moving or again is None:
            break
        with forking.divided():
            time.sleep(SECOND_LOOK)
        seen = again()
        changes = compare(seen)
        if moving == {path: seen.stamps.get(path) for path in (*changes.removed, *changes.shrunk)}:
            break
    return seen, changes


@dataclass(frozen=True, slots=True)
class Spared:
    """When files that are gone are not believed to be: more than `most` and than `share` of all at once.

    `most` None: never. `confirmed`: paths that an earlier look has missed too, and are believed, unless
    nothing is left at all.
    """

    most: int | None = None
    share: float = 0.0
    confirmed: frozenset[str] = frozenset()

    def holds(self, gone: set[str], known: int) -> bool:
        if self.most is None or len(gone) <= max(self.most, self.share * known):
            return False
        return not gone <= self.confirmed or len(gone) == known


EVERY = Spared()  # whatever is gone goes


@dataclass(slots=True)
class _Ready:
    """What one batch will publish."""

    sources: list[CutSource] = field(default_factory=list)
    restamped: list[tuple[str, str, bool, str]] = field(default_factory=list)
    complaints: list[tuple[str, Problem]] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    looked_at: int = 0
    chunks: int = 0

    @property
    def full(self) -> bool:
        return self.looked_at >= MOST_SOURCES or self.chunks >= MOST_CHUNKS

    def add(self, source: CutSource) -> None:
        self.sources.append(source)
        self.chunks += sum(len(one.chunks or ()) for one in source.records)

    def __bool__(self) -> bool:
        return bool(self.sources or self.restamped or self.complaints or self.removed)


@dataclass(slots=True)
class Sync:
    """One run: reads what differs and publishes it batch by batch through `writing`.

    `writing` yields the writer's connection while the lock is held. `times`: how time words are read, None
    = not at all. `spared` says which files that are gone are held and not taken out. `stop` is asked
    before each file; what it leaves is `pending`.
    """

    folder: Path
    listing: Mapping[str, str]
    read: Read
    writing: Callable[[], AbstractContextManager[sqlite3.Connection]]
    times: Times | None = None
    progress: Progress | None = None
    spared: Spared = EVERY
    stop: Callable[[], bool] | None = None
    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    problems: list[Problem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    held: tuple[str, ...] = ()
    missed: int = 0
    _serial: str = ""
    _terms: dict[str, int] = field(default_factory=dict)
    _generation: int = -1
    _moved: dict[str, list[str]] = field(default_factory=dict)

    def run(self, changes: Changes) -> SyncReport:
        """Carry out `changes`."""
        with forking.undivided(), closing(catalog.connect(self.folder)) as db:
            self.unchanged, self._serial = changes.unchanged, catalog.serial(db)
            self._moved = _by_digest(db, changes.removed)
            paths = (*changes.new, *changes.changed, *changes.doubtful)
            left = set(changes.removed)
            done = 0
            for ready in self._batches(db, paths):
                left -= {one.held.path for one in ready.sources if one.held}
                done += ready.looked_at
                if done == len(paths):
                    ready.removed = self._to_remove(db, left)
                if ready and not self._publish(ready):
                    self.missed += len(paths) - done + ready.looked_at + len(left)
                    break
                if self.progress is not None:
                    self.progress(done, len(paths))
        return SyncReport(
            self.added,
            self.changed,
            self.removed,
            self.unchanged,
            tuple(self.problems),
            tuple(self.warnings),
            held=self.held,
            pending=0 if self.missed else len(paths) - done,
            missed=self.missed,
        )

    def _to_remove(self, db: sqlite3.Connection, left: set[str]) -> list[str]:
        """Of the files that are gone and did not move, those to take out: all or, if too many, none."""
        (known,) = db.execute("SELECT count(*) FROM source").fetchone()
        if self.spared.holds(left, known):
            self.held = tuple(sorted(left))
            return []
        return sorted(left)

    def _batches(self, db: sqlite3.Connection, paths: Sequence[str]) -> Iterator[_Ready]:
        """At least one batch, the last of which may be empty."""
        ready, clock = _Ready(), file_clock(self.folder)
        for path in paths:
            if ready.full:
                yield ready
                ready, clock = _Ready(), file_clock(self.folder)
            if self.stop is not None and self.stop():
                break
            ready.looked_at += 1
            self._look(db, path, clock, ready)
        yield ready

    def _look(self, db: sqlite3.Connection, path: str, clock: int, ready: _Ready) -> None:
        """Read one file and add to the batch what must be done about it."""
        try:
            path.encode()
        except UnicodeEncodeError:
            name = path.encode("utf-8", "backslashreplace").decode()
            problem = Problem(name, 0, "the file's name is not valid UTF-8", "Rename it to index it.")
            self.problems.append(problem)
            return
        before = held(db, path)
        with forking.divided():
            source = self._tried(db, path, ready, lambda: self.read(path))
        if source is None:
            return
        stamp = self.listing[path]
        racy = is_racy(stamp, clock)
        if stands(before, source):
            self.unchanged += 1
            facts = (stamp, racy, as_text(source.problems))
            if not _is_stamped(db, path, facts):
                ready.restamped.append((path, *facts))
            return
        before = before or self._moved_from(db, source)
        cut = partial(cut_source, source, before, self.times, stamp=stamp, racy=racy)
        made = self._tried(db, path, ready, cut)
        if made is not None:
            ready.add(made)

    def _tried(self, db: sqlite3.Connection, path: str, ready: _Ready, work: Callable[[], T]) -> T | None:
        """What `work` makes of a file; None where it cannot, which is a problem of that file alone."""
        try:
            return work()
        except files.Unreadable as error:
            if not error.gone:  # then the next listing will say so too
                self._complain(db, Problem(path, 0, error.message, error.hint), ready)
        except HuimemError as error:
            self._complain(db, Problem(path, 0, error.message, error.hint), ready)
        except OSError as error:
            remedy = "Check the disk and its permissions."
            self._complain(db, Problem(path, 0, error.strerror or str(error), remedy), ready)
        except Exception as error:  # a fault of ours that one file brings out must not stop the others
            remedy = "This is a bug in huimem: please report it. All other files are indexed."
            self._complain(db, Problem(path, 0, unexpected(error), remedy), ready)
        return None

    def _complain(self, db: sqlite3.Connection, problem: Problem, ready: _Ready) -> None:
        path = problem.path
        self.problems.append(problem)
        found = db.execute("SELECT problems FROM source WHERE path = ?", (path,)).fetchone()
        if not found or as_problems(found[0]) != [problem]:
            ready.complaints.append((path, problem))

    def _moved_from(self, db: sqlite3.Connection, source: Source) -> Held | None:
        """The removed path that held just these bytes, if any: the file was moved."""
        old = self._moved.get(source.digest)
        return held(db, old.pop()) if old else None

    def _publish(self, ready: _Ready) -> bool:
        """Publish a batch; False where the catalog is not the one that it was made for."""
        with self.writing() as db:
            before, self._generation = self._generation, -1
            with catalog.transaction(db):
                if catalog.serial(db) != self._serial:
                    return False
                if catalog.generation(db) != before:
                    self._terms.clear()  # another writer may have dropped words
                self._apply(db, ready)
                after = catalog.generation(db) + 1
            self._generation = after
        return True

    def _apply(self, db: sqlite3.Connection, ready: _Ready) -> None:
        (first,) = db.execute("SELECT next FROM counter WHERE name = 'chunk'").fetchone()
        gone = [row for (row,) in db.execute("SELECT row FROM gone_words")]
        batch = Batch(db, self._terms)
        removed = [path for path in ready.removed if batch.remove(path)]
        for one in ready.sources:
            if batch.put(one):
                self.problems.extend(one.source.problems)
                self.added += one.held is None
                self.changed += one.held is not None
            else:
                self.missed += 1
        for same in ready.restamped:
            batch.restamp(*same)
        for path, problem in ready.complaints:
            batch.complain(path, problem)
        batch.finish()
        self.removed += len(removed)
        (after,) = db.execute("SELECT next FROM counter WHERE name = 'chunk'").fetchone()
        if after > first:
            self._publish_words(db, first, gone)

    def _publish_words(self, db: sqlite3.Connection, first: int, gone: list[int]) -> None:
        """Words go first: what is not yet in the catalog is dropped by readers, never the reverse."""
        if first > 1 and not lexical.exists(self.folder):
            repair.rebuild_words(self.folder, db)
            self.warnings.append("the word index was missing and is rebuilt")
            return
        try:
            lexical.publish(self.folder, postings(db, first), gone, first)
            db.executemany("DELETE FROM gone_words WHERE row = ?", [(row,) for row in gone])
        except Damaged:
            repair.rebuild_words(self.folder, db)
            self.warnings.append("the word index was damaged and is rebuilt")


def _by_digest(db: sqlite3.Connection, paths: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in reversed(paths):
        row = db.execute("SELECT digest FROM source WHERE path = ? AND digest != ''", (path,)).fetchone()
        if row:
            found.setdefault(row[0], []).append(path)
    return found


def _is_stamped(db: sqlite3.Connection, path: str, facts: tuple[str, bool, str]) -> bool:
    """Whether the catalog says the very same of a file that holds what it held."""
    found = db.execute("SELECT stamp, racy, problems FROM source WHERE path = ?", (path,)).fetchone()
    return bool(found == facts)

"""The difference between files and catalog → batches that are published one by one.

In: a listing of paths with their stamps, and a function that reads one. Out: an index that agrees with
the files. Reading and cutting hold no lock; only publishing a batch does.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

from huimem import files, forking
from huimem.errors import HuimemError, Problem, unexpected
from huimem.index import catalog, lexical, repair
from huimem.index.batch import Batch, as_problems, as_text, held, postings, stands
from huimem.index.crew import Crew, Look
from huimem.index.differing import EVERY as EVERY
from huimem.index.differing import Listing as Listing
from huimem.index.differing import Spared as Spared
from huimem.index.differing import compare as compare
from huimem.index.differing import is_racy, size
from huimem.index.differing import settled as settled
from huimem.index.disk import file_clock
from huimem.index.mentions import Times
from huimem.index.packed import Months, archive_of, by_digest, is_archive, is_overtaken, opened, stands_open
from huimem.index.rows import Changes, SyncReport
from huimem.index.seal import Damaged
from huimem.index.sources import CutSource, Held, Uncut, cut_source
from huimem.records import Packed, Source

Read = Callable[[str], Source | Packed]
T = TypeVar("T")
Progress = Callable[[int, int], None]

MOST_SOURCES = 1_000  # in one batch
CLOCK_EVERY = 50  # files: how often it is asked what time it is
FEW_PAGES = 4_096  # KiB of the catalog that are kept in memory where one row a file is looked up
MOST_CHUNKS = 10_000  # in one batch: bounds memory and the time that the lock is held
MOST_TERMS = 500_000  # words whose numbers are kept from batch to batch, some 60 MB


@dataclass(slots=True)
class _Ready:
    """What one batch will publish."""

    sources: list[CutSource] = field(default_factory=list)
    restamped: list[tuple[str, str, bool, str]] = field(default_factory=list)
    complaints: list[tuple[str, Problem]] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    moved: list[tuple[str, str, str]] = field(default_factory=list)
    covered: list[tuple[str, str]] = field(default_factory=list)
    archives: list[tuple[str, str, bool]] = field(default_factory=list)
    lost: tuple[str, ...] = ()
    looked_at: int = 0
    chunks: int = 0

    @property
    def full(self) -> bool:
        return self.looked_at >= MOST_SOURCES or self.chunks >= MOST_CHUNKS

    def add(self, source: CutSource) -> None:
        self.sources.append(source)
        self.chunks += sum(len(one.chunks or ()) for one in source.records)

    def __bool__(self) -> bool:
        files = self.sources or self.restamped or self.complaints or self.removed
        return bool(files or self.moved or self.covered or self.archives or self.lost)


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
    again: Callable[[], Listing] | None = None
    overtaken: bool = False
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
    _months: Months = field(default_factory=Months)
    _read: dict[str, str] = field(default_factory=dict)
    _vanished: int = 0
    _stopped: bool = False

    def run(self, changes: Changes) -> SyncReport:
        """Carry out `changes`."""
        with forking.undivided(), closing(catalog.connect(self.folder)) as db:
            db.execute(f"PRAGMA cache_size = {-FEW_PAGES}")
            self.unchanged, self._serial = changes.unchanged, catalog.serial(db)
            self._months = months = opened(db, changes, self.read)
            self.problems += months.problems
            listed = (*changes.new, *changes.changed, *changes.doubtful)
            paths = (*(path for path in listed if not is_archive(path)), *months.wanted)
            left = {*changes.removed, *months.gone}.difference(months.moves, months.lost)
            self._moved = by_digest(db, sorted(left))
            done = 0
            with closing(self._batches(db, paths)) as batches:
                for ready in batches:
                    left -= {one.held.path for one in ready.sources if one.held}
                    left -= {old for old, _, _ in ready.moved}
                    done += ready.looked_at
                    if done == len(paths) and self._is_overtaken(left):
                        self.missed += 1
                    elif done == len(paths):
                        ready.removed = self._to_remove(db, left)
                        self._end_archives(ready)
                    if ready and not self._publish(ready):
                        self.missed += len(paths) - done + ready.looked_at + len(left)
                        break
                    ready.sources.clear()  # no need to keep them while the next ones are made
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
            overtaken=self.overtaken,
        )

    def _is_overtaken(self, left: set[str]) -> bool:
        """Whether something was packed or put back, or has gone, since the files were listed.

        Then what is not in the listing may stand elsewhere: nothing is taken out until it is listed anew.
        """
        months = self._months
        if self.again is not None and (left or self._vanished or months.read or months.lost):
            self.overtaken = bool(self._vanished) or is_overtaken(self.listing, self.again().stamps)
        return self.overtaken

    def _end_archives(self, ready: _Ready) -> None:
        """What the last batch says of archives: nothing of one that is held, or was not read to its end."""
        months, clock = self._months, file_clock(self.folder)
        ready.moved += [(path, *packed) for path, packed in months.moves.items()]
        bad = {archive_of(problem.path) for problem in self.problems}
        for path in months.read:
            stamp = self.listing[path]
            ready.archives.append((path, stamp, path in bad or is_racy(stamp, clock)))
        if not self.held:
            ready.lost = months.lost

    def _to_remove(self, db: sqlite3.Connection, left: set[str]) -> list[str]:
        """Of the files that are gone and did not move, those to take out: all or, if too many, none."""
        (known,) = db.execute("SELECT count(*) FROM source").fetchone()
        if self.spared.holds(left, known):
            self.held = tuple(sorted(left))
            return []
        return sorted(left)

    def _batches(self, db: sqlite3.Connection, paths: Sequence[str]) -> Generator[_Ready, None, None]:
        """At least one batch, the last of which may be empty."""
        ready = _Ready()
        sizes = [size(self.listing.get(path, "")) for path in paths]
        with Crew.needed(self.times, len(paths), sum(sizes)) as crew:
            looks = crew.cut(self._looks(db, paths), lambda: self._stopped)
            while True:
                if ready.full:
                    yield ready
                    ready = _Ready()
                look = next(looks, None)
                if look is None:
                    break
                ready.looked_at += 1
                self._take(db, look, ready)
            yield ready

    def _looks(self, db: sqlite3.Connection, paths: Sequence[str]) -> Iterator[Look]:
        """What reading each of the files says, in order; cutting is left to others."""
        clock = 0
        for number, path in enumerate(paths):
            if self.stop is not None and self.stop():
                self._stopped = True
                break
            if number % CLOCK_EVERY == 0:
                clock = file_clock(self.folder)
            yield self._look(db, path, clock)

    def _look(self, db: sqlite3.Connection, path: str, clock: int) -> Look:
        """Read one file, and see whether the catalog holds what it says."""
        try:
            path.encode()
        except UnicodeEncodeError:
            name = path.encode("utf-8", "backslashreplace").decode()
            fault = Problem(name, 0, "the file's name is not valid UTF-8", "Rename it to index it.")
            return Look(path, problem=fault, nameless=True)
        if (digest := self._months.wanted.get(path)) and (look := self._known_otherwise(db, path, digest)):
            return look
        before = held(db, path)
        with forking.divided():
            source, problem = _tried(path, lambda: self.read(path))
        if not isinstance(source, Source):
            self._vanished += problem is None
            return Look(path, problem=problem)
        self._read[path] = source.digest
        stamp = digest or self.listing[path]
        racy = is_racy(stamp, clock)
        if stands(before, source):
            return Look(path, facts=(stamp, racy, as_text(source.problems)))
        return Look(path, uncut=Uncut(source, stamp, racy, before or self._moved_from(db, source)))

    def _known_otherwise(self, db: sqlite3.Connection, path: str, digest: str) -> Look | None:
        """What is to be done about a packed file whose bytes stand open, or stood under another path."""
        if stands_open(db, self.listing, path, digest, self._read):
            return Look(path, digest=digest)
        old = self._moved.get(digest)
        return Look(path, digest=digest, moved=old.pop()) if old else None

    def _take(self, db: sqlite3.Connection, look: Look, ready: _Ready) -> None:
        """Add to the batch what must be done about a file."""
        if look.moved:
            ready.moved.append((look.moved, look.path, look.digest))
            return
        if look.digest:
            ready.covered.append((look.path, look.digest))
            return
        problem, cut = look.problem, look.made
        if look.uncut is not None and cut is None:
            cut, problem = _tried(look.path, partial(cut_source, look.uncut, self.times))
        if cut is not None:
            ready.add(cut)
        elif problem is not None and look.nameless:
            self.problems.append(problem)
        elif problem is not None:
            self._complain(db, problem, ready)
        elif look.facts is not None:
            self.unchanged += 1
            if not _is_stamped(db, look.path, look.facts):
                ready.restamped.append((look.path, *look.facts))

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
                if catalog.generation(db) != before or len(self._terms) > MOST_TERMS:
                    self._terms.clear()  # another writer may have dropped words; and memory is bounded
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
        self.missed += sum(not batch.move(*one) for one in ready.moved)
        for packed in ready.covered:
            batch.cover(*packed)
        for archive in ready.archives:
            batch.read_archive(*archive)
        for path in ready.lost:
            batch.lose_archive(path)
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


def _tried(path: str, work: Callable[[], T]) -> tuple[T | None, Problem | None]:
    """What `work` makes of a file; where it cannot, what is wrong with that file alone.

    Neither for a file that is gone: then the next listing will say so too.
    """
    try:
        return work(), None
    except files.Unreadable as error:
        return None, None if error.gone else Problem(path, 0, error.message, error.hint)
    except HuimemError as error:
        return None, Problem(path, 0, error.message, error.hint)
    except OSError as error:
        remedy = "Check the disk and its permissions."
        return None, Problem(path, 0, error.strerror or str(error), remedy)
    except Exception as error:  # a fault of ours that one file brings out must not stop the others
        remedy = "This is a bug in huimem: please report it. All other files are indexed."
        return None, Problem(path, 0, unexpected(error), remedy)


def _is_stamped(db: sqlite3.Connection, path: str, facts: tuple[str, bool, str]) -> bool:
    """Whether the catalog says the very same of a file that holds what it held."""
    found = db.execute("SELECT stamp, racy, problems FROM source WHERE path = ?", (path,)).fetchone()
    return bool(found == facts)

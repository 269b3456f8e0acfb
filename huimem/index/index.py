"""The index of one vault: made to agree with the files, given vectors, and read through snapshots.

In: listings and sources from the vault, an embedder. Out: reports, counts and `Snapshot`s. The state
folder holds nothing that the files do not: it may vanish or be damaged at any moment.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from huimem import files, forking
from huimem.errors import Locked, Problem, WriteFailed
from huimem.index import browse, catalog, kinds, purging, repair, seal, sync, tokens
from huimem.index.answering import Choice, Maker
from huimem.index.calibrate import Scale
from huimem.index.catalog import Identity
from huimem.index.differing import Agreed
from huimem.index.disk import file_clock, refusals, sheltered
from huimem.index.embeddings import Embeddings, Held
from huimem.index.filters import Filter
from huimem.index.home import Home
from huimem.index.meaning import Ahead, Beside, Meaning
from huimem.index.mending import mending
from huimem.index.mentions import Times
from huimem.index.overlay import Overlay, at_rest, overlaid
from huimem.index.readers import Readers
from huimem.index.rows import Changes, Counts, EmbedReport, SyncReport
from huimem.index.seal import CATALOG, EMBED_LOCK, LOCK, SYNC_LOCK, Seal
from huimem.index.snapshot import Snapshot
from huimem.index.sync import EVERY, Listing, Spared
from huimem.index.touch import Touch
from huimem.index.vectors import Cache, written
from huimem.ports import Embedder
from huimem.records import Packed, Source

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Index", "Snapshot"]

MENDING = 0.1  # seconds that a question waits for whoever mends the index
_LOOKS = 3  # at files, while others replace the index


class Index:
    """Words and vectors of a vault. Cheap to open; usable from several threads; close it when done."""

    def __init__(self, folder: Path, choice: Choice, vault_id: str, times: Times | None = None) -> None:
        self.folder = folder
        self.embedder = choice.embedder
        self._times = times
        self._identity = Identity(vault_id, tokens.IDENTITY, times.rules if times else "")
        self._warnings: list[str] = []
        self._process, self._home = os.getpid(), Home(folder)
        self._agreed, self._touch = Agreed(), Touch(folder)
        self._begun = False  # there was no index, and no sync has filled this one yet
        self._embeddings = Embeddings(folder, choice, self._reading, self._writing)
        self._readers = Readers(folder, self._embeddings.name_at)

    @classmethod
    def open(
        cls,
        folder: Path,
        embedder: Embedder | None,
        *,
        vault_id: str,
        spec: str = "",
        load: Callable[[str], Embedder] | None = None,
        times: Times | None = None,
    ) -> Index:
        """The index in `folder`; what is missing, damaged or another vault's is begun anew, and said.

        `spec` is the setting that `embedder` was loaded by. `load` loads the embedder that answers until
        `embedder` has a vector for every passage, by the spec that stands in the index: see `Choice`.
        `times`: how time words are read; None where nothing will be taken in that holds any.
        Where nothing can be written, what stands there is used (`sync` says why it cannot be mended), or
        WriteFailed raised where that is no use; Locked where others use a damaged index.
        """
        forking.refuse_cut_through()
        index = cls(folder, Choice(embedder, spec, load), vault_id, times)
        try:
            mending(Index.mend)(index, 10.0)
        except WriteFailed:
            if repair.foreign(folder, index._identity, read_all=True):
                raise
        index._warnings += index._embeddings.warnings()
        return index

    def close(self) -> None:
        """Let go of files and connections; snapshots still open stay usable. A fork leaves them alone."""
        if not self.inherited:
            self._touch.stop()
            self._readers.close()

    def changes(
        self,
        listing: Mapping[str, str],
        *,
        only: Collection[str] | None = None,
        unreadable: Collection[str] = (),
        full: bool = False,
    ) -> Changes:
        """How a listing (path → stamp) differs from the index; the parameters are those of `sync`."""
        with self._reading() as db:
            if only is None and not full:
                return self._agreed.compare(db, listing, unreadable)
            return sync.compare(db, listing, only=only, unreadable=unreadable, full=full)

    @mending
    def sync(
        self,
        listing: Mapping[str, str],
        read: Callable[[str], Source | Packed],
        *,
        only: Collection[str] | None = None,
        unreadable: Collection[str] = (),
        full: bool = False,
        progress: Callable[[int, int], None] | None = None,
        wait: float = 10.0,
        again: Callable[[], Listing] | None = None,
        spared: Spared = EVERY,
        stop: Callable[[], bool] | None = None,
    ) -> SyncReport:
        """Make the words agree with the files of `listing` (path → stamp); vectors follow by `embed`.

        Files whose stamp differs, or may hide a change, are `read`; what cannot be read keeps its old
        rows and gets a Problem. Paths that are missing are removed, unless they lie under `unreadable`
        folders or outside `only` (paths or folders). `full` reads all and checks each derived file. `again`
        lists anew: what is gone or shrank is looked at twice before it is believed. What is gone and
        `spared` stays and is `held`. One process at a time brings files in; `stop` is asked between files,
        what it leaves is `pending`. Where others change the index, or move files, it is done again. Raises
        Locked after `wait` seconds, or where they go on; WriteFailed. What was published stands.
        """
        start, report = time.monotonic(), SyncReport()
        self.mend(wait, thorough=full)
        seen, compare = Listing(listing, tuple(unreadable)), partial(self._changes, only=only, full=full)
        work = (read, partial(self._writing, wait), self._times, progress, spared, stop, again)
        for look in range(1, _LOOKS + 1):
            identity, changes = self.identity(), compare(seen)
            done = SyncReport(unchanged=changes.unchanged)
            if changes:
                # Others may have done it meanwhile, or have moved the vault away, which must not come back.
                with files.lock(self.folder / SYNC_LOCK, timeout=wait, make=False):
                    seen, found = sync.settled(seen, compare, again)
                    done = sync.Sync(self.folder, seen.stamps, *work).run(found)
            report = report.before(done)
            self._tell_of_beginning(len(changes.new))
            ends = not done.missed or (done.overtaken and look == _LOOKS)
            if ends and self.identity() == identity:
                said = (*self.said(), *report.warnings)
                return replace(report, warnings=said, seconds=time.monotonic() - start)
            seen = again() if again and done.overtaken else seen
        raise Locked(f"the index in {self.folder} is replaced again and again", "Find out by which program.")

    def _changes(self, seen: Listing, only: Collection[str] | None, full: bool) -> Changes:
        return self.changes(seen.stamps, only=only, unreadable=seen.unreadable, full=full)

    @mending
    def beside(
        self,
        again: Callable[[], Listing],
        read: Callable[[str], Source | Packed],
        *,
        seconds: float,
        most: int | None = None,
    ) -> Overlay | None:
        """What the files that `again` lists hold and the index does not, in memory, the newest first.

        Changes nothing. What takes longer than `seconds` is left. None: more than `most` files differ.
        """
        with suppress(Locked, WriteFailed):  # then what stands there is used
            self.mend(MENDING)
        compare, seen = partial(self._changes, only=None, full=False), again()
        if not (changes := compare(seen)) or (most is not None and changes.count > most):
            return None if changes else Overlay()

        def overlay(changes: Changes, stamps: Mapping[str, str]) -> Overlay:
            with self._reading() as db:
                return overlaid(db, changes, stamps, read, times=self._times, seconds=seconds)

        return at_rest(seen, compare, again, overlay)

    def _tell_of_beginning(self, count: int) -> None:
        """That there was no index for files that were there before it: nobody can say why."""
        if self._begun and count:
            what = "1 file" if count == 1 else f"{count} files"
            self._warnings.insert(0, f"there was no index: built from {what}")
        self._begun = False

    @mending
    def embed(
        self,
        *,
        rows: Sequence[int] | NDArray[np.int64] | None = None,
        seconds: float | None = None,
        progress: Callable[[int, int], None] | None = None,
        wait: float = 10.0,
        stop: Callable[[], bool] | None = None,
        alone: bool = False,
    ) -> EmbedReport:
        """Give chunks without a vector theirs, newest first: all, or only `rows`.

        Ends after `seconds`, or between batches once `stop()` says so; `alone`: Locked where others embed.

        While another embedder than ours answers, `rows` get its vectors; a round for all gives it what is
        new and then builds ours, which answers as soon as nothing lacks. Vectors come from the cache
        where it has them. Holds no lock while embedding; a run that is cut off goes on where it
        stopped. Raises what our embedder raises, after publishing what it made.
        """
        if self.embedder is None:
            return EmbedReport()
        self.mend(wait)
        with self._embedding(alone):
            report = self._embeddings.run(rows=rows, seconds=seconds, progress=progress, wait=wait, stop=stop)
        return replace(report, warnings=(*self.said(), *report.warnings))

    @mending
    def purge(self, *, wait: float = 10.0) -> None:
        """Wipe what removed records left behind: their vectors, cached ones too, and freed pages."""
        self.mend(wait)
        with self._writing(wait) as db:
            needed = purging.purge(self.folder, db, self._embeddings)
        Cache(self.folder, "").keep_only(*needed)

    @mending
    def forget_unused(self, *, wait: float = 10.0) -> int:
        """Forget cached vectors that no passage has had for `vectors.KEPT`; how many."""
        self.mend(wait)
        with self._reading() as db:
            needed = purging.needed(db, self._embeddings)
        return Cache(self.folder, "").forget_unused(*needed, file_clock(self.folder))

    def pending(self, f: Filter | None = None) -> NDArray[np.int64]:
        """Chunk rows that pass `f` (None: all) and have no vector of the embedder that answers, ascending."""
        return self._embeddings.pending(f)

    def coverage(self) -> tuple[int, int]:
        """How many chunks have a vector of the embedder that answers, and how many there are."""
        return self._embeddings.coverage()

    def last_made(self) -> int:
        """When a vector was last put into the cache, nanoseconds since 1970; 0: never."""
        return written(self.folder)

    def answers(self) -> Maker | None:
        """The embedder whose vectors answer, or will once there are any; None: words alone."""
        return self._embeddings.answers()

    def building(self) -> tuple[str, int, int] | None:
        """The embedder that will take over, how many chunks have its vector, and how many there are."""
        return self._embeddings.building()

    def ahead(self, text: str, beside: Beside = ()) -> AbstractContextManager[Ahead | None]:
        """What `meaning` will want of a question, made while the block runs; None: nothing was begun."""
        self.refuse_fork()
        return self._embeddings.ahead(text, beside)

    def meaning(
        self, text: str, f: Filter, beside: Beside = (), begun: Ahead | None = None
    ) -> Meaning | None:
        """A question's vector where all that it may find has one of the same embedder, else None.

        Texts `beside` it take their shares of it. Search in `snapshot(meaning.embedder)` with it.
        """
        return self._embeddings.meaning(text, f, beside, begun) if text else None

    def scale(self, embedder: Embedder) -> Scale:
        """An embedder's scale of cosines; its texts are embedded once."""
        return self._embeddings.scale(embedder)

    @contextmanager
    def holding(
        self, embedder: Embedder, progress: Callable[[int, int], None] | None = None
    ) -> Iterator[Held]:
        """Vectors of every passage by any embedder, in memory; `snapshot(held.name)` sees them meanwhile.

        What answers stays as it is. Raises what the embedder raises.
        """
        self.refuse_fork()
        held = self._embeddings.hold(embedder, progress)
        with self._readers.lending(held.name, held.serial, held.view):
            yield held

    def counts(self) -> Counts:
        """How much the index holds."""
        with self._reading() as db:
            return browse.counts(db, self._embeddings.count(db))

    def problems(self) -> tuple[Problem, ...]:
        """What is wrong in the vault's files, by path."""
        with self._reading() as db:
            return browse.problems(db)

    def labels(self, namespace: str | None, overlay: Snapshot | None = None) -> frozenset[str] | None:
        """The exact labels that a namespace as asked for means, here and in `overlay`; None = all of them."""
        with self._reading() as db:
            return browse.labels(db, namespace, overlay.namespaces() if overlay else ())

    @mending
    def snapshot(self, embedder: str | None = None) -> Snapshot:
        """One fixed state of the index, for reading; use it as a context manager.

        Its vectors are those of `embedder`, by name, and of no other; None: of the one that answers.
        """
        self.refuse_fork()
        return self._readers.snapshot(embedder)

    def identity(self) -> str:
        """Which catalog stands there now: each one made anew has another."""
        with self._reading() as db:
            return catalog.serial(db)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        self.refuse_fork()
        with sheltered(self.folder):
            if not (self.folder / CATALOG).exists():
                self.mend(10.0)
            with self._readers.reading() as db:
                yield db

    @contextmanager
    def _writing(self, wait: float) -> Iterator[sqlite3.Connection]:
        """The writer's connection, under the lock; the seal is off meanwhile, and stays off on failure."""
        lock = files.lock(self.folder / LOCK, timeout=wait, make=False)
        with lock as is_ours, forking.undivided(), refusals(self.folder / CATALOG):
            self._repair()
            known = seal.entries(self.folder) or seal.NONE
            seal.break_open(self.folder)
            with catalog.writing(self.folder, known) as db:
                yield db
            if is_ours():
                seal.close(self.folder, known, db.arrived())
                self._touch.wrote()
            else:  # somebody deleted the lock file, so others may be writing: the next one looks at all of it
                seal.break_open(self.folder)

    @contextmanager
    def _embedding(self, alone: bool) -> Iterator[None]:
        """Tell other processes that vectors are being made; where one does so already, only `alone` minds."""
        with ExitStack() as held:
            try:
                held.enter_context(files.lock(self.folder / EMBED_LOCK, timeout=0.0, make=False))
            except Locked:
                if alone:
                    raise
            yield

    @forking.undivided()
    def mend(self, wait: float, *, thorough: bool = False) -> None:
        """See that the state folder is ours and whole; repair it if not. Costs a few stats if it is."""
        self.refuse_fork()
        self._home.make()
        self._warnings += kinds.clear(self.folder, LOCK)
        if not (thorough or self._touch.found() or repair.needed(self.folder, self._identity)):
            return
        # Without a seal another process may be writing: it leaves one, and readers need not wait.
        busy = not thorough and seal.look(self.folder)[0] is Seal.OPEN and (self.folder / CATALOG).exists()
        try:
            with files.lock(self.folder / LOCK, timeout=0.0 if busy else wait):
                rotten = self._touch.confirmed(thorough=thorough)
                if thorough:
                    seal.break_open(self.folder)
                with refusals(self.folder / CATALOG):
                    self._repair(rotten)
                self._touch.mended()
        except Locked:
            if not busy:
                raise

    def refuse_fork(self) -> None:
        """Raise `Forked` in a child: connections, and threads that a fork leaves behind, are no use there."""
        forking.refuse_elsewhere(self._process)

    @property
    def inherited(self) -> bool:
        """Whether this is a fork of the process that opened it, which must leave all of it alone."""
        return os.getpid() != self._process

    def _repair(self, rotten: Collection[str] = ()) -> None:
        """Mend under the lock, and remember what is to be said of it."""
        missing = not os.path.lexists(self.folder / CATALOG)
        said = repair.mend(self.folder, self._identity, rotten)
        self._warnings += said
        self._begun |= missing and not said

    def said(self) -> tuple[str, ...]:
        """The warnings gathered since they were last asked for."""
        self._warnings += self._embeddings.warnings()
        said, self._warnings = tuple(dict.fromkeys(self._warnings)), []
        return said

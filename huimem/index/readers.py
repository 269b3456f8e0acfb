"""Readers of the index: connections, the open word index and the mapped segments, shared between snapshots.

In: the state folder. Out: `Snapshot`s whose catalog, words and vectors belong together, though other
processes publish at any moment. Readers take no lock.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from huimem import forking
from huimem.index import catalog, dense, lexical, seal, segments
from huimem.index.catalog import Reader, Still
from huimem.index.disk import refusals
from huimem.index.lexical import Words
from huimem.index.seal import CATALOG, Damaged, Seal
from huimem.index.snapshot import Snapshot
from huimem.index.view import View

_TRIES = 20  # for a reader that a writer overtakes
MOST_IDLE = 4  # connections: each keeps pages of the catalog in memory


class Readers:
    """Everything that is open for reading in one process; usable from several threads.

    `answering` names the embedder that answers in a state of the catalog, None: words alone.
    """

    def __init__(self, folder: Path, answering: Callable[[sqlite3.Connection], str | None]) -> None:
        self._folder = folder
        self._answering = answering
        self._guard = threading.Lock()
        self._idle: list[tuple[int, sqlite3.Connection]] = []
        self._closed = False
        self._words: tuple[int, Words] | None = None
        self._view: tuple[tuple[str, ...], View | None, tuple[str, ...]] | None = None
        self._lent: dict[str, tuple[str, View | None]] = {}

    def close(self) -> None:
        """Let go of everything that no snapshot is using, and from now on of what is given back."""
        with self._guard:
            self._closed = True
            idle, self._idle = self._idle, []
            self._words = self._view = None
        for _, db in idle:
            db.close()

    @contextmanager
    def lending(self, name: str, serial: str, view: View | None) -> Iterator[None]:
        """Meanwhile `snapshot(name)` sees `view` of the catalog `serial`; no embedder may have that name."""
        self._lent[name] = serial, view
        try:
            yield
        finally:
            del self._lent[name]

    def snapshot(self, embedder: str | None = None) -> Snapshot:
        """One fixed state of the index, for reading; use it as a context manager.

        Its vectors are those of `embedder` (None: of the one that answers) and of no other.
        """
        with forking.undivided():
            return self._snapshot(embedder)

    def _snapshot(self, embedder: str | None) -> Snapshot:
        for left in reversed(range(_TRIES)):
            db = self._connection()
            try:
                with refusals(self._folder / CATALOG):
                    db.execute("BEGIN")
                    state = catalog.generation(db)
                    view, missing = self._view_of(db, embedder or self._answering(db))
            except BaseException:
                db.close()
                raise
            words, warnings = self._words_of(state, catalog.chunks(db))
            # A writer that published meanwhile may have dropped words, or files of vectors, that this
            # catalog still lists.
            if self._current(state) or not left:
                break
            self._release(db)
        return Snapshot(db, words, lambda: view, self._release, (*warnings, *missing))

    def _words_of(self, state: int, chunks: int) -> tuple[Words | None, tuple[str, ...]]:
        """The word index of a state of the catalog; None where it is missing, damaged or being rebuilt."""
        with self._guard:
            if self._words is not None and self._words[0] == state:
                return self._words[1], ()
            try:
                if self._words is not None:
                    words = lexical.reload(self._words[1])
                elif lexical.exists(self._folder):
                    words = lexical.open_words(self._folder)
                else:
                    return None, ()
            except Damaged as damage:
                self._words = None
                return None, (f"{damage}: searched without it",)
            if words.count < chunks:  # it may hold more than the catalog, and never less
                self._words = None
                return None, ()
            self._words = (state, words)
            return words, ()

    def _current(self, state: int) -> bool:
        """Whether nothing was published since `state`; if something was, its words are not kept."""
        with self.reading() as db:
            same = catalog.generation(db) == state
        if not same:
            with self._guard:
                self._words = None
        return same

    def _view_of(self, db: sqlite3.Connection, embedder: str | None) -> tuple[View | None, tuple[str, ...]]:
        """The usable segments of an embedder, opened; what cannot be used is named."""
        if embedder is None:
            return None, ()
        if embedder in self._lent:
            serial, view = self._lent[embedder]
            if serial == catalog.serial(db):
                return view, ()
            return None, ("the index was built anew meanwhile: searched without the vectors in memory",)
        found = db.execute("SELECT file FROM segment WHERE embedder = ? ORDER BY file", (embedder,))
        names = (embedder, *(name for (name,) in found))
        with self._guard:
            if self._view is None or self._view[0] != names:
                self._view = (names, *self._open_view(db, embedder))
            return self._view[1:]

    def _open_view(self, db: sqlite3.Connection, embedder: str) -> tuple[View | None, tuple[str, ...]]:
        opened, warnings = [], []
        verify = seal.look(self._folder)[0] is not Seal.WHOLE
        for segment in segments.listed(db, embedder):
            try:
                opened.append((segment, dense.open_segment(self._folder, segment, verify=verify)))
            except Damaged as damage:
                warnings.append(f"{damage}: {segment.count} passages are searched by words alone")
        if not opened:
            return None, tuple(warnings)
        return View.of(opened, opened[0][0].dim), tuple(warnings)

    def _connection(self) -> sqlite3.Connection:
        """A reader's connection to the catalog that stands there now. Raises `Damaged` where none does."""
        try:
            inode = os.stat(self._folder / CATALOG).st_ino
        except OSError as error:
            raise Damaged(f"{CATALOG} is missing") from error
        with self._guard:
            stale = [db for at, db in self._idle if at != inode]
            self._idle = [(at, db) for at, db in self._idle if at == inode]
            ready = self._idle.pop()[1] if self._idle else None
        for db in stale:
            db.close()
        return ready or catalog.connect(self._folder)

    def _release(self, db: sqlite3.Connection) -> None:
        """Keep a connection for the next reader of the same file, which may be another one by now."""
        inode = db.inode if isinstance(db, Reader) and not isinstance(db, Still) else 0
        try:
            if db.in_transaction:
                db.execute("ROLLBACK")
        except sqlite3.Error:
            inode = 0
        if not inode:
            db.close()
            return
        with self._guard:
            enough = self._closed or len(self._idle) >= MOST_IDLE
            if not enough:
                self._idle.append((inode, db))
        if enough:
            db.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection for a few questions to the catalog as it stands."""
        with forking.undivided():
            db = self._connection()
            try:
                with refusals(self._folder / CATALOG):
                    yield db
            finally:
                self._release(db)

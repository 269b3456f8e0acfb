"""The vectors of an index: which passages have one of the embedder, and giving the others theirs.

In: an embedder, the state folder, ways to read and to write it. Out: published vectors, counts, and
the scale of the embedder's cosines. Nothing is locked while texts are embedded.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import TYPE_CHECKING

from huimem.index import catalog, dense, embedding, segments
from huimem.index.calibrate import Scale, calibrate
from huimem.index.filters import Filter
from huimem.index.rows import EmbedReport
from huimem.index.snapshot import Snapshot
from huimem.index.vectors import Cache, Remembering
from huimem.ports import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PUBLISH_SECONDS = 20.0  # vectors made meanwhile become findable at least this often


class Embeddings:
    """Vectors of one embedder for the passages of an index; `embedder` None: there are none.

    `reading` gives a reader of the catalog, `writing(wait)` the writer's connection under the lock.
    """

    def __init__(
        self,
        folder: Path,
        embedder: Embedder | None,
        reading: Callable[[], AbstractContextManager[sqlite3.Connection]],
        writing: Callable[[float], AbstractContextManager[sqlite3.Connection]],
    ) -> None:
        self.embedder = embedder
        self._folder = folder
        self._reading = reading
        self._writing = writing
        self._scale: Scale | None = None

    def run(
        self,
        *,
        rows: Sequence[int] | NDArray[np.int64] | None = None,
        seconds: float | None = None,
        progress: Callable[[int, int], None] | None = None,
        wait: float = 10.0,
    ) -> EmbedReport:
        """Give passages theirs; the parameters are those of `Index.embed`."""
        if self.embedder is None:
            return EmbedReport()
        start = time.monotonic()
        wanted = self.pending() if rows is None else self._still_pending(rows)
        cache = Cache(self._folder, self.embedder.name)
        deadline = None if seconds is None else start + seconds
        work = embedding.Embedding(self.embedder, cache, deadline, progress)
        if len(wanted) or self._has_old_vectors():
            self._embed(work, wanted.tolist(), wait)
        if rows is None and len(wanted):
            self.scale()
        return EmbedReport(
            work.cached,
            work.embedded,
            len(self.pending()),
            tuple(filter(None, [cache.warning])),
            time.monotonic() - start,
        )

    def _embed(self, work: embedding.Embedding, rows: list[int], wait: float) -> None:
        fresh: dict[int, bytes] = {}
        published = time.monotonic()
        with closing(catalog.connect(self._folder)) as db:
            try:
                for vectors in work.run(db, embedding.newest_first(db, rows)):
                    fresh |= vectors
                    if len(fresh) >= dense.MOST_ROWS or time.monotonic() > published + PUBLISH_SECONDS:
                        self.publish(fresh, wait)
                        fresh, published = {}, time.monotonic()
            finally:
                self.publish(fresh, wait)

    def publish(self, fresh: Mapping[int, bytes], wait: float, *, keep: bool = True) -> None:
        """Publish vectors; files that are replaced stay until the next time, for readers under way."""
        assert self.embedder is not None
        with self._writing(wait) as db:
            dim = len(next(iter(fresh.values()))) // 2 if fresh else self.embedder.dim
            target = segments.Target(self._folder, self.embedder.name, dim)
            with catalog.transaction(db):
                replaced = segments.publish(db, target, fresh)
            segments.sweep(db, self._folder, replaced if keep else frozenset())

    def pending(self, f: Filter | None = None) -> NDArray[np.int64]:
        """Chunk rows that pass `f` (None: all) and have no vector of the embedder: int64, ascending."""
        import numpy as np

        vectors, chunks = self.coverage()
        if self.embedder is None or vectors == chunks:
            return np.zeros(0, np.int64)
        with self._reading() as db:
            snapshot = Snapshot(db, None, lambda: None, lambda _: None)
            rows = snapshot.rows(f or Filter(namespaces=None))
            return embedding.pending(db, self.embedder.name, rows)

    def _still_pending(self, rows: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        import numpy as np

        return np.intersect1d(np.asarray(rows, np.int64), self.pending())

    def coverage(self) -> tuple[int, int]:
        """How many chunks have a vector of the embedder, and how many there are."""
        with self._reading() as db:
            (chunks,) = db.execute("SELECT ifnull(sum(chunks), 0) FROM totals").fetchone()
            return self.count(db), int(chunks)

    def count(self, db: sqlite3.Connection) -> int:
        """Chunks with a vector of the embedder."""
        if self.embedder is None:
            return 0
        text = "SELECT ifnull(sum(count), 0) FROM segment WHERE embedder = ?"
        (count,) = db.execute(text, (self.embedder.name,)).fetchone()
        gone = {row for (row,) in db.execute("SELECT row FROM gone_vectors")} if count else set()
        for segment in segments.listed(db, self.embedder.name) if gone else ():
            count -= len(gone.intersection(dense.attributes(segment)["row"].tolist()))
        return int(count)

    def scale(self) -> Scale:
        """The embedder's scale of cosines; its texts are embedded once. Only with an embedder."""
        assert self.embedder is not None
        if self._scale is None:
            self._scale = calibrate(Remembering(self.embedder, Cache(self._folder, self.embedder.name)))
        return self._scale

    def unused(self) -> tuple[str, ...]:
        """A line where vectors stand there and none is of the embedder."""
        if self.embedder is None:
            return ()
        with self._reading() as db:
            names = {name for (name,) in db.execute("SELECT DISTINCT embedder FROM segment")}
        if not names or self.embedder.name in names:
            return ()
        return (
            f"the vectors were made by {', '.join(sorted(names))} and are not used with "
            f"{self.embedder.name}: words answer alone until `huimem sync` has made new ones",
        )

    def _has_old_vectors(self) -> bool:
        """Whether segments hold what is gone, or vectors of another embedder."""
        assert self.embedder is not None
        with self._reading() as db:
            others = "EXISTS(SELECT 1 FROM segment WHERE embedder != ?)"
            text = f"SELECT EXISTS(SELECT 1 FROM gone_vectors) OR {others}"
            return bool(db.execute(text, (self.embedder.name,)).fetchone()[0])

"""The vectors of an index: which passages have one of an embedder, and giving the others theirs.

In: the embedder of the settings, the state folder, ways to read and to write it. Out: published vectors,
counts, and questions as vectors. Nothing is locked while texts are embedded. When another embedder is
chosen, its vectors are built beside the old ones, which answer until it has them all; then the old go.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from huimem import forking
from huimem.errors import ConfigError, MissingExtra
from huimem.index import catalog, dense, embedding, segments
from huimem.index.answering import Answering, Choice, Maker, answering, is_settling, let_answer
from huimem.index.calibrate import Scale, calibrate
from huimem.index.disk import file_clock
from huimem.index.embedding import Embedding, Made, Stop
from huimem.index.filters import Filter
from huimem.index.meaning import Ahead, Beside, Meaning, ahead, blended, vectors_of
from huimem.index.rows import EmbedReport
from huimem.index.scripts import script
from huimem.index.segments import Target
from huimem.index.snapshot import Snapshot
from huimem.index.vectors import HASTE, Cache, Remembering
from huimem.index.view import View
from huimem.ports import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FIRST = 1_000  # rows: where many lack a vector, one of these does, for the newest are given theirs first
PUBLISH_SECONDS = 20.0  # vectors made meanwhile become findable at least this often
# An embedder that is to be replaced still gets this many new passages, or this share of all: it answers
# meanwhile. What lacks more was never complete, and two embedders for all of it would take twice as long.
KEPT_UP, KEPT_SHARE = 512, 0.125

WORTH_A_THREAD = 0.004  # seconds that a question's vector takes

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Held:
    """Vectors of every passage in memory: `made` now in `seconds`, the others from the cache.

    `name` stands for them in `Index.snapshot`, as long as it reads the catalog `serial`. `view` None:
    there are no passages.
    """

    name: str
    serial: str
    view: View | None
    dim: int
    passages: int
    made: int
    seconds: float


@dataclass(frozen=True, slots=True)
class _Round:
    """What bounds one round of embedding: `deadline` on the monotonic clock, `wait` for the lock."""

    deadline: float | None
    wait: float
    progress: Progress | None = None
    stop: Stop | None = None


class Embeddings:
    """Vectors for the passages of an index, of the embedder that is chosen and of the one before it.

    `reading` gives a reader of the catalog, `writing(wait)` the writer's connection under the lock.
    Two processes that choose differently take turns: a whole round makes its own choice answer, with
    vectors from the cache, and both go on asking whichever answers. A process whose choice has answered
    once and was replaced yields: only a whole round, as `sync` makes it, takes the turn back, and for an
    hour after a switch nothing else makes another.
    """

    def __init__(
        self,
        folder: Path,
        choice: Choice,
        reading: Callable[[], AbstractContextManager[sqlite3.Connection]],
        writing: Callable[[float], AbstractContextManager[sqlite3.Connection]],
    ) -> None:
        self._folder = folder
        self._choice = choice
        self._reading = reading
        self._writing = writing
        self._answering = Answering(choice)
        self._scales: dict[str, Scale] = {}
        self._answered = False  # ours did, in this process
        self._worth_a_thread: Embedder | None = None  # for the next question, as the last one found

    def run(
        self,
        *,
        rows: Sequence[int] | NDArray[np.int64] | None = None,
        seconds: float | None = None,
        progress: Progress | None = None,
        wait: float = 10.0,
        stop: Stop | None = None,
    ) -> EmbedReport:
        """Give passages theirs; the parameters are those of `Index.embed`."""
        if self._choice.embedder is None:
            return EmbedReport()
        start = time.monotonic()
        bounds = _Round(None if seconds is None else start + seconds, wait, progress, stop)
        whole = rows is None and seconds is None and stop is None
        done = [*(self._backlog(bounds, whole) if rows is None else self._some(rows, bounds))]
        self._settle(wait, whole)
        return EmbedReport(
            sum(work.cached for work in done),
            sum(work.embedded for work in done),
            len(self._lacking(self._wanted(whole))),
            tuple(dict.fromkeys(warning for work in done if (warning := work.cache.warning))),
            time.monotonic() - start,
        )

    def _some(self, rows: Sequence[int] | NDArray[np.int64], bounds: _Round) -> Iterator[Embedding]:
        """Vectors of the embedder that answers for some rows, as a question waits for them."""
        import numpy as np

        embedder = self._now()
        lacking = np.intersect1d(np.asarray(rows, np.int64), self._lacking(embedder))
        yield self._give(embedder, lacking, bounds)

    def _backlog(self, bounds: _Round, whole: bool) -> Iterator[Embedding]:
        """What the one that answers lacks, where that is not ours and lacks little; then what ours lacks."""
        now, wanted = self._now(), self._wanted(whole)
        if now is not wanted:
            lacking = self._lacking(now)
            if len(lacking) <= max(KEPT_UP, KEPT_SHARE * self.coverage()[1]):
                yield self._give(now, lacking, _Round(bounds.deadline, bounds.wait, stop=bounds.stop))
        work = self._give(wanted, self._lacking(wanted), bounds)
        if work.cached or work.embedded:
            self.scale(wanted)
        yield work

    def _give(self, embedder: Embedder, rows: NDArray[np.int64], bounds: _Round) -> Embedding:
        cache = Cache(self._folder, embedder.name)
        work = Embedding(embedder, cache, bounds.deadline, bounds.stop, bounds.progress)
        try:
            if len(rows):
                self._embed(work, rows.tolist(), bounds.wait)
        except (ConfigError, MissingExtra) as fault:
            if embedder is self._choice.embedder:
                raise
            self._answering.give_up(embedder, fault)
        return work

    def _embed(self, work: Embedding, rows: list[int], wait: float) -> None:
        fresh: dict[int, Made] = {}
        published = time.monotonic()
        with forking.undivided(), closing(catalog.connect(self._folder)) as db:
            serial = catalog.serial(db)
            try:
                for vectors in work.run(db, embedding.newest_first(db, rows)):
                    fresh |= vectors
                    if len(fresh) >= dense.MOST_ROWS or time.monotonic() > published + PUBLISH_SECONDS:
                        ready, fresh, published = fresh, {}, time.monotonic()
                        if not self._publish(work.embedder, ready, serial, wait):
                            return
            finally:
                self._publish(work.embedder, fresh, serial, wait)

    def _publish(self, embedder: Embedder, made: Mapping[int, Made], serial: str, wait: float) -> bool:
        """Publish vectors in the catalog whose rows they are of; False where another one stands there.

        Then they are dropped: the cache has them. Files that are replaced stay until the next time, for
        readers under way.
        """
        if not made:
            return True
        target = Target(embedder.name, len(next(iter(made.values())).code) // 2)
        with self._writing(wait) as db:
            with catalog.transaction(db):
                if catalog.serial(db) != serial:
                    return False
                replaced = segments.publish(db, self._folder, target, embedding.fitting(db, made))
                self._name(db)
            segments.sweep(db, self._folder, replaced)
        return True

    def _name(self, db: sqlite3.Connection) -> None:
        """Name ours where it answers and that stands nowhere yet, in the caller's transaction."""
        if self._is_unnamed(db):
            let_answer(db, self._choice.maker())

    def _is_unnamed(self, db: sqlite3.Connection) -> bool:
        ours, now = self._choice.maker(), answering(db)
        return now is not None and now.name == ours.name and not now.spec

    def _settle(self, wait: float, whole: bool) -> None:
        """Drop what is gone, and let ours answer alone once it has everything."""
        with self._reading() as db:
            unnamed = bool(self._choice.spec) and self._is_unnamed(db)
            if not (unnamed or self._may_take_over(db, whole) or _holds_what_is_gone(db)):
                return
        with self._writing(wait) as db:
            with catalog.transaction(db):
                replaced = segments.publish(db, self._folder)
                if self._may_take_over(db, whole):
                    replaced |= segments.hand_over(db, self._choice.maker().name)
                    let_answer(db, self._choice.maker(), file_clock(self._folder))
                self._name(db)
            segments.sweep(db, self._folder, replaced)

    def _may_take_over(self, db: sqlite3.Connection, whole: bool) -> bool:
        """Whether other embedders' vectors stand there that ours, which lacks none, makes needless.

        Where ours answers anyway, what another process began is left to it, but by a whole round. So is
        everything for an hour after a switch: programs of different settings, used by turns, would each
        rewrite all of it.
        """
        ours, now = self._choice.maker(), answering(db)
        if now is None or not segments.others(db, ours.name):
            return False
        may = now.name != ours.name and not self._answered
        if may and self._answering.now(db) is not self._choice.embedder:  # the other one can be used
            may = not is_settling(db, file_clock(self._folder))
        return (whole or may) and not len(embedding.pending(db, ours.name, _all_rows(db)))

    def clean(self, db: sqlite3.Connection) -> None:
        """Take what is gone out of every segment, in the caller's transaction."""
        segments.publish(db, self._folder)

    def makers(self, db: sqlite3.Connection) -> set[str]:
        """The names of all embedders whose vectors may be of use."""
        ours = {self._choice.embedder.name} if self._choice.embedder else set()
        return ours | {segment.embedder for segment in segments.listed(db)}

    def _now(self) -> Embedder:
        """The embedder that answers. Only with an embedder."""
        with self._reading() as db:
            found, maker = self._answering.now(db), answering(db)
        assert found is not None
        self._answered |= maker is not None and maker.name == self._choice.maker().name
        return found

    def _wanted(self, whole: bool) -> Embedder:
        """The embedder to be built: ours, unless it has yielded. Only with an embedder."""
        now = self._now()
        assert self._choice.embedder is not None
        return now if self._answered and not whole else self._choice.embedder

    def pending(self, f: Filter | None = None) -> NDArray[np.int64]:
        """Chunk rows that pass `f` (None: all) and have no vector of the embedder that answers, ascending."""
        import numpy as np

        if self._choice.embedder is None:
            return np.zeros(0, np.int64)
        return self._lacking(self._now(), f)

    def _lacking(self, embedder: Embedder, f: Filter | None = None, most: int = -1) -> NDArray[np.int64]:
        import numpy as np

        with self._reading() as db:
            if self._count(db, embedder.name) == catalog.chunks(db):
                return np.zeros(0, np.int64)
            if f is None:
                return embedding.pending(db, embedder.name, _all_rows(db))
            rows = Snapshot(db, None, lambda: None, lambda _: None).rows(f, most)
            return embedding.pending(db, embedder.name, rows)

    def coverage(self) -> tuple[int, int]:
        """How many chunks have a vector of the embedder that answers, and how many there are."""
        with self._reading() as db:
            return self.count(db), catalog.chunks(db)

    def building(self) -> tuple[str, int, int] | None:
        """The embedder that is to take over, how many chunks have its vector, and how many there are."""
        if self._choice.embedder is None or self._wanted(False) is self._now():
            return None
        with self._reading() as db:
            ours = self._choice.maker()
            return str(ours), self._count(db, ours.name), catalog.chunks(db)

    def answers(self) -> Maker | None:
        """The embedder whose vectors answer, or will once there are any; None: words alone."""
        if self._choice.embedder is None:
            return None
        with self._reading() as db:
            found = answering(db)
        now = self._now()
        return found if found and found.name == now.name else self._choice.maker()

    def name_at(self, db: sqlite3.Connection) -> str | None:
        """The embedder that answers in the state that `db` reads; None: words alone."""
        found = self._answering.now(db)
        return found.name if found else None

    def count(self, db: sqlite3.Connection) -> int:
        """Chunks with a vector of the embedder that answers."""
        name = self.name_at(db)
        return self._count(db, name) if name else 0

    def _count(self, db: sqlite3.Connection, embedder: str) -> int:
        text = "SELECT ifnull(sum(count), 0) FROM segment WHERE embedder = ?"
        (count,) = db.execute(text, (embedder,)).fetchone()
        gone = {row for (row,) in db.execute("SELECT row FROM gone_vectors")} if count else set()
        for segment in segments.listed(db, embedder) if gone else ():
            count -= len(gone.intersection(dense.attributes(segment)["row"].tolist()))
        return int(count)

    @contextmanager
    def ahead(self, text: str, beside: Beside) -> Iterator[Ahead | None]:
        """What `meaning` will want of a question, made while the block runs, where that is worth a thread.

        Where it comes to want nothing of it, the next question begins nothing.
        """
        embedder = self._worth_a_thread
        if embedder is None or not text:
            yield None
            return
        self._worth_a_thread = None
        with ahead(embedder, text, beside) as begun:
            yield begun

    def meaning(self, text: str, f: Filter, beside: Beside, begun: Ahead | None = None) -> Meaning | None:
        """A question's vector where every passage it may find has one of the same embedder, else None.

        Texts `beside` it take their shares of it. `begun`: what was made of it ahead.
        """
        import numpy as np

        if self._choice.embedder is None:
            return None
        embedder = self._now()
        if any(len(self._lacking(embedder, f, most)) for most in (FIRST, -1)):
            return None
        try:
            timed = vectors_of(embedder, text, beside, begun)
            self._worth_a_thread = embedder if timed.seconds > WORTH_A_THREAD else None
            vector = blended(timed.vectors, [share for _, share in beside])
            if not np.isfinite(vector).all():
                return None
            return Meaning(embedder.name, vector, self.scale(embedder), script(text))
        except (ConfigError, MissingExtra) as fault:
            if embedder is self._choice.embedder:
                raise
            self._answering.give_up(embedder, fault)
            return self.meaning(text, f, beside, begun)

    def scale(self, embedder: Embedder) -> Scale:
        """An embedder's scale of cosines; its texts are embedded once."""
        if embedder.name not in self._scales:
            cached = Remembering(embedder, Cache(self._folder, embedder.name, HASTE))
            self._scales[embedder.name] = calibrate(cached)
        return self._scales[embedder.name]

    def hold(self, embedder: Embedder, progress: Progress | None = None) -> Held:
        """Vectors of every passage by any embedder, in memory: what answers is not touched.

        What was made stays in the cache, also where this is cut off.
        """
        start = time.monotonic()
        work = Embedding(embedder, Cache(self._folder, embedder.name), None, progress=progress)
        made: dict[int, bytes] = {}
        with forking.undivided(), closing(catalog.connect(self._folder)) as db:
            serial = catalog.serial(db)
            for vectors in work.run(db, embedding.newest_first(db, _all_rows(db).tolist())):
                made |= {row: one.code for row, one in vectors.items()}
            seconds = time.monotonic() - start
            dim = len(next(iter(made.values()))) // 2 if made else embedder.dim
            view = segments.in_memory(db, Target(embedder.name, dim), made)
        return Held(f"{embedder.name} in memory", serial, view, dim, len(made), work.embedded, seconds)

    def warnings(self) -> list[str]:
        """Why the embedder that should answer does not, once each; it is looked for if it was not yet."""
        if self._choice.embedder is not None:
            self._now()
        said, self._answering.warnings = self._answering.warnings, []
        return said


def _holds_what_is_gone(db: sqlite3.Connection) -> bool:
    return bool(db.execute("SELECT EXISTS(SELECT 1 FROM gone_vectors)").fetchone()[0])


def _all_rows(db: sqlite3.Connection) -> NDArray[np.int64]:
    import numpy as np

    return np.fromiter((row for (row,) in db.execute("SELECT row FROM chunk ORDER BY row")), np.int64)

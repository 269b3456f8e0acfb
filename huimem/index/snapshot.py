"""One fixed state of the index, for one reader: what is found, weighed and shown comes from it alone.

In: filters, terms, vectors, row numbers. Out: rows and arrays. A snapshot is one read transaction of
the catalog with the word index and the segments that belong to it; it never sees half an update.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from huimem import forking
from huimem.errors import ConfigError
from huimem.index import catalog, numbers, shown
from huimem.index.calibrate import Scale
from huimem.index.centring import Centre, centred, mean
from huimem.index.disk import sheltered
from huimem.index.filters import Bounds, Condition, Filter, condition, held_in, hidden, marks, speaking_of
from huimem.index.lexical import Matches, Wanted, Words
from huimem.index.numbers import distinct
from huimem.index.rows import ChunkRow, Passages, RecordRow
from huimem.index.seal import Damaged
from huimem.index.view import View

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

_FROM = "FROM chunk c JOIN record r ON r.id = c.record"


@dataclass(slots=True)
class Snapshot:
    """A read-only state of the index; a context manager. For one thread at a time.

    `words` is None where the word index cannot be used: chunks are then searched one by one.
    `vectors()` gives the usable vectors of the present embedder. `warnings` say what is missing.
    """

    db: sqlite3.Connection
    words: Words | None
    vectors: Callable[[], View | None]
    release: Callable[[sqlite3.Connection], None]
    warnings: tuple[str, ...] = ()
    _wanted: dict[Filter, Wanted] = field(default_factory=dict, repr=False)
    _whole: AbstractContextManager[None] = field(default_factory=forking.undivided, repr=False)

    def __enter__(self) -> Self:
        self._whole.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if isinstance(error, sqlite3.Error):
                path = Path(self.db.execute("PRAGMA database_list").fetchone()[2])
                with sheltered(path.parent):
                    raise error
        finally:
            try:
                self.release(self.db)
            finally:
                self._whole.__exit__(None, None, None)

    @property
    def identity(self) -> str:
        """Which catalog this is a state of, as `Index.identity` gives it; "" for what is in memory only."""
        return catalog.serial(self.db)

    def find(self, terms: Sequence[str], f: Filter, limit: int = 1000, every: Sequence[str] = ()) -> Ints:
        """Rows of chunks with any of `terms` and all of `every` that pass `f`: int64, the likeliest first."""
        return self.matches(terms, f, limit, every).rows

    def matches(self, terms: Sequence[str], f: Filter, limit: int, every: Sequence[str] = ()) -> Matches:
        """As `find`, with what is known of them."""
        import numpy as np

        ids = [id for id in self.term_ids(terms) if id is not None]
        must = [id for id in self.term_ids(every) if id is not None]
        if not ids or len(must) < len(every):
            return Matches.of((), (), ())
        wanted, gone = self._in_numbers(f), self._gone("gone_words")
        (beyond,) = self.db.execute("SELECT next FROM counter WHERE name = 'chunk'").fetchone()
        ask = limit + len(gone)
        while self.words is not None:
            try:
                found = self.words.find(ids, wanted, ask, must)
            except Damaged as damage:
                self.words, self.warnings = None, (*self.warnings, str(damage))
                break
            fit = found.only((found.rows < beyond) & ~np.isin(found.rows, gone))
            if f.hidden or (f.during and not f.said_only):
                fit = fit.only(np.isin(fit.rows, self.passing(fit.rows, f)))
            if len(fit.rows) >= limit or len(found.rows) < ask:
                return fit.only(slice(limit))
            ask *= 4  # records that speak of several times, or are hidden, took the places of others
        return self._find_one_by_one(ids, f, limit, must)

    def _find_one_by_one(self, ids: Sequence[int], f: Filter, limit: int, must: Sequence[int]) -> Matches:
        """As `find`, without a word index: the chunks with most of the terms first."""
        import numpy as np

        found = self.passages(self.rows(f))
        count = found.count(ids)
        for id in must:
            count[found.count([id]) == 0] = 0
        order = np.lexsort((found.rows, -count))[: min(limit, int(np.count_nonzero(count)))]
        return Matches(found.rows, count.astype(np.float64), found.at_ms).only(order)

    def centre(self, vector: NDArray[np.float32], script: str, scale: Scale, f: Filter) -> Centre:
        """A question's vector as it is compared in the namespaces of `f`, with the means of their scripts.

        `vector` is float32 [dim] and `script` that of the question.
        """
        view, gone, namespaces = self.vectors(), self._gone("gone_vectors"), self._in_numbers(f).namespaces
        means = {}
        numbered = self._scripts()
        for name, number in numbered.items():
            allowed = {"namespace": namespaces, "script": frozenset({number})}
            total, count = view.sampled(gone, **allowed) if view is not None else (scale.middle(""), 0)
            means[name] = mean(total, count, scale.middle(name)) if count else None
        seen_from = means.get(script)
        middle = scale.middle(script) if seen_from is None else seen_from
        present = {numbered[name]: one for name, one in means.items() if one is not None}
        return Centre(centred(vector[None].astype("f8"), middle)[0], present, numbered.get(script, -1))

    def _scripts(self) -> dict[str, int]:
        """The numbers of the scripts that there are, by name."""
        text = f"SELECT text, id FROM label WHERE id IN ({distinct('script', 'chunk')})"
        return dict(self.db.execute(text))

    def nearest(
        self, vector: NDArray[np.floating], f: Filter, limit: int = 200, script: int | None = None
    ) -> tuple[Ints, NDArray[np.float32]]:
        """The rows nearest in meaning that pass `f`: int64 and inner products float32, best first.

        `vector` is float [dim]; `script` None: those of all scripts. Raises ConfigError for another
        dimension than the index has. Only rows with a vector of the present embedder can be found.
        """
        import numpy as np

        view = self.vectors()
        nothing = (np.zeros(0, np.int64), np.zeros(0, np.float32))
        if view is None or not np.isfinite(vector).all():
            return nothing
        _check_dimension(vector, view)
        wanted = self._in_numbers(f)
        scripts = None if script is None else frozenset({script})
        mask = view.among(namespace=wanted.namespaces, kind=wanted.kinds, role=wanted.roles, script=scripts)
        mask = mask & self._in_time(view, f) if f.during else mask.copy()
        for text, values in self._excluding(f, wanted):
            places = view.places(self._rows(text, values))
            mask[places[places >= 0]] = False
        places = view.places(self._gone("gone_vectors"))
        mask[places[places >= 0]] = False
        try:
            return view.nearest(vector, mask, limit)
        except Damaged as damage:
            self.warnings = (*self.warnings, str(damage))
            return nothing

    def _in_time(self, view: View, f: Filter) -> NDArray[np.bool_]:
        mask = view.within(f.spans)
        also = [held_in(f)] if f.lets_held_pass else []
        if not f.said_only:
            speaking, values = speaking_of(f)
            also.append((f"c.inferred = 0 AND c.record IN ({speaking})", values))
        for text, values in also:
            places = view.places(self._rows(f"SELECT c.row FROM chunk c WHERE {text}", values))
            mask[places[places >= 0]] = True
        return mask

    def _excluding(self, f: Filter, wanted: Wanted) -> Iterable[Condition]:
        """Queries for the rows that tags, validity and hiding shut out."""
        if wanted.tags is not None:
            listed = sorted(wanted.tags)
            tagged = f"SELECT source FROM tagged WHERE tag IN ({marks(len(listed))})"
            yield f"SELECT c.row {_FROM} WHERE r.source NOT IN ({tagged})", list(listed)
        if wanted.current_at is not None:
            past = "r.fact = 1 AND (r.valid_from > ? OR r.valid_to <= ?)"
            then, values = held_in(f) if f.lets_held_pass else ("0", [])
            shut_out = [wanted.current_at, wanted.current_at, *values]
            yield f"SELECT c.row {_FROM} WHERE {past} AND NOT {then}", shut_out
        if f.hidden:
            text, values = hidden(f)
            yield f"SELECT c.row {_FROM} WHERE NOT ({text})", values

    def cosines(self, vector: NDArray[np.float32], rows: Ints) -> NDArray[np.float32]:
        """Inner products of `vector` (float32 [dim]) with the vectors of `rows`, 0 for rows without one."""
        import numpy as np

        view = self.vectors()
        if view is None or not len(rows):
            return np.zeros(len(rows), np.float32)
        _check_dimension(vector, view)
        return view.cosines(vector, view.places(rows))

    def seen_from(self, centre: Centre, rows: Ints) -> NDArray[np.float64]:
        """The unit vectors of `rows` seen from their scripts' means: float64 [n, dim], 0 without one."""
        import numpy as np

        view = self.vectors()
        if view is None or not len(rows):
            return np.zeros((len(rows), len(centre.towards)))
        _check_dimension(centre.towards, view)
        return view.seen_from(centre, view.places(rows))

    def nearness(self, centre: Centre, rows: Ints) -> NDArray[np.float64]:
        """Cosines of a question with `rows`, both seen from their scripts: float64 [n], 0 without one."""
        import numpy as np

        view = self.vectors()
        if view is None or not len(rows):
            return np.zeros(len(rows))
        _check_dimension(centre.towards, view)
        return view.nearness(centre, view.places(rows))

    def begun(self, f: Filter, span: Bounds) -> int:
        """How many records but facts pass `f`, its time apart, and begin in a closed span of milliseconds."""
        wanted = self._in_numbers(f)
        if wanted.tags is not None or f.hidden:
            return self._count(replace(f, during=(span,), said_only=True), "r.fact = 0")
        text, values = "r.inferred = 0 AND r.at_ms >= ? AND r.at_ms < ? AND r.fact = 0", [*span]
        if wanted.namespaces is not None:
            text += f" AND s.namespace IN ({marks(len(wanted.namespaces))})"
            values += sorted(wanted.namespaces)
        if wanted.kinds is not None:
            text += f" AND r.kind IN ({marks(len(wanted.kinds))})"
            values += sorted(wanted.kinds)
        among = "" if wanted.namespaces is None else "JOIN source s ON s.id = r.source"
        (count,) = self.db.execute(f"SELECT count(*) FROM record r {among} WHERE {text}", values).fetchone()
        return int(count)

    def rows(self, f: Filter, most: int = -1) -> Ints:
        """The chunk rows that pass `f`, at most so many, -1 all: int64, ascending."""
        text, values = condition(f)
        return self._rows(f"SELECT c.row {_FROM} WHERE {text} ORDER BY c.row LIMIT {most}", values)

    def hidden_rows(self, f: Filter) -> Ints:
        """The chunk rows in the namespaces of `f` that it hides: int64, ascending."""
        among, values = condition(Filter(namespaces=f.namespaces))
        text, more = hidden(f)
        return self._rows(
            f"SELECT c.row {_FROM} WHERE {among} AND NOT ({text}) ORDER BY c.row", values + more
        )

    def passing(self, rows: Ints, f: Filter) -> Ints:
        """Those of `rows` that pass `f`, in their order."""
        text, values = condition(f)
        return self._rows(
            f"SELECT c.row FROM json_each(?) wanted CROSS JOIN chunk c ON c.row = wanted.value "
            f"CROSS JOIN record r ON r.id = c.record WHERE {text}",
            [json.dumps(rows.tolist()), *values],
        )

    def count(self, f: Filter) -> int:
        """How many records pass `f` with at least one chunk."""
        return self._count(f, "1")

    def _count(self, f: Filter, among: str) -> int:
        text, values = condition(f)
        query = f"SELECT count(DISTINCT c.record) {_FROM} WHERE {among} AND {text}"
        (count,) = self.db.execute(query, values).fetchone()
        return int(count)

    def passages(self, rows: Ints) -> Passages:
        """What ranking needs of chunks, in the order of `rows`; rows that are not there are left out."""
        return shown.passages(self.db, rows)

    def term_ids(self, terms: Sequence[str]) -> list[int | None]:
        """The number of each term in the index, None where no chunk holds it."""
        found = dict(
            self.db.execute(
                "SELECT term.text, term.id FROM json_each(?) wanted "
                "CROSS JOIN term ON term.text = wanted.value",
                (json.dumps(list(terms)),),
            )
        )
        return [found.get(term) for term in terms]

    def terms(self, ids: Iterable[int]) -> list[str]:
        """The terms of numbers, in no order."""
        text = "SELECT t.text FROM json_each(?) wanted CROSS JOIN term t ON t.id = wanted.value"
        return [term for (term,) in self.db.execute(text, (json.dumps(list(ids)),))]

    def frequencies(self, terms: Sequence[str], namespaces: frozenset[str] | None) -> list[int]:
        """In how many chunks of the namespaces (None = all) each term stands."""
        among, values = _among(namespaces)
        text = f"SELECT ifnull(sum(n), 0) FROM df WHERE namespace IN ({among}) AND term = ?"
        return [
            int(self.db.execute(text, [*values, id]).fetchone()[0]) if id is not None else 0
            for id in self.term_ids(terms)
        ]

    def totals(self, namespaces: frozenset[str] | None) -> tuple[int, int]:
        """How many chunks, and how many words in them, the namespaces (None = all) hold."""
        among, values = _among(namespaces)
        text = "SELECT ifnull(sum(chunks), 0), ifnull(sum(tokens), 0) FROM totals"
        chunks, tokens = self.db.execute(f"{text} WHERE namespace IN ({among})", values).fetchone()
        return int(chunks), int(tokens)

    def records(self, ids: Sequence[int]) -> list[RecordRow]:
        """Records in the order of `ids`; those that are not there are left out."""
        return shown.records(self.db, ids)

    def rows_of(self, records: Iterable[int]) -> Ints:
        """The chunk rows of records: int64, ascending."""
        listed = json.dumps([int(id) for id in records])
        return self._rows(
            "SELECT row FROM chunk WHERE record IN (SELECT value FROM json_each(?)) ORDER BY row", [listed]
        )

    def rows_of_refs(self, refs: Iterable[str]) -> Ints:
        """The chunk rows of records by their refs as text: int64, ascending."""
        return self._rows(
            f"SELECT c.row {_FROM} WHERE r.ref IN (SELECT value FROM json_each(?)) ORDER BY c.row",
            [json.dumps([str(ref) for ref in refs])],
        )

    def beside(self, record: int, n: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The ids of up to `n` records before and `n` after one in its source, in the file's order."""
        return shown.beside(self.db, record, n)

    def around(self, records: Iterable[int], n: int) -> tuple[Ints, Ints, Ints]:
        """The chunk rows of records at most `n` places from any of `records`, perhaps more than once.

        Three int64 arrays of one length: rows, their sources, the places of their records there; row −1
        stands for a record without any. Rows of one record rise in reading order.
        """
        import numpy as np

        listed = json.dumps([int(id) for id in records])
        found = self.db.execute(
            "SELECT near.source, near.ord, ifnull(c.row, -1) FROM json_each(?) wanted "
            "CROSS JOIN record mine ON mine.id = wanted.value "
            "CROSS JOIN record near ON near.source = mine.source "
            "AND near.ord BETWEEN mine.ord - ? AND mine.ord + ? "
            "LEFT JOIN chunk c ON c.record = near.id",
            (listed, n, n),
        ).fetchall()
        sources, places, rows = np.array(found, np.int64).reshape(-1, 3).T
        return rows, sources, places

    def texts(self, rows: Iterable[int]) -> list[str]:
        """The passages of chunks in the order of `rows`, "" for one that is not there."""
        return [shown.text(self.db, int(row)) or "" for row in rows]

    def said(self, rows: Iterable[int]) -> list[str]:
        """The words that find chunks, in the order of `rows`: those of a title are not its passage's."""
        return [shown.said(self.db, int(row)) for row in rows]

    def chunk(self, row: int) -> ChunkRow:
        """One passage with its place. Raises KeyError where there is no such row."""
        return shown.chunk(self.db, int(row))

    def namespaces(self) -> list[str]:
        """The labels that hold anything, sorted."""
        text = "SELECT label FROM namespace JOIN totals ON namespace = id WHERE chunks > 0 ORDER BY label"
        return [label for (label,) in self.db.execute(text)]

    def _rows(self, text: str, values: Sequence[object]) -> Ints:
        import numpy as np

        return np.fromiter(chain.from_iterable(self.db.execute(text, list(values))), np.int64)

    def _gone(self, table: str) -> Ints:
        return self._rows(f"SELECT row FROM {table} ORDER BY row", ())

    def _in_numbers(self, f: Filter) -> Wanted:
        if f not in self._wanted:
            self._wanted[f] = numbers.in_numbers(self.db, f)
        return self._wanted[f]


def _among(namespaces: frozenset[str] | None) -> Condition:
    if namespaces is None:
        return "SELECT id FROM namespace", []
    listed = sorted(namespaces)
    return f"SELECT id FROM namespace WHERE label IN ({marks(len(listed))})", list(listed)


def _check_dimension(vector: NDArray[np.floating], view: View) -> None:
    if vector.shape[-1] != view.dim or vector.size != view.dim:
        raise ConfigError(
            f"the question's vector has {vector.size} dimensions, the index {view.dim}",
            "The embedder is another one than the index was made with: run `huimem sync`.",
        )

"""All vectors of one embedder as one column of rows.

In: opened segments. Out: the nearest rows by inner product, filters applied before ranking, and how near
rows are. A filter by time touches only the segments, and the rows in them, that it covers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from huimem.index import sketch
from huimem.index.centring import SAMPLE, Centre, centred
from huimem.index.dense import ROW, SegmentRow, attributes, filled, guarded, stored
from huimem.index.rows import UNDATED

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Mask = NDArray[np.bool_]
    Words = NDArray[np.uint64]
    Distances = NDArray[np.uint16]

MOST_MASKS = 32  # of filters, kept: each takes a byte a passage


@dataclass(frozen=True, slots=True)
class View:
    """All usable segments of one embedder as one column of rows; immutable, shared by readers.

    `starts` [s + 1] bounds the segments in `rows` [n]; `indexes` are their FAISS indexes and `codes` the
    vectors in them. `by_row` sorts
    `rows` by row number, and `numbers` are these in order; `sketches` [words, n] are those of all vectors,
    None where some lack. Masks are kept by filter, since most questions use the same one.
    """

    dim: int
    rows: NDArray[Any]
    starts: Ints
    indexes: tuple[Any, ...]
    codes: tuple[NDArray[np.uint8], ...]
    by_row: Ints
    numbers: Ints
    sketches: Words | None = None
    _masks: dict[tuple[object, ...], Mask] = field(default_factory=dict)
    _sums: dict[tuple[object, ...], tuple[Floats, int]] = field(default_factory=dict)
    _apart: dict[bytes, Distances] = field(default_factory=dict)

    @classmethod
    def of(cls, opened: Sequence[tuple[SegmentRow, Any]], dim: int) -> View:
        """`opened` in the order of their first time."""
        import numpy as np

        parts = [attributes(segment) for segment, _ in opened] or [np.zeros(0, np.dtype(ROW))]
        rows = np.concatenate(parts)
        starts = np.cumsum([0, *map(len, parts)], dtype=np.int64)
        by_row = np.argsort(rows["row"], kind="stable")
        found = [sketch.opened(one.sketches, one.count, dim) for one, _ in opened]
        known = [one for one in found if one is not None]
        sketches = np.concatenate(known, axis=1) if known and len(known) == len(found) else None
        numbers = rows["row"][by_row]
        indexes = tuple(index for _, index in opened)
        return cls(dim, rows, starts, indexes, tuple(map(stored, indexes)), by_row, numbers, sketches)

    def places(self, rows: Ints) -> Ints:
        """Where rows stand in `self.rows`: int64, same length, −1 for rows without a vector."""
        import numpy as np

        if not len(self.rows) or not len(rows):
            return np.full(len(rows), -1, np.int64)
        at = np.searchsorted(self.numbers, rows).clip(0, len(self.numbers) - 1)
        found: Ints = np.where(self.numbers[at] == rows, self.by_row[at], -1)
        return found

    def among(self, **allowed: frozenset[int] | None) -> Mask:
        """Rows whose namespace, kind, role, script are allowed (None: all): bool [n]; not to be changed."""
        import numpy as np

        key = _key(allowed)
        mask = self._masks.get(key)
        if mask is None:
            mask = np.ones(len(self.rows), bool)
            for name, ids in key:
                mask &= np.isin(self.rows[name], np.array(sorted(ids), np.int32))
            mask.setflags(write=False)
            if len(self._masks) >= MOST_MASKS:
                self._masks.clear()
            self._masks[key] = mask
        return mask

    def within(self, spans: Sequence[tuple[int, int]]) -> Mask:
        """Rows whose own time lies in one of the half-open spans of milliseconds: bool [n]."""
        import numpy as np

        mask = np.zeros(len(self.rows), bool)
        for a, b in zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True):
            times = self.rows["at"][a:b]
            if times[0] == UNDATED:
                continue
            for start, end in spans:
                if start <= times[-1] and times[0] < end:
                    low, high = np.searchsorted(times, (start, end))
                    mask[a + low : a + high] = True
        return mask

    def nearest(
        self, vector: NDArray[np.float32], mask: Mask, limit: int
    ) -> tuple[Ints, NDArray[np.float32]]:
        """The `limit` rows with the highest inner product under `mask`, best first, ties by row.

        Of very many rows only those are looked at whose sketches are nearest.
        """
        import numpy as np

        query = np.ascontiguousarray(vector, np.float32).reshape(1, -1)
        places = self._close(vector, mask, limit)
        found = self._by_segment(query, mask, limit) if places is None else self._among(query, places, limit)
        rows, scores = found
        order = np.lexsort((rows, -scores))[:limit]
        return rows[order], scores[order]

    def _by_segment(
        self, query: NDArray[np.float32], mask: Mask, limit: int
    ) -> tuple[Ints, NDArray[np.float32]]:
        """The nearest `limit` rows of each segment under `mask`."""
        import numpy as np

        rows, scores = [np.zeros(0, np.int64)], [np.zeros(0, np.float32)]
        for at, (a, b) in enumerate(zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True)):
            part = mask[a:b]
            passing = int(np.count_nonzero(part))
            if passing:
                found, places = _search(self.indexes[at], query, min(limit, passing), part, passing)
                rows.append(self.rows["row"][a:b][places])
                scores.append(found)
        return np.concatenate(rows), np.concatenate(scores)

    def _among(
        self, query: NDArray[np.float32], places: Ints, limit: int
    ) -> tuple[Ints, NDArray[np.float32]]:
        """The nearest `limit` rows of those at `places`, in one search instead of one for each segment."""
        import numpy as np

        index = filled(self._codes(places), self.dim)
        every = np.ones(len(places), bool)
        scores, found = _search(index, query, min(limit, len(places)), every, len(places))
        return self.rows["row"][places[found]], scores

    def _close(self, vector: NDArray[np.float32], mask: Mask, limit: int) -> Ints | None:
        """Where the rows under `mask` are that are worth a look; None where all of them are."""
        import numpy as np

        if self.sketches is None or np.count_nonzero(mask) < sketch.FROM:
            return None
        key = vector.tobytes()
        apart = self._apart.get(key)
        if apart is None:
            apart = sketch.distances(self.sketches, vector)
            self._apart.clear()  # a question is asked once for each script, one after the other
            self._apart[key] = apart
        return sketch.close(self.sketches, vector, apart, mask, limit)

    def cosines(self, vector: NDArray[np.float32], places: Ints) -> NDArray[np.float32]:
        """The inner products of the rows at `places`, 0 where a place is −1: float32, same length."""
        import numpy as np

        result = np.zeros(len(places), np.float32)
        there = np.flatnonzero(places >= 0)
        # Summed in double precision, so that equal vectors tie wherever they stand.
        result[there] = self.vectors(places[there]) @ np.asarray(vector, np.float64)
        return result

    def seen_from(self, centre: Centre, places: Ints) -> Floats:
        """The unit vectors of the rows at `places`, each seen from the mean of its script.

        float64 [len(places), dim]; 0 where a place is −1. A script without a mean is taken as it is.
        """
        import numpy as np

        result = np.zeros((len(places), self.dim))
        there = np.flatnonzero(places >= 0)
        scripts = self.rows["script"][places[there]]
        for script in np.unique(scripts).tolist():
            mine = there[scripts == script]
            middle = centre.means.get(script, np.zeros(self.dim))
            result[mine] = centred(self.vectors(places[mine]), middle)
        return result

    def nearness(self, centre: Centre, places: Ints) -> Floats:
        """Cosines of a question with the rows at `places`, both seen from the means of the rows' scripts.

        float64 [len(places)]: what `seen_from` times `centre.towards` is, without the vectors in between.
        """
        import numpy as np

        result = np.zeros(len(places))
        there = np.flatnonzero(places >= 0)
        vectors, scripts = self.vectors(places[there]), self.rows["script"][places[there]]
        towards, squares = vectors @ centre.towards, np.einsum("ij,ij->i", vectors, vectors)
        for script in np.unique(scripts).tolist():
            mine, middle = scripts == script, centre.means.get(script, np.zeros(self.dim))
            apart = squares[mine] - 2 * (vectors[mine] @ middle) + middle @ middle
            lengths = np.sqrt(np.maximum(apart, 0))
            along = towards[mine] - middle @ centre.towards
            result[there[mine]] = np.divide(along, lengths, out=np.zeros_like(along), where=lengths > 1e-6)
        return result

    def vectors(self, places: Ints) -> Floats:
        """The vectors of rows: float64 [len(places), dim]."""
        import numpy as np

        found: Floats = np.take(_halves(), self._codes(places).view("<u2"))
        return found

    def _codes(self, places: Ints) -> NDArray[np.uint8]:
        """The half-precision vectors of rows as they are stored: uint8 [len(places), 2 · dim]."""
        import numpy as np

        order = np.argsort(places, kind="stable")
        inside = places[order]
        found = np.empty((len(places), 2 * self.dim), np.uint8)
        for at, (a, b) in enumerate(pairwise(np.searchsorted(inside, self.starts).tolist())):
            if a < b:  # straight to where they go: a copy less
                np.take(self.codes[at], inside[a:b] - self.starts[at], axis=0, out=found[a:b], mode="clip")
        if np.array_equal(inside, places):
            return found
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return found[back]

    def sampled(self, gone: Ints, **allowed: frozenset[int] | None) -> tuple[Floats, int]:
        """The sum of at most `SAMPLE` vectors of what is allowed, float64 [dim], and how many they are.

        They are chosen by the hash of their text and half-precision numbers add up exactly, so an index
        that grew gives the same as one made anew. The rows `gone` do not count.
        """
        import numpy as np

        key = _key(allowed)
        known = None if len(gone) else self._sums.get(key)
        if known is not None:
            return known
        places = np.flatnonzero(self.among(**allowed))
        if len(gone):
            places = places[~np.isin(self.rows["row"][places], gone)]
        if len(places) > SAMPLE:
            chosen = np.argpartition(self.rows["hash"][places], SAMPLE)[:SAMPLE]
            places = places[chosen]
        found = self.vectors(places).sum(axis=0), len(places)
        if not len(gone):
            if len(self._sums) >= MOST_MASKS:
                self._sums.clear()
            self._sums[key] = found
        return found


@lru_cache(1)
def _halves() -> Floats:
    """Every half-precision number by its bits, float64 [65536]: looked up four times as fast as converted."""
    import numpy as np

    with np.errstate(invalid="ignore"):
        return np.arange(1 << 16, dtype="<u2").view("<f2").astype(np.float64)


def _key(allowed: Mapping[str, frozenset[int] | None]) -> tuple[tuple[str, frozenset[int]], ...]:
    return tuple(sorted((name, ids) for name, ids in allowed.items() if ids is not None))


def _search(
    index: Any, query: NDArray[np.float32], count: int, mask: Mask, passing: int
) -> tuple[NDArray[np.float32], Ints]:
    """Scores and places of the `count` best of one segment under a mask of its rows."""
    import numpy as np

    with guarded("search") as faiss:
        if passing == len(mask):
            scores, places = index.search(query, count)
        else:
            first, last = int(mask.argmax()), len(mask) - int(mask[::-1].argmax())
            if last - first == passing:
                selector = faiss.IDSelectorRange(first, last)
            else:
                selector = faiss.IDSelectorBitmap(np.packbits(mask, bitorder="little"))
            scores, places = index.search(query, count, params=faiss.SearchParameters(sel=selector))
    kept = places[0] >= 0  # −1 stands for "fewer than asked"
    return scores[0][kept], places[0][kept]

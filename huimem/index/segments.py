"""Publishing vectors: which rows stand in which segment, and which segments must be written anew.

In: vectors of chunks that had none. Out: segment files by quarter, cut at `MOST_ROWS`, and the catalog's
rows that name them. Rows in a segment follow time, then row number; what no exact range may hold
stands apart. Only segments whose rows changed are written.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from huimem import files
from huimem.index import catalog, dense, kinds
from huimem.index.dense import MOST_ROWS, ROW, SegmentRow
from huimem.index.rows import UNDATED, instant
from huimem.index.seal import VECTORS, Damaged
from huimem.index.view import View

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_COLUMNS = "id, file, bucket, embedder, dim, size, sha256, count, first_ms, last_ms, rows, sketches"
_NOTHING: Mapping[int, bytes] = MappingProxyType({})


def listed(db: sqlite3.Connection, embedder: str | None = None) -> list[SegmentRow]:
    """The segments that the catalog names, by first time; only those of `embedder`, if given."""
    rows = db.execute(f"SELECT {_COLUMNS} FROM segment ORDER BY first_ms, id")
    segments = [SegmentRow(*row) for row in rows]
    return [segment for segment in segments if embedder is None or segment.embedder == embedder]


def drop(db: sqlite3.Connection, ids: Iterable[int]) -> None:
    """Take segments out of the catalog; their rows have no vector from now on."""
    db.executemany("DELETE FROM segment WHERE id = ?", [(id,) for id in ids])


def bucket_of(at_ms: int) -> str:
    """The quarter of the year (UTC) of a row's time; "undated" for what no exact range may hold.

    Fewer files than months make, and a search pays for each; an edit rewrites no more than a few.
    """
    if at_ms == UNDATED:
        return "undated"
    try:
        day = instant(at_ms)
        return f"{day.year}-Q{(day.month + 2) // 3}"
    except OverflowError:
        return "undated"


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows with their vectors: `of` records of shape ROW [n], `codes` uint8 [n, 2 · dim]."""

    of: NDArray[Any]
    codes: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Target:
    """Whose vectors: the embedder's name and their dimension."""

    embedder: str
    dim: int


@dataclass(frozen=True, slots=True)
class _Place:
    """Where segments are written: the state folder, and whose they are."""

    folder: Path
    maker: Target


def publish(
    db: sqlite3.Connection, folder: Path, target: Target | None = None, fresh: Mapping[int, bytes] = _NOTHING
) -> frozenset[str]:
    """Bring segments up to date with `fresh` (row → vector bytes of `target`) and without what is gone.

    The caller holds the lock and an open transaction. What is gone leaves the segments of every
    embedder; what one embedder made is never touched for another. Returns the files that were replaced:
    they may go once no reader can still want them.
    """
    gone = {row for (row,) in db.execute("SELECT row FROM gone_vectors")}
    present = listed(db)
    misfits = [s for s in present if target and s.embedder == target.embedder and s.dim != target.dim]
    drop(db, [segment.id for segment in misfits])
    replaced = {segment.file for segment in misfits}
    standing = [segment for segment in present if segment not in misfits]
    new = _new_rows(db, fresh, target.dim) if target else {}
    made = {Target(segment.embedder, segment.dim) for segment in standing} | ({target} if new else set())
    for maker in filter(None, made):
        mine = [s for s in standing if (s.embedder, s.dim) == (maker.embedder, maker.dim)]
        added = new if maker == target else {}
        for bucket in sorted({*added, *_losing(mine, gone)}):
            old = [segment for segment in mine if segment.bucket == bucket]
            replaced |= _rewrite(db, _Place(folder, maker), old, added.get(bucket), gone)
    db.execute("DELETE FROM gone_vectors")
    return frozenset(replaced)


def others(db: sqlite3.Connection, embedder: str) -> bool:
    """Whether segments of other embedders stand in the catalog."""
    text = "SELECT EXISTS(SELECT 1 FROM segment WHERE embedder != ?)"
    return bool(db.execute(text, (embedder,)).fetchone()[0])


def hand_over(db: sqlite3.Connection, embedder: str) -> frozenset[str]:
    """Take the segments of all other embedders out of the catalog; their files, as `publish` gives them."""
    others = [segment for segment in listed(db) if segment.embedder != embedder]
    drop(db, [segment.id for segment in others])
    return frozenset(segment.file for segment in others)


def _losing(segments: Sequence[SegmentRow], gone: set[int]) -> set[str]:
    """The buckets that hold rows that are gone."""
    if not gone:
        return set()
    return {s.bucket for s in segments if gone.intersection(dense.attributes(s)["row"].tolist())}


def _new_rows(db: sqlite3.Connection, fresh: Mapping[int, bytes], dim: int) -> dict[str, _Rows]:
    """The fresh rows that still exist, by bucket."""
    import numpy as np

    by_bucket: dict[str, list[tuple[int, ...]]] = defaultdict(list)
    for found in _attributes(db, sorted(fresh)):
        by_bucket[bucket_of(found[1])].append(found)
    return {
        bucket: _Rows(
            np.array(rows, np.dtype(ROW)),
            np.frombuffer(b"".join(fresh[row[0]] for row in rows), np.uint8).reshape(-1, 2 * dim),
        )
        for bucket, rows in by_bucket.items()
    }


def _attributes(db: sqlite3.Connection, rows: Sequence[int]) -> Iterator[tuple[int, ...]]:
    for row in rows:
        found = db.execute(
            "SELECT c.row, CASE WHEN c.inferred OR c.at_ms IS NULL THEN ? ELSE c.at_ms END, c.record, "
            "r.source, c.namespace, c.kind, c.role, c.script, c.hash FROM chunk c "
            "JOIN record r ON r.id = c.record WHERE c.row = ?",
            (UNDATED, row),
        ).fetchone()
        if found:
            yield (*found[:-1], int.from_bytes(found[-1][:8], "big"))


def _rewrite(
    db: sqlite3.Connection, place: _Place, old: list[SegmentRow], new: _Rows | None, gone: set[int]
) -> set[str]:
    """Write the segments of one bucket that change; the names of those they replace."""
    import numpy as np

    parts = [kept for segment in old if (kept := _kept(place.folder, segment, gone)) is not None]
    if new is not None:
        parts.append(new)
    if not parts:
        drop(db, [segment.id for segment in old])
        return {segment.file for segment in old}
    rows = np.concatenate([part.of for part in parts])
    codes = np.concatenate([part.codes for part in parts])
    # A row that came twice keeps its newest vector.
    _, last = np.unique(rows["row"][::-1], return_index=True)
    chosen = _by_time(rows, len(rows) - 1 - last)
    standing = {segment.rows: segment for segment in old}
    for start in range(0, len(chosen), MOST_ROWS):
        piece = chosen[start : start + MOST_ROWS]
        same = standing.pop(rows[piece].tobytes(), None)
        if same is None:
            _write(db, place, rows[piece], codes[piece])
    drop(db, [segment.id for segment in standing.values()])
    return {segment.file for segment in standing.values()}


def _kept(folder: Path, segment: SegmentRow, gone: set[int]) -> _Rows | None:
    """What stays of a segment; None where it is damaged, so that its rows are embedded again."""
    import numpy as np

    try:
        rows = dense.attributes(segment)
        index = dense.open_segment(folder, segment, verify=True)
        codes = dense.stored(index)
    except Damaged:
        return None
    staying = ~np.isin(rows["row"], np.array(sorted(gone), np.int64))
    return _Rows(rows[staying], codes[staying])


def _write(db: sqlite3.Connection, place: _Place, rows: NDArray[Any], codes: NDArray[np.uint8]) -> None:
    data = dense.encode(codes.tobytes(), place.maker.dim)
    bucket = bucket_of(int(rows["at"][0]))
    # The name is new even where an earlier run was cut off after writing its file.
    name = f"{bucket}-{secrets.token_hex(6)}.faiss"
    files.make_folder(place.folder / VECTORS)
    files.create(place.folder / VECTORS / name, data)
    id = catalog.take(db, "segment", 1)
    times = (int(rows["at"][0]), int(rows["at"][-1]))
    whose = (id, name, bucket, place.maker.embedder, place.maker.dim, len(data), dense.sha256(data))
    db.execute(
        f"INSERT INTO segment ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*whose, len(rows), *times, rows.tobytes(), dense.sketches(codes, rows)),
    )


def in_memory(db: sqlite3.Connection, target: Target, made: Mapping[int, bytes]) -> View | None:
    """A view of vectors that stand in no file; None for none. `db` is any reader of the catalog."""
    opened = []
    for bucket, rows in _new_rows(db, made, target.dim).items():
        order = _by_time(rows.of)
        for start in range(0, len(order), MOST_ROWS):
            piece = rows.of[order[start : start + MOST_ROWS]]
            index = dense.filled(rows.codes[order[start : start + MOST_ROWS]], target.dim)
            opened.append((_unwritten(bucket, target, piece), index))
    opened.sort(key=lambda one: one[0].first_ms)
    return View.of(opened, target.dim) if opened else None


def _unwritten(bucket: str, target: Target, rows: NDArray[Any]) -> SegmentRow:
    """A segment without a file."""
    times = (int(rows["at"][0]), int(rows["at"][-1]))
    return SegmentRow(0, "", bucket, target.embedder, target.dim, 0, "", len(rows), *times, rows.tobytes())


def _by_time(rows: NDArray[Any], chosen: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """The places of rows, all or `chosen`, in the order they have in a segment."""
    import numpy as np

    places = np.arange(len(rows)) if chosen is None else chosen
    return places[np.lexsort((rows["row"][places], rows["at"][places]))]


def sweep(db: sqlite3.Connection, folder: Path, keep: frozenset[str] = frozenset()) -> None:
    """Delete files that no segment names, all but `keep`, which a reader may be about to open."""
    named = {name for (name,) in db.execute("SELECT file FROM segment")} | keep
    try:
        present = list((folder / VECTORS).iterdir())
    except FileNotFoundError:
        return
    for path in present:
        if path.name not in named:
            kinds.take_away(path)

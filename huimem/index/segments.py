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
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from huimem import files
from huimem.index import catalog, dense, kinds
from huimem.index.dense import MOST_ROWS, ROW, SegmentRow
from huimem.index.rows import UNDATED
from huimem.index.seal import VECTORS, Damaged

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_COLUMNS = "id, file, bucket, embedder, dim, size, sha256, count, first_ms, last_ms, rows"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


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
        day = _EPOCH + timedelta(milliseconds=at_ms)
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
    """Where vectors go: the state folder and the embedder that made them."""

    folder: Path
    embedder: str
    dim: int


def publish(db: sqlite3.Connection, target: Target, fresh: Mapping[int, bytes]) -> frozenset[str]:
    """Bring segments up to date with `fresh` (row → vector bytes) and without what is gone.

    The caller holds the lock and an open transaction. Other embedders' segments leave the catalog.
    Returns the files that were replaced: they may go once no reader can still want them.
    """
    present = listed(db)
    current = [s for s in present if (s.embedder, s.dim) == (target.embedder, target.dim)]
    drop(db, {s.id for s in present} - {s.id for s in current})
    gone = {row for (row,) in db.execute("SELECT row FROM gone_vectors")}
    new = _new_rows(db, fresh, target.dim)
    buckets = set(new)
    for segment in current:
        if gone and gone.intersection(dense.attributes(segment)["row"].tolist()):
            buckets.add(segment.bucket)
    replaced = {s.file for s in present if s not in current}
    for bucket in sorted(buckets):
        old = [segment for segment in current if segment.bucket == bucket]
        replaced |= _rewrite(db, target, old, new.get(bucket), gone)
    db.execute("DELETE FROM gone_vectors")
    return frozenset(replaced)


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
            "r.source, c.namespace, c.kind, c.role FROM chunk c JOIN record r ON r.id = c.record "
            "WHERE c.row = ?",
            (UNDATED, row),
        ).fetchone()
        if found:
            yield found


def _rewrite(
    db: sqlite3.Connection, target: Target, old: list[SegmentRow], new: _Rows | None, gone: set[int]
) -> set[str]:
    """Write the segments of one bucket that change; the names of those they replace."""
    import numpy as np

    parts = [kept for segment in old if (kept := _kept(target.folder, segment, gone)) is not None]
    if new is not None:
        parts.append(new)
    if not parts:
        drop(db, [segment.id for segment in old])
        return {segment.file for segment in old}
    rows = np.concatenate([part.of for part in parts])
    codes = np.concatenate([part.codes for part in parts])
    # A row that came twice keeps its newest vector.
    _, last = np.unique(rows["row"][::-1], return_index=True)
    chosen = len(rows) - 1 - last
    chosen = chosen[np.lexsort((rows["row"][chosen], rows["at"][chosen]))]
    standing = {segment.rows: segment for segment in old}
    for start in range(0, len(chosen), MOST_ROWS):
        piece = chosen[start : start + MOST_ROWS]
        same = standing.pop(rows[piece].tobytes(), None)
        if same is None:
            _write(db, target, rows[piece], codes[piece])
    drop(db, [segment.id for segment in standing.values()])
    return {segment.file for segment in standing.values()}


def _kept(folder: Path, segment: SegmentRow, gone: set[int]) -> _Rows | None:
    """What stays of a segment; None where it is damaged, so that its rows are embedded again."""
    import numpy as np

    try:
        rows = dense.attributes(segment)
        codes = dense.decode(dense.open_segment(folder, segment, verify=True))
    except Damaged:
        return None
    staying = ~np.isin(rows["row"], np.array(sorted(gone), np.int64))
    return _Rows(rows[staying], codes[staying])


def _write(db: sqlite3.Connection, target: Target, rows: NDArray[Any], codes: NDArray[np.uint8]) -> None:
    data = dense.encode(codes.tobytes(), target.dim)
    bucket = bucket_of(int(rows["at"][0]))
    # The name is new even where an earlier run was cut off after writing its file.
    name = f"{bucket}-{secrets.token_hex(6)}.faiss"
    files.make_folder(target.folder / VECTORS)
    files.create(target.folder / VECTORS / name, data)
    id = catalog.take(db, "segment", 1)
    times = (int(rows["at"][0]), int(rows["at"][-1]))
    whose = (id, name, bucket, target.embedder, target.dim, len(data), dense.sha256(data))
    db.execute(
        f"INSERT INTO segment ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*whose, len(rows), *times, rows.tobytes()),
    )


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

"""Rows of the catalog → what ranking and people are shown: passages, records, texts.

In: a reader's connection and row numbers. Out: arrays and frozen rows.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from huimem.index.filters import EARLIEST, LATEST
from huimem.index.rows import UNDATED, ChunkRow, Passages, RecordRow
from huimem.index.seal import Damaged
from huimem.index.texts import unpack

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PASSAGES = (
    "SELECT c.row, c.record, c.message, ifnull(c.at_ms, ?), c.asks, c.script, c.role, c.tokens "
    "FROM json_each(?) wanted CROSS JOIN chunk c ON c.row = wanted.value"
)
_RECORDS = (
    "SELECT r.id, r.source, r.ord, r.ref, s.path, r.line, s.title, s.tags, n.label, k.text, r.fact, r.key, "
    "r.at_ms, r.inferred, r.valid_from, r.valid_to, r.importance FROM json_each(?) wanted "
    "CROSS JOIN record r ON r.id = wanted.value CROSS JOIN source s ON s.id = r.source "
    "CROSS JOIN namespace n ON n.id = s.namespace CROSS JOIN label k ON k.id = r.kind"
)
_CHUNK = (
    "SELECT c.record, c.message, l.text, r.line + c.line_first, r.line + c.line_last, c.at_ms "
    "FROM chunk c JOIN record r ON r.id = c.record JOIN label l ON l.id = c.role WHERE c.row = ?"
)


def passages(db: sqlite3.Connection, rows: NDArray[np.int64]) -> Passages:
    """Chunks as parallel arrays, in the order of `rows`."""
    import numpy as np

    found = db.execute(_PASSAGES, (UNDATED, json.dumps(rows.tolist()))).fetchall()
    columns: list[Sequence[Any]] = list(zip(*found, strict=True)) or [()] * 8
    *numbers, asks, scripts, roles, tokens = columns
    names = dict(db.execute("SELECT id, text FROM label"))
    named = tuple(names[role] for role in roles)
    row, record, message, at_ms = (np.array(column, np.int64) for column in numbers)
    lengths = np.fromiter(map(len, tokens), np.int64, len(tokens)) // 4
    return Passages(
        row,
        record,
        message,
        at_ms,
        np.array(asks, np.float64),
        np.array(scripts, np.int64),
        np.array([name == "user" for name in named], bool),
        named,
        np.frombuffer(b"".join(tokens), np.uint32),
        np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
    )


def records(db: sqlite3.Connection, ids: Sequence[int]) -> list[RecordRow]:
    """Records in the order of `ids`."""
    listed = (json.dumps([int(id) for id in ids]),)
    spans: dict[int, list[tuple[int | None, int | None]]] = {}
    for record, first, last in db.execute(
        "SELECT m.record, m.first_ms, m.last_ms FROM json_each(?) wanted "
        "CROSS JOIN mention m ON m.record = wanted.value",
        listed,
    ):
        span = (None if first == EARLIEST else first, None if last == LATEST else last)
        spans.setdefault(record, []).append(span)
    found = db.execute(_RECORDS, listed)
    return [_record(row, tuple(spans.get(row[0], ()))) for row in found]


def _record(row: Sequence[Any], mentions: tuple[tuple[int | None, int | None], ...]) -> RecordRow:
    id, source, ord, ref, path, line, title, tags, label, kind, fact, key, at_ms, inferred, *rest = row
    start, end, importance = rest
    return RecordRow(
        id=id,
        source=source,
        ord=ord,
        ref=ref,
        path=path,
        line=line,
        title=title,
        tags=tuple(json.loads(tags)),
        namespace=label,
        kind=kind,
        fact=bool(fact),
        key=key,
        at_ms=at_ms,
        inferred=bool(inferred),
        valid_from=start,
        valid_to=end,
        importance=importance,
        mentions=mentions,
    )


def text(db: sqlite3.Connection, row: int) -> str | None:
    """A passage as it stands in the file; None where there is none, or a damaged one."""
    found = db.execute("SELECT said, lead, text FROM passage WHERE row = ?", (row,)).fetchone()
    if found is None:
        return None
    said, lead, apart = found
    try:
        return unpack(apart) if apart is not None else unpack(said)[lead:]
    except Damaged:
        return None


def said(db: sqlite3.Connection, row: int) -> str:
    """What finds a passage: its own words, of a title those of the title; "" where nothing stands."""
    found = db.execute("SELECT said FROM passage WHERE row = ?", (row,)).fetchone()
    try:
        return unpack(found[0]) if found else ""
    except Damaged:
        return ""


def chunk(db: sqlite3.Connection, row: int) -> ChunkRow:
    """One passage with its place. Raises KeyError where there is no such row."""
    found = db.execute(_CHUNK, (row,)).fetchone()
    if found is None:
        raise KeyError(row)
    record, message, role, first, last, at_ms = found
    return ChunkRow(row, record, message, role, (first, last), at_ms, text(db, row) or "")


def beside(db: sqlite3.Connection, record: int, n: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The ids of up to `n` records before and `n` after one in its source, in the file's order."""
    near = (
        "SELECT near.id, near.ord - mine.ord FROM record mine JOIN record near ON near.source = mine.source "
        "AND near.ord BETWEEN mine.ord - ? AND mine.ord + ? WHERE mine.id = ? ORDER BY near.ord"
    )
    found = db.execute(near, (n, n, int(record))).fetchall()
    return tuple(id for id, step in found if step < 0), tuple(id for id, step in found if step > 0)

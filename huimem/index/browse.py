"""The catalog read without a question: the newest records, and when each was said.

In: a snapshot's connection and a filter. Out: rows, newest first, or moments.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from huimem.index import shown
from huimem.index.filters import Filter, condition
from huimem.index.rows import ChunkRow, RecordRow

_FROM = "FROM chunk c JOIN record r ON r.id = c.record"


def newest(db: sqlite3.Connection, f: Filter, limit: int) -> list[tuple[RecordRow, ChunkRow]]:
    """Records that pass, newest first, undated ones last, each with its first chunk that passes."""
    text, values = condition(f)
    found = db.execute(
        f"SELECT r.id, min(c.row) {_FROM} WHERE {text} GROUP BY r.id "
        "ORDER BY r.at_ms IS NULL, r.at_ms DESC, r.ref LIMIT ?",
        [*values, limit],
    ).fetchall()
    records = {record.id: record for record in shown.records(db, [id for id, _ in found])}
    return [(records[id], shown.chunk(db, row)) for id, row in found if id in records]


def moments(db: sqlite3.Connection, f: Filter) -> Iterator[tuple[int, int]]:
    """Milliseconds UTC and source of each dated record that passes."""
    text, values = condition(f)
    yield from db.execute(
        f"SELECT r.at_ms, r.source {_FROM} WHERE r.at_ms IS NOT NULL AND {text} GROUP BY r.id", values
    )

"""The catalog read without a question: the newest records, when each was said, labels and counts.

In: a reader's connection and perhaps a filter. Out: rows, newest first, moments, labels, numbers.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator

from huimem.index import shown
from huimem.index.filters import Filter, condition
from huimem.index.rows import ChunkRow, Counts, RecordRow

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


def counts(db: sqlite3.Connection, vectors: int) -> Counts:
    """How much the catalog holds; `vectors` are counted elsewhere."""
    (sources,) = db.execute("SELECT count(*) FROM source WHERE digest != ''").fetchone()
    (records,) = db.execute("SELECT count(*) FROM record").fetchone()
    (chunks,) = db.execute("SELECT ifnull(sum(chunks), 0) FROM totals").fetchone()
    (terms,) = db.execute("SELECT count(*) FROM term").fetchone()
    (problems,) = db.execute("SELECT count(*) FROM source WHERE problems != '[]'").fetchone()
    return Counts(sources, records, chunks, terms, vectors, problems)


def labels_below(db: sqlite3.Connection, root: str, beside: Collection[str]) -> frozenset[str]:
    """`root` and the labels below it, in the catalog and among `beside`."""
    labels = [label for (label,) in db.execute("SELECT label FROM namespace")]
    return frozenset({root, *(label for label in (*labels, *beside) if label.startswith(f"{root}/"))})

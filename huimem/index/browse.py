"""The catalog read without a question: the newest records, when each was said, labels and counts.

In: a reader's connection and perhaps a filter. Out: rows, newest first, sessions, moments, labels, numbers.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from huimem.errors import Problem
from huimem.index import shown
from huimem.index.batch import as_problems
from huimem.index.filters import Filter, condition
from huimem.index.rows import ChunkRow, Counts, RecordRow
from huimem.records import TITLE

_FROM = "FROM chunk c JOIN record r ON r.id = c.record"
# Behind the title stands the first passage of what it is the title of.
_FIRST = f"min(c.row + (c.role IN (SELECT id FROM label WHERE text = '{TITLE}')))"


def newest(db: sqlite3.Connection, f: Filter, limit: int) -> list[tuple[RecordRow, ChunkRow]]:
    """Records that pass, newest first, undated ones last, each with its first chunk that passes."""
    text, values = condition(f)
    found = db.execute(
        f"SELECT r.id, {_FIRST} {_FROM} WHERE {text} GROUP BY r.id "
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


@dataclass(frozen=True, slots=True)
class Opening:
    """A source of which records pass: how many, and the first chunk of the first one with its time."""

    path: str
    row: int
    at_ms: int | None
    records: int


def openings(db: sqlite3.Connection, f: Filter, without: Sequence[int] = ()) -> list[Opening]:
    """Every source with a record that passes, with the first such one in the file's order.

    Those of the ids `without` do not.
    """
    text, values = condition(f)
    if without:
        text += " AND r.id NOT IN (SELECT value FROM json_each(?))"
        values = [*values, json.dumps(list(without))]
    # Beside min(), SQLite takes the other columns from the row that holds the least.
    first = f"SELECT r.source, r.ord, c.at_ms AS at, {_FIRST} AS row {_FROM} WHERE {text} GROUP BY r.id"
    found = db.execute(
        f"SELECT s.path, row, at, count(*), min(ord) FROM ({first}) JOIN source s ON s.id = source "
        "GROUP BY source",
        values,
    )
    return [Opening(path, row, at, records) for path, row, at, records, _ in found]


def oldest(db: sqlite3.Connection, f: Filter, *, facts: bool) -> int | None:
    """Milliseconds UTC of the oldest thing that was said and passes; None where nothing has a known time.

    With `facts`, which may hold from any day on, the day from which the oldest one holds counts too.
    """
    text, values = condition(f)
    text += "" if facts else " AND r.fact = 0"
    found = db.execute(
        f"SELECT c.at_ms {_FROM} WHERE c.inferred = 0 AND c.at_ms IS NOT NULL AND {text} "
        "ORDER BY c.at_ms LIMIT 1",
        values,
    ).fetchone()
    return int(found[0]) if found else None


def has_ended(db: sqlite3.Connection, f: Filter) -> bool:
    """Whether a fact passes, `current_at` apart, that held in the time of the filter and not for ever."""
    text, values = condition(replace(f, held=True, current_at=None))
    found = db.execute(
        f"SELECT EXISTS(SELECT 1 {_FROM} WHERE r.fact = 1 AND r.valid_to IS NOT NULL AND {text})", values
    )
    return bool(found.fetchone()[0])


def around(db: sqlite3.Connection, f: Filter, start: int, end: int) -> tuple[int | None, int | None]:
    """Milliseconds UTC of what passes and was said last before `start`, and first from `end` on."""
    text, values = condition(f)
    said = f"SELECT c.at_ms {_FROM} WHERE c.inferred = 0 AND {text}"
    before = db.execute(f"{said} AND c.at_ms < ? ORDER BY c.at_ms DESC LIMIT 1", [*values, start]).fetchone()
    after = db.execute(f"{said} AND c.at_ms >= ? ORDER BY c.at_ms LIMIT 1", [*values, end]).fetchone()
    return before[0] if before else None, after[0] if after else None


def problems(db: sqlite3.Connection) -> tuple[Problem, ...]:
    """What is wrong in the files, by path."""
    found = db.execute("SELECT problems FROM source WHERE problems != '[]' ORDER BY path")
    return tuple(problem for (text,) in found for problem in as_problems(text))


def counts(db: sqlite3.Connection, vectors: int) -> Counts:
    """How much the catalog holds; `vectors` are counted elsewhere."""
    (sources,) = db.execute("SELECT count(*) FROM source WHERE digest != ''").fetchone()
    (records,) = db.execute("SELECT count(*) FROM record").fetchone()
    (chunks,) = db.execute("SELECT ifnull(sum(chunks), 0) FROM totals").fetchone()
    (terms,) = db.execute("SELECT count(*) FROM term").fetchone()
    (problems,) = db.execute("SELECT count(*) FROM source WHERE problems != '[]'").fetchone()
    return Counts(sources, records, chunks, terms, vectors, problems)


def labels(db: sqlite3.Connection, namespace: str | None, beside: Collection[str]) -> frozenset[str] | None:
    """The labels in the catalog and among `beside` that a namespace as asked for means; None = all of them.

    None is the root alone, `alice` itself, `alice/**` it and all below, `**` everything.
    """
    if namespace is None or not namespace.endswith("**"):
        return frozenset({namespace or ""})
    if not (root := namespace.removesuffix("**").rstrip("/")):
        return None
    known = [label for (label,) in db.execute("SELECT label FROM namespace")]
    return frozenset({root, *(label for label in (*known, *beside) if label.startswith(f"{root}/"))})

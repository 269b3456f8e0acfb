"""A filter as it is asked → the same in the catalog's numbers, without the parts that shut out nothing."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable

from huimem.index.filters import Filter
from huimem.index.lexical import Wanted


def in_numbers(db: sqlite3.Connection, f: Filter) -> Wanted:
    """What a filter wants, in numbers of the catalog that `db` reads."""
    return Wanted(
        namespaces=_numbers(db, "namespace", "label", f.namespaces),
        kinds=_numbers(db, "label", "text", f.kinds or None, distinct("kind", "record")),
        roles=_numbers(db, "label", "text", f.roles or None, distinct("role", "chunk")),
        tags=_numbers(db, "label", "text", f.tags or None),
        spans=f.spans,
        said_only=f.said_only,
        current_at=f.current_at if _has_past_facts(db, f.current_at) else None,
        held=f.lets_held_pass,
    )


def _numbers(
    db: sqlite3.Connection, table: str, column: str, texts: Iterable[str] | None, present: str = ""
) -> frozenset[int] | None:
    """Numbers of some labels; None where they are all there are."""
    if texts is None:
        return None
    listed = (json.dumps(list(texts)),)
    query = f"SELECT id FROM {table} WHERE {column} IN (SELECT value FROM json_each(?))"
    found = frozenset(id for (id,) in db.execute(query, listed))
    if table == "namespace":
        present = "SELECT namespace FROM totals WHERE chunks > 0"
    if present and found.issuperset(id for (id,) in db.execute(present)):
        return None
    return found


def _has_past_facts(db: sqlite3.Connection, instant: int | None) -> bool:
    return instant is not None and bool(
        db.execute(
            "SELECT EXISTS(SELECT 1 FROM record WHERE fact = 1 AND (valid_from > ? OR valid_to <= ?))",
            (instant, instant),
        ).fetchone()[0]
    )


def distinct(column: str, table: str) -> str:
    """The query for the few values of a column, by steps through its index instead of a look at each row."""
    return (
        f"WITH RECURSIVE step (value) AS (SELECT min({column}) FROM {table} UNION ALL "
        f"SELECT (SELECT min({column}) FROM {table} WHERE {column} > step.value) FROM step "
        "WHERE value IS NOT NULL) SELECT value FROM step WHERE value IS NOT NULL"
    )

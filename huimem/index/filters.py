"""What a question may see: filters, and the one SQL condition that decides them exactly.

In: a `Filter`. Out: a condition over the chunks of a catalog with its parameters. The word index
and the vector segments apply the same filter in their own way; this one is the meaning of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

Bounds = tuple[int | None, int | None]
Condition = tuple[str, list[object]]
# Past any time that a file can name; keeps open sides comparable.
EARLIEST, LATEST = -(1 << 62), 1 << 62
A_WEEK = (7 * 24 + 1) * 3_600_000  # milliseconds of the longest one, in which a clock goes back
PART_OF_A_DAY = 12 * 3_600_000  # longer than any daypart, shorter than any day

# What files no longer hold: the records of a path from one on, counted from 0.
Hidden = frozenset[tuple[str, int]]
NOTHING: Hidden = frozenset()


@dataclass(frozen=True, slots=True)
class Filter:
    """Which chunks may answer. All fields hold at once; an empty tuple asks for nothing.

    `during` is a union of half-open ranges in milliseconds UTC (None = open): a chunk passes by its
    own message's time or, unless `said_only`, by a range that its record speaks of; guessed times
    pass no range. What is spoken of is a time in `during` only if it has at most `longest` milliseconds,
    or as many. `namespaces` are exact labels, None = all of them. `tags`: one of them is enough.
    `current_at` drops facts that do not hold at that instant; None keeps superseded ones. `held`: a fact
    passes a range, whatever it is now, if it held at some time in it, unless `said_only`.
    """

    during: tuple[Bounds, ...] = ()
    said_only: bool = False
    namespaces: frozenset[str] | None = frozenset({""})
    kinds: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    current_at: int | None = None
    hidden: Hidden = NOTHING
    longest: int = A_WEEK
    held: bool = False

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """`during` with its open sides closed at the ends of time."""
        return tuple((EARLIEST if a is None else a, LATEST if b is None else b) for a, b in self.during)

    @property
    def lets_held_pass(self) -> bool:
        """Whether facts pass by having held in `during`."""
        return self.held and bool(self.during) and not self.said_only


def condition(f: Filter) -> Condition:
    """The SQL condition over `chunk c JOIN record r` that is true for passing chunks."""
    parts: list[Condition] = list(_plain(f))
    if f.during:
        parts.append(_in_time(f))
    if f.current_at is not None:
        parts.append(_current(f, f.current_at))
    text = " AND ".join(part for part, _ in parts) or "1"
    return text, [value for _, values in parts for value in values]


def _current(f: Filter, instant: int) -> Condition:
    """Facts hold at the instant, or in a range that is asked for; what is no fact passes."""
    holds = "ifnull(r.valid_from, ?) <= ? AND ifnull(r.valid_to, ?) > ?"
    values: list[object] = [EARLIEST, instant, LATEST, instant]
    if not f.lets_held_pass:
        return f"(r.fact = 0 OR ({holds}))", values
    then, more = held_in(f)
    return f"(r.fact = 0 OR ({holds}) OR {then})", values + more


def held_in(f: Filter) -> Condition:
    """The condition over `chunk c` that is true for facts which held at some time in `during`.

    What has no end tells nothing of one day or week in particular: it passes longer ranges alone.
    """
    meets = "ifnull(valid_from, ?) < ? AND ifnull(valid_to, ?) > ?"
    values: list[object] = []
    for start, end in f.spans:
        values += [EARLIEST, end, LATEST if end - start > f.longest else EARLIEST, start]
    # Over `record r` it would keep SQLite from looking the others up by their times.
    facts = f"SELECT id FROM record WHERE fact = 1 AND ({' OR '.join([meets] * len(f.spans))})"
    return f"c.record IN ({facts})", values


def _plain(f: Filter) -> Iterator[Condition]:
    if f.namespaces is not None:
        yield _among("c.namespace", "SELECT id FROM namespace WHERE label IN", sorted(f.namespaces))
    # The plus keeps SQLite from walking nearly everything through the index of these few values.
    if f.kinds:
        yield _among("+c.kind", "SELECT id FROM label WHERE text IN", f.kinds)
    if f.roles:
        yield _among("+c.role", "SELECT id FROM label WHERE text IN", f.roles)
    if f.tags:
        tagged = "SELECT source FROM tagged JOIN label ON label.id = tag WHERE label.text IN"
        yield _among("r.source", tagged, f.tags)
    if f.hidden:
        yield hidden(f)


def hidden(f: Filter) -> Condition:
    """The condition over `record r` that shuts out what is hidden."""
    return (
        "r.id NOT IN (SELECT old.id FROM json_each(?) h "
        "JOIN source ON source.path = json_extract(h.value, '$[0]') JOIN record old "
        "ON old.source = source.id AND old.ord >= json_extract(h.value, '$[1]'))",
        [json.dumps(sorted(f.hidden))],
    )


def _among(column: str, query: str, values: Iterable[str]) -> Condition:
    listed = list(values)
    return f"{column} IN ({query} ({marks(len(listed))}))", list[object](listed)


def _in_time(f: Filter) -> Condition:
    said = " OR ".join(["c.at_ms >= ? AND c.at_ms < ?"] * len(f.spans))
    values: list[object] = [bound for span in f.spans for bound in span]
    text = f"c.inferred = 0 AND ({said})"
    if f.said_only:
        return text, values
    speaking, more = speaking_of(f)
    text, values = f"({text}) OR c.record IN ({speaking})", values + more
    if f.lets_held_pass:  # another term, even a false one, would cost the others their indexes
        held, more = held_in(f)
        text, values = f"{text} OR {held}", values + more
    return f"({text})", values


def speaking_of(f: Filter) -> Condition:
    """The query for the ids of records that speak of a time inside `during`.

    Whoever says "this year" does not speak of each of its days: what is longer than `longest`, a week,
    speaks of a range that it meets only where that is as long, or holds it whole.
    """
    meets = "first_ms < ? AND last_ms > ? AND (last_ms - first_ms <= ? OR first_ms >= ? AND last_ms <= ?)"
    values: list[object] = []
    for start, end in f.spans:
        closed = start != EARLIEST and end != LATEST
        values += [end, start, max(f.longest, end - start) if closed else f.longest, start, end]
    return f"SELECT record FROM mention WHERE {' OR '.join([meets] * len(f.spans))}", values


def marks(count: int) -> str:
    """`count` question marks for a list in SQL."""
    return ", ".join("?" * count)

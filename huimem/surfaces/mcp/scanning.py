"""`scan_weeks`: a question → the weeks walked back one by one, until one of them answers.

Each week is asked like any question, for what was said in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from huimem import overview
from huimem.errors import UsageError
from huimem.recall.listing import Week
from huimem.records import Freshness, Hit, TimeRange
from huimem.surfaces.cli.hits import counted
from huimem.surfaces.documents import Asked
from huimem.surfaces.mcp.answers import NOTE, OPENING, Answer, Document, joined, without_empty
from huimem.surfaces.mcp.desk import Arguments, Desk, read
from huimem.surfaces.mcp.recalling import hit_documents, hit_lines

MOST_HITS = 5
_WEEK = re.compile(r"\d{4}-W\d{2}")


@dataclass(frozen=True, slots=True)
class Walked:
    """A week that was asked, what it holds and what it answered, best first."""

    week: Week
    hits: tuple[Hit, ...]

    @property
    def best(self) -> float:
        return self.hits[0].score if self.hits else 0.0

    def answers(self, enough: float) -> bool:
        """Whether something was found, and is good enough."""
        return bool(self.hits) and self.best >= enough

    def __str__(self) -> str:
        turns = f"{self.week.name}: {counted(self.week.turns, 'turn')}"
        return f"{turns}, best {self.best:.2f}" if self.hits else turns


def scan_weeks(desk: Desk, arguments: Arguments) -> Answer:
    """Walk back until a week holds an answer that is good enough. Raises `UsageError`."""
    if not arguments["query"].strip():
        raise UsageError("`query` is empty", "Say what to look for; list_memories shows what there is.")
    namespace = desk.space(arguments)
    weeks = [
        week
        for week in reversed(overview.weeks(desk.memory, namespace=namespace))
        if week.range.start and week.range.start < _end(desk, arguments)
    ]
    walked: list[Walked] = []
    freshness: Freshness | None = None
    most = min(arguments["max_weeks"], len(weeks))
    for number, week in enumerate(weeks[:most], 1):
        hits: tuple[Hit, ...] = ()
        if week.turns:
            found = desk.memory.recall(
                arguments["query"],
                now=desk.now,
                when=week.name,
                said_only=True,
                namespace=namespace,
                kinds=("turn",),
                limit=MOST_HITS,
            )
            hits, freshness = found.hits, found.freshness
        walked.append(Walked(week, hits))
        desk.report(number, most, str(walked[-1]))
        if walked[-1].answers(arguments["stop_at"]):
            break
    rest = weeks[len(walked) :]
    return _answer(desk, arguments, walked, rest[0].name if rest else None, freshness)


def _end(desk: Desk, arguments: Arguments) -> datetime:
    """The end of the week to begin with: that of the cursor, else of `start`."""
    cursor = arguments["cursor"]
    if cursor is not None and not _WEEK.fullmatch(cursor.strip()):
        raise UsageError("`cursor` is none that scan_weeks gave", "Leave it out to begin anew.")
    ranges = read(desk, cursor or arguments["start"])
    ends = [span.end for span in ranges if span.end]
    last = max(ends) - timedelta(microseconds=1) if ends else desk.now
    return TimeRange.week_of(last, desk.memory.zone).end or last


def _answer(
    desk: Desk,
    arguments: Arguments,
    walked: Sequence[Walked],
    following: str | None,
    freshness: Freshness | None,
) -> Answer:
    found = walked[-1] if walked and walked[-1].answers(arguments["stop_at"]) else None
    hits = found.hits if found else _best(walked)
    asked = Asked(arguments["query"], desk.memory.zone)
    document: Document = {
        "note": NOTE,
        "summary": joined(
            [
                f"{counted(len(walked), 'week')} walked back",
                f"found in {found.week.name}"
                if found
                else "nothing good enough"
                if hits
                else "nothing found",
                desk.standing_words(freshness) if freshness else "",
            ]
        ),
        "weeks": [
            {"week": one.week.name, "turns": one.week.turns, "best": round(one.best, 3)} for one in walked
        ],
        "found_in": found.week.name if found else None,
        "hits": hit_documents(hits, asked),
        "next_cursor": following,
        "index": desk.standing(freshness) if freshness else None,
        "hint": None if found else _hint(following),
    }
    document = without_empty(document, "weeks", "hits")
    return Answer(_text(desk, walked, hits, document), document)


def _best(walked: Sequence[Walked]) -> tuple[Hit, ...]:
    """The best of all weeks, where none was good enough."""
    hits = [hit for one in walked for hit in one.hits]
    return tuple(sorted(hits, key=lambda hit: -hit.score)[:MOST_HITS])


def _hint(following: str | None) -> str:
    if following:
        return f"Go on with `cursor` {following}, or try other words."
    return "No week is left: try other words, or recall_memory without a time."


def _text(desk: Desk, walked: Sequence[Walked], hits: Sequence[Hit], document: Document) -> str:
    lines = [str(document["summary"]), *map(str, walked)]
    if "hint" in document:
        lines.append(str(document["hint"]))
    elif "next_cursor" in document:
        lines.append(f"Earlier weeks: go on with `cursor` {document['next_cursor']}.")
    shown = document["hits"]
    if hits and isinstance(shown, list):
        lines.append(OPENING)
        for number, (hit, one) in enumerate(zip(hits, shown, strict=True), 1):
            lines += ["", *hit_lines(desk, number, hit, one)]
    return "\n".join(lines)

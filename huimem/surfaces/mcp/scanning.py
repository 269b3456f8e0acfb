"""`scan_weeks`: a question → the walk back through the weeks, as far as one of them that answers."""

from __future__ import annotations

import re
from itertools import count

from huimem.errors import UsageError
from huimem.recall.query import A_MOMENT
from huimem.recall.scan import finished
from huimem.records import Recall, Walked
from huimem.surfaces.cli.hits import counted
from huimem.surfaces.cli.walk import step_name, week_name
from huimem.surfaces.documents import Asked
from huimem.surfaces.mcp.answers import NOTE, OPENING, Answer, Document, joined, without_empty
from huimem.surfaces.mcp.desk import Arguments, Desk, read
from huimem.surfaces.mcp.recalling import hit_documents, hit_lines

MOST_HITS = 5
_WEEK = re.compile(r"\d{4}-W\d{2}")


def scan_weeks(desk: Desk, arguments: Arguments) -> Answer:
    """Walk back until a week holds an answer that is good enough. Raises `UsageError`."""
    if not arguments["query"].strip():
        raise UsageError("`query` is empty", "Say what to look for; list_memories shows what there is.")
    walk = desk.memory.scan(
        arguments["query"],
        now=desk.now,
        start=_start(desk, arguments),
        weeks=arguments["max_weeks"],
        enough=arguments["stop_at"],
        namespace=desk.space(arguments),
        kinds=("turn",),
        limit=MOST_HITS,
    )
    numbers = count(1)
    found = finished(walk, lambda week: desk.report(next(numbers), arguments["max_weeks"], _line(week)))
    return _answer(desk, arguments, found)


def _start(desk: Desk, arguments: Arguments) -> str:
    """The time at whose end the walk begins: the week of the cursor, else `start`."""
    cursor: str | None = arguments["cursor"]
    if cursor is not None and not _WEEK.fullmatch(cursor.strip()):
        raise UsageError("`cursor` is none that scan_weeks gave", "Leave it out to begin anew.")
    start: str = cursor or arguments["start"]
    read(desk, start)
    return start


def _answer(desk: Desk, arguments: Arguments, found: Recall) -> Answer:
    stands_out = _name(found.scanned[-1]) if found.scanned and not found.exhausted else None
    before = (found.cursor - A_MOMENT).astimezone(desk.memory.zone) if found.cursor else None
    cursor = week_name(before) or None
    what = "nothing good enough" if found.hits else "nothing found"
    document: Document = {
        "note": NOTE,
        "summary": joined(
            [
                f"{counted(len(found.scanned), 'week')} walked back",
                f"found in {stands_out}" if stands_out else what,
                desk.standing_words(found.freshness),
            ]
        ),
        "weeks": [
            {"week": _name(week), "turns": week.turns, "best": round(week.best, 3)} for week in found.scanned
        ],
        "found_in": stands_out,
        "hits": hit_documents(found.hits, Asked(arguments["query"], desk.memory.zone)),
        "next_cursor": cursor,
        "index": desk.standing(found.freshness),
        "warnings": list(found.warnings),
        "hint": None if stands_out else _hint(cursor, _nearest(desk, found)),
    }
    document = without_empty(document, "weeks", "hits")
    return Answer(_text(desk, found, document), document)


def _name(week: Walked) -> str:
    return step_name(week)


def _line(week: Walked) -> str:
    turns = f"{_name(week)}: {counted(week.turns, 'turn')}"
    return f"{turns}, best {week.best:.2f}" if week.best else turns


def _nearest(desk: Desk, found: Recall) -> str:
    """The days nearest to where a walk began that hold something, of one that came to no week."""
    days = (day.start.astimezone(desk.memory.zone) for day in found.nearest if day.start)
    return " and ".join(f"{day:%Y-%m-%d}" for day in days)


def _hint(following: str | None, nearest: str) -> str:
    if following:
        return f"Go on with `cursor` {following}, or try other words."
    if nearest:
        return f"Nothing is so old. The nearest day that holds something: {nearest}."
    return "No week is left: try other words, or recall_memory without a time."


def _text(desk: Desk, found: Recall, document: Document) -> str:
    lines = [str(document["summary"]), *map(_line, found.scanned)]
    if "hint" in document:
        lines.append(str(document["hint"]))
    elif "next_cursor" in document:
        lines.append(f"Earlier weeks: go on with `cursor` {document['next_cursor']}.")
    shown = document["hits"]
    if found.hits and isinstance(shown, list):
        lines.append(OPENING)
        for number, (hit, one) in enumerate(zip(found.hits, shown, strict=True), 1):
            lines += ["", *hit_lines(desk, number, hit, one)]
    return "\n".join(lines)

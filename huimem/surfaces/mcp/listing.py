"""`list_memories`: filters → the records that pass, newest or oldest first, page by page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from huimem.errors import UsageError
from huimem.index.filters import Filter
from huimem.index.index import Snapshot
from huimem.recall import listing
from huimem.recall.listing import Listed
from huimem.recall.parts import parts_of
from huimem.recall.query import make
from huimem.recall.query import options as options_of
from huimem.records import Query
from huimem.surfaces.cli.hits import counted
from huimem.surfaces.documents import listed_document
from huimem.surfaces.mcp.answers import NOTE, OPENING, Answer, Document, joined, named, quoted, without_empty
from huimem.surfaces.mcp.desk import Arguments, Desk, when_of
from huimem.surfaces.mcp.recalling import fitted
from huimem.upkeep import freshness

_CURSOR = re.compile(r"[0-9]{1,9}")
BEGINNING = 30  # tokens of a record's words


def list_memories(desk: Desk, arguments: Arguments) -> Answer:
    """Show what is there, without a question. Raises `UsageError` for a cursor that is none of ours."""
    memory, when = desk.memory, when_of(desk, arguments)
    skipped, most = _skipped(arguments["cursor"]), arguments["limit"]
    with memory.caught_up(desk.progress) as standing:
        narrowed = memory.narrowed(_question(desk, arguments, when), standing)
        total = _counted(desk, narrowed, standing.overlay)
        oldest = arguments["order"] == "oldest"
        wanted = total if oldest else skipped + most
        found = listing.listed(memory.index, narrowed, standing.overlay, max(wanted, 1), memory.zone)
        fresh = freshness(memory.index, standing, False)
    page = (_turned(found) if oldest else found)[skipped : skipped + most]
    until = f"{skipped + most}" if skipped + most < total else None
    document: Document = {
        "note": NOTE,
        "summary": joined([_summary(arguments, len(page), total, when), desk.standing_words(fresh)]),
        "items": [_item(desk, one) for one in page],
        "total": total,
        "next_cursor": until,
        "index": desk.standing(fresh),
    }
    if not page:
        document["hint"] = "Try fewer filters, or another time." if total == 0 else "There are no more."
    document = without_empty(document, "items", "total")
    return Answer(_text(desk, page, document), document)


def _question(desk: Desk, arguments: Arguments, when: str | None) -> Query:
    """The filters as a question without words; of a vague time those of its window."""
    keywords = options_of(
        {
            "when": when,
            "namespace": desk.space(arguments),
            "kinds": arguments["kinds"],
            "roles": arguments["roles"],
            "tags": arguments["tags"],
        }
    )
    asked = make("", replace(keywords, said_only=True), desk.now, desk.memory.resolve)
    window = asked.resolution and asked.resolution.window
    return replace(asked.query, during=(window,)) if window and not asked.query.during else asked.query


def _counted(desk: Desk, narrowed: Filter, overlay: Snapshot | None) -> int:
    with desk.memory.index.snapshot() as snapshot:
        return sum(part.snapshot.count(part.narrowed) for part in parts_of(snapshot, narrowed, overlay))


def _turned(found: Sequence[Listed]) -> list[Listed]:
    """Oldest first; what nothing dates stays last."""
    dated = [one for one in found if one.at is not None]
    return [*reversed(dated), *(one for one in found if one.at is None)]


def _skipped(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not _CURSOR.fullmatch(cursor.strip()):
        raise UsageError("`cursor` is none that list_memories gave", "Leave it out to begin anew.")
    return int(cursor)


def _summary(arguments: Arguments, shown: int, total: int, when: str | None) -> str:
    time = f" in {named(when)}" if when else ""
    return f"{shown:,} of {counted(total, 'record')}{time}, {arguments['order']} first"


def _item(desk: Desk, one: Listed) -> Document:
    document = listed_document(one, desk.memory.zone)
    document["text"] = fitted(one.excerpt, BEGINNING)
    return without_empty(document, "when", "text")


def _text(desk: Desk, page: Sequence[Listed], document: Document) -> str:
    lines = [str(document["summary"])]
    if not page:
        return "\n".join([*lines, str(document["hint"])])
    lines.append(OPENING)
    for one in page:
        at = f"about {desk.look.day(one.at)}" if one.at and one.inferred else desk.moment(one.at)
        head = [at, named(one.kind, 30) if one.kind != "turn" else one.role]
        lines.append(f"[{one.ref}] {joined([*head, f'{named(one.path, 200)}:{one.line}'])}")
        lines.append(quoted(f"# {one.title}\n{fitted(one.excerpt, BEGINNING)}"))
    if "next_cursor" in document:
        lines.append(f"There is more: ask again with `cursor` {document['next_cursor']}.")
    return "\n".join(lines)

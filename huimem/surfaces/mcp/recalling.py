"""`recall_memory`: a question → what was said about it, short enough for a model to read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from huimem.recall.budget import tokens
from huimem.records import Fact, Factor, Hit, Message, Recall, Record
from huimem.surfaces.cli.hits import Shown, counted, shut_out, time_lines, too_faint
from huimem.surfaces.cli.walk import walk_words
from huimem.surfaces.documents import Asked, bounds, is_past, resolution_document
from huimem.surfaces.excerpt import LONGEST, Span, excerpt
from huimem.surfaces.mcp.answers import (
    NOTE,
    OPENING,
    Answer,
    Document,
    joined,
    named,
    quoted,
    without_empty,
)
from huimem.surfaces.mcp.desk import Arguments, Desk, when_of
from huimem.surfaces.mcp.passages import passage_documents, passage_lines, textless
from huimem.surfaces.phrases import phrase_of, until

# What the texts of a default answer may cost, in tokens, together; and each of them where there are more.
TEXTS = 700
LEAST = TEXTS // 5
FULL = 20_000  # characters of all texts of an answer together where they are asked for in full
_SHORTER = 0.7
_NOTE = 160  # characters of what one factor says of itself
_NEUTRAL = 0.005  # a factor this near to 1 changes nothing that is shown


def recall_memory(desk: Desk, arguments: Arguments) -> Answer:
    """Answer a question from the vault as it is at this moment."""
    when, budget = when_of(desk, arguments), arguments["budget"] or None
    found = desk.memory.recall(
        arguments["query"],
        now=desk.now,
        progress=desk.progress,
        when=when,
        namespace=desk.space(arguments),
        kinds=arguments["kinds"],
        roles=arguments["roles"],
        tags=arguments["tags"],
        limit=arguments["k"] + (budget is None),
        context=arguments["context_turns"],
        budget=budget,
    )
    more = len(found.hits) > arguments["k"] or found.sessions > arguments["k"]
    hits = found.hits[: arguments["k"]]
    asked = Asked(when or arguments["query"], desk.memory.zone, full=arguments["detail"] == "full")
    shown = hit_documents(hits, asked)
    if budget is not None:
        shown = [textless(hit) for hit in shown]
    document: Document = {
        "recall_id": found.id,
        "note": NOTE,
        "summary": summary(desk, found, asked, len(hits)),
        "time": _time(found, asked),
        "hits": shown,
        **({} if budget is None else {"passages": passage_documents(found)}),
        "more": more,
        "index": desk.standing(found.freshness),
    }
    if found.warnings:
        document["warnings"] = list(found.warnings)
    if not hits:
        document["hint"] = joined([too_faint(found), shut_out(found), _hint(desk, found)], " ")
    elif asked.full and budget is None and any(one["truncated"] for one in shown):
        document["hint"] = "The longest texts are cut: recall_by_id gives them whole."
    return Answer(_text(desk, found, hits, document), document)


def summary(desk: Desk, found: Recall, asked: Asked, shown: int) -> str:
    """`3 hits of 41 records in that time · last week = Mon 30 Mar … · index fresh`."""
    shown_as = Shown(asked, desk.look)
    times = [line.strip().removeprefix("time").strip() for line in time_lines(found, shown_as)]
    what = counted(shown, "session" if found.sessions else "hit")
    if found.sessions:
        what += f" of {found.sessions:,} in that time" if found.sessions > shown else " in that time"
    elif found.query.during:
        what += f" of {counted(found.considered, 'record')} in that time"
    return joined([what, *times, walk_words(found, desk.look), desk.standing_words(found.freshness)])


def _time(found: Recall, asked: Asked) -> object:
    """How the time was read, without what only a person's screen needs."""
    if found.resolution is None:
        return None
    time = resolution_document(found.resolution, asked.phrase)
    wanted = ("phrase", "start", "end", "grain", "reading")
    listed = time["ranges"]
    ranges = [{name: one[name] for name in wanted} for one in listed] if isinstance(listed, list) else []
    return without_empty({**time, "ranges": ranges, "zone": str(asked.zone)}, "vague", "ranges")


def hit_documents(hits: Sequence[Hit], asked: Asked) -> list[Document]:
    """The hits, each with as much of its text as all of them together can afford."""
    if asked.full:
        neighbours = sum(len(hit.before) + len(hit.after) for hit in hits)
        room = FULL * 2 // max(2 * len(hits) + neighbours, 1)
    else:
        room = max(TEXTS // max(len(hits), 1), LEAST)
    return [_hit(hit, asked, room) for hit in hits]


def _hit(hit: Hit, asked: Asked, room: int) -> Document:
    message = hit.record.messages[hit.message]
    whole, shorter = (hit.record.text, cut) if asked.full else (message.text, fitted)
    text = shorter(whole, room, hit.evidence, hit.highlight)
    at = hit.at.astimezone(asked.zone).isoformat() if hit.at else None
    document: Document = {
        "ref": str(hit.ref),
        "when": at,
        "role": message.role,
        "name": message.name,
        "title": hit.title,
        "path": hit.path,
        "line": hit.line,
        "kind": hit.record.kind,
        "inferred": hit.record.inferred,
        "namespace": hit.ref.namespace,
        "tags": list(hit.tags),
        "records": hit.records,
        "valid": bounds(hit.record.valid) if isinstance(hit.record, Fact) else None,
        "text": text,
        "truncated": len(text) < len(hit.record.text.strip()),
        "score": round(hit.score, 3),
        "why": why(hit.factors),
        "before": [beside(record, asked, room) for record in hit.before],
        "after": [beside(record, asked, room) for record in hit.after],
    }
    return without_empty(document, "when", "text", "score", "truncated")


def beside(record: Record, asked: Asked, room: int) -> str:
    """A neighbour of a hit, shorter than the hit itself."""
    return (cut if asked.full else fitted)(record.text, room // 2)


def cut(text: str, room: int, evidence: str = "", highlight: Span = (0, 0)) -> str:
    """The text as it is where it has at most `room` characters, else the sentences around the highlight."""
    return text if len(text) <= room else excerpt(text, evidence, room, highlight)


def fitted(text: str, room: int, evidence: str = "", highlight: Span = (0, 0)) -> str:
    """The highlight of the evidence with as many sentences around it as `room` tokens hold."""
    limit = LONGEST
    piece = excerpt(text, evidence, limit, highlight)
    while tokens(piece) > room and limit > 40:
        limit = int(limit * _SHORTER)
        piece = excerpt(text, evidence, limit, highlight)
    return piece


def why(factors: Sequence[Factor]) -> str:
    """The factors that made the score, but for those that changed nothing."""
    telling = [f for f in factors if f.name == "relevance" or abs(f.value - 1) > _NEUTRAL] or factors[:1]
    return " × ".join(
        f"{f.name} {f.value:.2f}" + (f" ({named(f.note, _NOTE)})" if f.note else "") for f in telling
    )


def _text(desk: Desk, found: Recall, hits: Sequence[Hit], document: Document) -> str:
    lines = [str(document["summary"])]
    warnings = document.get("warnings")
    lines += [f"warning: {named(line, 300)}" for line in warnings] if isinstance(warnings, list) else []
    if not hits:
        return "\n".join([*lines, f"Nothing found. {document['hint']}"])
    lines.append(OPENING)
    documents = document["hits"]
    assert isinstance(documents, list)
    if "passages" in document:
        for number, passage in enumerate(found.passages, 1):
            lines += ["", *passage_lines(number, passage, documents)]
    else:
        for number, (hit, shown) in enumerate(zip(hits, documents, strict=True), 1):
            lines += ["", *hit_lines(desk, number, hit, shown)]
    if "hint" in document:
        lines += ["", str(document["hint"])]
    if document.get("more"):
        lines += ["", "There is more: ask with a larger `k`, or more exactly."]
    return "\n".join(lines)


def hit_lines(desk: Desk, number: int, hit: Hit, shown: Document) -> Iterator[str]:
    """One hit: where and when, then in quotation its title and words, then why it was found."""
    at = f"about {desk.look.day(hit.at)}" if hit.at and hit.record.inferred else desk.moment(hit.at)
    if is_past(hit.record, desk.now):
        at = f"held {desk.look.span(hit.record.valid)}"
    head = [at, _speaker(hit.record.messages[hit.message]), f"{named(hit.path, 200)}:{hit.line}"]
    if hit.records:
        head.append(counted(hit.records, "turn" if hit.record.kind == "turn" else "record"))
    yield f"{number}. [{hit.ref}] {joined(head)}"
    yield quoted(f"# {hit.title}")
    before, after = shown.get("before", []), shown.get("after", [])
    for name, texts in (("before", before), ("", [shown["text"]]), ("after", after)):
        if name and texts:
            yield f"{name}:"
        for text in texts if isinstance(texts, list) else ():
            yield quoted(str(text))
    yield f"why: {shown['why']}"


def _speaker(message: Message) -> str:
    return named(message.name) if message.name else message.role


def _other_readings(found: Recall) -> str:
    """`when` 2026-04-14 (yesterday), and so on: what else the time words may mean."""
    used = [reading.span for reading in found.readings if reading.range in found.query.named]
    others = [one for one in found.resolution.alternatives if one.span in used] if found.resolution else []
    return "".join(f"`when` {phrase_of(one.range, one.range.zone)} ({one.words}), " for one in others)


def _hint(desk: Desk, found: Recall) -> str:
    """What to try where nothing was found."""
    query = found.query
    if not found.freshness.fresh:
        return "Some files are not in the index yet: ask again in a moment."
    if shut_out(found):
        return "Ask without quotation marks and -words."
    if found.nearest:
        days = " and ".join(
            f"{day.start.astimezone(desk.memory.zone):%Y-%m-%d}" for day in found.nearest if day.start
        )
        others = _other_readings(found) + ("scan_weeks, " if query.text else "")
        more = f" Or try {others.removesuffix(', ')}." if others else ""
        return f"Nothing was said then. The nearest days that hold something: {days}.{more}"
    if not query.text and not query.named and not query.vague:
        return "Ask with `query`, with `when`, or with both; list_memories shows the newest."
    if found.cursor:
        start = until(found.cursor, desk.memory.zone)
        return f"Try other words, or scan_weeks with `start` {start}, which looks farther back."
    if query.during and query.text:
        return f"Try {_other_readings(found)}other words, scan_weeks, or list_memories with this `when`."
    if query.kinds or query.roles or query.tags or query.namespace:
        return "Try fewer filters, other words, or scan_weeks."
    return "Try other words, scan_weeks to look back week by week, or list_memories."

"""An answer → text for people: how its time was read, each hit with place and reason, what was searched."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from math import prod
from shlex import quote

from huimem.index.sentences import sentences
from huimem.markup import readable
from huimem.records import (
    Factor,
    Freshness,
    Hit,
    Message,
    Reading,
    Recall,
    Record,
    Resolution,
    TimeRange,
)
from huimem.surfaces.cli.look import Look, clipped, zone_name
from huimem.surfaces.cli.suggestions import Suggestion, filter_words
from huimem.surfaces.cli.visible import visible_line
from huimem.surfaces.documents import Asked, is_past
from huimem.surfaces.excerpt import CUT, excerpt

INDENT = "   "
BRIEF = 320  # characters of evidence, unless all is asked for
LINES = 4
_BLANK_LINES = re.compile(r"\n\s*\n")
_NEUTRAL = 0.005  # a factor this near to 1 changes nothing that is shown


@dataclass(frozen=True, slots=True)
class Shown:
    """What to print of an answer besides its hits: `quiet` leaves out how it was made.

    `walk` are lines that tell of its walk; `further` are command lines that may find more, and `shared`
    options that these must have.
    """

    asked: Asked
    look: Look
    quiet: bool = False
    walk: tuple[str, ...] = ()
    further: tuple[Suggestion, ...] = ()
    shared: tuple[str, ...] = ()


def render_hits(recall: Recall, shown: Shown) -> str:
    """The whole answer: the time that was read, the hits in order, one line of summary."""
    around = bool(recall.passages)  # they are made where what stands around a hit is asked for
    blocks = [_hit(rank, hit, shown, around=around) for rank, hit in enumerate(recall.hits, 1)]
    if shown.quiet:
        return "\n".join(blocks)
    return "\n".join([*time_lines(recall, shown), *walk_of(shown), *blocks, summary(recall, shown.look)])


def walk_of(shown: Shown) -> Iterator[str]:
    """The lines of the walk above the hits."""
    return (shown.look.styled("faint", line) for line in shown.walk)


def time_lines(recall: Recall, shown: Shown) -> Iterator[str]:
    """How the time words were read: phrase, range, zone, which of several readings, and the others."""
    resolution, phrase, look = recall.resolution or Resolution(), shown.asked.phrase, shown.look
    for reading in resolution.readings:
        line = _reading(reading, phrase, look)
        line += "" if reading.range in recall.query.named else " · not used"
        yield look.styled("faint", line)
        for other in resolution.alternatives:
            if other.span == reading.span:
                yield look.styled("faint", f"      or {look.span(other.range, years=True)} · {other.words}")
    if resolution.vague:
        yield look.styled("faint", _vague(resolution, phrase, look, searched=_searched(recall)))


def when_lines(phrase: str, resolution: Resolution, look: Look) -> Iterator[str]:
    """How a time that was asked for by itself was read, a line for each of its parts."""
    yield from (_reading(reading, phrase, look) for reading in resolution.readings)
    if resolution.vague:
        yield _vague(resolution, phrase, look, searched="")


def _reading(reading: Reading, phrase: str, look: Look) -> str:
    """`time  last Friday = Fri 10 Apr 2026 (Asia/Shanghai) · the latest Friday before today`."""
    words = visible_line(phrase[slice(*reading.span)].strip())
    span, about = look.span(reading.range, years=True), "about " if reading.fuzzy else ""
    how = reading.words.removesuffix(span).removesuffix(": ")
    if reading.range.start and how.startswith(look.day(reading.range.start, years=True)):
        how = ""  # the dates once more, written otherwise
    shown = f"time  {words} = {about}{span} ({zone_name(reading.range.zone)})"
    return f"{shown} · {how}" if how else shown


def _vague(resolution: Resolution, phrase: str, look: Look, *, searched: str) -> str:
    """`time  recently: looks back over …`, or what was `searched` instead."""
    phrases = [visible_line(phrase[slice(*span)].strip()) for span in resolution.vague_spans]
    span = look.span(resolution.window, years=True) if resolution.window else ""
    if searched:
        meant = f"{f'perhaps {span}' if span else 'no exact time'}; {searched}"
    else:
        meant = f"looks back over {span or 'everything'}"
    return f"time  {', '.join(phrases) or 'no exact time'}: {meant}"


def _searched(recall: Recall) -> str:
    """What was searched for vague words beside others, where it was not a walk through their window."""
    if not recall.query.text or recall.scanned or recall.exhausted:
        return ""
    return "everything was searched"


def _hit(rank: int, hit: Hit, shown: Shown, *, around: bool) -> str:
    look = shown.look
    score = look.styled("strong", f"{hit.score:.2f}")
    head = [
        when_said(hit.record, hit.at, look),
        look.styled("strong", visible_line(hit.title)),
        look.place(hit.path, hit.line),
    ]
    if hit.records:
        head.insert(2, counted(hit.records, "turn" if hit.record.kind == "turn" else "record"))
    if hit.record.kind not in ("turn", "note"):
        head.insert(0, hit.record.kind)
    lines = [f"{rank}  {score}  {' · '.join(head)}"]
    own = hit.record.messages if around and not shown.asked.full else ()
    for messages in (*(record.messages for record in hit.before), own[: hit.message]):
        lines += _neighbours(messages, shown)
    lines += _words(hit, shown)
    for messages in (own[hit.message + 1 :], *(record.messages for record in hit.after)):
        lines += _neighbours(messages, shown)
    if shown.asked.explain or not hit.records or hit.score < 1:  # of a list, only what is not said then
        lines += why_lines(hit.factors, shown)
    return "\n".join(lines)


def _words(hit: Hit, shown: Shown) -> Iterator[str]:
    """What was said: the evidence in a few lines, or every message of the record."""
    if shown.asked.full:
        for message in hit.record.messages:
            yield shown.look.block(said(message, message.text), INDENT)
        return
    message = hit.record.messages[hit.message]
    yield shown.look.block(said(message, _brief(hit, message, shown.look)), INDENT, LINES)


def _brief(hit: Hit, message: Message, look: Look) -> str:
    """The evidence, short, with no more before its highlight than leaves that in sight."""
    start, end = hit.highlight if any(hit.highlight) else next(sentences(hit.evidence), hit.highlight)
    brief = _BLANK_LINES.sub("\n", excerpt(message.text, hit.evidence, BRIEF, hit.highlight))
    highlight = readable(hit.evidence[start:end])[0].strip()
    before, found, after = brief.partition(highlight) if highlight else (brief, "", "")
    for first, _ in sentences(before) if found else ():
        left = CUT + before[first:].lstrip() if first else before
        if look.lines(said(message, left + found + CUT), INDENT) <= LINES:
            return left + found + after
    return (CUT if before and found else "") + (found + after if found else brief)


def when_said(record: Record, at: datetime | None, look: Look) -> str:
    """When a record was said: to the minute, a note's to the day, a guessed time as such.

    Of a fact that no longer holds, when it held.
    """
    if is_past(record, look.now):
        return f"held {look.span(record.valid)}"
    return dated(record.kind, at, look, inferred=record.inferred)


def dated(kind: str, at: datetime | None, look: Look, *, inferred: bool) -> str:
    """A time to the minute; a guessed day as such; a note's, often a day, without a clock at midnight."""
    if at is not None and inferred:
        return f"about {look.day(at)}"
    day_only = kind == "note" and at is not None and at.astimezone(look.zone).time() == time()
    return look.day(at) if at is not None and day_only else look.moment(at)


def said(message: Message, text: str) -> str:
    """`User: …`; notes and facts speak for themselves."""
    return text if message.role in ("note", "fact") else f"{speaker(message)}: {text}"


def speaker(message: Message) -> str:
    return message.name or message.role.capitalize()


def _neighbours(messages: Sequence[Message], shown: Shown) -> Iterator[str]:
    lines = neighbour_lines(messages, shown.look, whole=shown.asked.full)
    return (shown.look.styled("faint", line) for line in lines)


def neighbour_lines(messages: Sequence[Message], look: Look, *, whole: bool = False) -> Iterator[str]:
    """What was said beside what is meant: a line a message, or all of it."""
    for message in messages:
        if whole:
            yield from look.block(said(message, message.text), INDENT + "| ").split("\n")
        else:
            text = said(message, readable(message.text)[0])
            yield INDENT + "| " + clipped(visible_line(text), look.width - len(INDENT) - 2)


def why_lines(factors: Sequence[Factor], shown: Shown) -> Iterator[str]:
    """The factors that made the score on one line; with `explain`, each on its own with its parts."""
    if not shown.asked.explain:
        telling = [f for f in factors if f.name == "relevance" or abs(f.value - 1) > _NEUTRAL] or factors[:1]
        yield shown.look.styled("faint", f"{INDENT}why   {' × '.join(_factor(f) for f in telling)}")
        return
    for place, factor in enumerate(factors):
        first, *summands = _summed(factor)
        yield shown.look.styled("faint", f"{INDENT}{'×' if place else 'why':6}{first}")
        yield from (shown.look.styled("faint", f"{INDENT}      {line}") for line in summands)
    product = prod(factor.value for factor in factors)
    yield shown.look.styled("faint", f"{INDENT}=     {product:.4f}")


def _summed(factor: Factor) -> Iterator[str]:
    """A factor, its summands and their sum, each with what the note says of it."""
    of_parts, rest = {}, []
    for piece in factor.note.split(" · "):
        name, _, said = piece.partition(" ")
        if name in factor.parts:
            of_parts[name] = said.partition(" ")[2]
        else:
            rest.append(piece)
    note = visible_line(" · ".join(filter(None, rest)))
    yield f"{factor.name} {factor.value:.4f}" + (f" ({note})" if note else "")
    for name, value in factor.parts.items():
        if value:
            yield f"+ {name} {value:.4f} {visible_line(of_parts.get(name, ''))}".rstrip()
    if factor.parts:
        yield f"= a sum of {sum(factor.parts.values()):.4f}"


def _factor(factor: Factor) -> str:
    note = f" ({visible_line(factor.note)})" if factor.note else ""
    return f"{factor.name} {factor.value:.2f}{note}"


def summary(recall: Recall, look: Look) -> str:
    """`1 hit of 3 records in that time · index fresh`, `5 of 12 sessions in that time`."""
    hits, sessions = len(recall.hits), recall.sessions
    in_time = " in that time" if recall.query.during else ""
    if sessions:
        count = (
            counted(sessions, "session")
            if sessions == hits
            else f"{hits:,} of {counted(sessions, 'session')}"
        )
        count += in_time + (": --limit shows more" if sessions > hits else "")
    else:
        count = counted(hits, "hit")
        count += f" of {counted(recall.considered, 'record')}{in_time}" if in_time else ""
    return look.styled("faint", f"{count} · {freshness_words(recall.freshness)}")


def freshness_words(freshness: Freshness) -> str:
    """`index fresh`, or what it lacks: files that are not in yet, texts without a vector."""
    words = [
        "index fresh" if freshness.fresh else f"{counted(freshness.pending, 'file')} not in the index yet"
    ]
    if freshness.engine == "words":
        words.append("by words only")
    if freshness.vectors_done < freshness.vectors_total:
        words.append(f"vectors {freshness.vectors_done:,} of {freshness.vectors_total:,}: huimem sync")
    return " · ".join(words)


def counted(number: int, noun: str) -> str:
    """`1 hit`, `1,200 hits`."""
    plural = noun[:-1] + "ies" if noun.endswith("ry") else noun + "s"
    return f"{number:,} {noun if number == 1 else plural}"


def render_nothing(recall: Recall, shown: Shown) -> str:
    """What was searched in vain, and what to try. The question itself is not repeated."""
    query = recall.query
    filters = filter_words(query)
    window = recall.resolution.window if recall.resolution and not query.text else None
    named = query.named or ((window,) if window else ())
    if not query.text and not named and not query.vague:
        return "Nothing was asked.\nTry a question, a time, or both."
    lists = not query.text and not query.said_only  # what speaks of a time, too
    ahead = lists and named and all(_is_ahead(span, shown.look) for span in named)
    words = ["Nothing matches" if query.text else "Nothing speaks of" if ahead else "Nothing was said"]
    spans = [(_of if ahead else _in)(span, shown.look) for span in named]
    words += [" and ".join(spans)] if spans else []
    words += [f"with {filters}"] if filters else []
    searched = f" ({counted(recall.considered, 'record')} looked at)" if query.named else ""
    reasons = filter(None, (too_faint(recall), shut_out(recall)))
    lines = [f"{' '.join(words)}{searched}.", *reasons, *shown.walk]
    lines.append(f"Try {_suggestion(recall, shown, bool(filters))}")
    return "\n".join([*lines, *(f"Or {one.why}: {one.command}" for one in shown.further)])


def too_faint(recall: Recall) -> str:
    """That something was near and not near enough, or "" where that is not why nothing was found."""
    if recall.hits or not 0 < recall.best < recall.floor:
        return ""
    digits = next((d for d in range(2, 9) if round(recall.best, d) < round(recall.floor, d)), 9)
    best, floor = (f"{value:.{digits}f}" for value in (recall.best, recall.floor))
    return f"The nearest has a relevance of {best} by itself; an answer needs {floor}."


def shut_out(recall: Recall) -> str:
    """What the marks of the question ask of an answer, or "" where they may not be why nothing was found."""
    query = recall.query
    if recall.hits or too_faint(recall) or not (query.phrases or query.excluded):
        return ""
    asked = ["the quoted words as they stand"] if query.phrases else []
    asked += ["nothing that -words shut out"] if query.excluded else []
    return f"An answer must hold {' and '.join(asked)}."


def _in(span: TimeRange, look: Look) -> str:
    """`on Wed 8 Apr`, `from Mon 6 Apr to Sun 12 Apr`, `before Thu 1 Jan`."""
    words = look.span(span)
    if span.start is None or span.end is None:
        return words
    return f"from {words}" if " to " in words else f"on {words}"


def _is_ahead(span: TimeRange, look: Look) -> bool:
    return span.start is not None and span.start > look.now


def _of(span: TimeRange, look: Look) -> str:
    """`Wed 8 Apr`, `the time from Mon 6 Apr to Sun 12 Apr`."""
    words = _in(span, look)
    return words.removeprefix("on ") if words.startswith("on ") else f"the time {words}"


def _suggestion(recall: Recall, shown: Shown, filtered: bool) -> str:
    query = recall.query
    if not recall.freshness.fresh:
        return "again after huimem sync: some files are not in the index yet."
    if shut_out(recall):
        return "the question without its quotation marks and -words."
    if query.text and query.during and recall.considered:
        used = [reading for reading in recall.readings if reading.range in query.named]
        times = [visible_line(shown.asked.phrase[slice(*reading.span)].strip()) for reading in used]
        where = ("--namespace", query.namespace) if query.namespace else ()
        options = " ".join(quote(visible_line(word)) for word in (*where, *shown.shared))
        when = quote(", ".join(times)) if times else "…"
        return f"other words, or see what there is: huimem recall everything --when {when} {options}".rstrip()
    if recall.nearest:
        days = " and ".join(shown.look.day(day.start) for day in recall.nearest if day.start)
        nearest = (
            "nearest days that hold something are"
            if " and " in days
            else "nearest day that holds something is"
        )
        return f"another time; the {nearest} {days}."
    if query.during:
        return "another time; these weeks hold something: huimem weeks"
    if filtered:
        return "fewer filters."
    return "other words, or see what there is: huimem list"

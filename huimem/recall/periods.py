"""A time without a question → its sessions; and times in which nothing can have been said.

In: parts of what is searched, and ranges. Out: sessions in order, the days nearest to an empty range,
a question without the ranges that would hide everything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from huimem.index import browse
from huimem.index.browse import Opening
from huimem.index.cut import bounds
from huimem.index.filters import A_WEEK, PART_OF_A_DAY, Filter
from huimem.index.index import Index, Snapshot
from huimem.index.rows import instant, milliseconds
from huimem.recall.context import Found
from huimem.recall.explain import fits_time
from huimem.recall.leaving_out import left_out
from huimem.recall.parts import Part, oldest, parts_of
from huimem.recall.query import Resolve, Understood, is_fixed, widened
from huimem.records import Query, Reading, TimeRange

# What is of a time, and was not said then: "tonight's restaurant", 今晚的餐厅, "to pack for this weekend".
_OF_IT = re.compile(r"['’]s\b|的(?!时候|对话|聊天|谈话|会话|记录|话)")
_FOR_IT = re.compile(r"\bfor (?:the )?$", re.I)
CLOCKS = frozenset({"second", "minute", "hour"})  # grains of what may be a time that is spoken of
_ANOTHER_HOUR = timedelta(days=1, hours=1, minutes=37)  # away: of another day, hour and minute


def sessions_of(
    parts: Sequence[Part], query: Query, window: TimeRange | None, speaks_of: float
) -> tuple[list[Found], int]:
    """What each session of the time asked for opens with there, at most `limit`, and how many there are.

    In order of time: sessions in which something was said then, and, unless only these are asked for,
    others that speak of it, as far as the limit has room for them. For a vague time the newest first, of
    `window` or of all. Records that hold what is excluded do not count.
    """
    listed: list[tuple[Opening, Part, bool]] = []
    for part in parts:
        narrowed = part.narrowed
        if window and not query.during:
            narrowed = replace(narrowed, during=(bounds(window),), said_only=True)
        part = replace(part, narrowed=narrowed)
        without = left_out(part, query.excluded).tolist() if query.excluded else []
        listed += [(one, part, True) for one in _openings(part, without, said_only=True)]
        if query.during and not query.said_only:
            listed += [(one, part, False) for one in _openings(part, without)]
    sessions = _joined(listed)
    sessions.sort(key=_in_time, reverse=not query.during)
    shown = sorted(sessions, key=lambda one: not one[2])[: query.limit]
    shown.sort(key=_in_time, reverse=not query.during)
    return [_found(*one, speaks_of) for one in shown], len(sessions)


def _in_time(entry: tuple[Opening, Part, bool]) -> tuple[int, str]:
    return entry[0].at_ms or 0, entry[0].path


def _openings(part: Part, without: Sequence[int], *, said_only: bool = False) -> list[Opening]:
    narrowed = replace(part.narrowed, said_only=True) if said_only else part.narrowed
    return browse.openings(part.snapshot.db, narrowed, without)


def _joined(listed: Sequence[tuple[Opening, Part, bool]]) -> list[tuple[Opening, Part, bool]]:
    """One entry a session: what was said then before what speaks of it, both parts of one that grew."""
    sessions: dict[str, tuple[Opening, Part, bool]] = {}
    for one, part, said in sorted(listed, key=lambda entry: not entry[2]):
        known = sessions.get(one.path)
        if known is None:
            sessions[one.path] = one, part, said
        elif known[2] == said:
            first = known[0]
            sessions[one.path] = replace(first, records=first.records + one.records), known[1], said
    return list(sessions.values())


def _found(one: Opening, part: Part, said: bool, speaks_of: float) -> Found:
    chunk = part.snapshot.chunk(one.row)
    (record,) = part.snapshot.records([chunk.record])
    return Found(record, chunk.message, chunk, (fits_time(said, said, speaks_of),), one.records)


def days_around(parts: Sequence[Part], named: Sequence[TimeRange]) -> tuple[TimeRange, ...]:
    """The last day before the ranges and the first one after them that hold something, in that order."""
    spans = Filter(during=tuple(map(bounds, named))).spans
    start, end = min(a for a, _ in spans), max(z for _, z in spans)
    sides = [browse.around(part.snapshot.db, replace(part.narrowed, during=()), start, end) for part in parts]
    before = max((at for at, _ in sides if at is not None), default=None)
    after = min((at for _, at in sides if at is not None), default=None)
    zone = named[0].zone
    local = [instant(at).astimezone(zone) for at in (before, after) if at is not None]
    return tuple(TimeRange.days_from(at, 1, zone) for at in local)


def limited(
    index: Index, asked: Understood, narrowed: Filter, overlay: Snapshot | None, resolve: Resolve
) -> tuple[Understood, tuple[str, ...]]:
    """The question without those of its own ranges in which nothing can lie, and a line for each.

    Such are a range that ends before anything was said, one in the future that nothing speaks of, or one
    that is not over where something of it is named, "tonight's restaurant", and a clock time at which
    nothing was said, "the 8:18 train": as filters they would hide the answer. Where nothing but time is
    asked for they stay, and "the last two hours" always do: nothing is about them. A line, too, says where
    words to shut out are searched for, because they stand alone.
    """
    doubtful = [
        reading
        for reading in asked.own
        if reading.future or reading.range.end is not None or reading.grain in CLOCKS
    ]
    alone = _alone(asked)
    if not doubtful or not asked.query.text:
        return asked, alone
    with index.snapshot() as snapshot:
        parts = parts_of(snapshot, narrowed, overlay)
        first = _oldest(parts)
        ahead = {reading for reading in doubtful if _is_ahead(reading, asked)}
        clocks = {
            reading
            for reading in doubtful
            if reading.grain in CLOCKS and names_a_clock(reading, asked.asked, asked.now, resolve)
        }
        empty = partial(_why_empty, parts=parts, first=first)
        reasons = {
            reading: why
            for reading in doubtful
            if (why := empty(reading, reading in ahead, reading in clocks))
        }
        if reasons:
            spoken_of = [
                reading
                for reading in reasons
                if reading in clocks
                or (reading not in ahead and is_fixed(reading, asked.asked, asked.now, resolve))
            ]
            asked = asked.without(reasons, spoken_of, lambda term: _is_heard(term, parts))
    phrases = [(why, asked.asked[slice(*reading.span)].strip()) for reading, why in reasons.items()]
    return asked, (*alone, *(f"{why.format(phrase)}; searched without it" for why, phrase in phrases))


def _alone(asked: Understood) -> tuple[str, ...]:
    lone = " ".join(asked.worded.lone)
    return (f"“{lone}” stands alone, with nothing to leave it out of: it is searched for",) if lone else ()


def names_a_clock(reading: Reading, asked: str, now: datetime, resolve: Resolve) -> bool:
    """Whether a phrase names a time of the day, "8 pm", and none that is so far from now, "an hour ago"."""
    then = now - _ANOTHER_HOUR if now.year > 1970 else now + _ANOTHER_HOUR
    read = resolve(asked[slice(*reading.span)], then)
    return read is not None and any(
        one is not None and other is not None and one.time() == other.time()
        for span in read.ranges
        for one, other in zip(span.local(), reading.range.local(), strict=True)
    )


def _is_ahead(reading: Reading, asked: Understood) -> bool:
    """Whether a time lies before us, or is not over yet and something of it is named."""
    (start, end), (first, last) = (reading.range.start, reading.range.end), reading.span
    if reading.future or (start is not None and start >= asked.now.replace(second=0, microsecond=0)):
        return True
    named = _OF_IT.match(asked.asked, last) or _FOR_IT.search(asked.asked[:first])
    return end is not None and end > asked.now and named is not None


def _is_heard(term: str, parts: Sequence[Part]) -> bool:
    return any(sum(part.snapshot.frequencies([term], part.narrowed.namespaces)) for part in parts)


def _oldest(parts: Sequence[Part]) -> int | None:
    """When anything was said first in the namespaces asked, milliseconds UTC."""
    return oldest(
        [
            Part(part.snapshot, Filter(namespaces=part.narrowed.namespaces, hidden=part.narrowed.hidden))
            for part in parts
        ]
    )


def _why_empty(reading: Reading, ahead: bool, clock: bool, parts: Sequence[Part], first: int | None) -> str:
    """Why nothing can lie in a range, `ahead` or past, with {} for its words; "" where something may.

    `clock`: it is a time of the day.
    """
    span = widened(reading)
    within = [replace(part, narrowed=replace(part.narrowed, during=(bounds(span),))) for part in parts]
    if first is None or (span.end is not None and milliseconds(span.end) <= first):
        if any(browse.has_ended(part.snapshot.db, part.narrowed) for part in within):
            return ""
        old = "nothing here is as old as “{}”"
        return old if first is not None else "nothing here has a known time, so “{}” cannot narrow it"
    if not (ahead or clock):
        return ""
    # Whoever speaks of a day does not speak of each of its hours.
    longest = PART_OF_A_DAY if reading.grain in CLOCKS else A_WEEK
    if any(part.snapshot.count(replace(part.narrowed, longest=longest)) for part in within):
        return ""
    if not ahead:
        return "nothing was said or is told of at “{}”"
    said_only = any(part.narrowed.said_only for part in parts)
    return "nothing can have been said in “{}” yet" if said_only else "nothing speaks of “{}” yet"

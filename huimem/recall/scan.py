"""Candidates of one pass → a walk back through time, week by week, until one of them stands out.

All weeks were judged together, so a hundred of them cost what one costs; what is walked is the answer
that a reader of the weeks would have had, and where it stopped.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice

from huimem.index.cut import bounds
from huimem.index.rows import instant, milliseconds
from huimem.recall.parts import Part, oldest
from huimem.recall.query import A_MOMENT, Way
from huimem.recall.ranked import Ranked
from huimem.records import Recall, TimeRange, Walked

GAP = 0.05  # a step stands out where its best is good enough, and by so much better than all before it
A_YEAR = timedelta(days=366)  # a longer window is walked by months
MOST_STEPS = 1_200  # a century of months

# A walk under way: sending True ends it with the step just given.
Walk = Generator[Walked, bool | None, Recall]


@dataclass(frozen=True, slots=True)
class Step:
    """A week that a walk may come to, or a month with `monthly`; cut where what is walked begins or ends."""

    range: TimeRange
    monthly: bool = False


@dataclass(frozen=True, slots=True)
class Gone:
    """What a walk came to: its steps in order, and the candidates of all of them.

    `exhausted`: it came to its limit, and no step stood out.
    """

    steps: tuple[Walked, ...]
    candidates: tuple[Ranked, ...]
    exhausted: bool


def finished(walk: Walk, each: Callable[[Walked], None] = lambda step: None) -> Recall:
    """The answer of a walk, walked to where it ends by itself; `each` is told every step."""
    while True:
        try:
            each(next(walk))
        except StopIteration as end:
            answer: Recall = end.value
            return answer


def within(parts: Sequence[Part], spans: Sequence[TimeRange]) -> list[Part]:
    """The parts, narrowed to what was said in one of the spans."""
    during = tuple(map(bounds, spans))
    return [replace(part, narrowed=replace(part.narrowed, during=during, said_only=True)) for part in parts]


def first_said(parts: Sequence[Part]) -> datetime | None:
    """When the oldest thing was said, or began to hold, that passes the filters of the parts, time apart."""
    anytime = [replace(part, narrowed=replace(part.narrowed, during=())) for part in parts]
    at_ms = oldest(anytime, facts=True)
    return None if at_ms is None else instant(at_ms)


def steps_of(way: Way, first: datetime, as_of: datetime) -> list[Step]:
    """The steps of a way, the latest first: none before the week of the `first` thing said, none in a gap.

    An open end is that of the present week, and so is one that lies in the future. At most `MOST_STEPS`.
    """
    closed = (_closed(span, first, as_of) for span in reversed(way.stretches))
    steps = (
        Step(one, _is_long(span) and not way.weekly)
        for span in closed
        if span
        for one in periods(span, weekly=way.weekly)
    )
    return list(islice(steps, MOST_STEPS))


def _closed(span: TimeRange, first: datetime, as_of: datetime) -> TimeRange | None:
    """What of a span can be walked; None where nothing can."""
    begun = TimeRange.week_of(first, span.zone).start
    present = TimeRange.week_of(as_of, span.zone).end
    assert begun and present
    start = max(span.start, begun) if span.start else begun
    end = span.end or present
    end = end if start >= present else min(end, present)
    return TimeRange(start, end, span.zone) if start < end else None


def turns_within(parts: Sequence[Part], span: TimeRange) -> int:
    """How many records of the parts begin in a closed span."""
    return sum(part.snapshot.begun(part.narrowed, bounds(span)) for part in parts)


def _is_long(window: TimeRange) -> bool:
    """Whether a closed window is longer than a year."""
    assert window.start and window.end
    return window.end - window.start > A_YEAR


def periods(window: TimeRange, *, weekly: bool = False) -> list[TimeRange]:
    """The calendar weeks of a closed window from its end back; months, unless `weekly`, of more than a year.

    The first and the last are cut at the window's borders; at most `MOST_STEPS`.
    """
    assert window.start and window.end
    zone = window.zone
    of = TimeRange.month_of if _is_long(window) and not weekly else TimeRange.week_of
    found: list[TimeRange] = []
    end = window.end
    while end > window.start and len(found) < MOST_STEPS:
        whole = of(end - A_MOMENT, zone)
        start = max(whole.start or window.start, window.start)
        found.append(TimeRange(start, end, zone))
        end = start
    return found


def walk(
    candidates: Sequence[Ranked],
    steps: Sequence[Step],
    turns: Callable[[TimeRange], int],
    way: Way,
) -> Gone:
    """Walk `steps`, which follow each other back in time, and stop where one stands out.

    `candidates` are in order of score; `turns` counts what a stretch of time holds. Beyond the spans of
    the way it goes on only as long as nothing good enough was found. Where vague words lead, a step does
    not stand out as long as what they mean holds something as much better farther back: that is known.
    """
    walked: list[Walked] = []
    gathered: list[Ranked] = []
    before, border = 0.0, way.border
    spans = [step.range for step in steps]
    by_span = _by_span(candidates, spans)
    least = max(way.enough, _best_of(by_span, spans, border) - GAP if way.vague else 0.0)
    for step, span, inside in zip(steps, spans, by_span, strict=True):
        if border and before >= way.enough and span.end and span.end <= border:
            break
        best = inside[0].score if inside else 0.0
        walked.append(Walked(span, turns(span), best, step.monthly))
        gathered += inside
        if best >= least and best - before >= GAP:
            return Gone(tuple(walked), tuple(gathered), exhausted=False)
        before = max(before, best)
    return Gone(tuple(walked), tuple(gathered), exhausted=True)


def _best_of(
    by_span: Sequence[Sequence[Ranked]], spans: Sequence[TimeRange], border: datetime | None
) -> float:
    """The greatest score of the spans that begin at a border or later; of all where there is none."""
    own = (
        inside
        for inside, span in zip(by_span, spans, strict=True)
        if not border or (span.end and span.end > border)
    )
    return max((inside[0].score for inside in own if inside), default=0.0)


def _by_span(candidates: Sequence[Ranked], spans: Sequence[TimeRange]) -> list[list[Ranked]]:
    """The candidates of each span, in their order."""
    starts = [milliseconds(span.start) for span in spans if span.start]
    ends = [milliseconds(span.end) for span in spans if span.end]
    found: list[list[Ranked]] = [[] for _ in spans]
    for one in candidates:
        at = bisect_left(starts, -one.at_ms, key=lambda start: -start)  # the latest start not after it
        if at < len(spans) and one.at_ms < ends[at]:
            found[at].append(one)
    return found

"""Places on the local calendar: spans of wall-clock time, and lines of them that recur.

Wall times are naive and belong to the zone of the question; only `Here.range` makes instants of
them, so that a day is a day even where the clock changes.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import NamedTuple

from huimem.ranges import TimeRange
from huimem.when.expressions import Expression

DAY = timedelta(days=1)
# Steps looked through for a date that fits: 29 February may be eight years away, a Friday the 31st a
# few. A lunar feast that its calendar does not reach is not looked for in another century.
REACH = {"year": 10, "month": 12 * 40}


class Span(NamedTuple):
    """[start, end) on the wall clock, None = open; `elapsed`: its length is that of a stopwatch."""

    start: datetime | None
    end: datetime | None
    grain: str
    elapsed: bool = False


class Other(NamedTuple):
    """Another usual reading of the same words."""

    span: Span
    words: str


class Place(NamedTuple):
    """Where an expression lies for this question; `of` is what was read, where words say it best."""

    span: Span
    of: Expression | None
    fuzzy: bool = False
    others: tuple[Other, ...] = ()


def placed(
    span: Span | None, expression: Expression | None, *others: Other, fuzzy: bool = False
) -> Place | None:
    """A place; none where there is no span."""
    return None if span is None else Place(span, expression, fuzzy, others)


class Here(NamedTuple):
    """The moment a question is asked: wall time, its zone, and the first weekday (0 is Monday)."""

    now: datetime
    zone: tzinfo
    week_start: int = 0

    @property
    def today(self) -> date:
        return self.now.date()

    @property
    def midnight(self) -> datetime:
        return datetime.combine(self.now.date(), time())

    def range(self, span: Span) -> TimeRange:
        """The instants of a span. Raises ValueError where the zone skips all of it."""
        start = self._instant(span.start) if span.start else None
        end = self._instant(span.end) if span.end else None
        if span.elapsed and start and span.start and span.end:
            end = start + (span.end.replace(fold=0) - span.start.replace(fold=0))
        return TimeRange(start, end, self.zone)

    def _instant(self, at: datetime) -> datetime:
        """A wall time inside a gap moves forward by the gap; one that comes twice is the first."""
        return at.replace(tzinfo=self.zone).astimezone(UTC)

    def shown(self, span: Span) -> Span:
        """A span whose clock time the zone skips as the zone's clocks show it; days are days all the same."""
        if span.start is None or span.start == midnight(span.start.date()):
            return span
        start = self._instant(span.start).astimezone(self.zone).replace(tzinfo=None)
        moved = start.replace(fold=0) - span.start.replace(fold=0)
        return span._replace(start=start, end=span.end and span.end + moved) if moved else span

    def before(self, elapsed: timedelta) -> datetime:
        """The wall time when `elapsed` ago was now, as a stopwatch counts; negative: ahead."""
        then = self.now.replace(tzinfo=self.zone).astimezone(UTC) - elapsed
        return then.astimezone(self.zone).replace(tzinfo=None)


At = Callable[[int], Span | None]


class Line(NamedTuple):
    """Spans that recur, one a step of `unit` (a year, a month …), counted as `index` counts.

    `by_now`: to have begun means by this moment, not by the end of today; `before_today`: by yesterday.
    `early`: how many steps before its own a span may begin (the week of 1 January).
    """

    unit: str
    at: At
    by_now: bool = False
    before_today: bool = False
    early: int = 0

    def mapped(self, change: Callable[[Span], Span | None]) -> Line:
        """The same line with every span changed; a step where either fails holds nothing."""

        def at(step: int) -> Span | None:
            span = self.at(step)
            return None if span is None else change(span)

        return self._replace(at=at, early=1)


def index(unit: str, day: date, here: Here) -> int:
    """The number of the step that holds a day: years, months and days count from year 0 or day 1."""
    match unit:
        case "year":
            return day.year
        case "month":
            return day.year * 12 + day.month - 1
        case "week":
            return (day.toordinal() - 1 - here.week_start) // 7
        case "isoweek":
            return (day.toordinal() - 1) // 7
        case _:
            return day.toordinal()


def found(line: Line, step: int) -> Span | None:
    """The span of a step; None too where the calendar has no such day or year."""
    try:
        return line.at(step)
    except (ValueError, OverflowError):
        return None


def latest(line: Line, here: Here, limit: datetime) -> Span | None:
    """The last span of a line that starts at `limit` or before."""
    step = index(line.unit, limit.date(), here) + line.early
    return _first(line, step, -1, lambda span: span.start is not None and span.start <= limit)


def complete(line: Line, here: Here, limit: datetime) -> Span | None:
    """The last span of a line that ends at `limit` or before."""
    step = index(line.unit, limit.date(), here) + line.early
    return _first(line, step, -1, lambda span: span.end is not None and span.end <= limit)


def following(line: Line, here: Here, limit: datetime) -> Span | None:
    """The first span of a line that starts at `limit` or later."""
    step = index(line.unit, limit.date(), here) - 1
    return _first(line, step, 1, lambda span: span.start is not None and span.start >= limit)


def _first(line: Line, step: int, by: int, fits: Callable[[Span], bool]) -> Span | None:
    """The first span that fits, from `step` on by `by`, within the reach of the line's unit."""
    for ahead in range(REACH.get(line.unit, 10)):
        span = found(line, step + by * ahead)
        if span and fits(span):
            return span
    return None


def midnight(day: date) -> datetime:
    """The wall time that begins a day."""
    return datetime.combine(day, time())


def whole_days(first: date, last: date, grain: str) -> Span:
    """Days from `first` to `last`, both inside."""
    return Span(midnight(first), midnight(last) + DAY, grain)

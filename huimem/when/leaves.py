"""Leaves of expressions: units around today, windows, points n units away — each one place in time.

The rules are those of conventions 2 to 4.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from typing import Any

from huimem.when.expressions import (
    Ago,
    Calendar,
    Century,
    Decade,
    Expression,
    Instant,
    Rolling,
    SameTime,
    ShortYear,
    Whole,
    Year,
)
from huimem.when.periods import SECONDS_LONG, back, elapsed, floored, rolling, unit_span
from huimem.when.placing import DAY, Here, Other, Place, Span, placed, whole_days

DAY_BEGINS = 5  # from midnight to this hour the speaker's day may still be yesterday


def _calendar(it: Calendar, here: Here) -> Place | None:
    if it.unit in SECONDS_LONG:
        if it.offset == 0:
            return placed(floored(here.now, it.unit), it)
        length = elapsed(((abs(it.offset), it.unit),))
        edges = (here.before(length), here.now) if it.offset < 0 else (here.now, here.before(-length))
        return placed(Span(*edges, "second" if it.unit == "second" else "minute"), it)
    span = unit_span(it.unit, here.today, here, it.offset)
    return placed(span, it, *_day_earlier(span, it, here))


def _day_earlier(span: Span, it: Calendar, here: Here) -> tuple[Other, ...]:
    """After midnight "today" and "yesterday" may be meant a day earlier."""
    if it.unit != "day" or it.offset not in (0, -1) or here.now.hour >= DAY_BEGINS:
        return ()
    return (_earlier(span),)


def _earlier(span: Span) -> Other:
    earlier = span._replace(start=span.start and span.start - DAY, end=span.end and span.end - DAY)
    return Other(earlier, "the day before, as it is after midnight")


def _year(it: Year, here: Here) -> Place | None:
    return placed(unit_span("year", date(it.number, 1, 1), here), it)


def _short_year(it: ShortYear, here: Here) -> Place | None:
    return placed(unit_span("year", date(_century_of(it.number, here), 1, 1), here), it)


def _century_of(number: int, here: Here) -> int:
    year = here.now.year // 100 * 100 + number
    return year - 100 if year > here.now.year + 10 else year + 100 * (year <= here.now.year - 90)


def _instant(it: Instant, here: Here) -> Place | None:
    at = it.at.astimezone(here.zone).replace(tzinfo=None) if it.at.tzinfo else it.at
    return placed(floored(at, it.grain), it)


def _decade(it: Decade, here: Here) -> Place | None:
    first = it.first if it.first >= 100 else _century_of(it.first, here)
    return placed(unit_span("decade", date(first, 1, 1), here), it)


def _century(it: Century, here: Here) -> Place | None:
    return placed(unit_span("century", date((it.number - 1) * 100 or 1, 1, 1), here), it)


def _rolling(it: Rolling, here: Here) -> Place | None:
    if it.unit == "quarter":
        return _whole(Whole("quarter", int(it.count), it.ahead), here)
    return placed(rolling(it.unit, it.count, it.ahead, here), it)


def _whole(it: Whole, here: Here) -> Place | None:
    first, last = (1, it.count) if it.ahead else (-it.count, -1)
    one = unit_span(it.unit, here.today, here, first)
    return placed(one._replace(end=unit_span(it.unit, here.today, here, last).end), it)


def _ago(it: Ago, here: Here) -> Place | None:
    sign = 1 if it.ahead else -1
    length = elapsed(it.amounts)
    if length:
        at = here.before(-sign * length)
        day = back(at.date(), it.amounts, sign)
        smallest = min((unit for _, unit in it.amounts if unit in SECONDS_LONG), key=SECONDS_LONG.__getitem__)
        return placed(
            floored(datetime.combine(day, at.time()).replace(fold=at.fold), smallest), it, fuzzy=True
        )
    day = back(here.today, it.amounts, sign)
    the_day = whole_days(day, day, "day")
    if it.exact or len(it.amounts) > 1:
        return placed(the_day, it)
    unit = _width(*it.amounts[0])
    if it.most:
        far = unit_span(unit, back(here.today, ((it.most, it.amounts[0][1]),), sign), here)
        near = unit_span(unit, day, here)
        start, end = (near.start, far.end) if it.ahead else (far.start, near.end)
        return placed(Span(start, end, near.grain), it, fuzzy=True)
    if unit == "day":
        return placed(the_day, it)
    return placed(unit_span(unit, day, here), it, Other(the_day, "that very day"), fuzzy=True)


def _width(count: float, unit: Any) -> Any:
    """How wide a point is that lies so many units away: half a year is months, half a month a week."""
    if count % 1:
        return _HALVED.get(unit, "day")
    return _WIDTHS.get(unit, unit)


_HALVED = {"year": "month", "month": "isoweek", "half": "month", "decade": "year", "century": "year"}
_WIDTHS = {"century": "decade", "decade": "year", "half": "month", "fortnight": "week", "weekend": "week"}


def _same_time(it: SameTime, here: Here) -> Place | None:
    if it.unit == "day":
        return placed(floored(here.now + it.offset * DAY, "hour"), it)
    day = back(here.today, ((abs(it.offset), it.unit),), 1 if it.offset > 0 else -1)
    return placed(unit_span("week" if it.unit == "year" else "day", day, here), it)


LEAVES: dict[type[Expression], Callable[[Any, Here], Place | None]] = {
    Calendar: _calendar,
    Year: _year,
    ShortYear: _short_year,
    Instant: _instant,
    Decade: _decade,
    Century: _century,
    Rolling: _rolling,
    Whole: _whole,
    Ago: _ago,
    SameTime: _same_time,
}

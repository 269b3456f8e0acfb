"""Calendar arithmetic on spans: units around a day, the parts of a stretch, its n-th week or day.

The rules are those of conventions 3 and 4: months clamp, weeks belong to the month and year of
their Thursday, quarters and halves are the calendar's, winter belongs to the year of its December.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

from huimem.when.expressions import Amount, Part, Unit, Weekday
from huimem.when.placing import DAY, Here, Span, whole_days

MONTHS_LONG = {"month": 1, "quarter": 3, "half": 6, "year": 12, "decade": 120, "century": 1200}
DAYS_LONG = {"day": 1, "week": 7, "isoweek": 7, "weekend": 7, "fortnight": 14}
SECONDS_LONG = {"second": 1, "minute": 60, "hour": 3600}
THURSDAY = 3


def months_on(day: date, months: int) -> date:
    """The same day `months` later, clamped to the end of a shorter month."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return day.replace(year=year, month=month + 1, day=min(day.day, month_length(year, month + 1)))


def month_length(year: int, month: int) -> int:
    after = date(year + month // 12, month % 12 + 1, 1) if (year, month) != (9999, 12) else date.max
    return (after - DAY).day if after != date.max else 31


def grain_of(unit: Unit) -> str:
    return {"isoweek": "week", "fortnight": "week"}.get(unit, unit)


def unit_span(unit: Unit, day: date, here: Here, offset: int = 0) -> Span:
    """The calendar unit that holds `day`, or the one `offset` away. Raises ValueError, OverflowError."""
    if unit in MONTHS_LONG:
        length = MONTHS_LONG[unit]
        count = (day.year * 12 + day.month - 1) // length + offset
        return Span(_first_of(count * length), _first_of((count + 1) * length), unit)
    if unit == "season":
        first = months_on(date(day.year, day.month, 1), -(day.month % 3) + 3 * offset)
        return whole_days(first, months_on(first, 3) - DAY, "season")
    if unit == "day":
        return whole_days(day + offset * DAY, day + offset * DAY, "day")
    monday = here.week_start if unit == "week" else 0
    first = day - timedelta((day.weekday() - monday) % 7) + timedelta(7 * offset)
    if unit == "weekend":
        return whole_days(first + 5 * DAY, first + 6 * DAY, "weekend")
    return whole_days(first, first + 6 * DAY, "week")


def _first_of(month: int) -> datetime:
    """The first midnight of a month, counted from January of year 0."""
    return datetime(month // 12, month % 12 + 1, 1)


def back(day: date, amounts: tuple[Amount, ...], sign: int) -> date:
    """The day `amounts` away: years and months together, clamped, then weeks and days; halves count."""
    months = sum(count * MONTHS_LONG[unit] for count, unit in amounts if unit in MONTHS_LONG)
    days = sum(count * DAYS_LONG[unit] for count, unit in amounts if unit in DAYS_LONG)
    half_month = 15 * (months % 1 >= 0.5)
    return months_on(day, sign * int(months)) + timedelta(sign * (int(days) + half_month))


def elapsed(amounts: tuple[Amount, ...]) -> timedelta:
    """The part of `amounts` that a stopwatch measures."""
    return timedelta(seconds=sum(n * SECONDS_LONG[unit] for n, unit in amounts if unit in SECONDS_LONG))


def floored(at: datetime, grain: str) -> Span:
    """The hour, minute or second of the clock that holds a wall time; an hour that comes twice is long."""
    start = at.replace(microsecond=0, second=at.second if grain == "second" else 0)
    start = start.replace(minute=0) if grain == "hour" else start
    return Span(start, start + timedelta(seconds=SECONDS_LONG[grain]), grain, elapsed=grain != "hour")


# ── parts ──

_THIRDS = {
    "early": (1, 10),
    "mid": (11, 20),
    "late": (21, 31),
    "first half": (1, 15),
    "second half": (16, 31),
}
_OF_YEAR = {"early": (1, 4), "mid": (5, 8), "late": (9, 12), "first half": (1, 6), "second half": (7, 12)}
_TURNS = {"early": (1, 2), "mid": (6, 7), "late": (11, 12), "first half": (1, 6), "second half": (7, 12)}
_OF_WEEK = {"early": (0, 1), "mid": (2, 3), "late": (4, 6), "first half": (0, 3), "second half": (4, 6)}
_OF_DECADE = {"early": (0, 3), "mid": (4, 6), "late": (7, 9), "first half": (0, 4), "second half": (5, 9)}


def part(span: Span, which: Part) -> Span | None:
    """Early, middle, late of a month, week, quarter, season, year or decade; of others nothing."""
    if span.start is None or span.end is None:
        return None
    first, last = span.start.date(), (span.end - DAY).date()
    match span.grain:
        case "month":
            low, high = _THIRDS[which.which]
            days = whole_days(first.replace(day=low), first.replace(day=min(high, last.day)), "tenday")
            return days if "half" not in which.which else Span(days.start, days.end, "day")
        case "week":
            low, high = _OF_WEEK[which.which]
            return whole_days(first + low * DAY, first + high * DAY, "day")
        case "year":
            low, high = (_TURNS if which.turn else _OF_YEAR)[which.which]
            return _months(first, low - 1, high, "half" if "half" in which.which else "month")
        case "quarter" | "season":
            at = {"early": 0, "mid": 1, "late": 2}.get(which.which)
            return None if at is None else _months(first, at, at + 1, "month")
        case "decade":
            low, high = _OF_DECADE[which.which]
            return _months(first, low * 12, (high + 1) * 12, "year")
    return None


def _months(first: date, low: int, high: int, grain: str) -> Span:
    return whole_days(months_on(first, low), months_on(first, high) - DAY, grain)


def nth(span: Span, n: int, unit: Unit | Weekday, here: Here) -> Span | None:
    """The n-th (from 1; negative: from the end) week, weekday, day, month … of a span, if it has one."""
    if span.start is None or span.end is None or n == 0:
        return None
    first, last = span.start.date(), (span.end - timedelta(microseconds=1)).date()
    if isinstance(unit, Weekday):
        day = _nth_weekday(first, last, n, unit.day)
        return whole_days(day, day, "day") if day else None
    if unit in ("week", "isoweek"):
        day = _nth_weekday(first, last, n, THURSDAY)
        return unit_span(unit, day, here) if day else None
    if unit == "weekend":
        day = _nth_weekday(first, last, n, 5)
        return whole_days(day, day + DAY, "weekend") if day else None
    if unit in SECONDS_LONG or unit == "fortnight":
        return None
    edge = unit_span(unit, first if n > 0 else last, here)
    asked = unit_span(unit, edge.start.date(), here, n - 1 if n > 0 else n + 1) if edge.start else None
    if not asked or not asked.start or not asked.end or asked.start < span.start or asked.end > span.end:
        return None
    return asked


def _nth_weekday(first: date, last: date, n: int, weekday: int) -> date | None:
    if n > 0:
        day = first + timedelta((weekday - first.weekday()) % 7 + 7 * (n - 1))
    else:
        day = last - timedelta((last.weekday() - weekday) % 7 + 7 * (-n - 1))
    return day if first <= day <= last else None


def stretch(span: Span, n: int, unit: Unit, here: Here) -> Span | None:
    """The first n units of a span, or its last −n; never more than it holds."""
    if span.start is None or span.end is None or n == 0:
        return None
    if unit in SECONDS_LONG:
        hours = timedelta(seconds=SECONDS_LONG[unit] * abs(n))
        start, end = (span.start, span.start + hours) if n > 0 else (span.end - hours, span.end)
    else:
        one, other = nth(span, 1 if n > 0 else -1, unit, here), nth(span, n, unit, here)
        if one is None or other is None:
            return None
        start, end = (one.start, other.end) if n > 0 else (other.start, one.end)  # type: ignore[assignment]
    return Span(start, end, grain_of(unit))


def rolling(unit: Unit, count: float, ahead: bool, here: Here) -> Span | None:
    """`count` units up to and with today, or from tomorrow on; hours and minutes from this moment."""
    if unit in SECONDS_LONG:
        length = elapsed(((count, unit),))
        edges = (here.now, here.before(-length)) if ahead else (here.before(length), here.now)
        return Span(*edges, "second" if unit == "second" else "minute")
    if unit in ("weekend", "season"):
        return None
    today, after = here.today, here.today + DAY
    if ahead:
        first, last = after, back(after, ((count, unit),), 1) - DAY
    else:
        first, last = back(today, ((count, unit),), -1), today
    return whole_days(first, last, grain_of(unit))


def at_hours(day: date, start: float, end: float) -> Span:
    """The hours [start, end) counted from the midnight that begins `day`."""
    midnight = datetime.combine(day, time())
    return Span(midnight + timedelta(hours=start), midnight + timedelta(hours=end), "daypart")

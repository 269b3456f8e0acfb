"""Makers of expressions that the rules of all languages share; each gives None for what cannot be."""

from __future__ import annotations

from typing import Any

from huimem.when.clocks import afternoon, in_part, morning, range_in_part
from huimem.when.expressions import (
    FAR,
    Ago,
    Between,
    Calendar,
    Clock,
    ClockRange,
    ClockSpan,
    DayOfMonth,
    Daypart,
    Expression,
    Moment,
    Month,
    MonthDay,
    Nth,
    Open,
    Quarter,
    Rolling,
    Season,
    ShortYear,
    SpokenToday,
    TimeOfDay,
    Weekend,
    Which,
    Which_,
    Whole,
    Within,
    Year,
)
from huimem.when.periods import SECONDS_LONG


def word(*_: Any) -> bool:
    """What only looks like time: as good as any other word."""
    return True


def itself(value: Any) -> Any:
    return value


# ── units ──


_WHICH: dict[int, Which_] = {-1: "last", 0: "this", 1: "next"}


def which(offset: int, pattern: Expression) -> Expression:
    """The last, this or next one of what recurs; `offset` is −1, 0 or 1."""
    return Which(pattern, _WHICH[offset])


def unit_at(offset: int, unit: Any) -> Expression:
    """The calendar unit `offset` away from the present one."""
    return which(offset, Weekend()) if unit == "weekend" else Calendar(unit, offset)


def unit_before_last(unit: Any) -> Expression:
    return Which(Weekend(), "last", 1) if unit == "weekend" else Calendar(unit, -2)


def past_unit(unit: Any) -> Expression:
    """The past week is the rolling one, the past quarter the whole one before this."""
    return Which(Weekend(), "last") if unit == "weekend" else Rolling(unit, 1)


def rolling(count: float, unit: Any) -> Expression | None:
    return Rolling(unit, count) if 0 < count <= 10_000 and unit != "weekend" else None


def rolling_ahead(count: float, unit: Any) -> Expression | None:
    if unit == "quarter":
        return Whole(unit, int(count), ahead=True)
    return Rolling(unit, count, ahead=True) if 0 < count <= 10_000 and unit != "weekend" else None


def ago(*amounts: Any) -> Expression | None:
    """n units ago, from count, unit, count, unit …"""
    return _ago(amounts, ahead=False)


def hence(*amounts: Any) -> Expression | None:
    return _ago(amounts, ahead=True)


def _ago(amounts: tuple[Any, ...], *, ahead: bool) -> Expression | None:
    pairs = tuple(_whole_minutes(*pair) for pair in pairs_of(*amounts))
    return Ago(pairs, ahead) if pairs and all(0 < count <= 100_000 for count, _ in pairs) else None


def _whole_minutes(count: float, unit: Any) -> tuple[float, Any]:
    """Half an hour is thirty minutes."""
    return (count * 60, "minute") if unit == "hour" and count % 1 else (count, unit)


def ago_range(least: Any, most: Any, unit: Any) -> Expression | None:
    """Two or three days ago: one range over both."""
    return Ago(((least, unit),), most=most) if 0 < least < most else None


def pairs_of(*amounts: Any) -> tuple[tuple[float, Any], ...]:
    """count, unit, count, unit … as pairs, those not given left out."""
    return tuple((amounts[at], amounts[at + 1]) for at in range(0, len(amounts), 2) if amounts[at])


# ── dates ──


def month_day(month: int, number: int) -> Expression | None:
    """A day of any year; 31 June is a date too, though no calendar has it: it lies nowhere."""
    return MonthDay(month, number) if 1 <= number <= 31 else None


def dated(year: Expression, month: int, number: int) -> Expression | None:
    """A whole date; an impossible one lies nowhere."""
    return Within(year, MonthDay(month, number)) if 1 <= month <= 12 and 1 <= number <= 31 else None


def day_of_month(number: int) -> Expression | None:
    return DayOfMonth(number) if 1 <= number <= 31 else None


def day_in(number: int, of: Expression) -> Expression | None:
    """The 15th of next month; of a month without a year that day of any year."""
    if not 1 <= number <= 31:
        return None
    if isinstance(of, Month):
        return month_day(of.number, number) if of.number else Within(of, DayOfMonth(number))
    if isinstance(of, Within) and isinstance(of.pattern, Month) and of.pattern.number:
        return dated(of.outer, of.pattern.number, number)
    return Within(of, DayOfMonth(number))


def fitting(weekday: int, number: int) -> Expression | None:
    """Tuesday the 13th: both must fit."""
    return DayOfMonth(number, weekday) if 1 <= number <= 31 else None


def with_year(pattern: Expression, year: Expression) -> Expression | None:
    """A day or month without a year, and its year; what is farther off is rather a number of something."""
    if isinstance(year, Year) and year.number >= FAR:
        return None
    if isinstance(pattern, MonthDay):
        return dated(year, pattern.month, pattern.day)
    return None if isinstance(pattern, Within) else Within(year, pattern)


def day_range(first: int, last: int, of: Expression) -> Expression | None:
    """3 to 9 March: the month said once serves both."""
    start, end = day_in(first, of), day_in(last, of)
    return Between(start, end) if start and end and first < last else None


def between(first: Expression, last: Expression) -> Expression:
    """From one to the other; a year said once, at the end, serves both, unless it runs backwards."""
    return Between(sharing(first, last), last)


def sharing(first: Expression, last: Expression) -> Expression:
    """The start with the year of the end: of the year before where it would come later."""
    place, end = _place(first), _place(last.pattern) if isinstance(last, Within) else None
    if not isinstance(last, Within) or place is None or end is None:
        return first
    year = _earlier(last.outer, place > end)
    return Within(year, first) if year else first


def _earlier(year: Expression, by_one: bool) -> Expression | None:
    """A year in figures or one told from now, or the year before it."""
    match year:
        case Year(number=number):
            return Year(number - by_one)
        case ShortYear(number=number):
            return ShortYear((number - by_one) % 100)
        case Calendar(unit="year", offset=offset):
            return Calendar("year", offset - by_one)
    return None


def _place(pattern: Expression) -> tuple[int, int] | None:
    """Where in its year a pattern begins: month and day; None for what belongs to no year."""
    match pattern:
        case Month(number=number) if number:
            return number, 0
        case MonthDay(month=month, day=day):
            return month, day
        case Quarter(number=number):
            return 3 * number - 2, 0
        case Season(first=month):
            return month, 0
    return None


def nth_of(n: Any, unit: Any, of: Expression) -> Expression | None:
    """The n-th week, day, month … of something; n is -1 for the last."""
    return None if unit in SECONDS_LONG or not n else Nth(of, n, unit)


# ── moments ──


def moment(day: Expression, time: TimeOfDay) -> Expression:
    return Moment(day, time)


def refined(base: Expression, time: Clock | ClockRange) -> Expression | None:
    """Yesterday evening at 8: a clock time inside a daypart wins, read as the daypart tells."""
    if not isinstance(base, Moment) or not isinstance(base.time, Daypart):
        return None
    return Moment(base.day, told(time, base.time))


def told(time: TimeOfDay, part: Daypart) -> TimeOfDay:
    """A clock time with the half of the day that a daypart tells."""
    if isinstance(time, ClockRange):
        return range_in_part(time, part)
    if isinstance(time, ClockSpan):
        return ClockSpan(in_part(time.start, part), time.seconds)
    return in_part(time, part) if isinstance(time, Clock) else time


def meridian(time: Clock, which: str) -> Clock | None:
    """am or pm; 15:30 pm is what it is."""
    if time.hour > 12 and not time.twelve:
        return time if which == "pm" else None
    return morning(time) if which == "am" else afternoon(time)


def today_at(part: Daypart) -> Expression:
    """This morning, tonight: of the speaker's day."""
    return Moment(SpokenToday(), part)


def anytime(time: TimeOfDay) -> Expression:
    """A time of day of no day: the latest one that has begun."""
    return Moment(None, time)


def open_(side: Any, of: Expression) -> Expression | None:
    return None if isinstance(of, Open) else Open(side, of)

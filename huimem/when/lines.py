"""Patterns → lines: where a Wednesday, a 5 March, a Christmas or a three o'clock recurs.

Each function tells the span of one step (a year, a month, a week, a day); a step that has none, as
29 February in most years, says None or raises ValueError.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

from huimem.when import holidays, lunar
from huimem.when.clocks import on_day
from huimem.when.expressions import (
    DayOfMonth,
    Days,
    EveryMonth,
    EveryYear,
    Expression,
    Festival,
    Half,
    Lunar,
    Month,
    MonthDay,
    Quarter,
    Season,
    Weekday,
    Weekend,
    WeekNumber,
)
from huimem.when.periods import months_on, unit_span
from huimem.when.placing import DAY, Here, Line, Span, whole_days

Pattern = Callable[[Any, Here], Line]


def _monday(step: int) -> date:
    return date.fromordinal(step * 7 + 1)


def weekday(pattern: Weekday, here: Here) -> Line:
    first = here.week_start if pattern.week == "week" else 0

    def at(step: int) -> Span:
        day = _monday(step) + timedelta(first + (pattern.day - first) % 7)
        return whole_days(day, day, "day")

    return Line(pattern.week, at, before_today=True)


def weekend(_: Weekend, here: Here) -> Line:
    return Line("isoweek", lambda step: unit_span("weekend", _monday(step), here))


def month(pattern: Month, here: Here) -> Line:
    number = pattern.number or here.today.month
    return Line("year", lambda year: unit_span("month", date(year, number, 1), here))


def month_day(pattern: MonthDay, here: Here) -> Line:
    def at(year: int) -> Span:
        day = date(year, pattern.month, pattern.day)
        return whole_days(day, day, "day")

    return Line("year", at)


def day_of_month(pattern: DayOfMonth, here: Here) -> Line:
    def at(step: int) -> Span | None:
        day = date(step // 12, step % 12 + 1, pattern.day)
        fits = pattern.weekday is None or day.weekday() == pattern.weekday
        return whole_days(day, day, "day") if fits else None

    return Line("month", at)


def every_month(_: EveryMonth, here: Here) -> Line:
    return Line("month", lambda step: unit_span("month", date(step // 12, step % 12 + 1, 1), here))


def every_year(_: EveryYear, here: Here) -> Line:
    return Line("year", lambda year: unit_span("year", date(year, 1, 1), here))


def quarter(pattern: Quarter, here: Here) -> Line:
    return Line("year", lambda year: unit_span("quarter", date(year, pattern.number * 3, 1), here))


def half(pattern: Half, here: Here) -> Line:
    return Line("year", lambda year: unit_span("half", date(year, pattern.number * 6, 1), here))


def season(pattern: Season, here: Here) -> Line:
    def at(year: int) -> Span:
        first = date(year, pattern.first, 1)
        grain = "season" if pattern.months == 3 else "month"
        return whole_days(first, months_on(first, pattern.months) - DAY, grain)

    return Line("year", at)


def days(pattern: Days, here: Here) -> Line:
    def at(year: int) -> Span:
        later = pattern.last < pattern.first
        return whole_days(date(year, *pattern.first), date(year + later, *pattern.last), "day")

    return Line("year", at)


def week_number(pattern: WeekNumber, here: Here) -> Line:
    def at(year: int) -> Span:
        monday = date.fromisocalendar(year, pattern.number, 1)
        if pattern.weekday is None:
            return whole_days(monday, monday + 6 * DAY, "week")
        return whole_days(monday + pattern.weekday * DAY, monday + pattern.weekday * DAY, "day")

    return Line("year", at)


def festival(pattern: Festival, here: Here) -> Line:
    holiday = holidays.HOLIDAYS[pattern.name]

    def at(year: int) -> Span | None:
        day = holiday.day(year)
        if pattern.form == "weekend":
            days = holiday.weekend(year)
        elif pattern.form in ("period", "long"):
            days = holiday.period(year)
        else:
            days = (day, day) if day else None
        return whole_days(*days, "weekend" if pattern.form == "weekend" else "day") if days else None

    return Line("year", at, early=1)


def lunar_date(pattern: Lunar, here: Here) -> Line:
    """The last month of a lunar year belongs, as its eve does, to the year of the festival after it.

    The others are of the Gregorian year in which they begin: the eleventh may end in the next one.
    """

    def at(year: int) -> Span | None:
        for lunar_year in (year - 1,) if pattern.month == 12 else (year, year - 1):
            days = _lunar(pattern, lunar_year)
            if days and (days[0].year == year or pattern.month == 12):
                return whole_days(*days, "day" if pattern.day else "month")
        return None

    return Line("year", at, early=1)


def _lunar(pattern: Lunar, year: int) -> tuple[date, date] | None:
    if not pattern.day:
        return lunar.lunar_month(year, pattern.month, pattern.leap)
    day = lunar.lunar_date(year, pattern.month, pattern.day, pattern.leap)
    return (day, day) if day else None


PATTERNS: dict[type[Expression], Pattern] = {
    Weekday: weekday,
    Weekend: weekend,
    Month: month,
    MonthDay: month_day,
    DayOfMonth: day_of_month,
    EveryMonth: every_month,
    EveryYear: every_year,
    Quarter: quarter,
    Half: half,
    Season: season,
    Days: days,
    WeekNumber: week_number,
    Festival: festival,
    Lunar: lunar_date,
}


def daily(time: Any, here: Here) -> Line:
    """A time of day, every day; it has begun when the clock says so, not by the end of today."""
    return Line("day", lambda step: on_day(date.fromordinal(step), time), by_now=True)

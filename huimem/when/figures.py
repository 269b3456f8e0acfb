"""Digits → tokens: what a group of figures may be, and nothing where it is a version, a phone or an id.

A group is taken whole, with its dots, dashes, slashes and colons, and only a group of a known shape
becomes tokens: 12.5.1, 138-2010-2015, 192.168.1.1 and 101,194 are of none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from functools import lru_cache
from typing import Any, Literal

from huimem.when.clocks import afternoon, morning
from huimem.when.clocks import figures as clock
from huimem.when.expressions import (
    FAR,
    Between,
    Expression,
    Instant,
    Month,
    MonthDay,
    ShortYear,
    WeekNumber,
    Within,
    Year,
)

LONGEST = 48  # characters of two whole instants; no longer group is a time
Values = Mapping[str, Any]
Piece = tuple[Values, int, int]

GROUP = re.compile(
    r"\d{4}-?w\d{2}(?:-[1-7])?(?![\w-])"
    r"|\d{4}-\d{1,2}-\d{1,2}t\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:z|[+-]\d{2}:?\d{2})?"
    r"|\d{1,2}h\d{2}(?!\w)"
    r"|\d{1,2}(?::\d{2})?[aph](?!\w)"
    r"|\d+(?:[-./:,–]\d+)*",
    re.ASCII,
)


def day(year: Expression, month: int, number: int) -> Expression | None:
    """A whole date; None where the calendar has none such."""
    try:
        date(year.number if isinstance(year, Year) else 2000, month, number)
    except ValueError:
        return None
    return Within(year, MonthDay(month, number))


def month_day(month: int, number: int) -> Expression | None:
    """A day of any year; 29 February is one, 31 June is none."""
    try:
        date(2000, month, number)
    except ValueError:
        return None
    return MonthDay(month, number)


def month_of(year: Expression, month: int) -> Expression | None:
    return Within(year, Month(month)) if 1 <= month <= 12 else None


def year_of(digits: str) -> Expression | None:
    """A year of four figures, or of two: then the century is the one that conventions 2 choose."""
    if len(digits) == 4:
        return Year(int(digits)) if int(digits) else None
    return ShortYear(int(digits)) if len(digits) == 2 else None


def _as(value: Any, *kinds: str) -> Values:
    """A figure of some kinds; a core of its run, as figures of a known shape mostly are dates."""
    return {} if value is None else dict.fromkeys(("<core>", "<figure>", *(f"<{k}>" for k in kinds)), value)


def _date(value: Expression | None) -> Values:
    return _as(value, "date", "day", "time")


def _month(value: Expression | None) -> Values:
    return _as(value, "month", "period", "time")


def _year_first(year: str, month: str, number: str) -> Values:
    which = year_of(year)
    return _date(which and day(which, int(month), int(number)))


def _year_last(first: str, second: str, year: str) -> Values:
    """Month/day/year; where the first cannot be a month, day/month/year, which only English reads."""
    which, one, two = year_of(year), int(first), int(second)
    if which is None:
        return {}
    if one > 12:
        return _as(day(which, two, one), "day first")
    return _date(day(which, one, two))


def _year_month(year: str, month: str) -> Values:
    which = year_of(year)
    return _month(which and month_of(which, int(month)))


def _week(year: str, number: str, weekday: str | None) -> Values:
    try:
        date.fromisocalendar(int(year), int(number), int(weekday or 1))
    except ValueError:
        return {}
    week = Within(Year(int(year)), WeekNumber(int(number), int(weekday) - 1 if weekday else None))
    return _date(week) if weekday else _as(week, "week", "period", "time")


def _instant(text: str) -> Values:
    head, _, tail = text.partition("t")
    digits = (
        "-".join(part.zfill(2) for part in head.split("-")) + "t" + (tail if tail[1:2] != ":" else f"0{tail}")
    )
    try:
        at = datetime.fromisoformat(digits.upper())
    except ValueError:
        return {}
    grain: Literal["second", "minute"] = "second" if re.match(r"\d+:\d+:", tail) else "minute"
    return _as(Instant(at, grain), "moment", "time")


def _short_end(year: str, month: str, number: str, other: str | None, last: str) -> Values:
    """2026-09-01/04 and 2026-09-28/10-04: the end leaves out what it shares with the start."""
    which = year_of(year)
    start = which and day(which, int(month), int(number))
    end = which and day(which, int(other or month), int(last))
    return _date(Between(start, end)) if start and end else {}


def _years(first: str, last: str) -> Values:
    if not 1000 <= int(first) < int(last) < FAR:
        return {}
    return _as(Between(Year(int(first)), Year(int(last))), "years")


def _day_of_year(number: str, year: str) -> Values:
    """The day and the year of "May 1,2023"."""
    return {"<day of year>": (int(number), Year(int(year)))}


def _slashed(first: str, second: str) -> Values:
    one, two = int(first), int(second)
    if (one, two) == (24, 7):  # always
        return {}
    if one > 12:
        return _as(month_day(two, one), "slashed day first")
    return _as(month_day(one, two), "slashed")


def _clock(hour: str, minute: str, second: str | None = None) -> Values:
    return _as(clock(int(hour), int(minute), int(second) if second else None), "clock", "bare clock")


def _short_clock(hour: str, minute: str | None, half: str) -> Values:
    """9:15p is a time; 9a and 16h are one only beside a word that says so."""
    at = clock(int(hour), int(minute) if minute else None)
    if at is None or (half == "h" and minute) or (half != "h" and not at.twelve):
        return {}
    sure = at if half == "h" else morning(at) if half == "a" else afternoon(at)
    return _as(sure, "clock") if minute else {"<core>": sure, "<short clock>": sure}


def _dotted(hour: str, minute: str) -> Values:
    at = clock(int(hour), int(minute))
    return _decimal(f"{hour}.{minute}") | ({"<core>": at, "<dotted clock>": at} if at else {})


def _decimal(text: str) -> dict[str, Any]:
    return {"<decimal>": float(text), "<count>": float(text)}


def _number(text: str) -> Values:
    value = int(text) if len(text) <= 8 else -1
    if len(text) == 8:
        return _year_first(text[:4], text[4:6], text[6:]) if 1900 <= value // 10000 < FAR else {}
    if len(text) > 6:
        return {}
    values: dict[str, Any] = {"<number>": value, "<nth>": value, "<count>": value, "<digits>": text}
    if len(text) == 4 and value >= 1000:
        values["<year4>"] = values["<some year>"] = Year(value)
    if len(text) in (3, 4) and (at := clock(value // 100, value % 100)):
        values["<compact clock>"] = at
    return values


_SHAPES: tuple[tuple[re.Pattern[str], Callable[..., Values]], ...] = tuple(
    (re.compile(pattern, re.ASCII), make)
    for pattern, make in (
        (r"(\d+)", _number),
        (r"(\d{1,2}):(\d\d)(?::(\d\d))?", _clock),
        (r"(\d{1,2})h(\d\d)", _clock),
        (r"(\d{1,2})(?::(\d\d))?([aph])", _short_clock),
        (r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})", _year_first),
        (r"(\d{4})[-/.](\d{1,2})", _year_month),
        (r"(\d{1,2})/(\d{1,2})", _slashed),
        (r"(\d{1,2})\.(\d\d)", _dotted),
        (r"(\d+\.\d+)", _decimal),
        (r"(\d{1,2}),([12]\d{3})", _day_of_year),
        (r"(\d{1,2})[-–](\d{1,2})", lambda a, b: _as((int(a), int(b)), "dashed")),
        (r"(\d{4})[-–](\d{4})", _years),
        (r"(\d{1,2})[-/](\d{4})", lambda month, year: _year_month(year, month)),
        (r"(\d{1,2})[-/](\d{1,2})[-/,](\d{4}|\d\d)", _year_last),
        (r"(\d{1,2})\.(\d{1,2})\.(\d{4})", _year_last),
        (r"(\d{4})-?w(\d\d)(?:-(\d))?", _week),
        (r"(\d{4}-\d{1,2}-\d{1,2}t.+)", _instant),
        (r"(\d{4})-(\d{1,2})-(\d{1,2})/(?:(\d{1,2})-)?(\d{1,2})", _short_end),
    )
)
# An end of a range is a whole date or clock time, or an hour whose other end is one: 3:30-6.
_JOINABLE = re.compile(
    r"\d{1,2}|\d{1,2}[:.]\d\d(?::\d\d)?|\d{4}[-./]\d{1,2}(?:[-./]\d{1,2})?|\d{8}"
    r"|\d{1,2}[-/]\d{1,2}[-/]\d{2,4}|\d{1,2}/\d{1,2}|\d{4}-?w\d\d",
    re.ASCII,
)
_SHORT = re.compile(r"\d{1,2}", re.ASCII)
_CUTS = re.compile(r"[-–/]")


def shape(text: str) -> Values | None:
    """All that a group of figures may be; empty for an impossible date, None for no known shape."""
    for pattern, make in _SHAPES:
        if found := pattern.fullmatch(text):
            return make(*found.groups())
    return None


def pieces(text: str) -> tuple[Piece, ...]:
    """A group of figures as what it may be, with its place in the group [start, end).

    One piece, or the two ends of a range with the dash between them; none where it is no time.
    """
    return _pieces(text) if len(text) <= LONGEST else ()


@lru_cache(maxsize=4096)
def _pieces(text: str) -> tuple[Piece, ...]:
    values = _number(text) if text.isdigit() else shape(text)
    if values is not None:
        return ((values, 0, len(text)),) if values else ()
    for cut in _CUTS.finditer(text):
        at = cut.start()
        one, other = shape(text[:at]), shape(text[at + 1 :])
        if one and other and _ends(text[:at], text[at + 1 :]):
            return (one, 0, at), ({"-": "-"}, at, at + 1), (other, at + 1, len(text))
    return ()


def _ends(first: str, last: str) -> bool:
    """Whether two figures may be the ends of a range; a lone hour only beside a clock time."""
    if not _JOINABLE.fullmatch(first) or not _JOINABLE.fullmatch(last):
        return False
    short = [text for text in (first, last) if _SHORT.fullmatch(text)]
    return not short or (len(short) == 1 and (":" in first + last or "." in first + last))

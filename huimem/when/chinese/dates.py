"""Chinese years, months and days of months: 二〇二四年, 九十年代, 三月五号, 3月1日到4日, 农历八月十五."""

from __future__ import annotations

from typing import Any

from huimem.when.chinese.numbers import TO
from huimem.when.chinese.words import LONG
from huimem.when.expressions import (
    FAR,
    Between,
    Calendar,
    Century,
    DayOfMonth,
    Decade,
    Expression,
    Festival,
    Lunar,
    Month,
    MonthDay,
    ShortYear,
    Within,
    Year,
)
from huimem.when.grammar import Rule
from huimem.when.making import between, fitting, itself

_NO_DAY = "!<measure> !<unit> !<number> !<digits> !点 !时 !月 !<numbered>"


def either(*values: Any) -> Any:
    """The one slot of several that was filled."""
    return next(value for value in values if value is not None)


def _year(year: Year) -> Year | None:
    """A year of four figures; farther off ones are rather numbers of years."""
    return year if 1000 <= year.number < FAR else None


def _short(digits: str) -> Expression | None:
    return ShortYear(int(digits)) if len(digits) == 2 else None


def _spelled_short(digits: str) -> Expression | None:
    """九七年 is a year; 七八年 may be seven or eight years, 三五年 three to five."""
    numbers = digits == "35" or (len(digits) == 2 and 0 < int(digits[0]) == int(digits[1]) - 1)
    return ShortYear(int(digits)) if len(digits) == 2 and not numbers else None


def _old_short(digits: str) -> Expression | None:
    """Of two plain figures only 08年 is a year by itself; 25年 is a number of years."""
    return ShortYear(int(digits)) if len(digits) == 2 and digits[0] == "0" else None


def _decade(number: int) -> Expression | None:
    return Decade(number) if number % 10 == 0 and (10 <= number < 100 or 1000 <= number < FAR) else None


def _decade_of_century(century: int, number: int) -> Expression | None:
    fits = number % 10 == 0 and number < 100 and 1 <= century <= 30
    return Decade((century - 1) * 100 + number) if fits else None


def _month(number: int) -> Expression | None:
    return Month(number) if 1 <= number <= 12 else None


def _date(month: int, number: int) -> Expression:
    """A day of any year; one that no calendar has, as 31 June, lies nowhere."""
    return MonthDay(month, number)


def _bare_date(month: int, number: int) -> Expression | None:
    return MonthDay(month, number) if 1 <= month <= 12 and 1 <= number <= 31 else None


def _no_fraction(date: Any) -> Expression | None:
    """1/2 and 3/4 are rather parts of a whole."""
    return None if date.month < date.day <= 8 else date


def _day(number: int) -> Expression | None:
    return DayOfMonth(number) if 1 <= number <= 31 else None


def _spelled_day(number: int) -> Expression | None:
    """二十九日 is a day; 三日 may be three days."""
    return _day(number) if number > 10 else None


def _plain_day(digits: str) -> Expression | None:
    return _day(int(digits)) if len(digits) <= 2 else None


def _days(month: int, first: int, last: int) -> Expression | None:
    """3月1日到4日: the month said once serves both; an earlier day is of the next month."""
    if not 1 <= month <= 12:
        return None
    return Between(MonthDay(month, first), MonthDay(month if last > first else month % 12 + 1, last))


def _weekday_number(weekday: Any, number: int) -> Expression | None:
    return fitting(weekday.day, number)


def _months(first: int, last: int) -> Expression | None:
    fits = 1 <= first <= 12 and 1 <= last <= 12 and first != last
    return Between(Month(first), Month(last)) if fits else None


def _of(year: Expression, pattern: Expression) -> Expression:
    """A day, month or a range of them, of a year."""
    if isinstance(pattern, Between):
        return Between(Within(year, pattern.first), pattern.last)
    return Within(year, pattern)


def _lunar(month: int, day: int) -> Expression | None:
    return Lunar(month, day) if 1 <= month <= 12 and 1 <= day <= 30 else None


def _holiday(names: str | tuple[str, str]) -> Expression:
    name, also = (names, "") if isinstance(names, str) else names
    return Festival(name, "long" if name in LONG else "day", also)


YEARS = [
    Rule("公元? <year4> 年|年度|年份", "year", _year),
    Rule("<relative year> 度? 全年|整年?", "year", lambda offset: Calendar("year", offset)),
    Rule("这 <number> 年", "year", lambda n: Calendar("year", 0) if n == 1 else None),
    Rule("<spelled digits> 年 !前 !后 !来 !内", "year", _spelled_short),
    Rule("<digits> 年 !前 !后 !来 !内", "year", _old_short),
    Rule("<digits> 年", "short year", _short),
    Rule("从|自? <years> 年", "range", itself),
    Rule(f"从|自? <year4> {TO} <year4> 年", "range", between),
    Rule(f"从|自 <year4> {TO} <year4>", "range", between),
    Rule("<number>|<year4> 年代", "period", lambda *n: _decade(getattr(either(*n), "number", either(*n)))),
    Rule("<digits>|<spelled digits> 年代", "period", lambda *n: _decade(int(either(*n)))),
    Rule("上 个? 世纪 <number>|<digits> 年代", "period", lambda *n: _decade_of_century(20, int(either(*n)))),
    Rule("<number> 世纪 <number>|<digits> 年代", "period", (
        lambda century, *n: _decade_of_century(century, int(either(*n))))),
    Rule("<number> 世纪", "period", lambda n: Century(n) if 1 <= n <= 30 else None),
    Rule("公元前|纪元前 <number>|<year4>|<digits> 世纪|年|年代", "word", lambda *_: True),
]  # fmt: skip
_MD = "<nth> <month mark>"
# Above numbers of days, so that 3月5日以前 is not five days ago.
MONTH_DAYS = [
    Rule(f"{_MD} 的? <nth> 日|号", "bare date", lambda m, _, d: _date(m, d)),
    Rule(f"{_MD} 的? <nth> (日|号)? {TO} <nth> 日|号", "date range", lambda m, _, a, b: _days(m, a, b)),
    Rule(f"{_MD} 的? <dashed> 日|号", "date range", lambda m, _, ends: _days(m, *ends)),
    Rule(f"<slashed> {TO} <slashed>", "date range", Between),
    Rule("<slashed> &<daypart> &<clock>", "bare date", itself),
    Rule("<slashed> !<measure> &<told>", "bare date", _no_fraction),
]
DATES = [
    Rule(f"{_MD} <nth> {_NO_DAY} &<edge> &<daypart> &到 &至 &- &, &<weekday>", "bare date", (
        lambda m, _, d: _bare_date(m, d))),
    Rule("<slashed> 日|号", "bare date", itself),
    Rule("<month word> <nth> 日|号", "bare date", _bare_date),
    Rule("<year4> <digits> <digits> &<edge>", "date", lambda y, m, d: _figures(y, m, d)),
    Rule("<dashed> 日|号", "range", lambda ends: Between(DayOfMonth(ends[0]), DayOfMonth(ends[1]))),
    Rule(f"<nth> {TO} <nth> 日|号", "range", lambda a, b: Between(DayOfMonth(a), DayOfMonth(b))),
    Rule("<nth> 号", "day", _day),
    Rule("<digits> 日 !前 !后 !内 !<unit>", "day", _plain_day),
    Rule("<nth> 日 !前 !后 !内 !<unit>", "day", _spelled_day),
    Rule("<weekday> ,? <nth> 日|号", "date", _weekday_number),
    Rule("<nth> 日|号 ,? <weekday>", "date", lambda number, weekday: _weekday_number(weekday, number)),
    Rule("<nth> 日|号 <opens> <weekday> <closes>", "date", (
        lambda number, _, weekday, __: _weekday_number(weekday, number))),
    Rule("<festival>", "holiday", _holiday),
    Rule("跨年 &夜 &晚 &晚上 &那天 &当天 &那晚", "holiday", lambda: Festival("new_year_eve")),
    # The lunar calendar.
    Rule("农历|阴历|旧历 <nth>|<lunar month> 月? 初? <nth> 日|号?", "date", (
        lambda m, n, d: _lunar(either(m, n), d))),
    Rule("农历|阴历|旧历? 闰 <nth> 月 初? <nth>", "date", lambda m, d: Lunar(m, d, leap=True)),
    Rule("<lunar month> 初? <nth> 日|号?", "date", _lunar),
    Rule("大年|年 初 <nth>", "date", lambda d: _lunar(1, d) if d <= 10 else None),
    Rule("农历|阴历|旧历? <lunar month>", "bare month", Lunar),
    Rule("农历|阴历|旧历? 闰 <nth> 月", "bare month", lambda m: Lunar(m, 0, leap=True)),
    Rule(f"大年|正月 初 <nth> {TO} 大年? 初 <nth>", "range", lambda a, b: Between(Lunar(1, a), Lunar(1, b))),
    Rule("农历|阴历|旧历 <nth> 月", "bare month", lambda m: Lunar(m) if 1 <= m <= 12 else None),
]  # fmt: skip


def _figures(year: Year, month: str, day: str) -> Expression | None:
    """2010 01 29."""
    return Within(year, MonthDay(int(month), int(day))) if len(month) == len(day) == 2 else None


_YEAR = "<year>|<short year>"
DATED = [
    Rule(f"{_YEAR} 的? <holiday>", "holiday", lambda a, b, holiday: Within(either(a, b), holiday)),
    Rule(f"{_YEAR} 的|,? 农历|阴历? <bare date>", "date", lambda a, b, date: _of(either(a, b), date)),
    Rule(f"{_YEAR} 的? <date range>", "range", lambda a, b, days: _of(either(a, b), days)),
    Rule("<date range>", "range", itself),
    Rule(f"{_YEAR} 的|,? <date>", "date", lambda a, b, date: _lunar_of(either(a, b), date)),
    Rule(f"{_YEAR} 的? <bare month>", "month", lambda a, b, month: _lunar_of(either(a, b), month)),
    Rule("<year> 本 月 <nth> 日|号", "date", lambda y, d: Within(Within(y, Month(0)), DayOfMonth(d))),
]  # fmt: skip


def _lunar_of(year: Expression, date: Expression) -> Expression | None:
    return Within(year, date) if isinstance(date, Lunar) else None


MONTHS = [
    Rule(f"{_YEAR} 的? {_MD}", "month", lambda a, b, m, _: _month_of(either(a, b), m)),
    Rule("<year> 本 月", "month", lambda year: Within(year, Month(0))),
    Rule(_MD, "bare month", lambda m, _: _month(m)),
    Rule(f"<nth> <month mark>? {TO} {_MD}", "range", lambda a, _, b, __: _months(a, b)),
    Rule("<dashed> <month mark>", "range", lambda ends, _: _months(*ends)),
    Rule("<two numbers> <month mark>", "range", lambda ends, _: _months(*ends)),
    Rule(f"{_YEAR} 的? <nth> <month mark>? {TO} {_MD}", "range", (
        lambda y, s, a, _, b, __: _in_year(either(y, s), _months(a, b)))),
    Rule(f"{_YEAR} 的? <dashed> <month mark>", "range", (
        lambda y, s, ends, _: _in_year(either(y, s), _months(*ends)))),
    Rule(f"{_YEAR} 的? <two numbers> <month mark>", "range", (
        lambda y, s, ends, _: _in_year(either(y, s), _months(*ends)))),
]  # fmt: skip


def _month_of(year: Expression, month: int) -> Expression | None:
    return Within(year, Month(month)) if 1 <= month <= 12 else None


def _in_year(year: Expression, months: Expression | None) -> Expression | None:
    return _of(year, months) if months else None

"""English years, months and days of months: in 2019, the nineties, March 5th, 3 to 9 May 2024."""

from __future__ import annotations

from huimem.when.expressions import (
    FAR,
    Between,
    Calendar,
    Century,
    Decade,
    Expression,
    Month,
    MonthDay,
    Rolling,
    SameTime,
    Season,
    ShortYear,
    SoFar,
    Within,
    Year,
)
from huimem.when.grammar import Rule
from huimem.when.making import between, dated, day_range, itself, month_day, with_year

LAST = "last|previous|prior|preceding"
NEXT = "next|coming|upcoming"
TO = "to|-|through|thru|until|till"
IN = "in|during|since|until|till|before|after|from|throughout"
# Before these a number may be a year, if it looks like one.
_FOR = "for|by|of|around|circa|through|to|about|early|late|mid -?"
_NO_YEAR = "!<unit> !people !words !items !- !/ !bc !bce"
_MONTHS_OF_LIFE = range(1, 13)


def _short(digits: str) -> Expression | None:
    return ShortYear(int(digits)) if len(digits) == 2 else None


def _recent(year: Year) -> Year | None:
    """A number that is hardly a count: for 2024, but not for 2000 or 1500."""
    return year if 1900 <= year.number < 2100 and year.number % 100 else None


def _years(first: Expression, last: Expression) -> Expression | None:
    """Two years; of round numbers, as of prices, nothing."""
    if not isinstance(first, Year) or not isinstance(last, Year):
        return None
    prices = first.number % 100 == last.number % 100 == 0 and first.number < 1900
    return between(first, last) if 1000 <= first.number < last.number < FAR and not prices else None


def _decade(digits: str) -> Expression | None:
    if len(digits) not in (2, 4) or digits[-1] != "0" or not int(digits):
        return None
    return Decade(int(digits))


def _no_age(decade: int) -> Expression | None:
    """Late seventies, while people are in their late twenties."""
    return Decade(decade) if decade >= 70 else None


def _old_decade(digits: str) -> Expression | None:
    return _decade(digits) and _no_age(int(digits))


def _whole_decade(digits: str) -> Expression | None:
    return _decade(digits) if len(digits) == 4 else None


def _with_short(date: Expression, digits: str) -> Expression | None:
    year = _short(digits)
    return year and with_year(date, year)


def _old_year(date: Expression, digits: str) -> Expression | None:
    """3 Aug 96: a number that is no day or hour any more."""
    return _with_short(date, digits) if int(digits) > 31 else None


def _span_with_year(span: Expression, year: Expression) -> Expression | None:
    if not isinstance(span, Between):
        return None
    first, last = with_year(span.first, year), with_year(span.last, year)
    return Between(first, last) if first and last else None


def _days_of(month: int, first: int, last: int) -> Expression | None:
    return day_range(first, last, Month(month))


def _two_days_of(first: int, last: int, month: int) -> Expression | None:
    """The 3rd and 4th of April are one stretch; days apart are none."""
    return _days_of(month, first, last) if last == first + 1 else None


def _months(first: int, last: int, year: Expression | None = None) -> Expression:
    """From one month to another; a year said once is that of the end."""
    return between(Month(first), Within(year, Month(last)) if year else Month(last))


def _month_of(year: Expression, number: int) -> Expression | None:
    return Within(year, Month(int(number))) if number in _MONTHS_OF_LIFE else None


def _to_date(date: Expression, number: int) -> Expression | None:
    """27 April to the third: the first third that follows."""
    year, start = (date.outer, date.pattern) if isinstance(date, Within) else (None, date)
    if not isinstance(start, MonthDay) or not 1 <= number <= 31:
        return None
    later = start.month + (number <= start.day)
    end: Expression = MonthDay((later - 1) % 12 + 1, number)
    if isinstance(year, Year):
        end = Within(Year(year.number + (later > 12)), end)
    return Between(date, end) if year is None or isinstance(year, Year) else None


def _same_month(date: Expression, number: int) -> Expression | None:
    """April 3 and 4: the month said once serves both."""
    return month_day(date.month, number) if isinstance(date, MonthDay) else None


YEARS = [
    Rule("the? year|yr of? <some year>", "year", itself),
    Rule(f"{IN} > <year4> {_NO_YEAR}", "year", itself),
    Rule(f"{_FOR} > <year4> {_NO_YEAR}", "year", _recent),
    Rule(f"{IN}|{_FOR} > <spelled year>", "year", itself),
    Rule("<edge> > <spelled year> &<edge>", "year", itself),
    Rule("in|class|since|of|from|before|after|back > of? ' <digits>", "year", _short),
    Rule("<year code>", "year", ShortYear),
    Rule("between|from? <years>", "range", itself),
    Rule("the? <season> of|in? <years>", "period", lambda season, years: Within(years.first, Season(season))),
    Rule("from|in|since <year4> to date|now|today|present", "range", lambda year: SoFar(year)),
    Rule("the? year|yr before last", "year", lambda: Calendar("year", -2)),
    Rule("the? year|yr after next", "year", lambda: Calendar("year", 2)),
    Rule("the? <which> year|yr", "year", lambda offset: Calendar("year", offset)),
    Rule("the? last|past year|yr and a half", "period", lambda: Rolling("year", 1.5)),
    Rule("around? this|same time last year|yr", "day", lambda: SameTime("year", -1)),
    Rule("last year|yr at|around|about? this time", "day", lambda: SameTime("year", -1)),
    Rule("this|same time <count> years|year|yrs ago", "day", lambda count: SameTime("year", -int(count))),
    Rule("(so far)|earlier this year|yr", "range", lambda: SoFar(Calendar("year", 0))),
    Rule("this year|yr (so far)|(to date)", "range", lambda: SoFar(Calendar("year", 0))),
    # Decades: 1990s and the 90s, while "in his 20s" is an age.
    Rule("the? <digits> s|'s", "period", _whole_decade),
    Rule("the '? <digits> s|'s", "period", _decade),
    Rule("' <digits> s|'s", "period", _decade),
    Rule("in|since|from|of|during|(the early|late|mid) -? > <digits> s|'s", "period", _decade),
    Rule("early|late|mid -? > <digits> s|'s", "period", _old_decade),
    Rule("the <decade word>", "period", Decade),
    Rule("in|since|from|during|(the early|late|mid) -? > <decade word>", "period", Decade),
    Rule("early|late|mid -? > <decade word>", "period", _no_age),
    Rule("the? nineteen <decade word>", "period", lambda decade: Decade(1900 + decade)),
    Rule("the? two thousands", "period", lambda: Decade(2000)),
    Rule("the? nineteen tens", "period", lambda: Decade(1910)),
    Rule("the? <spelled year> and? tens", "period", lambda year: Decade(year.number + 10)),
    Rule("the? <ordinal> -? century !bc !bce", "period", (
        lambda number: Century(number) if number <= 21 else None)),
]  # fmt: skip
DATES = [
    Rule(f"<year> and|or > <year4> {_NO_YEAR}", "year", itself),
    Rule("<month word> ,? <ordinal>", "bare date", month_day),
    Rule("<month word> the <nth>", "bare date", month_day),
    Rule("the? <nth> <month word> <digits> &<edge>", "date", (
        lambda day, month, digits: _with_short(MonthDay(month, day), digits))),
    Rule("<month word> <number> !<meridian> !<unit> !o'clock !people", "bare date", month_day),
    Rule("<month word> /|-|. <nth>", "bare date", month_day),
    Rule("the? <nth> -|,? of? <month word>", "bare date", lambda day, month: month_day(month, day)),
    Rule("the? <nth> day of <month word>", "bare date", lambda day, month: month_day(month, day)),
    Rule("<edge> > <slashed>|<slashed day first> &<edge>", "bare date", lambda month, day: month or day),
    Rule("<slashed>|<slashed day first>", "slashed date", lambda month, day: month or day),
    Rule("<day first>", "date", itself),
    Rule("<number> /|- <month word> /|- <year4>", "date", lambda day, month, year: dated(year, month, day)),
    Rule("<number> /|- <month word> /|- <digits>", "date", (
        lambda day, month, digits: _with_short(MonthDay(month, day), digits))),
    Rule("<year4> /|- <month word> /|- <number>", "date", dated),
    Rule("<month word> <day of year>", "date", lambda month, end: dated(end[1], month, end[0])),
    # Both ends in one month: 3 to 9 March, August 10 - 22.
    Rule(f"from? the? <nth> {TO} the? <nth> of? <month word>", "date span", (
        lambda first, last, month: _days_of(month, first, last))),
    Rule("between the? <nth> and|-|to the? <nth> of? <month word>", "date span", (
        lambda first, last, month: _days_of(month, first, last))),
    Rule(f"from? <month word> the? <nth> {TO} the? <nth> !<month word> !of !<unit> "
         f"!<meridian>", "date span", _days_of),
    Rule("between <month word> the? <nth> and|- the? <nth> !<month word> !of !<unit>", "date span", _days_of),
    Rule("the? <nth> and the? <nth> of? <month word>", "date span", _two_days_of),
    Rule("<figure ordinal> and|, the? <figure ordinal> of? <month word>", "word", (
        lambda first, last, month: None if last == first + 1 else True)),
    Rule("from|between? <dashed> of? <month word>", "date span", lambda ends, month: _days_of(month, *ends)),
    Rule("from|between? <month word> <dashed>", "date span", lambda month, ends: _days_of(month, *ends)),
    Rule("<month word> between <nth> and <nth>", "date span", _days_of),
]  # fmt: skip
DATED = [
    Rule(f"from? <some year> {TO} <some year> !people !words !<unit>", "range", _years),
    Rule("between <some year> and|- <some year> !people !words !<unit>", "range", _years),
    Rule("<bare date> ,|of|in? <some year>", "date", with_year),
    Rule("<bare date> ,? ' <digits>", "date", _with_short),
    Rule("<year> 's|,|on? the? <bare date>", "date", lambda year, date: with_year(date, year)),
    Rule("<bare date> <digits> !<word> !<unit> !<meridian> !<month word>", "date", _old_year),
    Rule("<date span> ,|of|in? <some year>", "range", _span_with_year),
    Rule("<date span>", "range", itself),
    Rule("from? <slashed date> -|to|through|until|till <slashed date>", "range", between),
    Rule("between <slashed date> and|- <slashed date>", "range", between),
    Rule("<bare date>= and|or|, > <nth> &<edge> &, &and &or &<small>", "bare date", _same_month),
    Rule("from? <date> to|until|till|through the <ordinal> !of !<month word>", "range", _to_date),
    Rule("on|by|since|until|till|before|after|from|to|this|dated|between|and|- > <slashed date>", "date", (
        itself)),
    Rule("of|around|about > <slashed date> &<edge> &, &<small> &and &or &at &in", "date", itself),
    Rule("on|dated > <dashed> !<unit> !<meridian> !<word>", "bare date", lambda ends: month_day(*ends)),
    # Months of a year.
    Rule("<month word> ,|of|-|in|/|'? <some year>", "month", lambda month, year: Within(year, Month(month))),
    Rule("the? month of <month word> ,|of|in? <some year>", "month", (
        lambda month, year: Within(year, Month(month)))),
    Rule("<some year> 's? ,|-|/|in? <month word> !<number>", "month", (
        lambda year, month: Within(year, Month(month)))),
    Rule("<month word> ' <digits>", "month", lambda month, digits: _with_short(Month(month), digits)),
    Rule("<year4> /|- <number>", "month", _month_of),
    Rule("<number> /|- <year4>", "month", lambda number, year: _month_of(year, number)),
    Rule(f"from? <month word> {TO} <month word> !<nth> !'", "range", _months),
    Rule(f"from? <month word> {TO} <month word> ,|of|in? <some year>", "range", _months),
    Rule("between <month word> and|- <month word> !<nth> !'", "range", _months),
    Rule("between <month word> and|- <month word> ,|of|in? <some year>", "range", _months),
]  # fmt: skip
_MONTH_CONTEXT = f"{IN}|through|{LAST}|{NEXT}|early|mid|late|end|past|by|for|around|over|of|back"
MONTHS = [
    Rule("<bare date>= and|or|, > <nth> &<edge> &, &and &or &<small>", "bare date", _same_month),
    Rule("<bare date>= , and|or > <nth> &<edge> &, &and &or &<small>", "bare date", _same_month),
    Rule("<month name>", "bare month", Month),
    Rule(f"{_MONTH_CONTEXT} -? > <shy month>", "bare month", Month),
    Rule("the|our|my > <quiet month>", "bare month", Month),
    Rule("this > <shy month> &<edge> &, &<small> &and &or &to &- &'s", "bare month", Month),
    Rule("<edge> > <shy month> !( &<edge>", "bare month", Month),
    Rule("the? month of <month word>", "bare month", Month),
    Rule("prior|previous|up to > <shy month> !to", "bare month", Month),
    Rule("<shy month> < ,? and|or <month>=", "bare month", (
        lambda month, year: Month(month) if isinstance(year, Within) else None)),
    Rule("<month name> and|or|, > <shy month>", "bare month", Month),
]  # fmt: skip

"""English periods: last week, the past two months, Q3, last summer, early May, the second week of March."""

from __future__ import annotations

from typing import Any

from huimem.when.expressions import (
    Ago,
    Calendar,
    Century,
    EveryMonth,
    EveryYear,
    Expression,
    Half,
    Month,
    Part,
    Quarter,
    Rolling,
    SameTime,
    Season,
    Shifted,
    ShortYear,
    SoFar,
    Stretch,
    Vague,
    Weekend,
    WeekNumber,
    WeekOf,
    Which,
    Within,
)
from huimem.when.grammar import Rule
from huimem.when.making import (
    nth_of,
    past_unit,
    rolling,
    rolling_ahead,
    unit_at,
    unit_before_last,
    which,
)

_NOT_NAMED = "!<weekday name> !<shy weekday> !<holiday> !<season> !<month word>"


def _so_far(unit: Any) -> Expression | None:
    """From the start of this unit; of the day until this moment."""
    return SoFar(Calendar(unit, 0), until_now=unit == "day") if unit not in ("weekend", "fortnight") else None


def _calendar_units(after: str) -> list[Rule]:
    """Last, this and next week or month; `after` says what must not follow."""
    return [
        Rule(f"the? <which> week|wk|weeks{after}", "week", lambda offset: Calendar("week", offset)),
        Rule(f"the? <which> <unit>{after}", "period", unit_at),
    ]


def _rolling(after: str) -> list[Rule]:
    """The last n units; `after` says what must not follow."""
    return [
        Rule(f"the|my|these? last|past|previous|prior <number> <unit>{after}", "period", rolling),
        Rule(f"the? next|coming|upcoming <number> <unit>{after}", "period", rolling_ahead),
    ]


# Those that no "of" follows: the last week of a month is another thing.
UNITS = [
    *_calendar_units(" !of !in !before !after"),
    Rule("the? week|wk before last", "week", lambda: Calendar("week", -2)),
    Rule(f"the? <unit> before the? last {_NOT_NAMED}", "period", unit_before_last),
    Rule("the? <unit> after next", "period", lambda unit: Calendar(unit, 2)),
    Rule("the? last|past <unit> and a half", "period", lambda unit: Rolling(unit, 1.5)),
    Rule("the <number> last|past|previous <unit>", "period", rolling),
    Rule("of|in|from|by|before > the month", "open period", EveryMonth),
    Rule("of|in|from|by|before > the year !<some year> !of", "open period", EveryYear),
    Rule("start|beginning of > the week", "open period", lambda: Calendar("week", 0)),
    Rule("around? this|same time last <unit>", "day", lambda unit: SameTime(unit, -1)),
    Rule("(this|same time yesterday)|(yesterday at? this time)", "day", lambda: SameTime("day", -1)),
    Rule("last <unit> at this time", "day", lambda unit: SameTime(unit, -1)),
    Rule("this|same time <count> <unit> ago", "day", lambda count, unit: SameTime(unit, -int(count))),
    Rule("so far this <unit>", "range", _so_far),
    Rule("(so far)|earlier today", "range", lambda: _so_far("day")),
    Rule("earlier this|in? the? <unit> !<some year>", "range", _so_far),
    Rule("this? <unit> to date", "range", _so_far),
    Rule("this <unit> so far", "range", _so_far),
]


def _quarter(number: Any, year: Expression) -> Expression | None:
    return Within(year, Quarter(number)) if number in (1, 2, 3, 4) else None


def _short_quarter(number: int, digits: str) -> Expression | None:
    return _short_year(Quarter(number), digits)


def _short_year(pattern: Expression, digits: str) -> Expression | None:
    return Within(ShortYear(int(digits)), pattern) if len(digits) == 2 else None


def _bare_quarter(number: int) -> Expression | None:
    return Quarter(number) if number in (1, 2, 3, 4) else None


def _weekends_ago(count: float) -> Expression | None:
    return Which(Weekend(), "last", int(count) - 1) if 1 <= count < 500 else None


def _in_year(make: Any) -> Any:
    return lambda number, year: Within(year, make(number))


def _of_year(make: Any) -> Any:
    return lambda year, number: Within(year, make(number))


_IN = "in|during|of|for|since|until|till|by|before|after|from|throughout|through|this|our|the|my"
PERIODS = [
    # Rolling windows.
    Rule("the|this? past <unit>", "period", past_unit),
    *_rolling(" !of !in"),
    Rule("the? last|past half a|an? <unit>", "period", lambda unit: Rolling(unit, 0.5)),
    Rule("the? last|past year or so", "period", lambda: Rolling("year", 1)),
    # Weekends.
    Rule("the weekend !of !before !after", "weekend", Weekend),
    Rule("on|at|over|during > weekend", "weekend", Weekend),
    Rule("weekend &<edge>", "weekend", Weekend),
    Rule("the|this? past weekend", "period", lambda: Which(Weekend(), "last")),
    Rule("<number> weekends ago", "period", lambda count: _weekends_ago(count)),
    # Quarters, halves, seasons, week numbers.
    Rule("<quarter code> '? <digits> !<word> !<unit>", "period", lambda q, digits: _short_quarter(q, digits)),
    Rule("the? <quarter code> ,|of|in|-? <some year>", "period", _in_year(Quarter)),
    Rule("<some year> 's? -|,? <quarter code>", "period", _of_year(Quarter)),
    Rule("<quarter code>", "bare period", Quarter),
    Rule("the? <ordinal>|<number> quarter|qtr of|in|,? <some year>", "period", (
        lambda ordinal, number, year: _quarter(ordinal or number, year))),
    Rule("the? last quarter of|in|, <some year>", "period", lambda year: Within(year, Quarter(4))),
    Rule("<some year> 's? <ordinal> quarter|qtr", "period", lambda year, number: _quarter(number, year)),
    Rule("in|during|for|since|of the? > <ordinal> quarter|qtr", "bare period", _bare_quarter),
    Rule("<edge> > <ordinal> quarter|qtr &<edge>", "bare period", _bare_quarter),
    Rule("the? <half code> of|in|,? <some year>", "period", _in_year(Half)),
    Rule("<some year> 's? ,|-? <half code>", "period", _of_year(Half)),
    Rule(f"{_IN} > <half code>", "bare period", Half),
    Rule("the? <season> of|in|,? <some year>", "period", _in_year(Season)),
    Rule("the? <season> ' <digits>", "period", lambda season, digits: _short_year(Season(season), digits)),
    Rule("the? <season> <count> years|year|yrs ago", "period", (
        lambda season, n: Within(Ago(((n, "year"),)), Season(season)))),
    Rule("<bare month> <count> years|year|yrs ago", "period", (
        lambda month, n: Within(Ago(((n, "year"),)), month))),
    Rule("<number> <seasons> ago", "period", lambda n, season: Which(Season(season), "last", int(n) - 1)),
    Rule("<some year> 's? <season>", "period", _of_year(Season)),
    Rule("the? <which> <season>", "period", lambda offset, season: which(offset, Season(season))),
    Rule("the|this? past <season>", "period", lambda season: Which(Season(season), "last")),
    Rule("the? <season> before last", "period", lambda season: Which(Season(season), "last", 1)),
    Rule("in|during|since|until|over|throughout|early|mid|late|before|after the? -? > <season> "
         "!of", "bare period", Season),
    Rule("<edge> > <season> &<edge>", "bare period", Season),
    Rule("the? week|wk number? <number> of|in|,? <some year>", "period", _in_year(WeekNumber)),
    Rule("<some year> ,? week|wk number? <number>", "period", _of_year(WeekNumber)),
    Rule("<week code> of|in|,? <some year>", "period", _in_year(WeekNumber)),
    Rule("in|during|of|since|for|from|calendar the? > week|wk number? <number>", "bare period", WeekNumber),
    Rule("<edge> > week|wk|cw number? <number> &<edge>", "bare period", WeekNumber),
    # Months by their place.
    Rule("the? <which> <bare month> !<number> !<ordinal>", "period", which),
    Rule("this past <bare month>", "period", lambda month: Which(month, "last")),
    Rule("<bare month> before last", "period", lambda month: Which(month, "last", 1)),
    Rule("the <shy month> before last", "period", lambda month: Which(Month(month), "last", 1)),
    Rule("<bare month> and|or|, > <shy month>", "bare month", Month),
]  # fmt: skip


_DAYS_BACK = Vague((7, "day"), (0, "day"))
_LATELY = Vague((30, "day"), (0, "day"))
_WHILE = Vague((120, "day"), (7, "day"))
_FEW = "few|couple|several"


_FEW_AGO = {
    "second": Vague((2, "hour")),
    "minute": Vague((2, "hour")),
    "hour": Vague((12, "hour")),
    "day": _DAYS_BACK,
    "week": Vague((42, "day"), (7, "day")),
    "month": Vague((8, "month"), (1, "month")),
    "year": Vague((6, "year"), (1, "year")),
}
_LAST_FEW = {
    "minute": Vague((2, "hour")),
    "hour": Vague((12, "hour")),
    "day": _DAYS_BACK,
    "week": Vague((42, "day"), (0, "day")),
    "month": Vague((8, "month"), (0, "day")),
    "year": Vague((6, "year"), (0, "day")),
}


def _vague(pattern: str, meaning: Vague) -> Rule:
    return Rule(pattern, "vague", lambda: meaning)


def _few(after: str) -> Rule:
    """The last few days; `after` says what must not follow."""
    return Rule(f"the|these? last|past {_FEW} of? <unit>{after}", "vague", _LAST_FEW.get)


VAGUES = [
    _few(" !of"),
    Rule(f"a? {_FEW} of? <unit> ago|back", "vague", _FEW_AGO.get),
    Rule("<edge>|<small>|, > <units> ago|back", "vague", _FEW_AGO.get),
    _vague("just now", Vague((2, "hour"))),
    _vague("a? few? moment|moments|minute|second ago", Vague((2, "hour"))),
    _vague("the other day|night|morning|evening|afternoon", _DAYS_BACK),
    _vague("the other week", Vague((42, "day"), (7, "day"))),
    _vague("recently|lately|(these days)|(as? of late)", _LATELY),
    _vague("not so|too|that? long ago", _LATELY),
    _vague("in recent days|weeks|months|times", _LATELY),
    _vague("a little|short|good|long? while ago|back", _WHILE),
    _vague("(some time)|sometime|awhile ago|back", _WHILE),
    _vague("(a? long time? ago)|(ages ago)|(once upon a time)", Vague()),
    _vague("i|you|we|he|she|they > once !<unit> !a !i !you !we !he !she !they !it", Vague()),
    # These ask for a time, or for what holds now, and name none.
    Rule("how long ago|back", "asked", lambda: True),
    Rule("as of today|now", "asked", lambda: True),
    _vague("back then", Vague()),
    _vague("back in the day !<word>", Vague()),
    _vague("in the past !<word> !<unit> !<number> !few !couple !several !half", Vague()),
]


def _part(which: Any, *, turn: bool = False) -> Any:
    return lambda of: None if isinstance(of, Century) else Part(of, which, turn)


def _half_of(number: int, of: Expression) -> Expression | None:
    return Part(of, "first half" if number == 1 else "second half") if number in (1, 2) else None


def _stretch(count: float, unit: Any, of: Expression) -> Expression:
    return Stretch(of, int(count), unit)


def _last_stretch(count: float, unit: Any, of: Expression) -> Expression:
    return Stretch(of, -int(count), unit)


def _week_after(sign: int) -> Any:
    def make(of: Expression) -> Expression:
        return WeekOf(Shifted(of, ((1, "week"),), ahead=sign > 0))

    return make


_BEGINNING = "beginning|start|onset"
_OF = "of|in"
PARTS = [
    # Thirds: early 2025 is four months of it, the beginning of 2025 two (conventions 4).
    Rule("early -|in|on? the? <period>", "period", _part("early")),
    Rule("mid|middle -|in? the? <period>", "period", _part("mid")),
    Rule("the? middle of the? <period>", "period", _part("mid", turn=True)),
    Rule("late -|in|on? the? <period>", "period", _part("late")),
    Rule(f"the? very? {_BEGINNING} of the? <period>", "period", _part("early", turn=True)),
    Rule("the? very? end of the? <period>", "period end", _part("late", turn=True)),
    Rule("at|by|before|since > year -? end", "period", lambda: Part(EveryYear(), "late", turn=True)),
    Rule("the? <ordinal> half of the? <period>", "period", _half_of),
    Rule("the? last|latter half of the? <period>", "period", _part("second half")),
    *_calendar_units(""),
    *_rolling(""),
    _few(""),
    Rule("the weekend", "weekend", Weekend),
    Rule(f"the? first {_FEW}? of? days|weeks|months {_OF} the? <period>", "period", _part("early")),
    Rule(f"the? last {_FEW}? of? days|weeks|months {_OF} the? <period>", "period", _part("late")),
    # The n-th of something.
    Rule(f"the? <ordinal> <unit> {_OF} the? <period>", "period", nth_of),
    Rule(f"the? last|final <unit> {_OF} the? <period>", "period", lambda unit, of: nth_of(-1, unit, of)),
    Rule(f"the? <ordinal> -? to? last <unit> {_OF} the? <period>", "period", (
        lambda number, unit, of: nth_of(-number, unit, of))),
    Rule(f"the? first|opening <number> <unit> {_OF} the? <period>", "period", _stretch),
    Rule(f"the? last|final|closing <number> <unit> {_OF} the? <period>", "period", _last_stretch),
    Rule("<period> 's first <number> <unit>", "period", lambda of, count, unit: _stretch(count, unit, of)),
    Rule("<period> 's last <number> <unit>", "period", (
        lambda of, count, unit: _last_stretch(count, unit, of))),
    # The week of a day.
    Rule("the? week of|starting|beginning|commencing|ending on? the? <day>", "week", WeekOf),
    Rule("w / c the? <day>", "week", WeekOf),
    Rule("the? weekend of the? <day>", "weekend", lambda of: WeekOf(of, "weekend")),
    Rule("the|last weekend before <day>", "weekend", (
        lambda of: WeekOf(Shifted(of, ((1, "week"),)), "weekend"))),
    Rule("the weekend after <day>", "weekend", (
        lambda of: WeekOf(Shifted(of, ((2, "day"),), ahead=True), "weekend"))),
    Rule("the|last week before the? <day>", "week", _week_after(-1)),
    Rule("the week after the? <day>", "week", _week_after(1)),
]  # fmt: skip

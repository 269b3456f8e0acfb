"""English days and moments: last Wednesday, three days ago, the 3rd, yesterday evening at 8."""

from __future__ import annotations

from typing import Any

from huimem.when.clocks import hour
from huimem.when.english.clocks import TO
from huimem.when.english.dates import LAST, NEXT
from huimem.when.english.words import LATE_NIGHT, NIGHT
from huimem.when.expressions import (
    About,
    Ago,
    Between,
    Calendar,
    DayOfMonth,
    Daypart,
    EveryMonth,
    Expression,
    Moment,
    Month,
    MonthDay,
    Nth,
    Shifted,
    TimeOfDay,
    Weekday,
    Which,
    Within,
)
from huimem.when.grammar import Rule
from huimem.when.making import (
    ago,
    ago_range,
    anytime,
    day_in,
    day_of_month,
    day_range,
    fitting,
    hence,
    itself,
    refined,
    sharing,
    today_at,
    which,
    with_year,
    word,
)

_ON = f"on|since|until|till|{LAST}|{NEXT}|past"


def _weekdays(first: int, *last: int | None) -> Expression:
    """Mon-Wed, Friday to Sun."""
    return Between(Weekday(first), Weekday(next(day for day in last if day is not None)))


def _weekdays_of(span: Expression, offset: int) -> Expression | None:
    """Mon-Wed of last week."""
    week = Calendar("week", offset)
    return Between(Within(week, span.first), Within(week, span.last)) if isinstance(span, Between) else None


WEEKDAYS = [
    Rule("<weekday name>", "weekday", Weekday),
    Rule("<shy weekday> &<ordinal>", "weekday", Weekday),
    Rule("<shy weekday> the &<ordinal>", "weekday", Weekday),
    Rule("<shy weekday> ,? &<date>", "weekday", Weekday),
    Rule("<shy weekday> &<shy daypart>", "weekday", Weekday),
    Rule("<shy weekday> ,|at? &<clock>", "weekday", Weekday),
    Rule(f"{_ON} > <shy weekday>", "weekday", Weekday),
    Rule("by|before|after|from|this > <weekday word>", "weekday", Weekday),
    Rule("<edge> > <shy weekday> &<edge>", "weekday", Weekday),
    Rule("<weekday name>|<shy weekday> through|and|or|, > <shy weekday> !<word>", "weekday", Weekday),
    Rule("from? <shy weekday> -|to|through <weekday name>|<shy weekday>", "weekdays span", _weekdays),
    Rule("from? <weekday name> -|to|through <shy weekday>", "weekdays span", _weekdays),
    Rule("between > <shy weekday> &and", "weekday", Weekday),
    Rule(", > <weekday word> &and &or", "weekday", Weekday),
]  # fmt: skip


def _weekdays_ago(count: float, day: int) -> Expression | None:
    return Which(Weekday(day), "last", int(count) - 1) if count in range(1, 500) else None


def _dated(*values: Expression | None) -> Expression | None:
    """Weekday and date: the date wins."""
    return values[-1] or values[-2]


def _this_date(*dates: Expression | None) -> Expression | None:
    """This 5 May is that of the year, which may lie ahead."""
    date = _dated(*dates)
    return which(0, date) if isinstance(date, MonthDay) else date


def _date(_: Expression, date: Expression) -> Expression:
    return date


def _fitting(weekday: Expression, number: int) -> Expression | None:
    return fitting(weekday.day, number) if isinstance(weekday, Weekday) else None


def _in_month(of: Expression) -> bool:
    """Whether days are counted in it: next month, March, March of last year."""
    month = of.pattern if isinstance(of, Within) else of
    return isinstance(month, Month) or (isinstance(month, Calendar) and month.unit == "month")


def _day_of(number: int, of: Expression) -> Expression | None:
    if isinstance(of, EveryMonth):
        return day_of_month(number)
    return day_in(number, of) if _in_month(of) else None


def _days_of(first: int, last: int, of: Expression) -> Expression | None:
    return day_range(first, last, of) if _in_month(of) else None


def _nth_weekday(number: int, weekday: Expression, of: Expression) -> Expression | None:
    return Nth(of, number, weekday) if isinstance(weekday, Weekday) and number else None


def _shifted(sign: int) -> Any:
    def make(count: float, unit: Any, of: Expression) -> Expression | None:
        return Shifted(of, ((count, unit),), ahead=sign > 0) if 0 < count <= 10_000 else None

    return make


def _of_that_week(count: float, unit: Any, weekday: Expression) -> Expression | None:
    """Two weeks ago on Tuesday: of that calendar week."""
    return Within(Ago(((count, unit),)), weekday) if unit == "week" else None


def _week_before(count: float, unit: Any, weekday: Expression) -> Expression | None:
    """A week ago Friday: seven days before the last Friday."""
    return Shifted(weekday, ((count, unit),)) if unit == "week" else None


def _weekday_beside(*, ahead: bool) -> Any:
    """The Friday before Christmas, the Monday after it: the one among the seven days beside it."""

    def make(weekday: Expression, *named: Expression | None) -> Expression | None:
        of = named[0] or named[1]
        if of is None or not isinstance(weekday, Weekday):
            return None
        near, far = Shifted(of, ((1, "day"),), ahead), Shifted(of, ((7, "day"),), ahead)
        return Nth(Between(near, far) if ahead else Between(far, near), 1, weekday)

    return make


def _in(count: float, unit: Any) -> Expression | None:
    """In so many days; of seconds, and of less than one, it is how long something takes."""
    return hence(count, unit) if unit != "second" and count >= 1 else None


def _exact(count: float, unit: Any) -> Expression:
    return Ago(((count, unit),), exact=True)


# How far away: so many units before or after now or some day.
AGOS = [
    Rule("<count> -? <unit> -? ago|back", "ago", ago),
    Rule("<count> <unit> and|,? <count> <unit> ago|back", "ago", ago),
    Rule("<count> <unit> ,? <count> <unit> ,? and? <count> <unit> ago|back", "ago", ago),
    Rule("a? half a|an? <unit> ago|back", "ago", lambda unit: ago(0.5, unit)),
    Rule("<count> <unit> and a half ago|back", "ago", lambda count, unit: ago(count + 0.5, unit)),
    Rule("<number> or|to|- <number> <unit> ago|back", "ago", ago_range),
    Rule("between <number> and <number> <unit> ago|back", "ago", ago_range),
    Rule("<dashed> <unit> ago|back", "ago", lambda ends, unit: ago_range(ends[0], ends[1], unit)),
    Rule("<count> <unit> ago today", "ago", _exact),
    Rule("<count> <unit> ago yesterday", "ago", (
        lambda count, unit: Shifted(Calendar("day", -1), ((count, unit),)))),
    Rule("<number> <dayparts> ago", "day part", lambda n, part: Moment(Calendar("day", -int(n)), part)),
    Rule("today <count> <unit> ago", "ago", _exact),
    Rule("in <count> <unit> 's? time?", "ago", _in),
    Rule("in half a|an <unit>", "ago", lambda unit: hence(0.5, unit)),
    Rule("<count> <unit> from now", "ago", hence),
    Rule("<count> <unit> from today", "ago", (
        lambda count, unit: Ago(((count, unit),), ahead=True, exact=True))),
    Rule("<count> <unit> ago on <weekday>", "day", _of_that_week),
    Rule("<count> <unit> ago <weekday>", "day", _week_before),
    Rule("<weekday> <count> <unit> ago", "day", (
        lambda weekday, count, unit: _of_that_week(count, unit, weekday))),
    Rule("<number> <weekdays> ago|back", "day", _weekdays_ago),
]  # fmt: skip
# Counted from another day.
SHIFTED = [
    Rule("<count> <unit> before <day>", "day", _shifted(-1)),
    Rule("<count> <unit> after|from <day>", "day", _shifted(1)),
    Rule("the <shy daypart> before <day>", "day part", (
        lambda part, day: Moment(Shifted(day, ((1, "day"),)), part))),
    Rule("the <shy daypart> after <day>", "day part", (
        lambda part, day: Moment(Shifted(day, ((1, "day"),), ahead=True), part))),
    Rule("the? day before <day>", "day", lambda of: Shifted(of, ((1, "day"),))),
    Rule("the? day after <day>", "day", lambda of: Shifted(of, ((1, "day"),), ahead=True)),
]  # fmt: skip
# What follows the number of a day, while the 3rd floor is none.
_DAY_ENDS = (
    "&<edge> &<small> &, &and &or &to &until &till &through &in &at &on &for &with &about &from &but &'s"
    " &between &after &before &around &<clock> &<clock range> &<shy daypart> &again &here &there &as &by"
)
DAYS = [
    Rule("the? day before yesterday", "day", lambda: Calendar("day", -2)),
    Rule("the? day after tomorrow", "day", lambda: Calendar("day", 2)),
    Rule("<relative day>", "day", lambda offset: Calendar("day", offset)),
    Rule("current date", "day", lambda: Calendar("day", 0)),
    Rule("<weekday> 's?", "day", itself),
    Rule("the? <which> <weekday>", "day", which),
    Rule("the? <which> <bare date>", "date", which),
    Rule("the|this? past <weekday>", "day", lambda weekday: Which(weekday, "past")),
    Rule("the? <weekday> before last", "day", lambda weekday: Which(weekday, "last", 1)),
    # A day inside a week or a month.
    Rule("<weekdays span>", "day", itself),
    Rule("<weekdays span> of|in? <which> week|wk", "day", _weekdays_of),
    Rule("<weekday> of|in|from|,? <week>", "day", lambda weekday, week: Within(week, weekday)),
    Rule("<weekday> of|in|from|,? <which> week|wk", "day", (
        lambda weekday, n: Within(Calendar("week", n), weekday))),
    Rule("<week> 's? -|,|on? <weekday>", "day", Within),
    Rule("the|last? <weekday> before the? <holiday>|<date>", "day", _weekday_beside(ahead=False)),
    Rule("the? <weekday> after the? <holiday>|<date>", "day", _weekday_beside(ahead=True)),
    Rule("<weekday> ,? the? <date>", "date", _date),
    Rule("<weekday> ,? the? <slashed date>", "date", _date),
    Rule("this <date>|<slashed date>", "date", _this_date),
    Rule("this <weekday> ,|-? <date>|<slashed date>", "date", _dated),
    Rule("<weekday> - <date>", "date", _date),
    Rule("<date>|<slashed date> ,? <weekday>", "date", lambda date, slashed, _: date or slashed),
    Rule("<weekday> ,? the? <ordinal> !of !<unit> !<weekday>", "date", _fitting),
    Rule("<weekday> the <number> !<unit> !<word>", "date", _fitting),
    Rule("the? <nth> day? of|in? the? <period>", "date", _day_of),
    Rule(f"from? the? <nth> {TO} the? <nth> of|in? <period>", "range", _days_of),
    Rule("between the? <nth> and the? <nth> of|in? <period>", "range", _days_of),
    Rule("from|between? <dashed> of|in? <period>", "range", lambda ends, of: _days_of(ends[0], ends[1], of)),
    Rule("the? <ordinal> <weekday> of|in? the? <period>", "day", _nth_weekday),
    Rule("the? last|final <weekday> of|in the? <period>", "day", lambda day, of: _nth_weekday(-1, day, of)),
    # A day by its number alone; what is in the third is no day.
    Rule(f"in the <figure ordinal> {_DAY_ENDS}", "word", word),
    Rule(f"the <figure ordinal> {_DAY_ENDS}", "day", day_of_month),
    Rule(f"on|by|since|until|till|before|after|from|to|around|and|- > <figure ordinal> {_DAY_ENDS}", "day", (
        day_of_month)),
    Rule(f"from? the? <figure ordinal> {TO} the? <figure ordinal> {_DAY_ENDS}", "range", (
        lambda first, last: Between(DayOfMonth(first), DayOfMonth(last)))),
    Rule("<edge> > <figure ordinal> &<edge>", "day", day_of_month),
    Rule(f"on|since|until|till|by|before|after|from|to|around|and|between|through the > <ordinal> "
         f"{_DAY_ENDS}", "day", day_of_month),
    Rule("on the? > <number> &<edge>", "day", day_of_month),
    Rule("on the? > <number> ,|at? &<clock>", "day", day_of_month),
    Rule("on the? > <number> &<clock range>", "day", day_of_month),
    *AGOS,
]  # fmt: skip


def _narrowed(which: str) -> Any:
    """Late Friday afternoon, early yesterday morning."""

    def make(day: Expression, part: Daypart) -> Expression | None:
        hours = _NARROW.get((which, part.start))
        return hours and Moment(day, hours)

    return make


def _this(which: str, part: Daypart) -> Expression | None:
    hours = _NARROW.get((which, part.start))
    return hours and today_at(hours)


_NARROW: dict[tuple[str, float], Daypart] = {
    ("early", 5): Daypart(5, 9), ("late", 5): Daypart(10, 12),
    ("early", 12): Daypart(12, 15), ("late", 12): Daypart(15, 18),
    ("early", 18): Daypart(17, 20), ("late", 18): Daypart(21, 24),
}  # fmt: skip


def _late(day: Expression, part: Daypart) -> Expression | None:
    return Moment(day, LATE_NIGHT) if part.night else _narrowed("late")(day, part)


def _beside_clock(*, ahead: bool) -> Any:
    """Two hours before 4 am."""

    def make(count: float, unit: Any, at: TimeOfDay) -> Expression | None:
        return Shifted(anytime(at), ((count, unit),), ahead) if unit in ("hour", "minute") else None

    return make


MOMENTS = [
    Rule("<count> <unit> before <midnight>", "moment", _beside_clock(ahead=False)),
    Rule("<count> <unit> after <midnight>", "moment", _beside_clock(ahead=True)),
    Rule("<day> ,? in|at|during|on? the? <shy daypart>", "day part", Moment),
    Rule("<shy daypart> ,? of|on? the? <day>", "day part", lambda part, day: Moment(day, part)),
    Rule("in the <shy daypart> on|of? <day>", "day part", lambda part, day: Moment(day, part)),
    Rule("<shy daypart> of this <shy daypart>", "day part", lambda part, _: today_at(part)),
    Rule("<shy daypart> of last night", "day part", (
        lambda part: Moment(Calendar("day", 0 if part.end <= 9 else -1), part))),
    Rule("early this <shy daypart>", "day part", lambda part: _this("early", part)),
    Rule("late this <shy daypart>", "day part", lambda part: _this("late", part)),
    Rule("early in|on? <day> <shy daypart>", "day part", _narrowed("early")),
    Rule("late in|on? <day> <shy daypart>", "day part", _late),
    Rule("last night", "day part", lambda: Moment(Calendar("day", -1), NIGHT)),
    Rule("late last night", "day part", lambda: Moment(Calendar("day", -1), LATE_NIGHT)),
    Rule("last evening", "day part", lambda: Moment(Calendar("day", -1), Daypart(18, 24))),
    Rule("the? night before last", "day part", lambda: Moment(Calendar("day", -2), NIGHT)),
    Rule("tonight", "day part", lambda: today_at(NIGHT)),
    Rule("later? this <shy daypart>", "day part", today_at),
    Rule("earlier this <shy daypart>", "day part", today_at),
    Rule("in|during|since|from|until|till|by|before|after|around|throughout the > <shy "
         "daypart>", "day part", anytime),
    Rule("at|by|before|after|until|till|since|around > <shy daypart> !<word>", "day part", anytime),
    Rule("<edge> > <shy daypart> &<edge>", "day part", anytime),
    Rule("<daypart>", "day part", anytime),
    Rule("<midnight> of|on? <day>", "moment", lambda at, day: Moment(day, at)),
    Rule("<day> ,? at? <midnight>", "moment", Moment),
    Rule("at|around|until|till|by|before|after|since > <midnight>", "clock time", anytime),
    Rule("<edge> > <midnight> &<edge>", "clock time", anytime),
]  # fmt: skip
_AT = "at|@|around|about|,|from|between|by|-"
_ANY_CLOCK = "<clock>|<clock range>"


def _at(day: Expression, *times: Any) -> Expression | None:
    time = next((time for time in times if time), None)
    return time and Moment(day, time)


def _hour_of(day: Expression, number: float) -> Expression | None:
    return _at(day, hour(int(number))) if number == int(number) else None


def _refined(base: Expression, *times: Any) -> Expression | None:
    time = next((time for time in times if time), None)
    return time and refined(base, time)


def _part_at(base: Expression, number: float) -> Expression | None:
    return _refined(base, hour(int(number)))


def _with_clock_and_year(date: Expression, at: TimeOfDay, year: Expression) -> Expression | None:
    day = with_year(date, year)
    return day and Moment(day, at)


def _any_hour(number: float) -> Expression | None:
    at = hour(int(number)) if number in range(1, 13) else None
    return at and anytime(at)


def _near(make: Any) -> Any:
    """The same, said to be about then."""
    return lambda *parts: (of := make(*parts)) and About(of)


def _as_next(first: Expression, second: Any) -> Expression | None:
    """January and February 2024, Monday and Tuesday of last week: what the second says serves the first."""
    pattern = second.pattern if isinstance(second, Within) else None
    if isinstance(first, Weekday) and isinstance(pattern, Weekday) and first.day < pattern.day:
        return Within(second.outer, first)
    shared = sharing(first, second)
    return None if shared is first else shared


AS_NEXT = Rule("<time> < ,|and|or and|or? <time>=", "time", _as_next)
TIMES = [
    AS_NEXT,
    Rule("<count> <unit> before <clock>", "moment", _beside_clock(ahead=False)),
    Rule("<count> <unit> after <clock>", "moment", _beside_clock(ahead=True)),
    Rule(f"<day> ,? at? around|about|approximately {_ANY_CLOCK}|<hours>", "moment", _near(_at)),
    Rule(f"<day part> ,? at? around|about|approximately {_ANY_CLOCK}|<hours>", "moment", _near(_refined)),
    Rule(f"<day> , at|from|between {_ANY_CLOCK}|<hours>", "moment", _at),
    Rule(f"<set> {_AT}? {_ANY_CLOCK}|<hours>|<day part>", "word", word),
    Rule(f"<day> {_AT}? <hours> in the <day part>", "moment", (
        lambda day, hours, part: refined(Moment(day, part.time), hours))),
    Rule(f"<day> {_AT}? {_ANY_CLOCK}|<hours>", "moment", _at),
    Rule("<day> ,? <spoken clock>", "moment", _at),
    Rule("<day> around|about <number> !<unit> !<word> !people", "moment", _near(_hour_of)),
    Rule("<day> at <number> !<unit>", "moment", _hour_of),
    Rule("<day> at <dotted hour>", "moment", _at),
    Rule(f"<slashed date> {_AT}? {_ANY_CLOCK}", "moment", _at),
    Rule(f"{_ANY_CLOCK}|<hours> ,|in|on|of|-? the? <day> !<clock>", "moment", (
        lambda a, b, c, day: _at(day, a, b, c))),
    Rule("<spoken clock> ,|on? <day>", "moment", lambda at, day: _at(day, at)),
    Rule("at about|around? <number> ,|on? <day>", "moment", lambda number, day: _hour_of(day, number)),
    Rule(f"<day part> {_AT}? {_ANY_CLOCK}|<hours>", "moment", _refined),
    Rule("<day part> ,? <spoken clock>", "moment", _refined),
    Rule("<day part> at <number> !<unit>", "moment", _part_at),
    Rule("<day part> around|about <number> !<unit>", "moment", _near(_part_at)),
    Rule(f"{_ANY_CLOCK}|<hours>|<spoken clock> ,|in|on|of? the? <day part>", "moment", (
        lambda a, b, c, d, base: _refined(base, a, b, c, d))),
    Rule("at <number> ,|in|on? <day part>", "moment", lambda number, base: _refined(base, hour(int(number)))),
    Rule("<date> ,? <clock> ,? <year4>", "moment", _with_clock_and_year),
    Rule("<clock>", "clock time", anytime),
    Rule("<clock range>", "moment", anytime),
    Rule("at|@ > <spoken clock>", "clock time", anytime),
    Rule("at > <number> !<word> !<unit> !of !, !- !<day> !people !times", "clock time", _any_hour),
]  # fmt: skip

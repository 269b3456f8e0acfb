"""English stretches from one time to another, open ends, and what is only about a time."""

from __future__ import annotations

from typing import Any

from huimem.when.clocks import hour
from huimem.when.english.clocks import TO
from huimem.when.english.days import AS_NEXT
from huimem.when.expressions import About, Bounded, Clock, Daypart, Expression, Moment, Open, SoFar
from huimem.when.grammar import Rule
from huimem.when.making import between, itself, open_, refined

_NOW = "now|date|present"


def _open(side: Any) -> Any:
    return lambda of: open_(side, of)


def _inside(day: Expression, side: Any, at: Any) -> Expression | None:
    """An open end on a clock time of a day stays in that day."""
    moment = refined(day, at.time) if isinstance(day, Moment) else Moment(day, at.time)
    return moment and open_(side, moment)


def _at_hour(day: Expression, side: Any, number: float) -> Expression | None:
    at = hour(int(number)) if number in range(1, 25) else None
    return at and _inside(day, side, Moment(None, at))


def _near(moment: Expression) -> Expression | None:
    """Near a clock time or noon; a whole morning or night is what one talks about."""
    if not isinstance(moment, Moment):
        return None
    long = isinstance(moment.time, Daypart) and moment.time.end - moment.time.start > 3
    return None if long else About(moment)


def _bounded(after: Expression, before: Expression) -> Expression:
    return Bounded(Open("after", after), Open("before", before))


def _until(first: Expression, last: Expression) -> Expression | None:
    """Last year until March; while "Monday until 3 pm" stays inside the day."""
    clock = isinstance(last, Moment) and last.day is None and isinstance(last.time, Clock)
    return None if clock and not isinstance(first, Moment) else between(first, last)


RANGES = [
    AS_NEXT,
    Rule(f"from the? <time> {TO} the? <time>", "range", between),
    Rule("the? <time> to|-|through|thru the? <time>", "range", between),
    Rule("the? <time> until|till the? <time>", "range", _until),
    Rule("between the? <time> and|-|to|through the? <time>", "range", between),
    Rule(f"from? <year4> {TO} <period>|<day>", "range", (
        lambda year, period, day: between(year, period or day))),
    Rule("between <year4> and|- <period>|<day>", "range", (
        lambda year, period, day: between(year, period or day))),
]  # fmt: skip
EDGES = [
    Rule("from the? <time> on|onward|onwards|forward|forwards &<edge> &,", "edge", _open("since")),
    Rule("from the? <time> onward|onwards|forward|forwards", "edge", _open("since")),
    Rule("the? <time> onward|onwards", "edge", _open("since")),
    Rule("ever since the? <time>", "edge", _open("since")),
    Rule("starting|beginning from|on|in|with? the? <time>", "edge", _open("since")),
    Rule("on or after the? <time>", "edge", _open("since")),
    Rule("no|not earlier than the? <time>", "edge", _open("since")),
    Rule("the? <time> and|or after|later", "edge", _open("since")),
    Rule("<side> the? <time>", "edge", open_),
    Rule("<side> around|about|approximately the? <time>", "edge", lambda side, of: open_(side, About(of))),
    Rule("later than the? <time>", "edge", _open("after")),
    Rule("prior|previous to the? <time>", "edge", _open("before")),
    Rule("earlier than the? <time>", "edge", _open("before")),
    Rule("on or before the? <time>", "edge", _open("until")),
    Rule("as of the? <time>", "edge", _open("until")),
    Rule("no|not later than the? <time>", "edge", _open("until")),
    Rule("the? <time> and|or before|earlier", "edge", _open("until")),
    Rule("up until|to|till|through the? <time>", "edge", _open("until")),
    Rule("through <day>", "edge", _open("until")),
    Rule("after the? <time> and|but|, before the? <time>", "edge", _bounded),
    Rule(f"from|since the? <time> to|until|till|through {_NOW}", "edge", SoFar),
    Rule(f"between the? <time> and {_NOW}", "edge", SoFar),
    Rule("from the? <time>", "time", itself),
    Rule("around|approximately|circa|roughly|approx the? <time>", "time", About),
    Rule("about <ago>|<clock time>", "time", lambda ago, at: About(ago or at)),
    Rule("about <moment>", "time", _near),
    Rule("<time> or so", "time", About),
    Rule("up to and including <time>", "edge", _open("until")),
    Rule("through the? <period end>", "edge", _open("until")),
    Rule("<day>|<day part> ,? <side> <clock time>", "edge", (
        lambda day, part, side, at: _inside(part or day, side, at))),
    Rule("<day>|<day part> <side> <number> !<unit> !<word> !people", "edge", (
        lambda day, part, side, number: _at_hour(part or day, side, number))),
    Rule("<side> <number> on? <day>", "edge", lambda side, number, day: _at_hour(day, side, number)),
]  # fmt: skip

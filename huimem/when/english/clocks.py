"""English times of day: half past three, 5 to 6 pm, early in the morning."""

from __future__ import annotations

from typing import Any

from huimem.when.clocks import clock_range, figures, hour
from huimem.when.english.words import LATE_NIGHT
from huimem.when.expressions import Clock, ClockRange, ClockSpan, Daypart
from huimem.when.grammar import Rule
from huimem.when.making import itself, meridian, told
from huimem.when.periods import SECONDS_LONG

TO = "to|-|through|thru|until|till"
_AT = "at|@|by|around|about|until|till|since|before|after|from|was|is|like|,"
_MINUTES = "minutes|minute|mins|min"
_MINUTES_TO = (5, 10, 15, 20, 25)


def _past(minutes: int, at: Clock | None) -> Clock | None:
    """Minutes past (or, negative, to) a whole hour."""
    if at is None or at.minute or not 0 < abs(minutes) < 60:
        return None
    total = at.hour * 60 + minutes
    return at.but(hour=total // 60 % 24, minute=total % 60)


def _hour(number: float) -> Clock | None:
    """An hour of twelve that may be either half of the day."""
    return hour(int(number)) if number in range(1, 13) else None


def _spoken(hours: int, minutes: int) -> Clock | None:
    return hour(hours, minutes) if minutes >= 10 and hours <= 12 else None


def _of_half(hours: int, which: str) -> Clock | None:
    return _half_of_day(hours, None, which)


def _half_of_day(hours: int, minutes: Any, which: str) -> Clock | None:
    at = figures(hours, minutes) if hours in range(1, 13) else None
    return at and meridian(at, which)


def _dashed(ends: tuple[int, int], which: str) -> ClockRange | None:
    first, last = figures(ends[0]), _of_half(ends[1], which)
    return clock_range(first, last) if first and last else None


def _from_hour(first: float, last: Clock) -> ClockRange | None:
    start = figures(int(first)) if first in range(1, 25) else None
    return clock_range(start, last) if start else None


def _figures_to(first: str, last: Clock) -> ClockRange | None:
    """2 to 4 pm, while twenty to four is a time."""
    return _from_hour(int(first), last) if int(first) <= 12 else None


def _hours(first: float, last: float) -> ClockRange | None:
    """Between 2 and 4, of a day that stands beside it: by day where that may be."""
    start, end = _hour(first), _hour(last)
    if start is None or end is None:
        return None
    if first < last and end.hour < start.hour:
        start = start.but(hour=start.hour - 12)
    return clock_range(start, figures(int(last)) or end)


def _lasting(at: Clock, count: float, unit: str) -> ClockSpan | None:
    return ClockSpan(at, int(count * SECONDS_LONG[unit])) if unit in SECONDS_LONG and count else None


def _moved(minutes: float, sign: int, at: Clock) -> Clock | None:
    """Twenty to five pm, while 2 to 4 pm is a range."""
    return _past(sign * int(minutes), at) if sign > 0 or minutes > 12 else None


def _moved_hour(minutes: float, sign: int, hours: float) -> Clock | None:
    return _past(sign * int(minutes), _hour(hours)) if sign > 0 or minutes in _MINUTES_TO else None


def _in_words(*parts: Any) -> Clock | None:
    """Ten to five: a small number in words, a side, an hour in words."""
    *minutes, sign, hours, late = parts
    return _moved_hour(next(filter(None, minutes)), sign, hours or late)


def _dotted(first: Clock, last: Clock, which: str) -> ClockRange | None:
    end = meridian(last, which)
    return clock_range(first, end) if end else None


def _part(start: float, end: float) -> Any:
    return lambda *_: Daypart(start, end)


# Beside am or pm a decimal is a time; read before it is a number.
DOTTED = [
    Rule("<dotted clock> <meridian>", "clock", meridian),
    Rule("at > <dotted clock> !<meridian>", "dotted hour", itself),
    Rule("from|between? <dotted clock> -|and|to <dotted clock> <meridian>", "clock range", _dotted),
]  # fmt: skip
CLOCKS = [
    Rule("<clock> :? <meridian>", "clock", meridian),
    Rule("<compact clock> <meridian>", "clock", meridian),
    Rule("<number> .? <meridian>", "clock", _of_half),
    Rule("<number> -? <number> <meridian>", "clock", _half_of_day),
    Rule("<number> oh|o <one> <meridian>", "clock", _half_of_day),
    Rule("at|@|by|until|since > <short clock>", "clock", itself),
    Rule("<relative day>|<weekday name> ,? > <short clock>", "clock", itself),
    Rule("<short clock> &for", "clock", itself),
    Rule("<number> o'clock", "clock", _hour),
    Rule("<number> o'clock <meridian>", "clock", _of_half),
    Rule("<number> noon", "clock", lambda hours: Clock(12) if hours == 12 else None),
    Rule("<one>|<teen> -? <number>", "spoken clock", lambda one, teen, m: _spoken(one or teen, m)),
    Rule("<one> oh|o <one>", "spoken clock", lambda hours, minutes: hour(hours, minutes)),
    Rule("at|around|about|by|until|since > <one>|<teen> -? <number>", "clock", (
        lambda one, teen, m: _spoken(one or teen, m))),
    Rule("midnight", "midnight", lambda: Clock(0, shift=1)),
    Rule("<number> midnight", "midnight", lambda hours: Clock(0, shift=1) if hours == 12 else None),
    # Dayparts of several words.
    Rule("early in the? morning", "daypart", _part(5, 9)),
    Rule("early morning", "shy daypart", _part(5, 9)),
    Rule("late morning", "shy daypart", _part(10, 12)),
    Rule("early afternoon", "shy daypart", _part(12, 15)),
    Rule("late afternoon", "shy daypart", _part(15, 18)),
    Rule("early evening", "shy daypart", _part(17, 20)),
    Rule("late evening", "shy daypart", _part(21, 24)),
    Rule("late night", "shy daypart", lambda: LATE_NIGHT),
    Rule("late at night", "daypart", lambda: LATE_NIGHT),
    Rule("the? middle of the night", "daypart", lambda: LATE_NIGHT),
    Rule("the small|early|wee hours", "daypart", _part(0, 6)),
    Rule("small|early|wee hours", "shy daypart", _part(0, 6)),
    Rule("before lunch", "daypart", _part(5, 12)),
    Rule("after lunch", "daypart", _part(13, 18)),
    Rule("lunch time", "shy daypart", _part(11, 14)),
]  # fmt: skip
_NO_HOUR = "!<unit> !<meridian> !<month word> !of !people"
# Minutes before and after an hour stand on hours that are whole already.
CLOCK_MINUTES = [
    Rule("half past <clock>", "clock", lambda at: _past(30, at)),
    Rule("half past <number>", "clock", lambda hours: _past(30, _hour(hours))),
    Rule("half past noon|midday", "clock", lambda: Clock(12, 30)),
    Rule("a? quarter <minutes from> <clock>", "clock", lambda sign, at: _past(sign * 15, at)),
    Rule("a? quarter <minutes from> <number>", "clock", lambda sign, hours: _past(sign * 15, _hour(hours))),
    Rule("a? quarter <minutes from> noon|midday", "clock", lambda sign: _past(sign * 15, Clock(12))),
    Rule("<number> <minutes from> <clock>", "clock", _moved),
    Rule("<one>|<teen> <minutes from> <clock>", "clock", (
        lambda one, teen, sign, at: _past(sign * (one or teen), at))),
    Rule(f"<number> {_MINUTES} <minutes from> <clock>", "clock", lambda m, sign, at: _past(sign * m, at)),
    Rule(f"<number> {_MINUTES} <minutes from> <number>", "clock", _moved_hour),
    Rule(f"<number> ({_MINUTES})? <minutes from> noon|midday", "clock", (
        lambda m, sign: _past(sign * m, Clock(12)))),
    Rule("at > <number> <minutes from> <number>", "clock", _moved_hour),
    Rule("<one>|<teen>|<tens> <minutes from> <one>|<teen>", "spoken clock", _in_words),
    Rule(f"from <number> {TO} <number> {_NO_HOUR}", "hours", _hours),
    Rule(f"between <number> and|- <number> {_NO_HOUR}", "hours", _hours),
    Rule(f"between|from <dashed> {_NO_HOUR}", "hours", lambda ends: _hours(*ends)),
    Rule(f"from <number> {TO} <clock>", "clock range", _from_hour),
    Rule("between <number> and|- <clock>", "clock range", _from_hour),
    Rule(f"from? <clock> {TO} noon|midday", "clock range", lambda at: clock_range(at, Clock(12))),
    Rule(f"from <number> {TO} noon|midday", "clock range", lambda hours: _from_hour(hours, Clock(12))),
    Rule("between <number> and noon|midday", "clock range", lambda hours: _from_hour(hours, Clock(12))),
    Rule("between <clock> and noon|midday", "clock range", lambda at: clock_range(at, Clock(12))),
    Rule(f"from? noon|midday {TO} <clock>", "clock range", lambda at: clock_range(Clock(12), at)),
    Rule("between noon|midday and <clock>", "clock range", lambda at: clock_range(Clock(12), at)),
    Rule(f"from? <clock> {TO} <midnight>", "clock range", clock_range),
    Rule("<digits> to|-|until|till <clock>", "clock range", _figures_to),
]  # fmt: skip
CLOCK_RANGES = [
    Rule(f"from? <clock> {TO} <clock>", "clock range", clock_range),
    Rule("between <clock> and|- <clock>", "clock range", clock_range),
    Rule("<clock>|<short clock> to|- <short clock>", "clock range", (
        lambda first, short, last: clock_range(first or short, last))),
    Rule("from|between <dashed> <meridian>", "clock range", _dashed),
    Rule("<dashed> <meridian>", "clock range", _dashed),
    Rule("from? <clock> for <count> <unit>", "clock range", _lasting),
    # A daypart tells which half of the day is meant.
    Rule("<clock> ,? in|at? the? <shy daypart>", "clock", told),
    Rule("<spoken clock> in|at the? <shy daypart>", "clock", told),
    Rule(f"<edge>|<relative day>|<weekday name>|{_AT} > <number> in|at the? <shy daypart>", "clock", (
        lambda hours, part: _told(hours, part))),
]  # fmt: skip


def _told(hours: float, part: Daypart) -> Any:
    at = _hour(hours)
    return at and told(at, part)

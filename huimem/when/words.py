"""A reading in a line of words: how an expression was understood, or the dates it names."""

from __future__ import annotations

from datetime import datetime, timedelta

from huimem.when.expressions import (
    About,
    Ago,
    Calendar,
    Expression,
    Moment,
    Rolling,
    SoFar,
    Weekday,
    Weekend,
    Which,
    Whole,
    Within,
)
from huimem.when.periods import SECONDS_LONG
from huimem.when.placing import Span

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_UNITS = {"isoweek": "week"}


def said(expression: Expression | None, span: Span) -> str:
    """One line: the rule that was followed, where another would do as well, else the dates."""
    match expression:
        case About(of=of):  # that it is about then is told apart from the reading
            return said(of, span)
        case SoFar() if span.start:
            return f"{dates(span._replace(end=None)).removesuffix(' on')} until now"
        case Ago(amounts=(_,), exact=False, most=0) if span.grain not in ("day", *SECONDS_LONG):
            return f"the whole {span.grain} around it"
    return (_rule(expression) if expression else "") or dates(span)


def _rule(expression: Expression) -> str:
    match expression:
        case Moment(day=None):
            return "the latest one that has begun"
        case Moment(day=Expression() as day):
            return _rule(day)
        case Weekday() | Weekend() | Which() | Within():
            return _weekday(expression)
        case Calendar(unit=unit, offset=offset) if unit not in ("second", "minute", "hour", "day"):
            return _calendar(_UNITS.get(unit, unit), offset)
    return _counted(expression)


def _weekday(expression: Expression) -> str:
    match expression:
        case Weekday(day=day):
            return f"the latest {WEEKDAYS[day]} before today"
        case Which(pattern=Weekday(day=day), which="last", back=0):
            return f"the latest {WEEKDAYS[day]} before today"
        case Which(pattern=Weekday(day=day), which="this" | "next" as which):
            return f"{WEEKDAYS[day]} of {which} week"
        case Within(outer=Calendar(unit="week" | "isoweek", offset=offset), pattern=Weekday(day=day)):
            return f"{WEEKDAYS[day]}{' of' * (abs(offset) < 2)} {_calendar('week', offset)}"
        case Weekend():
            return "the latest weekend that has begun"
    return ""


def _counted(expression: Expression) -> str:
    match expression:
        case Rolling(unit="quarter", count=count, ahead=False):
            return _whole("quarter", int(count))
        case Rolling(unit=unit, count=count, ahead=False):
            now = "now" if unit in SECONDS_LONG else "and with today"
            return f"{_amount(count, _UNITS.get(unit, unit))} up to {now}"
        case Whole(unit=unit, count=count, ahead=False):
            return _whole(_UNITS.get(unit, unit), count)
    return ""


def _whole(unit: str, count: int) -> str:
    return f"the {count} whole {unit}s before this one" if count != 1 else f"the {unit} before this one"


def _amount(count: float, unit: str) -> str:
    return f"half a {unit}" if count == 0.5 else f"{count:g} {unit}{'s' * (count != 1)}"


def _calendar(unit: str, offset: int) -> str:
    if offset == 0:
        return f"this {unit}"
    near = {-1: f"the {unit} before this one", 1: f"the {unit} after this one"}
    return near.get(offset) or f"{abs(offset)} {unit}s {'before' if offset < 0 else 'after'} this one"


def dates(span: Span) -> str:
    """The span by its dates, the last day inside; clock times to the minute or second."""
    start, end = span.start, span.end
    if start is None or end is None:
        return f"from {_at(start)} on" if start else f"before {_at(end)}" if end else "any time"
    if span.grain == "second":
        return f"{_day(start)} {start:%H:%M:%S}"
    if start.time() == end.time() == datetime.min.time():
        last = end - timedelta(days=1)
        return _day(start) if last <= start else f"{_day(start)} to {_day(last)}"
    if span.grain == "minute" and end - start == timedelta(minutes=1):
        return f"{_day(start)} {start:%H:%M}"
    if end.time() == datetime.min.time() and end - timedelta(days=1) <= start:
        return f"{_day(start)} {start:%H:%M} to 24:00"
    same = start.date() == end.date()
    return f"{_day(start)} {start:%H:%M} to {'' if same else f'{_day(end)} '}{end:%H:%M}"


def _at(at: datetime | None) -> str:
    if at is None:
        return "…"
    return _day(at) if at.time() == datetime.min.time() else f"{_day(at)} {at:%H:%M}"


def _day(at: datetime) -> str:
    return f"{WEEKDAYS[at.weekday()][:3]} {at.day} {_MONTHS[at.month - 1]} {at.year:04d}"

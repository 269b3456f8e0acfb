"""Dates in figures → ranges: 2026-04-08, 2026/4/8, 2026-04, 2026-W15, 2026-04-08T10:15, A..B, A to B.

An impossible date is no date: it yields nothing, never a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta, tzinfo

from huimem.records import Reading, TimeRange
from huimem.when import calendar

_POINT = re.compile(
    r"(?P<year>\d{4})"
    r"(?:-?W(?P<week>\d{2})(?:-(?P<weekday>[1-7]))?"
    r"|(?P<sep>[-/])(?P<month>\d{1,2})(?:(?P=sep)(?P<day>\d{1,2})"
    r"(?:[T ](?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.\d+)?)?"
    r"(?P<offset>Z|[+-]\d{2}:?\d{2})?)?)?)"
)
_YEAR = re.compile(r"(?P<year>\d{4})$")
_SHORT_END = re.compile(r"(?:(?P<month>\d{1,2})[-/])?(?P<day>\d{1,2})")
_BETWEEN = re.compile(r"\s*(?:\.\.+|–|—|/|~|\bto\b|\buntil\b|至|到)\s*|\s+-\s+")
# A date stands alone: nothing of a word, path, id, phone or version touches it.
_TOUCHED_BEFORE = re.compile(r"[A-Za-z0-9_./:#@\\-]$")
_TOUCHES_AFTER = re.compile(r"[A-Za-z0-9_:#@\\]|[-./]\w")


def _point(found: re.Match[str], zone: tzinfo) -> tuple[TimeRange, str] | None:
    """The range of one date in figures with its grain; None for an impossible one."""
    part = {name: int(v) for name, v in found.groupdict().items() if v and v.isdigit()}
    try:
        if "week" in part and "weekday" in part:
            day = date.fromisocalendar(part["year"], part["week"], part["weekday"])
            return calendar.days(day, day, zone), "day"
        if "week" in part:
            return calendar.week(part["year"], part["week"], zone), "week"
        if "hour" in part:
            return _clock(part, found["offset"], zone)
        if "day" in part:
            day = date(part["year"], part["month"], part["day"])
            return calendar.days(day, day, zone), "day"
        return calendar.month(part["year"], part["month"], zone), "month"
    except (ValueError, OverflowError):
        return None


def _clock(part: dict[str, int], offset: str | None, zone: tzinfo) -> tuple[TimeRange, str]:
    grain = "second" if "second" in part else "minute"
    second = part.get("second", 0)
    at = datetime(part["year"], part["month"], part["day"], part["hour"], part["minute"], second, tzinfo=zone)
    if offset:
        aware = datetime.fromisoformat(at.replace(tzinfo=None).isoformat() + offset.replace("Z", "+00:00"))
        at = aware.astimezone(zone)
    return calendar.clock(calendar.real(at), grain), grain


def _reading(span: TimeRange, grain: str, place: tuple[int, int], now: datetime) -> Reading:
    future = span.start is not None and span.start > now
    return Reading(span, grain, place, False, future, _said(span, grain))


def _said(span: TimeRange, grain: str) -> str:
    """The range in a line: days by their dates, last day inside; clock times to the minute."""
    start, end = span.local()
    if start is None or end is None:
        return f"from {_day(start)} on" if start else f"before {_day(end)}" if end else "any time"
    if grain in ("minute", "second"):
        return f"{_day(start)} {start:%H:%M:%S}" if grain == "second" else f"{_day(start)} {start:%H:%M}"
    last = end - timedelta(microseconds=1)
    return _day(start) if last.date() == start.date() else f"{_day(start)} to {_day(last)}"


def _day(at: datetime) -> str:
    return f"{at:%a} {at.day} {at:%b %Y}"


def _ended(text: str, at: int, first: re.Match[str], zone: tzinfo) -> tuple[TimeRange, str, int] | None:
    """The second date of a range that opens with `first`, in full or as 04 of 2026-09-01/04."""
    bridge = _BETWEEN.match(text, at)
    if not bridge:
        return None
    whole = _POINT.match(text, bridge.end())
    if whole and not _TOUCHES_AFTER.match(text, whole.end()):
        point = _point(whole, zone)
        return (*point, whole.end()) if point else None
    short = _SHORT_END.match(text, bridge.end())
    if not short or not first["day"] or first["hour"] or _TOUCHES_AFTER.match(text, short.end()):
        return None
    try:
        day = date(int(first["year"]), int(short["month"] or first["month"]), int(short["day"]))
    except ValueError:
        return None
    return calendar.days(day, day, zone), "day", short.end()


def find(text: str, now: datetime, zone: tzinfo) -> Iterator[Reading]:
    """Every date or range in figures inside `text`, in order; both ends of a range are inside it."""
    at = 0
    while found := _POINT.search(text, at):
        at = found.end()
        if _TOUCHED_BEFORE.search(text[max(0, found.start() - 1) : found.start()]):
            continue
        point = _point(found, zone)
        if point is None:
            continue
        span, grain = point
        ended = _ended(text, found.end(), found, zone)
        if ended and span.start and ended[0].end:
            at = ended[2]
            if span.start < ended[0].end:  # a range that runs backwards says nothing
                yield _reading(TimeRange(span.start, ended[0].end, zone), ended[1], (found.start(), at), now)
        elif not _TOUCHES_AFTER.match(text, found.end()):
            yield _reading(span, grain, found.span(), now)


def whole(text: str, now: datetime, zone: tzinfo) -> Reading | None:
    """The reading of a phrase that is nothing but a date in figures: also 2026, A.. and ..B."""
    phrase, place = text.strip(), (0, len(text))
    if bare := _YEAR.match(phrase):
        return (
            _reading(calendar.year(int(bare["year"]), zone), "year", place, now)
            if bare["year"] > "0000"
            else None
        )
    opened = re.fullmatch(r"(?P<before>\.\.+\s*)?(?P<point>[^.].*?)(?P<after>\s*\.\.+)?", phrase)
    if opened and bool(opened["before"]) != bool(opened["after"]):
        inner = whole(opened["point"], now, zone)
        if inner is None:
            return None
        span = (
            TimeRange(None, inner.range.end, zone)
            if opened["before"]
            else TimeRange(inner.range.start, None, zone)
        )
        return _reading(span, inner.grain, place, now)
    readings = list(find(phrase, now, zone))
    return readings[0] if len(readings) == 1 and readings[0].span == (0, len(phrase)) else None

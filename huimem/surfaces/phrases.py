"""A range of time → a phrase that is read as that range again, for a command line or a call to come."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo

from huimem.ranges import TimeRange


def phrase_of(span: TimeRange, zone: tzinfo) -> str:
    """`2026-04-08`, `2026-04-06..2026-04-12`, with clocks where it does not begin and end with a day."""
    first = written(span.start.astimezone(zone)) if span.start else ""
    last = written(_last(span.end.astimezone(zone))) if span.end else ""
    return first if first == last else f"{first}..{last}"


def until(end: datetime, zone: tzinfo) -> str:
    """A phrase whose range ends there: the day before a midnight, or the minute before."""
    local = end.astimezone(zone)
    return written(_last(local)) if _is_midnight(local) else written(local - timedelta(minutes=1))


def written(at: datetime) -> str:
    """A wall clock as the resolver reads it: a whole day, or a minute."""
    return f"{at:%Y-%m-%d}" if _is_midnight(at) else f"{at:%Y-%m-%dT%H:%M}"


def _last(end: datetime) -> datetime:
    """A day that ends with the range for the whole of it, else its end itself."""
    return end - timedelta(days=1) if _is_midnight(end) else end


def _is_midnight(at: datetime) -> bool:
    return (at.hour, at.minute) == (0, 0)

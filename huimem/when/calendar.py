"""Calendar objects as half-open ranges of local time: days, ISO weeks, months, years, clock times."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo

from huimem.records import TimeRange


def midnight(day: date, zone: tzinfo) -> datetime:
    """The first instant of a local day; where midnight does not exist, the clock moves forward."""
    return real(datetime.combine(day, time(), zone))


def real(local: datetime) -> datetime:
    """A local time that a clock shows: one inside a gap moves forward by the gap."""
    return local.astimezone(UTC).astimezone(local.tzinfo)


def days(first: date, last: date, zone: tzinfo) -> TimeRange:
    """Whole local days from `first` to `last`, both inside."""
    return TimeRange(midnight(first, zone), midnight(last + timedelta(days=1), zone), zone)


def week(year: int, number: int, zone: tzinfo) -> TimeRange:
    """An ISO week. Raises ValueError where the year has no such week."""
    monday = date.fromisocalendar(year, number, 1)
    return days(monday, monday + timedelta(days=6), zone)


def month(year: int, number: int, zone: tzinfo) -> TimeRange:
    first = date(year, number, 1)
    after = date(year + number // 12, number % 12 + 1, 1)
    return days(first, after - timedelta(days=1), zone)


def year(number: int, zone: tzinfo) -> TimeRange:
    return days(date(number, 1, 1), date(number, 12, 31), zone)


def clock(at: datetime, grain: str) -> TimeRange:
    """The minute or second that begins at `at` (aware)."""
    step = timedelta(seconds=1) if grain == "second" else timedelta(minutes=1)
    instant = at.astimezone(UTC)
    return TimeRange(instant, instant + step, at.tzinfo or UTC)

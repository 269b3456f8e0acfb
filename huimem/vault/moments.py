"""Written times ↔ instants.

In: wall clocks as people and files write them, with the zone they are meant in. Out: aware datetimes
that compare correctly as instants, and the text they are written as.

A wall clock that the zone shows twice (or never) carries its offset instead of the zone: Python
compares two datetimes of one zone by wall clock alone, which there would be an hour off.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

_MOMENT = re.compile(
    r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})"
    r"(?:[Tt \t]+([0-9]{1,2})[:：]([0-9]{2})(?:[:：]([0-9]{2})(?:[.,]([0-9]{1,6})[0-9]*)?)?"
    r"(?:[ \t]*([Zz]|[+-][0-9]{2}:?[0-9]{2}))?)?\Z"
)
# A date of its own, or one that six digits of a time follow at once.
_NAME_DATE = re.compile(
    r"(?<![0-9])((?:19|20)[0-9]{2})([-_.]?)([0-9]{2})\2([0-9]{2})(?:(?![0-9])|(?=[0-9]{6}(?![0-9])))"
)
_OFFSET_ZONE = re.compile(r"(?:UTC|GMT)?([+-][0-9]{2}:?[0-9]{2})\Z", re.IGNORECASE)

# What any zone shows of these lies in years that are read back, a tie's fraction on top included.
_EARLIEST, _LATEST = datetime(3, 1, 1, tzinfo=UTC), datetime(9998, 1, 1, tzinfo=UTC)


def keepable(at: datetime) -> bool:
    """Whether a file can keep an instant so that it is read back, whatever the zone of the file."""
    return _EARLIEST <= (at if at.tzinfo else at.replace(tzinfo=UTC)) < _LATEST


def wall_clock(
    date: tuple[int, int, int], clock: tuple[int, int, int], fraction: str = ""
) -> datetime | None:
    """The naive datetime of year, month, day and hour, minute, second; None where there is no such time.

    Years 1 and 9999 count as impossible: an offset could carry them out of the calendar.
    """
    if not 1 < date[0] < 9999:
        return None
    try:
        return datetime(*date, *clock, int(fraction.ljust(6, "0")) if fraction else 0)
    except ValueError:
        return None


def read_offset(text: str) -> timedelta | None:
    """`+08:00`, `-0330` or `Z` as a duration; None where it is a day or more."""
    if text in "Zz":
        return timedelta()
    hours, minutes = int(text[1:3]), int(text[-2:])
    if hours > 23 or minutes > 59:
        return None
    offset = timedelta(hours=hours, minutes=minutes)
    return -offset if text[0] == "-" else offset


def place(wall: datetime, zone: tzinfo) -> datetime:
    """The instant at which `zone` shows the naive `wall`; its `fold` chooses between two."""
    at = wall.replace(tzinfo=zone)
    offset = at.utcoffset()
    if offset is None or not _two_sided(at) or offset.total_seconds() % 60:
        return at
    return wall.replace(tzinfo=timezone(offset), fold=0)


def settle(at: datetime, zone: tzinfo) -> datetime:
    """`at` as a session of `zone` keeps it: wall clock of the zone, whole milliseconds.

    A naive `at` is taken as a wall clock of the zone.
    """
    local = at if at.tzinfo is None else at.astimezone(zone)
    return place(local.replace(tzinfo=None, microsecond=local.microsecond // 1000 * 1000), zone)


def _two_sided(at: datetime) -> bool:
    return at.utcoffset() != at.replace(fold=1 - at.fold).utcoffset()


def digits(at: datetime) -> str:
    """The wall clock of `at` as refs show it: `20260406T091423`, with a fraction `20260406T091423001`."""
    return f"{at.year:04}{at.month:02}{at.day:02}T{at.hour:02}{at.minute:02}{at.second:02}{_fraction(at)}"


def _fraction(at: datetime) -> str:
    if not at.microsecond:
        return ""
    return f"{at.microsecond:06}" if at.microsecond % 1000 else f"{at.microsecond // 1000:03}"


def written(at: datetime, zone: tzinfo) -> str:
    """`2026-04-06 09:14:23[.fff]`, with its offset where `zone` alone would not give `at` again."""
    plain = at.tzinfo == zone and not _two_sided(at)
    offset = at.utcoffset() or timedelta()
    if not plain and offset.total_seconds() % 60:
        at, offset = at.astimezone(UTC), timedelta()
    fraction = _fraction(at)
    clock = at.replace(tzinfo=None).isoformat(" ", "seconds") + (f".{fraction}" if fraction else "")
    return clock if plain else f"{clock} {_offset_text(offset)}"


def _offset_text(offset: timedelta) -> str:
    minutes = round(offset.total_seconds() / 60)
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


def read_moment(text: str, zone: tzinfo) -> datetime | None:
    """A date or time written in ISO manner, offset or not; None where it is none. A date = its midnight."""
    match = _MOMENT.match(text.strip())
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, offset = match.groups()
    clock = (int(hour or 0), int(minute or 0), int(second or 0))
    wall = wall_clock((int(year), int(month), int(day)), clock, fraction or "")
    if wall is None:
        return None
    if offset is None:
        return place(wall, zone)
    shift = read_offset(offset)
    return None if shift is None else wall.replace(tzinfo=timezone(shift))


def date_in_name(path: str, zone: tzinfo) -> datetime | None:
    """Midnight of the day a file name speaks of (`2026-04-06.md`, `chat_20260406.md`), or None."""
    match = _NAME_DATE.search(path.rsplit("/", 1)[-1])
    if match is None:
        return None
    wall = wall_clock((int(match[1]), int(match[3]), int(match[4])), (0, 0, 0))
    return None if wall is None else place(wall, zone)


def read_zone(name: str) -> tzinfo | None:
    """The zone of an IANA name, `UTC` or `+08:00`; None where there is none of that name."""
    fixed = _OFFSET_ZONE.match(name)
    if fixed:
        offset = read_offset(fixed[1])
        return None if offset is None else timezone(offset)
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # unknown, not a key at all, a folder of zones
        return None


def zone_name(zone: tzinfo) -> str:
    """The name that `read_zone` turns into `zone` again."""
    return zone.key if isinstance(zone, ZoneInfo) and zone.key else str(zone)

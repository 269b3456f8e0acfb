"""Stretches of time, and what the time words of a question were read as.

Apart from the other records, so that reading a time phrase loads nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo


@dataclass(frozen=True, slots=True)
class TimeRange:
    """A half-open span of time [start, end); None leaves that side open.

    Instants are kept in UTC, so comparing and measuring never meets a repeated hour; `zone` is how
    the range is shown and decides what a day, week or month is. Raises ValueError for start ≥ end
    and for a naive datetime.
    """

    start: datetime | None
    end: datetime | None
    zone: tzinfo = field(default=UTC, compare=False)

    def __post_init__(self) -> None:
        for name, instant in (("start", self.start), ("end", self.end)):
            if instant is not None and instant.tzinfo is not UTC:
                if instant.tzinfo is None:
                    raise ValueError(f"{name} of a time range needs a zone: {instant.isoformat()}")
                object.__setattr__(self, name, instant.astimezone(UTC))
        if self.start is not None and self.end is not None and self.start >= self.end:
            raise ValueError(f"a time range must start before it ends: {self.start} – {self.end}")

    @classmethod
    def days_from(cls, day: datetime, days: int, zone: tzinfo) -> TimeRange:
        """`days` whole calendar days of `zone` from the day that holds `day` (wall clock of `zone`)."""
        first = datetime(day.year, day.month, day.day)
        return cls(first.replace(tzinfo=zone), (first + timedelta(days=days)).replace(tzinfo=zone), zone)

    @classmethod
    def week_of(cls, instant: datetime, zone: tzinfo) -> TimeRange:
        """The ISO week (Monday to Sunday) of `zone` that holds `instant`."""
        local = instant.astimezone(zone)
        return cls.days_from(local - timedelta(days=local.weekday()), 7, zone)

    @classmethod
    def month_of(cls, instant: datetime, zone: tzinfo) -> TimeRange:
        """The calendar month of `zone` that holds `instant`."""
        local = instant.astimezone(zone)
        after = (local.replace(day=1) + timedelta(days=32)).replace(day=1)
        first = datetime(local.year, local.month, 1, tzinfo=zone)
        return cls(first, datetime(after.year, after.month, 1, tzinfo=zone), zone)

    def contains(self, instant: datetime) -> bool:
        return (self.start is None or self.start <= instant) and (self.end is None or instant < self.end)

    def overlaps(self, other: TimeRange) -> bool:
        return (self.end is None or other.start is None or other.start < self.end) and (
            other.end is None or self.start is None or self.start < other.end
        )

    def local(self) -> tuple[datetime | None, datetime | None]:
        """Start and end in the range's own zone, for showing."""
        return (
            self.start.astimezone(self.zone) if self.start else None,
            self.end.astimezone(self.zone) if self.end else None,
        )


@dataclass(frozen=True, slots=True)
class Reading:
    """One time expression of a question and how it was read.

    `span` is [start, end) in the question's characters; `words` says the reading in a line.
    """

    range: TimeRange
    grain: str
    span: tuple[int, int]
    fuzzy: bool
    future: bool
    words: str


@dataclass(frozen=True, slots=True)
class Resolution:
    """All that the time words of a question mean; readings stand in text order.

    `window` is where to look first for vague words. These stand at `vague_spans`, and with them the times
    of day that are of no day beside them.
    """

    readings: tuple[Reading, ...] = ()
    vague: bool = False
    window: TimeRange | None = None
    alternatives: tuple[Reading, ...] = ()
    vague_spans: tuple[tuple[int, int], ...] = ()

    @property
    def ranges(self) -> tuple[TimeRange, ...]:
        return tuple(reading.range for reading in self.readings)

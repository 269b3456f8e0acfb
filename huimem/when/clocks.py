"""Times of day: dayparts in local hours (conventions 5) and clock times on a day."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

from huimem.when.expressions import Clock, ClockRange, ClockSpan, Daypart, TimeOfDay
from huimem.when.periods import SECONDS_LONG, at_hours
from huimem.when.placing import Span

# Where an hour may be meant twelve hours later, the one in these is the likelier.
DAYTIME = range(8, 20)


def on_day(day: date, at: TimeOfDay) -> Span:
    """A time of day on a local day."""
    match at:
        case Daypart():
            return at_hours(day, at.start, at.end)
        case Clock():
            start = _clock(day, at)
            grain = grain_of(at)
            return Span(start, start + timedelta(seconds=SECONDS_LONG[grain]), grain, elapsed=True)
        case ClockRange():
            start, end = _clock(day, at.start), _clock(day, at.end)
            return Span(start, end if end > start else end + timedelta(1), "minute")
        case ClockSpan():
            start = _clock(day, at.start)
            return Span(start, start + timedelta(seconds=at.seconds), "minute", elapsed=True)


def _clock(day: date, at: Clock) -> datetime:
    midnight = datetime.combine(day + timedelta(at.shift), time())
    return midnight + timedelta(hours=at.hour, minutes=at.minute or 0, seconds=at.second or 0)


def grain_of(at: Clock) -> str:
    return "second" if at.second is not None else "minute" if at.minute is not None else "hour"


def hour(number: int, minute: int | None = None, second: int | None = None) -> Clock | None:
    """A spoken hour without am or pm: up to 12 it may be either, the likelier one first."""
    written = figures(number, minute, second)
    if written is None or not written.twelve:
        return written
    likely = number % 12 if number % 12 in DAYTIME else number % 12 + 12
    return written.but(hour=likely, unsure=True)


def figures(number: int, minute: int | None = None, second: int | None = None) -> Clock | None:
    """A clock time as a display shows it, of 24 hours unless a daypart says otherwise."""
    fits = 0 <= number <= 24 and 0 <= (minute or 0) < 60 and 0 <= (second or 0) < 60
    if not fits or (number == 24 and (minute or second)):
        return None
    return Clock(number % 24, minute, second, shift=number // 24, twelve=1 <= number <= 12)


def _sure(at: Clock, hour: int, shift: int = 0) -> Clock:
    return at.but(hour=hour, shift=shift, twelve=False, unsure=False)


def morning(at: Clock) -> Clock:
    """The reading before noon."""
    return _sure(at, at.hour % 12) if at.twelve else at


def afternoon(at: Clock) -> Clock:
    """The reading after noon."""
    return _sure(at, at.hour % 12 + 12) if at.twelve else at


def other_half(at: TimeOfDay) -> TimeOfDay | None:
    """The same time twelve hours away, where it may be meant."""
    return _sure(at, (at.hour + 12) % 24) if isinstance(at, Clock) and at.unsure else None


def in_part(at: Clock, part: Daypart) -> Clock:
    """The reading of a clock time that lies inside a daypart: 8 in the evening is 20:00.

    After midnight it is the night's next date; twelve at night is the end of the day.
    """
    if not at.twelve and not part.night:
        return at
    for candidate in (at.hour, (at.hour + 12) % 24) if at.twelve else (at.hour,):
        for shift in (0, 1):
            if part.start <= candidate + 24 * shift < part.end:
                return _sure(at, candidate, shift)
    if at.twelve:  # outside: the half of the day that the part lies in
        return afternoon(at) if part.start >= 12 else morning(at)
    return at


def range_in_part(at: ClockRange, part: Daypart) -> ClockRange:
    """Both ends inside a daypart, or the end soon after it: 10 to 12 in the morning ends at noon."""
    start = in_part(at.start, part)
    return ClockRange(start, _next_after(start, at.end) if at.end.twelve else at.end)


def _next_after(first: Clock, last: Clock) -> Clock:
    """The reading of the last time that comes soonest after the first."""
    begin = (first.hour, first.minute or 0)
    later = [h for h in (last.hour % 12, last.hour % 12 + 12) if (h, last.minute or 0) > begin]
    return _sure(last, later[0] if later else last.hour % 12, first.shift)


def clock_range(first: Clock, last: Clock) -> ClockRange:
    """Both ends of a range of clock times: each takes its half of the day from the other.

    "3:30 to 6 pm" begins in the afternoon, "9:30 to 4:30 pm" in the morning. Where neither end is
    sure, a daypart beside them may still tell.
    """
    if first.twelve and not last.twelve:
        same = afternoon(first) if last.hour >= 12 else morning(first)
        earlier = (same.hour, same.minute or 0) < (last.hour, last.minute or 0)
        return ClockRange(same if earlier else morning(first), last)
    if not last.twelve:
        return ClockRange(first, last)
    end = _next_after(first, last)
    return ClockRange(first, end.but(twelve=True) if first.twelve else end)

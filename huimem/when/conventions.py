"""Expressions → places in time: the one module that says what a time expression means.

Recall asks about what happened, so an expression without a stated year or week is its latest
occurrence that has begun (conventions 2); `Which` chooses another. All arithmetic is on the wall
clock of the question's zone; `placing.Here` makes instants of the result.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

from huimem.when import lines
from huimem.when.choosing import chosen
from huimem.when.clocks import on_day, other_half
from huimem.when.expressions import (
    About,
    Between,
    Bounded,
    Calendar,
    Clock,
    Days,
    Expression,
    Festival,
    Moment,
    Month,
    Nth,
    Open,
    Part,
    Shifted,
    SoFar,
    SpokenToday,
    Stretch,
    Weekday,
    WeekOf,
    Which,
    Within,
)
from huimem.when.leaves import DAY_BEGINS, LEAVES
from huimem.when.lines import PATTERNS, daily
from huimem.when.periods import back, elapsed, floored, nth, part, stretch, unit_span
from huimem.when.placing import (
    DAY,
    Here,
    Line,
    Other,
    Place,
    Span,
    following,
    found,
    index,
    latest,
    placed,
    whole_days,
)


def place(expression: Expression, here: Here) -> Place | None:
    """Where an expression lies, seen from here; None where the calendar has no such time."""
    try:
        return _PLACES[type(expression)](expression, here)
    except (ValueError, OverflowError):
        return None


def _shifted(it: Shifted, here: Here) -> Place | None:
    base = place(it.of, here)
    if base is None or base.span.start is None:
        return None
    sign, length = (1, elapsed(it.amounts)) if it.ahead else (-1, elapsed(it.amounts))
    day = back(base.span.start.date(), it.amounts, sign)
    if not length:
        return placed(whole_days(day, day, "day"), it, *_of_that_week(it, day, here))
    at = datetime.combine(day, base.span.start.time()) + sign * length
    return placed(floored(at, "minute" if it.amounts[-1][1] == "minute" else "hour"), it)


def _of_that_week(it: Shifted, day: date, here: Here) -> tuple[Other, ...]:
    """A week ago Friday may also be Friday of last week."""
    if not isinstance(it.of, Weekday) or it.ahead or it.amounts[0][1] != "week":
        return ()
    weekdays = lines.weekday(it.of, here)
    span = found(weekdays, index(weekdays.unit, back(here.today, it.amounts, -1), here))
    return (Other(span, "of that week"),) if span and span.start and span.start.date() != day else ()


def _so_far(it: SoFar, here: Here) -> Place | None:
    base = place(it.of, here)
    if base is None or base.span.start is None:
        return None
    end = here.now if it.until_now else here.midnight + DAY
    return None if base.span.start >= end else placed(Span(base.span.start, end, base.span.grain), it)


def _about(it: About, here: Here) -> Place | None:
    base = place(it.of, here)
    return base and base._replace(fuzzy=True, of=it)


# ── what recurs ──


def coming(expression: Expression, here: Here) -> Place | None:
    """The next one of what recurs, after today; None for all else. Today is when it is said."""
    recurring = line(expression, here)
    if recurring is None or recurring.by_now:
        return None
    return placed(following(recurring, here, here.midnight + DAY), expression)


def line(expression: Expression, here: Here) -> Line | None:
    """The line on which an expression recurs; None for what has one place in time."""
    if pattern := PATTERNS.get(type(expression)):
        return pattern(expression, here)
    if isinstance(expression, Moment) and expression.day is None:
        return daily(expression.time, here)
    if isinstance(expression, SpokenToday):
        return None
    of = expression.day if isinstance(expression, Moment) else getattr(expression, "of", None)
    change = _change(expression, here)
    inner = line(of, here) if of is not None and change else None
    return inner.mapped(change) if inner and change else None


def _change(expression: Expression, here: Here) -> Callable[[Span], Span | None] | None:
    """What an expression does to the span of what it is made of; None where it is made of nothing."""
    match expression:
        case Part():
            return lambda span: part(span, expression)
        case Nth(n=n, unit=unit):
            return lambda span: nth(span, n, unit, here)
        case Stretch(n=n, unit=unit):
            return lambda span: stretch(span, n, unit, here)
        case WeekOf(week=week):
            return lambda span: unit_span(week, span.start.date(), here) if span.start else None
        case Moment(time=time):
            return lambda span: on_day(span.start.date(), time) if span.start else None
        case About():
            return lambda span: span
    return None


def _limit(of: Line, here: Here) -> datetime:
    """The latest start of what has begun: this moment, today, or for a weekday yesterday."""
    if of.by_now:
        return here.now
    return here.midnight - DAY if of.before_today else here.midnight


def _pattern(it: Expression, here: Here) -> Place | None:
    recurring = line(it, here)
    span = latest(recurring, here, _limit(recurring, here)) if recurring else None
    return placed(span, it, *_today_too(it, here), fuzzy=isinstance(it, Days) and it.fuzzy)


def _today_too(it: Expression, here: Here) -> tuple[Other, ...]:
    if isinstance(it, Weekday) and here.today.weekday() == it.day:
        return (Other(whole_days(here.today, here.today, "day"), "today"),)
    return ()


def _holiday(it: Festival, here: Here) -> Place | None:
    return _with_day(_pattern(it, here), it, here)


def _with_day(base: Place | None, it: Expression, here: Here) -> Place | None:
    """The period of a long holiday may also mean its day."""
    if base is None or not isinstance(it, Festival) or it.form != "long" or base.span.start is None:
        return base
    day = found(lines.festival(it.but(form="day"), here), (base.span.start + 10 * DAY).year)
    return base._replace(others=(*base.others, Other(day, "the day itself"))) if day else base


def _changed(it: Any, here: Here) -> Place | None:
    """Part, n-th, stretch, week of: of something that recurs the latest begun, else of its place."""
    if line(it, here):
        base = _pattern(it, here)
    else:
        inner, change = place(it.of, here), _change(it, here)
        base = placed(change(inner.span), it) if inner and change else None
    if base is None:
        return None
    return base._replace(fuzzy=isinstance(it, Part) and base.span.grain == "month", others=_days_of(it, base))


def _days_of(it: Expression, base: Place) -> tuple[Other, ...]:
    """The first week of May may also be 1 to 7 May."""
    if not isinstance(it, Nth) or it.unit not in ("week", "isoweek") or it.n < 1 or base.span.end is None:
        return ()
    first = (base.span.end - 4 * DAY).date().replace(day=1)  # a week is of the month of its Thursday
    if not isinstance(it.of, Month | Within) or it.n > 4:
        return ()
    days = whole_days(first + timedelta(7 * it.n - 7), first + timedelta(7 * it.n - 1), "day")
    return (Other(days, f"days {7 * it.n - 6} to {7 * it.n} of the month"),)


def _moment(it: Moment, here: Here) -> Place | None:
    if it.day is None:
        base = _pattern(it, here)
    elif isinstance(it.day, SpokenToday):
        base = _spoken(it, here)
    else:
        day = place(it.day, here)
        if day is None or day.span.start is None:
            return None
        span = on_day(day.span.start.date(), it.time)
        others = tuple(
            Other(on_day(o.span.start.date(), it.time), o.words) for o in day.others if o.span.start
        )
        base = placed(span, it, *others, fuzzy=day.fuzzy)
    return base and base._replace(others=(*base.others, *_twelve_hours_away(it, here)))


def _twelve_hours_away(it: Moment, here: Here) -> tuple[Other, ...]:
    other = other_half(it.time)
    second = _moment(it.but(time=other), here) if other else None
    return (Other(second.span, "twelve hours away"),) if second else ()


def _spoken(it: Moment, here: Here) -> Place | None:
    """This morning, tonight: after midnight, while it lies ahead, that of the day just ended."""
    span = on_day(here.today, it.time)
    if here.now.hour >= DAY_BEGINS or span.start is None or span.start <= here.now:
        return placed(span, it)
    return placed(on_day(here.today - DAY, it.time), it, Other(span, "today's, still ahead"))


def _spoken_day(it: SpokenToday, here: Here) -> Place | None:
    return place(Calendar("day", 0), here)


# ── choosing ──


def _within(it: Within, here: Here) -> Place | None:
    outer, inner = place(it.outer, here), line(it.pattern, here)
    if outer is None or outer.span.start is None or inner is None:
        return None
    step = index(inner.unit, _middle(outer.span), here)
    base = placed(found(inner, step), it, fuzzy=_inexact(it.pattern, inner))
    return _with_day(base, it.pattern, here)


def _inexact(pattern: Expression, recurring: Line) -> bool:
    """Parts of a year and school holidays have no exact days."""
    if isinstance(pattern, Days):
        return pattern.fuzzy
    return isinstance(pattern, Part) and recurring.unit == "year"


def _middle(span: Span) -> date:
    """A day well inside: a week's Thursday tells its year, a month's middle its month."""
    if span.start is None or span.end is None:
        return (span.start or span.end or datetime.min).date()
    return (span.start + (span.end - span.start) / 2).date()


def _which(it: Which, here: Here) -> Place | None:
    recurring = line(it.pattern, here)
    return chosen(it, recurring, here) if recurring else None


# ── from here to there ──


def _between(it: Between, here: Here) -> Place | None:
    first, last = _ends(it, here)
    if first is None or last is None or first.start is None or last.end is None or first.start >= last.end:
        return None
    grain = last.grain if last.grain not in ("hour", "second") else "minute"
    return placed(Span(first.start, _end(last), grain), it)


def _end(last: Span) -> datetime | None:
    """Speech is inclusive, but a clock time ends where it begins."""
    return last.start if last.grain in ("hour", "minute", "second") else last.end


def _ends(it: Between, here: Here) -> tuple[Span | None, Span | None]:
    """The end by its own rules, then the latest start before it; a dated start takes the next end."""
    starts, ends = line(it.first, here), line(it.last, here)
    if starts is None and ends is not None:
        first = _span(it.first, here)
        return first, (following(ends, here, first.start) if first and first.start else None)
    last = _span(it.last, here)
    if starts is None or last is None or last.start is None:
        return _span(it.first, here), last
    return latest(starts, here, min(last.start, _limit(starts, here))), last


def _span(of: Expression, here: Here) -> Span | None:
    where = place(of, here)
    return where.span if where else None


def _open(it: Open, here: Here) -> Place | None:
    base = place(it.of, here)
    if base is None or base.span.start is None or base.span.end is None:
        return None
    start, end, grain = base.span.start, base.span.end, base.span.grain
    clock = isinstance(it.of, Moment) and isinstance(it.of.time, Clock)
    if isinstance(it.of, Moment) and it.of.day is not None:
        low, high = (
            datetime(start.year, start.month, start.day),
            datetime(start.year, start.month, start.day) + DAY,
        )
    else:
        low, high = None, None
    match it.side:
        case "since":
            span = Span(start, high, grain)
        case "after":
            span = Span(start if clock else end, high, grain)
        case "before":
            span = Span(low, start, grain)
        case "until":
            span = Span(low, start if clock else end, grain)
    if span.start is not None and span.end is not None and span.start >= span.end:
        span = Span(span.start, None, grain) if it.side in ("since", "after") else Span(None, span.end, grain)
    return placed(span, it, fuzzy=base.fuzzy)


def _bounded(it: Bounded, here: Here) -> Place | None:
    after, before = place(it.after, here), place(it.before, here)
    if not after or not before or not after.span.start or not before.span.end:
        return None
    if after.span.start < before.span.end:
        return placed(Span(after.span.start, before.span.end, before.span.grain), it)
    first, last = _ends(Between(it.after.of, it.before.of), here)
    if not first or not last or not first.end or not last.start or first.end >= last.start:
        return None
    return placed(Span(first.end, last.start, last.grain), it)


_Place = Callable[[Any, Here], Place | None]
_PLACES: dict[type[Expression], _Place] = {
    **LEAVES,
    **dict.fromkeys(PATTERNS, _pattern),
    Festival: _holiday,
    Shifted: _shifted,
    SoFar: _so_far,
    About: _about,
    Part: _changed,
    Nth: _changed,
    Stretch: _changed,
    WeekOf: _changed,
    Moment: _moment,
    SpokenToday: _spoken_day,
    Within: _within,
    Which: _which,
    Between: _between,
    Open: _open,
    Bounded: _bounded,
}

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
    EveryMonth,
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
from huimem.when.periods import THURSDAY, back, elapsed, floored, nth, part, stretch, unit_span
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
    midnight,
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
    return placed(span, it, *_today_too(it, here), fuzzy=span is not None and inexact(it, span))


def inexact(it: Expression, span: Span) -> bool:
    """Parts of a year or a decade and school holidays have no exact days."""
    match it:
        case About():
            return True
        case Days(fuzzy=fuzzy):
            return fuzzy
        case Part():
            return span.grain in ("month", "year")
        case Moment(day=Expression() as day):
            return inexact(day, span)
    return False


def _today_too(it: Expression, here: Here) -> tuple[Other, ...]:
    if isinstance(it, Weekday) and here.today.weekday() == it.day:
        return (Other(whole_days(here.today, here.today, "day"), "today"),)
    return ()


def _holiday(it: Festival, here: Here) -> Place | None:
    return _named(_pattern(it, here), it, it, here)


def _named(base: Place | None, it: Expression, pattern: Expression, here: Here) -> Place | None:
    """What else the name of a holiday may mean: of a long one its day, of 新年 the spring festival."""
    if base is None or not isinstance(pattern, Festival) or base.span.start is None:
        return base
    others = list(base.others)
    if pattern.form == "long":
        day = found(lines.festival(pattern.but(form="day"), here), (base.span.start + 10 * DAY).year)
        others += [Other(day, "the day itself")] if day else []
    if pattern.also:
        also = Festival(pattern.also, "long" if pattern.form == "day" else pattern.form)
        where = place(also if it is pattern else it.but(pattern=also), here)
        others += [Other(where.span, f"the {pattern.also.replace('_', ' ')}")] if where else []
    return base._replace(others=tuple(others))


def _changed(it: Any, here: Here) -> Place | None:
    """Part, n-th, stretch, week of: of something that recurs the latest begun, else of its place."""
    if line(it, here):
        base = _pattern(it, here)
    else:
        inner, change = place(it.of, here), _change(it, here)
        base = placed(change(inner.span), it) if inner and change else None
    if base is None:
        return None
    return base._replace(fuzzy=inexact(it, base.span), others=_days_of(it, base))


def _days_of(it: Expression, base: Place) -> tuple[Other, ...]:
    """The first week of May may also be 1 to 7 May."""
    start = base.span.start
    if not isinstance(it, Nth) or it.unit not in ("week", "isoweek") or not 1 <= it.n <= 4 or start is None:
        return ()
    if not isinstance(it.of, Month | EveryMonth | Within) and getattr(it.of, "unit", None) != "month":
        return ()
    thursday = start + (THURSDAY - start.weekday()) % 7 * DAY  # a week is of the month of its Thursday
    first = thursday.date().replace(day=1)
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
    span = found(inner, step)
    base = placed(span, it, fuzzy=span is not None and inexact(it.pattern, span))
    return _named(base, it, it.pattern, here)


def _middle(span: Span) -> date:
    """A day well inside: a week's Thursday tells its year, a month's middle its month."""
    if span.start is None or span.end is None:
        return (span.start or span.end or datetime.min).date()
    return (span.start + (span.end - span.start) / 2).date()


def _which(it: Which, here: Here) -> Place | None:
    recurring = line(it.pattern, here)
    return _named(chosen(it, recurring, here), it, it.pattern, here) if recurring else None


# ── from here to there ──


def _between(it: Between, here: Here) -> Place | None:
    return placed(stretched(*_ends(it, here)), it)


def stretched(first: Span | None, last: Span | None) -> Span | None:
    """From one to the other. Speech is inclusive, but a clock time ends where it begins."""
    if first is None or last is None or first.start is None or last.end is None or first.start >= last.end:
        return None
    clock = last.grain in ("hour", "minute", "second")
    return Span(first.start, last.start if clock else last.end, "minute" if clock else last.grain)


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
    span = _opened(it, base.span) if base else None
    if base is None or span is None:
        return None
    others = [Other(other, o.words) for o in base.others if (other := _opened(it, o.span)) and other != span]
    if it.side == "since" and span.end is not None:
        others.append(Other(span._replace(end=None), "until now"))
    return placed(span, it, *others, fuzzy=base.fuzzy)


def _opened(it: Open, of: Span) -> Span | None:
    """One side of a span open; of a time of a dated day only to the end of the day, unless it passes that."""
    if of.start is None or of.end is None:
        return None
    clock = isinstance(it.of, Moment) and isinstance(it.of.time, Clock)
    last = of.start if clock else of.end
    low, high = midnight(of.start.date()), midnight(of.start.date()) + DAY
    inside = isinstance(it.of, Moment) and it.of.day is not None and last <= high
    match it.side:
        case "since":
            return Span(of.start, high if inside else None, of.grain)
        case "after":
            return Span(last, high if inside and last < high else None, of.grain)
        case "before":
            return Span(low if inside and low < of.start else None, of.start, of.grain)
        case "until":
            return Span(low if inside and low < last else None, last, of.grain)


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

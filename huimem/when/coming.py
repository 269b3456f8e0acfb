"""What recurs, told of and not asked for: beside the latest one the next one may be meant."""

from __future__ import annotations

from huimem.when.conventions import inexact, line, stretched
from huimem.when.expressions import Between, Daypart, Expression, Moment
from huimem.when.placing import DAY, Here, Line, Place, Span, following, latest, placed


def coming(expression: Expression, here: Here) -> Place | None:
    """The next one of what recurs, after today; None for all else. Today is when it is said.

    Of a clock time the one that is still to come today: "dentist at 3 pm", said in the morning. A part of a
    day has none: "in the evening" is often said of any.
    """
    if isinstance(expression, Between):
        return placed(_coming_stretch(expression, here), None)
    recurring = line(expression, here)
    if recurring is None or _is_of_any_day(expression) or _under_way(recurring, here):
        return None
    span = _today(recurring, here) if recurring.by_now else following(recurring, here, here.midnight + DAY)
    return placed(span, None, fuzzy=span is not None and inexact(expression, span))


def _is_of_any_day(expression: Expression) -> bool:
    """Whether it is a part of the day alone, and not of Sunday."""
    return isinstance(expression, Moment) and expression.day is None and isinstance(expression.time, Daypart)


def _today(clock: Line, here: Here) -> Span | None:
    """The time that a clock comes to later today; None where that is over."""
    span = following(clock, here, here.now)
    return span if span and span.start and span.start < here.midnight + DAY else None


def _under_way(recurring: Line, here: Here) -> bool:
    """Whether the present one holds today, of a clock, now: in March "in March" is this one."""
    begun, over = (here.now, here.now) if recurring.by_now else (here.midnight, here.midnight + DAY)
    span = latest(recurring, here, begun)
    return span is not None and span.end is not None and span.end > over


def _coming_stretch(it: Between, here: Here) -> Span | None:
    """From one to another of what recurs, the end still to come: it may be under way."""
    starts, ends = line(it.first, here), line(it.last, here)
    if starts is None or ends is None or starts.by_now != ends.by_now:
        return None
    last = _today(ends, here) if ends.by_now else following(ends, here, here.midnight + DAY)
    first = latest(starts, here, last.start) if last and last.start else None
    return stretched(first, last)

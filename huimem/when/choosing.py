"""Which one of what recurs: the last, past, this or next (conventions 2 to 4)."""

from __future__ import annotations

from huimem.when.expressions import Calendar, Expression, Month, Season, Weekday, Weekend, Which, Within
from huimem.when.placing import (
    DAY,
    Here,
    Line,
    Other,
    Place,
    Span,
    complete,
    following,
    found,
    index,
    latest,
    placed,
)


def chosen(it: Which, recurring: Line, here: Here) -> Place | None:
    """The place of the one that `it` names on the line of its pattern."""
    match it.which:
        case "this":
            return _this(it, recurring, here)
        case "next":
            return placed(_next(it.pattern, recurring, here), it)
    span = complete(recurring, here, here.now if recurring.by_now else here.midnight)
    for _ in range(it.back):
        span = complete(recurring, here, span.start) if span and span.start else None
    if span is None or it.back or it.which == "past":
        return placed(span, it)
    if isinstance(it.pattern, Weekday):
        return _last_weekday(it, span, recurring, here)
    return placed(span, it, *_a_year_earlier(it, span, recurring, here))


def _last_weekday(it: Which, span: Span, recurring: Line, here: Here) -> Place | None:
    """The latest one before today, but never yesterday of the same week: that is "yesterday"."""
    week_before = found(recurring, index(recurring.unit, here.today, here) - 1)
    if week_before is None or span == week_before:
        return placed(span, it)
    if span.start == here.midnight - DAY:
        return placed(week_before, Within(Calendar("week", -1), it.pattern), Other(span, "yesterday"))
    return placed(span, it, Other(week_before, "the one of the week before this"))


def _a_year_earlier(it: Which, span: Span, recurring: Line, here: Here) -> tuple[Other, ...]:
    if not isinstance(it.pattern, Month | Season) or span.start is None or span.start.year != here.now.year:
        return ()
    earlier = complete(recurring, here, span.start)
    return (Other(earlier, "the one a year earlier"),) if earlier else ()


def _this(it: Which, recurring: Line, here: Here) -> Place | None:
    under_way = latest(recurring, here, here.midnight)
    if isinstance(it.pattern, Season) and under_way and under_way.end and under_way.end > here.midnight:
        return placed(under_way, it)
    span = found(recurring, index(recurring.unit, here.today, here))
    if isinstance(it.pattern, Weekend) and span and under_way and span != under_way:
        return placed(span, it, Other(under_way, "the one just past"))
    return placed(span, it)


def _next(pattern: Expression, recurring: Line, here: Here) -> Span | None:
    if isinstance(pattern, Weekday | Weekend):
        return found(recurring, index(recurring.unit, here.today, here) + 1)
    return following(recurring, here, here.midnight + DAY)

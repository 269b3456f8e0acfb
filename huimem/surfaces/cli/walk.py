"""A walk back through time → text: a line a week, or all of it in one line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from huimem.records import Recall, TimeRange, Walked
from huimem.surfaces.cli.hits import counted
from huimem.surfaces.cli.look import Look, columns
from huimem.surfaces.cli.suggestions import Suggestion

_BETWEEN = "   "


def week_name(day: datetime | None) -> str:
    """`2026-W14`; "" for no day."""
    return f"{day:%G-W%V}" if day else ""


def step_name(step: Walked) -> str:
    """`2026-W14`, or `2026-03` for a month."""
    start = step.range.local()[0]
    if start is None:
        return ""
    return f"{start:%Y-%m}" if step.monthly else week_name(start)


def walk_lines(recall: Recall, look: Look) -> Iterator[str]:
    """A line a step: its name, days, turns and best score; one for all that hold nothing and touch.

    `2026-W14   Mon 30 Mar – Sun 5 Apr   31 turns   best 0.22`
    """
    rows = [_row(steps, look) for steps in _together(recall.scanned)]
    widths = [max((columns(row[at]) for row in rows), default=0) for at in range(3)]
    for *cells, best in rows:
        padded = [cell + " " * (width - columns(cell)) for cell, width in zip(cells, widths, strict=True)]
        yield _BETWEEN.join([*padded, best]).rstrip()


def _together(steps: Sequence[Walked]) -> list[list[Walked]]:
    """The steps by the lines that they stand in."""
    lines: list[list[Walked]] = []
    for step in steps:
        later = lines[-1][-1] if lines else None
        if later and _is_empty(later) and _is_empty(step) and step.range.end == later.range.start:
            lines[-1].append(step)
        else:
            lines.append([step])
    return lines


def _is_empty(step: Walked) -> bool:
    """Whether a step holds nothing: what holds since a day of it was no turn."""
    return not step.turns and not step.best


def _row(steps: Sequence[Walked], look: Look) -> tuple[str, str, str, str]:
    first, last = steps[0], steps[-1]
    span = look.span(TimeRange(last.range.start, first.range.end, first.range.zone)).replace(" to ", " – ")
    if _is_empty(first):
        names = dict.fromkeys((step_name(first), step_name(last)))
        return " – ".join(names), span, "nothing", ""
    return (
        step_name(first),
        span,
        counted(first.turns, "turn"),
        f"best {first.best:.2f}" if first.best else "",
    )


def walk_summary(recall: Recall, look: Look) -> Iterator[str]:
    """`walk  looked back over 4 weeks, 31 turns; stopped at 2026-W14, …`; nothing without a walk."""
    told = walk_words(recall, look)
    if told:
        yield f"walk  {told}"


def walk_words(recall: Recall, look: Look) -> str:
    """What was walked and where it stopped, in a few words; "" where nothing was."""
    if not recall.scanned:
        return ""
    last = recall.scanned[-1]
    turns = counted(sum(step.turns for step in recall.scanned), "turn")
    months = sum(step.monthly for step in recall.scanned)
    counts = (len(recall.scanned) - months, "week"), (months, "month")
    steps = " and ".join(counted(count, noun) for count, noun in counts if count)
    walked = f"looked back over {steps}, {turns}"
    if recall.exhausted:
        return f"{walked}; nothing stood out"
    return f"{walked}; stopped at {step_name(last)}, {look.span(last.range).replace(' to ', ' – ')}"


def way_on(recall: Recall, further: Sequence[Suggestion]) -> str:
    """How a walk that nobody asked for goes on from the week where it stopped; "" where it cannot."""
    if not recall.scanned or recall.exhausted or not further:
        return ""
    return _on(further)


def walk_end(recall: Recall, further: Sequence[Suggestion]) -> str:
    """How a walk that found something ended, and how it goes on; "" where there was none."""
    if not recall.scanned:
        return ""
    ended = "Nothing stood out" if recall.exhausted else f"{step_name(recall.scanned[-1])} stands out"
    return f"{ended}. {_on(further)}" if further else f"{ended}; nothing older is left."


def _on(further: Sequence[Suggestion]) -> str:
    return f"Farther back: {further[0].command}"

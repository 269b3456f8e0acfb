"""How far long work has come: bars on a terminal, else a line every tenth."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from huimem.surfaces.cli.options import Shared

Progress = Callable[[str, int, int], None]
STEPS = 10


@contextmanager
def progress(shared: Shared) -> Iterator[Progress | None]:
    """A function of (what, done, total) that shows it on standard error; None where nobody listens."""
    if not shared.talks or sys.stderr is None:
        yield None
    elif sys.stderr.isatty():
        with _bars() as show:
            yield show
    else:
        yield tenths(shared.say)


@contextmanager
def _bars() -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    layout = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    tasks = {}
    with Bars(*layout, console=Console(stderr=True), transient=True) as bars:

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=total)
            bars.update(tasks[what], completed=done, total=total)

        yield show


def tenths(say: Callable[[str], None]) -> Progress:
    """Says `words 30 %: 300 of 1,000` each time another tenth is done; short work is not worth a line."""
    reached: dict[str, int] = {}

    def show(what: str, done: int, total: int) -> None:
        tenth = done * STEPS // total if total >= STEPS * STEPS else 0
        if tenth > reached.get(what, 0):
            reached[what] = tenth
            say(f"{what} {tenth * 100 // STEPS} %: {done:,} of {total:,}")

    return show

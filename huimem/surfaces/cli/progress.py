"""How far long work has come: bars on a terminal, else a line every tenth."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING

from huimem.surfaces.cli.options import Shared

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

Progress = Callable[[str, int, int], None]
STEPS = 10
LONG = 100  # files or passages; less is done before anybody could read how far it is


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
def passing(shared: Shared) -> Iterator[Callable[[str], None]]:
    """A function of what is being done, one line on a terminal in which each takes the place of the last."""
    stream, longest = sys.stderr, 0
    on = shared.talks and stream is not None and stream.isatty()

    def show(words: str) -> None:
        nonlocal longest
        if on:
            longest = max(longest, len(words))
            stream.write(f"\r{words:{longest}}\r")
            stream.flush()

    try:
        yield show
    finally:
        show("")


@contextmanager
def _bars() -> Iterator[Progress]:
    """A bar for each long work, from the first time that one is told of: short work loads no library."""
    with ExitStack() as until_done:
        tasks = {}
        bars: Bars | None = None

        def show(what: str, done: int, total: int) -> None:
            nonlocal bars
            if total < LONG:
                return
            bars = bars or until_done.enter_context(_drawn())
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=total)
            bars.update(tasks[what], completed=done, total=total)

        yield show


def _drawn() -> AbstractContextManager[Bars]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    layout = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*layout, console=Console(stderr=True), transient=True)


def tenths(say: Callable[[str], None]) -> Progress:
    """Says `words 30 %: 300 of 1,000` each time another tenth is done; short work is not worth a line."""
    reached: dict[str, int] = {}

    def show(what: str, done: int, total: int) -> None:
        tenth = done * STEPS // total if total >= LONG else 0
        if tenth > reached.get(what, 0):
            reached[what] = tenth
            say(f"{what} {tenth * 100 // STEPS} %: {done:,} of {total:,}")

    return show

"""Writes that end in the middle: this process as if killed at a step, or one piece of work alone."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import count

from huimem import files


class Cut(BaseException):
    """The process ends here."""


def die_at(number: int) -> None:
    """This process ends at its step `number` of writing from now on, as by SIGKILL. For a child alone."""
    steps = count(1)
    files.watch_steps(lambda name: os._exit(137) if next(steps) == number else None)


def cut_at(number: int, work: Callable[[], object]) -> bool:
    """Do `work` and end it at the n-th step of writing; True where it had fewer."""
    steps = count(1)

    def cut(_: str) -> None:
        if next(steps) == number:
            raise Cut

    before = files.watch_steps(cut)
    try:
        work()
    except Cut:
        return False
    finally:
        files.watch_steps(before)
    return True

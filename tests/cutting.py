"""Writes that end in the middle: this process as if killed at a step, or one piece of work alone."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import count

from huimem import files
from huimem.errors import HuimemError


class Cut(BaseException):
    """The process ends here."""


def die_at(number: int) -> None:
    """This process ends at its step `number` of writing from now on, as by SIGKILL. For a child alone."""
    steps = count(1)
    files.watch_steps(lambda name: os._exit(137) if next(steps) == number else None)


def cut_at(number: int, work: Callable[[], object], step: str = "") -> bool:
    """Do `work` and end it at the n-th step of writing, or the n-th of that name; True where it had fewer."""
    steps = count(1)

    def cut(name: str) -> None:
        if step in ("", name) and next(steps) == number:
            raise Cut

    before = files.watch_steps(cut)
    try:
        work()
    except Cut:
        return False
    finally:
        files.watch_steps(before)
    return True


def refused_at(number: int, code: int, work: Callable[[], object]) -> tuple[bool, HuimemError | None]:
    """Do `work` on a disk that refuses its n-th step of writing with that error number, and no other.

    Whether it had fewer steps, and what it raised.
    """
    steps = count(1)

    def refuse(_: str) -> None:
        if next(steps) == number:
            raise OSError(code, os.strerror(code))

    before, said = files.watch_steps(refuse), None
    try:
        work()
    except HuimemError as error:
        said = error
    finally:
        files.watch_steps(before)
    return next(steps) <= number, said

"""A thread → one that leaves processors to others: to all of them, or to the one that waits for it."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

NICE = 10
_mine = threading.local()


def give_way() -> None:
    """Let this thread run only when nothing else wants to, where the system can do that to a thread."""
    if hasattr(os, "setpriority"):
        with suppress(OSError, AttributeError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)


@contextmanager
def beside_another() -> Iterator[None]:
    """Meanwhile this thread works beside another one that is as busy, and that waits for it afterwards."""
    _mine.beside = True
    try:
        yield
    finally:
        _mine.beside = False


def is_beside_another() -> bool:
    """Whether a second processor would be taken from whom this thread works for."""
    return getattr(_mine, "beside", False)

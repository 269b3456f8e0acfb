"""A fork of this process → a parent that goes on unharmed, and a child that can open the same again.

In: what a fork must not cut through, and what a child must not keep. Out: forks that wait until no other
thread is in the middle of such a thing. SQLite takes connections that a child inherits for the child's
own, which then locks nothing; a lock lives as long as its last copy. So a child closes both at once.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Protocol
from weakref import WeakSet

from huimem.errors import Forked

LONGEST_WAIT = 10.0  # seconds; then the fork is made all the same, and its child opens nothing
_HINT = "Open it in each process after the fork: Memory.open(path)."


class Closable(Protocol):
    """What a child closes."""

    def close(self) -> None: ...


class _Gate:
    """Which threads are in the middle of something. Nothing is begun while a fork waits."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.inside: Counter[int] = Counter()  # how deep, by thread
        self.forking = False

    def enter(self, thread: int, depth: int = 1) -> None:
        with self.changed:
            while self.forking and not self.inside[thread]:
                self.changed.wait(LONGEST_WAIT)
            self.inside[thread] += depth

    def leave(self, thread: int, depth: int = 1) -> None:
        with self.changed:
            self.inside[thread] -= depth
            if self.inside[thread] <= 0:  # below in a child, whose gate is a new one
                del self.inside[thread]
                self.changed.notify_all()

    def others(self) -> bool:
        return bool(self.inside.keys() - {threading.get_ident()})


# Its own lock is taken before a fork too. What was loaded first is asked last: so a fork waits here
# while who is in the middle of something may still log.
_LOADED_FIRST = logging.root
_gate = _Gate()
_cut_through = False  # whether this process is a child that was made in the middle of something
_connections: WeakSet[Closable] = WeakSet()
_descriptors: set[int] = set()


@contextmanager
def undivided() -> Iterator[None]:
    """No other thread forks this process while the block runs: for work of at most a moment."""
    thread = threading.get_ident()
    _gate.enter(thread)
    try:
        yield
    finally:
        _gate.leave(thread)


@contextmanager
def divided() -> Iterator[None]:
    """Inside `undivided` blocks of this thread: meanwhile forks are harmless, as nothing is in the middle."""
    thread = threading.get_ident()
    depth = _gate.inside[thread]
    _gate.leave(thread, depth)
    try:
        yield
    finally:
        if depth:
            _gate.enter(thread, depth)


def close_in_child(connection: Closable) -> None:
    """A child closes `connection`, which is in the middle of something only inside `undivided`."""
    _connections.add(connection)


@contextmanager
def kept(descriptor: int) -> Iterator[None]:
    """Take care of a descriptor: a child closes it at once, this process when the block ends."""
    process = os.getpid()
    _descriptors.add(descriptor)
    try:
        yield
    finally:
        if os.getpid() == process:
            with undivided():
                _descriptors.discard(descriptor)
                os.close(descriptor)


def refuse_elsewhere(process: int) -> None:
    """Raise `Forked` unless this is the process of that id: what it has open cannot be used by a fork."""
    if os.getpid() != process:
        raise Forked(
            f"this memory was opened by process {process} and is used by its fork {os.getpid()}", _HINT
        )


def refuse_cut_through() -> None:
    """Raise `Forked` in a child that was made while another thread was in the middle of something."""
    if _cut_through:
        raise Forked(
            f"process {os.getpid()} was forked while a thread of its parent was at work in a memory",
            "Fork when nothing goes on, or start the process in another way: multiprocessing's “spawn”.",
        )


def _before() -> None:
    """Wait for others, and let nobody begin anything until the fork is made."""
    _gate.changed.acquire()
    _gate.forking = True
    _gate.changed.wait_for(lambda: not _gate.others(), LONGEST_WAIT)


def _in_parent() -> None:
    _gate.forking = False
    _gate.changed.notify_all()
    _gate.changed.release()


def _in_child() -> None:
    global _gate, _cut_through
    _cut_through, _gate = _cut_through or _gate.others(), _Gate()
    for descriptor in _descriptors:
        with suppress(OSError):
            os.close(descriptor)
    _descriptors.clear()
    if not _cut_through:
        for connection in [*_connections]:
            connection.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)

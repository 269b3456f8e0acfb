"""The bytes of a file that SQLite may have open → a descriptor to read them by, which takes no lock away.

In: its path. Out: a descriptor for the length of a block. Closing any descriptor of a file ends all locks
that this process has on it, SQLite's own too; so one that was opened here stays open for as long as a
connection to that file is.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from huimem import forking

_guard = threading.Lock()
_users: Counter[str] = Counter()
_kept: dict[str, tuple[ExitStack, dict[int, int]]] = {}  # by path: descriptors by inode


def enter(path: Path) -> None:
    """A connection to `path` is about to be opened."""
    with forking.undivided(), _guard:
        _users[os.path.abspath(path)] += 1


def leave(path: Path) -> None:
    """A connection to `path` was closed."""
    name = os.path.abspath(path)
    with forking.undivided(), _guard:
        _users[name] -= 1
        if _users[name] <= 0:
            del _users[name]
            if name in _kept:
                _kept.pop(name)[0].close()


@contextmanager
def in_use(path: Path) -> Iterator[None]:
    """A connection to `path` is open at most while the block runs."""
    enter(path)
    try:
        yield
    finally:
        leave(path)


@contextmanager
def reading(path: Path) -> Iterator[int]:
    """A descriptor of the file that stands at `path` now. Raises OSError."""
    with in_use(path):
        yield _descriptor(path)


def read(descriptor: int, size: int, at: int) -> bytes:
    """At most `size` bytes from `at` on. Raises OSError."""
    if hasattr(os, "pread"):
        return os.pread(descriptor, size, at)
    with _guard:  # not so on Windows, where a descriptor has one place for all threads
        os.lseek(descriptor, at, os.SEEK_SET)
        return os.read(descriptor, size)


def _descriptor(path: Path) -> int:
    with forking.undivided(), _guard:
        stack, descriptors = _kept.setdefault(os.path.abspath(path), (ExitStack(), {}))
        known = descriptors.get(os.stat(path).st_ino)
        if known is not None:
            return known
        flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
        opened = os.open(path, flags)
        stack.enter_context(forking.kept(opened))
        return descriptors.setdefault(os.fstat(opened).st_ino, opened)


def _begin_anew() -> None:
    """In a child, whose copies of the descriptors are closed."""
    global _guard
    _guard = threading.Lock()
    _users.clear()
    _kept.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)

"""Who else is at it: locks between processes, and whether another program has a file open.

In: the path of a lock file that is never replaced, or an open descriptor. Out: the lock, held while
the block runs, or `Locked` that names the holder. `flock` is freed by the system when its holder
dies and belongs to one descriptor, so it also holds between threads and survives a close elsewhere.
A fork has no part in it.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

from huimem import forking
from huimem.errors import Locked, WriteFailed
from huimem.refusals import remedy

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_FIRST_WAIT, _LONGEST_WAIT = 0.001, 0.02
_TRIES = 5  # at least, for a lock file that is deleted while it is taken

verb = ""  # what this process does, for others to read: the command line sets it, and nobody else


@contextmanager
def lock(
    path: Path, *, timeout: float = 10.0, shared: bool = False, make: bool = True
) -> Iterator[Callable[[], bool]]:
    """Hold the lock of `path` (made with its folder, 0600 and 0700) while the block runs.

    Without `make` the folder must be there: one that was moved away is not made anew. Waits at most
    `timeout` seconds, then raises `Locked` with the holder's process and command; `WriteFailed` where
    the lock file itself cannot be made. Not reentrant. What the block gets tells whether it still holds
    the lock: somebody may delete the file, and others then lock another one.
    """
    process = os.getpid()
    with ExitStack() as until_released:
        descriptor = _taken(path, make, timeout, shared, until_released)
        try:
            if not shared:
                _sign(descriptor)
            yield partial(_stands, descriptor, path)
        finally:
            if os.getpid() == process:  # a fork does not release what its parent holds
                _release(descriptor)


def _taken(path: Path, make: bool, timeout: float, shared: bool, until_released: ExitStack) -> int:
    """A descriptor of the file that stands at `path`, locked: a lock on a deleted one keeps nobody out."""
    end, tries = time.monotonic() + timeout, 0
    while tries < _TRIES or time.monotonic() < end:
        with ExitStack() as tried:
            with forking.undivided():
                descriptor = _opened(path, make)
                tried.enter_context(forking.kept(descriptor))
            _wait(descriptor, path, end, timeout, shared)
            if _stands(descriptor, path):
                until_released.enter_context(tried.pop_all())
                return descriptor
        tries += 1
    raise Locked(f"{path.name} is deleted again and again", "Find out which program does so, and stop it.")


def _stands(descriptor: int, path: Path) -> bool:
    """Whether an open file is the one that others find at `path`."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except OSError:
        return False


def _opened(path: Path, make: bool) -> int:
    try:
        if make:
            _make(path.parent)
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        return os.open(path, flags, 0o600)
    except OSError as error:
        full = remedy(path, error) if error.errno == errno.ENOSPC else ""
        raise WriteFailed(
            f"{path} cannot be made: {error.strerror or error}",
            full or "The state folder must be writable; `state_dir` in the user config moves it.",
        ) from error


def _make(folder: Path) -> None:
    """Make a folder and those above it, each 0700 (`parents=True` would leave those to the umask)."""
    if not folder.is_dir():
        _make(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def _wait(descriptor: int, path: Path, end: float, timeout: float, shared: bool) -> None:
    pause = _FIRST_WAIT
    while not _try(descriptor, shared):
        if time.monotonic() >= end:
            holder = _holder(descriptor)
            raise Locked(
                f"{path.name} is locked by {holder}",
                f"Wait until it has finished, or stop it (waited {timeout:g} s).",
            )
        with forking.divided():
            time.sleep(pause)
        pause = min(pause * 2, _LONGEST_WAIT)


def _sign(descriptor: int) -> None:
    """Write who holds the lock: process, program and verb, since arguments may hold a question's text."""
    command = f"{Path(sys.argv[0] if sys.argv else '').name} {verb}".strip()
    with suppress(OSError):  # a full disk must not stop the work that frees it
        line = f"{os.getpid()} {command}\n".encode("utf-8", "replace")
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, line)
        if os.fstat(descriptor).st_size > len(line):  # to cut a file costs more than to write it
            os.ftruncate(descriptor, len(line))


def _holder(descriptor: int) -> str:
    os.lseek(descriptor, 0, os.SEEK_SET)
    line = os.read(descriptor, 200).decode("utf-8", "replace").partition("\n")[0]
    pid, _, command = line.strip().partition(" ")
    return f"process {pid} ({command or 'unknown command'})" if pid else "another process"


if sys.platform == "win32":
    # The locked byte lies beyond the text, which others must be able to read.
    _BYTE = 1 << 30

    def _try(descriptor: int, shared: bool) -> bool:
        os.lseek(descriptor, _BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _release(descriptor: int) -> None:
        os.lseek(descriptor, _BYTE, os.SEEK_SET)
        with suppress(OSError):
            msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

    def written_elsewhere(descriptor: int) -> bool:
        """Windows refuses the rename itself while another program has the file open."""
        return False

else:

    def _try(descriptor: int, shared: bool) -> bool:
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _release(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)

    def written_elsewhere(descriptor: int) -> bool:
        """Whether another program has this file open for writing; False where the system cannot tell.

        A read lease (Linux, fcntl(2)) is granted only on a file that nobody has open for writing.
        """
        if not hasattr(fcntl, "F_SETLEASE") or not hasattr(fcntl, "F_SETSIG"):
            return False
        try:
            # A lease that is broken in the instant we hold it raises a signal: one ignored by default.
            fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        except OSError as error:
            return error.errno == errno.EAGAIN
        return False

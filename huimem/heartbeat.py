"""What a watcher tells other processes, and what they make of it.

In: the watcher's standing. Out: a lock that says it lives, a small file that says how it does, and whose
time of change says that it is not stuck. Times in the file are of the clock that counts since the start
of the machine, which all processes share.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from huimem import files
from huimem.errors import HuimemError, Locked, WriteFailed

FILE = "watch.json"
LOCK = "locks/watch.lock"
STALE = 2.0  # a beat older than this means that the watcher is stuck


@dataclass(frozen=True, slots=True)
class Standing:
    """How a watcher stands. `mode` is "events", "polling" (`why` says the reason) or "waiting".

    `started`, `looked`, `event`: monotonic seconds, None where it has not come to that. `left` are the
    seconds that the vectors still missing will take, None where nobody can say; `vectors`: whether it
    makes any.
    """

    pid: int
    started: float
    mode: str = "events"
    why: str = ""
    looked: float | None = None
    event: float | None = None
    done: int = 0
    total: int = 0
    left: float | None = None
    vectors: bool = True
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Watcher:
    """A watcher as others see it: its standing (None: not to be read), and the seconds since things.

    `beat`, `looked`, `event` and `running` are ages in seconds, None where not known.
    """

    standing: Standing | None
    beat: float | None = None
    looked: float | None = None
    event: float | None = None
    running: float | None = None

    @property
    def stuck(self) -> bool:
        """Whether it holds its lock and does nothing: stopped, or hanging."""
        return self.beat is None or self.beat > STALE


def seen(state: Path, *, now: float) -> Watcher | None:
    """The watcher of the vault with that state folder; None where there is none.

    `now`: seconds since 1970 by the clock that stamps files.
    """
    if not _held(state / LOCK):
        return None
    try:
        data, stamp = files.read(state / FILE)
        given = json.loads(data)
        standing = Standing(**{each.name: given[each.name] for each in fields(Standing)})
    except (HuimemError, ValueError, KeyError, TypeError):
        return Watcher(None)
    uptime = time.monotonic()
    return Watcher(
        standing,
        max(0.0, now - stamp.mtime_ns / 1e9),
        _age(standing.looked, uptime),
        _age(standing.event, uptime),
        _age(standing.started, uptime),
    )


def _held(path: Path) -> bool:
    if not path.exists():
        return False
    try:
        with files.lock(path, timeout=0.0, shared=True, make=False):
            return False
    except Locked:
        return True
    except WriteFailed:  # a state folder that is not ours to write in has no watcher of ours
        return False


def _age(at: float | None, now: float) -> float | None:
    return None if at is None or at > now else now - at


@dataclass(slots=True)
class Lease:
    """The right to be the one watcher of a vault, for as long as its lock file stands."""

    path: Path
    _held: ExitStack = field(default_factory=ExitStack)
    _inode: int | None = None

    def take(self, wait: float) -> None:
        """Raises `Locked` with the holder after `wait` seconds, `WriteFailed` where no lock can be made."""
        files.make_folder(self.path.parent, within=self.path.parent.parent)
        self._held.enter_context(files.lock(self.path, timeout=wait, make=False))
        self._inode = _inode(self.path)

    def keep(self) -> None:
        """Take it again where somebody deleted the lock file. Raises `Locked` if another was faster.

        Where the whole state folder is gone, the next look makes it, and nothing is taken before.
        """
        if _inode(self.path) != (self._inode or 0) and self.path.parent.parent.is_dir():
            self.release()
            with suppress(WriteFailed):
                self.take(0.0)

    def release(self) -> None:
        self._inode = None
        self._held.close()


def _inode(path: Path) -> int | None:
    try:
        return os.stat(path).st_ino
    except OSError:
        return None


@contextmanager
def lease(state: Path, *, wait: float = 1.0) -> Iterator[Lease]:
    """Be the watcher of the vault with that state folder. Raises `Locked` with the one that is."""
    files.make_derived_folder(state)
    held = Lease(state / LOCK)
    held.take(wait)
    try:
        yield held
    finally:
        held.release()


class Heart:
    """Beats while the watcher lives: touches its file, rewrites it when the standing has changed.

    A thread of its own, so that a long look is no silence; it beats only while `pulse` is called, or
    while a look is under way. What the disk refuses is let be, and no folder is made: a vault that was
    moved away must not come to be anew.
    """

    def __init__(self, state: Path, *, beat: float = 0.5) -> None:
        self._path, self._beat = state / FILE, beat
        self._standing = Standing(os.getpid(), time.monotonic())
        self._written: Standing | None = None
        self._pulse = time.monotonic()
        self._working = False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="huimem-heart", daemon=True)

    def __enter__(self) -> Heart:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join(2.0)
        with suppress(HuimemError):
            files.remove(self._path)

    @property
    def standing(self) -> Standing:
        return self._standing

    def tell(self, standing: Standing) -> None:
        """How the watcher stands from now on."""
        self._standing = standing

    def pulse(self) -> None:
        """The watcher is alive at this moment."""
        self._pulse = time.monotonic()

    @contextmanager
    def working(self) -> Iterator[None]:
        """The watcher does something that may take long."""
        self._working = True
        try:
            yield
        finally:
            self._working = False
            self.pulse()

    def _run(self) -> None:
        while not self._ended.is_set():
            if self._working or time.monotonic() - self._pulse < STALE:
                with suppress(HuimemError, OSError):
                    self._beat_once()
            self._ended.wait(self._beat)

    def _beat_once(self) -> None:
        standing = self._standing
        if standing == self._written:
            with suppress(FileNotFoundError):
                os.utime(self._path)
                return
        self._written = None
        files.jot(self._path, json.dumps(asdict(standing)).encode())
        self._written = standing

"""Passages without a vector → vectors, in a thread that gives way to everything else.

In: an index, and a wake after each change. Out: how far it is and how long it will take. Newest first,
in slices of a few seconds; a cut-off slice loses at most one batch. A wake ends a slice, for there is
something newer, but not before the slice was worth its cost.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from huimem.errors import HuimemError, Locked, unexpected
from huimem.folders import identity
from huimem.index.index import Index
from huimem.index.rows import EmbedReport
from huimem.yielding import give_way

FADING = 0.7  # how much of what was measured before counts beside the newest slice
LONGEST_STOP = 20.0
# Seconds that a slice goes on though something newer waits: wakes without a pause must not starve it.
WORTH = 1.0
STUCK = 10.0  # seconds after which one who makes vectors, and makes none, is not waited for
CLEAR_FIRST, CLEAR_EVERY = 600.0, 86_400.0  # seconds


@dataclass(frozen=True, slots=True)
class Vectors:
    """Passages with their vector, all of them, the seconds that the rest will take (None: unknown)."""

    done: int = 0
    total: int = 0
    left: float | None = None


@dataclass(frozen=True, slots=True)
class Other:
    """Another process that makes vectors: what was to be seen of its work, and since when on which clock."""

    seen: object = None
    since: float = 0.0

    def after(self, seen: object, now: float) -> Other:
        """The same once more, `now` in monotonic seconds."""
        return self if seen == self.seen else Other(seen, now)

    def is_stuck(self, now: float) -> bool:
        """Whether its work did not go on for `STUCK` seconds, as when it is stopped."""
        return self.seen is not None and now - self.since > STUCK


@dataclass(frozen=True, slots=True)
class Pace:
    """What was made in how many seconds, older slices fading out."""

    made: float = 0.0
    seconds: float = 0.0

    def after(self, made: int, seconds: float) -> Pace:
        """The pace with one more slice."""
        return Pace(self.made * FADING + made, self.seconds * FADING + seconds)

    def left(self, pending: int) -> float | None:
        """Seconds for so many more; None while nothing was made."""
        if not pending:
            return 0.0
        return pending * self.seconds / self.made if self.made else None


class Background:
    """The thread that gives passages their vectors. A context manager; it begins at the first `wake`.

    Without an embedder there is no thread. After a wake it waits for `pause` seconds, so that several are
    one, unless somebody waits for it. `first` is done before each slice. Nothing is begun once
    `root`, the vault's folder, is another one or gone: it must not come to be anew. `fault` says what goes
    wrong, "" once it goes well.
    """

    def __init__(
        self,
        index: Index,
        root: Path,
        *,
        seconds: float = 20.0,
        backoff: float = 30.0,
        first: Callable[[], object] | None = None,
        pause: float = 0.0,
    ) -> None:
        self._index, self._root, self._home = index, root, identity(root)
        self._slice, self._backoff, self._first = seconds, backoff, first
        self._starting, self._idle = threading.Lock(), threading.Event()
        self._pause, self._hurried = pause, threading.Event()
        self._idle.set()
        self._woken, self._ended, self.resting = threading.Event(), threading.Event(), True
        self._pace, self._other = Pace(), Other()
        self._clear_at = time.monotonic() + CLEAR_FIRST
        self._state = Vectors()
        self.fault = ""
        self._thread = threading.Thread(target=self._run, name="huimem-vectors", daemon=True)

    def __enter__(self) -> Background:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def stop(self, seconds: float = LONGEST_STOP) -> None:
        """End the thread, and wait for that at most `seconds`: a call of the embedder cannot be cut off."""
        self._ended.set()
        self._hurried.set()
        self._woken.set()
        if self._thread.is_alive():
            self._thread.join(seconds)

    def wake(self) -> None:
        """A look went well; there may be passages without a vector."""
        self._home = identity(self._root)
        self.resting = False
        if self._index.embedder is None:
            return
        self._idle.clear()
        self._woken.set()
        with self._starting:
            if self._thread.ident is None:
                self._thread.start()

    def wait(self, seconds: float) -> bool:
        """Wait until there is nothing left to do, at most `seconds`; whether it came to that."""
        self._hurried.set()
        return self._idle.wait(seconds)

    @property
    def ending(self) -> bool:
        """Whether it was told to stop."""
        return self._ended.is_set()

    def rest(self) -> None:
        """Begin nothing until the next `wake`."""
        self.resting = True

    @property
    def state(self) -> Vectors:
        """How far it is."""
        return self._state

    def _run(self) -> None:
        give_way()
        while not self._ended.is_set():
            self._woken.wait()
            self._hurried.wait(self._pause)
            self._hurried.clear()
            self._woken.clear()
            self._until_none_is_left()
            if not self._woken.is_set():
                self._idle.set()

    def _until_none_is_left(self) -> None:
        tries = 0
        while not (self._is_called() or self.resting) and self._stands():
            try:
                left = self._embed()
            except Locked:
                if self._is_done():
                    return
                self._other = self._other.after((self._state.done, self._index.last_made()), time.monotonic())
                self._ended.wait(min(0.5, self._backoff))
            except Exception as error:
                tries += 1
                if tries > 1 and self._stands():  # what goes well at once the next time is not worth a word
                    self.fault = f"cannot keep up for now: {told(error)}"
                self._ended.wait(wait_of(tries, self._backoff))
            else:
                self.fault, tries = "", 0
                if not left:
                    self._other = Other()
                    self._clear_out()
                    return

    def _clear_out(self) -> None:
        """Now and then, when nothing else is to be done, forget what nobody has needed for days."""
        if time.monotonic() >= self._clear_at:
            self._clear_at = time.monotonic() + CLEAR_EVERY
            with suppress(HuimemError):
                self._index.forget_unused()

    def _stands(self) -> bool:
        return self._home is not None and identity(self._root) == self._home

    def _embed(self) -> bool:
        """One slice; whether there is more that can be made."""
        if self._first is not None:
            self._first()
        self._count()
        start = time.monotonic()
        report: EmbedReport = self._index.embed(
            seconds=self._slice,
            wait=2.0,
            stop=partial(self._is_to_end, start + min(WORTH, self._slice)),
            alone=not self._other.is_stuck(start),
        )
        self._pace = self._pace.after(report.cached + report.embedded, time.monotonic() - start)
        self._count()
        return report.pending > 0 and report.cached + report.embedded > 0

    def _is_to_end(self, earliest: float) -> bool:
        """Whether to end the slice: nobody waits for vectors any more, or there is something newer."""
        return self._ended.is_set() or (self._woken.is_set() and time.monotonic() >= earliest)

    def _is_called(self) -> bool:
        """Whether there is something newer, or nobody waits for vectors any more."""
        return self._ended.is_set() or self._woken.is_set()

    def _is_done(self) -> bool:
        """Whether another process has made what there was to make."""
        self._count()
        return self._state.done == self._state.total

    def _count(self) -> None:
        building = self._index.building()
        done, total = building[1:] if building else self._index.coverage()
        self._state = Vectors(done, total, self._pace.left(total - done))


def told(error: Exception) -> str:
    """An error in one line, without anything that was said."""
    if isinstance(error, HuimemError):
        return f"{error.message} – {error.hint}" if error.hint else error.message
    return unexpected(error)


def wait_of(tries: int, longest: float) -> float:
    """Seconds to wait after so many failures in a row: 0.5, 1, 2, 4 … up to `longest`."""
    return float(min(longest, 0.5 * 2 ** min(tries - 1, 30)))

"""A memory that stays open → its index follows, a moment after each question or record.

In: a vault and its index. Out: what is new taken in and embedded, in a thread that gives way to
everything else, unless a watcher does so; and what goes wrong there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from huimem import heartbeat, upkeep
from huimem.background import LONGEST_STOP, Background
from huimem.heartbeat import Standing
from huimem.index.index import Index
from huimem.vault.vault import Vault

PATIENCE = 1.0  # seconds to wait for another process that is bringing files in
PAUSE = 1.0  # seconds in which several questions and records are answered by one look


class Following:
    """What one memory does after its verbs; without an embedder, or where it is not `wanted`, nothing.

    `clock`: seconds since 1970 by the clock that stamps files.
    """

    def __init__(self, vault: Vault, index: Index, *, wanted: bool, clock: Callable[[], float]) -> None:
        self._state, self._clock = vault.state, clock
        self._able = wanted and index.embedder is not None
        look = partial(upkeep.look, vault, index, wait=PATIENCE, aloud=False, stop=self._is_ending)
        self._background = Background(index, vault.root, first=look, pause=PAUSE)
        self._patience = LONGEST_STOP

    @property
    def expected(self) -> bool:
        """Whether somebody takes in what is new, we or a watcher."""
        return self._able or self._watcher() is not None

    @property
    def fault(self) -> str:
        """What goes wrong in the background, "" while all is well."""
        return self._background.fault

    def wake(self) -> None:
        """There is something to take in or to embed."""
        watcher = self._watcher() if self._able else None
        if self._able and (watcher is None or not watcher.vectors):
            self._background.wake()

    def _watcher(self) -> Standing | None:
        """The watcher that keeps the index in step; None where there is none, or it is stuck."""
        found = heartbeat.seen(self._state, now=self._clock())
        return None if found is None or found.stuck else found.standing

    def wait(self, seconds: float) -> None:
        """Until there is nothing left to do, at most `seconds`; the end does not take longer either."""
        self._patience = seconds
        self._background.wait(seconds)

    def close(self) -> None:
        """Stop within a file or a batch."""
        self._background.stop(self._patience)

    def _is_ending(self) -> bool:
        return self._background.ending

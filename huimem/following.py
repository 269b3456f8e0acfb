"""A memory that stays open → its index follows, a moment after each question or record.

In: a vault and its index. Out: what is new taken in and embedded, in a thread that gives way to
everything else, unless a watcher does so; and what goes wrong there.
"""

from __future__ import annotations

from functools import partial

from huimem import upkeep
from huimem.background import Background
from huimem.heartbeat import watched
from huimem.index.index import Index
from huimem.vault.vault import Vault

PATIENCE = 1.0  # seconds to wait for another process that is bringing files in
PAUSE = 0.3  # seconds in which several questions and records are answered by one look


class Following:
    """What one memory does after its verbs; without an embedder, or where it is not `wanted`, nothing."""

    def __init__(self, vault: Vault, index: Index, *, wanted: bool) -> None:
        self._state = vault.state
        self._able = wanted and index.embedder is not None
        first = partial(upkeep.look, vault, index, wait=PATIENCE)
        self._background = Background(index, vault.root, first=first, pause=PAUSE)

    @property
    def expected(self) -> bool:
        """Whether somebody takes in what is new, we or a watcher."""
        return self._able or watched(self._state)

    @property
    def fault(self) -> str:
        """What goes wrong in the background, "" while all is well."""
        return self._background.fault

    def wake(self) -> None:
        """There is something to take in or to embed."""
        if self._able and not watched(self._state):
            self._background.wake()

    def wait(self, seconds: float) -> None:
        """Until there is nothing left to do, at most `seconds`."""
        self._background.wait(seconds)

    def close(self) -> None:
        """Stop within a batch."""
        self._background.__exit__()

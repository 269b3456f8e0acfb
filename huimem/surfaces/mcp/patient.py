"""A memory whose words may still be on their way in: it answers from what there is, newest files first.

In: a vault, and whether somebody takes all of it in just now. Out: a `Memory` like any other, whose
questions do not wait for that, and do not begin it a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from huimem.index.sync import Listing
from huimem.memory import Memory
from huimem.upkeep import CaughtUp, Progress

MEANWHILE = 0.3  # seconds in which a question reads, by itself, what was written last


def _never() -> bool:
    return False


class Patient(Memory):
    """`taking_in` says whether another thread brings all words in; set it before questions come."""

    taking_in: Callable[[], bool] = staticmethod(_never)

    def caught_up(self, progress: Progress | None = None) -> AbstractContextManager[CaughtUp]:
        """Words of every file as it is now; while they are taken in, those that are in and the newest."""
        return self._meanwhile() if self.taking_in() else super().caught_up(progress)

    @contextmanager
    def _meanwhile(self) -> Iterator[CaughtUp]:
        overlay = self.index.beside(self._listing, self.vault.held, seconds=MEANWHILE)
        if overlay is None:  # only where a most was given
            yield CaughtUp(0)
            return
        with overlay.snapshot or nullcontext() as snapshot:
            beside = snapshot if overlay.held else None
            yield CaughtUp(overlay.left, overlay.hidden, beside, self.index.said())

    def _listing(self) -> Listing:
        scan = self.vault.scan()
        return Listing(scan.stamps, scan.unreadable)

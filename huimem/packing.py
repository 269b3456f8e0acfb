"""Months that are cold → packed once a day by themselves, where `archive.auto` asks for it.

In: a vault, its index, a clock. Out: a `Packing` a day, in a thread that gives way to everything else. When
it was done last stands in the state folder.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from huimem import files, upkeep
from huimem.background import LONGEST_STOP, told
from huimem.errors import HuimemError, Problem
from huimem.files import Unreadable
from huimem.index.index import Index
from huimem.vault.archive import Done
from huimem.vault.cold import Plan, plan
from huimem.vault.vault import Vault
from huimem.yielding import give_way

PACKED_AT = "packed_at"  # in the state folder: when months were last packed by themselves
EVERY = timedelta(days=1)
RETRY = 3600.0  # seconds until a packing that could not be done is tried again


@dataclass(frozen=True, slots=True)
class Packing:
    """What a daily packing did: the archives that it wrote to, the cold files that stay, what went wrong."""

    done: tuple[Done, ...] = ()
    kept: tuple[Problem, ...] = ()
    faults: tuple[str, ...] = ()


def last_packed(state: Path) -> datetime | None:
    """When months were last packed by themselves; None where they never were, or nobody can tell."""
    with suppress(Unreadable, ValueError):
        at = datetime.fromisoformat(files.read(state / PACKED_AT, limit=64)[0].decode().strip())
        return at if at.tzinfo else None
    return None


def is_due(last: datetime | None, now: datetime) -> bool:
    """Whether a day has passed since the last time. One to come, from a clock that was wrong, is none."""
    return last is None or not timedelta() <= now - last < EVERY


class Packer:
    """Packs cold months in a thread that gives way to everything else, when a day has passed since it did.

    The last time is kept in the state folder. A context manager: at its end it stops behind the month that
    it is at.
    """

    def __init__(self, vault: Vault, index: Index, clock: Callable[[], datetime]) -> None:
        self._vault, self._index, self._clock = vault, index, clock
        self._at = last_packed(vault.state)
        self._not_before = 0.0
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self.last = Packing()  # what the last one did that has ended

    def __enter__(self) -> Packer:
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join(LONGEST_STOP)

    def turn(self) -> Packing | None:
        """Begin where that is due; what was done by one that has just ended."""
        if self._thread is not None and not self._thread.is_alive():
            self._thread = None
            return self.last
        rested = time.monotonic() >= self._not_before
        if self._thread is None and rested and is_due(self._at, self._clock()):
            self._thread = threading.Thread(target=self._run, name="huimem-packing", daemon=True)
            self._thread.start()
        return None

    def _run(self) -> None:
        give_way()
        done: list[Done] = []
        kept: list[Problem] = []
        faults: list[Exception] = []
        try:
            planned = plan(self._vault, self._clock(), stop=self._ended.is_set)
            kept += planned.kept
            for place, cold in planned.months.items():
                if self._ended.is_set():
                    return
                try:
                    done += upkeep.archive(self._vault, self._index, Plan({place: cold}))
                except Unreadable as error:  # the others can be packed all the same
                    faults.append(error)
        except Exception as error:
            faults.append(error)
        kept += [problem for one in done for problem in one.kept]
        self.last = Packing(tuple(done), tuple(kept), tuple(f"not packed: {told(error)}" for error in faults))
        self._not_before = time.monotonic() + RETRY
        if all(isinstance(error, Unreadable) for error in faults):
            self._note(self._clock())

    def _note(self, at: datetime) -> None:
        self._at = at
        with suppress(HuimemError, OSError):  # it is packed once more then, which finds nothing to do
            files.jot(self._vault.state / PACKED_AT, at.isoformat(timespec="seconds").encode())

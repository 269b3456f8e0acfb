"""A vault that people edit → an index that follows, round by round, for as long as somebody listens.

In: a vault, its index. Out: a `Round` for the first look, and for each later one that changed or said
something. A loop and not a lifecycle: closing the generator ends all. Nothing but a lost lease ends it
from inside; what goes wrong is said and tried again. Where `archive.auto` asks for it, cold months are
packed once a day meanwhile.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime

from huimem import upkeep
from huimem.background import Background, Vectors, told, wait_of
from huimem.errors import Locked, VaultError
from huimem.heartbeat import Heart, lease
from huimem.index.index import Index
from huimem.packing import Packer, Packing
from huimem.upkeep import Synced
from huimem.vault.hearing import WAITING, Hearing, Pace
from huimem.vault.vault import Vault
from huimem.vault.watch import Observer, Watch

__all__ = ["Pace", "Round", "rounds"]

# Looks in a row that another process may be in the way of before that is worth a word.
BUSY = 4


@dataclass(frozen=True, slots=True)
class Round:
    """One turn of the watching: what a look did (None: none was taken, or it failed), and how things stand.

    `mode` is "events", "polling" (`why` says the reason) or "waiting" for the vault's folder. `warnings`
    are said once until they change. `files` counts those of the last look that went well. `packed` is the
    packing of this day, in the round in which it has ended.
    """

    did: Synced | None
    mode: str
    why: str = ""
    warnings: tuple[str, ...] = ()
    files: int = 0
    vectors: Vectors | None = None
    packed: Packing | None = None


def rounds(
    vault: Vault,
    index: Index,
    *,
    stop: threading.Event | None = None,
    vectors: bool = True,
    pace: Pace = Pace(),  # noqa: B008
    observer: Callable[[], Observer] | None = None,
    clock: Callable[[], datetime] | None = None,
) -> Generator[Round]:
    """Keep the index in step with the files until `stop` is set or the generator is closed.

    `vectors` follow in a thread of their own, and so does the packing of months that are cold by `clock`;
    without one nothing is packed. Raises Locked, at once or when the state folder was
    deleted, where another process watches the vault; WriteFailed where no lock can be made.
    """
    index.refuse_fork()
    vault.archives.unpacked.clean()
    stop = stop or threading.Event()
    with ExitStack() as until_closed:
        held = until_closed.enter_context(lease(vault.state, wait=pace.lease))
        heart = until_closed.enter_context(Heart(vault.state, beat=pace.beat))
        background: Background | None = None
        if vectors and index.embedder is not None:
            background = Background(index, vault.root, seconds=pace.embed, backoff=pace.backoff)
            until_closed.enter_context(background)
        packer = None
        if clock is not None and vault.config.archive.auto:
            packer = until_closed.enter_context(Packer(vault, index, clock))
        watch = Watch(vault.root, vault.state, vault.config.include, observer=observer)
        until_closed.enter_context(watch)
        watching = _Watching(vault, index, pace, _Parts(watch, heart, background, packer))
        try:
            while not stop.is_set():
                index.refuse_fork()
                held.keep()
                now = watching.turn()
                if now is not None:
                    yield now
                watching.pause()
        finally:
            if index.inherited:  # all of it is the parent's, who goes on with it
                until_closed.pop_all()


@dataclass(frozen=True, slots=True)
class _Parts:
    """What works for a watching. `background` is None where no vectors are made, `packer` where no months
    are packed."""

    watch: Watch
    heart: Heart
    background: Background | None
    packer: Packer | None


@dataclass(frozen=True, slots=True)
class Missed:
    """Files that vanished in suspicious numbers, and since when (monotonic seconds)."""

    paths: tuple[str, ...] = ()
    since: float = 0.0

    def confirmed(self, now: float) -> tuple[str, ...]:
        """Those that have been missed for long enough to be gone."""
        return self.paths if now >= self.since + upkeep.HOLD else ()

    def after(self, held: tuple[str, ...], now: float) -> Missed:
        """What is missed after one more look."""
        return Missed(held, self.since if held == self.paths else now)


class _Watching:
    """The state of one watching, which moves on by `turn`."""

    def __init__(self, vault: Vault, index: Index, pace: Pace, parts: _Parts) -> None:
        self._vault, self._index, self._pace = vault, index, pace
        self._watch, self._heart, self._background = parts.watch, parts.heart, parts.background
        self._packer = parts.packer
        self._hearing = Hearing(vault.root, self._watch, pace)
        self._files = 0
        self._failures = 0
        self._begun = False
        self._looked: tuple[str, ...] = ()  # what the last look complained of
        self._missed = Missed()
        self._announced = False  # events that no look has answered yet
        self._wrong: tuple[str, ...] = ()
        self._vectors, self._vectors_at = Vectors(), time.monotonic()

    def turn(self) -> Round | None:
        """Do what is due; a round if there is something to tell."""
        self._heart.pulse()
        due = self._hearing.turn()
        did = self._look() if due else None
        if self._background and self._hearing.mode == WAITING:
            self._background.rest()
        packed = self._packer.turn() if self._packer and self._begun else None
        warnings = self._news()
        self._tell_others(due)
        first = did is not None and not self._begun
        self._begun |= first
        if first or warnings or packed or (did is not None and did.report) or self._vectors_moved():
            vectors = self._background.state if self._background else None
            mode, why = self._hearing.mode, self._hearing.why
            return Round(did, mode, why, warnings, self._files, vectors, packed)
        return None

    def pause(self) -> None:
        """Wait for an event or the next thing to do."""
        self._watch.wait(self._hearing.pause())

    def _look(self) -> Synced | None:
        """Bring what changed into the index; None where that failed."""
        start = time.monotonic()
        self._announced |= self._watch.take()
        try:
            with self._heart.working():
                missed = self._missed.confirmed(start)
                did = upkeep.look(self._vault, self._index, missed=missed, wait=self._pace.wait)
        except Exception as error:
            self._failures += 1
            if not isinstance(error, Locked) or self._failures > BUSY:
                self._looked = (told(error),)
            self._hearing.look_in(wait_of(self._failures, self._pace.backoff))
            if self._background and isinstance(error, VaultError):
                self._background.rest()
            return None
        report = did.report
        self._failures = 0
        self._looked = (*did.warnings, *did.unread)
        self._missed = self._missed.after(report.held, start)
        self._files = report.added + report.changed + report.unchanged
        self._hearing.looked(start, changed=bool(report), announced=self._announced, again=did.look_again)
        self._announced = False
        if self._background and (report or self._background.resting):
            self._background.wake()
        return did

    def _news(self) -> tuple[str, ...]:
        """What is wrong and was not said yet, and what was noticed in this turn alone."""
        fault = self._background.fault if self._background else ""
        packing = self._packer.last.faults if self._packer else ()
        now = (*self._hearing.wrong, *self._looked, *([fault] if fault else []), *packing)
        fresh = [line for line in now if line not in self._wrong]
        self._wrong = now
        noticed = [*self._hearing.noticed]
        self._hearing.noticed.clear()
        return tuple(dict.fromkeys((*noticed, *fresh)))

    def _vectors_moved(self) -> bool:
        """Whether it is time to tell how far the vectors are."""
        state, before = self._background.state if self._background else Vectors(), self._vectors
        whole = state.done == state.total
        if state == before or (not whole and time.monotonic() < self._vectors_at + self._pace.tell):
            return False
        self._vectors, self._vectors_at = state, time.monotonic()
        return state.done != before.done and state.total > 0

    def _tell_others(self, looked: bool) -> None:
        before, vectors = self._heart.standing, self._background.state if self._background else Vectors()
        self._heart.tell(
            replace(
                before,
                mode=self._hearing.mode,
                why=self._hearing.why,
                looked=time.monotonic() if looked else before.looked,
                event=self._watch.last_event,
                done=vectors.done,
                total=vectors.total,
                left=vectors.left,
                vectors=self._background is not None,
                warning=self._wrong[-1] if self._wrong else "",
            )
        )

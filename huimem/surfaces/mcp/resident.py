"""One memory that stays open for a client: opened, and its words taken in, behind the client's back.

In: how to open it. Out: the memory, as soon as a question can be asked; how far the taking in is; an end
that nothing holds up. Opening loads heavy libraries, so nothing begins before the client was greeted.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING

from huimem.errors import HuimemError, Locked, unexpected
from huimem.yielding import give_way

if TYPE_CHECKING:
    from huimem.surfaces.mcp.patient import Patient

OPENING = 60.0  # seconds that a question waits for the vault to be opened
BEGINNING = 20.0  # for its files to be listed, after which others may ask beside the taking in
LITTLE = 1.0  # for all words to be in; what is missing then is said
STEP_ASIDE, GO_ON = 2.0, 1.0  # at most so long for questions, and then at least so long on with it
PAUSE = 0.5  # between two looks while another process takes the words in
# A question that loads what the first real one would have to wait for.
FIRST_QUESTION = "memory 记忆"


@dataclass(slots=True)
class Resident:
    """Opens a memory with `opened`, once, in a thread; where that fails, each question tries again."""

    opened: Callable[[], Patient]
    _memory: Patient | None = None
    _fault: HuimemError | None = None
    _thread: threading.Thread | None = None
    _starting: threading.Lock = field(default_factory=threading.Lock)
    _tried: threading.Event = field(default_factory=threading.Event)
    _begun: threading.Event = field(default_factory=threading.Event)
    _taken_in: threading.Event = field(default_factory=threading.Event)
    _ended: threading.Event = field(default_factory=threading.Event)
    _asking: int = 0
    _quiet: threading.Condition = field(default_factory=threading.Condition)
    _went_on: float = 0.0

    def start(self) -> None:
        """Begin to open it, unless that was done or goes on."""
        with self._starting:
            if self._ended.is_set() or self._memory or (self._thread and self._thread.is_alive()):
                return
            self._tried.clear()
            self._thread = threading.Thread(target=self._run, name="huimem-opening", daemon=True)
            self._thread.start()

    def memory(self) -> Patient:
        """The open memory. Raises what keeps it from being opened, `Locked` where that takes too long."""
        self.start()
        if not self._tried.wait(OPENING):
            raise Locked("the vault is still being opened", "Ask again in a moment.")
        if self._memory is None:
            raise self._fault or Locked("the server is about to end", "Start it again.")
        return self._memory

    @contextmanager
    def question(self) -> Iterator[Patient]:
        """The same for a question: its words are in, or their taking in steps aside meanwhile."""
        memory = self.memory()
        self._begun.wait(BEGINNING)
        self._taken_in.wait(LITTLE)
        with self._quiet:
            self._asking += 1
        try:
            yield memory
        finally:
            with self._quiet:
                self._asking -= 1
                self._quiet.notify_all()

    def indexing(self) -> tuple[int, int] | None:
        """How many files are in, of how many; None once they all are, or where that cannot be told."""
        if self._taken_in.is_set() or self._memory is None:
            return None
        with suppress(HuimemError):
            total = len(self._memory.vault.scan().files)
            done = self._memory.index.counts().sources
            return (done, total) if done < total else None
        return None

    def close(self, seconds: float) -> bool:
        """Let go of it within so many seconds; whether that was done. What is cut off is lost by nobody."""
        self._ended.set()
        ending = threading.Thread(target=self._close, name="huimem-closing", daemon=True)
        ending.start()
        ending.join(seconds)
        return not ending.is_alive()

    def _close(self) -> None:
        if self._thread is not None:
            self._thread.join()
        if self._memory is not None:
            self._memory.linger(0.0)
            self._memory.close()

    def _run(self) -> None:
        try:
            memory = self.opened()
        except HuimemError as error:
            self._fault = error
        except Exception as error:
            hint = "This is a bug in huimem. `huimem doctor` may show more."
            self._fault = HuimemError(unexpected(error), hint)
        else:
            memory.taking_in = self._is_taking_in
            self._memory = memory
        self._tried.set()
        if self._memory is None:
            return
        # A thread of its own: a thread that has given way can never again be quick.
        taking = threading.Thread(
            target=self._take_in, args=(self._memory,), name="huimem-words", daemon=True
        )
        taking.start()
        taking.join()
        if not self._ended.is_set():
            with suppress(Exception):
                self._memory.recall(FIRST_QUESTION)

    def _take_in(self, memory: Patient) -> None:
        """Bring the words of all files in. What goes wrong here, each question meets and tells by itself."""
        give_way()
        memory.vault.archives.unpacked.clean()
        try:
            while not self._ended.is_set() and self._is_left(memory):
                self._ended.wait(PAUSE)
        except Exception:
            return
        finally:
            self._begun.set()
            self._taken_in.set()

    def _is_left(self, memory: Patient) -> bool:
        """One look at the files; whether another must follow, since somebody else is at it."""
        look = import_module("huimem.upkeep").look
        try:
            report = look(memory.vault, memory.index, wait=PAUSE, aloud=False, stop=self._is_to_stop).report
        except Locked:
            self._begun.set()
            return True
        return bool(report.missed)

    def _is_taking_in(self) -> bool:
        return not self._taken_in.is_set()

    def _is_to_stop(self) -> bool:
        """Asked before each file, once nobody else can take them in. Questions go first."""
        self._begun.set()
        if self._asking and time.monotonic() - self._went_on > GO_ON:
            with self._quiet:
                self._quiet.wait_for(lambda: not self._asking or self._ended.is_set(), STEP_ASIDE)
            self._went_on = time.monotonic()
        return self._ended.is_set()

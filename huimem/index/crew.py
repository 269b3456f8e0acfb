"""Sources that were read → the same cut, in their order, by this process and by others beside it.

In: what reading each file said. Out: the same, cut where it was to be. Others help where there is much to
do and more than one processor to do it; whatever goes wrong with them, this process does the work itself.
They are given texts through pipes alone, and end with the sync or when this process does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Self

from huimem import forking
from huimem.errors import Problem
from huimem.index import worker
from huimem.index.mentions import Times
from huimem.index.sources import CutSource, Uncut, cut_source

# Starting another process costs as much as cutting half a megabyte.
LEAST_FILES, LEAST_BYTES = 300, 4_000_000
MOST_HELPING = 6  # processes
JOB_TEXT, JOB_FILES = 128_000, 64  # characters and files that are sent at once
AHEAD = 6  # jobs for each process that are read before they are needed: bounds memory
LATE = 5.0  # seconds that a job is waited for before this process does it too
_ENDING = 5.0  # seconds that a killed process may take to be gone

# The child takes the search path of its parent, and nothing else of how that was started.
_BEGIN = """
import sys, json
sys.path[:] = json.loads(sys.stdin.buffer.readline())
from huimem.index.worker import serve
serve()
"""


@dataclass(slots=True)
class Look:
    """What reading one file said: `uncut` is to be cut, `facts` are to be written of what stands as it is.

    `made` is what cutting made of it. A `problem` of a `nameless` file cannot be kept under its name. Of a
    packed file with that `digest`: it has the rows of the path it `moved` from, or else is a shadow.
    """

    path: str
    uncut: Uncut | None = None
    facts: tuple[str, bool, str] | None = None
    problem: Problem | None = None
    nameless: bool = False
    made: CutSource | None = None
    digest: str = ""
    moved: str = ""


@dataclass(slots=True)
class _Job:
    """Some looks in a row, to be cut by whoever comes first."""

    looks: list[Look] = field(default_factory=list)
    text: int = 0  # characters
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def full(self) -> bool:
        return self.text >= JOB_TEXT or len(self.looks) >= JOB_FILES

    def add(self, look: Look) -> None:
        self.looks.append(look)
        if look.uncut is not None:
            self.text += sum(
                len(message.text) for record in look.uncut.source.records for message in record.messages
            )

    def uncut(self) -> list[tuple[Look, Uncut]]:
        return [(look, look.uncut) for look in self.looks if look.uncut is not None and look.made is None]

    def cut(self, times: Times | None) -> None:
        """Do it here. What cannot be cut stays as it is: who takes it says why."""
        for look, uncut in self.uncut():
            try:
                look.made = cut_source(uncut, times)
            except Exception:
                continue
        self.ended.set()


class Crew:
    """This process, and others that help it while the block runs; `helping` of them once there is a job."""

    def __init__(self, times: Times | None, helping: int = 0) -> None:
        self._times, self._helping = times, helping
        self._greeting = b""
        self._waiting: deque[_Job] = deque()
        self._changed, self._begun, self._closed = threading.Condition(), False, False
        self._children: list[subprocess.Popen[bytes]] = []
        self._threads: list[threading.Thread] = []
        self._pipes = ExitStack()

    @classmethod
    def needed(cls, times: Times | None, files: int, size: int) -> Crew:
        """As many as pays for so many files of together `size` bytes."""
        much = files >= LEAST_FILES or size >= LEAST_BYTES
        return cls(times, min(_processors() - 1, MOST_HELPING) if much and _may_help(times) else 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Let the others go; what they have not answered yet is lost."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._changed.notify_all()
        for child in self._children:
            child.kill()
        for child in self._children:
            child.wait()
        for thread in self._threads:
            thread.join(_ENDING)
        self._pipes.close()

    def cut(self, looks: Iterator[Look], stopped: Callable[[], bool]) -> Iterator[Look]:
        """The looks in their order. Where nobody helps each is read when it is asked for, and not cut.

        `stopped`: whether they have ended early; then those that are not cut yet are left.
        """
        return self._in_order(looks, stopped) if self._helping > 0 else looks

    def _in_order(self, looks: Iterator[Look], stopped: Callable[[], bool]) -> Iterator[Look]:
        read = _jobs(looks)
        jobs: deque[_Job] = deque()
        more = True
        while more or jobs:
            if stopped() and not (jobs and jobs[0].ended.is_set()):
                return
            if more and len(jobs) < AHEAD * self._helping:
                job = next(read, None)
                more = job is not None
                if job is not None:
                    jobs.append(job)
                    self._offer(job)
            elif jobs[0].ended.is_set():
                yield from jobs.popleft().looks
            elif (job := self._taken_back()) is not None:
                job.cut(self._times)
            else:
                with forking.divided():
                    ended = jobs[0].ended.wait(LATE)
                if not ended:
                    jobs[0].cut(self._times)

    def _offer(self, job: _Job) -> None:
        if not job.uncut():
            job.ended.set()
            return
        if not self._begun:
            self._begin()
        with self._changed:
            self._waiting.append(job)
            self._changed.notify()

    def _taken_back(self) -> _Job | None:
        """The last job that nobody has begun: the first ones are needed first, and are begun first."""
        with self._changed:
            return self._waiting.pop() if self._waiting else None

    def _next(self) -> _Job | None:
        """The next job for another process, waited for; None when there will be no more."""
        with self._changed:
            while not self._waiting and not self._closed:
                self._changed.wait()
            return self._waiting.popleft() if self._waiting else None

    def _begin(self) -> None:
        """Start the others. Where one cannot be started, fewer help."""
        self._begun = True
        for number in range(self._helping):
            try:
                self._greeting = self._greeting or _greeting(self._times)
                to, back = self._started()
            except Exception:  # the system refuses, or the rules cannot be sent: less help is no fault
                break
            name = f"huimem-cutting-{number}"
            self._threads.append(threading.Thread(target=self._ask, args=(to, back), name=name, daemon=True))
            self._threads[-1].start()

    def _started(self) -> tuple[int, int]:
        """A new process; where to write to it, and where to read what it says."""
        theirs, to = os.pipe()
        back, mine = os.pipe()
        for descriptor in (to, back):
            self._pipes.enter_context(forking.kept(descriptor))
        try:
            child = subprocess.Popen(
                [sys.executable, "-I", "-c", _BEGIN],
                stdin=theirs,
                stdout=mine,
                stderr=subprocess.DEVNULL,
                cwd=os.sep,  # it must not hold a disk
                start_new_session=True,  # it ends with this one, not by a Ctrl-C of its own
            )
            self._children.append(child)
        finally:
            os.close(theirs)
            os.close(mine)
        return to, back

    def _ask(self, to: int, back: int) -> None:
        """In a thread: have one other process do jobs until there are no more, or it fails."""
        job: _Job | None = None
        try:
            with os.fdopen(back, "rb", closefd=False) as stream:
                worker.send(to, self._greeting)
                while (job := self._next()) is not None:
                    uncut = job.uncut()
                    if asked := _question([one for _, one in uncut]):
                        worker.send(to, asked)
                        for (look, one), made in zip(uncut, worker.answers(stream), strict=True):
                            look.made = None if made is None else one.joined(made)
                    job.ended.set()
        except Exception:  # then this process does what is left
            return
        finally:
            if job is not None:
                job.ended.set()


def _jobs(looks: Iterator[Look]) -> Iterator[_Job]:
    job = _Job()
    for look in looks:
        job.add(look)
        if job.full:
            yield job
            job = _Job()
    if job.looks:
        yield job


def _question(sources: list[Uncut]) -> bytes:
    """What is sent of a job; nothing where it holds what cannot be sent, as a zone of one's own making."""
    try:
        return worker.question(sources)
    except Exception:
        return b""


def _processors() -> int:
    """How many processors this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def _may_help(times: Times | None) -> bool:
    """Whether another process can do the same: a plain Python, and time words read by rules of ours.

    A program that only embeds Python must not be started a second time, nor anybody else's module.
    """
    name = os.path.basename(sys.executable or "").lower()
    if os.name != "posix" or getattr(sys, "frozen", False) or not name.startswith("python"):
        return False
    resolve = getattr(times.resolve, "func", times.resolve) if times else None
    return resolve is None or str(getattr(resolve, "__module__", "")).startswith("huimem.")


def _greeting(times: Times | None) -> bytes:
    """What another process must know before it can cut."""
    path = json.dumps([os.path.abspath(entry) for entry in sys.path])
    return f"{path}\n".encode() + worker.frame(times)

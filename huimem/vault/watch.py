"""A vault's folder → a word that something in it may have changed, told once it has been quiet.

In: the events of the system, through watchdog. Out: a time at which to look. Events are hints: they are
lost, doubled and out of order, so none is believed; whoever is told looks at the disk.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from huimem import files
from huimem.config import VAULT_FILE
from huimem.errors import HuimemError
from huimem.files import Unreadable
from huimem.vault import coverage
from huimem.vault.layout import IGNORE_FILE, Filter, ignored, note_name

PROBE = "probe"
MOST_TOPS = 32  # each has a thread; beyond that one watch takes all, hidden trees as well
LONGEST_STOP = 5.0

_IDLE = frozenset({"opened", "closed_no_write"})
# inotify never says that a folder was modified: watchdog adds it to what happened to a file in it.
_TOLD_BESIDES = frozenset({"modified"} if sys.platform == "linux" else ())


class Event(Protocol):
    """What watchdog says of one happening."""

    event_type: str
    src_path: bytes | str
    dest_path: bytes | str
    is_directory: bool


class Observer(Protocol):
    """What is used of a watchdog observer."""

    @property
    def emitters(self) -> Collection[threading.Thread]: ...
    def schedule(self, event_handler: object, path: str, *, recursive: bool = False) -> object: ...
    def unschedule(self, watch: object) -> None: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...
    def join(self, timeout: float | None = None) -> None: ...
    def is_alive(self) -> bool: ...


def system_observer() -> Observer:
    """The observer that suits this system. Raises OSError where it gives no instance."""
    from watchdog.observers import Observer as SystemObserver

    _share_nothing_with_parent()
    return SystemObserver()  # type: ignore[return-value]


def _share_nothing_with_parent() -> None:
    """In a fork, let watchdog begin anew: of the instance it keeps for all, the thread stayed behind.

    What a child took from that instance would be gone for its parent as well.
    """
    shared: Any = getattr(sys.modules.get("watchdog.observers.inotify_c"), "InotifyFD", None)
    instance = getattr(shared, "_instance", None)
    if instance is not None and not instance.is_alive():
        shared._instance = None


@dataclass(frozen=True, slots=True)
class Burst:
    """Events that follow one another: when the first came, and the last (monotonic seconds)."""

    first: float
    last: float

    def due(self, quiet: float, most: float) -> float:
        """When to look: `quiet` seconds after the last event, `most` after the first at the latest."""
        return min(self.last + quiet, self.first + most)


def grown(burst: Burst | None, now: float) -> Burst:
    """The burst with one more event."""
    return Burst(burst.first if burst else now, now)


def counts(kind: str, paths: Sequence[str], *, folder: bool) -> bool:
    """Whether an event of watchdog may mean another state of the vault.

    `paths`: all that it names, relative to the vault, "" the vault itself.
    """
    if kind in _IDLE or (folder and kind in _TOLD_BESIDES):
        return False
    return any(_counts(path, folder) for path in paths)


def _counts(path: str, folder: bool) -> bool:
    if path in ("", IGNORE_FILE, VAULT_FILE):
        return True
    parts = path.split("/")
    return (folder or note_name(parts[-1])) and not any(map(ignored, filter(None, parts)))


@dataclass(frozen=True, slots=True)
class Told:
    """Gets what watchdog dispatches, in its thread, which an exception would end for good."""

    hear: Callable[[Event], None]

    def dispatch(self, event: Event) -> None:
        with suppress(Exception):
            self.hear(event)


class Overflow(logging.Handler):
    """Hears from watchdog's log that the system dropped events: it gives no event of that."""

    def __init__(self, hear: Callable[[], None]) -> None:
        super().__init__(logging.WARNING)
        self._hear = hear

    def emit(self, record: logging.LogRecord) -> None:
        if "overflow" in record.getMessage():
            self._hear()


class Watch:
    """The watching of one vault. A context manager; `arm` begins, and begins anew.

    `overflowed` is set when the system dropped events. `heard` is when any event came, `last_event` when
    one that counts did.
    """

    def __init__(
        self,
        root: Path,
        state: Path,
        include: Sequence[str] = (),
        *,
        observer: Callable[[], Observer] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._root, self._probes, self._include = root, state / PROBE, include
        self._text = self._aside = ""  # the vault's real place, and the state folder in it if it lies there
        self._make, self._clock = observer or system_observer, clock
        self._observer: Observer | None = None
        self._tops: dict[str, tuple[object, int]] = {}
        self._known: dict[str, int] = {}
        self._rule = Filter()
        self._lock = threading.Lock()
        self._stirred = threading.Event()
        self._burst: Burst | None = None
        self._told, self._log = Told(self._hear), Overflow(self._overflow)
        self.answered = threading.Event()
        self._echo = Told(lambda _: self.answered.set())
        self.overflowed = threading.Event()
        self.last_event: float | None = None
        self.heard = 0.0

    def __enter__(self) -> Watch:
        logging.getLogger("watchdog").addHandler(self._log)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.disarm()
        logging.getLogger("watchdog").removeHandler(self._log)

    def arm(self) -> None:
        """Watch everything anew. Raises OSError where the system gives no watch; then nothing is watched."""
        self.disarm()
        self._text = os.path.realpath(self._root)
        self._aside = self._inside(os.path.realpath(self._probes.parent)) or ""
        try:
            self._observer = observer = self._make()
            observer.schedule(self._told, self._text)
            observer.start()
            self.arrange()
        except BaseException:
            self.disarm()
            raise

    def disarm(self) -> None:
        """Watch nothing."""
        observer, self._observer, self._tops = self._observer, None, {}
        if observer is not None:
            with suppress(Exception):  # it may have died in any state
                observer.stop()
                if observer.is_alive():
                    observer.join(LONGEST_STOP)

    @property
    def alive(self) -> bool:
        """Whether the threads that bring events still run."""
        return self._observer is not None and self._observer.is_alive()

    def arrange(self) -> bool:
        """Give each top-level folder its own watch, and drop those of folders that went or were replaced.

        Whether there are new ones: what happened in them before was not heard. Trees that no scan
        enters (`.git`, `.huimem`) so cost nothing. Raises OSError as `arm` does.
        """
        if self._observer is None:
            return False
        wanted, echo = self._wanted(), str(self._probes)
        dead = {id(getattr(each, "watch", None)) for each in self._observer.emitters if not each.is_alive()}
        for place, (watch, inode) in [*self._tops.items()]:
            if wanted.get(place) != inode or id(watch) in dead:
                del self._tops[place]
                with suppress(KeyError):
                    self._observer.unschedule(watch)
        new = wanted.keys() - self._tops.keys()
        for place in new:
            told = self._echo if place == echo else self._told
            with suppress(FileNotFoundError, NotADirectoryError):
                watch = self._observer.schedule(told, place, recursive=place != echo)
                self._tops[place] = (watch, wanted[place])
        return bool(new)

    def _wanted(self) -> dict[str, int]:
        """The folders that get a watch of their own besides the vault's, and their inodes."""
        with suppress(Unreadable):  # until the patterns can be read, those known before stand
            self._rule = Filter.of(self._root, self._include)
        tops = coverage.top_folders(self._root, self._rule, self._aside)
        places = {os.path.join(self._text, name): inode for name, inode in tops.items()}
        wanted = places if len(places) <= MOST_TOPS else {self._text: 0}
        with suppress(OSError):
            wanted[str(self._probes)] = os.stat(self._probes).st_ino
        return wanted

    def uncovered(self) -> int:
        """How many folders have no watch, of those that stood already when this was asked before.

        A new folder has a moment's time. 0 where the system does not tell.
        """
        before, self._known = self._known, coverage.folders(self._root, self._rule, self._aside)
        found = coverage.watched()
        if found is None:
            return 0
        return coverage.missing(dict(before.items() & self._known.items()), found)

    @property
    def folders(self) -> int:
        """How many folders there were when `uncovered` was last asked."""
        return len(self._known)

    def probe(self) -> bool:
        """Make an event in the state folder, after which `answered` must be set; False where that fails.

        The state folder may have been made anew; where it is gone, it is left to whoever needs it.
        """
        self.answered.clear()
        try:
            if not self._probes.parent.is_dir():
                return False
            files.own_folder(self._probes.parent, self._probes.name)
            self.arrange()
            files.jot(self._probes / "event", b"")
        except (HuimemError, OSError):
            return False
        return str(self._probes) in self._tops

    def wait(self, seconds: float) -> None:
        """Until something stirs, `seconds` at most; what stirs already is waited out."""
        self._stirred.clear()
        if self._burst is not None:
            time.sleep(max(0.0, seconds))
        else:
            self._stirred.wait(max(0.0, seconds))

    def due(self, quiet: float, most: float) -> float | None:
        """When to look because of events; None where none came."""
        burst = self._burst
        return burst.due(quiet, most) if burst else None

    def take(self) -> bool:
        """Forget the events until now, for a look begins; whether there were any."""
        with self._lock:
            burst, self._burst = self._burst, None
        return burst is not None

    def stir(self) -> None:
        """Something may have changed."""
        with self._lock:
            self.last_event = self._clock()
            self._burst = grown(self._burst, self.last_event)
        self._stirred.set()

    def _hear(self, event: Event) -> None:
        self.heard = self._clock()
        places = [self._inside(path) for path in (event.src_path, event.dest_path) if path]
        paths = [path for path in places if path is not None and not self._is_aside(path)]
        if counts(event.event_type, paths, folder=event.is_directory):
            self.stir()

    def _inside(self, path: bytes | str) -> str | None:
        """A path relative to the vault; None for what lies outside of it."""
        text = os.fsdecode(path)
        if text != self._text and not text.startswith(self._text.rstrip(os.sep) + os.sep):
            return None
        return text[len(self._text) :].lstrip(os.sep).replace(os.sep, "/")

    def _is_aside(self, path: str) -> bool:
        return bool(self._aside) and (path == self._aside or path.startswith(f"{self._aside}/"))

    def _overflow(self) -> None:
        self.overflowed.set()
        self.stir()

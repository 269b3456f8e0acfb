"""Stand-ins for what the system gives a watcher: observers that are deaf, that refuse, that die."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Collection
from importlib.metadata import version

import pytest

from huimem.vault.watch import Observer, system_observer

# What a test that reaches inside watchdog was written for, and what folders that are moved in need.
inotify_of_watchdog_7 = pytest.mark.skipif(
    sys.platform != "linux" or int(version("watchdog").split(".")[0]) < 7,
    reason="inotify as in watchdog 7 is needed",
)


class Deaf:
    """An observer that never tells anything: a file system that gives no events."""

    def __init__(self) -> None:
        self.alive = False

    @property
    def emitters(self) -> Collection[threading.Thread]:
        return ()

    def schedule(self, event_handler: object, path: str, *, recursive: bool = False) -> object:
        return object()

    def unschedule(self, watch: object) -> None:
        pass

    def start(self) -> None:
        self.alive = True

    def stop(self) -> None:
        self.alive = False

    def join(self, timeout: float | None = None) -> None:
        pass

    def is_alive(self) -> bool:
        return self.alive


class Made:
    """Makes observers one after the other and keeps them: the first as `first` says, later ones by `then`."""

    def __init__(self, first: Callable[[], Observer], then: Callable[[], Observer] = system_observer) -> None:
        self._makers = [first]
        self._then = then
        self.made: list[Observer] = []

    def __call__(self) -> Observer:
        made = (self._makers.pop() if self._makers else self._then)()
        self.made.append(made)
        return made


def refusing(number: int) -> Callable[[], Observer]:
    """An observer that the system does not give, for that reason."""

    def make() -> Observer:
        raise OSError(number, "inotify limit reached")

    return make

"""A watch that is deaf, refused, dead or too small, and a root that goes → what is said, and what is done."""

from __future__ import annotations

import errno
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from huimem.vault import coverage
from huimem.vault.hearing import EVENTS, POLLING, WAITING, Hearing, Pace, limit_reached, refusal
from huimem.vault.watch import Observer, Watch, system_observer
from tests.vault.watching_parts import Deaf, Made, inotify_of_watchdog_7, refusing

# Everything soon; what a test waits for is set by that test.
SOON = Pace(
    quiet=0.02, burst=0.1, look=60.0, beat=0.01, settle=0.05, probe=60.0, answer=0.1, poll=0.05, again=60.0
)

# what the system answers, the limit that is named
REFUSALS = [
    (OSError(errno.ENOSPC, "inotify watch limit reached"), "fs.inotify.max_user_watches"),
    (OSError(errno.EMFILE, "inotify instance limit reached"), "fs.inotify.max_user_instances"),
    (OSError(errno.ENOSYS, "no such thing"), "no such thing"),
    (RuntimeError("can't start new thread"), "can't start new thread"),
]


@pytest.fixture
def root(outside_temp: Path) -> Path:
    root = outside_temp / "vault"
    (root / "notes/deep").mkdir(parents=True)
    (root / ".huimem").mkdir()
    return root


class Ear:
    """A hearing with its watch; `turns` lets it go on while somebody looks whenever it says so."""

    def __init__(self, root: Path, watch: Watch, pace: Pace) -> None:
        self.watch, self.hearing, self.looks = watch, Hearing(root, watch, pace), 0

    def turns(self, until: Callable[[], bool], *, changed: bool = False, seconds: float = 5.0) -> bool:
        """Whether it comes to that; `changed`: what each look finds."""
        end = time.monotonic() + seconds
        while not until() and time.monotonic() < end:
            if self.hearing.turn():
                self.looks += 1
                start, announced = time.monotonic(), self.watch.take()
                self.hearing.looked(start, changed=changed, announced=announced)
            self.watch.wait(self.hearing.pause())
        return until()

    def looks_again(self) -> bool:
        before = self.looks
        return self.turns(lambda: self.looks > before)

    def says(self, words: str) -> bool:
        return self.turns(lambda: words in " ".join((*self.hearing.noticed, *self.hearing.wrong)))


@contextmanager
def ear(root: Path, pace: Pace = SOON, observer: Callable[[], Observer] | None = None) -> Iterator[Ear]:
    with Watch(root, root / ".huimem", observer=observer) as watch:
        yield Ear(root, watch, pace)


def at_rest(ear: Ear) -> bool:
    """A look was taken, and the probe of this observer was answered."""
    return ear.turns(lambda: ear.looks > 0) and ear.turns(ear.watch.answered.is_set)


@pytest.fixture
def untold(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system does not tell what it watches."""
    monkeypatch.setattr(coverage, "watched", lambda: None)


def test_events_make_it_look_and_nothing_else_does(root: Path) -> None:
    with ear(root) as one:
        assert at_rest(one) and one.looks == 1
        assert not one.turns(lambda: one.looks > 1, seconds=0.2)
        (root / "notes/n.md").write_text("x", encoding="utf-8")
        assert one.looks_again()
        assert one.hearing.mode == EVENTS and one.hearing.noticed == [] and one.hearing.wrong == ()


def test_a_new_folder_is_watched_before_it_is_looked_at(root: Path) -> None:
    with ear(root) as one:
        assert at_rest(one)
        (root / "new").mkdir()
        while not one.hearing.turn():
            one.watch.wait(one.hearing.pause())
        one.watch.take()  # a look begins here
        (root / "new/n.md").write_text("x", encoding="utf-8")
        assert one.turns(lambda: one.looks > 1)


def test_it_looks_by_the_clock_too(root: Path) -> None:
    with ear(root, Pace(look=0.05, beat=0.01)) as one:
        assert one.turns(lambda: one.looks >= 3)
        assert one.hearing.mode == EVENTS


def test_an_observer_without_events_is_replaced_and_then_polling_takes_over(root: Path, untold: None) -> None:
    observers = Made(Deaf, Deaf)
    with ear(root, observer=observers) as one:
        assert one.says("events do not arrive: watching anew") and len(observers.made) == 2
        assert one.turns(lambda: one.hearing.mode == POLLING)
        assert "events do not arrive" in one.hearing.why
        assert one.turns(lambda: one.looks >= 4)
        assert not any(observer.is_alive() for observer in observers.made)


def test_a_deaf_observer_is_mended_by_a_new_one(root: Path, untold: None) -> None:
    with ear(root, observer=Made(Deaf)) as one:
        assert one.says("events do not arrive: watching anew") and at_rest(one)
        (root / "notes/n.md").write_text("x", encoding="utf-8")
        assert one.looks_again() and one.hearing.mode == EVENTS


@inotify_of_watchdog_7
def test_a_stopped_emitter_is_noticed_by_the_probe(root: Path, untold: None) -> None:
    observers = Made(system_observer)
    with ear(root, Pace(probe=0.1, answer=0.1, beat=0.01, settle=0.05), observers) as one:
        assert at_rest(one)
        for emitter in list(observers.made[0].emitters):
            emitter._inotify.deactivate()  # type: ignore[attr-defined]
        assert one.turns(lambda: len(observers.made) == 2) and at_rest(one)
        assert one.hearing.mode == EVENTS


def test_an_observer_whose_thread_ended_is_replaced(root: Path) -> None:
    observers = Made(system_observer)
    with ear(root, observer=observers) as one:
        assert at_rest(one)
        observers.made[0].stop()
        observers.made[0].join()
        assert one.says("thread that brings events had ended") and len(observers.made) == 2
        assert at_rest(one) and one.hearing.mode == EVENTS


def test_changes_that_no_event_told_of_are_a_sign_of_deafness(root: Path, untold: None) -> None:
    with ear(root, Pace(look=0.1, beat=0.01, settle=0.05, answer=60.0), Made(Deaf, Deaf)) as one:
        assert one.looks_again()
        assert one.turns(
            lambda: "changes come without events: watching anew" in one.hearing.noticed, changed=True
        )
        assert one.turns(lambda: one.hearing.why == "changes come without events", changed=True)


def test_what_a_new_observer_finds_happened_before_it(root: Path) -> None:
    with ear(root) as one:
        assert one.turns(lambda: one.looks > 0, changed=True)
        assert one.turns(one.watch.answered.is_set)
        assert not one.turns(lambda: bool(one.hearing.noticed), seconds=0.2)


def test_an_event_that_comes_late_is_no_sign_of_deafness(root: Path) -> None:
    with ear(root) as one:
        assert at_rest(one)
        one.hearing.looked(time.monotonic(), changed=True, announced=False)
        one.watch.stir()
        assert not one.turns(lambda: bool(one.hearing.noticed), seconds=0.2)


@pytest.mark.parametrize(("error", "named"), REFUSALS)
def test_what_the_system_refuses_is_named(error: Exception, named: str) -> None:
    assert named in refusal(error)


@pytest.mark.skipif(coverage.limit("max_user_watches") is None, reason="this system has no such limit")
def test_a_limit_is_told_with_its_present_value() -> None:
    assert limit_reached("max_user_watches").endswith(
        f"max_user_watches = {coverage.limit('max_user_watches')})"
    )
    assert limit_reached("no_such_limit").endswith("= unknown)")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EMFILE])
def test_without_watches_it_polls_and_tries_events_again(number: int, root: Path) -> None:
    with ear(root, Pace(poll=0.02, beat=0.01, again=0.2), Made(refusing(number))) as one:
        assert one.hearing.mode == POLLING and "fs.inotify.max_user_" in one.hearing.why
        assert one.turns(lambda: one.looks >= 3)
        assert one.turns(lambda: one.hearing.mode == EVENTS) and one.hearing.wrong == ()


def test_a_far_file_system_is_polled_from_the_start(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "far_file_system", lambda path: "nfs4")
    observers = Made(Deaf)
    with ear(root, Pace(poll=0.02, beat=0.01, again=0.0), observers) as one:
        assert one.turns(lambda: one.looks >= 3)
        assert one.hearing.mode == POLLING and "nfs4" in one.hearing.wrong[0] and observers.made == []


def test_a_root_that_goes_is_waited_for(root: Path) -> None:
    with ear(root) as one:
        assert at_rest(one)
        root.rename(root.parent / "elsewhere")
        assert one.says("not there") and one.hearing.mode == WAITING
        looks = one.looks
        assert not one.turns(lambda: one.looks > looks, seconds=0.2)
        assert not root.exists()
        (root.parent / "elsewhere").rename(root)
        assert one.looks_again() and one.hearing.mode == EVENTS and one.hearing.wrong == ()
        (root / "notes/n.md").write_text("x", encoding="utf-8")
        assert one.looks_again() and one.says("back again")


def test_a_root_that_is_replaced_is_watched_anew(root: Path) -> None:
    with ear(root) as one:
        assert at_rest(one)
        root.rename(root.parent / "elsewhere")
        (root / "notes").mkdir(parents=True)
        assert one.looks_again() and one.says("another one")
        one.turns(lambda: False, seconds=0.1)
        (root / "notes/n.md").write_text("x", encoding="utf-8")
        assert one.looks_again()


def test_while_polling_a_new_root_needs_no_events(root: Path) -> None:
    with ear(root, observer=refusing(errno.ENOSPC)) as one:
        assert one.looks_again()
        root.rename(root.parent / "elsewhere")
        root.mkdir()
        assert one.says("another one") and one.hearing.mode == POLLING


def test_dropped_events_are_said(root: Path) -> None:
    with ear(root) as one:
        assert at_rest(one)
        one.watch.overflowed.set()
        one.watch.stir()
        assert one.says("the system dropped events")


@inotify_of_watchdog_7
def test_folders_without_a_watch_get_one(root: Path) -> None:
    observers = Made(system_observer)
    with ear(root, observer=observers) as one:
        assert at_rest(one)
        one.turns(lambda: False, seconds=0.15)
        (emitter,) = [each for each in observers.made[0].emitters if str(each.watch.path).endswith("notes")]  # type: ignore[attr-defined]
        group = emitter._inotify  # type: ignore[attr-defined]
        group._remove_callbacks(list(group._active_callbacks_by_watch))
        one.watch.stir()
        assert one.says("folders without a watch: 2") and len(observers.made) == 2
        assert at_rest(one) and one.hearing.mode == EVENTS


LIMITED = 'echo "$1" > /proc/sys/user/max_inotify_watches && shift && exec "$@"'
LOOK = """
import sys, time
from pathlib import Path
from huimem.vault.hearing import Hearing, Pace
from huimem.vault.watch import Watch
root = Path(sys.argv[1])
with Watch(root, root / ".huimem") as watch:
    hearing = Hearing(root, watch, Pace(settle=0.05))
    for folder in range(int(sys.argv[2])):
        (root / f"notes/later{folder}").mkdir()
        watch.stir()
    end = time.monotonic() + 5
    while hearing.mode == "events" and time.monotonic() < end:
        if hearing.turn():
            hearing.looked(time.monotonic(), changed=True, announced=watch.take())
        watch.wait(hearing.pause())
    print(hearing.mode, hearing.why)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("before", "later"), [(0, 0), (50, 0), (5, 50)])
def test_too_few_watches_are_noticed_at_the_start_and_later(before: int, later: int, root: Path) -> None:
    for folder in range(before):
        (root / f"notes/before{folder}").mkdir()
    words = [
        "unshare",
        "-Ur",
        "sh",
        "-c",
        LIMITED,
        "sh",
        "1" if not before else "20",
        sys.executable,
        "-c",
        LOOK,
    ]
    done = subprocess.run([*words, str(root), str(later)], capture_output=True, text=True, timeout=30)
    if "unshare" in done.stderr or "Permission denied" in done.stderr:
        pytest.skip("this system lets nobody set limits of their own")
    assert done.stdout.startswith("polling the system's limit is reached (fs.inotify.max_user_watches"), done

"""Events of a real disk → the word that something may have changed; what is no change gives none."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from huimem.vault import coverage
from huimem.vault.watch import MOST_TOPS, Burst, Event, Told, Watch, counts, grown
from tests.vault.watching_parts import inotify_of_watchdog_7

# how many events at which seconds; what is due after .3 s of quiet, 2 s at the latest
BURSTS = [
    ([10.0], 10.3),
    ([10.0, 10.1, 10.2], 10.5),
    ([10.0, 11.0, 11.9], 12.0),
    ([10.0, 12.5], 12.0),
]

# what watchdog says, of which paths, whether of a folder, whether it may mean another vault
EVENTS = [
    ("modified", ["notes/n.md"], False, True),
    ("closed", ["notes/n.md"], False, True),
    ("attrib", ["n.MD"], False, True),
    ("deleted", ["notes/n.md"], False, True),
    ("moved", ["notes/temp", "notes/n.md"], False, True),
    ("moved", ["notes/n.md", "notes/n.md~"], False, True),
    ("moved", ["notes/n.md~", "notes/.n.md.swp"], False, False),
    ("moved", [".trash/old", "notes"], True, True),
    ("created", ["notes"], True, True),
    ("deleted", ["notes"], True, True),
    ("attrib", ["notes"], True, True),
    ("deleted", [""], True, True),
    ("modified", [".huimemignore"], False, True),
    ("modified", ["huimem.toml"], False, True),
    ("modified", ["notes/huimem.toml"], False, False),
    ("opened", ["notes/n.md"], False, False),
    ("closed_no_write", ["notes/n.md"], False, False),
    ("modified", ["notes/picture.png"], False, False),
    ("modified", [".huimem"], True, False),
    ("attrib", [".huimem"], True, False),
    ("created", [".git/index.lock"], False, False),
    ("created", ["notes/.obsidian/w.md"], False, False),
    ("created", [".git/refs"], True, False),
    ("created", ["4913"], False, False),
    ("created", ["notes/#n.md#"], False, False),
    ("modified", [], False, False),
]


@pytest.mark.parametrize(("times", "due"), BURSTS)
def test_a_look_waits_for_quiet_but_not_for_ever(times: list[float], due: float) -> None:
    burst: Burst | None = None
    for at in times:
        burst = grown(burst, at)
    assert burst is not None and burst.due(0.3, 2.0) == pytest.approx(due)


@pytest.mark.parametrize(("kind", "paths", "folder", "counted"), EVENTS)
def test_an_event_counts_if_it_may_mean_another_vault(
    kind: str, paths: list[str], folder: bool, counted: bool
) -> None:
    assert counts(kind, paths, folder=folder) is counted


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere such events come from the system")
def test_that_a_folder_was_modified_says_nothing_new_on_linux() -> None:
    assert not counts("modified", ["notes"], folder=True)


def test_a_fault_while_hearing_ends_nothing() -> None:
    def hear(event: Event) -> None:
        raise ValueError("what was said")

    Told(hear).dispatch(None)  # type: ignore[arg-type]


@pytest.fixture
def root(outside_temp: Path) -> Path:
    root = outside_temp / "vault"
    for folder in ("notes/deep", ".git/objects/aa", "left out/deep", ".huimem"):
        (root / folder).mkdir(parents=True)
    (root / ".huimemignore").write_text("/left out/\n", encoding="utf-8")
    return root


@pytest.fixture
def watch(root: Path) -> Iterator[Watch]:
    with Watch(root, root / ".huimem") as watch:
        watch.arm()
        yield watch


def stirs(watch: Watch, action: Callable[[], object], seconds: float = 2.0) -> bool:
    """Whether a word comes after an action; the answer no takes all the time given."""
    watch.take()
    action()
    end = time.monotonic() + seconds
    while watch.due(0, 0) is None and time.monotonic() < end:
        time.sleep(0.01)
    return watch.take()


def write(path: Path, text: str = "text\n") -> Callable[[], object]:
    return lambda: path.write_text(text, encoding="utf-8")


def inodes(root: Path, *folders: str) -> list[int]:
    return [os.stat(root / folder).st_ino for folder in folders]


def test_a_note_stirs_wherever_it_lies(watch: Watch, root: Path) -> None:
    assert stirs(watch, write(root / "top.md"))
    assert stirs(watch, write(root / "notes/deep/n.md"))
    assert stirs(watch, (root / "notes/deep/n.md").unlink)
    assert stirs(watch, write(root / "huimem.toml"))
    assert watch.last_event is not None


def test_what_belongs_to_nobodys_notes_stirs_nothing(watch: Watch, root: Path) -> None:
    def make_noise() -> None:
        for path in (
            ".git/objects/aa/x",
            ".git/index.lock",
            "left out/n.md",
            ".huimem/x.md",
            "notes/.n.md.swp",
        ):
            write(root / path)()
        (root / "notes/deep").stat()
        (root / ".huimem/folder").mkdir()

    assert not stirs(watch, make_noise, seconds=0.3)


@pytest.mark.skipif(coverage.watched() is None, reason="this system does not tell what it watches")
def test_trees_that_no_scan_enters_cost_no_watches(watch: Watch, root: Path) -> None:
    found = coverage.watched()
    assert found is not None
    assert found.inodes.issuperset(inodes(root, "", "notes", "notes/deep"))
    assert found.inodes.isdisjoint(
        inodes(root, ".git", ".git/objects", "left out", "left out/deep", ".huimem")
    )


def test_a_new_top_folder_is_watched_once_arranged(watch: Watch, root: Path) -> None:
    assert stirs(watch, (root / "new").mkdir)
    (root / "new/deep").mkdir()
    watch.arrange()
    assert stirs(watch, write(root / "new/deep/n.md"))


def test_a_renamed_and_a_replaced_top_folder_are_watched_anew(watch: Watch, root: Path) -> None:
    assert stirs(watch, lambda: (root / "notes").rename(root / "renamed"))
    (root / "notes").mkdir()
    watch.arrange()
    assert stirs(watch, write(root / "renamed/deep/n.md"))
    assert stirs(watch, write(root / "notes/n.md"))


@inotify_of_watchdog_7
def test_a_folder_moved_in_is_found_with_what_it_holds(watch: Watch, root: Path, outside_temp: Path) -> None:
    (outside_temp / "outside/deep").mkdir(parents=True)
    assert stirs(watch, lambda: (outside_temp / "outside").rename(root / "notes/inside"))
    assert stirs(watch, write(root / "notes/inside/deep/n.md"))
    assert stirs(watch, lambda: (root / "notes/inside").rename(outside_temp / "outside"))


def test_many_top_folders_share_one_watch(root: Path) -> None:
    for number in range(MOST_TOPS + 1):
        (root / f"folder{number}").mkdir()
    with Watch(root, root / ".huimem") as watch:
        watch.arm()
        watch.arrange()
        assert watch.uncovered() == watch.uncovered() == 0
        assert stirs(watch, write(root / f"folder{MOST_TOPS}/n.md"))


def test_a_vault_behind_a_link_is_watched_where_it_lies(root: Path, outside_temp: Path) -> None:
    (outside_temp / "link").symlink_to(root)
    with Watch(outside_temp / "link", outside_temp / "link/.huimem") as watch:
        watch.arm()
        assert stirs(watch, write(root / "n.md"))


def test_a_state_folder_among_the_notes_stirs_nothing(root: Path) -> None:
    (root / "state").mkdir()
    with Watch(root, root / "state") as watch:
        watch.arm()
        assert not stirs(watch, (root / "state/vectors").mkdir, seconds=0.2)
        assert stirs(watch, write(root / "notes/n.md"))


@pytest.mark.skipif(coverage.watched() is None, reason="this system does not tell what it watches")
def test_a_folder_that_lost_its_watch_is_counted(watch: Watch, root: Path) -> None:
    assert watch.uncovered() == watch.uncovered() == 0
    watch.disarm()
    assert watch.uncovered() == watch.folders == 3


def test_a_new_folder_has_a_moment_to_get_its_watch(watch: Watch, root: Path) -> None:
    watch.uncovered()
    watch.disarm()
    (root / "notes/new").mkdir()
    before = watch.folders
    watch.arm()
    assert watch.uncovered() == 0 and watch.folders == before + 1


def test_a_probe_is_answered_while_events_come(watch: Watch, root: Path) -> None:
    assert watch.probe() and watch.answered.wait(2.0)
    assert watch.probe() and watch.answered.wait(2.0)
    assert [path.name for path in (root / ".huimem/probe").iterdir()] == ["event"]
    assert watch.due(0, 0) is None


def test_without_a_state_folder_there_is_no_probe_and_none_is_made(watch: Watch, root: Path) -> None:
    (root / ".huimem").rmdir()
    assert not watch.probe()
    assert not (root / ".huimem").exists()


def test_dropped_events_are_heard_of_in_the_log(watch: Watch) -> None:
    log = logging.getLogger("watchdog.observers.inotify_c")
    assert stirs(watch, lambda: log.warning("Inotify queue overflowed; filesystem events were lost"))
    assert watch.overflowed.is_set()
    watch.overflowed.clear()
    log.error("InotifyEmitter.queue_events() called when the thread is inactive")
    assert not watch.overflowed.is_set()


def test_nothing_is_left_open_when_it_is_over(root: Path) -> None:
    before = os.listdir("/proc/self/fd") if coverage.watched() else []
    with Watch(root, root / ".huimem") as watch:
        watch.arm()
        watch.arm()
        assert watch.alive
    assert not watch.alive
    assert len(before) == len(os.listdir("/proc/self/fd") if coverage.watched() else [])

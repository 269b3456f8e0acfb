"""What a watcher tells of itself → what another process makes of it: running, stuck, or none."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from huimem import files
from huimem.errors import Locked
from huimem.heartbeat import FILE, LOCK, STALE, Heart, Watcher, lease, seen

BEAT = 0.02


@pytest.fixture
def state(tmp_path: Path) -> Path:
    files.make_derived_folder(tmp_path / "state")
    return tmp_path / "state"


def now() -> float:
    return time.time()


def eventually(look: Callable[[], bool], seconds: float = 3.0) -> bool:
    end = time.monotonic() + seconds
    while not look() and time.monotonic() < end:
        time.sleep(0.01)
    return look()


def test_nobody_is_seen_where_nobody_watches(state: Path) -> None:
    assert seen(state, now=now()) is None
    assert seen(state / "nowhere", now=now()) is None
    assert [path.name for path in state.iterdir() if path.name == "locks"] == []


def test_a_watcher_is_seen_with_what_it_tells(state: Path) -> None:
    with lease(state), Heart(state, beat=BEAT) as heart:
        heart.tell(
            replace(heart.standing, mode="polling", why="deaf", looked=time.monotonic() - 7, done=3, total=9)
        )
        assert eventually(lambda: (state / FILE).exists() and "deaf" in (state / FILE).read_text("utf-8"))
        watcher = seen(state, now=now())
        assert watcher is not None and watcher.standing == heart.standing and not watcher.stuck
        assert watcher.looked == pytest.approx(7, abs=1) and watcher.event is None
        assert watcher.standing is not None and watcher.standing.pid == os.getpid()
    assert seen(state, now=now()) is None
    assert not (state / FILE).exists()


def test_a_dead_watcher_is_none_whatever_it_left(state: Path) -> None:
    with lease(state), Heart(state, beat=BEAT):
        assert eventually((state / FILE).exists)
        left = (state / FILE).read_bytes()
    (state / FILE).write_bytes(left)
    assert seen(state, now=now()) is None


def test_a_watcher_that_does_nothing_is_stuck(state: Path) -> None:
    with lease(state), Heart(state, beat=BEAT):
        assert eventually((state / FILE).exists)
        assert (watcher := seen(state, now=now() + STALE + 1)) is not None and watcher.stuck


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": 1}', json.dumps({"pid": 1, "started": "x"})])
def test_a_damaged_file_hides_no_watcher(text: str, state: Path) -> None:
    with lease(state):
        (state / FILE).write_text(text, encoding="utf-8")
        assert seen(state, now=now()) == Watcher(None)


def test_the_heart_beats_only_while_its_owner_lives(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huimem.heartbeat.STALE", 0.1)
    with Heart(state, beat=BEAT) as heart:
        assert eventually((state / FILE).exists)
        time.sleep(0.3)
        silent = (state / FILE).stat().st_mtime_ns
        time.sleep(0.1)
        assert (state / FILE).stat().st_mtime_ns == silent
        with heart.working():
            assert eventually(lambda: (state / FILE).stat().st_mtime_ns > silent)


def test_the_file_is_written_only_when_something_changed(state: Path) -> None:
    with Heart(state, beat=BEAT) as heart:
        assert eventually((state / FILE).exists)
        first = (state / FILE).stat()
        assert eventually(lambda: (state / FILE).stat().st_mtime_ns > first.st_mtime_ns)
        assert (state / FILE).stat().st_ino == first.st_ino
        heart.tell(replace(heart.standing, done=1))
        assert eventually(lambda: '"done": 1' in (state / FILE).read_text(encoding="utf-8"))


def test_a_state_folder_that_went_is_not_made_anew(state: Path) -> None:
    with lease(state) as held, Heart(state, beat=BEAT):
        assert eventually((state / FILE).exists)
        state.rename(state.parent / "moved")
        held.keep()
        time.sleep(5 * BEAT)
        assert not state.exists()


def test_there_is_one_watcher_and_the_second_is_told_who(state: Path) -> None:
    with lease(state), pytest.raises(Locked, match=f"process {os.getpid()}"), lease(state, wait=0.05):
        pass
    with lease(state, wait=0.0):
        pass


def test_a_lease_whose_file_was_deleted_is_taken_again(state: Path) -> None:
    with lease(state) as held:
        (state / LOCK).unlink()
        held.keep()
        with pytest.raises(Locked), lease(state, wait=0.05):
            pass


def test_a_lease_that_another_took_meanwhile_is_lost(state: Path) -> None:
    with lease(state) as held:
        (state / LOCK).unlink()
        with files.lock(state / LOCK), pytest.raises(Locked):
            held.keep()

"""An index with passages to embed → a thread that embeds them, tells how far it is, and can be stopped."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from huimem import background, files
from huimem.background import Background, Pace, Vectors, told, wait_of
from huimem.errors import Locked, WriteFailed
from huimem.index.rows import EmbedReport
from huimem.index.seal import EMBED_LOCK
from tests.index.made import opened, vault

# slices of (made, seconds), how many are pending, seconds left
RATES = [
    ([], 10, None),
    ([], 0, 0.0),
    ([(0, 3.0)], 10, None),
    ([(30, 3.0)], 100, 10.0),
    ([(30, 3.0), (30, 3.0)], 100, 10.0),
    ([(100, 10.0), (200, 10.0)], 270, 270 * 17 / 270),
]
WAITS = [(1, 0.5), (2, 1.0), (3, 2.0), (7, 30.0), (5000, 30.0)]


class Passages:
    """An index of so many passages, ten made in a slice; `faults` are raised first, one a slice."""

    embedder: object | None = object()

    def __init__(self, total: int, faults: Sequence[Exception] = (), pause: float = 0.0) -> None:
        self.total, self.done, self.faults, self.pause = total, 0, list(faults), pause
        self.slices: list[tuple[int, int | None]] = []
        self.other_makes: Callable[[], int] | None = None  # another process is at it

    def last_made(self) -> int:
        return self.other_makes() if self.other_makes else 0

    def coverage(self) -> tuple[int, int]:
        return self.done, self.total

    def building(self) -> None:
        return None

    def embed(self, *, seconds: float, wait: float, stop: Callable[[], bool], alone: bool) -> EmbedReport:
        nice = (
            os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) if hasattr(os, "getpriority") else None
        )
        self.slices.append((threading.get_native_id(), nice))
        if self.faults:
            raise self.faults.pop(0)
        if alone and self.other_makes:
            raise Locked("another process makes vectors")
        made = 0
        while made < 10 and self.done < self.total and not stop():
            time.sleep(self.pause)
            made, self.done = made + 1, self.done + 1
        return EmbedReport(embedded=made, pending=self.total - self.done)


@contextmanager
def working(index: Passages, root: Path) -> Iterator[Background]:
    with Background(index, root, backoff=0.05) as thread:  # type: ignore[arg-type]
        thread.wake()
        yield thread


def eventually(look: Callable[[], bool], seconds: float = 3.0) -> bool:
    end = time.monotonic() + seconds
    while not look() and time.monotonic() < end:
        time.sleep(0.005)
    return look()


@pytest.mark.parametrize(("slices", "pending", "left"), RATES)
def test_the_time_left_comes_from_what_was_measured(
    slices: list[tuple[int, float]], pending: int, left: float | None
) -> None:
    pace = Pace()
    for made, seconds in slices:
        pace = pace.after(made, seconds)
    assert pace.left(pending) == (left if left is None else pytest.approx(left))


@pytest.mark.parametrize(("tries", "seconds"), WAITS)
def test_failures_wait_longer_each_time(tries: int, seconds: float) -> None:
    assert wait_of(tries, 30.0) == seconds


def test_all_passages_get_their_vector_and_then_it_rests(tmp_path: Path) -> None:
    index = Passages(25)
    with working(index, tmp_path) as thread:
        assert eventually(lambda: thread.state == Vectors(25, 25, 0.0))
        time.sleep(0.05)
        assert len(index.slices) == 3 and thread.fault == ""
        index.total = 26
        thread.wake()
        assert eventually(lambda: thread.state.done == 26)


@pytest.mark.skipif(not hasattr(os, "getpriority"), reason="this system gives threads no priority")
def test_its_thread_gives_way_and_no_other(tmp_path: Path) -> None:
    index = Passages(1)
    with working(index, tmp_path):
        assert eventually(lambda: index.done == 1)
    ((thread, nice),) = index.slices
    assert thread != threading.get_native_id()
    assert nice is not None and nice >= min(19, os.getpriority(os.PRIO_PROCESS, 0) + 10)


FAULTS = [
    (
        WriteFailed("x.db cannot be written: full", "Free some space."),
        "x.db cannot be written: full – Free some",
    ),
    (ValueError("what was said"), "unexpected ValueError at test_background.py:"),
]


@pytest.mark.parametrize(("fault", "words"), FAULTS)
def test_a_fault_is_told_and_tried_again(fault: Exception, words: str, tmp_path: Path) -> None:
    index = Passages(5, [fault] * 1000)
    with working(index, tmp_path) as thread:
        assert eventually(lambda: words in thread.fault)
        assert "what was said" not in thread.fault
        index.faults.clear()
        assert eventually(lambda: thread.state.done == 5 and thread.fault == "")


def test_a_single_failure_and_a_lock_are_not_worth_a_word(tmp_path: Path) -> None:
    index = Passages(5, [Locked("x"), Locked("x"), ValueError()])
    with working(index, tmp_path) as thread:
        assert eventually(lambda: index.done == 5)
        assert thread.fault == "" and len(index.slices) == 4


def test_it_ends_within_a_batch(tmp_path: Path) -> None:
    index = Passages(1000, pause=0.02)
    with working(index, tmp_path):
        assert eventually(lambda: index.done > 0)
        start = time.monotonic()
    assert time.monotonic() - start < 0.5 and index.done < 10


def test_wakes_without_a_pause_do_not_starve_it(tmp_path: Path) -> None:
    index = Passages(30, pause=0.01)
    with Background(index, tmp_path, pause=0.1) as thread:  # type: ignore[arg-type]
        end = time.monotonic() + 1.0
        while time.monotonic() < end:
            thread.wake()
            time.sleep(0.001)
        assert index.done == 30


@pytest.mark.slow
@pytest.mark.parametrize(("makes", "done"), [(lambda: 1, 5), (time.monotonic_ns, 0)])
def test_one_who_makes_vectors_is_waited_for_as_long_as_it_makes_some(
    makes: Callable[[], int], done: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "STUCK", 0.2)
    index = Passages(5)
    index.other_makes = makes
    with working(index, tmp_path):
        time.sleep(0.1)
        assert index.done == 0
        time.sleep(0.5)
        assert index.done == done


def test_a_process_that_was_stopped_keeps_no_other_from_making_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "STUCK", 0.1)
    index = opened(tmp_path / "state")
    vault().sync(index)
    with (
        files.lock(tmp_path / "state" / EMBED_LOCK),
        Background(index, tmp_path, backoff=0.05) as thread,
    ):
        thread.wake()
        assert eventually(lambda: index.coverage() == (12, 12))


def test_nothing_is_begun_for_a_vault_that_went_or_is_another(tmp_path: Path) -> None:
    root, index = tmp_path / "vault", Passages(5)
    root.mkdir()
    with Background(index, root, backoff=0.05) as thread:  # type: ignore[arg-type]
        thread.resting = False
        root.rename(tmp_path / "elsewhere")
        root.mkdir()
        thread._woken.set()
        time.sleep(0.05)
        assert index.slices == []
        thread.wake()
        assert eventually(lambda: index.done == 5)


def test_a_rest_lasts_until_it_is_woken(tmp_path: Path) -> None:
    index = Passages(1000, pause=0.001)
    with working(index, tmp_path) as thread:
        assert eventually(lambda: index.done > 0)
        thread.rest()
        time.sleep(0.1)
        before = index.done
        time.sleep(0.05)
        assert index.done == before and thread.resting


def test_without_an_embedder_there_is_no_thread(tmp_path: Path) -> None:
    index = Passages(5)
    index.embedder = None
    with working(index, tmp_path) as thread:
        assert thread.wait(0.0) and index.slices == []


def test_an_error_is_told_by_its_place_alone() -> None:
    assert told(WriteFailed("no")) == "no"
    assert told(ValueError("what was said")) == "unexpected ValueError at an unknown place"

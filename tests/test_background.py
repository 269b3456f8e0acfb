"""An index with passages to embed → a thread that embeds them, tells how far it is, and can be stopped."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from huimem.background import Background, Pace, Vectors, told, wait_of
from huimem.errors import Locked, WriteFailed
from huimem.index.rows import EmbedReport

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
        made = 0
        while made < 10 and self.done < self.total and not stop():
            time.sleep(self.pause)
            made, self.done = made + 1, self.done + 1
        return EmbedReport(embedded=made, pending=self.total - self.done)


@contextmanager
def working(index: Passages, root: Path) -> Iterator[Background]:
    with Background(index, root, backoff=0.05) as background:  # type: ignore[arg-type]
        background.wake()
        yield background


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
    with working(index, tmp_path) as background:
        assert eventually(lambda: background.state == Vectors(25, 25, 0.0))
        time.sleep(0.05)
        assert len(index.slices) == 3 and background.fault == ""
        index.total = 26
        background.wake()
        assert eventually(lambda: background.state.done == 26)


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
    with working(index, tmp_path) as background:
        assert eventually(lambda: words in background.fault)
        assert "what was said" not in background.fault
        index.faults.clear()
        assert eventually(lambda: background.state.done == 5 and background.fault == "")


def test_a_single_failure_and_a_lock_are_not_worth_a_word(tmp_path: Path) -> None:
    index = Passages(5, [Locked("x"), Locked("x"), ValueError()])
    with working(index, tmp_path) as background:
        assert eventually(lambda: index.done == 5)
        assert background.fault == "" and len(index.slices) == 4


def test_it_ends_within_a_batch(tmp_path: Path) -> None:
    index = Passages(1000, pause=0.02)
    with working(index, tmp_path):
        assert eventually(lambda: index.done > 0)
        start = time.monotonic()
    assert time.monotonic() - start < 0.5 and index.done < 10


def test_nothing_is_begun_for_a_vault_that_went_or_is_another(tmp_path: Path) -> None:
    root, index = tmp_path / "vault", Passages(5)
    root.mkdir()
    with Background(index, root, backoff=0.05) as background:  # type: ignore[arg-type]
        background.resting = False
        root.rename(tmp_path / "elsewhere")
        root.mkdir()
        background._woken.set()
        time.sleep(0.05)
        assert index.slices == []
        background.wake()
        assert eventually(lambda: index.done == 5)


def test_a_rest_lasts_until_it_is_woken(tmp_path: Path) -> None:
    index = Passages(1000, pause=0.001)
    with working(index, tmp_path) as background:
        assert eventually(lambda: index.done > 0)
        background.rest()
        time.sleep(0.1)
        before = index.done
        time.sleep(0.05)
        assert index.done == before and background.resting


def test_without_an_embedder_there_is_no_thread(tmp_path: Path) -> None:
    index = Passages(5)
    index.embedder = None
    with working(index, tmp_path) as background:
        assert not background.alive


def test_an_error_is_told_by_its_place_alone() -> None:
    assert told(WriteFailed("no")) == "no"
    assert told(ValueError("what was said")) == "unexpected ValueError at an unknown place"

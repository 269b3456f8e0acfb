"""A memory that stays open takes in what is new by itself, unless a watcher that is well does so."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from huimem import Memory, files, upkeep
from huimem.heartbeat import Heart, Standing, lease
from huimem.upkeep import FEW

SAID = ({"role": "user", "content": "The walrus waves.", "at": "2026-04-06T10:00:00"},)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    Memory.create(tmp_path / "vault", tz="UTC").close()
    with Memory.open(tmp_path / "vault", embedder="hashing") as memory:
        yield memory


def test_what_was_recorded_gets_its_vectors_without_being_asked_for(memory: Memory) -> None:
    memory.record(SAID)
    assert memory.linger(10) == "" and memory.index.coverage() == (1, 1)


def test_it_can_be_switched_off(memory: Memory) -> None:
    with Memory.open(memory.vault.root, embedder="hashing", background=False) as quiet:
        quiet.record(SAID)
        quiet.linger(0.5)
        assert quiet.index.coverage() == (0, 0)


# How a watcher is, and whether the memory leaves the vectors to it.
WATCHERS = [
    ("is well", {}, True, True),
    ("makes no vectors", {"vectors": False}, True, False),
    ("is stuck", {}, False, False),
]


@pytest.mark.parametrize(
    ("given", "beats", "left"), [row[1:] for row in WATCHERS], ids=[w[0] for w in WATCHERS]
)
def test_vectors_are_left_to_a_watcher_that_makes_them(
    given: dict[str, bool], beats: bool, left: bool, memory: Memory
) -> None:
    with lease(memory.vault.state), Heart(memory.vault.state, beat=0.01) as heart:
        heart.tell(Standing(1, time.monotonic(), **given))  # type: ignore[arg-type]
        time.sleep(0.1)
        if not beats:
            heart.__exit__()
            files.jot(memory.vault.state / "watch.json", b"{}")
        memory.record(SAID)
        memory.linger(3 if not left else 0.5)
        assert memory.index.coverage() == ((0, 0) if left else (1, 1))


@pytest.mark.parametrize(("count", "taken"), [(FEW, 0), (FEW + 1, FEW + 1)])
def test_a_few_new_files_are_read_and_many_are_taken_in(count: int, taken: int, memory: Memory) -> None:
    for number in range(count):
        (memory.vault.root / f"{number}.md").write_text(f"walrus {number}", encoding="utf-8")
    assert len(memory.recall("walrus", limit=100).hits) == count
    assert memory.index.counts().sources == taken  # the few follow a moment later
    memory.linger(10)
    assert memory.index.coverage() == (count, count)


def test_files_that_take_long_to_read_are_taken_in_and_none_is_missed(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "AT_ONCE", 0.0)
    for number in range(3):
        (memory.vault.root / f"{number}.md").write_text(f"walrus {number}", encoding="utf-8")
    answer = memory.recall("walrus")
    assert (len(answer.hits), answer.freshness.fresh, answer.freshness.pending) == (3, True, 0)
    assert memory.index.counts().sources == 3

"""A question's vector is begun while the files are listed: the answers are those they were without."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from huimem import ConfigError, Memory
from huimem.providers import table
from huimem.providers.hashing import HashingEmbedder
from huimem.records import Recall
from huimem.yielding import is_beside_another

NOW = datetime.fromisoformat("2026-04-08T12:00:00+08:00")
SAID = [
    ("2026-04-06T10:00:00", "The walrus waves at the harbour."),
    ("2026-04-07T10:00:00", "The budget of the harbour was cut."),
]


class Counting(HashingEmbedder):
    """The hashing embedder, made to take its time; what it is asked, and in which thread, is kept."""

    def __init__(self, seconds: float) -> None:
        super().__init__("64")
        self.seconds = seconds
        self.released = threading.Event()
        self.fault: ConfigError | None = None
        self.asked: list[tuple[tuple[str, ...], bool]] = []
        self.beside: list[bool] = []

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> np.ndarray:
        if as_query:
            self.asked.append((tuple(texts), threading.current_thread() is threading.main_thread()))
            self.beside.append(is_beside_another())
            self.released.wait(self.seconds)
            if self.fault:
                raise self.fault
        return super().embed(texts, as_query=as_query)


made: list[Counting] = []


def counting(seconds: str) -> Counting:
    made.append(Counting(float(seconds)))
    return made[-1]


@pytest.fixture
def memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Memory]:
    """A vault of what was said, indexed by an embedder that takes `request.param` seconds a question."""
    monkeypatch.setitem(table.EMBEDDERS.built_in, "counting", f"{__name__}:counting")
    Memory.create(tmp_path / "vault", tz="Asia/Shanghai").close()
    seconds = getattr(request, "param", 0.02)
    with Memory.open(tmp_path / "vault", embedder=f"counting:{seconds}", background=False) as memory:
        for at, text in SAID:
            memory.record([{"role": "user", "content": text, "at": at}])
        memory.sync()
        made[-1].asked.clear()  # what it told of its own scale
        made[-1].beside.clear()
        yield memory


def answered(memory: Memory, text: str) -> Recall:
    found = memory.recall(text, now=NOW)
    assert not [thread for thread in threading.enumerate() if thread.name == "huimem-question"]
    return found


def test_from_the_second_question_on_its_vector_is_begun_before_the_files_are_listed(memory: Memory) -> None:
    first, second = (answered(memory, "harbour walrus") for _ in range(2))
    assert [in_main for _, in_main in made[-1].asked] == [True, False]
    assert made[-1].beside == [False, True]
    assert first.freshness.engine == second.freshness.engine == "words+meaning"
    assert first.hits == second.hits != ()


@pytest.mark.parametrize("memory", [0.0], indirect=True)
def test_an_engine_that_answers_at_once_is_worth_no_thread(memory: Memory) -> None:
    for _ in range(3):
        answered(memory, "harbour walrus")
    assert [in_main for _, in_main in made[-1].asked] == [True] * 3


def test_what_the_question_turns_out_to_say_is_what_counts(memory: Memory) -> None:
    # Nobody spoke at four: the clock time is then one of the words, and the vector is made of all of them.
    answered(memory, "harbour")
    found = answered(memory, "the harbour at 16:00 yesterday")
    (begun, _), (used, in_main) = made[-1].asked[-2:]
    assert begun != used and in_main
    assert found.hits == answered(memory, "the harbour at 16:00 yesterday").hits != ()


def test_a_fault_of_the_engine_is_told_as_ever_and_the_next_question_answers(memory: Memory) -> None:
    answered(memory, "harbour")
    made[-1].fault = ConfigError("the engine is out of order")
    for _ in range(2):
        with pytest.raises(ConfigError, match="out of order"):
            answered(memory, "harbour")
    made[-1].fault = None
    assert answered(memory, "harbour").freshness.engine == "words+meaning"


def test_without_all_vectors_nothing_is_begun(memory: Memory) -> None:
    answered(memory, "harbour")
    memory.record([{"role": "user", "content": "A seal at the harbour.", "at": "2026-04-08T09:00:00"}])
    memory.sync(vectors=False)
    assert answered(memory, "harbour").freshness.engine == "words"
    before = len(made[-1].asked)
    assert answered(memory, "harbour").freshness.engine == "words"
    assert len(made[-1].asked) == before


def test_an_engine_that_took_its_time_once_only_is_worth_no_thread_for_long(memory: Memory) -> None:
    answered(memory, "harbour walrus")  # as one that is loaded by its first question
    made[-1].seconds = 0.0
    for _ in range(3):
        answered(memory, "harbour walrus")
    assert [in_main for _, in_main in made[-1].asked] == [True, False, True, True]


def test_nobody_waits_for_a_vector_that_nobody_wants(memory: Memory) -> None:
    answered(memory, "harbour")
    memory.record([{"role": "user", "content": "A seal at the harbour.", "at": "2026-04-08T09:00:00"}])
    memory.sync(vectors=False)
    made[-1].seconds = 30.0
    start = time.monotonic()
    assert memory.recall("harbour", now=NOW).freshness.engine == "words"
    assert memory.recall("harbour", now=NOW).freshness.engine == "words"
    assert time.monotonic() < start + 10.0
    assert len(made[-1].asked) == 2  # the second of them began nothing
    made[-1].released.set()
    for thread in threading.enumerate():
        if thread.name == "huimem-question":
            thread.join()


def test_where_no_thread_is_to_be_had_the_answer_is_the_same(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = answered(memory, "harbour walrus")

    def refused(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    assert answered(memory, "harbour walrus").hits == first.hits != ()

"""A walk that its reader ends: the answer is that of the weeks walked, and nothing of it is lost."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

import pytest

from huimem import ConfigError, Hit, Memory, Recall
from huimem.config import Rerank
from huimem.recall.pipeline import Second
from huimem.recall.scan import Walk, finished
from tests.recall.test_scan import tell
from tests.recall.test_scan_steps import NOW


def ended(walk: Walk, after: int) -> Recall:
    """The answer of a walk that is ended with a step, counted from 1."""
    for _ in range(after):
        next(walk)
    with pytest.raises(StopIteration) as end:
        walk.send(True)
    answer: Recall = end.value.value
    return answer


@pytest.mark.parametrize("limit", [1, 3])
@pytest.mark.parametrize("after", [1, 2, 3, 4])
def test_a_walk_that_is_ended_loses_nothing_that_it_had_found(after: int, limit: int, told: Memory) -> None:
    """Its answer is that of a walk of as many weeks, whatever other weeks hold."""
    question: dict[str, Any] = {"now": NOW, "limit": limit, "enough": 9.0}
    early = ended(told.scan("accountant tax form", weeks=20, **question), after)
    short = finished(told.scan("accountant tax form", weeks=after, **question))
    assert early.scanned == short.scanned and early.cursor == short.cursor
    assert early.hits == short.hits and early.hits
    places = [int(note.split()[-1]) for hit in early.hits for note in repeats(hit)]
    assert all(place <= len(early.hits) for place in places)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """One matter, week by week: said shortly, then better, and twice in the same words."""
    root = tmp_path_factory.mktemp("told")
    Memory.create(root, tz="Asia/Shanghai").close()
    same = "The accountant phoned about the blue tax form and wants it signed before the holidays begin."
    with Memory.open(root, embedder="none") as made:
        tell(made, "week-0", "2026-04-14", ["Rain again.", "The accountant rang, of the form nothing."])
        tell(made, "week-1", "2026-04-08", [same])
        tell(made, "week-2", "2026-04-01", [same, "The tax form is lost.", "The accountant is in Rome."])
        tell(made, "week-3", "2026-03-25", ["Tax form, accountant."])
        for week in range(4, 20):
            day = f"{NOW - timedelta(weeks=week):%Y-%m-%d}"
            tell(made, f"week-{week}", day, [f"The accountant has the tax form number {week}."] * 2)
        yield made


def repeats(hit: Hit) -> list[str]:
    return [factor.note for factor in hit.factors if factor.name == "repeats"]


def test_a_reranker_reads_what_a_walk_came_to_once(told: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    class Reader:
        def __init__(self) -> None:
            self.read: list[str] = []

        def score(self, question: str, texts: Sequence[str]) -> list[float]:
            self.read += texts
            raise ConfigError("no model", "Get one.")

    reader = Reader()
    monkeypatch.setattr(told, "_second", Second(reader, Rerank(clear=9.0), time.monotonic))
    walk = told.scan("accountant tax form", now=NOW, weeks=20, enough=9.0)
    answer = ended(walk, 3)
    assert [warning for warning in answer.warnings if "no model" in warning]
    assert reader.read and not [text for text in reader.read if "number" in text]
    assert len(reader.read) == len(set(reader.read))

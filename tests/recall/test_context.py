"""What is shown of records that were found: hits and passages from one reading of each file."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from huimem import UsageError
from huimem.errors import HuimemError
from huimem.index.rows import ChunkRow
from huimem.recall.context import Found, told_of
from huimem.recall.query import make, options
from huimem.records import Source
from huimem.vault.sources import source_of
from tests.recall.made import TURN

ZONE = ZoneInfo("Asia/Shanghai")
LINES = ["Sow the radish.", "Prune the apple.", "Water the leek.", "Dig the pond."]
TEXT = "---\nid: plot\ntz: Asia/Shanghai\n---\n\n" + "\n".join(
    f"## User · 2026-04-06 09:0{number}:00\n\n{line}\n" for number, line in enumerate(LINES)
)


class Files:
    """Reads `plot.md`, refuses all others, and keeps count."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def __call__(self, path: str) -> Source:
        self.read.append(path)
        if path != "plot.md":
            raise HuimemError("cannot be read", "Look at its mode.")
        return source_of(TEXT.encode(), path, zone=ZONE)


def found(number: int, path: str = "plot.md") -> Found:
    ref, line = f"plot#20260406T090{number}00", 8 + 4 * number
    record = replace(TURN, id=number, ord=number, ref=ref, path=path, line=line - 2)
    return Found(record, 0, ChunkRow(number, number, 0, "user", (line, line), None, LINES[number]), ())


ASKED = [
    ("neither", 0, None, []),
    ("a context", 1, None, [[0, 1, 2, 3]]),
    ("a budget", 0, 100, [[3], [0]]),
    ("both", 2, 100, [[0, 1, 2, 3]]),
]


@pytest.mark.parametrize(("case", "context", "budget", "turns"), ASKED, ids=[row[0] for row in ASKED])
def test_passages_come_where_a_context_or_a_budget_is_asked_for_and_each_file_is_read_once(
    case: str, context: int, budget: int | None, turns: list[list[int]]
) -> None:
    read = Files()
    told = told_of(read, [found(3), found(0)], context, budget)
    assert read.read == ["plot.md"]
    assert [hit.evidence for hit in told.hits] == [LINES[3], LINES[0]]
    assert [[int(ref.at[-3]) for ref in one.refs] for one in told.passages] == turns
    assert told.warnings == ()


def test_a_file_that_cannot_be_read_costs_its_hits_and_its_passages() -> None:
    told = told_of(Files(), [found(0, "gone.md"), found(1)], 0, 100)
    assert [hit.evidence for hit in told.hits] == [LINES[1]]
    assert [one.hits for one in told.passages] == [(0,)]
    assert [line.startswith("gone.md") for line in told.warnings] == [True]


def test_what_the_budget_does_not_hold_is_a_warning() -> None:
    told = told_of(Files(), [found(0)], 0, 3)
    assert len(told.hits) == 1 and told.passages == ()
    assert [line.split(";")[0] for line in told.warnings] == ["1 of 1 hit does not fit into 3 tokens"]


@pytest.mark.parametrize("budget", [0, -5])
def test_a_budget_that_holds_nothing_is_refused(budget: int) -> None:
    with pytest.raises(UsageError, match=f"a budget of {budget} tokens holds nothing"):
        make("IVF", options({"budget": budget}), datetime(2026, 4, 15, tzinfo=ZONE), lambda text, now: None)

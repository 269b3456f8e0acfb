"""Figures of a comparison, and that asking two embedders leaves a vault as it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from huimem.comparing import Comparison, Question, Side, compare, questions_in
from huimem.memory import Memory, load_embedder
from huimem.records import Hit, Ref


def hit(name: str) -> Hit:
    """A record of which nothing is known but its ref."""
    return Hit(Ref("", "s", name), None, "s.md", 1, "", (), 0, "", ())  # type: ignore[arg-type]


def side(*answers: str) -> Side:
    """An embedder that found these records, a letter each."""
    return Side("x", 8, 0, 1.0, 1.0, tuple(tuple(map(hit, answer)) for answer in answers))


def compared(a: tuple[str, ...], b: tuple[str, ...], expected: str = "") -> Comparison:
    refs = [f"s#{letter}" if letter.strip() else "" for letter in expected or " " * len(a)]
    return Comparison(tuple(Question("?", ref) for ref in refs), (side(*a), side(*b)))


# Hits of A and of B for each question, a letter a record: same first hits, overlap of the first five.
AGREEMENT = [
    (("abc",), ("abc",), 1, 1.0),
    (("abc",), ("cba",), 0, 1.0),
    (("abcde",), ("abcdf",), 1, 0.8),
    (("ab",), ("abcd",), 1, 0.5),
    (("abc",), ("",), 0, 0.0),
    (("",), ("",), 1, 1.0),
    (("abcdefg",), ("abcdegf",), 1, 1.0),
    (("ab", "cd"), ("ab", "ef"), 1, 0.5),
]


@pytest.mark.parametrize(("a", "b", "same", "overlap"), AGREEMENT)
def test_how_far_two_embedders_agree(
    a: tuple[str, ...], b: tuple[str, ...], same: int, overlap: float
) -> None:
    found = compared(a, b)
    assert (found.same_first(), found.mean_overlap()) == (same, pytest.approx(overlap))


# Hits of each question, the record expected of each (a blank: none): R@5 and MRR.
QUALITY = [
    (("abc",), "a", 1.0, 1.0),
    (("abc",), "c", 1.0, 1 / 3),
    (("abcdefg",), "f", 0.0, 1 / 6),
    (("abc",), "z", 0.0, 0.0),
    (("ab", "ab", "ab"), "ab ", 1.0, 0.75),
    (("ab",), " ", None, None),
]


@pytest.mark.parametrize(("answers", "expected", "recall", "reciprocal"), QUALITY)
def test_how_well_one_finds_what_is_expected(
    answers: tuple[str, ...], expected: str, recall: float | None, reciprocal: float | None
) -> None:
    found = compared(answers, answers, expected)
    assert found.recall_at_first(found.sides[0]) == pytest.approx(recall)
    assert found.reciprocal_rank(found.sides[1]) == pytest.approx(reciprocal)


LINES = [
    ("one\ntwo\n", [("one", ""), ("two", "")]),
    ("\n  \n# no\n  # no\n one \n", [("one", "")]),
    ("one\ts#1\n", [("one", "s#1")]),
    ("one \t s#1 \r\n\ttwo\n", [("one", "s#1")]),
    ("租房#合同", [("租房#合同", "")]),
]


@pytest.mark.parametrize(("text", "expected"), LINES)
def test_questions_stand_one_a_line(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(question.text, question.expected) for question in questions_in(text)] == expected


def test_comparing_leaves_what_answers_as_it_is_and_fills_the_cache(
    marigold_vault: Path, huimem: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory.open(marigold_vault, embedder="hashing:32") as memory:
        memory.sync()
        before = memory.index.answers(), memory.index.coverage(), memory.recall("the marigold").hits
        embedders = [(spec, load_embedder(spec)) for spec in ("hashing:32", "hashing:64")]
        found = compare(memory, embedders, [Question("the marigold")], memory.now())
        assert before == (memory.index.answers(), memory.index.coverage(), memory.recall("the marigold").hits)
    assert [one.dim for one in found.sides] == [32, 64] and [one.made for one in found.sides] == [0, 1]
    assert found.sides[0].answers[0] == before[2]
    with Memory.open(marigold_vault, embedder="hashing:64") as memory:
        assert memory.sync().embedded.cached == 1  # type: ignore[union-attr]

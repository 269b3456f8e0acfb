"""Candidates before a second judge: what it reads, what its word is worth, and what happens without it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, chain, repeat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from huimem.config import Rerank
from huimem.errors import ConfigError, MissingExtra
from huimem.recall.rerank import BATCH, LEAST, Candidate, Reranked, is_clear, relevance_of, rerank
from huimem.records import Factor

QUESTION = "which tea did we order?"
LIMITS = Rerank(top=20, seconds=10.0, clear=1.0, gap=1.0)


class Marks:
    """A reranker that looks a text's score up, and remembers what it was asked."""

    def __init__(self, scores: dict[str, float], *, probabilities: bool = False) -> None:
        self.scores = scores
        self.probabilities = probabilities
        self.calls: list[tuple[str, list[str]]] = []

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        self.calls.append((question, [*texts]))
        return [self.scores[text] for text in texts]

    @property
    def texts(self) -> list[str]:
        return [text for _, texts in self.calls for text in texts]


class Raises:
    """A reranker that breaks at its second call."""

    def __init__(self, fault: Exception, at: int = 1) -> None:
        self.fault, self.left = fault, at

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        self.left -= 1
        if self.left <= 0:
            raise self.fault
        return [5.0] * len(texts)


class Gives:
    """A reranker that gives something else than it should."""

    def __init__(self, given: object, *, probabilities: bool = False) -> None:
        self.given, self.probabilities = given, probabilities

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        return self.given  # type: ignore[return-value]


def one(text: str, relevance: float, *others: tuple[str, float], note: str = "words 0.50 (tea)") -> Candidate:
    factors = [Factor("relevance", relevance, note, {"words": 0.5})]
    return Candidate(text, (*factors, *(Factor(name, value) for name, value in others)))


def row(count: int) -> list[Candidate]:
    """Candidates t0, t1 … whose relevance falls from .9 by .01."""
    return [one(f"t{n}", 0.9 - n / 100) for n in range(count)]


def still() -> float:
    """A clock in a world where nothing takes time."""
    return 0.0


def takes(*seconds: float) -> Callable[[], float]:
    """A clock by which the first call takes the first of `seconds`, and so on; the last for ever after."""
    each = chain(seconds, repeat(seconds[-1]))
    running: Iterator[float] = chain.from_iterable((0.0, span) for span in each)
    moments = accumulate(running)
    return lambda: next(moments)


def scores(found: Reranked) -> list[float]:
    return [math.prod(factor.value for factor in factors) for factors in found.factors]


def notes(found: Reranked) -> list[str]:
    return [factors[0].note for factors in found.factors]


# A reranker's score, whether it is a probability, the relevance.
MAPPED = [
    (0.0, False, 0.5),
    (math.log(3), False, 0.75),
    (-math.log(3), False, 0.25),
    (1000.0, False, 1.0),
    (-1000.0, False, LEAST),
    (0.83, True, 0.83),
    (1.0, True, 1.0),
    (0.0, True, LEAST),
]


@pytest.mark.parametrize(("score", "probability", "relevance"), MAPPED)
def test_a_score_becomes_a_relevance(score: float, probability: bool, relevance: float) -> None:
    assert relevance_of(score, probability=probability) == pytest.approx(relevance, rel=1e-12)


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_the_map_never_falls_and_stays_above_zero(a: float, b: float) -> None:
    low, high = (relevance_of(score, probability=False) for score in sorted((a, b)))
    assert 0 < low <= high <= 1


def test_the_model_decides_and_the_old_value_stays_in_the_note() -> None:
    found = rerank(
        QUESTION,
        [one("green", 0.8), one("black", 0.6), one("white", 0.4)],
        Marks({"green": -math.log(3), "black": 0.0, "white": math.log(3)}),
        LIMITS,
        still,
    )
    assert found.order == (2, 1, 0)
    assert scores(found) == pytest.approx([0.75, 0.5, 0.25])
    assert notes(found) == [
        "reranked, 0.40 before · words 0.50 (tea)",
        "reranked, 0.60 before · words 0.50 (tea)",
        "reranked, 0.80 before · words 0.50 (tea)",
    ]
    assert (found.read, found.warnings) == (3, ())


def test_other_factors_multiply_as_before_and_are_left_as_they_are() -> None:
    # Relevance .75 × time .5 is less than .5 × 1.
    found = rerank(
        QUESTION,
        [one("a", 0.9, ("time", 0.5), ("importance", 1.2)), one("b", 0.3, ("time", 1.0))],
        Marks({"a": math.log(3), "b": 0.0}),
        LIMITS,
        still,
    )
    assert found.order == (1, 0)
    assert scores(found) == pytest.approx([0.5, 0.75 * 0.5 * 1.2])
    assert found.factors[1][1:] == (Factor("time", 0.5), Factor("importance", 1.2))
    assert found.factors[1][0].parts == {"words": 0.5}


def test_a_probability_stays_as_it_is() -> None:
    found = rerank(QUESTION, row(2), Marks({"t0": 0.2, "t1": 0.7}, probabilities=True), LIMITS, still)
    assert (found.order, scores(found)) == ((1, 0), [0.7, 0.2])


def test_equals_keep_their_order_and_one_text_is_read_once() -> None:
    marks = Marks({"same": 1.0, "t": 2.0})
    found = rerank(QUESTION, [one("same", 0.8), one("t", 0.7), one("same", 0.6)], marks, LIMITS, still)
    assert found.order == (1, 0, 2)
    assert marks.texts == ["same", "t"]
    assert found.read == 3


def test_the_model_sees_the_question_and_the_passages_in_batches() -> None:
    marks = Marks({f"t{n}": float(n) for n in range(10)})
    rerank(QUESTION, row(10), marks, LIMITS, still)
    assert {question for question, _ in marks.calls} == {QUESTION}
    assert [len(texts) for _, texts in marks.calls] == [BATCH, BATCH, 10 - 2 * BATCH]
    assert marks.texts == [f"t{n}" for n in range(10)]


# Candidates that no model needs to see: how many, the most it may read, the question.
NEEDLESS = [(0, 20, QUESTION), (1, 20, QUESTION), (5, 1, QUESTION), (5, 0, QUESTION), (5, 20, "  ")]


@pytest.mark.parametrize(("count", "top", "question"), NEEDLESS)
def test_where_there_is_nothing_to_order_the_model_is_not_called(count: int, top: int, question: str) -> None:
    marks = Marks({})
    found = rerank(question, row(count), marks, Rerank(top=top, clear=1.0), still)
    assert not marks.calls
    assert found == Reranked(tuple(range(count)), tuple(candidate.factors for candidate in row(count)))


# Relevance of the first and the second, the time factor of the first, whether the first is clear at .7/.25.
CLEAR = [
    (0.8, 0.4, 1.0, True),
    (0.7, 0.45, 1.0, True),
    (0.69, 0.1, 1.0, False),  # far ahead, of little worth
    (0.9, 0.7, 1.0, False),  # both good
    (0.8, 0.5, 0.9, False),  # .72 against .5: the time factor takes its lead
]


@pytest.mark.parametrize(("first", "second", "time", "clear"), CLEAR)
def test_a_first_place_that_leads_clearly_needs_no_second_opinion(
    first: float, second: float, time: float, clear: bool
) -> None:
    two = [one("a", first, ("time", time)), one("b", second)]
    assert is_clear(two, Rerank(clear=0.7, gap=0.25 - 1e-9)) is clear


def test_a_clear_first_place_is_said_and_costs_nothing() -> None:
    marks = Marks({})
    given_ = [one("a", 0.9), one("b", 0.3), one("c", 0.2)]
    found = rerank(QUESTION, given_, marks, Rerank(clear=0.7, gap=0.25), still)
    assert not marks.calls
    assert (found.order, found.read, found.warnings) == ((0, 1, 2), 0, ())
    assert notes(found) == ["leads clearly, not reranked · words 0.50 (tea)", *["words 0.50 (tea)"] * 2]
    assert scores(found) == [0.9, 0.3, 0.2]


def test_what_lies_beyond_the_top_stays_below_in_its_order() -> None:
    # The model finds both that it reads poor: .1 and .02. The rest were .88, .87 and stay as far apart.
    marks = Marks({"t0": 0.02, "t1": 0.1}, probabilities=True)
    found = rerank(QUESTION, row(4), marks, Rerank(top=2, clear=1.0), still)
    assert found.order == (1, 0, 2, 3)
    assert scores(found) == pytest.approx([0.1, 0.02, 0.02, 0.02 * 0.87 / 0.88])
    assert notes(found)[2] == "not reranked, 0.88 before · words 0.50 (tea)"
    assert (found.read, found.warnings) == (2, ())


def test_what_is_below_already_keeps_its_relevance() -> None:
    marks = Marks({"a": 0.9, "b": 0.8}, probabilities=True)
    found = rerank(
        QUESTION, [one("a", 0.5), one("b", 0.4), one("c", 0.3)], marks, Rerank(top=2, clear=1.0), still
    )
    assert scores(found) == [0.9, 0.8, 0.3]


# Seconds of each call (the last for ever), the budget, how many of 20 passages are read.
TIMES = [
    ((0.5,), 10.0, 20),
    ((9.0, 0.1), 1.0, 20),  # the first call loads the model and is not counted
    ((1.0,), 2.0, 12),  # two more batches end at 2.0 and a third would pass it
    ((1.0,), 2.5, 12),
    ((0.1, 3.0), 2.0, 8),  # the second is longer than all there is, and no other is begun
    ((1.0, 0.2, 1.5, 0.1), 2.5, 12),  # after .2 + 1.5 another of 1.5 would be too long
    ((0.1,), 0.0, 4),
]


@pytest.mark.parametrize(("seconds", "budget", "read"), TIMES)
def test_the_time_ends(seconds: tuple[float, ...], budget: float, read: int) -> None:
    marks = Marks({f"t{n}": float(n) for n in range(20)})
    found = rerank(QUESTION, row(20), marks, Rerank(top=20, seconds=budget, clear=1.0), takes(*seconds))
    assert BATCH == 4
    assert found.read == len(marks.texts) == read
    assert found.order == (*range(read - 1, -1, -1), *range(read, 20))
    if read == 20:
        assert found.warnings == ()
    else:
        (warning,) = found.warnings
        assert f"read {read} of 20 passages in {budget:g} s" in warning
        assert "rerank.seconds" in warning and "rerank.top" in warning


class Odd(Exception):
    """An error of some library."""


FAULTS = [
    # what the reranker does, what the warning must name
    (Raises(Odd("the text was: my secret")), ("unexpected Odd at test_rerank.py", 'reranker = ""')),
    (Raises(Odd("later"), at=2), ("unexpected Odd", 'reranker = ""')),
    (Raises(ConfigError("no model at /x", "Write a hub id")), ("no model at /x", "Write a hub id")),
    (Raises(MissingExtra("not installed", "pip install it")), ("not installed", "pip install it")),
    (Raises(ConfigError("no hint")), ("no hint", 'reranker = ""')),
    (Gives([1.0]), ("1 scores for 4 texts", 'reranker = ""')),
    (Gives([]), ("0 scores for 4 texts",)),
    (Gives([1.0] * 5), ("5 scores for 4 texts",)),
    (Gives([1.0, math.nan, 1.0, 1.0]), ("no finite number",)),
    (Gives([1.0, math.inf, 1.0, 1.0]), ("no finite number",)),
    (Gives([0.1, 1.1, 0.1, 0.1], probabilities=True), ("outside 0 to 1",)),
    (Gives(["high", "low", "low", "low"]), ("unexpected ValueError",)),
    (Gives([[1.0, 2.0]] * 4), ("unexpected TypeError",)),
    (Gives(None), ("unexpected TypeError",)),
]


@pytest.mark.parametrize(("reranker", "named"), FAULTS)
def test_whatever_goes_wrong_the_old_order_answers(reranker: Raises | Gives, named: tuple[str, ...]) -> None:
    if isinstance(reranker, Gives):
        count = 4
    else:
        count, reranker = 8, Raises(reranker.fault, reranker.left)
    found = rerank(QUESTION, row(count), reranker, LIMITS, still)
    assert found.order == tuple(range(count))
    assert found.factors == tuple(candidate.factors for candidate in row(count))
    (warning,) = found.warnings
    assert found.read == 0
    assert all(word in warning for word in ("not reranked", *named))
    assert "secret" not in warning


def test_whoever_stops_the_program_stops_it() -> None:
    class Stopped:
        def score(self, question: str, texts: Sequence[str]) -> list[float]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rerank(QUESTION, row(3), Stopped(), LIMITS, still)


drawn = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.floats(0.01, 1.0), st.floats(0.05, 3.0)), max_size=12
)


@given(drawn, st.integers(0, 14), st.lists(st.floats(-50, 50), min_size=8, max_size=8), st.integers(0, 3))
def test_nothing_is_lost_and_the_order_is_that_of_the_scores(
    rows: list[tuple[str, float, float]], top: int, marks: list[float], batches: int
) -> None:
    candidates = [one(text, relevance, ("time", time)) for text, relevance, time in rows]
    candidates.sort(key=lambda candidate: -candidate.score)
    found = rerank(
        QUESTION,
        candidates,
        Marks(dict(zip("abcdefgh", marks, strict=True))),
        Rerank(top=top, seconds=batches * 1.0, clear=1.0, gap=1.0),
        takes(1.0),
    )
    assert sorted(found.order) == list(range(len(candidates)))
    assert scores(found) == sorted(scores(found), reverse=True) or scores(found) == pytest.approx(
        sorted(scores(found), reverse=True)
    )
    for place, factors in zip(found.order, found.factors, strict=True):
        assert 0 < factors[0].value <= 1
        assert factors[1:] == candidates[place].factors[1:]
    unread = found.order[found.read :]
    assert list(unread) == sorted(unread)

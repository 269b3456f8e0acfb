"""Why a hit has its score: factors with their bounds and notes, and the words with their shares."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from huimem.config import Ranking
from huimem.index.calibrate import Scale
from huimem.index.meaning import Meaning
from huimem.index.rows import UNDATED, RecordRow
from huimem.recall import rank
from huimem.recall.candidates import Judged
from huimem.recall.explain import Circumstances, Evidence, Spans, fits_time, relevance_of, was_said
from huimem.recall.rank import Scores, Terms
from huimem.records import Factor
from tests.recall.made import TURN, pool

DAY = 86_400_000
NOW = 10_000 * DAY
RECORD = replace(TURN, at_ms=NOW)
# Numbers that are easy to follow: age costs its root, or all of it; who asks loses up to .3.
RANKING = Ranking(recency=0.5, latest=1.0, asking=0.3, speaks_of=0.9, importance=0.5)


def judged(
    tokens: list[int],
    parts: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0),
    *,
    at_ms: int = NOW,
    user: bool = True,
    asks: float = 0.0,
) -> Judged:
    """One passage with the summands words, meaning, neighbours, around."""
    one = pool((0, tokens), user=(user,), asks=(asks,), at_ms=(at_ms,))
    scores = Scores(*(np.array([part]) for part in (*parts, parts[0] + parts[1])))
    return Judged(one, scores, scores.sums / (scores.sums + 0.5), None)


def factors(
    one: Judged,
    record: RecordRow = RECORD,
    *,
    named: Spans = (),
    spans: Spans = (),
    latest: bool = False,
    ranking: Ranking = RANKING,
) -> dict[str, Factor]:
    circumstances = Circumstances(named, spans or named, NOW, latest, ranking)
    (tells,), (recent,) = rank.tells(one.pool, circumstances.ranking), circumstances.recency(one.pool.at_ms)
    found = list(circumstances.of(one, 0, record, tells, recent))
    assert len({factor.name for factor in found}) == len(found)
    return {factor.name: factor for factor in found}


def values(found: dict[str, Factor]) -> dict[str, float]:
    return {name: round(factor.value, 9) for name, factor in found.items()}


OLD = judged([1], at_ms=NOW - 90 * DAY)


def test_what_is_neutral_has_no_factor() -> None:
    assert factors(judged([1])) == {}


def test_age_counts_a_little() -> None:
    assert values(factors(OLD)) == {"recency": 0.5}  # the root of a quarter
    assert factors(OLD)["recency"].note == ""


def test_age_counts_more_where_the_latest_is_asked_for() -> None:
    found = factors(OLD, latest=True)
    assert values(found) == {"recency": 0.25}
    assert found["recency"].note == "the latest is asked for"


def test_age_says_nothing_where_a_time_is_named() -> None:
    then = ((NOW - 100 * DAY, NOW - 5 * DAY),)
    assert values(factors(OLD, named=then)) == {"time": 1.0}
    assert values(factors(OLD, named=then, latest=True)) == {"time": 1.0}


def test_facts_do_not_age() -> None:
    assert factors(OLD, replace(RECORD, fact=True), latest=True) == {}


def test_what_has_no_time_is_old() -> None:
    assert values(factors(judged([1], at_ms=UNDATED))) == {"recency": 0.05}  # the least of any factor


# A day named, and what "about" adds on either side.
NAMED: Spans = ((100 * DAY, 101 * DAY),)
ABOUT: Spans = ((99 * DAY, 102 * DAY),)
TIMES = [
    ("in it", 100 * DAY, False, 1.0, "said then"),
    ("at its first moment", 100 * DAY, False, 1.0, "said then"),
    ("at its last moment", 101 * DAY - 1, False, 1.0, "said then"),
    ("at its end", 101 * DAY, False, 0.9, "said about then"),
    ("before it", 99 * DAY, False, 0.9, "said about then"),
    ("far off", 300 * DAY, False, 0.9, "speaks of it"),
    ("guessed", 100 * DAY, True, 0.9, "speaks of it"),
    ("no time", UNDATED, False, 0.9, "speaks of it"),
]


@pytest.mark.parametrize(("what", "at_ms", "inferred", "value", "note"), TIMES)
def test_a_hit_says_how_it_fits_the_time(
    what: str, at_ms: int, inferred: bool, value: float, note: str
) -> None:
    record = replace(RECORD, inferred=inferred)
    found = factors(judged([1], at_ms=at_ms), record, named=NAMED, spans=ABOUT)["time"]
    assert (found.value, found.note) == (value, note), what


def test_said_then_and_speaking_of_it() -> None:
    assert fits_time(True, True, 0.9) == Factor("time", 1.0, "said then")
    assert fits_time(False, False, 0.9) == Factor("time", 0.9, "speaks of it")
    assert not was_said(5, RECORD, ())


def test_a_question_of_someone_else_tells_nothing() -> None:
    found = factors(judged([1], user=False, asks=0.5))
    assert values(found) == {"asking": 0.85}
    assert found["asking"].note == "a question tells nothing"
    assert factors(judged([1], user=True, asks=1.0)) == {}


IMPORTANCES = [
    ("an instruction", "instruction", 1.44, 1.2),
    ("a trifle", "turn", 0.25, 0.5),
    ("at most 3", "fact", 100.0, 3.0),
    ("at least .05", "fact", 0.0001, 0.05),
]


@pytest.mark.parametrize(("what", "kind", "importance", "value"), IMPORTANCES)
def test_importance_counts_with_its_root(what: str, kind: str, importance: float, value: float) -> None:
    found = factors(judged([1]), replace(RECORD, kind=kind, importance=importance))
    assert values(found) == {"importance": pytest.approx(value)}, what
    assert found["importance"].note == kind


EVERYTHING = judged([1], user=False, asks=1.0, at_ms=NOW - 10 * DAY)
WEIGHTY = replace(RECORD, importance=1.44)
OFF = [
    ("asking", Ranking(asking=0), {"recency", "importance"}),
    ("recency", Ranking(recency=0), {"asking", "importance"}),
    ("importance", Ranking(importance=0), {"asking", "recency"}),
    ("all", Ranking(asking=0, recency=0, importance=0), set()),
    ("none", Ranking(), {"asking", "recency", "importance"}),
]


@pytest.mark.parametrize(("what", "ranking", "left"), OFF)
def test_each_factor_can_be_turned_off(what: str, ranking: Ranking, left: set[str]) -> None:
    assert set(factors(EVERYTHING, WEIGHTY, ranking=ranking)) == left, what


def test_the_latest_can_be_turned_off_too() -> None:
    assert factors(OLD, latest=True, ranking=Ranking(latest=0)) == {}


# A weight that takes all: a factor stays at .05, and is never negative.
def test_every_factor_has_a_least() -> None:
    strong = Ranking(asking=1.0, recency=9.0, speaks_of=0.0)
    found = factors(judged([1], user=False, asks=1.0, at_ms=UNDATED), named=NAMED, ranking=strong)
    assert values(found) == {"time": 0.05, "asking": 0.05}
    assert values(factors(judged([1], at_ms=UNDATED), ranking=strong)) == {"recency": 0.05}


# Relevance


def told(terms: Terms, one: Judged, spoken: dict[str, str] | None = None) -> Factor:
    return relevance_of(Evidence(one, terms, spoken or {}, Ranking(k1=1.0, b=0.0)), 0)


def test_relevance_tells_its_summands() -> None:
    one = judged([9], (0.2, 0.3, 0.06, 0.04))
    found = told(Terms((), (), (), 1.0), one)
    assert found.name == "relevance"
    assert found.parts == pytest.approx({"words": 0.2, "meaning": 0.3, "neighbours": 0.06, "around": 0.04})
    assert found.value == pytest.approx(0.6 / 1.1)
    assert found.note == "words 0.20 · meaning 0.30 · neighbours 0.06 · around 0.04"


def test_what_rounds_to_nothing_is_not_named() -> None:
    assert told(Terms((), (), (), 1.0), judged([9], (0.2, 0.004, 0.0, 0.005))).note == (
        "words 0.20 · around 0.01"
    )


def test_matched_words_have_shares_that_add_up_to_the_words() -> None:
    # Weights 3, 1, 1: of the words' .5, a once has 3/4 of what matched and b 1/4; c does not stand there.
    terms = Terms(("marigold", "vase", "tulip"), (1, 2, 3), (3.0, 1.0, 1.0), 1.0)
    found = told(terms, judged([1, 2], (0.48, 0, 0, 0)), {"marigold": "Marigolds"})
    assert found.note == "words 0.48 (Marigolds 0.36, vase 0.12)"


def test_terms_of_one_word_are_one_word() -> None:
    terms = Terms(("svc-mail", "svc", "mail"), (1, 2, 3), (2.0, 1.0, 1.0), 1.0)
    spoken = {"svc-mail": "svc-mail", "svc": "svc-mail", "mail": "mail"}
    assert told(terms, judged([1, 2, 3], (0.4, 0, 0, 0)), spoken).note == (
        "words 0.40 (svc-mail 0.30, mail 0.10)"
    )


def test_the_heaviest_five_words_are_named_and_the_others_counted() -> None:
    names = tuple("abcdefg")
    terms = Terms(names, tuple(range(1, 8)), tuple(float(n) for n in range(7, 0, -1)), 1.0)
    found = told(terms, judged([*range(1, 8)], (0.28, 0, 0, 0)))
    assert found.note == "words 0.28 (a 0.07, b 0.06, c 0.05, d 0.04, e 0.03, 2 more 0.03)"
    six = Terms(names[:6], tuple(range(1, 7)), (6.0, 5.0, 4.0, 3.0, 2.0, 1.0), 1.0)
    named = "a 0.06, b 0.05, c 0.04, d 0.03, e 0.02, f 0.01"
    assert told(six, judged([*range(1, 7)], (0.21, 0, 0, 0))).note == f"words 0.21 ({named})"


def test_a_passage_without_words_names_none() -> None:
    terms = Terms(("marigold", "?"), (1, None), (1.0, 1.0), 1.0)
    assert told(terms, judged([9], (0, 0.5, 0, 0))).note == "meaning 0.50"


USUAL = Meaning("made up", np.zeros(4, np.float32), Scale(same=0.5, noise=0.16, middles={}), "latin")


@pytest.mark.parametrize(
    ("weight", "meaning", "floor"), [(1.0, USUAL, 0.4), (0.0, USUAL, 0.2), (1.0, None, 0.2)]
)
def test_the_floor_is_that_of_meaning_where_meaning_counts(
    weight: float, meaning: Meaning | None, floor: float
) -> None:
    ranking = replace(RANKING, meaning_weight=weight, floor=0.4, words_floor=0.2)
    assert Circumstances((), (), NOW, False, ranking).floor(2, meaning) == pytest.approx(floor)

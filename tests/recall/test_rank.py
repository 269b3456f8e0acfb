"""The ranking as arithmetic: small pools with values worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from huimem.config import Ranking
from huimem.index.rows import UNDATED
from huimem.recall import rank
from huimem.recall.rank import Pool, Terms
from tests.recall.made import pool

# One of everything and nothing lent: each test turns on what it is about.
PLAIN = Ranking(
    k1=1.0,
    b=0.0,
    user_weight=1.0,
    neighbour_weight=0.0,
    second_neighbour_weight=0.0,
    around_weight=0.0,
    words_weight=1.0,
    meaning_weight=1.0,
    half=0.5,
)
LENDING = replace(PLAIN, neighbour_weight=0.5, second_neighbour_weight=0.1)
DAY = 86_400_000


def apart(*tokens: list[int]) -> Pool:
    """Passages that have nothing to do with each other."""
    return pool(*((100 * at, one) for at, one in enumerate(tokens)))


def zeros(made: Pool) -> np.ndarray:
    return np.zeros(len(made.rows))


# Words


def test_weights_fall_with_frequency_and_stay_above_zero() -> None:
    rare, common, everywhere = rank.weigh([1, 50, 100], 100)
    assert rare == pytest.approx(log(1 + 99.5 / 1.5))
    assert rare > common > everywhere > 0


def test_words_are_a_share_of_what_the_question_could_score() -> None:
    # k1 1, b 0: a term n times scores w·2n/(n+1) of w·2. Weights 3 and 1, the whole is 8.
    terms = Terms(("a", "b"), (1, 2), (3.0, 1.0), 4.0)
    shares = rank.share_of_words(apart([1], [2, 2, 2], [1, 1, 2], [9]), terms, PLAIN)
    assert shares == pytest.approx([3 / 8, 1.5 / 8, (4 + 1) / 8, 0])


def test_without_k1_a_word_counts_once_however_often_it_is_said() -> None:
    terms = Terms(("a", "b"), (1, 2), (3.0, 1.0), 4.0)
    shares = rank.shares_of_words(apart([1], [2, 2, 2], [1, 1, 2], [9]), terms, replace(PLAIN, k1=0.0))
    assert shares.tolist() == [[0.75, 0, 0.75, 0], [0, 0.25, 0.25, 0]]


def test_a_word_that_nothing_holds_counts_in_the_whole() -> None:
    known = rank.share_of_words(apart([1]), Terms(("a",), (1,), (2.0,), 1.0), PLAIN)
    half_known = rank.share_of_words(apart([1]), Terms(("a", "?"), (1, None), (2.0, 2.0), 1.0), PLAIN)
    assert half_known == pytest.approx(known / 2)


def test_a_long_passage_is_damped() -> None:
    # b .5, mean length 2: of 2 words the damping is 1, of 6 words .5 + .5 · 3 = 2.
    terms = Terms(("a",), (1,), (1.0,), 2.0)
    shares = rank.share_of_words(apart([1, 5], [1, 5, 5, 5, 5, 5]), terms, Ranking(k1=1.0, b=0.5))
    assert shares == pytest.approx([0.5, 1 / 3])


def test_shares_of_the_words_add_up_to_the_share_of_all() -> None:
    terms = Terms(("a", "b", "?"), (1, 2, None), (3.0, 1.0, 0.5), 3.0)
    three = apart([1, 2, 2], [2], [7, 7])
    each = rank.shares_of_words(three, terms, Ranking())
    assert each.shape == (3, 3)
    assert each.sum(axis=0) == pytest.approx(rank.share_of_words(three, terms, Ranking()))
    assert each[2] == pytest.approx([0, 0, 0])
    assert each[:, 2] == pytest.approx([0, 0, 0])


# "a" and its translation "ä" are one concept of weight 3; "b" is another of weight 1.
TRANSLATED = Terms(("a", "b", "ä"), (1, 2, 3), (3.0, 1.0, 2.0), 4.0, (0, 1, 0), (3.0, 1.0, 0.0))


def test_a_translation_is_as_if_its_word_were_said_less() -> None:
    # k1 1, b 0: a concept of weight w said s times scores w·2s/(s+1) of w·2; the whole is 8. Each "ä" says
    # 2/3 of an "a".
    shares = rank.share_of_words(apart([1], [3], [3, 2], [1, 3], [3, 3, 3]), TRANSLATED, PLAIN)
    said = [1, 2 / 3, 2 / 3, 5 / 3, 2]
    asked = [6 * s / (s + 1) / 8 for s in said]
    asked[2] += 1 / 8
    assert shares == pytest.approx(asked)


def test_shares_of_translations_add_up_too() -> None:
    three = apart([1, 3], [3, 2], [7])
    each = rank.shares_of_words(three, TRANSLATED, Ranking())
    assert each.sum(axis=0) == pytest.approx(rank.share_of_words(three, TRANSLATED, Ranking()))
    assert each[0, 0] / each[2, 0] == pytest.approx(3 / 2)


def test_a_translation_around_is_as_if_its_word_were_said_less() -> None:
    # Said s times around, a concept of weight w counts w·s/(s+.5); the whole is 4.
    around = rank.share_around(apart([1], [3], [1, 3]), TRANSLATED)
    assert around == pytest.approx([3 * s / (s + 0.5) / 4 for s in (1, 2 / 3, 5 / 3)])


@pytest.mark.parametrize("terms", [Terms((), (), (), 1.0), Terms(("a",), (1,), (0.0,), 1.0)])
def test_no_words_score_nothing(terms: Terms) -> None:
    assert rank.share_of_words(apart([1]), terms, PLAIN) == pytest.approx([0])
    assert rank.share_around(apart([1]), terms) == pytest.approx([0])


def test_counts_of_a_term() -> None:
    found = rank.counts(apart([1, 2, 1], [], [2]), (1, None, 2))
    assert found.tolist() == [[2, 0, 0], [0, 0, 0], [1, 0, 1]]


# Meaning


def test_meaning_is_cut_to_the_scale() -> None:
    shares = rank.share_of_meaning(np.array([-0.4, 0.0, 0.35, 0.7, 0.95]), 0.7)
    assert shares == pytest.approx([0, 0, 0.5, 1, 1])


# Voice: of 12 words on a user's question is no mere question.

VOICES = [
    ("a user tells", True, 0.0, 5, 1.5),
    ("a user asks briefly", True, 1.0, 11, 1.0),
    ("a user asks at length", True, 1.0, 12, 1.5),
    ("a user tells and asks", True, 0.9, 5, 1.5),
    ("a user hardly tells", True, 0.91, 5, 1.0),
    ("an assistant tells", False, 0.0, 5, 1.0),
    ("an assistant asks", False, 1.0, 5, 1.0),
]


@pytest.mark.parametrize(("what", "user", "asks", "words", "weight"), VOICES)
def test_who_speaks_has_a_weight(what: str, user: bool, asks: float, words: int, weight: float) -> None:
    ranking = replace(PLAIN, user_weight=1.5, words_weight=0.8, meaning_weight=0.5)
    one = pool((0, [1] * words), user=(user,), asks=(asks,))
    assert rank.voice(one, ranking) == pytest.approx([weight]), what
    scores = rank.score(one, np.array([0.4]), np.array([0.2]), np.array([0.0]), ranking)
    assert scores.words == pytest.approx([0.8 * 0.4 * weight])
    assert scores.meaning == pytest.approx([0.5 * 0.2 * weight])


TELLS = [
    ("a user's question stays", True, 1.0, 1.0),
    ("a question to the user or between people", False, 1.0, 0.7),
    ("half of it asks", False, 0.5, 0.85),
    ("a person tells", False, 0.0, 1.0),
]


@pytest.mark.parametrize(("what", "user", "asks", "factor"), TELLS)
def test_a_question_tells_nothing(what: str, user: bool, asks: float, factor: float) -> None:
    one = pool((0, [1]), user=(user,), asks=(asks,))
    assert rank.tells(one, Ranking(asking=0.3)) == pytest.approx([factor]), what
    assert rank.tells(one, Ranking(asking=0.0)) == pytest.approx([1.0])


# Neighbours


def lent(seats: list[int], own: list[float], ranking: Ranking = LENDING) -> list[float]:
    """What is lent where the words of passages on `seats` score `own`."""
    made = pool(*((seat, [1]) for seat in seats))
    scores = rank.score(made, np.array(own), zeros(made), zeros(made), ranking)
    assert scores.words == pytest.approx(own)
    found: list[float] = scores.neighbours.tolist()
    return found


# Weights .5 for the next passage, .1 for the one after it.
LENT = [
    ("three in a row", [0, 1, 2], [1.0, 0.0, 0.2], [0.02, 0.6, 0.1]),
    ("a second session apart", [0, 1, 2, 34], [1.0, 0.0, 0.2, 0.7], [0.02, 0.6, 0.1, 0.0]),
    ("two sessions", [0, 32], [1.0, 0.5], [0.0, 0.0]),
    ("both sides", [5, 6, 7], [0.4, 0.0, 0.8], [0.08, 0.6, 0.04]),
    ("one alone", [0], [1.0], [0.0]),
    ("two", [0, 1], [1.0, 0.0], [0.0, 0.5]),
    # 0: .5·0 + .1·0; 1: .5·1 + .5·0 + .1·0; 2: .1·1 + .5·0 + .1·.6; 3: .1·0 + .5·.6; 4: .1·0 + .5·0
    ("five", [0, 1, 2, 3, 4], [1.0, 0.0, 0.0, 0.0, 0.6], [0.0, 0.5, 0.16, 0.3, 0.0]),
]


@pytest.mark.parametrize(("what", "seats", "own", "expected"), LENT)
def test_neighbours_lend_by_distance(
    what: str, seats: list[int], own: list[float], expected: list[float]
) -> None:
    assert lent(seats, own) == pytest.approx(expected), what


def test_meaning_is_lent_as_words_are() -> None:
    two = pool((0, [1]), (1, [1]))
    scores = rank.score(two, zeros(two), np.array([0.6, 0.0]), zeros(two), LENDING)
    assert scores.neighbours == pytest.approx([0, 0.3])


def test_what_is_lent_has_the_voice_of_the_lender() -> None:
    two = pool((0, [1] * 5), (1, [1] * 5), user=(True, False))
    ranking = replace(PLAIN, user_weight=2.0, neighbour_weight=0.5)
    scores = rank.score(two, np.array([0.3, 0.1]), zeros(two), zeros(two), ranking)
    assert scores.words == pytest.approx([0.6, 0.1])
    assert scores.neighbours == pytest.approx([0.05, 0.3])


def test_nothing_is_lent_where_neighbours_have_no_weight() -> None:
    assert lent([0, 1, 2], [1.0, 0.5, 0.2], PLAIN) == [0, 0, 0]
    first_only = replace(PLAIN, neighbour_weight=0.5)
    assert lent([0, 1, 2], [1.0, 0.0, 0.0], first_only) == pytest.approx([0, 0.5, 0])
    second_only = replace(PLAIN, second_neighbour_weight=0.1)
    assert lent([0, 1, 2], [1.0, 0.0, 0.0], second_only) == pytest.approx([0, 0, 0.1])


# Around


def test_words_around_count_within_eight_passages() -> None:
    # The word stands on seat 20 alone: one passage, 1 · 1.5 / 1.5 … s / (s + .5) = 2/3.
    seats = [11, 12, 20, 28, 29]
    made = pool(*((seat, [1] if seat == 20 else [9]) for seat in seats))
    around = rank.share_around(made, Terms(("a",), (1,), (2.0,), 1.0))
    assert around == pytest.approx([0, 2 / 3, 2 / 3, 2 / 3, 0])


def test_more_passages_with_a_word_count_less_and_less() -> None:
    made = pool(*((seat, [1, 1]) for seat in range(3)))
    assert rank.share_around(made, Terms(("a",), (1,), (1.0,), 1.0)) == pytest.approx([3 / 3.5] * 3)


def test_words_around_weigh_what_they_weigh_in_the_question() -> None:
    # a stands beside each of both, b only in the second passage's reach too; ? nowhere. Whole 3 + 1 + 1.
    made = pool((0, [1]), (1, [2]), (100, [2]))
    around = rank.share_around(made, Terms(("a", "b", "?"), (1, 2, None), (3.0, 1.0, 1.0), 1.0))
    assert around == pytest.approx([(3 + 1) * 2 / 3 / 5, (3 + 1) * 2 / 3 / 5, 1 * 2 / 3 / 5])


def test_around_has_its_weight_in_the_sum() -> None:
    one = pool((0, [1]))
    ranking = replace(PLAIN, around_weight=0.5)
    scores = rank.score(one, np.array([0.1]), np.array([0.2]), np.array([0.6]), ranking)
    assert scores.around == pytest.approx([0.3])
    assert scores.sums == pytest.approx([0.1 + 0.2 + 0.0 + 0.3])


# The map and the factors


def test_relevance_of_half_is_a_half() -> None:
    assert rank.relevance(np.array([0.0, 0.5, 1.5]), PLAIN) == pytest.approx([0, 0.5, 0.75])


# Power .5: the root of a month over a month and the age.
AGES = [
    ("now", 0, 1.0),
    ("three months", 90, 0.5),
    ("fifteen months", 450, 0.25),
    ("tomorrow", -1, 1.0),
]


@pytest.mark.parametrize(("what", "days", "factor"), AGES)
def test_age_costs_by_its_ratio(what: str, days: int, factor: float) -> None:
    now = 1_000 * DAY
    assert rank.recency(np.array([now - days * DAY]), now, 0.5) == pytest.approx([factor]), what


def test_age_counts_in_whole_days() -> None:
    """The same question an hour later has the same answer."""
    now = 1_000 * DAY
    early, late = (rank.recency(np.array([now - 3 * DAY - hours]), now, 0.5) for hours in (0, DAY - 1))
    assert early.tolist() == late.tolist()


def test_what_has_no_time_is_old() -> None:
    a_century = rank.recency(np.array([0]), rank.OLDEST * DAY, 0.5)
    assert rank.recency(np.array([UNDATED]), 1_000 * DAY, 0.5).tolist() == a_century.tolist()


def test_age_without_weight_is_no_factor() -> None:
    assert rank.recency(np.array([0, UNDATED]), 1_000 * DAY, 0.0).tolist() == [1, 1]


# Floors .5 and .3, a named time lowers them to a half. With an embedder of the usual noise the floor of a
# short question is as it stands.
FLOORS = [
    ("words alone", None, False, 0.3),
    ("words alone in a time", None, True, 0.15),
    ("the usual noise", rank._USUAL_NOISE, False, 0.5),
    ("in a time", rank._USUAL_NOISE, True, 0.25),
]
FLOORED = replace(PLAIN, floor=0.5, words_floor=0.3, eased_floor=0.5)


@pytest.mark.parametrize(("what", "noise", "timed", "floor"), FLOORS)
def test_an_answer_must_reach_a_floor(what: str, noise: float | None, timed: bool, floor: float) -> None:
    assert rank.floor_of(FLOORED, 2, noise, eased=timed) == pytest.approx(floor), what


@given(st.integers(0, 60), st.floats(0, 1), st.booleans())
def test_a_longer_question_and_a_quieter_embedder_ask_for_no_more(
    terms: int, noise: float, timed: bool
) -> None:
    floor = rank.floor_of(FLOORED, terms, noise, eased=timed)
    assert 0 < floor < 1
    assert rank.floor_of(FLOORED, terms + 1, noise, eased=timed) <= floor
    assert rank.floor_of(FLOORED, terms, noise / 2, eased=timed) <= floor
    assert rank.floor_of(FLOORED, terms, noise, eased=True) <= floor


def test_no_floor_hides_nothing() -> None:
    none = replace(PLAIN, floor=0.0, words_floor=0.0)
    assert rank.floor_of(none, 3, 0.2, eased=False) == rank.floor_of(none, 3, None, eased=False) == 0


def test_nothing_to_judge() -> None:
    none = pool()
    scores = rank.score(none, np.zeros(0), np.zeros(0), np.zeros(0), PLAIN)
    assert len(scores.sums) == 0
    assert len(rank.share_of_words(none, Terms(("a",), (1,), (1.0,), 1.0), PLAIN)) == 0
    assert len(rank.share_around(none, Terms(("a",), (1,), (1.0,), 1.0))) == 0


# Pools


def words(made: Pool) -> list[list[int]]:
    return [made.tokens[a:z].tolist() for a, z in zip(made.starts, made.ends, strict=True)]


def test_pools_are_joined_with_their_words() -> None:
    both = pool((0, [1, 2]), (1, [3])).joined(pool((0, [4]), (1, [5, 6])))
    assert words(both) == [[1, 2], [3], [4], [5, 6]]
    assert both.lengths.tolist() == [2, 1, 1, 2]


def test_a_pool_in_another_order_keeps_what_belongs_together() -> None:
    ordered = pool((0, [1, 2]), (1, [3]), (2, [4])).ordered(np.array([2, 0]), np.array([7, 8]))
    assert ordered.rows.tolist() == [12, 10] and ordered.seat.tolist() == [7, 8]
    assert words(ordered) == [[4], [1, 2]]


SEATED = st.lists(
    st.tuples(
        st.sampled_from([1, 1, 1, 17, 32]),  # to the next seat
        st.lists(st.integers(1, 3), max_size=4),
        st.floats(0, 1),
    ),
    min_size=1,
    max_size=30,
)


@given(SEATED)
def test_lending_and_around_are_what_counting_by_hand_gives(
    passages: list[tuple[int, list[int], float]],
) -> None:
    seats = np.cumsum([step for step, _, _ in passages]).tolist()
    made = pool(*((seat, tokens) for seat, (_, tokens, _) in zip(seats, passages, strict=True)))
    terms = Terms(("a", "b"), (1, 2), (2.0, 1.0), 2.0)
    own = [score for _, _, score in passages]
    around = rank.share_around(made, terms)
    expected_lent, expected_around = [], []
    for seat in seats:
        by_distance = {other - seat: at for at, other in enumerate(seats)}
        expected_lent.append(
            sum(
                share * own[by_distance[step]]
                for step, share in ((-1, 0.5), (1, 0.5), (-2, 0.1), (2, 0.1))
                if step in by_distance
            )
        )
        near = [passages[at][1] for step, at in by_distance.items() if abs(step) <= 8]
        held = [sum(term in tokens for tokens in near) for term in (1, 2)]
        expected_around.append(sum(w * s / (s + 0.5) for w, s in zip((2.0, 1.0), held, strict=True)) / 3)
    assert lent(seats, own) == pytest.approx(expected_lent)
    assert around == pytest.approx(expected_around)

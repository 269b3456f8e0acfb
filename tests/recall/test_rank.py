"""The ranking as arithmetic: small pools with values worked out by hand."""

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from huimem.config import Ranking
from huimem.recall import rank
from huimem.recall.rank import Pool, Terms

PLAIN = Ranking(
    k1=1.0,
    b=0.0,
    user_weight=1.0,
    neighbour_weight=0.0,
    second_neighbour_weight=0.0,
    meaning_weight=1.0,
    half=0.5,
)


def pool(*passages: tuple[int, int, list[int]], user: tuple[bool, ...] = ()) -> Pool:
    """Passages as (source, place, term ids); every place is a record of its own."""
    ends = np.cumsum([len(tokens) for _, _, tokens in passages], dtype=np.int64)
    count = len(passages)
    return Pool(
        rows=np.arange(10, 10 + count),
        record=np.array([source * 100 + place for source, place, _ in passages]),
        source=np.array([source for source, _, _ in passages]),
        place=np.array([place for _, place, _ in passages]),
        message=np.zeros(count, np.int64),
        at_ms=np.zeros(count, np.int64),
        user=np.array(user or (False,) * count),
        tokens=np.array([term for _, _, tokens in passages for term in tokens], np.uint32),
        starts=np.concatenate(([0], ends[:-1])).astype(np.int64),
        ends=ends,
    )


def test_weights_fall_with_frequency_and_stay_above_zero() -> None:
    rare, common, everywhere = rank.weigh([1, 50, 100], 100)
    assert rare == pytest.approx(log(1 + 99.5 / 1.5))
    assert rare > common > everywhere > 0


def test_words_are_a_share_of_what_the_question_could_score() -> None:
    # k1 1, b 0: a term n times scores w·2n/(n+1) of w·2. Weights 3 and 1, the whole is 8.
    terms = Terms(("a", "b"), (1, 2), (3.0, 1.0), 4.0)
    shares = rank.share_of_words(
        pool((0, 0, [1]), (0, 1, [2, 2, 2]), (0, 2, [1, 1, 2]), (0, 3, [9])), terms, PLAIN
    )
    assert shares == pytest.approx([3 / 8, 1.5 / 8, (4 + 1) / 8, 0])


def test_a_word_that_nothing_holds_counts_in_the_whole() -> None:
    known = rank.share_of_words(pool((0, 0, [1])), Terms(("a",), (1,), (2.0,), 1.0), PLAIN)
    half_known = rank.share_of_words(pool((0, 0, [1])), Terms(("a", "?"), (1, None), (2.0, 2.0), 1.0), PLAIN)
    assert half_known == pytest.approx(known / 2)


def test_a_long_passage_is_damped() -> None:
    terms = Terms(("a",), (1,), (1.0,), 2.0)
    short, long = rank.share_of_words(
        pool((0, 0, [1, 5]), (0, 1, [1, 5, 5, 5, 5, 5])), terms, Ranking(k1=1.0, b=0.5)
    )
    assert (short, long) == pytest.approx((0.5, 1 / 3))


def test_no_words_score_nothing() -> None:
    assert rank.share_of_words(pool((0, 0, [1])), Terms((), (), (), 1.0), PLAIN) == pytest.approx([0])


def test_meaning_is_cut_to_the_scale() -> None:
    shares = rank.share_of_meaning(np.array([0.6, 0.7, 0.8, 0.95]), 0.7, 0.9)
    assert shares == pytest.approx([0, 0, 0.5, 1])


def test_a_message_has_the_best_of_its_passages() -> None:
    scores = rank.score(
        pool((0, 0, [1]), (0, 0, [1]), (0, 1, [1])),
        np.array([0.2, 0.5, 0.1]),
        np.array([0.4, 0.0, 0.0]),
        PLAIN,
    )
    assert scores.words == pytest.approx([0.5, 0.1])
    assert scores.meaning == pytest.approx([0.4, 0])
    assert scores.best.tolist() == [0, 2]


def test_what_the_user_said_weighs_more() -> None:
    ranking = Ranking(user_weight=1.5, neighbour_weight=0.0, second_neighbour_weight=0.0)
    both = pool((0, 0, [1]), (1, 0, [1]), user=(True, False))
    scores = rank.score(both, np.array([0.4, 0.4]), np.zeros(2), ranking)
    assert scores.words == pytest.approx([0.6, 0.4])


def test_neighbours_lend_by_distance_inside_their_session() -> None:
    ranking = Ranking(user_weight=1.0, neighbour_weight=0.5, second_neighbour_weight=0.1)
    four = pool((0, 0, [1]), (0, 1, [1]), (0, 2, [1]), (1, 3, [1]))
    scores = rank.score(four, np.array([1.0, 0.0, 0.2, 0.7]), np.zeros(4), ranking)
    assert scores.neighbours == pytest.approx([0.02, 0.6, 0.1, 0.0])


def test_a_gap_between_messages_lends_nothing() -> None:
    ranking = Ranking(user_weight=1.0, neighbour_weight=0.5, second_neighbour_weight=0.1)
    scores = rank.score(pool((0, 0, [1]), (0, 5, [1])), np.array([1.0, 0.5]), np.zeros(2), ranking)
    assert scores.neighbours == pytest.approx([0, 0])


def test_second_neighbours_are_found_across_a_message_without_passages() -> None:
    ranking = Ranking(user_weight=1.0, neighbour_weight=0.5, second_neighbour_weight=0.1)
    scores = rank.score(pool((0, 0, [1]), (0, 2, [1])), np.array([1.0, 0.5]), np.zeros(2), ranking)
    assert scores.neighbours == pytest.approx([0.05, 0.1])


def test_nothing_to_judge() -> None:
    scores = rank.score(pool(), np.zeros(0), np.zeros(0), PLAIN)
    assert len(scores.sums) == 0


def test_relevance_of_half_is_a_half() -> None:
    assert rank.relevance(np.array([0.0, 0.5, 1.5]), PLAIN) == pytest.approx([0, 0.5, 0.75])


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 6), st.floats(0, 1), st.floats(0, 1)),
        min_size=1,
        max_size=30,
    )
)
def test_order_of_passages_does_not_matter(rows: list[tuple[int, int, float, float]]) -> None:
    ranking = Ranking()

    def sums(order: list[int]) -> dict[int, float]:
        chosen = [rows[i] for i in order]
        scores = rank.score(
            pool(*((source, place, [1]) for source, place, _, _ in chosen)),
            np.array([words for _, _, words, _ in chosen]),
            np.array([meaning for _, _, _, meaning in chosen]),
            ranking,
        )
        return dict(zip(scores.record.tolist(), scores.sums.tolist(), strict=True))

    forward, backward = sums(list(range(len(rows)))), sums(list(range(len(rows)))[::-1])
    assert forward == pytest.approx(backward)

"""A question → the words to look for, with their trust: slips, asides, and the messages before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from huimem.index.tokens import query_terms
from huimem.recall.wanting import ASIDE, PROMPT, history_weights, read_with, remembered, told_before, wanted
from huimem.records import Query

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def query(text: str, *history: str, phrases: tuple[str, ...] = ()) -> Query:
    return Query(text, tuple(query_terms(text)), NOW, history=history, phrases=phrases)


def holding(**counts: int) -> Callable[[Sequence[str]], list[int]]:
    """A vault in which these terms stand in so many passages."""
    return lambda terms: [counts.get(term, 0) for term in terms]


def trusted(text: str, *history: str, **counts: int) -> dict[str, float]:
    found = wanted(query(text, *history), holding(**counts))
    return dict(zip(found.terms, found.trust, strict=True))


# Own words


def test_own_words_are_looked_for_as_they_are() -> None:
    assert trusted("which marigold vase", marigold=3, vase=3) == {"marigold": 1.0, "vase": 1.0}


def test_a_word_that_is_set_aside_counts_little() -> None:
    found = trusted("the marigold pot, not the tulip pot", marigold=3, pot=4, tulip=3)
    assert found == {"marigold": 1.0, "pot": 1.0, "tulip": ASIDE}


def test_a_word_that_only_frames_the_question_counts_little() -> None:
    assert trusted("anything about stollen", stollen=1) == {"anyth": ASIDE, "stollen": 1.0}
    found = trusted("跟候补相关的", **{"候补": 1, "相关": 9, "跟": 9})
    assert found == {"跟": ASIDE, "候补": 1.0, "相关": ASIDE}


def test_a_chinese_word_that_is_set_aside_counts_little() -> None:
    found = trusted("上海的合同，不是北京的合同", **{"上海": 2, "合同": 3, "北京": 2})
    assert (found["上海"], found["合同"], found["北京"]) == (1.0, 1.0, ASIDE)


def test_each_term_is_told_as_it_was_asked() -> None:
    found = wanted(query("Which marigolds bloomed?"), holding(marigold=3, bloom=3))
    assert found.terms == ("marigold", "bloom")
    assert found.spoken == {"marigold": "marigolds", "bloom": "bloomed"}


def test_a_name_that_is_cut_otherwise_in_its_sentence_is_looked_for_by_its_pairs() -> None:
    found = wanted(query("云舟社的门票"), holding(**{"云舟": 1, "舟社": 1, "门票": 2}))
    assert dict(zip(found.terms, found.trust, strict=True)) == {"云舟": 0.5, "舟社": 0.5, "门票": 1.0}
    assert found.spoken == {"云舟": "云舟社", "舟社": "云舟社", "门票": "门票", "云舟社": "云舟社"}
    assert found.length == 2


def test_a_pair_of_two_names_has_its_share_of_one() -> None:
    found = trusted("云舟社 花筑店，不是云舟堂", **{"云舟": 1, "舟社": 1})
    assert found["云舟"] == found["舟社"] == 0.5


# Slips of the pen


def test_a_slip_that_nothing_holds_gives_way_to_what_was_meant() -> None:
    found = wanted(query("kuberntes upgrade"), holding(kubernet=12, upgrad=5))
    trust = dict(zip(found.terms, found.trust, strict=True))
    assert set(trust) == {"kubernet", "upgrad"}
    assert trust["upgrad"] == 1.0 and 0 < trust["kubernet"] < 1
    assert found.spoken["kubernet"] == "kuberntes→kubernet"


def test_a_rare_word_stays_beside_what_it_may_have_meant() -> None:
    found = trusted("kuberntes upgrade", kubernt=1, kubernet=40, upgrad=5)
    assert found["kubernt"] == 1.0 and 0 < found["kubernet"] < 1


def test_a_word_of_the_vault_is_no_slip() -> None:
    assert trusted("marigold", marigold=9, marigoldi=50) == {"marigold": 1.0}


def test_a_word_without_a_likeness_stays() -> None:
    assert trusted("xylograph upgrade", upgrad=5) == {"xylograph": 1.0, "upgrad": 1.0}


# Phrases


def test_the_words_of_phrases_are_needed() -> None:
    found = wanted(query("who said spare keys, red bike", phrases=("spare keys", "red bike")), holding())
    assert found.needed == (("spare", "key"), ("red", "bike"))


def test_no_word_of_a_chinese_phrase_is_sure_to_be_one() -> None:
    assert wanted(query("谁说过 冷月份", phrases=("冷月份",)), holding()).needed == ()


# History. One message before takes all of what the prompt leaves, .2; of two, weighed 1 and .7, the later
# takes 1/1.7 of it.


READ = [
    (
        ("how did it go?", "Old.", "My sourdough does not rise."),
        "My sourdough does not rise.\nhow did it go?",
    ),
    (("how did it go?",), "how did it go?"),
    (("which tea did the harbour master order?", "My sourdough."), "which tea did the harbour master order?"),
    (("new topic: what is it?", "My sourdough."), "new topic: what is it?"),
]


@pytest.mark.parametrize(("said", "read"), READ)
def test_another_reads_a_question_that_leans_on_a_message_behind_it(said: tuple[str, ...], read: str) -> None:
    assert read_with(query(*said)) == read


def test_shares_of_the_messages_before_a_question_that_points_back() -> None:
    assert history_weights(query("when was that?")) == ()
    assert history_weights(query("when was that?", "a")) == pytest.approx((0.2,))
    assert history_weights(query("when was that?", "a", "b")) == pytest.approx((0.2 * 0.7 / 1.7, 0.2 / 1.7))


def test_what_lies_more_than_six_messages_back_is_forgotten() -> None:
    weights = history_weights(query("when was that?", *"abcdefgh"))
    assert weights[:2] == (0, 0) and all(weights[2:])
    assert sum(weights) == pytest.approx(0.2)
    assert list(weights) == sorted(weights)


def test_a_question_with_a_subject_of_its_own_takes_a_quarter_of_that() -> None:
    own = query("which database did the billing service take", "a", "b")
    assert sum(history_weights(own)) == pytest.approx(0.05)


def test_a_new_topic_takes_nothing() -> None:
    new = query("New topic: when was that?", "the marigold vase", "it broke")
    assert history_weights(new) == (0, 0)
    assert remembered(new, holding(marigold=4)) == {} and told_before(new) == []
    assert "marigold" not in trusted(new.text, *new.history, marigold=4)


def test_a_question_that_points_back_takes_its_subject_from_there() -> None:
    # .2 of the whole beside the prompt's .8: a quarter of an own word's trust.
    found = trusted("when was that bought?", "Tell me about the marigold vase", marigold=4, vase=4, bought=2)
    assert found["marigold"] == pytest.approx(0.25) and found["vase"] == pytest.approx(0.25)


def test_a_chinese_question_takes_its_subject_from_there() -> None:
    found = trusted("那是什么时候买的？", "说说那个青花瓷瓶", **{"瓷瓶": 1, "青花瓷": 1, "青花": 1})
    assert any(0 < trust <= 0.25 for term, trust in found.items() if "瓷" in term)


def test_the_pairs_of_a_name_said_before_share_what_it_has() -> None:
    found = remembered(query("那是什么时候？", "法喜寺"), holding(**{"法喜": 1, "喜寺": 1}))
    assert found == {"法喜": pytest.approx(0.125), "喜寺": pytest.approx(0.125)}


def test_a_word_said_twice_before_has_its_later_share() -> None:
    before = ("marigold and tulip", "marigold again")
    found = remembered(query("when was that?", *before), holding(marigold=4, tulip=1))
    assert set(found) == {"marigold", "tulip"}  # nothing holds "again"
    assert found["marigold"] == pytest.approx(0.2 / 1.7 / PROMPT)
    assert found["tulip"] == pytest.approx(0.2 * 0.7 / 1.7 / PROMPT)


def test_an_own_word_keeps_its_trust_where_it_was_said_before_too() -> None:
    assert trusted("when was that marigold bought", "the marigold", marigold=4)["marigold"] == 1.0


def test_meanings_looked_for_beside_are_those_with_a_share() -> None:
    told = told_before(query("when was that?", *"abcdefgh"))
    assert [text for text, _ in told] == list("cdefgh")


WORDS = st.lists(
    st.sampled_from(
        [
            "marigold",
            "vase",
            "tulip",
            "when",
            "that",
            "it",
            "new",
            "topic",
            "合同",
            "那个",
            "呢",
            "was",
            "bought",
        ]
    ),
    max_size=8,
)


@given(WORDS, st.lists(WORDS, max_size=8))
def test_own_words_always_count_more_than_words_before(own: list[str], before: list[list[str]]) -> None:
    asked = query(" ".join(own), *map(" ".join, before))
    shares = history_weights(asked)
    assert sum(shares) <= 1 - PROMPT + 1e-12
    assert len(shares) == len(before)
    found = wanted(asked, lambda terms: [5] * len(terms))
    trust = dict(zip(found.terms, found.trust, strict=True))
    assert all(0 < value <= 1 for value in trust.values())
    own_terms = set(query_terms(asked.text))
    others = [value for term, value in trust.items() if term not in own_terms]
    assert all(trust[term] > max(others, default=0) for term in own_terms)
    assert all(value <= 0.25 + 1e-12 for value in others)

"""From words to an order of hits, on real vaults: what comes first, and what its score is made of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from math import prod
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from huimem import Memory
from huimem.recall.pipeline import SPEAKERS
from huimem.recall.ranked import lasting
from huimem.records import Hit
from tests.recall.made import NOW, Talk, evidence, sessions, told

NAMES = ("relevance", "time", "asking", "recency", "importance", "repeats")
FILLER = "Sentence by sentence this goes on about the weather and the garden. " * 40

TALKS: dict[str, Talk] = {
    "database": [
        ("user", "We choose PostgreSQL as the billing database."),
        ("assistant", "Noted: PostgreSQL it is."),
        ("user", "Its backup runs at three in the morning."),
        ("assistant", "Good."),
    ],
    "essay": [
        ("user", "Tell me about databases."),
        ("assistant", f"{FILLER}\n\nA write-ahead log keeps the billing safe.\n\n{FILLER}"),
    ],
    "lease": [("user", "租房合同押一付三，下个月一号签。"), ("assistant", "好的，记下了。")],
    "picnic": [
        ("Mina", "Where shall we hold the picnic?"),
        ("Otto", "The picnic is at the north meadow."),
        ("Mina", "Bring the blue blanket, please."),
    ],
    "copies": [("user", "The spare key lies under the blue pot.")],
    "copies again": [("user", "The spare key lies under the blue pot.")],
    "tools": [("user", "look into the billing log"), ("tool", "billing.log: 3 matches for backup")],
}
QUESTIONS = (
    "which database for billing",
    "backup of the billing database",
    "租房合同怎么付",
    "where is the picnic",
    "spare key blue pot",
    "what is the current billing database",
    "billing 2026-04-24",
    "picnic in April",
    "write-ahead log",
)


@pytest.fixture(scope="module", params=["none", "hashing"])
def memory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with told(tmp_path_factory.mktemp("ranked") / "vault", TALKS, embedder=request.param) as made:
        yield made


def all_hits(memory: Memory, **options: object) -> list[Hit]:
    found = [memory.recall(question, now=NOW, limit=20, **options).hits for question in QUESTIONS]  # type: ignore[arg-type]
    assert all(found)
    return [hit for hits in found for hit in hits]


# What a score is made of


def test_a_score_is_the_product_of_named_factors(memory: Memory) -> None:
    for hit in all_hits(memory):
        assert hit.score == pytest.approx(prod(factor.value for factor in hit.factors))
        assert [f.name for f in hit.factors] == [n for n in NAMES if n in {f.name for f in hit.factors}]
        assert hit.factors[0].name == "relevance"
        for factor in hit.factors[1:]:
            assert 0.05 <= factor.value <= 3 and (factor.name == "time" or factor.value != 1)
        said = hit.explain()
        assert all(f"{factor.name} {factor.value:.2f}" in said for factor in hit.factors)
        assert said.endswith(f"= {hit.score:.2f}")


def test_relevance_is_the_mapped_sum_of_its_parts(memory: Memory) -> None:
    for hit in all_hits(memory):
        relevance = hit.factors[0]
        assert set(relevance.parts) == {"words", "meaning", "neighbours", "around"}
        sums = sum(relevance.parts.values())
        assert relevance.value == pytest.approx(sums / (sums + 0.5))
        assert all(part >= 0 for part in relevance.parts.values())


def test_shares_of_the_words_add_up_to_the_words(memory: Memory) -> None:
    matched = 0
    for hit in all_hits(memory):
        relevance = hit.factors[0]
        named = re.search(r"words [0-9.]+ \((.*?)\)", relevance.note)
        assert (named is not None) == (relevance.parts["words"] >= 0.005)
        if named:
            shares = [float(one.rpartition(" ")[2]) for one in named[1].split(", ")]
            assert shares == sorted(shares, reverse=True)
            if len(shares) < 5:  # more are not named
                assert sum(shares) == pytest.approx(relevance.parts["words"], abs=0.005 * len(shares))
                matched += 1
    assert matched


def test_hits_come_in_the_order_of_their_scores(memory: Memory) -> None:
    for question in QUESTIONS:
        scores = [hit.score for hit in memory.recall(question, now=NOW, limit=20).hits]
        assert scores == sorted(scores, reverse=True)


def test_a_record_stands_there_once_with_its_best_passage(memory: Memory) -> None:
    for question in QUESTIONS:
        refs = [hit.ref for hit in memory.recall(question, now=NOW, limit=20).hits]
        assert len(set(refs)) == len(refs)


def test_a_long_answer_is_found_by_the_passage_that_holds_it(tmp_path: Path) -> None:
    with told(tmp_path / "vault", TALKS) as made:
        (hit, *_) = made.recall("write-ahead log", now=NOW).hits
    assert hit.ref.session == "essay" and "write-ahead log" in hit.evidence
    assert len(hit.evidence) < len(FILLER) / 2


def test_a_lower_limit_is_the_beginning_of_a_higher_one(memory: Memory) -> None:
    for question in QUESTIONS:
        many = memory.recall(question, now=NOW, limit=20).hits
        assert [h.ref for h in memory.recall(question, now=NOW, limit=2).hits] == [h.ref for h in many[:2]]


def test_an_answer_beside_its_question_is_lent_its_words(memory: Memory) -> None:
    """The backup is "its": that the talk is of a database stands in the passages before."""
    found = memory.recall("backup of the billing database", now=NOW, limit=20)
    (hit,) = [hit for hit in found.hits if "three in the morning" in hit.evidence]
    assert hit.factors[0].parts["neighbours"] > 0 and hit.factors[0].parts["around"] > 0


def test_tool_traffic_is_found_when_it_is_asked_for(memory: Memory) -> None:
    assert "tool" not in SPEAKERS
    assert not any("3 matches" in text for text in evidence(memory.recall("billing.log backup", now=NOW)))
    (hit, *_) = memory.recall("billing.log backup", roles=["tool"], now=NOW).hits
    assert "3 matches" in hit.evidence


def test_equal_texts_are_equal_hits_in_the_order_of_their_refs(tmp_path: Path) -> None:
    talks = dict.fromkeys(("c", "a", "b"), "The spare key lies under the blue pot.")
    with told(tmp_path / "vault", talks, repeats=0, recency=0) as made:
        found = made.recall("spare key", now=NOW)
    assert sessions(found) == ["a", "b", "c"]
    assert len({round(hit.score, 9) for hit in found.hits}) == 1


# Floors


def test_what_is_below_the_floor_is_not_found(tmp_path: Path) -> None:
    with told(tmp_path / "vault", TALKS, words_floor=1) as made:
        assert made.recall("which database for billing", now=NOW).hits == ()


def test_the_floor_of_words_is_not_that_of_meaning(tmp_path: Path) -> None:
    with told(tmp_path / "vault", TALKS, embedder="hashing", words_floor=1) as made:
        assert made.recall("which database for billing", now=NOW).hits


# Turned off


OFF = [
    (["neighbour_weight", "second_neighbour_weight"], "neighbours"),
    (["around_weight"], "around"),
    (["meaning_weight"], "meaning"),
    (["recency", "latest"], "recency"),
    (["asking"], "asking"),
    (["repeats"], "repeats"),
    (["importance"], "importance"),
]
FACT = (
    "---\nhuimem: 1\nkey: billing\nkind: instruction\n---\n\n"
    "## 2026-01-01 09:00:00 →\n\nBilling is in euros.\n"
)


@pytest.fixture(scope="module")
def with_a_fact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault of `TALKS` and a fact, indexed and closed; settings of ranking leave its index as it is."""
    root = tmp_path_factory.mktemp("parts") / "vault"
    with told(root, TALKS, embedder="hashing") as made:
        (root / "facts").mkdir()
        (root / "facts/billing.md").write_text(FACT, encoding="utf-8")
        made.sync()
    return root


def explained(root: Path, off: Sequence[str] = ()) -> list[str]:
    """What is said of all hits with some settings of ranking at 0; the vault stays as it was."""
    settings = root / "huimem.toml"
    kept = settings.read_text(encoding="utf-8")
    settings.write_text(kept + "".join(f"{key} = 0.0\n" for key in off), encoding="utf-8")
    try:
        with Memory.open(root, embedder="hashing") as made:
            return [hit.explain() for hit in all_hits(made)]
    finally:
        settings.write_text(kept, encoding="utf-8")


@pytest.fixture(scope="module")
def in_full(with_a_fact: Path) -> list[str]:
    return explained(with_a_fact)


@pytest.mark.parametrize(("keys", "name"), OFF)
def test_each_part_can_be_turned_off(
    with_a_fact: Path, in_full: list[str], keys: list[str], name: str
) -> None:
    assert any(f"{name} " in said for said in in_full)
    assert not any(f"{name} " in said for said in explained(with_a_fact, keys))


def test_a_user_may_weigh_as_much_as_an_assistant(tmp_path: Path) -> None:
    talks: list[Talk] = [
        [("user", "The marigold vase is in the hall."), ("assistant", "Fine.")],
        [("user", "Fine."), ("assistant", "The marigold vase is in the hall.")],
    ]
    for weight, first, equal in ((1.7, "told-00", False), (1, "told-00", True)):
        root = tmp_path / f"vault-{weight}"
        with told(root, talks, user_weight=weight, repeats=0, recency=0) as made:
            one, other = made.recall("marigold vase", now=NOW).hits
        assert one.ref.session == first
        assert (round(one.score, 9) == round(other.score, 9)) is equal


# Who speaks


def test_what_was_told_comes_before_who_asked_for_it(tmp_path: Path) -> None:
    """A brief question has the words of the answer and nothing more."""
    talks: list[Talk] = [
        [("user", "My allergy is to hazelnuts, so no praline."), ("assistant", "I will keep that in mind.")],
        [("user", "What is my allergy?"), ("assistant", "You did not tell me.")],
    ]
    with told(tmp_path / "vault", talks) as made:
        (first, *_) = made.recall("what is my allergy", now=NOW).hits
    assert first.ref.session == "told-00"


def test_between_people_a_question_falls_behind_its_answer(memory: Memory) -> None:
    first, *rest = memory.recall("where is the picnic", now=NOW).hits
    assert first.evidence == "The picnic is at the north meadow."
    (asked,) = [hit for hit in rest if hit.evidence == "Where shall we hold the picnic?"]
    assert "asking 0.70 (a question tells nothing)" in asked.explain()


# Time


def ages(found: Sequence[Hit]) -> list[float]:
    return [factor.value for hit in found for factor in hit.factors if factor.name == "recency"]


CHANGED: dict[str, Talk] = {
    "first": "Our database is MariaDB for the shop.",
    "then": "Our database is CockroachDB for the shop.",
}


def old_and_new(root: Path) -> Memory:
    """The same said of two things, two years apart."""
    made = told(root, [], recency=0.04, latest=0.4)
    for name, days in (("first", 730), ("then", 2)):
        at = NOW - timedelta(days=days)
        made.record([{"role": "user", "content": CHANGED[name], "at": at}], session=name)
    made.sync()
    return made


def test_age_counts_a_little_by_itself(tmp_path: Path) -> None:
    with old_and_new(tmp_path / "vault") as made:
        found = made.recall("which database for the shop", now=NOW).hits
    assert [hit.ref.session for hit in found] == ["then", "first"]
    assert min(ages(found)) == pytest.approx((1 + 730 / 30) ** -0.04)


def test_age_does_not_decide_against_words(tmp_path: Path) -> None:
    with old_and_new(tmp_path / "vault") as made:
        found = made.recall("did we choose MariaDB for the shop", now=NOW).hits
    assert found[0].ref.session == "first"


LATEST = [
    "what is our current database for the shop?",
    "which database do we use for the shop these days?",
    "我们目前的 database 是什么 shop",
]


@pytest.mark.parametrize("question", LATEST)
def test_the_latest_is_asked_for(tmp_path: Path, question: str) -> None:
    with old_and_new(tmp_path / "vault") as made:
        first, second = made.recall(question, scan=False, now=NOW).hits
    assert (first.ref.session, second.ref.session) == ("then", "first")
    assert "recency 0.27 (the latest is asked for)" in second.explain()


# Time words count for what is asked, though they are not searched for.
NOT_LATEST = [
    "what was our original database before the current one?",
    "which database did we use back then, and which one now?",
    "我们之前用什么 database，现在呢？",
]


@pytest.mark.parametrize("question", NOT_LATEST)
def test_what_was_before_is_no_latest(tmp_path: Path, question: str) -> None:
    with old_and_new(tmp_path / "vault") as made:
        found = made.recall(question, scan=False, now=NOW).hits
    assert found
    assert "the latest is asked for" not in " ".join(hit.explain() for hit in found)


def test_age_says_nothing_where_a_time_is_named(tmp_path: Path) -> None:
    with old_and_new(tmp_path / "vault") as made:
        for question in ("our current database for the shop in 2024", "our database in April 2026"):
            found = made.recall(question, now=NOW).hits
            assert len(found) == 1 and ages(found) == []
            assert found[0].explain().count("time 1.00 (said then)") == 1


# The messages before


TOPICS: dict[str, Talk] = {
    "vase": "The marigold vase was bought in Delft for sixty euros.",
    "boat": "The rowing boat was bought in Kiel for nine hundred euros.",
    "fence": "Otto paints the garden fence in June.",
    "lamp": "台灯是在旧货市场买的，三十块。",
    "clock": "挂钟是在法国买的，两百块。",
}
HISTORIES = [
    # question, messages before it, the session that answers
    ("where was it bought?", ["Tell me about the marigold vase."], "vase"),
    ("where was it bought?", ["Tell me about the rowing boat."], "boat"),
    ("where was it bought?", ["The marigold vase is nice.", "And the rowing boat?"], "boat"),
    ("那个是在哪里买的？", ["说说台灯吧"], "lamp"),
    ("那个是在哪里买的？", ["说说挂钟吧"], "clock"),
    # Own words always count more.
    ("who paints the garden fence", ["Tell me about the marigold vase."], "fence"),
    ("where was the rowing boat bought", ["The marigold vase, the vase, that marigold vase."], "boat"),
    ("挂钟是在哪里买的", ["说说台灯吧", "台灯多少钱"], "clock"),
    ("New topic: where was the rowing boat bought?", ["Tell me about the marigold vase."], "boat"),
]


@pytest.fixture(scope="module", params=["none", "hashing"])
def topics(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with told(tmp_path_factory.mktemp("topics") / "vault", TOPICS, embedder=request.param) as made:
        yield made


@pytest.mark.parametrize(("question", "history", "session"), HISTORIES)
def test_a_question_takes_from_before_what_it_lacks(
    topics: Memory, question: str, history: list[str], session: str
) -> None:
    assert sessions(topics.recall(question, history=history, now=NOW))[0] == session


def test_a_new_topic_answers_as_if_nothing_had_been_said(topics: Memory) -> None:
    question = "New topic: where was the rowing boat bought?"
    alone, after = (
        [(str(hit.ref), hit.score) for hit in topics.recall(question, history=history, now=NOW).hits]
        for history in ([], ["Tell me about the marigold vase.", "It broke."])
    )
    assert alone == after


# What is kept of a walk


@given(steps=st.lists(st.integers(-1, 5), max_size=40), most=st.integers(1, 6))
def test_wherever_a_walk_ends_the_best_up_to_there_are_kept(steps: list[int], most: int) -> None:
    """Step 5 is the latest; the passages are the best first."""
    spans = [(10 * step, 10 * step + 10) for step in range(6)]
    kept = lasting(np.array([10 * step + 3 for step in steps], np.int64), spans, most, 1)
    assert isinstance(kept, list) and kept == sorted(kept)
    for last in range(6):
        came_to = [at for at, step in enumerate(steps) if step >= last]
        assert set(came_to[:most]) <= set(kept)
        assert last not in steps or steps.index(last) in kept
    assert all(steps[at] >= 0 for at in kept)


def test_of_no_walk_the_best_are_kept() -> None:
    assert lasting(np.arange(9), (), 4) == slice(4)

"""What says again what a better hit says: numbers by hand, then real vaults."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from huimem import locks
from huimem.index.seal import LOCK, SYNC_LOCK
from huimem.recall.repeats import overlap, repeated
from tests.recall.made import NOW, evidence, told


def likeness(pairs: dict[tuple[int, int], float], count: int) -> np.ndarray:
    found = np.eye(count)
    for (a, b), like in pairs.items():
        found[a, b] = found[b, a] = like
    return found


# scores, likeness of pairs, strength, then (place, factor, like which place) in the new order. From .8 on a
# likeness costs: at .9 half of the strength, at 1 all of it.
ORDERS = [
    ("nothing alike", [0.9, 0.5], {}, 0.5, [(0, 1.0, -1), (1, 1.0, -1)]),
    ("as like as .8 costs nothing", [0.9, 0.5], {(0, 1): 0.8}, 0.5, [(0, 1.0, -1), (1, 1.0, 0)]),
    ("a copy falls behind", [0.9, 0.8, 0.5], {(0, 1): 1.0}, 0.5, [(0, 1.0, -1), (2, 1.0, -1), (1, 0.5, 0)]),
    ("a good copy stays", [0.9, 0.8, 0.3], {(0, 1): 1.0}, 0.5, [(0, 1.0, -1), (1, 0.5, 0), (2, 1.0, -1)]),
    ("half alike", [0.9, 0.8, 0.5], {(0, 1): 0.9}, 0.5, [(0, 1.0, -1), (1, 0.75, 0), (2, 1.0, -1)]),
    (
        "the likest of the better ones counts",
        [0.9, 0.8, 0.7],
        {(0, 2): 0.9, (1, 2): 1.0},
        0.5,
        [(0, 1.0, -1), (1, 1.0, -1), (2, 0.5, 1)],
    ),
    ("no strength, no factor", [0.9, 0.8], {(0, 1): 1.0}, 0.0, [(0, 1.0, -1), (1, 1.0, 0)]),
    ("a tie keeps its order", [0.5, 0.5, 0.5], {}, 0.5, [(0, 1.0, -1), (1, 1.0, -1), (2, 1.0, -1)]),
    ("nothing", [], {}, 0.5, []),
    ("one", [0.3], {}, 0.5, [(0, 1.0, -1)]),
]


@pytest.mark.parametrize(("what", "scores", "pairs", "strength", "expected"), ORDERS)
def test_what_repeats_loses(
    what: str,
    scores: list[float],
    pairs: dict[tuple[int, int], float],
    strength: float,
    expected: list[tuple[int, float, int]],
) -> None:
    order = repeated(scores, likeness(pairs, len(scores)), strength)
    assert [(at, pytest.approx(factor)) for at, factor, _ in order] == [(at, f) for at, f, _ in expected]
    blamed = [near for _, factor, near in order if factor < 1]
    assert blamed == [near for _, factor, near in expected if factor < 1], what


def test_overlap_is_what_two_share_of_all_they_hold() -> None:
    like = overlap([frozenset("abc"), frozenset("bcd"), frozenset("xy"), frozenset()])
    assert like == pytest.approx(
        np.array([[1, 0.5, 0, 0], [0.5, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], float)
    )


@given(st.data())
def test_the_order_is_that_of_the_scores(data: st.DataObject) -> None:
    scores = sorted(data.draw(st.lists(st.floats(0.01, 1), min_size=1, max_size=12)), reverse=True)
    count = len(scores)
    drawn = data.draw(st.lists(st.floats(-1, 1), min_size=count * count, max_size=count * count))
    half = np.tril(np.array(drawn).reshape(count, count), -1)
    strength = data.draw(st.floats(0, 1))
    order = repeated(scores, half + half.T + np.eye(count), strength)
    assert sorted(at for at, _, _ in order) == list(range(count))
    left = [scores[at] * factor for at, factor, _ in order]
    assert left == sorted(left, reverse=True)
    assert order[0][1] == 1 and all(1 - strength - 1e-12 <= factor <= 1 for _, factor, _ in order)


# Real vaults. One fact in five wordings with nearly the same words, and others that fit the question less.

COPIES = (
    "The heating contract with Nordwarm ends on 30 September.",
    "Reminder: the heating contract with Nordwarm ends on 30 September.",
    "The heating contract with Nordwarm ends on 30 September, as said.",
    "Again: the heating contract with Nordwarm ends on 30 September.",
    "So the heating contract with Nordwarm ends on 30 September.",
)
OTHERS = (
    "The Nordwarm technician wants the heating contract number before he comes.",
    "Our old heating contract cost 80 a month.",
    "Nordwarm sent a bill for the heating.",
    "The electricity contract ends in May.",
)


@pytest.mark.parametrize("embedder", ["none", "hashing"])
def test_five_hits_are_not_one_fact_five_times(tmp_path: Path, embedder: str) -> None:
    with told(tmp_path / "vault", (*COPIES, *OTHERS), embedder=embedder) as memory:
        found = memory.recall("When does the heating contract with Nordwarm end?", now=NOW)
        scores = [hit.score for hit in found.hits]
        assert scores == sorted(scores, reverse=True)
        assert evidence(found)[0] in COPIES
        assert set(evidence(found)[1:]) & set(OTHERS)
        assert not set(COPIES) <= set(evidence(found))


def test_a_repeat_says_which_hit_it_repeats(tmp_path: Path) -> None:
    texts = ("The spare key lies under the blue pot.", "The spare key lies under the blue pot.")
    with told(tmp_path / "vault", texts) as memory:
        first, second = memory.recall("where is the spare key", now=NOW).hits
    assert "repeats" not in first.explain()
    (factor,) = [factor for factor in second.factors if factor.name == "repeats"]
    assert factor.value == pytest.approx(0.5)
    assert factor.note == "as hit 1"
    assert second.score < first.score


def test_repeats_can_be_turned_off(tmp_path: Path) -> None:
    with told(tmp_path / "vault", (*COPIES, *OTHERS), repeats=0) as memory:
        found = memory.recall("When does the heating contract with Nordwarm end?", now=NOW)
    assert set(evidence(found)) == set(COPIES)
    assert not any(factor.name == "repeats" for hit in found.hits for factor in hit.factors)


def test_a_chinese_fact_is_not_told_five_times_either(tmp_path: Path) -> None:
    copies = [
        f"{before}供暖合同九月三十日到期，房东不再续签。"
        for before in ("", "提醒：", "再说一次，", "所以", "记住，")
    ]
    others = ["供暖合同的编号要先给师傅。", "旧的供暖合同每月八十块。", "供暖公司寄来了账单。"]
    with told(tmp_path / "vault", (*copies, *others)) as memory:
        found = memory.recall("供暖合同什么时候到期？", now=NOW)
    assert evidence(found)[0] in copies
    assert set(evidence(found)[1:]) & set(others)


def test_a_copy_is_moved_down_and_never_taken_away(tmp_path: Path) -> None:
    with told(tmp_path / "vault", (*COPIES, *OTHERS)) as memory:
        found = memory.recall("When does the heating contract with Nordwarm end?", now=NOW, limit=20)
    assert set(COPIES) <= set(evidence(found))


@pytest.mark.parametrize("embedder", ["none", "hashing"])
def test_a_copy_in_a_file_that_is_not_indexed_yet_repeats_too(tmp_path: Path, embedder: str) -> None:
    text = "The spare key lies under the blue pot by the door."
    with told(
        tmp_path / "vault", {"first": text, "other": "The fence is green."}, embedder=embedder
    ) as memory:
        state = memory.vault.state
        with locks.lock(state / LOCK), locks.lock(state / SYNC_LOCK):
            at = NOW - timedelta(days=3)
            memory.record([{"role": "user", "content": text, "at": at}], session="fresh")
            found = memory.recall("where is the spare key", now=NOW)
            shown = memory.recall('"under the blue pot"', now=NOW)
            none = memory.recall('spare key -"blue pot"', now=NOW)
    assert {hit.ref.session for hit in found.hits} == {"first", "fresh"}
    assert "repeats 0.50 (as hit 1)" in found.hits[1].explain()
    assert {hit.ref.session for hit in shown.hits} == {"first", "fresh"}
    assert none.hits == ()

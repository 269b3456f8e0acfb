"""Vectors of the hashing embedder: the same everywhere, near where words are shared."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from huimem.errors import ConfigError
from huimem.ports import Embedder
from huimem.providers.hashing import HashingEmbedder

NEARER = [
    # question, the text that must be nearer, the text that must be farther
    ("which index did we choose", "we choose the fp16 index", "noodles with egg and tomato"),
    ("租房合同", "下个月签租房的合同", "获取今日龙虎榜数据"),
    ("股票", "今天的股票跌了", "今天的面试过了"),
    ("restarting", "the restart of svc-mail", "a quiet evening at home"),
    ("用Redis做缓存", "redis 里放了什么", "明天去体检"),
]


@pytest.mark.parametrize(("question", "near", "far"), NEARER)
def test_shared_words_bring_texts_together(question: str, near: str, far: str) -> None:
    asked, *texts = HashingEmbedder().embed([question, near, far])
    assert asked @ texts[0] > asked @ texts[1]


@given(st.lists(st.text(st.characters(), max_size=40), max_size=6), st.sampled_from(["8", "64", "256"]))
def test_vectors_are_of_unit_length_and_no_batch_changes_them(texts: list[str], size: str) -> None:
    embedder = HashingEmbedder(size)
    rows = embedder.embed(texts)
    assert rows.dtype == np.float32
    assert rows.shape == (len(texts), int(size))
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)
    for row, text in zip(rows, texts, strict=True):
        assert np.array_equal(row, embedder.embed([text], as_query=True)[0])


def test_the_name_stands_for_these_vectors() -> None:
    """Indexes keep vectors by name: other vectors need another number after the @."""
    embedder = HashingEmbedder("8")
    expected = [-0.5923, -0.1777, -0.1777, 0.4146, 0.0, 0.1777, -0.1777, -0.5923]
    assert embedder.name == "hashing/8@1"
    assert embedder.embed(["svc-mail 租房"])[0].round(4).tolist() == pytest.approx(expected, abs=1e-4)


def test_it_fills_the_socket() -> None:
    embedder = HashingEmbedder()
    assert isinstance(embedder, Embedder)
    assert (embedder.name, embedder.dim) == ("hashing/256@1", 256)
    assert HashingEmbedder("64").name != embedder.name


@pytest.mark.parametrize("size", ["", "7", "65537", "-8", "1e3", "２５６", "many"])
def test_a_size_that_is_none_is_refused(size: str) -> None:
    with pytest.raises(ConfigError, match="hashing:256"):
        HashingEmbedder(size)

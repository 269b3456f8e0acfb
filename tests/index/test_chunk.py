"""Passages: pieces of 40 to 80 words that cover every word of a text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from huimem.index.chunk import LEAST, MOST, UNBROKEN, passages, sentences, size


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in passages(text)]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        (
            "Version 3.14 costs $2.50. See e.g. https://a.b/c?x=1 ok",
            ["Version 3.14 costs $2.50.", " See e.g. https://a.b/c?x=1 ok"],
        ),
        ("第一句。第二句！“第三句？”第四句", ["第一句。", "第二句！", "“第三句？”", "第四句"]),
        ("Dr. A. Smith came. He left.", ["Dr. A. Smith came.", " He left."]),
        ("one\ntwo\n\nthree", ["one\n", "two\n\n", "three"]),
        ("", []),
    ],
)
def test_sentences(text: str, pieces: list[str]) -> None:
    assert [text[start:end] for start, end in sentences(text)] == pieces


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        (" \n\t ", 0),
        ("short", 1),
        ("A sentence of five words. " * 16, 1),
        ("A sentence of five words. " * 33, 2),
        ("一句十个字的中文句子。" * 300, 43),
        ("no stop at all " * 100, 5),
        ("x" * 100_000, 78),  # 1,280 characters each; the last 160 join the one before
    ],
)
def test_how_many(text: str, count: int) -> None:
    assert len(passages(text)) == count


def test_the_last_words_of_a_long_answer_are_in_the_last_passage() -> None:
    text = "背景说明很长。" * 450 + "结论：选分段索引。"
    assert cut(text)[-1].endswith("结论：选分段索引。")


def test_a_paragraph_ends_a_passage_that_is_long_enough() -> None:
    paragraph = "Ten words stand in this line to fill it up. " * 5
    assert cut(paragraph.strip() + "\n\n" + paragraph.strip()) == [paragraph.strip(), paragraph.strip()]


TEXTS = st.text(
    alphabet=st.one_of(st.characters(codec="utf-8"), st.sampled_from(list("a 。\n.!? 字the“”’)"))),
    max_size=3000,
)


@given(TEXTS)
def test_passages_cover_every_word_in_order(text: str) -> None:
    joined = "".join("".join(piece.split()) for piece in cut(text))
    assert joined == "".join(text.split())


@given(TEXTS)
def test_no_passage_is_too_long(text: str) -> None:
    assert all(0 < size(piece) <= MOST + LEAST for piece in cut(text))


@given(st.text(st.one_of(st.sampled_from("ab .\n索引。ぬ한"), st.characters()), max_size=60))
def test_a_size_counts_words_and_wide_characters_and_what_is_unbroken_by_its_length(text: str) -> None:
    apart = re.sub("[\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af]", " \\g<0> ", text)
    assert size(apart) == size(text) == sum(1 + len(unit) // UNBROKEN for unit in apart.split())

"""Passages: pieces of 40 to 80 words that cover every word of a text and respect how it is laid out."""

import re
from itertools import pairwise
from pathlib import Path
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from huimem.index.chunk import LEAST, LONGEST, UNBROKEN, passages, sentences, size

CASES = sorted((Path(__file__).parents[2] / "fixtures" / "chunks").glob("*.txt"))


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in passages(text)]


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_text_is_cut_where_the_scissors_stand(path: Path) -> None:
    marked = path.read_text(encoding="utf-8")
    assert cut(re.sub("✂\n?", "", marked)) == [piece.strip() for piece in marked.split("✂")]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        (
            "Version 3.14 costs $2.50. See e.g. https://a.b/c?x=1 ok",
            ["Version 3.14 costs $2.50.", " See e.g. https://a.b/c?x=1 ok"],
        ),
        ("第一句。第二句！“第三句？”第四句", ["第一句。", "第二句！", "“第三句？”", "第四句"]),
        ("好吗?好的!走吧", ["好吗?", "好的!", "走吧"]),
        ("Dr. A. Smith came. He left.", ["Dr. A. Smith came.", " He left."]),
        (
            "Bring tea, bread etc.\nand a rug. \n \nThen go",
            ["Bring tea, bread etc.\n", "and a rug. \n \n", "Then go"],
        ),
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
        ("x" * 100_000, 78),  # 1,279 characters each; the last 238 join the one before
        ("Look here:\n" * 7, 1),
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


@pytest.mark.parametrize("most", [15, 30, 60])
def test_code_too_long_for_a_passage_is_cut_between_lines(most: int) -> None:
    lines = [" ".join(["    call(x. y)", *("and? more" for _ in range(k % most // 2))]) for k in range(300)]
    text = "\n".join(["Run this:", "```", *lines, "```"])
    pieces = cut(text)
    assert [line.strip() for piece in pieces for line in piece.split("\n")] == [
        line.strip() for line in text.split("\n")
    ]
    assert all(size(piece) <= LONGEST for piece in pieces)


def words(count: int, word: str = "word") -> str:
    return " ".join([word] * count)


@pytest.mark.parametrize(
    "opening",
    [
        "```python\n",
        "2. Take ",
        "| day |\n|---|\n| ",
        "### Head\n",
        "> Note:\n> ",
        "**Bold**\n",
        "- One:\n  - ",
    ],
    ids=str.strip,
)
def test_an_opening_goes_with_what_it_opens_though_a_short_passage_is_left(opening: str) -> None:
    begins = opening[0] + " " if opening[0] in ">|" else ""  # how a quote or a table goes on
    close = "\n```" if opening.startswith("`") else ""
    before, opened = words(39), f"{opening}{words(45)}.\n{begins}{words(70, 'more')}{close}"
    assert cut(f"{before}\n{opened}")[0] == before


def test_the_end_of_a_fence_goes_with_the_last_line_of_code() -> None:
    first, last = "```\n" + words(70), words(80) + "\n```"
    assert cut(f"{first}\n{last}\n{words(50)}") == [first, last, words(50)]


def test_a_line_of_code_is_whole_though_it_looks_like_two_sentences() -> None:
    first, second = "```\n" + words(30), words(20) + ". " + words(35)
    assert cut(f"{first}\n{second}\n{words(60)}\n```")[0] == first


def test_headings_without_end_are_cut_among_themselves() -> None:
    pieces = cut("# One more head\n" * 26 + words(79))
    assert pieces[-1].startswith("# One more head\n") and pieces[-1].endswith("word")


def test_a_rest_that_would_be_too_much_stands_alone() -> None:
    code = "```\n" + (words(49) + "\n") * 2 + "```"
    assert cut(f"{words(19)}\n{code}\n\n{words(10)}") == [f"{words(19)}\n{code}", words(10)]


@pytest.mark.parametrize(
    "text",
    [
        "# A heading of words\n" * 100,
        "Things to bring:\n\n" * 100,
        f"# {words(38)}\n{words(38)}:\n{words(79)}.\n",
        f"# {words(75)}\n{words(3)}:\n{words(200)}",
        f"{words(79)}:\n```\n{words(80)}\n```\n",
        ("| " + words(30) + " |\n") * 3 + "|---|\n" + ("| " + words(30) + " |\n") * 5,
        f"# {words(60)}\n" + "x" * 5000,
    ],
)
def test_what_stays_together_is_not_too_long_either(text: str) -> None:
    assert max(map(size, cut(text))) <= LONGEST


TEXTS = st.text(
    alphabet=st.one_of(st.characters(codec="utf-8"), st.sampled_from(list("a 。\n.!? 字the“”’)"))),
    max_size=3000,
)

LINES = st.sampled_from(
    [
        "", "", "", " ", "# A heading", "### 小标题", "**Bold line**", "Things to bring:", "需要的东西：",
        "- an item with some words", "- another: with two sentences. Here is the second", "  continued here",
        "  - nested item", "1. first thing to do", "2、第二件事要记得做。", "> a quoted line. And more",
        "> [!note] Callout", "| a | b |", "|---|---|", "| one two three | four. five |",
        "```python", "```", "def f():", "    return x", "---",
        "The quick fox went out to look for bread and honey. It found none.",
        "今天下午三点开会。地点改到二楼？", "word " * 90, "字" * 90, "x" * 3000, "so: " * 50,
        "- " + "long item words " * 40,
    ]
)  # fmt: skip
LAYOUTS = st.lists(LINES, max_size=60).map("\n".join)
ANY = st.one_of(TEXTS, LAYOUTS)


@given(ANY)
def test_passages_cover_every_word_in_order(text: str) -> None:
    joined = "".join("".join(piece.split()) for piece in cut(text))
    assert joined == "".join(text.split())


@given(ANY)
def test_no_passage_is_too_long(text: str) -> None:
    assert all(0 < size(piece) <= LONGEST for piece in cut(text))


@given(ANY, st.text(" \n\t", max_size=5))
def test_blanks_at_the_end_change_nothing(text: str, blanks: str) -> None:
    assert passages(text + blanks) == passages(text)


@given(ANY)
def test_a_text_of_one_passage_stays_one(text: str) -> None:
    assert size(text) >= LEAST or len(passages(text)) <= 1


LEADING = re.compile(r"#{1,6} .*|\*\*[^*]+\*\*|.*[:：]")
PROSE = st.sampled_from(
    ["", "", "# A heading", "### 小标题。第二句", "**Bold line**", "Bring these things:",
     "- three of them:", "需要：", "- an item. With more", "  continued here", "1. First", "> quoted:",
     "A sentence of six words stands here.", "今天下午三点开会。地点改到二楼",
     "word " * 30, "- " + "long item words " * 30]
)  # fmt: skip


@given(st.lists(PROSE, max_size=60).map("\n".join))
def test_what_announces_is_not_parted_from_what_it_announces(text: str) -> None:
    pieces = cut(text)
    for piece, after in pairwise(pieces):
        last, following = piece.split("\n")[-1], after.split("\n")[0]
        parted = LEADING.fullmatch(last.strip()) is not None
        assert not parted or LEADING.fullmatch(following.strip()), (piece, after)  # leads for a whole passage


@given(st.text(st.one_of(st.sampled_from("ab .\n索引。ぬ한"), st.characters()), max_size=60))
def test_a_size_counts_words_and_wide_characters_and_what_is_unbroken_by_its_length(text: str) -> None:
    apart = re.sub("[\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af]", " \\g<0> ", text)
    assert size(apart) == size(text) == sum(1 + len(unit) // UNBROKEN for unit in apart.split())


@pytest.mark.parametrize(
    "line",
    [
        "Look here:\n",
        "# head\n",
        "- a\n",
        "  - a\n",
        "| a |\n|---|\n",
        "```\n",
        "> a\n",
        "\n \n",
        "word:" + " w" * 78 + "\n",
    ],
)
def test_time_grows_with_the_text_and_no_faster(line: str) -> None:
    def took(count: int) -> float:
        began = perf_counter()
        passages(line * count + "end")
        return perf_counter() - began

    few = 3_000 // max(1, len(line) // 10)
    short, long = min(took(few) for _ in range(3)), min(took(4 * few) for _ in range(2))
    assert long < 12 * short + 0.03

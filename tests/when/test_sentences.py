"""What is passed over in a text is no time: the runs found are those of reading every word of it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from huimem.when import masks
from huimem.when.chinese import CHINESE
from huimem.when.english import ENGLISH
from huimem.when.grammar import Token
from huimem.when.iso import ISO
from huimem.when.language import Grammar
from huimem.when.scanning import runs
from huimem.when.sentences import _sentences
from tests.when.tables import cases

GRAMMAR = Grammar((ISO, CHINESE, ENGLISH))
READER = GRAMMAR._reader
WORDS = READER._words
PHRASES = sorted({case.text for name in ("english", "chinese", "ancestors") for case in cases(name)})
# Words that part runs, that belong to them, that begin or end with a mark, and what stands between.
PIECES = [
    *("lantern", "the", "one", "at five", "on the second", "last", "week", "ago", "march", "two thousand"),
    *("lamp,", "(today)", "week.", "o'clock", "5 p.m.", "p.mweek", "x_3", "3rd", "12:30", "2024-03-05", "$5"),
    *("thousandfold", "foo-monday", "monday@home", "#friday", "approx.", "Wed.", "é", "naïve", ""),
    *(
        "今天",
        "周末",
        "周末考",
        "一起",
        "三点",
        "灯笼",
        "一",
        "日出发",
        "上个月，",
        "。",
        "第二天",
        "二〇二四年",
    ),
]
texts = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=16).map(" ".join),
    st.lists(st.sampled_from(PIECES), max_size=10).map("".join),
    st.lists(st.sampled_from(PHRASES), max_size=3).map("? ".join),
    st.text(max_size=60),
)


def shown(start: int, end: int, tokens: list[Token]) -> tuple[object, ...]:
    """A run: where it stands, its tokens, and of what is beside it only what rules may ask."""
    inner = [(token.start, token.end, dict(token.values)) for token in tokens[1:-1]]
    return start, end, inner, dict(tokens[0].values), dict(tokens[-1].values)


def telling(sentence: str) -> bool:
    """Whether a sentence is worth reading, as the languages say it."""
    if not WORDS.telling.isdisjoint(re.findall("[a-z]+", sentence)):
        return True
    written = {word[0] for word, values in WORDS.written.items() if "<core>" in values}
    if any(letter in written or letter in "0123456789" for letter in sentence):
        return True
    return re.search(ENGLISH.hints.pattern, sentence, re.ASCII) is not None


def every_run(text: str) -> list[tuple[object, ...]]:
    """The runs of a text whose sentences are read from their first word to their last."""
    return [
        shown(run[1].start, run[-2].end, run)
        for start, stop in _sentences(text, WORDS.shortened)
        if telling(text[start:stop])
        for run in runs(text, start, stop, WORDS)
    ]


@settings(max_examples=500)
@given(texts)
def test_the_runs_are_those_of_reading_every_word(text: str) -> None:
    text = masks.hide(GRAMMAR.normal(text))
    found = [shown(run.start, run.end, READER.tokens(run)) for run in READER.runs(text)]
    assert found == every_run(text)


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("the lamp was lit a week ago by someone", ["a week ago"]),
        ("lamps, last week, were dim", ["last week"]),
        ("we met on the second", ["second"]),
        ("lit at five", ["five"]),
        ("a thousandfold lamp", []),
        ("(yesterday) it rained", ["yesterday"]),
        ("灯笼是上周三买的", ["上周三"]),
        ("bright word 昨天 dim word", ["昨天"]),
    ],
)
def test_what_is_found_among_words_that_nobody_knows(text: str, spans: list[str]) -> None:
    found = GRAMMAR.expressions(GRAMMAR.normal(text))
    assert [text[one.start : one.end] for one in found] == spans


def test_what_was_read_before_changes_no_reading() -> None:
    """周末考 is 周 and 末考, which makes no weekend of it, whoever asked of a weekend before."""
    alone = Grammar((ISO, CHINESE)).expressions("周末考试")
    grammar = Grammar((ISO, CHINESE))
    assert len(grammar.expressions("周末去看海")) == 1
    assert grammar.expressions("周末考试") == alone == []
    assert len(grammar.expressions("周末去看海")) == 1


def test_of_a_hundred_thousand_known_words_in_a_row_only_the_end_is_worth_parsing() -> None:
    found = list(READER.runs("the of to and " * 25_000 + "week"))
    assert len(found) == 1
    assert found[0].end == len("the of to and ") * 25_000 + 4

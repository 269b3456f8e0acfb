"""Words in the other language: the list itself, what it says of a question, and what is found by it."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from huimem.index.tokens import query_terms
from huimem.recall.glossary import translations
from tests.recall.made import NOW, sessions, told

LINES = files("huimem.recall").joinpath("glossary.txt").read_text("utf-8").splitlines()
ENTRIES = [line for line in LINES if line and not line.startswith("#")]
HAN = re.compile("[\u3400-\u9fff]")

# A question → what its words are called in the other language.
CALLED = [
    ("how high is the rent", {"房租", "租金"}),
    ("who baked the cake", {"烘焙", "蛋糕"}),
    ("房东什么时候来", {"landlord"}),
    ("房東什麼時候來", {"landlord"}),
    ("did the supplier reply", {"供应商"}),
    ("死锁怎么解决的", {"deadlock"}),
    ("昨晚又丢包了", {"packet", "loss"}),
    ("what is it about", set()),
    ("zyzzyva qwx", set()),
]

# Said in one language, asked in the other: the first is meant.
VAULT = {
    "rent": "新房子的房租是每月四千二，押一付三",
    "dentist": "牙医说下周二要补两颗牙",
    "deadlock": "the two writers ran into a deadlock, sorting the keys cured it",
    "landlord": "the landlord kept part of the deposit for the broken blinds",
    "cat": "猫咪的肾不太好，兽医开了处方粮",
    "tuna": "昨天给吞拿鱼打了八折",  # the dictionary has no such fish: 吞 拿 鱼
    "temple": "人太多，改走法喜寺后山",
    "piano": "practised the piano scales for half an hour",
}
ASKED = [
    ("how much is the rent?", "rent"),
    ("when do I see the dentist", "dentist"),
    ("死锁是怎么治好的", "deadlock"),
    ("房东扣了押金的哪一部分", "landlord"),
    ("what did the vet say about the cat", "cat"),
    ("钢琴练了多久", "piano"),
    ("what about the tuna", "tuna"),
]


def said(question: str) -> set[str]:
    found = translations(query_terms(question))
    return {term for others in found.values() for one in others for term in one}


@pytest.mark.parametrize(("question", "called"), CALLED)
def test_what_words_are_called_in_the_other_language(question: str, called: set[str]) -> None:
    assert called <= said(question) if called else not said(question)


def test_several_words_of_one_entry_are_no_words_of_others() -> None:
    found = translations(query_terms("credit card limit"))
    assert ("credit", "card") in found and ("card",) not in found


def test_each_line_has_an_english_and_a_chinese_side() -> None:
    for line in ENTRIES:
        english, chinese = line.split(" | ")
        assert not HAN.search(english), line
        assert all(HAN.search(entry) for entry in chinese.split(";")), line
    assert len(ENTRIES) > 2_500
    assert len(set(ENTRIES)) == len(ENTRIES)


@pytest.mark.parametrize("line", ENTRIES[::40])
def test_each_entry_is_found_by_its_words(line: str) -> None:
    for side in line.split(" | "):
        for entry in side.split("; "):
            assert not query_terms(entry) or translations(query_terms(entry)), entry


@pytest.mark.parametrize(("question", "session"), ASKED)
def test_words_alone_find_what_was_said_in_the_other_language(
    question: str, session: str, tmp_path: Path
) -> None:
    with told(tmp_path / "vault", VAULT) as memory:
        found = memory.recall(question, now=NOW)
        assert sessions(found)[:1] == [session]
        assert "→" in found.hits[0].factors[0].note


def test_a_name_is_found_where_its_sentence_is_cut_otherwise(tmp_path: Path) -> None:
    with told(tmp_path / "vault", VAULT) as memory:
        (hit, *_) = memory.recall("法喜寺", now=NOW).hits
        assert "法喜寺后山" in hit.evidence and "法喜寺" in hit.factors[0].note


def test_translations_can_be_turned_off(tmp_path: Path) -> None:
    with told(tmp_path / "vault", VAULT, translated=0) as memory:
        assert not memory.recall("how much is the rent?", now=NOW).hits

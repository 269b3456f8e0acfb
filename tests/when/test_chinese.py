"""Chinese time words against the tables of `fixtures/when`; each rule is there because some row needs it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from huimem.when import masks
from huimem.when.chinese import CHINESE
from huimem.when.chinese.numbers import number
from huimem.when.english import ENGLISH
from huimem.when.grammar import Rule
from huimem.when.language import Grammar
from tests.when.tables import Case, cases, faults

# What a phrase may begin or end with more or less: a preposition, a particle.
OUTSIDE = re.compile(r"^(?:在|于|的)|(?:的|那会儿|那阵子|那天)$")
TABLES = ("chinese", "chinese_traps", "chinese_vague")


@pytest.mark.parametrize("case", cases("chinese"), ids=lambda case: case.name)
def test_what_a_question_means(case: Case) -> None:
    assert faults(case, OUTSIDE) == []


@pytest.mark.parametrize("case", cases("chinese_traps"), ids=lambda case: case.name)
def test_what_only_looks_like_a_time(case: Case) -> None:
    assert faults(case, OUTSIDE) == []


@pytest.mark.parametrize("case", cases("chinese_vague"), ids=lambda case: case.name)
def test_vague_words(case: Case) -> None:
    assert faults(case, OUTSIDE) == []


def _watched(rung: str, rule: Rule, used: set[tuple[str, str]]) -> Rule:
    """The same rule, which notes that it made something."""

    def make(*given: Any) -> Any:
        made = rule.make(*given)
        if made is not None:
            used.add((rung, rule.pattern))
        return made

    return rule._replace(make=make)


def test_every_rule_is_needed_by_a_row() -> None:
    used: set[tuple[str, str]] = set()
    rules = {rung: [_watched(rung, rule, used) for rule in rules] for rung, rules in CHINESE.rules.items()}
    watched = CHINESE._replace(rules=rules)
    for grammar in (Grammar([ENGLISH, watched]), Grammar([watched])):
        for case in (case for table in TABLES for case in cases(table)):
            grammar.expressions(masks.hide(grammar.normal(case.text)))
    unused = [(rung, rule.pattern) for rung, rules in rules.items() for rule in rules]
    assert [place for place in unused if place not in used] == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("十", 10),
        ("十二", 12),
        ("二十三", 23),
        ("廿五", 25),
        ("卅一", 31),
        ("一百零八", 108),
        ("三百二十五", 325),
        ("两千", 2000),
        ("零五", 5),
    ],
)
def test_numerals(text: str, value: int) -> None:
    assert number(text)["<number>"] == value


@pytest.mark.parametrize("text", ["十百", "三二十", "一二十三"])
def test_no_numerals(text: str) -> None:
    assert "<number>" not in number(text)


def test_figures_one_by_one() -> None:
    assert number("二〇二五")["<digits>"] == "2025"
    assert number("三四")["<two numbers>"] == (3, 4)
    assert number("两三")["<two numbers>"] == (2, 3)

"""English time words against the tables of `fixtures/when`."""

from __future__ import annotations

import re
from typing import Any

import pytest

from huimem.when import masks
from huimem.when.english import ENGLISH
from huimem.when.grammar import Rule
from huimem.when.iso import ISO
from huimem.when.language import Grammar
from tests.when.tables import Case, cases, faults

# What a phrase may begin with more or less: an article, a preposition.
OUTSIDE = re.compile(r"^(?:(?:in|on|at|during|over|from|for|of|the|my|our)\s+)+|'s$", re.IGNORECASE)
TABLES = ("english", "english_traps", "english_vague")


@pytest.mark.parametrize(
    "case", [case for name in TABLES for case in cases(name)], ids=lambda case: case.name
)
def test_what_a_question_means(case: Case) -> None:
    assert faults(case, OUTSIDE) == []


def test_every_rule_has_a_row_that_needs_it() -> None:
    used: set[int] = set()
    rules = {rung: list(lines) for rung, lines in ENGLISH.rules.items()}
    watched = {rung: [_watched(rule, used) for rule in lines] for rung, lines in rules.items()}
    grammar = Grammar((ISO, ENGLISH._replace(rules=watched)))
    for name in TABLES:
        for case in cases(name):
            grammar.expressions(masks.hide(grammar.normal(case.text)))
    unused = [rule.pattern for lines in rules.values() for rule in lines if id(rule) not in used]
    assert unused == []


def _watched(rule: Rule, used: set[int]) -> Rule:
    def make(*values: Any) -> Any:
        made = rule.make(*values)
        if made is not None:
            used.add(id(rule))
        return made

    return rule._replace(make=make)

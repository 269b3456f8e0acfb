"""The tables themselves: large enough, no row of them twice, every value plausible."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.when.tables import cases

NAMES = [f"{language}{part}" for language in ("english", "chinese") for part in ("", "_traps", "_vague")]
NAMES += ["ancestors"]
LEAST = {"ranges": 600, "Chinese traps": 150, "vague": 60}


def test_the_tables_are_large() -> None:
    counts = {
        "ranges": sum(len(case.rows) for name in ("english", "chinese") for case in cases(name)),
        "Chinese traps": len(cases("chinese_traps")),
        "vague": sum(len(cases(name)) for name in ("english_vague", "chinese_vague")),
    }
    assert {name: count for name, count in counts.items() if count < LEAST[name]} == {}


@pytest.mark.parametrize("name", NAMES)
def test_a_question_stands_in_a_table_once(name: str) -> None:
    counted = Counter((case.text, case.now) for case in cases(name))
    assert [text for text, count in counted.items() if count > 1] == []


@pytest.mark.parametrize("name", NAMES)
def test_what_is_expected_is_a_range_and_its_words_stand_in_the_question(name: str) -> None:
    for case in cases(name):
        for row in case.rows:
            assert row.phrase in case.text
            assert row.start is None or row.end is None or row.start < row.end, case.text
            assert "vague" in row.flags or row.start or row.end, case.text


def test_questions_are_asked_on_many_days() -> None:
    days = {case.now.date() for name in NAMES for case in cases(name)}
    assert len(days) >= 100
    assert {day.year for day in days} >= {1999, 2020, 2026, 2040}

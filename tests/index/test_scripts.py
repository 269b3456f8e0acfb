"""The script of a text: one table, and what holds of any text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from huimem.index.scripts import HAN, LATIN, script

# A Han character counts four letters, kana eight, hangul four; every other letter one.
SCRIPTS = [
    ("", LATIN),
    ("   \n", LATIN),
    ("12:30 – 14:00 … 2026", LATIN),
    ("✅🎉", LATIN),
    ("what did we decide", LATIN),
    ("Straße, œuvre, piñata", LATIN),
    ("žluťoučký kůň", LATIN),
    ("我们决定了什么", HAN),
    ("我們決定了什麼", HAN),
    ("好", HAN),
    ("2026年4月", HAN),
    ("用 Kubernetes 部署", HAN),  # 10 letters against three characters, 12
    ("查 Kubernetes 日志", HAN),
    ("Kubernetes 部", LATIN),  # 10 letters against 4
    ("the word 内卷 came up", LATIN),  # 13 letters against 8
    ("abcd 好", LATIN),  # a tie
    ("abc 好", HAN),
    ("明日の会議は何時ですか", "kana"),
    ("東京タワー", "kana"),
    ("회의는 몇 시에 시작해요?", "hangul"),
    ("Когда начинается встреча?", "cyrillic"),
    ("Πότε αρχίζει η συνάντηση;", "greek"),
    ("متى يبدأ الاجتماع؟", "arabic"),
    ("מתי מתחילה הפגישה?", "hebrew"),
    ("बैठक कब शुरू होती है", "indic"),
    ("ประชุมเริ่มกี่โมง", "thai"),
    ("Привет, world", "cyrillic"),  # 6 against 5
    ("Hello, мир", LATIN),  # 5 against 3
]


@pytest.mark.parametrize(("text", "expected"), SCRIPTS)
def test_most_of_a_text_says_its_script(text: str, expected: str) -> None:
    assert script(text) == expected


@given(st.text(max_size=60))
def test_any_text_has_a_script_and_repeating_it_changes_nothing(text: str) -> None:
    assert script(text + text) == script(text)


@given(st.text(st.characters(max_codepoint=127), max_size=60))
def test_ascii_is_latin(text: str) -> None:
    assert script(text) == LATIN

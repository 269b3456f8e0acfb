"""Hostile strings become text that a tokenizer takes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from huimem.providers.well_formed import well_formed

CASES = [
    # text, what a model is given
    ("plain 文字 😀", "plain 文字 😀"),
    ("", ""),
    ("before\0after", "before after"),
    ("half \ud83d of a pair", "half � of a pair"),
    ("\ude00\ud83d", "��"),
    ("a pair in two halves \ud83d\ude00", "a pair in two halves 😀"),
]


@pytest.mark.parametrize(("text", "given"), CASES)
def test_hostile_strings_are_mended(text: str, given: str) -> None:
    assert well_formed(text, 100) == given


ANY = st.text(st.characters() | st.characters(categories=["Cs"]) | st.just("\0"))


@given(ANY, st.integers(0, 20))
def test_the_result_is_unicode_without_nul_and_within_the_limit(text: str, limit: int) -> None:
    mended = well_formed(text, limit)
    mended.encode()
    assert "\0" not in mended
    assert len(mended) <= limit
    assert well_formed(mended, limit) == mended

"""What earlier libraries were asked: each phrase as the conventions read it."""

from __future__ import annotations

import re

import pytest

from tests.when.tables import Case, cases, faults

OUTSIDE = re.compile(r"^(?:(?:the|on|in)\s+)+", re.IGNORECASE)


@pytest.mark.parametrize("case", cases("ancestors"), ids=lambda case: case.name)
def test_what_the_phrase_means(case: Case) -> None:
    assert faults(case, OUTSIDE) == []

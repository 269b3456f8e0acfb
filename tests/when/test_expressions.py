"""Expressions are values: equal by type and parts, fixed, complete."""

from __future__ import annotations

import pytest

from huimem.when.expressions import Clock, Month, Quarter, Within, Year


def test_equal_means_the_same_type_and_parts() -> None:
    assert Month(3) == Month(number=3)
    assert Month(3) != Quarter(3)
    assert Within(Year(2020), Month(3)) != Within(Year(2020), Quarter(3))
    assert len({Month(3), Month(3), Quarter(3), Within(Year(2020), Month(3))}) == 3


def test_parts_not_given_have_their_defaults() -> None:
    assert Clock(8) == Clock(8, None, None, 0, False, False)
    assert Clock(8).but(minute=15) == Clock(8, 15)
    assert repr(Month(3)) == "Month(number=3)"


@pytest.mark.parametrize(
    "make", [lambda: Month(), lambda: Month(3, 4), lambda: Month(3, name=4), lambda: Month(day=3)]
)
def test_a_missing_or_strange_part_is_refused(make: object) -> None:
    with pytest.raises(TypeError, match="Month is made of number"):
        make()  # type: ignore[operator]


def test_an_expression_cannot_be_changed() -> None:
    with pytest.raises(AttributeError, match="make another"):
        Month(3).number = 4  # type: ignore[misc]

"""English numbers and years in words: twenty first, nineteen eighty six."""

from __future__ import annotations

from typing import Any

from huimem.when.expressions import Year
from huimem.when.grammar import Rule


def _spelled(*parts: Any) -> Year:
    return Year(sum(part for part in parts if part))


def _century(teen: int, *parts: Any) -> Year | None:
    """Nineteen eighty six; ten thirty is rather a time of day."""
    return _spelled(100 * teen, *parts) if teen >= 13 else None


def _sum(*parts: Any) -> Any:
    return sum(part for part in parts if part)


NUMBERS = [
    Rule("a m", "meridian", lambda: "am"),
    Rule("p m", "meridian", lambda: "pm"),
    Rule("<tens> -? <one>", "number", _sum),
    Rule("<tens> -? <first nine>", "ordinal", _sum),
    Rule("<digits> st|nd|rd|th", "figure ordinal", lambda digits: int(digits)),
    Rule("<number> and a half", "number", lambda number: number + 0.5),
    Rule("one|a hundred", "number", lambda: 100),
    Rule("a dozen", "number", lambda: 12),
    Rule("<teen> <tens> -? <one>?", "spelled year", _century),
    Rule("<teen> <teen>", "spelled year", _century),
    Rule("<teen> oh|o <one>", "spelled year", _century),
    Rule("<teen> hundred", "spelled year", _century),
    Rule("twenty <teen>", "spelled year", lambda teen: _spelled(2000, teen)),
    Rule("twenty <tens> -? <one>?", "spelled year", lambda tens, one: _spelled(2000, tens, one)),
    Rule("two thousand and? <tens>|<teen>|<one>?", "spelled year", lambda *parts: _spelled(2000, *parts)),
    Rule("two thousand and? <tens> -? <one>", "spelled year", lambda *parts: _spelled(2000, *parts)),
]

"""The text of messages: from bytes, into its normal form, and the code fences in it.

In: any bytes or string. Out: the form in which texts are kept and compared; spans of closed fences.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

_SURROGATE = re.compile(r"[\ud800-\udfff]")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^\n]*)", re.MULTILINE)


def decode(data: bytes) -> tuple[str, int | None]:
    """`data` as text from which `encode` makes the same bytes again, and where it is not UTF-8 (or None).

    The offset of the first wrong byte counts characters; `legible` shows such bytes as U+FFFD.
    """
    try:
        return data.decode(), None
    except UnicodeDecodeError as error:
        return data.decode("utf-8", "surrogateescape"), len(data[: error.start].decode())


def encode(text: str) -> bytes:
    """The bytes that `decode` read."""
    return text.encode("utf-8", "surrogateescape")


def legible(text: str) -> str:
    """Decoded text with U+FFFD for what is not UTF-8."""
    return encode(text).decode("utf-8", "replace") if _SURROGATE.search(text) else text


def normal(text: str) -> str:
    """`text` with `\\n` line ends, no blank first or last lines, no lone surrogates. Idempotent.

    A carriage return inside a line stays; indentation and trailing blanks stay.
    """
    return trim(text)[0]


def trim(text: str) -> tuple[str, int]:
    """The normal form of `text` and the number of lines left out before it."""
    if _SURROGATE.search(text):  # pairs become the character they mean, single halves U+FFFD
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    lines = text.split("\n")
    if "\r" in text:
        lines = [line.rstrip("\r") for line in lines]
    first, last = 0, len(lines)
    while first < last and not lines[first].strip():
        first += 1
    while last > first and not lines[last - 1].strip():
        last -= 1
    return "\n".join(lines[first:last]), first


def fences(text: str, start: int = 0, stop: int | None = None) -> list[tuple[int, int]]:
    """Spans [start, end) of the closed code fences in `text[start:stop]`, both fence lines inside.

    A fence that nothing closes is no fence. Linear in the text.
    """
    marks = [m for m in _FENCE.finditer(text, start, len(text) if stop is None else stop)]
    longest = {"`": 0, "~": 0}
    closable = []  # per mark: the longest closing line after it
    for mark in reversed(marks):
        kind = mark[1][0]
        closable.append(longest[kind])
        if not mark[2].strip():
            longest[kind] = max(longest[kind], len(mark[1]))
    closable.reverse()
    spans, opened = [], None
    for mark, within_reach in zip(marks, closable, strict=True):
        if opened is None:
            inline = mark[1][0] == "`" and "`" in mark[2]
            if not inline and within_reach >= len(mark[1]):
                opened = mark
        elif mark[1][0] == opened[1][0] and len(mark[1]) >= len(opened[1]) and not mark[2].strip():
            spans.append((opened.start(), mark.end()))
            opened = None
    return spans


def inside(spans: Sequence[tuple[int, int]], place: int) -> bool:
    """Whether `place` lies in one of the spans, which are sorted and apart."""
    index = bisect_right(spans, place, key=lambda span: span[0]) - 1
    return index >= 0 and place < spans[index][1]

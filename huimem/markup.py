"""Markdown inside a text: its code fences, and what nobody reads as text.

In: a text. Out: spans of it; or the text with such parts blank and everything else in its place.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^\n]*)", re.MULTILINE)
_BLOCK_ID = re.compile(r"(?:^|(?<=[ \t]))\^[A-Za-z0-9-]+(?=[ \t\r]*$)", re.MULTILINE)


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


def searchable(text: str) -> str:
    """`text` as it is indexed: block ids and HTML comments outside fences made blank, all else in place."""
    if "^" not in text and "<!--" not in text:
        return text
    spans = fences(text)
    holes = _comments(text, spans)
    holes += [match.span() for match in _BLOCK_ID.finditer(text) if not inside(spans, match.start())]
    pieces, done = [], 0
    for start, end in sorted(holes):
        if start >= done:
            pieces += [text[done:start], re.sub(r"[^\n]", " ", text[start:end])]
            done = end
    return "".join([*pieces, text[done:]])


def _comments(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans of closed HTML comments that begin outside `spans`."""
    found = []
    start = text.find("<!--")
    while start >= 0:
        end = text.find("-->", start + 4)
        if end < 0:
            break
        hidden = inside(spans, start)
        if not hidden:
            found.append((start, end + 3))
        start = text.find("<!--", start + 4 if hidden else end + 3)
    return found

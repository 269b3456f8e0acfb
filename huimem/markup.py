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
    pieces, done = [], 0
    for start, end in _unsaid(text):
        pieces += [text[done:start], re.sub(r"[^\n]", " ", text[start:end])]
        done = end
    return "".join([*pieces, text[done:]])


def readable(text: str, *places: int) -> tuple[str, tuple[int, ...]]:
    """`text` as it is shown: the same parts taken out, with the blanks before them and lines left empty.

    `places` are offsets in `text`; with the shown text come theirs in it.
    """
    pieces, done, moved = [], 0, list(places)
    for start, end in _unsaid(text):
        start, end = _with_blanks(text, max(start, done), end)
        pieces.append(text[done:start])
        done = end
        for i, place in enumerate(places):
            moved[i] -= max(0, min(place, end) - start)
    return "".join([*pieces, text[done:]]), tuple(moved)


def _with_blanks(text: str, start: int, end: int) -> tuple[int, int]:
    """A part to be taken out, with the blanks before it, and its line where nothing else stands there."""
    at_end = end == len(text) or text[end] in "\r\n"
    while start > 0 and text[start - 1] in " \t":
        start -= 1
    if at_end and (start == 0 or text[start - 1] == "\n"):
        for _ in range(1 + (start == 0 or text[max(start - 2, 0) : start] == "\n\n")):
            end += text.startswith("\r", end)
            end += text.startswith("\n", end)
    return start, end


def _unsaid(text: str) -> list[tuple[int, int]]:
    """Spans of the block ids and HTML comments outside fences, in order and apart."""
    if "^" not in text and "<!--" not in text:
        return []
    spans = fences(text)
    holes = _comments(text, spans)
    holes += [match.span() for match in _BLOCK_ID.finditer(text) if not inside(spans, match.start())]
    apart: list[tuple[int, int]] = []
    for start, end in sorted(holes):
        if not apart or start >= apart[-1][1]:
            apart.append((start, end))
    return apart


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

"""Text → passages of 40 to 80 words, each one piece of the text as written.

In: a message's text. Out: character spans that cover every word of it, however long it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# Passage sizes in units: a word, a Chinese character, or 16 characters of anything unbroken.
# 40–80 words is where passage BM25 and e5 vectors agree best on chat text.
LEAST, MOST = 40, 80
UNBROKEN = 16

_WIDE = "\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af"
_CHARACTER = re.compile(f"[{_WIDE}]")
_UNIT = re.compile(rf"[{_WIDE}]|[^\s{_WIDE}]+")
# A sentence ends at Chinese full stops, at Latin ones before a blank (never inside 3.14 or a
# URL), and at a line's end. Closing quotes stay with the sentence they close.
_END = re.compile(r"[。！？；…]+[”’」』）)\"']*|[.!?]+[)\"'”’]*(?=\s)|\n+")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|Mr|Mrs|Ms|Dr|Prof|St|No|Fig|approx)|\b[A-Z])\.$")
_ABBREVIATED = frozenset("gecsfrtoxABCDEFGHIJKLMNOPQRSTUVWXYZ")  # what one of those ends with
_PARAGRAPH = re.compile(r"\n[ \t]*\n")


def size(text: str) -> int:
    """Length in units: words and Chinese characters; unbroken strings count by their length."""
    characters = 0
    if not text.isascii():
        text, characters = _CHARACTER.subn(" ", text)
    units = text.split()
    if max(map(len, units), default=0) < UNBROKEN:
        return characters + len(units)
    return characters + sum(1 + len(unit) // UNBROKEN for unit in units)


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Spans of sentences or lines that tile `text` without gaps."""
    start = 0
    for mark in _END.finditer(text):
        at, end = mark.span()
        short = text[at] == "." and text[max(at - 1, 0)] in _ABBREVIATED
        if short and _ABBREVIATION.search(text, max(start, end - 8), end):
            continue
        yield start, end
        start = end
    if start < len(text):
        yield start, len(text)


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut one overlong sentence after the word or character that fills a passage."""
    filled = 0
    for unit in _UNIT.finditer(text, start, end):
        cost = 1 + len(unit[0]) // UNBROKEN
        if cost > MOST:  # one endless token: cut it by length
            yield from _slices(start, unit.end())
            start, filled = unit.end(), 0
            continue
        if filled + cost > MOST:
            yield start, unit.start()
            start, filled = unit.start(), 0
        filled += cost
    if start < end:
        yield start, end


def _slices(start: int, end: int) -> Iterator[tuple[int, int]]:
    step = MOST * UNBROKEN
    for at in range(start, end, step):
        yield at, min(at + step, end)


def _sized(text: str) -> Iterator[tuple[int, int, int]]:
    """Sentences, none over `MOST` units, with their sizes."""
    for start, end in sentences(text):
        units = size(text[start:end])
        if units <= MOST:
            yield start, end, units
            continue
        for a, b in _pieces(text, start, end):
            yield a, b, size(text[a:b])


def passages(text: str) -> list[tuple[int, int]]:
    """Spans [start, end) of passages that tile `text`, outer blanks cut off; none for blank text.

    A passage closes when the next sentence would pass `MOST` units, or at a paragraph's end once
    it holds `LEAST`. A short rest joins the passage before it, so that no passage is a crumb.
    """
    spans: list[list[int]] = []
    filled, parted = 0, _PARAGRAPH.search(text) is not None
    for start, end, units in _sized(text):
        full = filled + units > MOST
        rested = (
            parted and filled >= LEAST and _PARAGRAPH.search(text, max(spans[-1][1] - 2, 0), end) is not None
        )
        if not spans or full or rested:
            spans.append([start, end, 0])
            filled = 0
        spans[-1][1] = end
        filled += units
        spans[-1][2] = filled
    if len(spans) > 1 and spans[-1][2] < LEAST // 2:
        rest = spans.pop()
        spans[-1][1] = rest[1]
    return [(a, b) for a, b in (_trim(text, a, b) for a, b, _ in spans) if a < b]


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    inner = text[start:end]
    left = len(inner) - len(inner.lstrip())
    return start + left, start + left + len(inner.strip())

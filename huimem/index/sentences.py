"""Text → its sentences and lines, and how long they are.

In: a text. Out: spans that tile it, and sizes in units: a word, a Chinese character, or 16 characters of
anything unbroken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

UNBROKEN = 16

WIDE = "\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af"
_CHARACTERS = re.compile(f"[{WIDE}]+")
_UNIT = re.compile(rf"[{WIDE}]|[^\s{WIDE}]+")
# A sentence ends at Chinese full stops, at Latin ones before a blank (never inside 3.14 or a URL), and at
# a line's end. Closing quotes stay with the sentence they close, empty lines with the line above them.
# The pattern opens with one set of characters, which the search can run through quickly.
_EMPTY_LINES = r"(?:[ \t\r]*\n)*"
_END = re.compile(
    r"[\n.!?。！？；…](?:"
    rf"(?<=\n){_EMPTY_LINES}"
    rf"|(?<=[。！？；…])[。！？；…]*[”’」』）)\"']*{_EMPTY_LINES}"
    rf"|(?<=[.!?])[.!?]*[)\"'”’]*(?=\s){_EMPTY_LINES}"
    rf"|(?<=[!?])[!?]*(?=[{WIDE}]))"
)
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|Mr|Mrs|Ms|Dr|Prof|St|No|Fig|approx)|\b[A-Z])\.$")
_ABBREVIATED = frozenset("gecsfrtoxABCDEFGHIJKLMNOPQRSTUVWXYZ")  # what one of those ends with


def size(text: str) -> int:
    """Length in units: words and Chinese characters; unbroken strings count by their length."""
    characters = 0
    if not text.isascii():
        between = _CHARACTERS.split(text)
        characters = len(text) + len(between) - 1
        text = " ".join(between)
        characters -= len(text)
    units = text.split()
    if len(text) < UNBROKEN or max(map(len, units), default=0) < UNBROKEN:
        return characters + len(units)
    return characters + sum(1 + len(unit) // UNBROKEN for unit in units)


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Spans of sentences or lines that tile `text` without gaps."""
    start = 0
    for mark in _END.finditer(text):
        at, end = mark.span()
        short = text[at] == "." and text[max(at - 1, 0)] in _ABBREVIATED and text[end - 1] != "\n"
        if short and _ABBREVIATION.search(text, max(start, end - 8), end):
            continue
        yield start, end
        start = end
    if start < len(text):
        yield start, len(text)


def pieces(text: str, start: int, end: int, most: int) -> Iterator[tuple[int, int]]:
    """Cut one overlong sentence after each word or character that fills `most` units."""
    filled = 0
    for unit in _UNIT.finditer(text, start, end):
        cost = 1 + len(unit[0]) // UNBROKEN
        if cost > most:  # one endless token: cut it by length, the last part stays open for what follows
            if filled:
                yield start, unit.start()
                start = unit.start()
            while unit.end() - start >= most * UNBROKEN:
                yield start, start + most * UNBROKEN - 1
                start += most * UNBROKEN - 1
            filled = 1 + (unit.end() - start) // UNBROKEN
            continue
        if filled + cost > most:
            yield start, unit.start()
            start, filled = unit.start(), 0
        filled += cost
    if start < end:
        yield start, end

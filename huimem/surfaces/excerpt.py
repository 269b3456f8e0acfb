"""A long text and the passage that matters in it → a piece short enough to read, cut at sentences."""

from __future__ import annotations

from collections.abc import Sequence

from huimem.index.sentences import sentences
from huimem.markup import readable

LONGEST = 800  # characters
CUT = "…"
Span = tuple[int, int]


def excerpt(text: str, evidence: str, limit: int = LONGEST, highlight: Span = (0, 0)) -> str:
    """`text` whole where it has at most `limit` characters, else whole sentences around `highlight`.

    That is a span of `evidence`, which begins at its start where there is none. Grows to both sides while
    sentences fit, first through the evidence; a cut side is marked by …, which counts. A sentence that
    alone passes the limit is cut after a word. Block ids and HTML comments are left out.
    """
    found = max(text.find(evidence), 0)
    places = found, found + len(evidence), found + highlight[0], found + highlight[1]
    text, (first, beyond, start, end) = readable(text, *places)
    if len(text) <= limit:
        return text
    room = limit - 2 * len(CUT)
    if end == start:
        end = beyond
    a, b = _around(text, (first, beyond), (start, end), room)
    if b - a > room or b < end <= start + room:
        a, b = _clipped(text, max(a, start), room)
    inner = text[a:b].strip()
    return (CUT if text[:a].strip() else "") + inner + (CUT if text[b:].strip() else "")


def _around(text: str, evidence: Span, highlight: Span, room: int) -> Span:
    """Whole sentences: as many of the highlight as there is room for, then around it, evidence first."""
    spans = list(sentences(text))
    first, last = _holding(spans, highlight)
    while spans[last][1] - spans[first][0] > room and last > first:
        last -= 1
    low, high = _holding(spans, evidence)
    inner = slice(min(low, first), max(high, last) + 1)
    first, last = _grown(spans[inner], first - inner.start, last - inner.start, room)
    first, last = _grown(spans, first + inner.start, last + inner.start, room)
    return spans[first][0], spans[last][1]


def _holding(spans: Sequence[Span], among: Span) -> Span:
    """The first and the last of the spans that hold some of a stretch of characters."""
    start, end = among[0], max(among[1] - 1, among[0])
    first = next((i for i, (_, b) in enumerate(spans) if start < b), len(spans) - 1)
    return first, next((i for i, (_, b) in enumerate(spans) if end < b), len(spans) - 1)


def _grown(spans: Sequence[Span], first: int, last: int, room: int) -> Span:
    """The places of the first and the last span, a sentence later and a sentence earlier by turns."""
    later = earlier = True
    while later or earlier:
        later = later and last + 1 < len(spans) and spans[last + 1][1] - spans[first][0] <= room
        last += later
        earlier = earlier and first > 0 and spans[last][1] - spans[first - 1][0] <= room
        first -= earlier
    return first, last


def _clipped(text: str, start: int, room: int) -> Span:
    """At most `room` characters from `start`, ending after a word where one ends in the last quarter."""
    end = min(start + room, len(text))
    blank = text.rfind(" ", start + room * 3 // 4, end)
    return start, blank if blank > 0 and end < len(text) else end

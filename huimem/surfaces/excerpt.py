"""A long text and the passage that matters in it → a piece short enough to read, cut at sentences."""

from __future__ import annotations

from collections.abc import Sequence

from huimem.index.sentences import sentences
from huimem.markup import readable

LONGEST = 800  # characters
CUT = "…"


def excerpt(text: str, evidence: str, limit: int = LONGEST) -> str:
    """`text` whole where it has at most `limit` characters, else whole sentences around `evidence`.

    Grows from the sentences of the evidence to both sides while they fit; a cut side is marked by …,
    which counts. A sentence that alone passes the limit is cut after a word. Block ids and HTML
    comments are left out.
    """
    found = max(text.find(evidence), 0)
    text, (place, beyond) = readable(text, found, found + len(evidence))
    if len(text) <= limit:
        return text
    spans = list(sentences(text))
    last = _holding(spans, max(beyond - 1, place))
    room = limit - 2 * len(CUT)
    start, end = _grown(spans, _holding(spans, place), last, room)
    if end - start > room or end < beyond <= place + room:
        start, end = _clipped(text, max(start, place), room)
    inner = text[start:end].strip()
    return (CUT if text[:start].strip() else "") + inner + (CUT if text[end:].strip() else "")


def _holding(spans: Sequence[tuple[int, int]], at: int) -> int:
    """The index of the span that holds character `at`."""
    return next((i for i, (_, end) in enumerate(spans) if at < end), len(spans) - 1)


def _grown(spans: Sequence[tuple[int, int]], first: int, last: int, room: int) -> tuple[int, int]:
    """Character bounds around spans `first` to `last`, a sentence later and a sentence earlier by turns."""
    while spans[last][1] - spans[first][0] > room and last > first:
        last -= 1
    later = earlier = True
    while later or earlier:
        later = later and last + 1 < len(spans) and spans[last + 1][1] - spans[first][0] <= room
        last += later
        earlier = earlier and first > 0 and spans[last][1] - spans[first - 1][0] <= room
        first -= earlier
    return spans[first][0], spans[last][1]


def _clipped(text: str, start: int, room: int) -> tuple[int, int]:
    """At most `room` characters from `start`, ending after a word where one ends in the last quarter."""
    end = min(start + room, len(text))
    blank = text.rfind(" ", start + room * 3 // 4, end)
    return start, blank if blank > 0 and end < len(text) else end

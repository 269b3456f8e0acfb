"""Text → passages of 40 to 80 words, each one piece of the text as written.

In: a message's text. Out: character spans that cover every word of it, however long it is; cut between
sentences, list items, table rows and blocks of code where that can be.
"""

from __future__ import annotations

from itertools import pairwise

from huimem.index.outline import LEAST, LONGEST, MOST, Border, Outline, outline
from huimem.index.sentences import UNBROKEN, sentences, size

__all__ = ["LEAST", "LONGEST", "MOST", "UNBROKEN", "passages", "sentences", "size"]

WHOLE = MOST + LEAST // 2  # a block of code, a quote, a table or an item up to this size is not cut
CRUMB = LEAST // 2  # a rest below this joins the passage before it


def passages(text: str) -> list[tuple[int, int]]:
    """Spans [start, end) of passages that tile `text`, outer blanks cut off; none for blank text.

    A passage closes when the next part would pass `MOST` units, at the best border behind it, or at a
    paragraph's end once it holds `LEAST`. A block that is read whole may take it to `WHOLE`, what must
    stay together to `LONGEST`. A short rest joins the passage before it, so that no passage is a crumb.
    """
    body = text.rstrip()
    if not body:
        return []
    if _surely_one(body):
        return [_trim(body, 0, len(body))]
    parts = outline(body)
    cuts = _cuts(parts)
    edges = [*(parts.starts[cut] for cut in cuts), len(body)]
    return [_trim(body, a, b) for a, b in pairwise(edges)]


def _surely_one(text: str) -> bool:
    """Whether no rule could make two passages of this: less than a passage and a crumb."""
    most = LEAST + CRUMB
    return len(text) < most or (len(text) < most * UNBROKEN and size(text) < most)


def _cuts(parts: Outline) -> list[int]:
    """The first part of each passage."""
    upto, borders, last = parts.upto, parts.borders, len(parts.starts)
    cuts, first, i = [0], 0, 1
    while i < last:
        before, cut = upto[first], 0
        if borders[i] == Border.PARAGRAPH and upto[i] - before >= LEAST:
            cut = i
        elif upto[i + 1] - before > MOST:
            cut = _best(parts, first, i)
        if cut:
            cuts.append(cut)
            first = i = cut
        i += 1
    if len(cuts) > 1:
        rest = upto[-1] - upto[cuts[-1]]
        if rest < CRUMB and upto[-1] - upto[cuts[-2]] <= LONGEST:
            cuts.pop()
    return cuts


def _best(parts: Outline, first: int, i: int) -> int:
    """Where to close the passage that begins with part `first` and that part `i` overfills; 0: not yet."""
    upto, borders = parts.upto, parts.borders
    if parts.blocks[i] >= 0:
        start, end = parts.spans[parts.blocks[i]]
        while start > first and not borders[start]:
            start -= 1
        if start >= first:
            whole, before = upto[end + 1] - upto[start], upto[start] - upto[first]
            if whole <= WHOLE:
                apart = before >= LEAST or (before >= CRUMB and before + whole > WHOLE)
                return start if apart else 0
    for worse, sizes in ((Border.WORD, (LEAST, CRUMB, 1)), (Border.NEVER, (LEAST, 1))):
        k = i
        for least in sizes:
            found, best = 0, int(worse)
            while k > first and upto[k] - upto[first] >= least:
                if borders[k] > best:
                    found, best = k, borders[k]
                k -= 1
            if found:
                return found
    return 0


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    inner = text[start:end]
    left = len(inner) - len(inner.lstrip())
    return start + left, start + left + len(inner.strip())

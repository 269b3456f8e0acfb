"""Text → the pieces at whose borders it may be cut when it is shown: the parts that passages are made of.

Sentences, list items, rows, lines of code; spans that tile the text.
"""

from __future__ import annotations

from collections.abc import Sequence

from huimem.index.outline import MOST, Border, outline
from huimem.index.sentences import size
from huimem.markup import fences, inside

Span = tuple[int, int]


def pieces(text: str, fenced: Sequence[Span] | None = None) -> list[Span]:
    """Spans of sentences without gaps; a heading, a lead-in or a list number stays with what follows it.

    A code fence of a passage's size is one piece, a longer one is cut at its lines, its fence lines with
    their neighbours. `fenced` are the spans of the fences, where they are known. None for blank text.
    """
    body = text.rstrip()
    if not body:
        return []
    fenced = fences(body) if fenced is None else fenced
    short = [(start + 1, end) for start, end in fenced if size(body[start:end]) <= MOST]
    made = outline(body)
    cuts = [
        start
        for start, border in zip(made.starts, made.borders, strict=True)
        if border >= Border.LINE and start and not inside(short, start)
    ]
    return list(zip([0, *cuts], [*cuts, len(text)], strict=True))

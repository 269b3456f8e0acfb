"""A passage and the question's words → the sentence of it that holds most of them: what a reader must see.

Pure. In: text, weights, phrases. Out: a span of characters, half-open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from huimem.index.sentences import pieces, sentences, size
from huimem.index.tokens import tokenize
from huimem.recall.wording import holds

Span = tuple[int, int]
MOST = 40  # units of a sentence; a longer one is highlighted in part
NONE: Span = (0, 0)


def highlighted(text: str, weights: Mapping[str, float], phrases: Sequence[str] = ()) -> Span:
    """The sentence of a passage that holds most phrases, then most of the words by their weights.

    The first of equals; `NONE` where no sentence holds anything.
    """
    spans = list(_sentences(text))
    values = [_value(text[start:end], weights, phrases) for start, end in spans]
    best = max(values, default=(0, 0.0))
    return spans[values.index(best)] if best > (0, 0.0) else NONE


def _sentences(text: str) -> Iterator[Span]:
    """Spans of sentences, of parts of long ones; of code and tables lines."""
    for start, end in sentences(text):
        yield from pieces(text, start, end, MOST) if size(text[start:end]) > MOST else [(start, end)]


def _value(sentence: str, weights: Mapping[str, float], phrases: Sequence[str]) -> tuple[int, float]:
    held = sum(holds(sentence, phrase) for phrase in phrases)
    # Rounded: the order of a sum is no reason to prefer one sentence.
    return held, round(sum(weights.get(term, 0.0) for term in {*tokenize(sentence)}), 9)

"""Candidates in order of score → the same, with what says again what a better one says moved down.

Maximal marginal relevance (Carbonell and Goldstein, 1998) in the form of a factor: five hits are not one
fact five times, and the order is still that of the scores.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from itertools import chain

import numpy as np

from huimem.recall.rank import LEAST, Floats

# Likeness from which a passage repeats another. Measured: from .7 on down, what several turns say of one
# matter is taken for repetition (BEAM R@5 −.02), at .8 nothing is lost (−.001).
ALIKE = 0.8
_AT_ONCE = 4_096  # words that are compared at once: of a thousand hits they take 64 MB


def repeated(scores: Sequence[float], likeness: Floats, strength: float) -> list[tuple[int, float, int]]:
    """Places in their new order, each with the factor it takes and the place it is most like, else −1.

    `scores` are positive, best first; `likeness` is [n, n], symmetric, 1 for the same. A passage as like
    as `ALIKE` to a better one keeps its score, an equal one loses `strength` of it.
    """
    order: list[tuple[int, float, int]] = []
    worth, left = np.array(scores, np.float64), np.ones(len(scores), bool)
    nearest = np.full(len(scores), -1)
    like = np.zeros(len(scores))
    for _ in scores:
        shares = np.maximum((like - ALIKE) / (1 - ALIKE), 0.0)
        factors = np.maximum(1 - strength * shares, LEAST)
        best = int(np.argmax(np.where(left, worth * factors, -np.inf)))  # of equal ones the first
        order.append((best, float(factors[best]), int(nearest[best])))
        left[best] = False
        nearer = likeness[best] > like
        like, nearest = np.where(nearer, likeness[best], like), np.where(nearer, best, nearest)
    return order


def overlap(held: Sequence[Set[Hashable]]) -> Floats:
    """Shared words of sets of words as a share of all their words (Jaccard): float64 [n, n]."""
    number = {word: at for at, word in enumerate(dict.fromkeys(chain.from_iterable(held)))}
    sizes = np.array([len(one) for one in held], np.int64)
    owners = np.repeat(np.arange(len(held)), sizes)
    words = np.fromiter(map(number.__getitem__, chain.from_iterable(held)), np.int64, len(owners))
    shared = np.zeros((len(held), len(held)))
    for first in range(0, len(number), _AT_ONCE):
        holds = np.zeros((len(held), min(_AT_ONCE, len(number) - first)))
        here = (words >= first) & (words < first + _AT_ONCE)
        holds[owners[here], words[here] - first] = 1.0
        shared += holds @ holds.T
    whole = sizes[:, None] + sizes - shared
    found: Floats = np.divide(shared, whole, out=np.eye(len(held)), where=whole > 0)
    return found

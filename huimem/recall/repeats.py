"""Candidates in order of score → the same, with what says again what a better one says moved down.

Maximal marginal relevance (Carbonell and Goldstein, 1998) in the form of a factor: five hits are not one
fact five times, and the order is still that of the scores.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set

import numpy as np

from huimem.recall.rank import LEAST, Floats

# Likeness from which a passage repeats another. Measured: from .7 on down, what several turns say of one
# matter is taken for repetition (BEAM R@5 −.02), at .8 nothing is lost (−.001).
ALIKE = 0.8


def repeated(scores: Sequence[float], likeness: Floats, strength: float) -> list[tuple[int, float, int]]:
    """Places in their new order, each with the factor it takes and the place it is most like, else −1.

    `scores` are positive, best first; `likeness` is [n, n], symmetric, 1 for the same. A passage as like
    as `ALIKE` to a better one keeps its score, an equal one loses `strength` of it.
    """
    left, order = list(range(len(scores))), []
    nearest = np.full(len(scores), -1)
    like = np.zeros(len(scores))
    while left:
        shares = {at: max(0.0, (float(like[at]) - ALIKE) / (1 - ALIKE)) for at in left}
        factors = {at: max(1 - strength * share, LEAST) for at, share in shares.items()}
        best = max(left, key=lambda at: (scores[at] * factors[at], -at))
        order.append((best, factors[best], int(nearest[best])))
        left.remove(best)
        nearer = likeness[best] > like
        like, nearest = np.where(nearer, likeness[best], like), np.where(nearer, best, nearest)
    return order


def overlap(held: Sequence[Set[Hashable]]) -> Floats:
    """Shared words of sets of words as a share of all their words (Jaccard): float64 [n, n]."""
    found = np.eye(len(held))
    for a, one in enumerate(held):
        for b in range(a):
            whole = len(one | held[b])
            found[a, b] = found[b, a] = len(one & held[b]) / whole if whole else 0.0
    return found

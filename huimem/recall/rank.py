"""Passages under judgement → scores of messages: the ranking, as plain arithmetic on arrays.

A passage's words and its meaning are two shares in [0, 1]; a message has the best of its passages;
its neighbours in the session lend it a part of theirs, since an answer often stands beside the
question that names its topic. The weighted sum goes through one fixed map to `relevance`. No
constant is taken from the candidates, so scores of different weeks and questions can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from huimem.config import Ranking

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Pool:
    """Passages under judgement: parallel arrays [n]; `tokens` is flat, passage i holds starts[i]:ends[i].

    `place` orders the messages of a source: neighbours differ by one.
    """

    rows: Ints
    record: Ints
    source: Ints
    place: Ints
    message: Ints
    at_ms: Ints
    user: NDArray[np.bool_]
    tokens: NDArray[np.uint32]
    starts: Ints
    ends: Ints

    def joined(self, other: Pool) -> Pool:
        """Both pools in one, this one's passages first."""
        shift = len(self.tokens)
        return Pool(
            np.concatenate((self.rows, other.rows)),
            np.concatenate((self.record, other.record)),
            np.concatenate((self.source, other.source)),
            np.concatenate((self.place, other.place)),
            np.concatenate((self.message, other.message)),
            np.concatenate((self.at_ms, other.at_ms)),
            np.concatenate((self.user, other.user)),
            np.concatenate((self.tokens, other.tokens)),
            np.concatenate((self.starts, other.starts + shift)),
            np.concatenate((self.ends, other.ends + shift)),
        )


@dataclass(frozen=True, slots=True)
class Terms:
    """The question's words: index ids (None: nowhere in the index), weights, mean passage length."""

    words: tuple[str, ...]
    ids: tuple[int | None, ...]
    weights: tuple[float, ...]
    mean_length: float


@dataclass(frozen=True, slots=True)
class Scores:
    """Messages with their sums: parallel arrays [m], in order of source and place.

    `best` is the index in the pool of the passage that speaks for the message.
    """

    record: Ints
    source: Ints
    message: Ints
    best: Ints
    words: Floats
    meaning: Floats
    neighbours: Floats

    @property
    def sums(self) -> Floats:
        return self.words + self.meaning + self.neighbours


def weigh(frequencies: Sequence[int], passages: int) -> tuple[float, ...]:
    """Inverse document frequency of BM25 in Lucene's form, never negative: ln(1 + (N − n + .5)/(n + .5))."""
    return tuple(log(1 + (passages - n + 0.5) / (n + 0.5)) for n in frequencies)


def share_of_words(pool: Pool, terms: Terms, ranking: Ranking) -> Floats:
    """BM25 of each passage as a share of the most the question could score: float64 [n] in [0, 1).

    Robertson and Zaragoza 2009 with k1 and b of `ranking`; words that nothing holds count in the
    whole, so a question of unknown words is not answered by its one known one.
    """
    whole = sum(terms.weights) * (ranking.k1 + 1)
    total = np.zeros(len(pool.rows))
    if not whole:
        return total
    length = (pool.ends - pool.starts) / max(terms.mean_length, 1.0)
    damping = ranking.k1 * (1 - ranking.b + ranking.b * length)
    for term, weight in zip(terms.ids, terms.weights, strict=True):
        if term is not None:
            count = counts(pool, term)
            total += weight * count * (ranking.k1 + 1) / (count + damping)
    return total / whole


def counts(pool: Pool, term: int) -> Ints:
    """How often each passage holds a term: int64 [n]."""
    running = np.concatenate(([0], np.cumsum(pool.tokens == term, dtype=np.int64)))
    found: Ints = running[pool.ends] - running[pool.starts]
    return found


def share_of_meaning(cosines: Floats, chance: float, same: float) -> Floats:
    """Cosines on the embedder's own scale: `chance` for unrelated texts is 0, `same` is 1; cut there."""
    return np.clip((cosines - chance) / (same - chance), 0.0, 1.0)


def score(pool: Pool, words: Floats, meaning: Floats, ranking: Ranking) -> Scores:
    """Messages' sums from passages' shares. `words` and `meaning` are [n], parallel to the pool."""
    if not len(pool.rows):
        none, zero = np.zeros(0, np.int64), np.zeros(0)
        return Scores(none, none, none, none, zero, zero, zero)
    order = np.lexsort((pool.rows, pool.place, pool.source))
    source, place = pool.source[order], pool.place[order]
    firsts = np.flatnonzero(np.concatenate(([True], (np.diff(source) != 0) | (np.diff(place) != 0))))
    voice = np.where(pool.user[order], ranking.user_weight, 1.0)
    own_words = np.maximum.reduceat(words[order] * voice, firsts)
    own_meaning = np.maximum.reduceat(meaning[order] * voice, firsts) * ranking.meaning_weight
    best = order[_places_of_best((words + meaning * ranking.meaning_weight)[order], firsts)]
    own = own_words + own_meaning
    lent = _lent(
        own, source[firsts], place[firsts], (ranking.neighbour_weight, ranking.second_neighbour_weight)
    )
    return Scores(pool.record[best], source[firsts], pool.message[best], best, own_words, own_meaning, lent)


def _places_of_best(values: Floats, firsts: Ints) -> Ints:
    """For each group that begins at `firsts`, where its highest value stands; the first of equals."""
    group = np.zeros(len(values), np.int64)
    group[firsts[1:]] = 1
    group = np.cumsum(group)
    order = np.lexsort((np.arange(len(values)), -values, group))
    places: Ints = order[firsts]
    return places


def _lent(own: Floats, source: Ints, place: Ints, shares: Sequence[float]) -> Floats:
    """What messages one, two … places away in the same source lend: float64 [m]."""
    lent = np.zeros(len(own))
    for step, share in enumerate(shares, 1):
        if not share:
            continue
        for reach in range(1, min(step, len(own) - 1) + 1):
            near = (source[reach:] == source[:-reach]) & (place[reach:] - place[:-reach] == step)
            lent[reach:] += share * own[:-reach] * near
            lent[:-reach] += share * own[reach:] * near
    return lent


def relevance(sums: Floats, ranking: Ranking) -> Floats:
    """The fixed, rising map of a sum to (0, 1): s / (s + half); a sum of `half` is .5."""
    return sums / (sums + ranking.half)

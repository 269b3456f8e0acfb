"""Passages under judgement → their relevance: the ranking, as plain arithmetic on arrays.

A passage's words and its meaning are two shares; passages next to it in the session lend it a part of
theirs, since an answer often stands beside the question that names its topic; and the question's words
that stand anywhere near it make at most as much again, since a talk names its subject once. All this is
by passages in reading order, so that one rule serves one-line chats, where the next passage is the next
speaker's, and long answers, where it is the next paragraph. The weighted sum goes through one fixed map
to `relevance`. No constant is taken from the candidates, so scores of different weeks and questions can
be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log

import numpy as np
from numpy.typing import NDArray

from huimem.config import Ranking

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# A question of fewer words than these says nothing that its answer does not.
BRIEF = 12
# A user's passage is a question where nearly all of it asks.
WHOLLY = 0.9
A_MONTH, OLDEST = 30.0, 36_500  # days
LEAST = 0.05  # of any factor but relevance
NEAR = 8  # passages on each side in which the question's words count a little
# The floor is that of the bundled embedder, with its noise; half of what lies below it is meaning.
_USUAL_NOISE, _OF_MEANING = 0.16, 0.5
# Terms of a question from which on its answers are less relevant, and how fast: on the development halves
# the least relevant twentieth of them falls from .44 at ten terms to .35 at fourteen.
_LONG, _FALL = 10, 1.0
_NEAR_K = 0.5  # how fast more passages with the same word stop counting there


@dataclass(frozen=True, slots=True)
class Pool:
    """Passages under judgement in reading order: parallel arrays [n].

    Passage i holds tokens[starts[i]:ends[i]]. `seat` rises; passages next to each other in a session
    differ by one in it, all others by more than twice `NEAR`. `asks` is the share of a passage that
    stands in questions, `script` the number of its script. `title` tells titles from what was said.
    """

    rows: Ints
    record: Ints
    seat: Ints
    message: Ints
    at_ms: Ints
    user: NDArray[np.bool_]
    title: NDArray[np.bool_]
    asks: Floats
    script: Ints
    tokens: NDArray[np.uint32]
    starts: Ints
    ends: Ints

    @property
    def lengths(self) -> Ints:
        return self.ends - self.starts

    def joined(self, other: Pool) -> Pool:
        """Both pools in one, this one's passages first; their seats say nothing any more."""
        shift = len(self.tokens)
        return Pool(
            np.concatenate((self.rows, other.rows)),
            np.concatenate((self.record, other.record)),
            np.concatenate((self.seat, other.seat)),
            np.concatenate((self.message, other.message)),
            np.concatenate((self.at_ms, other.at_ms)),
            np.concatenate((self.user, other.user)),
            np.concatenate((self.title, other.title)),
            np.concatenate((self.asks, other.asks)),
            np.concatenate((self.script, other.script)),
            np.concatenate((self.tokens, other.tokens)),
            np.concatenate((self.starts, other.starts + shift)),
            np.concatenate((self.ends, other.ends + shift)),
        )

    def only(self, at: int) -> Pool:
        """The passage at the place `at`, alone with its words."""
        one = self.ordered(np.array([at]), self.seat[at : at + 1])
        words = self.tokens[self.starts[at] : self.ends[at]]
        return replace(one, tokens=words, starts=np.zeros(1, np.int64), ends=np.array([len(words)]))

    def ordered(self, order: Ints, seat: Ints) -> Pool:
        """The passages at the places `order`, on the seats `seat`."""
        return Pool(
            self.rows[order],
            self.record[order],
            seat,
            self.message[order],
            self.at_ms[order],
            self.user[order],
            self.title[order],
            self.asks[order],
            self.script[order],
            self.tokens,
            self.starts[order],
            self.ends[order],
        )


@dataclass(frozen=True, slots=True)
class Terms:
    """The question's words: index ids (None: nowhere in the index), weights, mean passage length.

    `concepts` numbers what each of them says, () where each says its own; `caps` are the weights of the
    concepts by number. A term weighs as much of its concept as it is trusted to say it.
    """

    words: tuple[str, ...]
    ids: tuple[int | None, ...]
    weights: tuple[float, ...]
    mean_length: float
    concepts: tuple[int, ...] = ()
    caps: tuple[float, ...] = ()

    @property
    def whole(self) -> float:
        """The weight of all that the question says; in another language it says no more."""
        return sum(self.caps or self.weights)

    def together(self, counted: Floats) -> Floats:
        """How often the concept of each term is said, where its terms are said so often: [terms, n]."""
        if not self.concepts:
            return counted
        concepts, caps = np.array(self.concepts), np.array(self.caps)
        said = np.zeros((len(caps), counted.shape[1]))
        np.add.at(said, concepts, np.array(self.weights)[:, None] * counted)
        return np.asarray((said / np.where(caps > 0, caps, 1.0)[:, None])[concepts], np.float64)


@dataclass(frozen=True, slots=True)
class Scores:
    """Summands of the passages of a pool, float64 [n] each: what they are is told by `Factor.parts`.

    `bare` is what a passage has of its own, whoever speaks.
    """

    words: Floats
    meaning: Floats
    neighbours: Floats
    around: Floats
    bare: Floats

    @property
    def sums(self) -> Floats:
        return self.words + self.meaning + self.neighbours + self.around


def weigh(frequencies: Sequence[float], passages: int) -> tuple[float, ...]:
    """Inverse document frequency of BM25 in Lucene's form, never negative: ln(1 + (N − n + .5)/(n + .5))."""
    return tuple(log(1 + (passages - n + 0.5) / (n + 0.5)) for n in frequencies)


def share_of_words(pool: Pool, terms: Terms, ranking: Ranking) -> Floats:
    """BM25 of each passage as a share of the most the question could score: float64 [n] in [0, 1].

    Robertson and Zaragoza 2009 with k1 and b of `ranking`; words that nothing holds count in the
    whole, so a question of unknown words is not answered by its one known one.
    """
    total: Floats = shares_of_words(pool, terms, ranking).sum(axis=0)
    return total


def shares_of_words(pool: Pool, terms: Terms, ranking: Ranking) -> Floats:
    """What each term adds to `share_of_words`, float64 [terms, n]: a concept is said by all its terms."""
    whole = terms.whole * (ranking.k1 + 1)
    held = counts(pool, terms.ids).astype(np.float64)
    if not whole:
        return held * 0.0
    length = pool.lengths / max(terms.mean_length, 1.0)
    damping = ranking.k1 * (1 - ranking.b + ranking.b * length)
    weights = np.array(terms.weights)[:, None] * (ranking.k1 + 1) / whole
    most = np.broadcast_to(terms.together(held) + damping, held.shape)
    # Without damping, k1 0, a word counts once however often it is said, and none that is not.
    return np.asarray(weights * np.divide(held, most, out=np.zeros(held.shape), where=held > 0), np.float64)


def share_around(pool: Pool, terms: Terms) -> Floats:
    """How much of the question's weight stands within `NEAR` passages of each: float64 [n] in [0, 1).

    A word counts by the number s of passages there that hold it, as s / (s + .5).
    """
    if not terms.whole:
        return np.zeros(len(pool.rows))
    first = np.searchsorted(pool.seat, pool.seat - NEAR)
    beyond = np.searchsorted(pool.seat, pool.seat + NEAR, side="right")
    holds = counts(pool, terms.ids) > 0
    running = np.zeros((len(holds), len(pool.rows) + 1))
    np.cumsum(holds, axis=1, out=running[:, 1:])
    near = running[:, beyond] - running[:, first]
    shares = near / (terms.together(near) + _NEAR_K)
    total: Floats = (np.array(terms.weights) / terms.whole) @ shares
    return total


def counts(pool: Pool, terms: Sequence[int | None]) -> Ints:
    """How often each passage holds each term: int64 [terms, n]; 0 for None."""
    found = np.zeros((len(terms), len(pool.rows)), np.int64)
    known = {term: at for at, term in enumerate(terms) if term is not None}
    if not known or not len(pool.tokens):
        return found
    order = np.lexsort((pool.ends, pool.starts))  # of two that begin alike, one is empty: that one first
    places = np.flatnonzero(np.isin(pool.tokens, np.array([*known], np.uint32)))
    owner = order[np.searchsorted(pool.starts[order], places, side="right") - 1]
    owned = (places >= pool.starts[owner]) & (places < pool.ends[owner])
    places, owner = places[owned], owner[owned]
    for term, at in known.items():
        found[at] = np.bincount(owner[pool.tokens[places] == term], minlength=len(pool.rows))
    return found


def share_of_meaning(cosines: Floats, same: float) -> Floats:
    """Centred cosines on the embedder's own scale: 0 for unrelated texts, 1 for as near as answers come."""
    return np.clip(cosines / same, 0.0, 1.0)


def voice(pool: Pool, ranking: Ranking) -> Floats:
    """The weight of who speaks: float64 [n]. What a user told weighs more; a mere question does not."""
    merely_asked = (pool.asks > WHOLLY) & (pool.lengths < BRIEF)
    weights: Floats = np.where(pool.user & ~merely_asked, ranking.user_weight, 1.0)
    return weights


def tells(pool: Pool, ranking: Ranking) -> Floats:
    """The factor of what only asks, float64 [n]: a question put to the user or between people tells nothing.

    In a conversation with an assistant a user's question and its answer are one turn, so it stays.
    """
    lost = np.maximum(1.0 - ranking.asking * pool.asks, LEAST)
    return np.where(pool.user, 1.0, lost)


def score(pool: Pool, words: Floats, meaning: Floats, around: Floats, ranking: Ranking) -> Scores:
    """Weighted summands from passages' shares; all are [n], parallel to the pool."""
    speaks = voice(pool, ranking)
    words, meaning = ranking.words_weight * words, ranking.meaning_weight * meaning
    own_words, own_meaning = words * speaks, meaning * speaks
    lent = _lent(
        own_words + own_meaning, pool.seat, (ranking.neighbour_weight, ranking.second_neighbour_weight)
    )
    # What stands around makes more of a passage and no answer of one that has nothing of its own.
    most = own_words + own_meaning + lent
    around = np.minimum(ranking.around_weight * around, most)
    return Scores(own_words, own_meaning, lent, around, words + meaning)


def _lent(own: Floats, seat: Ints, shares: Sequence[float]) -> Floats:
    """What passages one, two … seats away lend: float64 [n]."""
    lent = np.zeros(len(own))
    for step, share in enumerate(shares, 1):
        if share and step < len(own):
            near = seat[step:] - seat[:-step] == step
            lent[step:] += share * own[:-step] * near
            lent[:-step] += share * own[step:] * near
    return lent


def relevance(sums: Floats, ranking: Ranking) -> Floats:
    """The fixed, rising map of a sum to (0, 1): s / (s + half); a sum of `half` is .5."""
    return sums / (sums + ranking.half)


def recency(at_ms: Ints, now_ms: int, power: float) -> Floats:
    """The factor of age, float64 [n] in (0, 1]: (1 + days / 30) to the power of −`power`.

    Scale-free: of two things on one matter the newer one leads by their ratio of age, were they said last
    week or years ago. What lies in the future is new; what has no time is as old as anything gets.
    """
    days = np.maximum(now_ms - at_ms, 0) // 86_400_000  # whole ones: an hour later the answer is the same
    factors: Floats = (1.0 + np.minimum(days, OLDEST) / A_MONTH) ** -power
    return np.maximum(factors, LEAST)


def floor_of(ranking: Ranking, terms: int, noise: float | None, *, eased: bool) -> float:
    """The relevance that a passage of an answer must have by itself, in [0, 1).

    `terms` of the question: of a long one no passage holds much. `noise` is how near an embedder puts what
    is unrelated (see `Scale`), None where words answer alone: one that puts it farther away asks for less.
    It is `eased` for a time that is named, which makes what lies in it likelier, and for a piece of talk,
    which asks for whatever has to do with it.
    """
    floor = ranking.words_floor
    if noise is not None:
        floor = ranking.floor * (1 - _OF_MEANING + _OF_MEANING * min(noise / _USUAL_NOISE, 1.5))
    if terms > _LONG:
        floor *= (_LONG / terms) ** _FALL
    return floor * ranking.eased_floor if eased else floor

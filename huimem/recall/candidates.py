"""A Query → the passages worth judging, judged.

Words and meaning each find their best; both are then scored exactly over the union, with what stands
around whatever leads, so that no score depends on which of the two found a passage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from huimem.config import Ranking
from huimem.index.centring import Centre
from huimem.index.lexical import Matches
from huimem.index.meaning import Meaning
from huimem.index.rows import Passages
from huimem.recall import rank
from huimem.recall.parts import Part
from huimem.recall.rank import NEAR, Floats, Ints, Pool, Scores, Terms
from huimem.recall.wanting import Wanting

# What holds the words is judged, all of it up to `MOST_BY_WORDS`; of more only so many for each hit, at
# least `LEAST_BY_WORDS`: among 27,820 passages twice as many change no answer, three fifths lose vague ones.
FOR_A_HIT, LEAST_BY_WORDS, MOST_BY_WORDS = 5, 500, 1_000
# Of a walk the best of every step are judged besides, so that no week's answer is crowded out by another
# week's: so many of each, and together no more than a recall may judge.
FOR_A_STEP, MOST_FOR_STEPS = 50, 500
FOUND_BY_A_WALK = 20_000  # that hold the words, of which these are the best
FOUND_BY_PHRASE = 5_000  # most of what holds its words holds them apart
FOUND_BY_MEANING = 100  # of each script
# Records whose surroundings are looked at: so many, or as many as the hits and so many beyond.
LEADERS, MORE_LEADERS = 40, 20
# Of a walk some of each step besides, the latest steps first: these it is the likeliest to come to.
LEADERS_OF_A_STEP, LEADERS_OF_STEPS = 2, 24
LENDING = 2  # passages on each side that lend
REACH = NEAR + LENDING  # passages on each side of a leader that are read
_RECORDS = 3  # on each side, read first: most turns are long enough for `REACH` passages
_FARTHEST = 16 * REACH  # records on each side that are looked through where some hold no passage
_APART = 4 * NEAR  # between the seats of passages that are not next to each other

Spans = Sequence[tuple[int, int]]


def frequencies(parts: Sequence[Part], terms: Sequence[str]) -> list[int]:
    """In how many passages of the namespaces asked of all parts each term stands."""
    held = sum((_held(part, terms, _gone(part)) for part in parts), np.zeros(len(terms), np.int64))
    return [int(count) for count in held]


def weighed_terms(parts: Sequence[Part], wanting: Wanting) -> list[Terms]:
    """The words looked for with the weights they have in the namespaces asked of all parts.

    One for each part: in their numbers of words alone they differ.
    """
    counted = [_counts(part, wanting.terms) for part in parts]
    passages, tokens = sum(one[0] for one in counted), sum(one[1] for one in counted)
    held = sum((one[2] for one in counted), np.zeros(len(wanting.terms), np.int64))
    weights, concepts, caps = _weights(wanting, held, passages)
    length = tokens / passages if passages else 1.0
    return [
        Terms(wanting.terms, tuple(part.snapshot.term_ids(wanting.terms)), weights, length, concepts, caps)
        for part in parts
    ]


def _weights(
    wanting: Wanting, held: Ints, passages: int
) -> tuple[tuple[float, ...], tuple[int, ...], tuple[float, ...]]:
    """Weights of the terms, the number of the concept that each says, and the weights of the concepts.

    A word is as rare as it and its translations are together; these weigh what it weighs, as far as
    they are trusted. Of a question without translations every word is its own concept: (), ().
    """
    place = {term: at for at, term in enumerate(wanting.terms)}
    stands_for = {place[term]: [place[one] for one in own] for term, own in wanting.stands_for.items()}
    said = held.astype(np.float64)
    concepts = list(range(len(held)))
    for at, own in stands_for.items():
        said[own] += wanting.trust[at] * held[at]
        for one in (at, *own):
            concepts[one] = own[0]
    rarity = rank.weigh(np.minimum(said, passages).tolist(), passages)
    rarities = [sum(rarity[one] for one in stands_for.get(at, (at,))) for at in range(len(held))]
    weights = tuple(rare * trust for rare, trust in zip(rarities, wanting.trust, strict=True))
    if not stands_for:
        return weights, (), ()
    whole = [0.0] * len(weights)
    for at, weight in enumerate(weights):
        whole[concepts[at]] += 0.0 if at in stands_for else weight
    return weights, tuple(concepts), tuple(whole)


def _counts(part: Part, terms: Sequence[str]) -> tuple[int, int, Ints]:
    """Passages and words of a part, and how many passages hold each term; what is hidden does not count."""
    passages, tokens = part.snapshot.totals(part.narrowed.namespaces)
    gone = _gone(part)
    if gone is not None:
        passages, tokens = passages - len(gone.rows), tokens - len(gone.tokens)
    return passages, tokens, _held(part, terms, gone)


def _gone(part: Part) -> Passages | None:
    """The passages of a part that the files no longer hold; None where nothing is hidden."""
    if not part.narrowed.hidden:
        return None
    return part.snapshot.passages(part.snapshot.hidden_rows(part.narrowed))


def _held(part: Part, terms: Sequence[str], gone: Passages | None) -> Ints:
    """How many passages of a part hold each term, those that are `gone` not counted: int64 [terms]."""
    found = np.array(part.snapshot.frequencies(terms, part.narrowed.namespaces), np.int64)
    if gone is None:
        return found
    owner = np.repeat(np.arange(len(gone.rows)), gone.lengths)
    ids = part.snapshot.term_ids(terms)
    held = [0 if id is None else len(np.unique(owner[gone.tokens == id])) for id in ids]
    return found - np.array(held, np.int64)


@dataclass(frozen=True, slots=True)
class Judged:
    """Passages in reading order with what each scores; all arrays are parallel to the pool.

    `centre`: how their meaning was compared, None where words alone were.
    """

    pool: Pool
    scores: Scores
    relevance: Floats
    centre: Centre | None


class Judge:
    """One question before one snapshot of the index: judges rows by words and meaning, for `limit` hits.

    `steps` are those of a walk, half-open in milliseconds, none of which may be passed over.
    """

    def __init__(
        self,
        part: Part,
        terms: Terms,
        ranking: Ranking,
        meaning: Meaning | None,
        limit: int,
        *,
        steps: Spans = (),
    ) -> None:
        self._snapshot = part.snapshot
        self._narrowed = part.narrowed
        self._terms = terms
        self._ranking = ranking
        self._meaning = meaning
        self._limit = limit
        self._steps = steps
        self._centre = self._centred(meaning)

    def _centred(self, meaning: Meaning | None) -> Centre | None:
        if meaning is None:
            return None
        return self._snapshot.centre(meaning.vector, meaning.script, meaning.scale, self._narrowed)

    def found(self, wanting: Wanting) -> Ints:
        """Rows that pass the filter and that words or meaning point at: int64, unique, ascending."""
        if wanting.needed:
            return self._holding(wanting)
        found = [self._by_words(wanting)]
        if self._centre is not None:
            towards = self._centre.towards
            found += [
                self._snapshot.nearest(towards, self._narrowed, FOUND_BY_MEANING, script)[0]
                for script in self._centre.means
            ]
        return np.unique(np.concatenate(found))

    def _by_words(self, wanting: Wanting) -> Ints:
        """Rows that words point at, in no order."""
        if wanting.phrases:
            return self._snapshot.find(wanting.terms, self._narrowed, FOUND_BY_PHRASE)
        most = FOUND_BY_A_WALK if self._steps else MOST_BY_WORDS
        found = self._snapshot.matches(wanting.terms, self._narrowed, most)
        if len(found.rows) < MOST_BY_WORDS:
            return found.rows
        best = found.rows[: max(LEAST_BY_WORDS, FOR_A_HIT * self._limit)]
        return np.concatenate((best, best_of_each(found, self._steps))) if self._steps else best

    def _holding(self, wanting: Wanting) -> Ints:
        """Rows of records that may hold every phrase: one passage with all its words, or with the rarest.

        A phrase may lie across the border of two passages, which hold a part of its words each.
        """
        by_phrase = []
        for words in wanting.needed:
            held = self._snapshot.frequencies(words, self._narrowed.namespaces)
            rarest = words[held.index(min(held))]
            found = [
                self._snapshot.find(wanting.terms, self._narrowed, FOUND_BY_PHRASE, every)
                for every in dict.fromkeys((words, (rarest,)))
            ]
            by_phrase.append(np.concatenate(found))
        passages = self._snapshot.passages(np.unique(np.concatenate(by_phrase)))
        fitting = np.ones(len(passages.rows), bool)
        for rows in by_phrase:
            fitting &= np.isin(passages.record, passages.record[np.isin(passages.rows, rows)])
        return passages.rows[fitting]

    def judge(self, rows: Ints) -> Judged:
        """Exact scores of the passages `rows` and of those around the leaders, with what each lends."""
        pool = _pool(self._snapshot.passages(rows))
        words, meaning = rank.share_of_words(pool, self._terms, self._ranking), self._nearness(pool)
        first = rank.score(pool, words, meaning, np.zeros(len(words)), self._ranking)
        near = self._surroundings(pool, first.sums * rank.tells(pool, self._ranking))
        beside = _pool(self._snapshot.passages(np.setdiff1d(near.rows, pool.rows)))
        more = rank.share_of_words(beside, self._terms, self._ranking)
        words, meaning = np.concatenate((words, more)), np.concatenate((meaning, self._nearness(beside)))
        whole = pool.joined(beside)
        order, seats = near.order(whole.rows)
        whole, words, meaning = whole.ordered(order, seats), words[order], meaning[order]
        around = rank.share_around(whole, self._terms)
        scores = rank.score(whole, words, meaning, around, self._ranking)
        return Judged(whole, scores, rank.relevance(scores.sums, self._ranking), self._centre)

    def _nearness(self, pool: Pool) -> Floats:
        """Meaning of each passage as a share of the nearest; more where no word of the question can match."""
        if self._meaning is None or self._centre is None:
            return np.zeros(len(pool.rows))
        cosines = self._snapshot.nearness(self._centre, pool.rows)
        shares = rank.share_of_meaning(cosines, self._meaning.scale.same)
        return shares * np.where(pool.script == self._centre.script, 1.0, self._ranking.foreign_weight)

    def _surroundings(self, pool: Pool, scores: Floats) -> Seated:
        """The passages at most `REACH` from those of the leaders, these included."""
        best = np.argsort(-scores, kind="stable")
        _, firsts = np.unique(pool.record[best], return_index=True)
        firsts = best[np.sort(firsts)]
        leading = firsts[: max(LEADERS, self._limit + MORE_LEADERS)]
        leaders = np.union1d(
            pool.record[leading], pool.record[firsts[self._leading_a_step(pool.at_ms[firsts])]]
        )
        led = np.isin(pool.record, leaders)
        near, reach = self._snapshot.around(leaders, _RECORDS), REACH
        while reach <= _FARTHEST and len(lacking := _seated(near).lacking(pool.rows[led])):
            records = np.unique(pool.record[np.isin(pool.rows, lacking)])
            farther = self._snapshot.around(records, reach)
            near = (
                np.concatenate((near[0], farther[0])),
                np.concatenate((near[1], farther[1])),
                np.concatenate((near[2], farther[2])),
            )
            if (farther[0] >= 0).all():  # as many records hold as many passages; what lacks ends there
                break
            reach *= 4
        return _seated(self._standing(near)).close_to(pool.rows[led])

    def _leading_a_step(self, at_ms: Ints) -> NDArray[np.bool_]:
        """Which of passages, best first, are among the first of their step; `LEADERS_OF_STEPS` in all."""
        step = step_of(at_ms, self._steps)
        place = places_of(step)
        order = np.lexsort((-step, place))
        chosen = np.zeros(len(step), bool)
        chosen[order[(step >= 0)[order] & (place[order] < LEADERS_OF_A_STEP)][:LEADERS_OF_STEPS]] = True
        return chosen

    def _standing(self, near: tuple[Ints, Ints, Ints]) -> tuple[Ints, Ints, Ints]:
        """Without rows that the files no longer hold: what is gone lends nothing."""
        if not self._narrowed.hidden:
            return near
        gone = np.isin(near[0], self._snapshot.hidden_rows(self._narrowed))
        return np.where(gone, -1, near[0]), near[1], near[2]


def best_of_each(found: Matches, steps: Spans) -> Ints:
    """Rows of the likeliest `FOR_A_STEP` of every step, fewer where there are many steps.

    `steps` are half-open in milliseconds and do not overlap, in any order. Of equally likely chunks the
    latest comes first: where they stand in the index says nothing.
    """
    each = min(FOR_A_STEP, -(-MOST_FOR_STEPS // max(len(steps), 1)))
    ordered = found.only(np.lexsort((found.rows, -found.at_ms, -found.scores)))
    step = step_of(ordered.at_ms, steps)
    return ordered.rows[(step >= 0) & (places_of(step) < each)]


def step_of(at_ms: Ints, steps: Spans) -> Ints:
    """The number of the step in which each time lies, counted from the earliest, −1 for none: int64."""
    if not steps:
        return np.full(len(at_ms), -1)
    starts, ends = np.array(sorted(steps), np.int64).T
    step = np.searchsorted(starts, at_ms, side="right") - 1
    return np.where(at_ms < ends[step], step, -1)


def places_of(of: Ints) -> Ints:
    """The place of each among those before it of the same number: int64, from 0."""
    order = np.argsort(of, kind="stable")
    places = np.empty(len(of), np.int64)
    places[order] = np.arange(len(of)) - np.searchsorted(of[order], of[order])
    return places


@dataclass(frozen=True, slots=True)
class Seated:
    """Passages in reading order: parallel arrays; next to each other is what has seats that differ by one."""

    rows: Ints
    seats: Ints

    def lacking(self, rows: Ints) -> Ints:
        """Those of `rows` with fewer than `REACH` passages beside them on one side."""
        run = np.cumsum(np.diff(self.seats, prepend=self.seats[:1]) > 1)
        first, beyond = np.searchsorted(run, run), np.searchsorted(run, run, side="right")
        place = np.arange(len(run))
        short = (place - first < REACH) | (beyond - 1 - place < REACH)
        return np.intersect1d(self.rows[short], rows)

    def close_to(self, rows: Ints) -> Seated:
        """The passages at most `REACH` seats from one of `rows`."""
        led = self.seats[np.isin(self.rows, rows)]
        if not len(led):
            return Seated(self.rows[:0], self.seats[:0])
        at = np.searchsorted(led, self.seats).clip(0, len(led) - 1)
        near = np.minimum(abs(led[at] - self.seats), abs(self.seats - led[np.maximum(at - 1, 0)])) <= REACH
        return Seated(self.rows[near], self.seats[near])

    def order(self, rows: Ints) -> tuple[Ints, Ints]:
        """How to put `rows` into reading order, and their seats then; others follow, each by itself."""
        beyond = self.seats[-1] if len(self.seats) else 0
        seats = beyond + _APART * (1 + np.arange(len(rows)))
        by_row = np.argsort(self.rows)
        at = np.searchsorted(self.rows[by_row], rows).clip(0, max(len(self.rows) - 1, 0))
        if len(self.rows):
            known = self.rows[by_row][at] == rows
            seats = np.where(known, self.seats[by_row][at], seats)
        order = np.argsort(seats, kind="stable")
        return order, seats[order]


def _seated(near: tuple[Ints, Ints, Ints]) -> Seated:
    """Rows with their sources and records' places, any order, repeats allowed; −1 is a record without any."""
    rows, sources, places = near
    order = np.lexsort((rows, places, sources))
    rows, sources, places = rows[order], sources[order], places[order]
    once = np.diff(rows, prepend=-2) != 0
    once |= (np.diff(sources, prepend=-1) != 0) | (np.diff(places, prepend=-1) != 0)
    rows, sources, places = rows[once], sources[once], places[once]
    follows = (np.diff(sources, prepend=-1) == 0) & (np.diff(places, prepend=-1) <= 1)
    seats = np.cumsum(np.where(follows, rows >= 0, _APART))
    return Seated(rows[rows >= 0], seats[rows >= 0])


def _pool(found: Passages) -> Pool:
    return Pool(
        found.rows,
        found.record,
        np.arange(len(found.rows), dtype=np.int64) * _APART,
        found.message,
        found.at_ms,
        found.user,
        found.titles,
        found.asks,
        found.script,
        found.tokens,
        found.offsets[:-1],
        found.offsets[1:],
    )

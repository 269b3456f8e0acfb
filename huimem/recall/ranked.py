"""What was judged → one order: the best passage of each record, with its score, over all that is searched.

The order is that of the scores, and a score is the product of the factors that explain it.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from huimem.index.meaning import Meaning
from huimem.index.rows import RecordRow
from huimem.markup import searchable
from huimem.recall import rank
from huimem.recall.candidates import Judge, Judged, Spans, places_of, step_of, weighed_terms
from huimem.recall.context import Found
from huimem.recall.explain import Circumstances, Evidence, relevance_of
from huimem.recall.highlight import highlighted
from huimem.recall.leaving_out import texts_of
from huimem.recall.parts import Part
from huimem.recall.rank import Ints
from huimem.recall.wanting import Wanting
from huimem.recall.wording import holds, shut_out
from huimem.records import Factor

# The share of the floor that the others of an answer must have, once its best has all of it.
BESIDE_THE_BEST = 0.5
_BEST_OF_A_STEP = 2  # of which importance may lift one above the other


@dataclass(frozen=True, slots=True)
class Ranked:
    """A record that may answer, by the passage that speaks for it: the one at `at` of what was judged.

    `factors` are all but relevance; `at_ms` is UNDATED where the passage has no time.
    """

    part: Part
    evidence: Evidence
    at: int
    record: RecordRow
    factors: tuple[Factor, ...]

    @property
    def row(self) -> int:
        return int(self.evidence.judged.pool.rows[self.at])

    @property
    def at_ms(self) -> int:
        return int(self.evidence.judged.pool.at_ms[self.at])

    @property
    def is_title(self) -> bool:
        return bool(self.evidence.judged.pool.title[self.at])

    @property
    def relevance(self) -> float:
        return float(self.evidence.judged.relevance[self.at])

    @property
    def score(self) -> float:
        return self.relevance * prod(factor.value for factor in self.factors)

    def numbers(self) -> list[int]:
        """The terms of the passage by their numbers in its part, each once, ascending."""
        pool = self.evidence.judged.pool
        held: list[int] = np.unique(pool.tokens[pool.starts[self.at] : pool.ends[self.at]]).tolist()
        return held

    def words(self) -> list[str]:
        """The terms of the passage, each once, in no order."""
        return self.part.snapshot.terms(self.numbers())

    def found(self) -> Found:
        """The same as it is shown, with its reasons."""
        message = int(self.evidence.judged.pool.message[self.at])
        factors = (relevance_of(self.evidence, self.at), *self.factors)
        chunk, terms = self.part.snapshot.chunk(self.row), self.evidence.terms
        weights = dict(zip(terms.words, terms.weights, strict=True))
        highlight = highlighted(searchable(chunk.text), weights, self.evidence.phrases)
        return Found(self.record, message, chunk, factors, highlight=highlight)


@dataclass(frozen=True, slots=True)
class Order:
    """Candidates, best first, none of which is an answer where `best` is below the `floor`.

    `best` is the greatest relevance that a passage has by itself, without its voice and what surrounds it:
    that tells best whether anything answers at all.
    """

    candidates: tuple[Ranked, ...] = ()
    best: float = 0.0
    floor: float = 0.0

    @property
    def answers(self) -> tuple[Ranked, ...]:
        """The candidates that may be shown."""
        return self.candidates if self.best >= self.floor else ()


def in_order(candidates: Sequence[Ranked]) -> list[Ranked]:
    """The best first, ties by ref."""
    # Sums of floats differ in the last digits by the place of a row; equal texts are equal hits.
    return sorted(candidates, key=lambda one: (-round(one.score, 9), one.record.ref))


def ranked(
    parts: Sequence[Part],
    wanting: Wanting,
    meaning: Meaning | None,
    circumstances: Circumstances,
    limit: int,
    most: int,
    *,
    steps: Spans = (),
) -> Order:
    """The best records of all parts, best first, at most `most` of each, no two passages of one record.

    `limit` of them are to be shown. Of a walk, so many of all that it may end with, each of its `steps` is
    judged. Only what holds every phrase and nothing that is excluded; that it stands there is enough of a
    phrase.
    """
    ranking = circumstances.ranking
    floor = circumstances.floor(wanting.length, meaning)
    floor = 0.0 if wanting.phrases else floor
    found: list[Ranked] = []
    best = 0.0
    for part, terms in zip(parts, weighed_terms(parts, wanting), strict=True):
        judge = Judge(part, terms, ranking, meaning, limit, steps=steps)
        pointed_at = judge.found(wanting)
        judged = judge.judge(pointed_at)
        likely = _fitting(part, judged, _likely(judged, part, pointed_at), wanting)
        bare = rank.relevance(judged.scores.bare[likely], ranking)
        best = max(best, float(bare.max(initial=0.0)))
        enough = likely[judged.relevance[likely] >= floor * BESIDE_THE_BEST]
        evidence = Evidence(judged, terms, wanting.spoken, ranking, wanting.phrases)
        leading = _leading(judged, enough, circumstances)
        found += _best(
            part,
            evidence,
            circumstances,
            leading[lasting(judged.pool.at_ms[leading], steps, most, _BEST_OF_A_STEP)],
        )
    return Order(tuple(in_order(found)), best, floor)


def _best(part: Part, evidence: Evidence, circumstances: Circumstances, chosen: Ints) -> list[Ranked]:
    """The records of one part by their passages at `chosen`, roughly the best first."""
    judged, snapshot = evidence.judged, part.snapshot
    records = {row.id: row for row in snapshot.records(judged.pool.record[chosen].tolist())}
    tells = rank.tells(judged.pool, circumstances.ranking)[chosen].tolist()
    recent = circumstances.recency(judged.pool.at_ms[chosen]).tolist()
    return [
        Ranked(part, evidence, at, record, tuple(circumstances.of(judged, at, record, told, new)))
        for at, told, new in zip(chosen.tolist(), tells, recent, strict=True)
        if (record := records.get(int(judged.pool.record[at]))) is not None
    ]


def _likely(judged: Judged, part: Part, passing: Ints) -> Ints:
    """The places of passages that are relevant at all and pass the filter; the rows `passing` surely do."""
    rows, relevant = judged.pool.rows, judged.relevance > 0
    known = np.isin(rows, passing)
    others = part.snapshot.passing(rows[relevant & ~known], part.narrowed)
    return np.flatnonzero(relevant & (known | np.isin(rows, others)))


def _leading(judged: Judged, kept: Ints, circumstances: Circumstances) -> Ints:
    """Of the passages kept, the best of each record, best first."""
    pool = judged.pool
    value = judged.relevance * rank.tells(pool, circumstances.ranking) * circumstances.recency(pool.at_ms)
    order = kept[np.lexsort((pool.rows[kept], -value[kept]))]
    _, firsts = np.unique(pool.record[order], return_index=True)
    return order[np.sort(firsts)]


def lasting(at_ms: Ints, steps: Spans, most: int, of_each: int = 0) -> slice | list[int]:
    """Which of passages, the best first, may be in an answer, by their times: the first `most`.

    Of a walk the first `most` of each answer that it may end with, from its latest step to any other, and
    the first `of_each` step.
    """
    if not steps:
        return slice(most)
    kept: list[int] = []
    before: list[int] = []
    step = step_of(at_ms, steps)
    for at, (number, place) in enumerate(zip(step.tolist(), places_of(step).tolist(), strict=True)):
        later = len(before) - bisect_left(before, number)
        if number >= 0 and (later < most or place < of_each):
            kept.append(at)
        insort(before, number)
    return kept


def _fitting(part: Part, judged: Judged, likely: Ints, wanting: Wanting) -> Ints:
    """Of the places of passages those whose record holds every phrase, and nothing that is excluded.

    Where passages of a record hold phrases themselves, those that hold most of them speak for it.
    """
    if not wanting.phrases and not wanting.excluded:
        return likely
    records = judged.pool.record[likely]
    rows = part.snapshot.records(np.unique(records).tolist())
    fit = [row.id for row, text in zip(rows, texts_of(part, rows), strict=True) if _fits(text, wanting)]
    fitting = likely[np.isin(records, fit)]
    texts = part.snapshot.said(judged.pool.rows[fitting].tolist()) if wanting.phrases else []
    held = np.array([sum(holds(text, phrase) for phrase in wanting.phrases) for text in texts], np.int64)
    return fitting[held == _most(held, judged.pool.record[fitting])] if texts else fitting


def _most(counts: Ints, groups: Ints) -> Ints:
    """For each of the counts the greatest one of its group, int64 [n]."""
    _, which = np.unique(groups, return_inverse=True)
    greatest = np.zeros(which.max(initial=-1) + 1, np.int64)
    np.maximum.at(greatest, which, counts)
    most: Ints = greatest[which]
    return most


def _fits(text: str, wanting: Wanting) -> bool:
    return all(holds(text, phrase) for phrase in wanting.phrases) and not shut_out(text, wanting.excluded)

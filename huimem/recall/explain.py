"""What was measured → the named factors of a hit, with the words that say why.

`relevance` is the mapped sum of the ranking; every other factor lies in [.05, 3] with 1 neutral, and one
that is exactly 1 is left out, but for `time`, which says how a hit fits the time that was asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from huimem.config import Ranking
from huimem.index.meaning import Meaning
from huimem.index.rows import RecordRow
from huimem.recall import rank
from huimem.recall.candidates import Judged
from huimem.recall.rank import Floats, Ints, Terms
from huimem.records import Factor

MOST = 3.0  # of every factor but relevance
Spans = tuple[tuple[int, int], ...]
_NAMED = 5  # matched words named in a note


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What decides a score besides relevance, as the question has it.

    `named` are its ranges in milliseconds UTC, half-open, () where it names none; `spans` the same with
    what "about" adds; `now_ms` when it is asked; `latest`: it asks for what holds now;
    `pasted`: it is a piece of talk.
    """

    named: Spans
    spans: Spans
    now_ms: int
    latest: bool
    ranking: Ranking
    pasted: bool = False

    def floor(self, terms: int, meaning: Meaning | None) -> float:
        """The relevance that the best of an answer must have."""
        noise = meaning.scale.noise if meaning and self.ranking.meaning_weight else None
        return rank.floor_of(self.ranking, terms, noise, eased=self.pasted or bool(self.spans))

    def recency(self, at_ms: Ints) -> Floats:
        """The factor of age of each time, float64 [n]; none where the question names its time."""
        power = self.ranking.latest if self.latest else self.ranking.recency
        if self.named:
            return np.ones(len(at_ms))
        return rank.recency(at_ms, self.now_ms, power)

    def of(self, judged: Judged, at: int, record: RecordRow, tells: float, recent: float) -> Iterator[Factor]:
        """The factors besides relevance of the passage at index `at`; those of asking and of age are given.

        They are made for all passages at once: a walk has a thousand.
        """
        if self.spans:
            at_ms = int(judged.pool.at_ms[at])
            said, about = (was_said(at_ms, record, spans) for spans in (self.named, self.spans))
            held = record.fact and not said and _held(record, self.spans)
            yield fits_time(said, about, self.ranking.speaks_of, held=held)
        if tells < 1:
            yield _bounded("asking", tells, "a question tells nothing")
        if recent < 1 and not record.fact:
            yield _bounded("recency", recent, "the latest is asked for" if self.latest else "")
        if record.importance != 1.0 and self.ranking.importance:
            # By default its root: an instruction that barely fits must not stand above what answers.
            yield _bounded("importance", record.importance**self.ranking.importance, record.kind)


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that explains the relevance of passages: what they score, and the question's words.

    `spoken` gives each term the word it was asked as; `phrases` must stand in an answer as they are.
    """

    judged: Judged
    terms: Terms
    spoken: Mapping[str, str]
    ranking: Ranking
    phrases: tuple[str, ...] = ()


def relevance_of(evidence: Evidence, at: int) -> Factor:
    """The relevance of the passage at index `at`, with its summands and the words that matched."""
    scores = evidence.judged.scores
    parts = {
        "words": float(scores.words[at]),
        "meaning": float(scores.meaning[at]),
        "neighbours": float(scores.neighbours[at]),
        "around": float(scores.around[at]),
    }
    value = float(evidence.judged.relevance[at])
    return Factor("relevance", value, _note(parts, _matched(evidence, at, parts["words"])), parts)


def fits_time(said: bool, about: bool, speaks_of: float, *, held: bool = False) -> Factor:
    """The time factor: said in a range, said in the margin that "about" gives it, or only speaking of it.

    A fact may have `held` then.
    """
    if said:
        return Factor("time", 1.0, "said then")
    note = "held then" if held else "said about then" if about else "speaks of it"
    return _bounded("time", speaks_of, note)


def _held(record: RecordRow, spans: Spans) -> bool:
    """Whether a fact held at some time in one of the ranges."""
    return any(
        (record.valid_from is None or record.valid_from < end)
        and (record.valid_to is None or record.valid_to > start)
        for start, end in spans
    )


def was_said(at_ms: int, record: RecordRow, spans: Spans) -> bool:
    """Whether a message was said in one of the ranges; guessed times were said in none."""
    return not record.inferred and any(start <= at_ms < end for start, end in spans)


def _bounded(name: str, value: float, note: str) -> Factor:
    return Factor(name, min(MOST, max(rank.LEAST, value)), note)


def _matched(evidence: Evidence, at: int, whole: float) -> list[str]:
    """The question's words that the passage holds, with their shares, the heaviest first, as asked.

    The lightest of many are one entry, so that all shares make the whole.
    """
    one = evidence.judged.pool.only(at)
    shares = rank.shares_of_words(one, evidence.terms, evidence.ranking)[:, 0]
    total = shares.sum()
    if not total:
        return []
    summed: dict[str, float] = {}
    for share, term in zip(shares.tolist(), evidence.terms.words, strict=True):
        word = evidence.spoken.get(term, term)
        summed[word] = summed.get(word, 0.0) + share / total * whole
    named = sorted(((word, share) for word, share in summed.items() if share), key=lambda one: -one[1])
    rest = named[_NAMED:]
    if len(rest) > 1:
        named[_NAMED:] = [(f"{len(rest)} more", sum(share for _, share in rest))]
    return [f"{word} {share:.2f}" for word, share in named]


def _note(parts: Mapping[str, float], matched: list[str]) -> str:
    named = f" ({', '.join(matched)})" if matched else ""
    said = {"words": f"words {parts['words']:.2f}{named}"}
    shown = [said.get(name, f"{name} {value:.2f}") for name, value in parts.items() if value >= 0.005]
    return " · ".join(shown)

"""What was measured → the named factors of a hit, with the words that say why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from huimem.index.rows import RecordRow
from huimem.recall.rank import Pool, Scores, Terms
from huimem.records import Factor

LEAST, MOST = 0.05, 3.0  # bounds of every factor but relevance
Spans = tuple[tuple[int, int], ...]
_NAMED = 4  # matched words named in a note


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that explains the messages of one answer: the pool, its scores, the question's words.

    `spoken` gives each term the word it was asked as; `named` are the question's ranges in milliseconds
    UTC, half-open, () where it names none; `spans` the same with what "about" adds. `speaks_of` is the
    time factor of what was not said in a range that is named.
    """

    pool: Pool
    scores: Scores
    terms: Terms
    spoken: Mapping[str, str]
    named: Spans
    spans: Spans
    speaks_of: float


def factors(evidence: Evidence, at: int, relevance: float, record: RecordRow) -> tuple[Factor, ...]:
    """The factors of the message at index `at` of the scores; their product is the hit's score."""
    scores = evidence.scores
    parts = {
        "words": float(scores.words[at]),
        "meaning": float(scores.meaning[at]),
        "neighbours": float(scores.neighbours[at]),
    }
    first = Factor("relevance", relevance, _note(parts, _matched(evidence, at)), parts)
    return (first, *circumstances(evidence, at, record))


def circumstances(evidence: Evidence, at: int, record: RecordRow) -> tuple[Factor, ...]:
    """The factors besides relevance: how it fits the time asked for, what kind of record it is."""
    found = []
    if evidence.spans:
        at_ms = int(evidence.pool.at_ms[evidence.scores.best[at]])
        said, about = (was_said(at_ms, record, spans) for spans in (evidence.named, evidence.spans))
        found.append(fits_time(said, about, evidence.speaks_of))
    if record.importance != 1.0:
        # Its root: an instruction that barely fits must not stand above what answers the question.
        found.append(Factor("importance", min(MOST, max(LEAST, record.importance**0.5)), record.kind))
    return tuple(found)


def fits_time(said: bool, about: bool, speaks_of: float) -> Factor:
    """The time factor: said in a range, said in the margin that "about" gives it, or only speaking of it."""
    if said:
        return Factor("time", 1.0, "said then")
    return Factor("time", min(MOST, max(LEAST, speaks_of)), "said about then" if about else "speaks of it")


def was_said(at_ms: int, record: RecordRow, spans: Spans) -> bool:
    """Whether a message was said in one of the ranges; guessed times were said in none."""
    return not record.inferred and any(start <= at_ms < end for start, end in spans)


def _matched(evidence: Evidence, at: int) -> list[str]:
    """The question's words that the evidence holds, heaviest first, as they were asked."""
    pool, terms = evidence.pool, evidence.terms
    place = int(evidence.scores.best[at])
    held = set(pool.tokens[pool.starts[place] : pool.ends[place]].tolist())
    weighed = [
        (weight, word)
        for word, term, weight in zip(terms.words, terms.ids, terms.weights, strict=True)
        if term in held
    ]
    weighed.sort(key=lambda pair: -pair[0])
    return list(dict.fromkeys(evidence.spoken.get(word, word) for _, word in weighed))[:_NAMED]


def _note(parts: Mapping[str, float], matched: list[str]) -> str:
    named = f" ({', '.join(matched)})" if matched else ""
    said = {"words": f"words {parts['words']:.2f}{named}"}
    shown = [said.get(name, f"{name} {value:.2f}") for name, value in parts.items() if value >= 0.005]
    return " · ".join(shown)

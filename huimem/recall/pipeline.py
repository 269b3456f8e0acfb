"""A Query → a Recall: find, judge, factor, cut, and bring each hit's whole record with its place.

The index finds and scores; what is shown comes from the files themselves, through `read`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from math import prod

import numpy as np

from huimem.config import Ranking
from huimem.index.cut import bounds
from huimem.index.embeddings import Meaning
from huimem.index.filters import NOTHING, Filter, Hidden
from huimem.index.index import Index, Snapshot
from huimem.index.rows import milliseconds
from huimem.index.tokens import asked
from huimem.recall import rank
from huimem.recall.candidates import Judge, weighed_terms
from huimem.recall.context import Found, Read, hits_of
from huimem.recall.explain import Evidence, circumstances, factors
from huimem.recall.parts import Part, parts_of
from huimem.recall.periods import days_around, sessions_of
from huimem.recall.rank import Floats, Ints, Scores, Terms
from huimem.records import Freshness, Query, Recall, Resolution, TimeRange

NO_WORDS = "the question holds no words to search for"
# Who speaks in a search that names no role: tool traffic is found when asked for.
SPEAKERS = ("user", "assistant", "system", "person", "note", "fact")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with all that answering it needs besides the index.

    `overlay` holds what the index does not hold yet, `narrowed` hides what no longer stands there.
    """

    query: Query
    resolution: Resolution | None
    narrowed: Filter
    meaning: Meaning | None
    freshness: Freshness
    warnings: tuple[str, ...] = ()
    context: int = 0
    overlay: Snapshot | None = None

    @property
    def window(self) -> TimeRange | None:
        """Where to look first for vague words; None = everywhere."""
        return self.resolution.window if self.resolution else None


def narrow(query: Query, namespaces: frozenset[str] | None, hidden: Hidden = NOTHING) -> Filter:
    """The query's filters as the index applies them; `namespaces` are exact labels, None = all.

    `hidden`: what the files no longer hold of the index.
    """
    return Filter(
        during=tuple(map(bounds, query.during)),
        said_only=query.said_only,
        namespaces=namespaces,
        kinds=query.kinds,
        roles=query.roles or SPEAKERS,
        tags=query.tags,
        current_at=None if query.include_superseded else milliseconds(query.as_of),
        hidden=hidden,
    )


def recall(index: Index, read: Read, question: Asked, ranking: Ranking) -> Recall:
    """Answer one question from one consistent state of the index and what lies beside it."""
    found: list[Found]
    query, warnings, meaning = question.query, list(question.warnings), question.meaning
    with index.snapshot(meaning.embedder if meaning else None) as snapshot:
        if meaning and snapshot.vectors() is None:  # another embedder took over meanwhile
            question = _by_words(question)
        parts = parts_of(snapshot, question.narrowed, question.overlay)
        considered = sum(part.snapshot.count(part.narrowed) for part in parts) if query.during else 0
        sessions, found = 0, []
        if query.text:
            found = _ranked(parts, question, ranking)
        elif query.during or query.vague:
            found, sessions = sessions_of(parts, query, question.window, ranking.speaks_of)
        else:
            warnings.append(NO_WORDS)
        empty = query.named if query.during and not considered else ()
        if question.window and not (query.text or query.during or sessions):
            empty = (question.window,)
        nearest = days_around(parts, empty) if empty else ()
    hits, missed = hits_of(read, found, question.context)
    return Recall(
        id=_recall_id(query),
        query=query,
        resolution=question.resolution,
        hits=hits,
        freshness=question.freshness,
        considered=considered,
        sessions=sessions,
        nearest=nearest,
        warnings=tuple(dict.fromkeys((*warnings, *missed))),
    )


def _by_words(question: Asked) -> Asked:
    return replace(question, meaning=None, freshness=replace(question.freshness, engine="words"))


def _recall_id(query: Query) -> str:
    """Names this answer in feedback: a hash of the moment and the question, its time included."""
    times = [edge.isoformat() if edge else "" for span in query.during for edge in (span.start, span.end)]
    asked_at = "\n".join((query.as_of.isoformat(), query.text, *times))
    return blake2b(asked_at.encode("utf-8", "replace"), digest_size=6).hexdigest()


def _ranked(parts: Sequence[Part], question: Asked, ranking: Ranking) -> list[Found]:
    """The best records of all parts for the question's words and meaning."""
    terms = weighed_terms(parts, question.query)
    ranked = [
        one for part, its in zip(parts, terms, strict=True) for one in _best(part, its, question, ranking)
    ]
    # Sums of floats differ in the last digits by the place of a row; equal texts are equal hits.
    ranked.sort(key=lambda one: (-round(one[0], 9), one[1].record.ref))
    return [one for _, one in ranked[: question.query.limit]]


def _best(part: Part, terms: Terms, question: Asked, ranking: Ranking) -> list[tuple[float, Found]]:
    """The best records of one part with their scores, no two messages of one record."""
    snapshot, query = part.snapshot, question.query
    judge = Judge(snapshot, terms, ranking, question.meaning)
    pool, scores = judge.judge(judge.found(query, part.narrowed))
    relevance = rank.relevance(scores.sums, ranking)
    rows = pool.rows[scores.best]
    passing = np.isin(rows, snapshot.passing(rows, part.narrowed))
    floor = ranking.floor if question.meaning else ranking.words_floor
    chosen = _leading(scores, relevance, np.flatnonzero(passing & (relevance > 0) & (relevance >= floor)))
    chosen = chosen[: 4 * query.limit + 50]  # importance may reorder, but not from further down
    records = {row.id: row for row in snapshot.records(scores.record[chosen].tolist())}
    named = tuple(Filter(during=tuple(map(bounds, query.named))).spans)
    spans = (named, question.narrowed.spans)
    evidence = Evidence(pool, scores, terms, asked(query.text), *spans, ranking.speaks_of)
    ranked = [
        (float(relevance[at]) * prod(f.value for f in circumstances(evidence, at, record)), record, at)
        for at in chosen.tolist()
        if (record := records.get(int(scores.record[at]))) is not None
    ]
    ranked.sort(key=lambda one: (-round(one[0], 9), one[1].ref))
    return [
        (
            score,
            Found(
                record,
                int(scores.message[at]),
                snapshot.chunk(int(rows[at])),
                factors(evidence, at, float(relevance[at]), record),
            ),
        )
        for score, record, at in ranked[: query.limit]
    ]


def _leading(scores: Scores, relevance: Floats, kept: Ints) -> Ints:
    """Of the messages kept, the best of each record, best first."""
    order = kept[np.lexsort((kept, -relevance[kept]))]
    _, firsts = np.unique(scores.record[order], return_index=True)
    return order[np.sort(firsts)]

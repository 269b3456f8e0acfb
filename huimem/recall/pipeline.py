"""A Query → a Recall: find, judge, factor, order, cut, and bring each hit's whole record with its place.

The index finds and scores; what is shown comes from the files themselves, through `read`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from hashlib import blake2b
from math import inf

import numpy as np

from huimem.config import Ranking, Rerank
from huimem.index.cut import bounds
from huimem.index.filters import NOTHING, Filter, Hidden
from huimem.index.index import Index, Snapshot
from huimem.index.meaning import Meaning
from huimem.index.rows import milliseconds
from huimem.ports import Reranker
from huimem.recall import ranked, rerank, scan
from huimem.recall.candidates import frequencies
from huimem.recall.context import Found, Read, told_of
from huimem.recall.explain import Circumstances
from huimem.recall.parts import Part, parts_of, with_facts_held
from huimem.recall.periods import days_around, sessions_of
from huimem.recall.query import Understood, Way, walking
from huimem.recall.ranked import Order
from huimem.recall.shortlist import Shortlist, once, read, shortlist
from huimem.recall.wanting import read_with, wanted
from huimem.records import TITLE, Freshness, Query, Recall, Resolution, TimeRange, Walked

NO_WORDS = "the question holds no words to search for"
NOT_THEN = "nothing stood out in the time that was meant: everything was searched"
# Who speaks in a search that names no role: tool traffic is found when asked for.
SPEAKERS = ("user", "assistant", "system", "person", "note", "fact", TITLE)
NEARBY = 20  # candidates beyond the limit that repetition and reranking may bring up


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with all that answering it needs besides the index.

    `overlay` holds what the index does not hold yet, `narrowed` hides what no longer stands there. `way`
    is what a walk goes through, None where nothing is walked; `budget` what the passages may take, in
    tokens.
    """

    query: Query
    resolution: Resolution | None
    narrowed: Filter
    meaning: Meaning | None
    freshness: Freshness
    warnings: tuple[str, ...] = ()
    context: int = 0
    budget: int | None = None
    overlay: Snapshot | None = None
    way: Way | None = None
    second: Second | None = None

    @classmethod
    def of(
        cls,
        asked: Understood,
        narrowed: Filter,
        meaning: Meaning | None,
        freshness: Freshness,
        warnings: tuple[str, ...] = (),
    ) -> Asked:
        """A question as it was understood, for the index alone, without a second opinion."""
        options = asked.options
        return cls(
            asked.query,
            asked.resolution,
            narrowed,
            meaning,
            freshness,
            warnings,
            options.context,
            options.budget,
            way=walking(asked),
        )

    @property
    def window(self) -> TimeRange | None:
        """Where to look first for vague words; None = everywhere."""
        return self.resolution.window if self.resolution else None


@dataclass(frozen=True, slots=True)
class Second:
    """A second opinion on the first candidates: who gives it, within what limits, by a clock in seconds."""

    reranker: Reranker
    limits: Rerank
    clock: Callable[[], float]


@dataclass(frozen=True, slots=True)
class _Answer:
    """What was found, before it is read from the files: it is chosen from the `nearest`, if there are any."""

    nearest: Shortlist[Found] = field(default_factory=Shortlist)
    found: tuple[Found, ...] = ()
    sessions: int = 0
    warnings: tuple[str, ...] = ()
    walk: tuple[Walked, ...] = ()
    exhausted: bool = False
    cursor: datetime | None = None
    best: float = 0.0
    floor: float = 0.0


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


def recall(index: Index, read: Read, question: Asked, ranking: Ranking) -> scan.Walk:
    """Answer one question from one consistent state of the index and what lies beside it.

    Yields the steps of the walk, where one is asked for; its value is the answer.
    """
    query, meaning = question.query, question.meaning
    with index.snapshot(meaning.embedder if meaning else None) as snapshot:
        if meaning and snapshot.vectors() is None:  # another embedder took over meanwhile
            question = _by_words(question)
        parts = parts_of(snapshot, question.narrowed, question.overlay)
        considered = sum(part.snapshot.count(part.narrowed) for part in parts) if query.during else 0
        answer = _answer(parts, question, ranking)
        some = answer.found or answer.nearest.found
        empty = query.named if query.during and not (considered or some) else ()
        if question.window and not (query.text or query.during or answer.sessions):
            empty = (question.window,)
        if question.way and not (answer.walk or answer.nearest.found):  # it begins before anything was said
            empty = question.way.spans
        nearest = days_around(parts, empty) if empty else ()
    answer = _chosen((yield from _told_stepwise(answer)), question, ranking)
    told = told_of(read, answer.found[: query.limit], question.context, question.budget)
    return Recall(
        id=_recall_id(query, question.way),
        query=query,
        resolution=question.resolution,
        hits=told.hits,
        freshness=question.freshness,
        passages=told.passages,
        scanned=answer.walk,
        exhausted=answer.exhausted,
        cursor=answer.cursor,
        best=answer.best,
        floor=answer.floor,
        considered=considered,
        sessions=answer.sessions,
        nearest=nearest,
        warnings=tuple(dict.fromkeys((*question.warnings, *answer.warnings, *told.warnings))),
    )


def _told_stepwise(answer: _Answer) -> Generator[Walked, bool | None, _Answer]:
    """The steps of a walk one by one; sent True, it ends there, to answer from what it had come to."""
    for count, step in enumerate(answer.walk, 1):
        if not (yield step) or count == len(answer.walk):
            continue
        assert step.range.start
        nearest = answer.nearest.since(milliseconds(step.range.start))
        walked = replace(answer, nearest=nearest, walk=answer.walk[:count])
        return replace(walked, exhausted=False, cursor=step.range.start)
    return answer


def _answer(parts: Sequence[Part], question: Asked, ranking: Ranking) -> _Answer:
    query = question.query
    if query.text and question.way:
        return _walked(parts, question, question.way, ranking)
    if query.text:
        return _everywhere(parts, question, ranking)
    if query.during or query.vague:
        found, sessions = sessions_of(parts, query, question.window, ranking.speaks_of)
        return _Answer(found=tuple(found), sessions=sessions)
    return _Answer(warnings=(NO_WORDS,))


def _everywhere(parts: Sequence[Part], question: Asked, ranking: Ranking) -> _Answer:
    if question.query.during and not question.query.said_only:
        parts = with_facts_held(parts)
    order = _candidates(parts, question, ranking)
    near = shortlist(once(order.answers)[: _near(question.query)])
    if question.second or question.way:
        return _Answer(read(near), best=order.best, floor=order.floor)
    first = near.without_repeats(ranking.repeats)[: question.query.limit]
    return _Answer(found=tuple(one.found() for one in first), best=order.best, floor=order.floor)


def _candidates(
    parts: Sequence[Part],
    question: Asked,
    ranking: Ranking,
    steps: Sequence[TimeRange] = (),
) -> Order:
    """The best records of all parts for the question's words and meaning, best first; of a walk its steps."""
    query = question.query
    circumstances = Circumstances(
        named=_spans(query.named),
        spans=question.narrowed.spans,
        now_ms=milliseconds(query.as_of),
        latest=query.latest,
        pasted=query.pasted,
        ranking=ranking,
    )
    wanting = wanted(query, partial(frequencies, parts), ranking.translated)
    most = 4 * query.limit + 50
    return ranked.ranked(
        parts, wanting, question.meaning, circumstances, query.limit, most, steps=_spans(steps)
    )


def _spans(ranges: Sequence[TimeRange]) -> tuple[tuple[int, int], ...]:
    """Ranges in milliseconds UTC, half-open."""
    return Filter(during=tuple(map(bounds, ranges))).spans


def _near(query: Query) -> int:
    """How many candidates an answer is chosen from."""
    return 2 * query.limit + NEARBY


def _chosen(answer: _Answer, question: Asked, ranking: Ranking) -> _Answer:
    """The answer that its nearest candidates give: none says the same twice, the first are read once more."""
    first = range(min(len(answer.nearest.found), _near(question.query)))
    found = answer.nearest.only(first).without_repeats(ranking.repeats)
    if not found:
        return answer
    if question.second is None:
        return replace(answer, found=tuple(found))
    again = rerank.rerank(
        read_with(question.query),
        [rerank.Candidate(one.chunk.text, one.factors) for one in found],
        question.second.reranker,
        question.second.limits,
        question.second.clock,
    )
    ordered = [
        replace(found[place], factors=factors)
        for place, factors in zip(again.order, again.factors, strict=True)
    ]
    return replace(answer, found=tuple(ordered), warnings=(*answer.warnings, *again.warnings))


def _walked(parts: Sequence[Part], question: Asked, way: Way, ranking: Ranking) -> _Answer:
    """The answer of a walk back, all of it judged in one pass.

    Where vague words were no help and nothing stood out, everything answers, and that is said. What lies
    below the floor tells which step came nearest, and none of them stands out by it.
    """
    first = scan.first_said(parts)
    within = scan.within(parts, way.stretches)
    steps = scan.steps_of(way, first, question.query.as_of) if first else []
    spans = [step.range for step in steps]
    order = _candidates(within, question, ranking, spans) if steps else Order()
    until = way if order.answers else replace(way, enough=inf)
    gone = scan.walk(order.candidates, steps, partial(scan.turns_within, within), until)
    if gone.exhausted and way.vague:
        answer = replace(_everywhere(parts, question, ranking), warnings=(NOT_THEN,))
    else:
        answer = _Answer(best=order.best, floor=order.floor)
        if order.answers:
            answer = replace(answer, nearest=_lasting(gone, spans, question.query))
    reached = gone.steps[-1].range.start if gone.steps else None
    cursor = reached if first and reached and first < reached else None
    return replace(answer, walk=gone.steps, exhausted=gone.exhausted, cursor=cursor)


def _lasting(gone: scan.Gone, spans: Sequence[TimeRange], query: Query) -> Shortlist[Found]:
    """The candidates of each answer that a walk may be ended with."""
    found = once(ranked.in_order(gone.candidates))
    times = np.array([one.at_ms for one in found], np.int64)
    lasting = np.arange(len(found))[ranked.lasting(times, _spans(spans), _near(query))]
    return read(shortlist([found[at] for at in lasting.tolist()]))


def _by_words(question: Asked) -> Asked:
    return replace(question, meaning=None, freshness=replace(question.freshness, engine="words"))


def _recall_id(query: Query, way: Way | None) -> str:
    """Names this answer in feedback: a hash of the moment and the question, its time and walk included."""
    spans = (*query.during, *way.stretches) if way else query.during
    times = [edge.isoformat() if edge else "" for span in spans for edge in (span.start, span.end)]
    marks = (*query.phrases, *(f"-{one.written}" for one in query.excluded))
    asked_at = "\n".join((query.as_of.isoformat(), query.text, *times, *marks))
    return blake2b(asked_at.encode("utf-8", "replace"), digest_size=6).hexdigest()

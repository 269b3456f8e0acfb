"""An answer and a ref that should stand in it → why it does not.

In: a memory, what it answered, the ref. Out: a `Miss` that names the first thing in the record's way:
it is not in the index, a filter or a word shuts it out, the walk did not come so far, it is below the floor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, Self

import numpy as np

from huimem.index.filters import Filter
from huimem.index.rows import RecordRow, instant
from huimem.memory import Memory
from huimem.recall.leaving_out import texts_of
from huimem.recall.parts import Part, parts_of
from huimem.recall.rank import Ints
from huimem.recall.ranked import BESIDE_THE_BEST
from huimem.recall.wording import holds, shut_out
from huimem.records import TITLE, Hit, Query, Recall, Ref, TimeRange
from huimem.upkeep import CaughtUp

Why = Literal["not indexed", "time", "filter", "rank", "walk", "floor", "words", "depth"]
Ask = Callable[[Memory], Recall]
_ANYWHERE = Filter(namespaces=None)


@dataclass(frozen=True, slots=True)
class Miss:
    """Why a ref is not among the first hits; `detail` says more of it in words of our own.

    `at` is when it was said. `ranges`: the time asked for, or the stretch walked. `rank` and `score` are
    its own, of an answer without a floor where it is below the `floor`, as is `relevance`.
    """

    ref: Ref
    why: Why
    detail: str = ""
    at: datetime | None = None
    ranges: tuple[TimeRange, ...] = ()
    rank: int | None = None
    score: float | None = None
    relevance: float | None = None
    floor: float | None = None


def covers(hit: Hit, ref: Ref) -> bool:
    """Whether a hit is that record, or stands for the session that it belongs to."""
    if hit.ref == ref:
        return True
    same = (hit.ref.namespace, hit.ref.session, hit.ref.mark) == (ref.namespace, ref.session, ref.mark)
    return bool(hit.records) and same


def rank_of(hits: Sequence[Hit], ref: Ref) -> int | None:
    """Where a record stands among hits, from 1; None where it does not."""
    return next((rank for rank, hit in enumerate(hits, 1) if covers(hit, ref)), None)


def relevance_of(hit: Hit) -> float | None:
    return next((factor.value for factor in hit.factors if factor.name == "relevance"), None)


@dataclass(slots=True)
class Inquiry:
    """Looks into a memory for what is in a record's way. A context manager: what it opens it closes."""

    memory: Memory
    _until_done: ExitStack = field(default_factory=ExitStack)
    _bare: Memory | None = None
    _known: tuple[RecordRow, ...] | None = None
    _files: tuple[str, ...] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._until_done.close()

    def why(self, answer: Recall, ref: Ref, ask: Ask) -> Miss:
        """Why `ref` is nowhere among the hits of `answer`; `ask` puts its question to a memory again."""
        with self.memory.caught_up() as standing:
            found = self._shut_out(answer, ref, standing)
        if found.why != "depth":
            return found
        if walked := _not_walked(answer, found):
            return walked
        if not answer.query.text:
            return replace(found, detail=f"the {len(answer.hits):,} sessions listed")
        hits = ask(self._without_floor()).hits
        return _too_faint(hits, answer, found) or replace(found, detail=_looked_at(hits))

    def _shut_out(self, answer: Recall, ref: Ref, standing: CaughtUp) -> Miss:
        """The filter that shuts a record out; "depth" where none does."""
        narrowed = self.memory.narrowed(answer.query, standing)
        with self.memory.index.snapshot() as snapshot:
            for part in parts_of(snapshot, narrowed, standing.overlay):
                here = replace(_ANYWHERE, hidden=part.narrowed.hidden)
                rows = part.snapshot.passing(part.snapshot.rows_of_refs([str(ref)]), here)
                if len(rows):
                    return _filtered(part, rows, ref, answer)
            everything = replace(_ANYWHERE, hidden=narrowed.hidden)
            if self._known is None:
                parts = parts_of(snapshot, everything, standing.overlay)
                self._known = tuple(record for part in parts for record in _records(part))
        return Miss(ref, "not indexed", self._whereabouts(ref, self._known))

    def _whereabouts(self, ref: Ref, known: Sequence[RecordRow]) -> str:
        """Where what was meant may be: under another ref, or in a file that is not in the index."""
        if moved := [one for one in known if _twin(Ref.parse(one.ref), ref)]:
            return f"it is {moved[0].ref} now, in {moved[0].path}"
        if beside := [one for one in known if _same_session(Ref.parse(one.ref), ref)]:
            return f"{beside[0].path} is there and holds other times: {beside[0].ref}"
        if self._files is None:
            root = self.memory.vault.root
            self._files = tuple(path.relative_to(root).as_posix() for path in sorted(root.rglob("*.md")))
        name = f"/{ref.session}.md"
        path = next((path for path in self._files if f"/{path}".endswith(name)), None)
        if path is None:
            return "no file here has this id"
        faults = [str(one) for one in self.memory.index.problems() if one.path == path]
        if faults or self.memory.vault.holds(path):
            return "; ".join((f"{path} is there and holds no such record", *faults))
        return f"{path} is there and belongs not to what the vault includes"

    def _without_floor(self) -> Memory:
        """The same vault and settings, but that whatever is found counts."""
        if self._bare is None:
            config = self.memory.config
            ranking = replace(config.ranking, floor=0.0, words_floor=0.0)
            bare = Memory(self.memory.vault, replace(config, ranking=ranking, background=False))
            bare.zone = self.memory.zone
            self._bare = self._until_done.enter_context(bare)
        return self._bare


def _filtered(part: Part, rows: Ints, ref: Ref, answer: Recall) -> Miss:
    """Which part of the filter, or of the words asked for, keeps a record out; "depth" where none does."""
    record = part.snapshot.records([part.snapshot.chunk(int(rows[0])).record])[0]
    zone = answer.query.as_of.tzinfo
    at = None
    if record.at_ms is not None:
        at = instant(record.at_ms).astimezone(zone)
    for detail, narrow in _singly(part.narrowed, record):
        if not len(part.snapshot.passing(rows, narrow)):
            return Miss(ref, "filter", detail, at)
    if not len(part.snapshot.passing(rows, part.narrowed)):
        detail = "its time was only guessed" if record.inferred else ""
        return Miss(ref, "time", detail, at, answer.query.named or answer.query.during)
    (text,) = texts_of(part, [record])
    if demands := "; ".join(_demands(text, answer.query)):
        return Miss(ref, "words", demands, at)
    return Miss(ref, "depth", at=at)


def _singly(narrowed: Filter, record: RecordRow) -> Iterator[tuple[str, Filter]]:
    """Each part of a filter but its time, by itself, with what it means that a record does not pass."""
    asked = ", ".join(sorted(narrowed.namespaces or ())) or "the main one"
    here = record.namespace or "the main one"
    yield f"namespace: it lies in {here}, asked was {asked}", Filter(namespaces=narrowed.namespaces)
    yield f"kind: it is a {record.kind}", replace(_ANYWHERE, kinds=narrowed.kinds)
    speakers = ", ".join(role for role in narrowed.roles if role != TITLE)
    yield f"role: none of {speakers} said it", replace(_ANYWHERE, roles=narrowed.roles)
    yield f"tag: it has none of {', '.join(narrowed.tags)}", replace(_ANYWHERE, tags=narrowed.tags)
    yield "it does not hold at that time", replace(_ANYWHERE, current_at=narrowed.current_at)


def _records(part: Part) -> list[RecordRow]:
    passages = part.snapshot.passages(part.snapshot.rows(part.narrowed))
    return part.snapshot.records(np.unique(passages.record).tolist())


def _twin(one: Ref, other: Ref) -> bool:
    """The same turn in another namespace, or in a file of another id."""
    if (one.at, one.tie, one.mark) != (other.at, other.tie, other.mark):
        return False
    return one.session == other.session or (one.mark == "#" and one.at[:1].isdigit())


def _same_session(one: Ref, other: Ref) -> bool:
    return (one.namespace, one.session, one.mark) == (other.namespace, other.session, other.mark)


def _not_walked(answer: Recall, found: Miss) -> Miss | None:
    """Whether a walk back through time ended before it came to a record."""
    walked = tuple(one.range for one in answer.scanned)
    if not walked or found.at is None or any(span.contains(found.at) for span in walked):
        return None
    return replace(found, why="walk", ranges=walked)


def _too_faint(hits: Sequence[Hit], answer: Recall, found: Miss) -> Miss | None:
    """Whether a record is among the hits of an answer without a floor, and that kept it out.

    Where nothing was answered, because not even the best passage had enough by itself.
    """
    rank = rank_of(hits, found.ref)
    hit = hits[rank - 1] if rank else None
    refused = not answer.hits and answer.best < answer.floor
    floor = answer.floor if refused else answer.floor * BESIDE_THE_BEST
    relevance = answer.best if refused else relevance_of(hit) if hit else None
    if hit is None or relevance is None or relevance >= floor:
        return None
    return replace(found, why="floor", rank=rank, score=hit.score, relevance=relevance, floor=floor)


def _looked_at(hits: Sequence[Hit]) -> str:
    return f"the {len(hits):,} that come up without a floor" if hits else "what comes up without a floor"


def _demands(text: str, query: Query) -> Iterator[str]:
    """What of the words demanded and forbidden keeps a text out, in words."""
    lacking = [f"“{phrase}”" for phrase in query.phrases if not holds(text, phrase)]
    if lacking:
        yield f"{' and '.join(lacking)} {'was' if len(lacking) == 1 else 'were'} demanded"
    held = [one for one in query.excluded if shut_out(text, (one,))]
    if held:
        written = [f'-"{one.written}"' if one.exact else f"-{one.written}" for one in held]
        yield f"{' and '.join(written)} {'shuts' if len(held) == 1 else 'shut'} it out"

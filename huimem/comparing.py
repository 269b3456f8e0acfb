"""Two embedders and somebody's own questions → how each ranks, and what each costs.

In: a memory, two embedders, questions, with the ref that should be found where it is known. Out: both
answers to each question, and figures. What answers in the vault is not touched; vectors that are made
stay in the cache, so that choosing the other one costs little afterwards.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean, median

from huimem.index.embeddings import Held
from huimem.index.filters import Filter
from huimem.index.meaning import Meaning
from huimem.index.scripts import script
from huimem.memory import Memory
from huimem.ports import Embedder
from huimem.recall import query as asking
from huimem.recall.pipeline import Asked, recall
from huimem.recall.scan import finished
from huimem.records import Freshness, Hit
from huimem.upkeep import CaughtUp, Progress

FIRST = 5  # hits of each that are held against each other
DEPTH = 10  # hits of each that are looked at
SAMPLE = 32  # passages that are embedded again to measure how fast that goes


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the ref of the record that should answer it, "" where nobody said."""

    text: str
    expected: str = ""


@dataclass(frozen=True, slots=True)
class Side:
    """How one embedder did: `answers` holds the hits of each question, the best first.

    `made` vectors were made now, the others came from the cache. `rate`: passages a second; `asking`:
    milliseconds to embed a question. `dim` 0, `rate` None, `asking` None: words alone.
    """

    spec: str
    dim: int
    made: int
    rate: float | None
    asking: float | None
    answers: tuple[tuple[Hit, ...], ...]

    def rank(self, number: int, ref: str) -> int | None:
        """Where a record stands among the hits of a question, from 1; None where it does not."""
        return next((n for n, hit in enumerate(self.answers[number], 1) if str(hit.ref) == ref), None)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both embedders on the same questions; every passage has a vector of each."""

    questions: tuple[Question, ...]
    sides: tuple[Side, Side]
    warnings: tuple[str, ...] = ()

    def overlap(self, number: int) -> float:
        """The share of the first `FIRST` hits of a question that both found, in [0, 1]."""
        a, b = ({str(hit.ref) for hit in side.answers[number][:FIRST]} for side in self.sides)
        return len(a & b) / max(len(a), len(b)) if a or b else 1.0

    def mean_overlap(self) -> float:
        return fmean(self.overlap(number) for number in range(len(self.questions)))

    def same_first(self) -> int:
        """To how many questions both give the same first hit, or both none."""
        firsts = zip(
            *([str(h[0].ref) if h else "" for h in side.answers] for side in self.sides), strict=True
        )
        return sum(a == b for a, b in firsts)

    def recall_at_first(self, side: Side) -> float | None:
        """The share of expected records among the first `FIRST` hits; None where none is expected."""
        return self._mean([1.0 if rank and rank <= FIRST else 0.0 for rank in self._ranks(side)])

    def reciprocal_rank(self, side: Side) -> float | None:
        """The mean of 1 / rank of expected records, 0 past `DEPTH`; None where none is expected."""
        return self._mean([1 / rank if rank else 0.0 for rank in self._ranks(side)])

    def _ranks(self, side: Side) -> list[int | None]:
        asked = [(n, question.expected) for n, question in enumerate(self.questions) if question.expected]
        return [side.rank(number, expected) for number, expected in asked]

    def _mean(self, values: Sequence[float]) -> float | None:
        return fmean(values) if values else None


def questions_in(text: str) -> tuple[Question, ...]:
    """One question a line, behind a tab the ref that should be found; blank lines and # lines are none."""
    lines = (line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#"))
    parts = (line.partition("\t") for line in lines)
    return tuple(Question(asked.strip(), expected.strip()) for asked, _, expected in parts if asked.strip())


def compare(
    memory: Memory,
    embedders: Sequence[tuple[str, Embedder | None]],
    questions: Sequence[Question],
    now: datetime,
    *,
    limit: int = FIRST,
    namespace: str | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Ask every question of both embedders; at least one question. The missing vectors are made first.

    `embedders` are two, each with the name it goes by; None is words alone. Files that cannot be brought
    in are left out, with a warning. Raises what an embedder raises.
    """
    with memory.caught_up(progress) as standing:
        trial = _Trial(memory, standing, tuple(questions), now, max(limit, DEPTH), namespace)
        first, second = (_side(trial, spec, embedder, progress) for spec, embedder in embedders)
        return Comparison(trial.questions, (first, second), standing.warnings)


@dataclass(frozen=True, slots=True)
class _Trial:
    """What both embedders are asked, and of which memory."""

    memory: Memory
    standing: CaughtUp
    questions: tuple[Question, ...]
    now: datetime
    limit: int
    namespace: str | None


def _side(trial: _Trial, spec: str, embedder: Embedder | None, progress: Progress | None) -> Side:
    if embedder is None:
        answers = tuple(_hits(trial, question, None) for question in trial.questions)
        return Side(spec, 0, 0, None, None, answers)
    index, shown = trial.memory.index, progress
    embedder.embed([trial.questions[0].text], as_query=True)  # a model's loading is nobody's speed
    tell = None if shown is None else lambda done, total: shown(f"vectors of {spec}", done, total)
    with index.holding(embedder, tell) as held:
        meanings, milliseconds = zip(*_asked(trial, embedder, held.name), strict=True)
        answers = tuple(_hits(trial, *pair) for pair in zip(trial.questions, meanings, strict=True))
        return Side(spec, held.dim, held.made, _rate(trial, embedder, held), median(milliseconds), answers)


def _asked(trial: _Trial, embedder: Embedder, held: str) -> Iterator[tuple[Meaning, float]]:
    """Each question as a vector, and the milliseconds that took."""
    scale = trial.memory.index.scale(embedder)
    for question in trial.questions:
        start = time.perf_counter()
        vector = embedder.embed([question.text], as_query=True)[0]
        yield Meaning(held, vector, scale, script(question.text)), 1000 * (time.perf_counter() - start)


def _hits(trial: _Trial, question: Question, meaning: Meaning | None) -> tuple[Hit, ...]:
    """What `Memory.recall` would find if every passage had its vector of this embedder."""
    memory = trial.memory
    options = asking.options({"limit": trial.limit, "namespace": trial.namespace})
    made = asking.make(question.text, options, trial.now, memory.resolve)
    made, narrowed, _ = memory.limited(made, trial.standing)
    asked = Asked(made.query, made.resolution, narrowed, meaning if made.query.text else None, _WHOLE)
    return finished(recall(memory.index, memory.source, asked, memory.config.ranking)).hits


_WHOLE = Freshness(fresh=True, pending=0, engine="", vectors_done=0, vectors_total=0)


def _rate(trial: _Trial, embedder: Embedder, held: Held) -> float | None:
    """Passages a second: as they were made, or of a few that are embedded once more."""
    if held.made >= SAMPLE:
        return held.made / held.seconds
    with trial.memory.index.snapshot() as snapshot:
        texts = snapshot.texts(snapshot.rows(Filter(namespaces=None))[:SAMPLE].tolist())
    if not texts:
        return None
    start = time.perf_counter()
    embedder.embed(texts)
    return len(texts) / max(time.perf_counter() - start, 1e-6)

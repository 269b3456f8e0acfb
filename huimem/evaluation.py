"""Somebody's own questions with the refs that answer them → how well a memory finds them, and what it misses.

In: a memory and a `QuestionSet`. Out: an outcome a question, and figures over any of them. Every answer is
what `Memory.recall` gives; nothing in the vault changes.

Of an answerable question one record is needed, any of those expected, or each of them for the kind
`several`. At k: `any` is 1 where one that is needed is among the first k hits, `fraction` the share of those
needed that are, `all` 1 where they all are; each is averaged over the answerable questions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from statistics import fmean

from huimem.errors import Problem, UsageError
from huimem.memory import Memory
from huimem.missing import Inquiry, Miss, rank_of
from huimem.questions import SEVERAL as SEVERAL
from huimem.questions import Question as Question
from huimem.questions import QuestionSet as QuestionSet
from huimem.questions import questions_in as questions_in
from huimem.recall.query import MOST_HITS, Keywords
from huimem.records import Freshness, Hit, Recall
from huimem.upkeep import Progress

CUTS = (1, 3, 5, 10)
DEPTH = 50  # hits of each question that are looked at
LIMIT = 5  # hits that people look at: what stands behind them is missed
NO_KIND = "(none)"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a question found. `ranks` has the place of each expected ref, from 1, None past the depth.

    `hits` counts what was found, at most the depth; `first` leads it. `misses` says of each record needed
    why it is not among the first, where that was asked for.
    """

    question: Question
    ranks: tuple[int | None, ...]
    hits: int
    first: Hit | None
    misses: tuple[Miss, ...] = ()

    @property
    def answerable(self) -> bool:
        return bool(self.question.expected)

    @property
    def needed(self) -> tuple[int | None, ...]:
        """The rank of each record that is needed; the best of them where any one is enough."""
        if self.question.needs_all or not self.ranks:
            return self.ranks
        return (self.best,)

    @property
    def best(self) -> int | None:
        """The rank of the first record that is expected."""
        return min((rank for rank in self.ranks if rank is not None), default=None)

    def falls_short(self, limit: int) -> bool:
        """Whether what is needed is not among the first `limit`, or where nothing answers something did."""
        return self.found(limit) < 1 if self.answerable else self.hits > 0

    def found(self, k: int) -> float:
        """The share of the records needed among the first k, in [0, 1]."""
        return fmean(1.0 if rank is not None and rank <= k else 0.0 for rank in self.needed)


@dataclass(frozen=True, slots=True)
class Figures:
    """How well some questions were answered. None: no question has such a figure.

    `recall` has any, fraction and all by k. `mrr`: the mean of 1 / rank of the first expected record, 0 past
    the depth. `abstained` of the `unanswerable` and `refused` of the `answerable` got no hit at all.
    """

    answerable: int
    unanswerable: int
    recall: Mapping[int, tuple[float, float, float]]
    mrr: float | None
    abstained: int
    refused: int

    @property
    def questions(self) -> int:
        return self.answerable + self.unanswerable

    def named(self) -> dict[str, float]:
        """The figures that can be asked for by name: `any@5`, `recall@5` (the fraction), `all@5`, `mrr` …"""
        named: dict[str, float] = {}
        for k, values in self.recall.items():
            named |= {f"{name}@{k}": value for name, value in zip(_AT_K, values, strict=True)}
        if self.mrr is not None:
            named |= {"mrr": self.mrr, "answered": 1 - self.refused / self.answerable}
        if self.unanswerable:
            named["abstention"] = self.abstained / self.unanswerable
        return named


_AT_K = ("any", "recall", "all")
NAMES = (*(f"{name}@{k}" for name in _AT_K for k in CUTS), "mrr", "answered", "abstention")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The outcomes in the order of the file; `problems` are its faults, those that asking found too.

    `warnings` are of the vault as it stands; `warned` are those of answers, each with how many questions had
    it, the most frequent first.
    """

    outcomes: tuple[Outcome, ...]
    problems: tuple[Problem, ...]
    freshness: Freshness | None
    warnings: tuple[str, ...]
    limit: int = LIMIT
    depth: int = DEPTH
    warned: Mapping[str, int] = field(default_factory=dict)

    def by_kind(self) -> dict[str, Figures]:
        """The figures of each kind of question, in the order of the file."""
        kinds: dict[str, list[Outcome]] = {}
        for outcome in self.outcomes:
            kinds.setdefault(outcome.question.kind or NO_KIND, []).append(outcome)
        return {kind: figures(those) for kind, those in kinds.items()}


def figures(outcomes: Sequence[Outcome]) -> Figures:
    """The figures of some questions."""
    asked = [one for one in outcomes if one.answerable]
    recall: dict[int, tuple[float, float, float]] = {}
    for k in CUTS if asked else ():
        shares = [one.found(k) for one in asked]
        recall[k] = (
            fmean(share > 0 for share in shares),
            fmean(shares),
            fmean(share == 1 for share in shares),
        )
    return Figures(
        answerable=len(asked),
        unanswerable=len(outcomes) - len(asked),
        recall=recall,
        mrr=fmean(1 / one.best if one.best else 0.0 for one in asked) if asked else None,
        abstained=sum(not one.hits for one in outcomes if not one.answerable),
        refused=sum(not one.hits for one in asked),
    )


@dataclass(frozen=True, slots=True)
class Minimum:
    """The least that a figure may be."""

    name: str
    least: float


def minimums_in(text: str) -> tuple[Minimum, ...]:
    """`recall@5=0.9,mrr=0.8` as minimums. Raises UsageError for what names no figure or no share."""
    found = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = (side.strip() for side in part.partition("="))
        if name not in NAMES:
            raise UsageError(f"there is no figure {name!r}", f"Known: {', '.join(NAMES)}.")
        try:
            least = float(value)
        except ValueError:
            least = -1.0
        if not 0 <= least <= 1:
            raise UsageError(
                f"{name} cannot be asked to be {value!r}", "Ask for a share from 0 to 1: mrr=0.8."
            )
        found.append(Minimum(name, least))
    return tuple(found)


def below(wanted: Sequence[Minimum], reached: Figures) -> tuple[tuple[Minimum, float], ...]:
    """The minimums that were not reached, each with what was. Raises UsageError for one without a figure."""
    named = reached.named()
    for one in wanted:
        if one.name not in named:
            what = "without an answer" if one.name == "abstention" else "with an answer"
            hint = "Leave it out, or add such a question."
            raise UsageError(f"{one.name} has no figure: no question {what} was asked", hint)
    return tuple((one, named[one.name]) for one in wanted if named[one.name] < one.least)


@dataclass(frozen=True, slots=True)
class Asking:
    """How questions are asked: `now` and `namespace` are for those that name none."""

    now: datetime
    namespace: str | None = None
    limit: int = LIMIT
    depth: int = DEPTH


def evaluate(
    memory: Memory, asked: QuestionSet, how: Asking, *, explain: bool = True, progress: Progress | None = None
) -> Evaluation:
    """Ask every question. A question that cannot be asked becomes a Problem; the others are asked.

    `explain`: say why what was missed is missing, which costs a further question for some. `progress` is
    told as in `Memory.sync`, with "questions". Raises UsageError for a limit below 1.
    """
    if how.limit < 1:
        raise UsageError(f"a limit of {how.limit} asks for nothing", "Use --limit 1 or more.")
    how = replace(how, depth=min(max(how.depth, how.limit, *CUTS), MOST_HITS))
    with memory.caught_up(progress) as standing:
        warnings = (*memory.warnings, *memory.vault.warnings, *standing.warnings)
    problems, freshness, outcomes = list(asked.problems), None, []
    warned: Counter[str] = Counter()
    with Inquiry(memory) as inquiry:
        for number, question in enumerate(asked.questions, 1):
            ask = _asker(question, how)
            try:
                answer = ask(memory)
            except UsageError as error:
                problems.append(Problem(asked.path, question.line, error.message, error.hint))
                continue
            freshness = freshness or answer.freshness
            warned.update(one for one in dict.fromkeys(answer.warnings) if one not in warnings)
            outcome = _outcome(question, answer)
            if explain:
                outcome = replace(outcome, misses=tuple(_misses(inquiry, outcome, answer, ask, how.limit)))
            outcomes.append(outcome)
            if progress:
                progress("questions", number, len(asked.questions))
    problems.sort(key=lambda problem: problem.line)
    told = dict(warned.most_common())
    return Evaluation(tuple(outcomes), tuple(problems), freshness, warnings, how.limit, how.depth, told)


def _asker(question: Question, how: Asking) -> Callable[[Memory], Recall]:
    keywords: Keywords = {"limit": how.depth, "namespace": question.namespace or how.namespace}
    if question.when is not None:
        keywords["when"] = question.when
    if question.history:
        keywords["history"] = question.history
    return lambda memory: memory.recall(question.text, now=question.now or how.now, **keywords)


def _outcome(question: Question, answer: Recall) -> Outcome:
    hits = answer.hits
    ranks = tuple(rank_of(hits, ref) for ref in question.expected)
    return Outcome(question, ranks, len(hits), hits[0] if hits else None)


def _misses(
    inquiry: Inquiry, outcome: Outcome, answer: Recall, ask: Callable[[Memory], Recall], limit: int
) -> Iterator[Miss]:
    """A reason for each record needed that is not among the first; one of any that would be enough."""
    pairs = list(zip(outcome.question.expected, outcome.ranks, strict=True))
    if not outcome.question.needs_all:
        pairs = sorted(pairs, key=lambda pair: pair[1] or MOST_HITS + 1)[:1]
    for ref, rank in pairs:
        if rank is None:
            yield inquiry.why(answer, ref, ask)
        elif rank > limit:
            hit = answer.hits[rank - 1]
            yield Miss(ref, "rank", at=hit.at, rank=rank, score=hit.score)

"""Candidates in their order → the same in the order of a model that reads question and text together.

The model's score takes the place of `relevance`; all other factors multiply as before. What it has not
read, since the time was over or only the first are read, keeps its order below what it has read: those
were behind before, nothing new is known of them, and the two scales cannot be compared. Nothing is lost:
whatever goes wrong, the candidates come back as they were, with a warning that says why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, isfinite, prod

from huimem.config import Rerank
from huimem.errors import HuimemError, unexpected
from huimem.ports import Reranker
from huimem.records import Factor

BATCH = 4  # texts between two looks at the clock
LEAST = 1e-9  # a relevance is above 0
_REMEDY = 'Correct the setting `reranker`, or switch it off: reranker = ""'

Factors = tuple[Factor, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that answers: its text, and the factors of its hit, one of them `relevance`."""

    text: str
    factors: Factors

    @property
    def relevance(self) -> float:
        return next(factor.value for factor in self.factors if factor.name == "relevance")

    @property
    def score(self) -> float:
        return prod(factor.value for factor in self.factors)


@dataclass(frozen=True, slots=True)
class Reranked:
    """The new order as places in the old one, and the factors of each in the new order.

    `read` is how many candidates the model read: 0 where the order is the old one.
    """

    order: tuple[int, ...]
    factors: tuple[Factors, ...]
    read: int = 0
    warnings: tuple[str, ...] = ()


class _Unusable(Exception):
    """What a reranker gave cannot be scores; the message says why."""


def rerank(
    question: str,
    candidates: Sequence[Candidate],
    reranker: Reranker,
    limits: Rerank,
    clock: Callable[[], float],
) -> Reranked:
    """The candidates, best first, in the order of `reranker`, as far as `limits` let it read.

    `question` is the question without its time words. Where the first candidate leads clearly the model is
    not called, which its note says. `clock` gives seconds and never goes back. Never raises for what the
    reranker does.
    """
    head = candidates[: limits.top]
    if len(head) < 2 or not question.strip():
        return _as_they_were(candidates)
    if is_clear(head, limits):
        return _as_they_were([_noted(head[0], "leads clearly, not reranked"), *candidates[1:]])
    texts = tuple(dict.fromkeys(candidate.text for candidate in head))
    try:
        found = _relevance(question, texts, reranker, limits.seconds, clock)
    except Exception as fault:  # whatever a model and its library raise
        return replace(_as_they_were(candidates), warnings=(_warning(fault),))
    short = () if len(found) == len(texts) else (_too_slow(len(found), len(texts), limits.seconds),)
    return replace(_placed(candidates, len(head), found), warnings=short)


def is_clear(candidates: Sequence[Candidate], limits: Rerank) -> bool:
    """Whether the first of two or more needs no second opinion."""
    first, second = candidates[:2]
    return first.relevance >= limits.clear and first.score - second.score >= limits.gap


def relevance_of(score: float, *, probability: bool) -> float:
    """A reranker's score in (0, 1]: a probability as it is, any other number through the sigmoid.

    Fixed and rising, so that answers to several questions can be compared.
    """
    if not probability:
        small = exp(-abs(score))
        score = (1.0 if score >= 0 else small) / (1.0 + small)
    return min(1.0, max(LEAST, score))


def _relevance(
    question: str, texts: Sequence[str], reranker: Reranker, seconds: float, clock: Callable[[], float]
) -> Mapping[str, float]:
    """Relevance by text, as far as the time reaches.

    The first batch is always read and not counted: it may load the model. A batch that as long a one as
    any before would bring past the end is not begun.
    """
    found: dict[str, float] = {}
    spent = longest = 0.0
    for start in range(0, len(texts), BATCH):
        if start and spent + longest >= seconds:
            break
        batch, before = texts[start : start + BATCH], clock()
        found |= zip(batch, _checked(reranker, question, batch), strict=True)
        if start:
            longest = max(longest, clock() - before)
            spent += clock() - before
    return found


def _checked(reranker: Reranker, question: str, texts: Sequence[str]) -> list[float]:
    """Relevance of each text. Raises `_Unusable` for scores that are none."""
    scores = [float(score) for score in reranker.score(question, texts)]
    probability = bool(getattr(reranker, "probabilities", False))
    if len(scores) != len(texts):
        raise _Unusable(f"gave {len(scores)} scores for {len(texts)} texts")
    if not all(map(isfinite, scores)):
        raise _Unusable("gave a score that is no finite number")
    if probability and not all(0 <= score <= 1 for score in scores):
        raise _Unusable("gave a probability outside 0 to 1")
    return [relevance_of(score, probability=probability) for score in scores]


def _placed(candidates: Sequence[Candidate], top: int, found: Mapping[str, float]) -> Reranked:
    """What was read in its new order, then the rest in its old one, none of it above what was read."""
    read = {
        place: _valued(candidate, found[candidate.text], "reranked")
        for place, candidate in enumerate(candidates[:top])
        if candidate.text in found
    }
    order = sorted(read, key=lambda place: (-read[place].score, place))
    rest = [place for place in range(len(candidates)) if place not in read]
    best = max((candidates[place].score for place in rest), default=0.0)
    # One share for all of the rest: what they are to one another stays.
    share = min(1.0, read[order[-1]].score / best) if best else 1.0
    left = {
        place: _valued(candidates[place], candidates[place].relevance * share, "not reranked")
        for place in rest
    }
    both, places = read | left, (*order, *rest)
    return Reranked(places, tuple(both[place].factors for place in places), len(read))


def _valued(candidate: Candidate, relevance: float, how: str) -> Candidate:
    """With another relevance, whose note keeps the old one."""
    return _replaced(candidate, relevance, f"{how}, {candidate.relevance:.2f} before")


def _noted(candidate: Candidate, said: str) -> Candidate:
    return _replaced(candidate, candidate.relevance, said)


def _replaced(candidate: Candidate, relevance: float, said: str) -> Candidate:
    return replace(
        candidate,
        factors=tuple(
            replace(factor, value=relevance, note=" · ".join(filter(None, (said, factor.note))))
            if factor.name == "relevance"
            else factor
            for factor in candidate.factors
        ),
    )


def _as_they_were(candidates: Sequence[Candidate]) -> Reranked:
    return Reranked(tuple(range(len(candidates))), tuple(candidate.factors for candidate in candidates))


def _too_slow(read: int, texts: int, seconds: float) -> str:
    return (
        f"the reranker read {read} of {texts} passages in {seconds:g} s, the rest follow in their old order; "
        "raise rerank.seconds, lower rerank.top, or choose a smaller model"
    )


def _warning(fault: Exception) -> str:
    """Cause and remedy; the text of an error that is none of ours could hold what somebody said."""
    match fault:
        case HuimemError():
            return f"not reranked: {fault.message}; {fault.hint or _REMEDY}"
        case _Unusable():
            return f"not reranked: the reranker {fault}; {_REMEDY}"
        case _:
            return f"not reranked: {unexpected(fault)}; {_REMEDY}"

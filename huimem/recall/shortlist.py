"""The first candidates with how like they are: of those that say the same again the better ones stay first.

In: candidates in their order, from one state of the index. Out: all or some of them in order, to be read
from it, or read before, so that the last choice needs no index any more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

import numpy as np

from huimem.recall.context import Found
from huimem.recall.rank import Floats
from huimem.recall.ranked import Ranked
from huimem.recall.repeats import overlap, repeated
from huimem.records import Factor

T = TypeVar("T", Ranked, Found)


def _nothing() -> Floats:
    return np.zeros((0, 0))


@dataclass(frozen=True, slots=True)
class Shortlist(Generic[T]):
    """Candidates, the best first: parallel, with their times in milliseconds UTC.

    `likeness` is float64 [n, n], symmetric, 1 for the same.
    """

    found: tuple[T, ...] = ()
    scores: tuple[float, ...] = ()
    at_ms: tuple[int, ...] = ()
    likeness: Floats = field(default_factory=_nothing)

    def only(self, places: Sequence[int]) -> Shortlist[T]:
        """Those at `places`."""
        return Shortlist(
            tuple(self.found[at] for at in places),
            tuple(self.scores[at] for at in places),
            tuple(self.at_ms[at] for at in places),
            self.likeness[np.ix_(places, places)] if places else _nothing(),
        )

    def since(self, first: int) -> Shortlist[T]:
        """Those that were said at a time or later."""
        return self.only([at for at, said in enumerate(self.at_ms) if said >= first])

    def without_repeats(self, strength: float) -> list[T]:
        """What is found, best first, where what says again what a better one says has lost by it."""
        if len(self.found) < 2 or not strength:
            return list(self.found)
        order = repeated(self.scores, self.likeness, strength)
        place_of = {at: place for place, (at, _, _) in enumerate(order, 1)}
        return [
            self.found[at] if factor == 1 else _repeating(self.found[at], factor, place_of[near])
            for at, factor, near in order
        ]


def shortlist(candidates: Sequence[Ranked]) -> Shortlist[Ranked]:
    """Candidates, which are still to be read from the index."""
    return Shortlist(
        tuple(candidates),
        tuple(one.score for one in candidates),
        tuple(one.at_ms for one in candidates),
        _likeness(candidates) if candidates else _nothing(),
    )


def read(those: Shortlist[Ranked]) -> Shortlist[Found]:
    """The same, all of them read from the index."""
    found = tuple(one.found() for one in those.found)
    return Shortlist(found, those.scores, those.at_ms, those.likeness)


def _repeating(one: T, factor: float, better: int) -> T:
    return replace(one, factors=(*one.factors, Factor("repeats", factor, f"as hit {better}")))


def once(candidates: Sequence[Ranked]) -> list[Ranked]:
    """The candidates, best first, without those that say under the same ref what a better one says.

    While a month is packed its files may stand twice, and so does a copy that another device brings late.
    """
    counted = Counter(one.record.ref for one in candidates)
    seen: set[tuple[str, frozenset[str]]] = set()
    kept = []
    for one in candidates:
        if counted[one.record.ref] > 1:
            said = (one.record.ref, frozenset(one.words()))
            if said in seen:
                continue
            seen.add(said)
        kept.append(one)
    return kept


def _likeness(candidates: Sequence[Ranked]) -> Floats:
    """How like the candidates' passages are, float64 [n, n]: by shared words, or by meaning if that is more.

    Meaning is compared where all that is searched has one, so within the index alone.
    """
    among_one = len({id(one.part) for one in candidates}) == 1  # another part numbers its terms otherwise
    found = overlap([{*one.numbers()} if among_one else {*one.words()} for one in candidates])
    judged = candidates[0].evidence.judged
    if judged.centre is not None:
        rows = np.array([one.row for one in candidates])
        views = candidates[0].part.snapshot.seen_from(judged.centre, rows)
        found = np.maximum(found, views @ views.T)
    # Under one title different things may be said.
    titles = [one.is_title for one in candidates]
    found[titles, :] = found[:, titles] = 0.0
    return found

"""Hits → passages for a model: neighbouring turns of a session, each said once, inside a budget of tokens.

In: hits, best first, and the files they stand in. Out: passages, that of the best hit first. Pure.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, zip_longest
from math import inf

from huimem.recall.budget import tokens
from huimem.recall.telling import Part, Piece, lines_of, parts_of, told
from huimem.records import Hit, Passage, Record, Ref, Source

# Neighbours that cost no more are kept though they were said before: what "yes" means stands around it.
SHORT = 16  # tokens
SAVED = 20  # tokens that marks and blanks may make up in what is cut; where more, some room stays empty


@dataclass(frozen=True, slots=True)
class Filled:
    """Passages; the places (from 0) of the hits that did not fit, and how many tokens would hold them too."""

    passages: tuple[Passage, ...]
    left_out: tuple[int, ...] = ()
    needed: int = 0


class _Cuts(dict[int, tuple[Part, ...]]):
    """The records of a file by place, each cut when it is first looked at."""

    def __init__(self, source: Source, hits: Mapping[int, Hit]) -> None:
        super().__init__()
        self._source, self._hits = source, hits

    def __missing__(self, place: int) -> tuple[Part, ...]:
        self[place] = parts_of(self._source.records[place], self._hits.get(place))
        return self[place]


@dataclass(slots=True)
class _Draft:
    """A passage on its way: the records it may show, those of its hits, and the pieces chosen so far."""

    source: Source
    reach: range  # places of the records it may show
    cuts: _Cuts
    hits: dict[int, int]  # place of the hit → place of its record
    chosen: set[Piece] = field(default_factory=set)
    cost: int = 0
    shown: list[int] = field(default_factory=list)  # the hits whose evidence is in
    also: list[Ref] = field(default_factory=list)
    folded: set[int] = field(default_factory=set)  # records that were said before

    @property
    def refs(self) -> list[Ref]:
        """The records of which something is shown, in the order of the file."""
        return [self.source.records[place].ref for place in sorted({piece[0] for piece in self.chosen})]

    def whole(self, place: int) -> bool:
        """Whether nothing of a record is missing."""
        return place in self.folded or self.chosen.issuperset(_pieces(place, self.cuts[place]))


@dataclass(slots=True)
class _Desk:
    """What is being put together: the drafts, what they cost together, and what was said where already."""

    drafts: list[_Draft]
    budget: int | None
    said: dict[object, tuple[_Draft, Ref]] = field(default_factory=dict)

    def room(self, draft: _Draft) -> float:
        """How many tokens a draft may cost."""
        if self.budget is None:
            return inf
        return self.budget - sum(one.cost for one in self.drafts if one is not draft)

    def add(self, draft: _Draft, wanted: Sequence[Piece]) -> bool:
        """Choose as many of the pieces, in their order, as the budget holds; whether at least one fits."""
        wanted = [piece for piece in wanted if piece not in draft.chosen]
        most = _most(draft, wanted, self.room(draft)) if self.budget is not None else len(wanted)
        draft.chosen.update(wanted[:most])
        if most and self.budget is not None:
            draft.cost = tokens(told(draft.cuts, draft.chosen)[0])
        return most > 0 or not wanted


def passages_of(
    hits: Sequence[Hit], sources: Mapping[str, Source], context: int = 0, budget: int | None = None
) -> Filled:
    """The hits with `context` neighbours on each side, in passages of at most `budget` tokens together.

    Neighbourhoods that overlap or touch are one passage. Of hits that say the same the best stays. The
    budget is spent on every hit's evidence first, best first, from its highlight on, then on the rest of
    its turn, then on neighbours, the nearest first; what does not fit is cut at sentences. None: no limit.
    `sources` are the files by path.
    """
    kept, folded = _folded(hits)
    drafts = list(_drafts(hits, sources, context, kept))
    home = {hit: draft for draft in drafts for hit in draft.hits}
    desk = _Desk(drafts, budget)
    for hit in kept:
        highlight, *more = _by_value(home[hit], hit)
        if highlight and desk.add(home[hit], highlight):
            home[hit].shown.append(hit)
            desk.said[_key(hits[hit].record)] = home[hit], hits[hit].ref
            for wanted in more:
                desk.add(home[hit], wanted)
    shown = [hit for hit in kept if hit in home[hit].shown]
    for hit, better in folded.items():
        if better in shown:
            home[better].also.append(hits[hit].ref)
    for hit in shown:
        for wanted in _rest(home[hit], hit):
            desk.add(home[hit], wanted)
    for distance in range(1, context + 1):
        for hit in shown:
            for side in (1, -1):
                _reach(desk, home[hit], home[hit].hits[hit], side * distance)
    left = tuple(hit for hit in range(len(hits)) if folded.get(hit, hit) not in shown)
    refs = {ref for draft in drafts for ref in draft.refs}
    made = sorted((_passage(draft, refs) for draft in drafts if draft.chosen), key=lambda one: one.hits)
    return Filled(tuple(made), left, _needed(drafts) if left else 0)


def shortfall(filled: Filled, hits: int, budget: int | None) -> str:
    """A line for the reader where hits are missing from the passages, else ""."""
    if not filled.left_out or budget is None:
        return ""
    missing = len(filled.left_out)
    return (
        f"{missing} of {hits} {'hit' if hits == 1 else 'hits'} {'does' if missing == 1 else 'do'} not fit "
        f"into {budget:,} tokens; {filled.needed:,} hold the evidence of all"
    )


def _key(record: Record) -> object:
    """What equal records have in common: who says which words, and in whose memory."""
    return record.ref.namespace, tuple((one.speaker, " ".join(one.text.split())) for one in record.messages)


def _folded(hits: Sequence[Hit]) -> tuple[list[int], dict[int, int]]:
    """The places of the hits that stay, and for each other one the better hit that says the same."""
    first: dict[object, int] = {}
    kept: list[int] = []
    folded: dict[int, int] = {}
    for place, hit in enumerate(hits):
        better = first.setdefault(_key(hit.record), place)
        if better == place:
            kept.append(place)
        else:
            folded[place] = better
    return kept, folded


def _drafts(
    hits: Sequence[Hit], sources: Mapping[str, Source], context: int, kept: Sequence[int]
) -> Iterator[_Draft]:
    """One draft for each stretch of a file in which the neighbourhoods of hits overlap or touch."""
    by_path: dict[str, list[int]] = {}
    for hit in kept:
        by_path.setdefault(hits[hit].path, []).append(hit)
    for path, its in by_path.items():
        records = sources[path].records
        place_of = {str(record.ref): place for place, record in enumerate(records)}
        places = sorted((place_of[str(hits[hit].ref)], hit) for hit in its)
        stretch: list[tuple[int, int]] = []
        for place, hit in places:
            if stretch and place - stretch[-1][0] > 2 * context + 1:
                yield _draft(sources[path], stretch, hits, context)
                stretch = []
            stretch.append((place, hit))
        yield _draft(sources[path], stretch, hits, context)


def _draft(source: Source, stretch: Sequence[tuple[int, int]], hits: Sequence[Hit], context: int) -> _Draft:
    first, last = stretch[0][0] - context, stretch[-1][0] + context
    reach = range(max(first, 0), min(last + 1, len(source.records)))
    cuts = _Cuts(source, {place: hits[hit] for place, hit in stretch})
    return _Draft(source, reach, cuts, {hit: place for place, hit in stretch})


def _pieces(place: int, parts: Sequence[Part]) -> list[Piece]:
    return [(place, at, number) for at, part in enumerate(parts) for number in range(len(part.spans))]


def _evidence(draft: _Draft, hit: int) -> list[Piece]:
    place = draft.hits[hit]
    return [(place, at, number) for at, part in enumerate(draft.cuts[place]) for number in part.evidence]


def _by_value(draft: _Draft, hit: int) -> Iterator[list[Piece]]:
    """The pieces of the evidence: that of the highlight, those around it, then either side by itself."""
    place = draft.hits[hit]
    evidence = _evidence(draft, hit)
    seen = next(
        (i for i, (_, at, number) in enumerate(evidence) if number == draft.cuts[place][at].highlight), 0
    )
    yield evidence[seen : seen + 1]
    yield from _both_sides(evidence[seen + 1 :], evidence[:seen])


def _both_sides(later: Sequence[Piece], earlier: Sequence[Piece]) -> Iterator[list[Piece]]:
    """What stands on both sides of a place, the nearest first; then either side by itself.

    So a long piece on one keeps nothing off the other.
    """
    nearest = earlier[::-1]
    yield [piece for pair in zip_longest(later, nearest) for piece in pair if piece]
    yield [*later]
    yield [*nearest]


def _rest(draft: _Draft, hit: int) -> Iterator[list[Piece]]:
    """A turn's other pieces by their value: how it begins, the nearest to the evidence, what tools said."""
    place = draft.hits[hit]
    parts = draft.cuts[place]
    order, evidence = _pieces(place, parts), _evidence(draft, hit)
    first, last = order.index(evidence[0]), order.index(evidence[-1])
    yield order[:1]
    tools = {at for at, part in enumerate(parts) if part.message.role == "tool" and at != evidence[0][1]}
    for by_tools in (False, True):
        wanted = [piece for piece in order if (piece[1] in tools) is by_tools]
        yield from _both_sides(
            [piece for piece in wanted if piece > order[last]],
            [piece for piece in wanted if piece < order[first]],
        )


def _reach(desk: _Desk, draft: _Draft, place: int, step: int) -> None:
    """Choose what fits of the neighbour `step` records away, from the side of the hit on.

    Only where nothing is missing between the two.
    """
    there = place + step
    nearer = there - (1 if step > 0 else -1)
    if there not in draft.reach or there in draft.hits.values() or there in draft.folded:
        return
    if desk.room(draft) <= draft.cost or (nearer != place and not draft.whole(nearer)):
        return
    record = draft.source.records[there]
    home, ref = desk.said.setdefault(_key(record), (draft, record.ref))
    if ref != record.ref and tokens("".join(one.text for one in record.messages)) > SHORT:
        draft.folded.add(there)
        home.also.append(record.ref)
        return
    wanted = _pieces(there, draft.cuts[there])
    desk.add(draft, wanted if step > 0 else wanted[::-1])


def _most(draft: _Draft, wanted: Sequence[Piece], room: float) -> int:
    """How many of the pieces, in their order, fit into `room` tokens beside those chosen before."""
    spans = (draft.cuts[place][message].spans[piece] for place, message, piece in wanted)
    # A character costs a quarter at least; a mark or a fence that is no longer needed may save some.
    least = [*accumulate(((b - a) / 4 for a, b in spans), initial=draft.cost - SAVED)]

    def fits(count: int) -> bool:
        if least[count] > room:
            return False
        return tokens(told(draft.cuts, draft.chosen.union(wanted[:count]))[0]) <= room

    if not wanted or fits(len(wanted)):
        return len(wanted)
    fitting, beyond = 0, 1
    while beyond < len(wanted) and fits(beyond):
        fitting, beyond = beyond, 2 * beyond
    beyond = min(beyond, len(wanted))
    while beyond - fitting > 1:
        middle = (fitting + beyond) // 2
        fitting, beyond = (middle, beyond) if fits(middle) else (fitting, middle)
    return fitting


def _needed(drafts: Sequence[_Draft]) -> int:
    """What the evidence of all hits costs."""
    evidence = ((draft, [one for hit in draft.hits for one in _evidence(draft, hit)]) for draft in drafts)
    return sum(tokens(told(draft.cuts, pieces)[0]) for draft, pieces in evidence)


def _passage(draft: _Draft, refs: Container[Ref]) -> Passage:
    """What was chosen; `refs` are those of all that is shown in any passage."""
    text, cut = told(draft.cuts, draft.chosen)
    return Passage(
        path=draft.source.path,
        title=draft.source.title,
        lines=lines_of(draft.cuts, draft.chosen),
        refs=tuple(draft.refs),
        hits=tuple(sorted(draft.shown)),
        text=text,
        tokens=tokens(text),
        cut=cut,
        also=tuple(dict.fromkeys(ref for ref in draft.also if ref not in refs)),
    )

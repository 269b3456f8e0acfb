"""Two tellings of one conversation → which message stands for which: pure.

In: the messages of a session, perhaps edited by hand, and those its source tells now. Out: for each of
these the place of the one that stands for it. Every way of finding is tried on what the surer ones
before it left over, so that an edited message does not take the place of another.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from math import floor

from huimem.records import Message
from huimem.vault.roles import head_of
from huimem.vault.text import normal

# Above this many pairs of messages, the longest common row is no longer looked for.
MOST_PAIRS = 1_000_000

Places = list[int | None]
Line = tuple[str, str]  # who says what


def matched(
    existing: Sequence[Message], given: Sequence[Message], brought: Sequence[bool] | None, *, timed: bool
) -> Places:
    """For each message given, the place of the one that stands for it, None where none does.

    `brought`: which were brought in before, None where nobody knows. `timed`: told apart by speaker and
    second, else by their order.
    """
    return _by_time(existing, given, brought) if timed else _by_order(existing, given, brought)


def seconds(message: Message) -> int:
    """When it was said, in whole seconds; ties are told apart by fractions."""
    return floor(message.at.timestamp()) if message.at else 0


def _by_time(existing: Sequence[Message], given: Sequence[Message], brought: Sequence[bool] | None) -> Places:
    def signs(message: Message) -> tuple[str, int, str]:
        return head_of(message.role, message.name), seconds(message), normal(message.text)

    old, new = [*map(signs, existing)], [*map(signs, given)]
    found: Places = [None] * len(new)
    everyone = range(len(new))
    before = [index for index in everyone if brought is None or brought[index]]
    _pair(old, new, found, everyone, lambda sign: sign)
    _pair(old, new, found, before, lambda sign: sign[:2])  # its text was changed
    _pair(old, new, found, everyone, lambda sign: sign[:2])
    _pair(old, new, found, before, lambda sign: (sign[0], sign[2]))  # its time was
    _pair(old, new, found, before, lambda sign: sign[1:])  # its speaker was
    return found


def _pair(
    old: Sequence[tuple[str, int, str]],
    new: Sequence[tuple[str, int, str]],
    found: Places,
    wanted: Sequence[int],
    by: Callable[[tuple[str, int, str]], Hashable],
) -> None:
    """Pair off, in order, those that have no partner yet and agree in what `by` says of them."""
    open_ = [index for index in wanted if found[index] is None]
    if not open_:
        return
    taken = {place for place in found if place is not None}
    free: dict[Hashable, deque[int]] = defaultdict(deque)
    for place, sign in enumerate(old):
        if place not in taken:
            free[by(sign)].append(place)
    for index in open_:
        if places := free.get(by(new[index])):
            found[index] = places.popleft()


def _by_order(
    existing: Sequence[Message], given: Sequence[Message], brought: Sequence[bool] | None
) -> Places:
    """Equal messages in order; between two of them, what stands in the same gap pairs off by speaker.

    Those that were brought in before come first: what is new may say the same as they do.
    """
    old = [(head_of(m.role, m.name), m.text) for m in existing]
    new = [(head_of(m.role, m.name), normal(m.text)) for m in given]
    found: Places = [None] * len(new)
    everyone = range(len(new))
    _equal(old, new, found, range(len(old)), [n for n in everyone if brought is None or brought[n]])
    for places, indices, _ in _gaps(found, len(old)):
        _equal(old, new, found, places, indices)
    for places, indices, last in _gaps(found, len(old)):
        for place, index in zip(places, indices, strict=False):
            # At the end somebody may have gone on by hand: what follows there is only paired when alike.
            sure = brought[index] if brought is not None else not last
            speaker, text = (a == b for a, b in zip(old[place], new[index], strict=True))
            if text or (speaker and (sure or _alike(old[place][1], new[index][1]))):
                found[index] = place
    return found


def _equal(
    old: Sequence[Line], new: Sequence[Line], found: Places, places: Sequence[int], indices: Sequence[int]
) -> None:
    """Pair equal ones among these, in order; what both begin with is not searched."""
    if not places or not indices:
        return
    shorter = min(len(places), len(indices))
    first = next((n for n in range(shorter) if old[places[n]] != new[indices[n]]), shorter)
    inner_old = [old[place] for place in places[first:]]
    inner_new = [new[index] for index in indices[first:]]
    if len(inner_old) * len(inner_new) > MOST_PAIRS:
        pairs = _next_ones(inner_old, inner_new)
    else:
        blocks = SequenceMatcher(None, inner_old, inner_new, autojunk=False).get_matching_blocks()
        pairs = [(block.a + n, block.b + n) for block in blocks for n in range(block.size)]
    for place, index in [*((n, n) for n in range(first)), *((first + a, first + b) for a, b in pairs)]:
        found[indices[index]] = places[place]


def _next_ones(old: Sequence[Line], new: Sequence[Line]) -> list[tuple[int, int]]:
    """For each in turn the next equal one: quick, and right where nothing was moved."""
    where: dict[Line, list[int]] = defaultdict(list)
    for place, message in enumerate(old):
        where[message].append(place)
    pairs, at = [], 0
    for index, message in enumerate(new):
        places = where.get(message, [])
        nearest = bisect_left(places, at)
        if nearest < len(places):
            pairs.append((places[nearest], index))
            at = places[nearest] + 1
    return pairs


def _gaps(found: Places, count: int) -> list[tuple[range, range, bool]]:
    """Places and indices between pairs that follow one another, and whether nothing follows them."""
    gaps, place, index = [], 0, 0
    for n, at in enumerate([*found, count]):
        if at is not None:
            gaps.append((range(place, at), range(index, n), n == len(found)))
            place, index = at + 1, n + 1
    return gaps


def _alike(held: str, text: str) -> bool:
    """Whether one text was made of the other: half the pairs of characters of the shorter are in both."""
    if text.startswith(held) or held.startswith(text):
        return True
    one, other = ({*pairwise(each)} for each in (held, text))
    return 2 * len(one & other) >= max(min(len(one), len(other)), 1)

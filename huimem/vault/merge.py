"""Which messages of a list a session does not hold yet.

In: the messages of a session as read, and a list to be recorded. Out: the places of those that stand
there already, what the last of them has grown to, and the rest, each with its time. This is what makes
recording idempotent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import floor

from huimem.records import Message
from huimem.vault.roles import head_of
from huimem.vault.text import normal


@dataclass(frozen=True, slots=True)
class Merge:
    """`present`: indices into the session's messages; `fresh`: what is new, every `at` filled in.

    `grown`: the longer text of the session's last message, where the list goes on with it.
    """

    present: frozenset[int]
    fresh: tuple[Message, ...]
    grown: str | None = None


def merge(
    existing: Sequence[Message], given: Sequence[Message], now: datetime, *, grow: bool = False
) -> Merge:
    """Find `given` in `existing`.

    A dated message is known by its speaker, second and text, counted: said twice is kept twice. One
    without a time takes that of the message before it; those at the head of a list, which have none
    before them, are known by their order, so that a history sent again as a whole adds its new end; so
    are those that stand there without times of their own and now come with them. `grow`: an assistant's
    message at the session's end may have been recorded before it was whole.
    """
    undated = next((index for index, message in enumerate(given) if message.at), len(given))
    overlap = _dated_later(existing, given, grow=grow) or _overlap(existing, given[:undated], grow=grow)
    last = len(existing) - 1
    grown = None
    if overlap and overlap[-1] == last and _grows(existing[last], given[len(overlap) - 1]):
        grown = normal(given[len(overlap) - 1].text)
    present = set(overlap)
    timed = _timed(existing, given, now)[len(overlap) :]
    fresh = []
    places = _places(existing, present)
    for message in timed:
        place = _take(places, existing, message)
        if place is None:
            fresh.append(message)
        else:
            present.add(place)
    if grow and existing and last not in present:
        longer = next((message for message in fresh if _goes_on(existing, message)), None)
        if longer:
            grown = normal(longer.text)
            fresh = [message for message in fresh if message is not longer]
            present.add(last)
    return Merge(frozenset(present), tuple(fresh), grown)


def _words(message: Message) -> tuple[str, str]:
    """Who says what, as a file would give it back; blanks at its end say nothing."""
    return head_of(message.role, message.name), normal(message.text).rstrip()


def _grows(held: Message, said: Message) -> bool:
    """Whether an assistant's message is the beginning of another."""
    (speaker, begun), (other, whole) = _words(held), _words(said)
    longer = begun and len(whole) > len(begun) and whole.startswith(begun)
    return held.role == "assistant" and speaker == other and bool(longer)


def _goes_on(existing: Sequence[Message], said: Message) -> bool:
    """Whether a message of that very time is what the last one became."""
    return _grows(existing[-1], said) and _same_time(existing[-1].at, said.at, len(existing))


def _dated_later(existing: Sequence[Message], given: Sequence[Message], *, grow: bool) -> range:
    """Where a list stands that was recorded before it had its times: at the session's beginning.

    Its messages then share the second in which they were recorded, and none was said after that.
    """
    count = min(len(existing), len(given))
    held, said = existing[:count], given[:count]
    stored, times = [_second(m.at) for m in held], list(_inherited(said))
    one_second = any(
        stored[i] == stored[i - 1] is not None and times[i] != times[i - 1] for i in range(1, count)
    )
    if not one_second or not all(map(_later, stored, times, [None, *stored])):
        return range(0)
    *before, (end, whole) = zip(held, said, strict=True)
    if any(_words(old) != _words(new) for old, new in before):
        return range(0)
    alike = _words(end) == _words(whole) or (grow and count == len(existing) and _grows(end, whole))
    return range(count if alike else 0)


def _inherited(said: Sequence[Message]) -> Iterator[int | None]:
    """The second of each; without one, that of the message before it."""
    second = None
    for message in said:
        second = _second(message.at) if message.at else second
        yield second


def _second(at: datetime | None) -> int | None:
    return floor(at.timestamp()) if at else None


def _later(stored: int | None, said: int | None, before: int | None) -> bool:
    """Whether what was said then may stand under that time, which may be that of the message before it."""
    return stored is not None and (said is None or stored >= said or stored == before)


def _overlap(existing: Sequence[Message], undated: Sequence[Message], *, grow: bool) -> range:
    """Where the head of an undated list stands in a session: at its beginning, or across its end."""
    if not existing or not undated:
        return range(0)
    old, new = [_words(m) for m in existing], [_words(m) for m in undated]
    shorter = min(len(old), len(new))
    if old[:shorter] == new[:shorter]:
        return range(shorter)
    for length in range(shorter, 0, -1):
        if old[-1] == new[length - 1] and old[-length:] == new[:length]:
            return range(len(old) - length, len(old))
    return _grown_overlap(existing, undated, old, new) if grow else range(0)


def _grown_overlap(
    existing: Sequence[Message],
    undated: Sequence[Message],
    old: Sequence[tuple[str, str]],
    new: Sequence[tuple[str, str]],
) -> range:
    """The same where the session's last message has grown: what stands before it tells its place."""
    for length in range(min(len(old), len(new)), 0, -1):
        known = length > 1 or len(old) == 1
        if known and _grows(existing[-1], undated[length - 1]) and old[-length:-1] == new[: length - 1]:
            return range(len(old) - length, len(old))
    return range(0)


def _timed(existing: Sequence[Message], given: Sequence[Message], now: datetime) -> list[Message]:
    """`given` with every time filled in; the first ones without any are said now, or after the last one."""
    last = existing[-1].at if existing else None
    before = max(now, last) if last else now
    timed = []
    for message in given:
        before = message.at or before
        timed.append(message if message.at else replace(message, at=before))
    return timed


def _places(existing: Sequence[Message], taken: set[int]) -> dict[tuple[str, str], list[int]]:
    places: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, message in enumerate(existing):
        if index not in taken:
            places[_words(message)].append(index)
    return places


def _take(
    places: dict[tuple[str, str], list[int]], existing: Sequence[Message], message: Message
) -> int | None:
    """The first place not yet taken where this message stands."""
    free = places.get(_words(message), [])
    for index in free:
        if _same_time(existing[index].at, message.at, len(existing)):
            free.remove(index)
            return index
    return None


def _same_time(stored: datetime | None, said: datetime | None, count: int) -> bool:
    """Whether a message said then may have been stored so: equal times were moved on by milliseconds."""
    if stored is None or said is None:
        return stored is said
    moved = stored - said
    return floor(stored.timestamp()) == floor(said.timestamp()) or (
        timedelta() <= moved <= timedelta(milliseconds=count)
    )

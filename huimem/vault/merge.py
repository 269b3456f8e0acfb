"""Which messages of a list a session does not hold yet.

In: the messages of a session as read, and a list to be recorded. Out: the places of those that stand
there already, and the rest, each with its time. This is what makes recording idempotent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import floor

from huimem.records import Message
from huimem.vault.roles import head_of
from huimem.vault.text import normal


@dataclass(frozen=True, slots=True)
class Merge:
    """`present`: indices into the session's messages; `fresh`: what is new, every `at` filled in."""

    present: frozenset[int]
    fresh: tuple[Message, ...]


def merge(existing: Sequence[Message], given: Sequence[Message], now: datetime) -> Merge:
    """Find `given` in `existing`.

    A dated message is known by its speaker, second and text, counted: said twice is kept twice. One
    without a time takes that of the message before it; those at the head of a list, which have none
    before them, are known by their order, so that a history sent again as a whole adds its new end.
    """
    undated = next((index for index, message in enumerate(given) if message.at), len(given))
    overlap = _overlap(existing, given[:undated])
    present = set(overlap)
    timed = _timed(existing, given[len(overlap) :], now)
    fresh = []
    places = _places(existing, present)
    for message in timed:
        place = _take(places, existing, message)
        if place is None:
            fresh.append(message)
        else:
            present.add(place)
    return Merge(frozenset(present), tuple(fresh))


def _words(message: Message) -> tuple[str, str]:
    """Who says what, as a file would give it back."""
    return head_of(message.role, message.name), normal(message.text)


def _overlap(existing: Sequence[Message], undated: Sequence[Message]) -> range:
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
    return range(0)


def _timed(existing: Sequence[Message], given: Sequence[Message], now: datetime) -> list[Message]:
    """`given` with every time filled in; the first one without any is said now, or after the last one."""
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

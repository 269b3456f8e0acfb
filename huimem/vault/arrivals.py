"""A conversation from elsewhere and the session it once became → what is new in it: pure.

In: the session as its file now stands, the conversation as its source now tells it, and what was
brought in before. Out: messages to append and to make longer, and counts of what its owner changed:
hand edits win, and what was deleted by hand stays deleted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from hashlib import blake2b
from math import floor

from huimem.records import Conversation, Message, Session
from huimem.vault.roles import head_of
from huimem.vault.text import normal

DIGEST = 8  # bytes, of keys and of texts: a chance of one in a billion among a hundred thousand messages

Known = Mapping[bytes, bytes]


@dataclass(frozen=True, slots=True)
class Plan:
    """`fresh`: indices of messages to append; `grown`: index in the session → index of its longer text.

    `edited` were changed by hand, or differ and nobody knows by whom; `deleted` were taken out by hand.
    """

    fresh: tuple[int, ...] = ()
    grown: Mapping[int, int] = ()  # type: ignore[assignment]
    edited: int = 0
    deleted: int = 0


def digest(text: str) -> bytes:
    """What is remembered of a key or a text that was brought in."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST).digest()


def known_of(conversation: Conversation) -> dict[bytes, bytes]:
    """Key → text of all its messages, as digests."""
    pairs = zip(conversation.keys, conversation.messages, strict=True)
    return {digest(key): digest(normal(message.text)) for key, message in pairs}


def plan(session: Session, conversation: Conversation, known: Known | None) -> Plan:
    """What to do with the session's file. `known`: what was brought in before, None where that is lost.

    Without it, only what comes after the last message found counts as new: what is missing before
    was taken out by hand.
    """
    places = matched(session.messages, conversation.messages, timed=not conversation.inferred)
    last = max((index for index, place in enumerate(places) if place is not None), default=-1)
    fresh, grown, edited, deleted = [], {}, 0, 0
    for index, (place, message) in enumerate(zip(places, conversation.messages, strict=True)):
        key = digest(conversation.keys[index])
        if place is None:
            new = key not in known if known is not None else 0 <= last < index
            fresh += [index] * new
            deleted += not new
            continue
        held = session.messages[place].text
        if held == normal(message.text):
            continue
        if known and known.get(key) == digest(held):
            grown[place] = index
        else:
            edited += 1
    return Plan(tuple(fresh), grown, edited, deleted)


def matched(existing: Sequence[Message], given: Sequence[Message], *, timed: bool) -> list[int | None]:
    """For each message given, the one that stands for it; `timed` by speaker and second, else by order.

    Those of equal text find each other first, so that an edited one does not take another's place.
    """
    return _by_time(existing, given) if timed else _by_order(existing, given)


def _by_time(existing: Sequence[Message], given: Sequence[Message]) -> list[int | None]:
    free: dict[tuple[str, int], list[int]] = defaultdict(list)
    for place, message in enumerate(existing):
        if message.at is not None:
            free[_when(message)].append(place)
    found: list[int | None] = [None] * len(given)
    for exact in (True, False):
        for index, message in enumerate(given):
            if found[index] is not None:
                continue
            places = free.get(_when(message), [])
            text = normal(message.text)
            fits = [place for place in places if not exact or existing[place].text == text]
            if fits:
                places.remove(fits[0])
                found[index] = fits[0]
    return found


def _when(message: Message) -> tuple[str, int]:
    return head_of(message.role, message.name), floor(message.at.timestamp()) if message.at else 0


def _by_order(existing: Sequence[Message], given: Sequence[Message]) -> list[int | None]:
    """Equal messages in order; between them, what stands in the same gap pairs off by its speaker."""
    old = [(head_of(m.role, m.name), m.text) for m in existing]
    new = [(head_of(m.role, m.name), normal(m.text)) for m in given]
    found: list[int | None] = [None] * len(new)
    for tag, first, end, start, stop in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        pairs = zip(range(first, end), range(start, stop), strict=False)
        for place, index in pairs:
            if tag == "equal" or old[place][0] == new[index][0]:
                found[index] = place
    return found

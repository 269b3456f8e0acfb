"""A conversation from elsewhere and the session it once became → what is new in it: pure.

In: the session as its file now stands, the conversation as its source now tells it, and what was
brought in before. Out: messages to put in and to make longer, and what its owner changed: hand edits
win, and what was deleted by hand stays deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from huimem.records import Conversation, Message, Session
from huimem.vault.pairing import matched, seconds
from huimem.vault.roles import head_of
from huimem.vault.text import normal

DIGEST = 8  # bytes, of keys and of texts: a chance of one in a billion among a hundred thousand messages

Known = Mapping[bytes, bytes]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do with a session's file.

    `fresh`: index of each message to put in, and of the session's message it goes before; `grown`: index
    in the session → index of its new text. `edited` were changed by hand, or differ and nobody knows by
    whom; `deleted` are the indices of those that were taken out by hand.
    """

    fresh: tuple[tuple[int, int], ...] = ()
    grown: Mapping[int, int] = field(default_factory=dict)
    edited: int = 0
    deleted: tuple[int, ...] = ()


def digest(text: str) -> bytes:
    """What is remembered of a key or a text that was brought in."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST).digest()


def known_of(
    conversation: Conversation, before: Known | None = None, without: Collection[int] = ()
) -> dict[bytes, bytes]:
    """Key → text of its messages, as digests, over those known `before`; `without` those that stay out.

    A text that another one replaces is remembered too, so that an older export does not bring it back.
    """
    known = dict(before or {})
    for index, (key, message) in enumerate(zip(conversation.keys, conversation.messages, strict=True)):
        name, text = digest(key), digest(normal(message.text))
        if index in without:
            known.pop(name, None)
            continue
        old = known.get(name)
        if old is None or (old != text and _former(name, text) not in known):
            known[name] = text
        if old is not None and old != known[name]:
            known[_former(name, old)] = old
    return known


def _former(key: bytes, text: bytes) -> bytes:
    """The mark that a message once had this text."""
    return blake2b(key + text, digest_size=DIGEST).digest()


def plan(
    session: Session,
    conversation: Conversation,
    known: Known | None,
    back: Callable[[int], bool] = lambda index: False,
) -> Plan:
    """What to do with the session's file. `known`: what was brought in before, None where that is lost.

    Without it, only what comes after the last message found counts as new: what is missing before was
    taken out by hand. `back`: whether a missing message is to come back all the same.
    """
    timed = not conversation.inferred and session.fields.get("times") != "inferred"
    keys = [digest(key) for key in conversation.keys]
    brought = None if known is None else [key in known for key in keys]
    existing = session.messages
    places = matched(existing, conversation.messages, brought, timed=timed)
    last = max((index for index, place in enumerate(places) if place is not None), default=-1)
    fresh: list[int] = []
    deleted: list[int] = []
    grown: dict[int, int] = {}
    edited = 0
    for index, place in enumerate(places):
        if place is None:
            new = keys[index] not in known if known is not None else 0 <= last < index
            (fresh if new or back(index) else deleted).append(index)
            continue
        held, given = existing[place], conversation.messages[index]
        text = normal(given.text)
        if held.text == text:
            edited += _moved(held, given, timed=timed)
        elif known is not None and _replaces(known, keys[index], digest(text), digest(held.text)):
            grown[place] = index
        else:
            edited += not (known is not None and _former(keys[index], digest(text)) in known)
    return Plan(_placed(fresh, places, len(existing)), grown, edited, tuple(deleted))


def _replaces(known: Known, key: bytes, text: bytes, held: bytes) -> bool:
    """Whether a text is newer than the one held, which nobody changed by hand."""
    return known.get(key) == held and _former(key, text) not in known


def _moved(held: Message, given: Message, *, timed: bool) -> bool:
    """Whether somebody changed who said this, or when."""
    speaker = head_of(held.role, held.name) != head_of(given.role, given.name)
    return speaker or (timed and seconds(held) != seconds(given))


def _placed(fresh: Sequence[int], places: Sequence[int | None], end: int) -> tuple[tuple[int, int], ...]:
    """Each with the place of the message that follows it in the conversation, else the end."""
    following, found = end, {}
    wanted = set(fresh)
    for index in reversed(range(len(places))):
        place = places[index]
        if index in wanted:
            found[index] = following
        elif place is not None:
            following = place
    return tuple((index, found[index]) for index in fresh)

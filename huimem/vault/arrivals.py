"""A conversation from elsewhere and the session it once became → what is new in it: pure.

In: the session as its file now stands, the conversation as its source now tells it, and what was
brought in before. Out: messages to put in and to make longer, the title it now has, and what its owner
changed: hand edits win, and what was deleted by hand stays deleted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from hashlib import blake2b

from huimem.records import Conversation, Message, Session
from huimem.vault.markdown import retitled, title_throughout
from huimem.vault.pairing import matched, seconds
from huimem.vault.recording import Recording, begin
from huimem.vault.roles import head_of
from huimem.vault.text import normal

DIGEST = 8  # bytes, of keys and of texts: a chance of one in a billion among a hundred thousand messages
ASKS = ("user", "person")  # roles whose messages begin a turn

Known = Mapping[bytes, bytes]


@dataclass(frozen=True, slots=True)
class Title:
    """What a conversation is called: by its source (`told`), else by its first words; "" by neither."""

    text: str
    told: bool


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


MARK = digest("")  # what stands behind a key that is no message's: no message is empty
TOLD, GUESSED = digest("\0title"), digest("\0title by first words")  # the title last written stands here


def state_of(conversation: Conversation) -> bytes:
    """What tells this state of a conversation from any other."""
    said = [[m.role, m.name, normal(m.text), m.at.timestamp() if m.at else 0] for m in conversation.messages]
    if conversation.inferred:
        said = [message[:3] for message in said]
    told = json.dumps([said, conversation.keys, conversation.title], ensure_ascii=True)
    return blake2b(told.encode(), digest_size=16).digest()


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
            known[_former(name, old)] = MARK
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
    return Plan(_placed(fresh, places, existing, conversation.messages), grown, edited, tuple(deleted))


def _replaces(known: Known, key: bytes, text: bytes, held: bytes) -> bool:
    """Whether a text is newer than the one held, which nobody changed by hand."""
    return known.get(key) == held and _former(key, text) not in known


def _moved(held: Message, given: Message, *, timed: bool) -> bool:
    """Whether somebody changed who said this, or when."""
    speaker = head_of(held.role, held.name) != head_of(given.role, given.name)
    return speaker or (timed and seconds(held) != seconds(given))


def _placed(
    fresh: Sequence[int], places: Sequence[int | None], existing: Sequence[Message], given: Sequence[Message]
) -> tuple[tuple[int, int], ...]:
    """Each with the place it goes before.

    What a user says goes before the message that follows it in the conversation, else to the end; what
    answers, to the turn of the message that it comes after there: the last one that is in the session.
    """
    following, ends = _following(places, len(existing)), _ends(existing)
    wanted, found = set(fresh), dict[int, int]()
    before: tuple[int, int] | None = None  # where what follows may go at the earliest and at the latest
    for index, place in enumerate(places):
        if index in wanted:
            next_ = following[index]
            if before is not None and given[index].role not in ASKS:
                earliest, latest = before
                next_ = next_ if earliest <= next_ <= latest else latest
            found[index] = next_
            before = (next_, next_)
        elif place is not None:
            before = (place + 1, ends[place])
    return tuple((index, found[index]) for index in fresh)


def _following(places: Sequence[int | None], end: int) -> list[int]:
    """For each message of a conversation the place of the next one that is in the session, else `end`."""
    found = []
    for place in reversed(places):
        found.append(end)
        end = end if place is None else place
    return found[::-1]


def _ends(existing: Sequence[Message]) -> list[int]:
    """For each message of a session where its turn ends: the next place at which somebody asks."""
    found, end = [], len(existing)
    for place in reversed(range(len(existing))):
        found.append(end)
        end = place if existing[place].role in ASKS else end
    return found[::-1]


# --- titles --------------------------------------------------------------------------------------


def title_of(conversation: Conversation) -> Title:
    """What a session that is begun with this conversation is called."""
    messages = conversation.messages
    first = next((message for message in messages if message.role in ASKS), messages[0])
    if first.at is None:
        raise ValueError("a message needs a time to be written")
    recording = Recording((first,), conversation.title or None, "", None, {}, first.at, UTC)
    return Title(begin(recording, "")[0].title, bool(conversation.title))


def renamed(held: Session, conversation: Conversation, known: Known | None) -> Session:
    """The session under the title that its source gives it now; as it is where its owner changed that."""
    stands, title = title_throughout(held), title_of(conversation)
    if known is None or stands is None or digest(stands) != written_title(known):
        return held
    try:
        return retitled(held, title.text) if renames(known, conversation, title) else held
    except ValueError:  # front matter in which nothing can be changed
        return held


def renames(known: Known, conversation: Conversation, title: Title) -> bool:
    """Whether a session that is still called as it was written is to be called this.

    Not where it was called so before, or the conversation only has what is known and not all of that: an
    older export takes nothing back. First words never replace a title that the source told.
    """
    written, new = written_title(known), digest(title.text)
    if written is None or new == written or not title.text or (TOLD in known and not title.told):
        return False
    messages = {key for key, text in known.items() if text != MARK} - {TOLD, GUESSED}
    return _former(TOLD, new) not in known and not {*map(digest, conversation.keys)} < messages


def written_title(known: Known) -> bytes | None:
    """The digest of the title last written, None where that is not known or no longer stands."""
    return known.get(TOLD, known.get(GUESSED))


def titled(known: Known, stands: str | None, title: Title) -> dict[bytes, bytes]:
    """What is known, with the title that now stands in the file; None where its owner gave it another."""
    before = written_title(known)
    rest = {key: text for key, text in known.items() if key not in (TOLD, GUESSED)}
    if stands is None or (stands != title.text and digest(stands) != before):
        return rest
    if stands != title.text:
        return dict(known)
    if before is not None and before != digest(stands):
        rest[_former(TOLD, before)] = MARK
    return {**rest, TOLD if title.told else GUESSED: digest(stands)}

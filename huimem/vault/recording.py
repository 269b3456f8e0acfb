"""Messages → a new session, or an older one grown: pure, the vault puts it on disk.

In: a `Recording` and the session it goes to. Out: the session with what it did not hold yet, its last
message longer where that has grown, and the refs of the turns that hold the messages given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo

from huimem.errors import NewerFormat, UsageError
from huimem.records import Message, Ref, Session
from huimem.vault.front import set_field
from huimem.vault.markdown import append, is_newer, new_session, render, rewritten, sort_of
from huimem.vault.merge import merge
from huimem.vault.moments import keepable
from huimem.vault.roles import clean_name
from huimem.vault.text import normal

TITLE_LENGTH = 80


@dataclass(frozen=True, slots=True)
class Recording:
    """What is to be recorded. `people` None: told by the messages; `zone` is the vault's.

    Raises `UsageError` for a time that could be written and not be read back.
    """

    messages: tuple[Message, ...]
    title: str | None
    namespace: str
    people: bool | None
    fields: Mapping[str, str | tuple[str, ...]]
    now: datetime
    zone: tzinfo

    def __post_init__(self) -> None:
        for number, message in enumerate(self.messages, 1):
            at = message.at or self.now
            if not keepable(at):
                whose = f"message {number} has" if message.at else "the clock shows"
                time = at.isoformat(" ", "seconds")
                raise UsageError(
                    f"{whose} the time {time}: files keep those of the years 3 to 9997",
                    "Correct the time that it came with." if message.at else "Set the computer's clock.",
                )

    @property
    def first(self) -> datetime:
        """When the conversation began."""
        return self.messages[0].at or self.now

    @property
    def between_people(self) -> bool:
        """Whether it is a conversation between people: somebody who is nobody's assistant speaks."""
        if self.people is not None:
            return self.people
        return any(
            message.role == "person" or (message.role == "user" and message.name) for message in self.messages
        )


def begin(recording: Recording, session: str) -> tuple[Session, tuple[Ref, ...]]:
    """A new session of that id that holds the messages."""
    people = recording.between_people
    messages = as_spoken(recording.messages, people=people)
    fields = dict(recording.fields)
    names = names_of(messages) if people else ()
    if names:
        fields["participants"] = names
    empty = new_session(
        id=session,
        title=recording.title or _first_words(messages) or session,
        zone=recording.zone,
        created=recording.first,
        namespace=recording.namespace,
        people=people,
        fields=fields,
    )
    return _grown(empty, messages, recording.now)


def extend(
    held: Session,
    recording: Recording,
    path: str,
    data: bytes,
    as_saved: Callable[[], object],
) -> tuple[Session, tuple[Ref, ...]]:
    """`held`, which was read from `data`, with the messages it does not hold yet.

    `as_saved` tells whether its last message is what was last recorded there: no edit is written over.
    Raises `NewerFormat` for a file of a newer huimem, `UsageError` where messages of the other sort
    would be mixed in, or where the file is of a form that is only read.
    """
    if is_newer(held):
        raise NewerFormat(f"{path} was written by a newer huimem", "Upgrade huimem: pip install -U huimem")
    if sort_of(data, path) == "facts":
        raise UsageError(f"{path} holds facts, not a conversation", "Record to another session.")
    people = recording.between_people
    if held.turns and held.people != people:
        sorts = ("with an assistant", "between people")
        raise UsageError(
            f"{path} is a conversation {sorts[held.people]}; these messages are of one {sorts[people]}",
            "Record them to a session of their own.",
        )
    messages = as_spoken(recording.messages, people=people)
    if people:
        held = with_participants(held, names_of(messages))
    return _grown(held, messages, recording.now, lambda: bool(_as_written(held) and as_saved()))


def _as_written(session: Session) -> bool:
    """Whether the last message stands in the form in which it was written, to the byte."""
    last = len(session.messages) - 1
    return render(rewritten(session, {last: session.messages[last].text})) == render(session)


def _grown(
    session: Session,
    given: Sequence[Message],
    now: datetime,
    untouched: Callable[[], bool] = lambda: False,
) -> tuple[Session, tuple[Ref, ...]]:
    """The session with what is new; its last message is made longer only where that is `untouched`."""
    count = len(session.messages)
    merged = merge(session.messages, given, now, grow=True)
    if merged.grown is not None and not untouched():
        merged = merge(session.messages, given, now)
    if merged.grown is not None:
        session = rewritten(session, {count - 1: merged.grown})
    if merged.fresh:
        session = append(session, merged.fresh)
    return session, _refs(session, merged.present, count)


def _refs(session: Session, present: frozenset[int], count: int) -> tuple[Ref, ...]:
    """Refs of the turns that hold a message of `present` or one from index `count` on."""
    refs, index = [], 0
    for turn in session.turns:
        indices = range(index, index + len(turn.messages))
        index = indices.stop
        if index > count or not present.isdisjoint(indices):
            refs.append(turn.ref)
    return tuple(refs)


def as_spoken(messages: Sequence[Message], *, people: bool) -> tuple[Message, ...]:
    """Between people, a user with a name is that person."""
    return tuple(
        replace(message, role="person") if people and message.role == "user" and message.name else message
        for message in messages
    )


def names_of(messages: Sequence[Message]) -> tuple[str, ...]:
    """The people who speak, each once."""
    names = (clean_name(message.name) for message in messages if message.role == "person")
    return tuple(dict.fromkeys(name for name in names if name))


def with_participants(session: Session, names: Sequence[str]) -> Session:
    """The session with new speakers added to `participants`; front matter that cannot be parsed stays."""
    listed = session.fields.get("participants", ())
    known = tuple(name.strip() for name in listed.split(",")) if isinstance(listed, str) else listed
    folded = {name.casefold() for name in known}
    new = tuple(name for name in names if name.casefold() not in folded)
    if not new or "huimem" not in session.fields:
        return session
    value = (*filter(None, known), *new)
    try:
        front = set_field(session.front, "participants", value)
    except ValueError:
        return session
    return replace(session, front=front, fields={**session.fields, "participants": value})


def _first_words(messages: Sequence[Message]) -> str:
    """The first line of the first message by whoever asks, for a title; "" where only tools speak."""
    spoken = [message for message in messages if message.role != "tool"]
    asked = [message for message in spoken if message.role in ("user", "person")] or spoken
    text = normal(asked[0].text) if asked else ""
    line = next((line.strip() for line in text.split("\n") if line.strip()), "")
    line = line.lstrip("#>-*` ").strip()
    return line if len(line) <= TITLE_LENGTH else f"{line[: TITLE_LENGTH - 1].rstrip()}…"

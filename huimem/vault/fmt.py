"""A hand-written session → the same session in full form: pure, on request only.

In: a file's bytes. Out: its bytes with every heading written out and every turn at a time of its own,
or, where that is asked for, an older or foreign form rewritten in ours. What was said never changes:
the result is read again and compared before anybody gets it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo

from huimem.errors import NewerFormat, UsageError, VaultError
from huimem.records import Message, Session
from huimem.vault.front import Value, set_field, split_front
from huimem.vault.headings import Heading, escape, read_heading
from huimem.vault.markdown import FORMAT, append, first_title, is_newer, parse, render, sort_of
from huimem.vault.moments import digits, settle, written, zone_name

_MILLISECOND = timedelta(milliseconds=1)


def normalise(
    data: bytes, path: str, zone: tzinfo, *, upgrade: bool = False, modified: datetime | None = None
) -> bytes:
    """The file in full form; the same bytes where nothing is to do, as in facts and notes.

    Short headings get date and seconds, turns at one time the smallest free fraction. `upgrade` also
    rewrites the older tag form and untimed chats; `modified` dates what carries no time. Raises
    `NewerFormat`, `UsageError` where front matter or a missing date prevents it.
    """
    if sort_of(data, path) != "session":
        return data
    session = parse(data, path, zone=zone, modified=modified)
    if is_newer(session):
        raise NewerFormat(f"{path} was written by a newer huimem", "Upgrade huimem: pip install -U huimem")
    said = [message for message in session.messages if message.role != "note"]
    if said and _heading(said[0]) is not None:
        better = _full(session)
    elif upgrade:
        better = _upgraded(session, said, path)
    else:
        return data
    again = parse(better, path, zone=zone, modified=modified)
    if [_words(message) for message in again.messages] != [_words(message) for message in said]:
        raise VaultError(f"{path} cannot be rewritten without changing what it says", "It stays as it is.")
    return better


def _words(message: Message) -> tuple[str, str | None, str]:
    return message.role, message.name, message.text


def _heading(message: Message) -> Heading | None:
    """The timed heading a message was read from; None in any other form."""
    first = (message.raw or b"").split(b"\n", 1)[0]
    return read_heading(first.decode("utf-8", "surrogateescape"))


def _full(session: Session) -> bytes:
    """Headings in full where they are short, and moved on where a turn shares its time."""
    taken = {turn.ref.at for turn in session.turns}
    turns = []
    for turn in session.turns:
        first, *others = turn.messages
        at = first.at
        while at is not None and turn.ref.tie > 1 and digits(at) in taken:
            at += _MILLISECOND
        if at is not None:
            taken.add(digits(at))
        messages = (_in_full(first, at, session.zone), *(_in_full(m, m.at, session.zone) for m in others))
        turns.append(replace(turn, messages=messages))
    return render(replace(session, turns=tuple(turns)))


def _in_full(message: Message, at: datetime | None, zone: tzinfo) -> Message:
    """The message with its heading line rewritten; its text keeps its bytes."""
    heading = _heading(message)
    if heading is None or at is None or (heading.full and at == message.at):
        return message
    line, newline, below = (message.raw or b"").partition(b"\n")
    end = b"\r" if line.endswith(b"\r") else b""
    head = heading.head if heading.full else heading.head.rstrip(" :：")
    text = f"{'#' * heading.level} {head} · {written(at, zone)}"
    return replace(message, at=at, raw=text.encode("utf-8", "surrogateescape") + end + newline + below)


def _upgraded(session: Session, said: Sequence[Message], path: str) -> bytes:
    """The conversation written anew below its own front matter; notes between messages move to the top."""
    if any(message.at is None for message in said):
        raise UsageError(
            f"{path} does not tell when it was said",
            "Put `created: 2026-04-06T09:14:23` into its front matter.",
        )
    notes = [message.text for message in session.messages if message.role == "note"]
    title = [] if first_title(session.preface) else [f"# {session.title}"]
    preface = "\n\n".join(filter(None, [*title, session.preface.strip("\n"), *notes]))
    empty = replace(
        session,
        turns=(),
        front=_front(session, said, path),
        preface_raw=f"\n{escape(preface)}\n\n".encode("utf-8", "surrogateescape"),
        tail=b"",
        people=session.people or any(message.role == "person" for message in said),
    )
    return render(append(empty, [replace(message, raw=None) for message in said]))


def _front(session: Session, said: Sequence[Message], path: str) -> bytes:
    """The user's own front matter with our keys added where they are missing."""
    created = settle(said[0].at or datetime.min, session.zone)
    ours: dict[str, Value] = {
        "huimem": str(FORMAT),
        "id": session.id,
        "title": session.title,
        "created": written(created, session.zone).replace(" ", "T", 1).replace(" ", ""),
        "tz": zone_name(session.zone),
    }
    if any(turn.inferred for turn in session.turns):
        ours["times"] = "inferred"
    ours |= {name: value for name, value in session.fields.items() if name not in ours}
    front, own = session.front, split_front(session.front, path)[0].fields
    try:
        for name, value in ours.items():
            if not own.get(name):
                front = set_field(front, name, value)
    except ValueError as error:
        raise UsageError(
            f"{path}: its front matter cannot be parsed", "Put it right first; doctor names the line."
        ) from error
    return front

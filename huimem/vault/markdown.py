"""A session's file ↔ the Session record; the only place that writes messages down.

In: a file's bytes, or messages. Out: a Session whose every message keeps its own bytes, so that
rendering what was parsed gives the file again, byte for byte; new messages are written in the one
form that reads back as they were. Reading itself is in `reading`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo
from itertools import islice

from huimem.errors import UsageError
from huimem.records import Message, Session, Turn
from huimem.vault import roles
from huimem.vault.front import BOM, Value, render_front, set_field, split_front
from huimem.vault.headings import escape, read_heading
from huimem.vault.moments import digits, read_zone, settle, written, zone_name
from huimem.vault.reading import FORMAT, first_title, group, is_newer, local_path, parse, sort_of
from huimem.vault.text import normal

__all__ = [
    "FORMAT",
    "append",
    "digits",
    "first_title",
    "group",
    "inserted",
    "is_newer",
    "local_path",
    "new_session",
    "normal",
    "parse",
    "render",
    "retitled",
    "rewritten",
    "settle",
    "sort_of",
    "title_throughout",
]

_H1 = re.compile(rb"^#[ \t]+([^\n]*?)[ \t\r]*$", re.MULTILINE)
_MILLISECOND = timedelta(milliseconds=1)


def render(session: Session) -> bytes:
    """The file of a session: bytes it was read from as they are, all else in the written form.

    Raises ValueError for a message without bytes that has no time, or is no message of a session.
    """
    return b"".join(_parts(session)) + session.tail


def _parts(session: Session) -> list[bytes]:
    """The bytes of front matter, preface and each message; a gap belongs to the part above it."""
    messages = session.messages
    kept = session.front or session.preface_raw or any(message.raw is not None for message in messages)
    front = session.front if kept else render_front(session.fields)
    parts = [front, session.preface_raw or session.preface.encode("utf-8", "replace")]
    end = line_end(front + parts[1] or next((message.raw for message in messages if message.raw), b""))
    after_block = False
    for message in messages:
        if message.raw is None:
            parts[-1] += _gap(parts, end)
            parts.append(_block(message, session, end))
        else:
            parts[-1] += end if after_block and message.raw else b""
            parts.append(message.raw)
        after_block = message.raw is None or (after_block and not message.raw)
    return parts


def line_end(data: bytes) -> bytes:
    """How the lines of `data` end, by the first one."""
    first = data.find(b"\n")
    return b"\r\n" if first > 0 and data[first - 1 : first] == b"\r" else b"\n"


def _gap(parts: Sequence[bytes], end: bytes) -> bytes:
    """What makes one blank line below `parts`; below front matter, or at the file's start, none is needed."""
    last = b"".join(part[-3:] for part in parts[-4:])
    if last.endswith((b"\n\n", b"\n\r\n")) or last in (b"", BOM):
        return b""
    if last.endswith(b"\n"):
        return end if any(islice(parts, 1, None)) else b""
    return end + end


def _block(message: Message, session: Session, end: bytes) -> bytes:
    """A message as it is written: heading, blank line, text."""
    if message.at is None or message.role in ("note", "fact"):
        raise ValueError(f"a {message.role} without a time cannot be written as a message")
    head = roles.head_of(message.role, message.name)
    hashes = "######" if session.people else "##"
    heading = f"{hashes} {head} · {written(message.at, session.zone)}\n"
    said = escape(normal(message.text))
    block = f"{heading}\n{said}\n" if said else heading
    return block.encode().replace(b"\n", end)


def new_session(
    *,
    id: str,
    title: str,
    zone: tzinfo,
    created: datetime,
    namespace: str = "",
    people: bool = False,
    fields: Mapping[str, Value] | None = None,
) -> Session:
    """A session without turns; rendered: front matter and title. `fields` go after ours, or over
    them. A session without a title is called by its id."""
    zone = read_zone(zone_name(zone)) or zone  # the very zone that `tz` reads back as
    title = " ".join(normal(title).split()) or id
    day, clock, *offset = written(settle(created, zone), zone).split(" ")
    ours: dict[str, Value] = {
        "huimem": str(FORMAT),
        "id": id,
        "title": title,
        "aliases": (title,),
        "created": f"{day}T{clock}{''.join(offset)}",
        "tz": zone_name(zone),
    }
    if title == id:
        del ours["aliases"]
    written_fields = {**ours, **(fields or {})}
    preface = f"\n# {title}\n\n"
    return Session(
        id=id,
        title=title,
        zone=zone,
        turns=(),
        namespace=namespace,
        people=people,
        fields=written_fields,
        preface=preface,
        front=render_front(written_fields),
        preface_raw=preface.encode(),
    )


def append(session: Session, messages: Sequence[Message]) -> Session:
    """`session` with `messages` at its end, in turns; every byte before them stays.

    A turn that would have the time of another one gets the smallest free fraction of a second.
    Raises ValueError for a message without a time, UsageError for a file whose form cannot take any.
    """
    end = len(session.messages)
    return inserted(session, [(end, message) for message in messages])


def inserted(session: Session, messages: Sequence[tuple[int, Message]]) -> Session:
    """`session` with each message before the one at its index, or at the end; every byte of its own stays.

    Raises what `append` does.
    """
    _refuse_other_forms(session)
    if not messages:
        return session
    held = session.messages
    alone = not held or messages[0][0] == 0
    before: dict[int, list[Message]] = {}
    for (place, _), message in zip(messages, _placed(session, [m for _, m in messages], alone), strict=True):
        before.setdefault(place, []).append(message)
    everything: list[Message] = []
    for place in range(len(held) + 1):
        everything += (*before.get(place, ()), *held[place : place + 1])
    grown = replace(session, turns=_grouped(session, everything))
    front, preface, *raws = _parts(grown)
    line = front.count(b"\n") + preface.count(b"\n") + 1
    settled = []
    for message, raw in zip(everything, raws, strict=True):
        below = (2 if message.text else 0) if message.raw is None else message.text_line - message.line
        if message.raw is not raw or message.line != line:
            message = replace(message, line=line, text_line=line + below, raw=raw)
        settled.append(message)
        line += raw.count(b"\n")
    return replace(session, front=front, preface_raw=preface, turns=_grouped(session, settled))


def rewritten(session: Session, texts: Mapping[int, str]) -> Session:
    """`session` with the messages at these indices saying other texts; every byte between them stays."""
    if not texts:
        return session
    messages = [
        replace(message, text=normal(texts[index]), raw=None) if index in texts else message
        for index, message in enumerate(session.messages)
    ]
    return replace(session, turns=_grouped(session, messages))


def title_throughout(session: Session) -> str | None:
    """What a session is called, if its front matter, its alias and its first top heading all say so."""
    title, heading = session.fields.get("title"), _H1.search(session.preface_raw)
    if not isinstance(title, str) or heading is None or heading[1] != title.encode("utf-8", "replace"):
        return None
    aliases = session.fields.get("aliases")
    return title if aliases == (None if title == session.id else (title,)) else None


def retitled(session: Session, title: str) -> Session:
    """A session of one title throughout with another one, a single line; every other byte stays.

    Raises ValueError where its front matter cannot be changed.
    """
    heading = _H1.search(session.preface_raw)
    if heading is None or not title or title != " ".join(title.split()):
        raise ValueError("no heading to change, or no title of one line")
    front = _with_alias(set_field(session.front, "title", title), title)
    raw = session.preface_raw
    raw = raw[: heading.start(1)] + title.encode("utf-8", "replace") + raw[heading.end(1) :]
    fields = {**session.fields, "title": title, "aliases": (title,)}
    preface = raw.decode("utf-8", "replace")
    return replace(session, title=title, front=front, fields=fields, preface=preface, preface_raw=raw)


def _with_alias(front: bytes, alias: str) -> bytes:
    """Front matter with this one alias; where it had none, below the title, as in a new session."""
    fields = split_front(front, "")[0].fields
    line = re.search(rb"^title:[^\n]*\n", front, re.MULTILINE)
    if "aliases" not in fields and line:
        lines = render_front({"aliases": (alias,)}).split(b"\n")[1:-2]
        end = line_end(line[0])
        changed = front[: line.end()] + b"".join(each + end for each in lines) + front[line.end() :]
        if split_front(changed, "")[0].fields == {**fields, "aliases": (alias,)}:
            return changed
    return set_field(front, "aliases", (alias,))


def _grouped(session: Session, messages: Sequence[Message]) -> tuple[Turn, ...]:
    return group(
        messages,
        people=session.people,
        session_id=session.id,
        namespace=session.namespace,
        inferred=session.fields.get("times") == "inferred",
    )


def _refuse_other_forms(session: Session) -> None:
    """A timed heading would end the other forms: what stands before it would no longer be messages."""
    first = next((message.raw for message in session.messages if message.raw), None)
    if first is not None and read_heading(first.split(b"\n", 1)[0].decode("utf-8", "replace")) is None:
        raise UsageError(
            f"{session.id} is written in an older or foreign form that cannot be appended to",
            "huimem fmt --upgrade rewrites it and keeps a backup; or record to another session",
        )


def _placed(session: Session, messages: Sequence[Message], alone: bool) -> list[Message]:
    """Messages as they will read back: normal text, speaker as the heading says, times of turns unique.

    `alone`: no message stands before the first of them, which then begins a turn whoever says it.
    """
    listed = roles.listed_names(session.fields)
    taken = {turn.ref.at for turn in session.turns}
    free: dict[datetime, datetime] = {}
    placed = []
    begun = not alone
    for message in messages:
        if message.at is None:
            raise ValueError("a message needs a time to be written")
        known = roles.role_of(message.role)
        head = roles.head_of(known or "person", message.name if known else message.name or message.role)
        role, name = roles.speaker(head, listed) or ("person", head)
        at = settle(message.at, session.zone)
        if session.people or role in ("user", "person") or not begun:
            at = _free_time(at, taken, free)
            taken.add(digits(at))
            begun = True
        placed.append(Message(role, normal(message.text), at, name))
    return placed


def _free_time(at: datetime, taken: set[str], free: dict[datetime, datetime]) -> datetime:
    """The first instant from `at` on, in milliseconds, whose digits no turn has."""
    wanted, at = at, free.get(at, at)
    while digits(at) in taken:
        at += _MILLISECOND
    free[wanted] = at
    return at

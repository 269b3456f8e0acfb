"""A conversation's file → the Session record.

In: any bytes. Out: a Session whose every message keeps its own bytes and lines, and the problems met:
faults never stop the reading of the rest. Ours, untimed and older forms all come out the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import lru_cache
from typing import Literal

from huimem.errors import Problem
from huimem.markup import fences, inside
from huimem.records import Message, Ref, Session, Turn
from huimem.vault import openers, roles, tags
from huimem.vault.front import Front, Value, split_front
from huimem.vault.headings import unescape
from huimem.vault.moments import date_in_name, digits, read_moment, read_zone, zone_name
from huimem.vault.openers import Fault, Opener, Setting
from huimem.vault.text import decode, encode, legible, no_text, trim

FORMAT = 1
_TITLE_LENGTH = 80
_DATE_LIKE = re.compile(r"[0-9]{4}[-/][0-9]")
_H1 = re.compile(r"^#[ \t]+([^\n]*)$", re.MULTILINE)


@lru_cache(maxsize=1)  # who asks reads the file as that next
def sort_of(data: bytes, path: str) -> Literal["session", "facts", "note"]:
    """What a file is: facts by key, kind or place; a session by any message heading; else a note."""
    front, body = split_front(data, path)
    if "key" in front.fields or "kind" in front.fields or local_path(path).startswith("facts/"):
        return "facts"
    text = decode(body)[0]
    if openers.any_timed(text, roles.listed_names(front.fields)):
        return "session"
    if "huimem" not in front.fields and (tags.recognised(text, path) or openers.any_untimed(text)):
        return "session"
    return "note"


def local_path(path: str) -> str:
    """A path of the vault without the namespace folders before it."""
    while path.startswith("namespaces/") and path.count("/") > 1:
        path = path.split("/", 2)[2]
    return path


def is_newer(session: Session) -> bool:
    """Whether the file was written by a newer huimem: then it is read and never written."""
    return newer(session.fields)


def newer(fields: Mapping[str, Value]) -> bool:
    """Whether these fields say a format later than the one this code writes."""
    version = text_field(fields, "huimem").split(".")[0]
    return version.isascii() and version.isdigit() and int(version[:9]) > FORMAT


def text_field(fields: Mapping[str, Value], name: str) -> str:
    """A field's text, stripped; "" where it is missing or a list."""
    value = fields.get(name, "")
    return value.strip() if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class _Body:
    """What a body holds, whatever its form. `numbered`: turns are addressed by their number."""

    openers: list[Opener]
    faults: list[Fault]
    notes: Sequence[tuple[int, int]] = ()
    fields: Mapping[str, Value] | None = None
    preface: str | None = None
    numbered: bool = False


def parse(
    data: bytes, path: str, *, zone: tzinfo, namespace: str = "", modified: datetime | None = None
) -> Session:
    """The session in a file. `zone` is the vault's; the file's own `tz` goes before it.

    `modified` (the file's date) stands in for times that the file does not tell. Faults become the
    session's problems; any bytes can be parsed.
    """
    front, rest = split_front(data, path)
    text, wrong_byte = decode(rest)
    zone, problems = session_zone(front, path, zone)
    created = read_moment(text_field(front.fields, "created"), zone)
    told = created or date_in_name(path, zone)
    setting = Setting(zone, roles.listed_names(front.fields), told)
    body = _read_body(text, path, front, setting, told or modified)
    fields = {**(body.fields or {}), **front.fields}
    first = body.openers[0].start if body.openers else len(text)
    preface = legible(text[:first] if body.preface is None else body.preface)
    messages = _messages(text, body.openers, front.body_line)
    identity = text_field(fields, "id") or local_path(path).removesuffix(".md")
    people = _between_people(body.openers, setting.listed)
    turns = group(
        messages,
        people=people,
        session_id=identity,
        namespace=namespace,
        inferred=(body.numbered and created is None) or fields.get("times") == "inferred",
        numbered=body.numbered,
    )
    faults = [*body.faults, *(Fault(*fault) for fault in no_text(text, wrong_byte))]
    problems += [*front.problems, *located(text, faults, path, front.body_line), *_ties(turns, path)]
    problems += [*newer_problem(fields, path), *created_problem(front, path, zone)]
    return Session(
        id=identity,
        title=text_field(fields, "title") or first_title(preface) or _first_words(messages) or identity,
        zone=zone,
        turns=_with_notes(turns, text, body, front.body_line),
        namespace=namespace,
        people=people,
        fields=fields,
        preface=preface,
        front=front.raw,
        preface_raw=encode(text[:first]),
        problems=tuple(sorted(problems, key=lambda problem: problem.line)),
    )


def _read_body(text: str, path: str, front: Front, setting: Setting, guess: datetime | None) -> _Body:
    """The openings of a body in the first form that fits it; `guess` dates one without any time."""
    ours = "huimem" in front.fields
    if not ours and tags.recognised(text, path):
        old = tags.read(text, setting)
        return _Body(old.openers, old.faults, old.notes, old.fields, old.preface)
    found, faults = openers.timed(text, setting)
    if found or ours or not openers.any_untimed(text):
        return _Body(found, faults)
    return _Body(*openers.untimed(text, guess), numbered=True)


def _messages(text: str, found: Sequence[Opener], line: int) -> list[Message]:
    """The messages that open at `found`, with their lines and bytes; the body begins at `line`."""
    messages: list[Message] = []
    counted = 0
    for index, opener in enumerate(found):
        end = found[index + 1].start if index + 1 < len(found) else len(text)
        line += text.count("\n", counted, opener.start)
        counted = opener.start
        said = text[opener.text : end if opener.stop is None else opener.stop]
        if opener.said is not None:
            said = opener.said
        elif opener.level:
            said = unescape(said)
        said, skipped = trim(legible(said))
        below = text.count("\n", opener.start, opener.text) + skipped if said else 0
        raw = encode(text[opener.start : end])
        messages.append(Message(opener.role, said, opener.at, opener.name, line, line + below, raw))
    return messages


def session_zone(front: Front, path: str, zone: tzinfo) -> tuple[tzinfo, list[Problem]]:
    """The zone a file's times are in: its `tz`, else the vault's; a problem for an unknown one."""
    name = text_field(front.fields, "tz")
    if not name:
        return zone, []
    own = read_zone(name)
    if own is not None:
        return own, []
    message = f"unknown time zone {name[:40]!r}: read in {zone_name(zone)}"
    return zone, [Problem(path, _line_of(front, b"tz"), message, "write an IANA name like Asia/Shanghai")]


def created_problem(front: Front, path: str, zone: tzinfo) -> list[Problem]:
    """The problem of a `created` in the shape of a date that no calendar or clock has, if it is one."""
    written = text_field(front.fields, "created")
    if not _DATE_LIKE.match(written) or read_moment(written, zone) is not None:
        return []
    message = f"`created` is {written[:40]!r}, which does not exist: not read"
    return [Problem(path, _line_of(front, b"created"), message, "write it as 2026-04-06T09:14:23")]


def _line_of(front: Front, name: bytes) -> int:
    """The line of a key in the front matter, 1-based; 1 where it is not found."""
    return next((n for n, text in enumerate(front.raw.split(b"\n"), 1) if text.startswith(name)), 1)


def newer_problem(fields: Mapping[str, Value], path: str) -> list[Problem]:
    """The problem of a file of a later format, if it is one."""
    if not newer(fields):
        return []
    remedy = "upgrade huimem to write it: pip install -U huimem"
    return [Problem(path, 1, f"written in format {fields['huimem']} of a newer huimem: read only", remedy)]


def located(text: str, faults: Sequence[Fault], path: str, line: int) -> list[Problem]:
    """Faults as problems of a file whose body `text` begins at `line`."""
    problems = []
    counted = 0
    for fault in sorted(faults, key=lambda fault: fault.place):
        line += text.count("\n", counted, fault.place)
        counted = fault.place
        problems.append(Problem(path, line, fault.message, fault.remedy))
    return problems


def _between_people(found: Sequence[Opener], listed: frozenset[str]) -> bool:
    """Whether people talk to one another here: the quiet level 6, or names and no assistant."""
    if not found:
        return bool(listed)
    spoken = {opener.role for opener in found}
    return found[0].level == 6 or ("person" in spoken and "assistant" not in spoken)


def first_title(text: str) -> str:
    """The first top heading of `text` outside fences, "" where there is none."""
    spans = fences(text)
    for match in _H1.finditer(text):
        title = match[1].strip().rstrip("#").rstrip()
        if title and not inside(spans, match.start()):
            return title
    return ""


def _first_words(messages: Sequence[Message]) -> str:
    said = next((message.text for message in messages if message.role == "user" and message.text), "")
    return said.split("\n", 1)[0].strip()[:_TITLE_LENGTH].rstrip()


def _with_notes(turns: tuple[Turn, ...], text: str, body: _Body, line: int) -> tuple[Turn, ...]:
    """Turns with the notes between them, each after the turn it follows and dated by it.

    A note's bytes belong to the message before it, so its own are empty.
    """
    if not body.notes or not turns:
        return turns
    owner = turns[0].ref
    messages = [message for turn in turns for message in turn.messages]
    placed = list(turns)
    for number, (start, end) in enumerate(body.notes, 1):
        said, skipped = trim(legible(tags.silenced(text[start:end])))
        at_line = line + text.count("\n", 0, start) + skipped
        at = next((message.at for message in reversed(messages) if message.line <= at_line), None)
        note = Message("note", said, at, None, at_line, at_line, b"")
        placed.append(Turn(Ref(owner.namespace, owner.session, f"note-{number}"), (note,), kind="note"))
    return tuple(sorted(placed, key=lambda turn: turn.messages[0].line))


def _ties(turns: Sequence[Turn], path: str) -> list[Problem]:
    return [
        Problem(
            path,
            turn.messages[0].line,
            f"a second turn at this very time: its ref is {turn.ref}",
            "`huimem fmt` writes a fraction of a second to tell them apart",
        )
        for turn in turns
        if turn.ref.tie > 1
    ]


def group(
    messages: Sequence[Message],
    *,
    people: bool,
    session_id: str,
    namespace: str,
    inferred: bool = False,
    numbered: bool = False,
) -> tuple[Turn, ...]:
    """Messages as turns: a user's with all up to the next one; between people each on its own.

    A turn's ref is the wall clock of its first heading, counted where two have the same; its number
    where that has no time, or for all where `numbered`.
    """
    bundles: list[list[Message]] = []
    for message in messages:
        if people or not bundles or message.role in ("user", "person"):
            bundles.append([])
        bundles[-1].append(message)
    seen: Counter[str] = Counter()
    turns = []
    for number, bundle in enumerate(bundles, 1):
        at = bundle[0].at
        place_ = str(number) if at is None or numbered else digits(at)
        seen[place_] += 1
        ref = Ref(namespace, session_id, place_, seen[place_])
        turns.append(Turn(ref, tuple(bundle), inferred=inferred))
    return tuple(turns)

"""Plain notes, and the notes inside sessions: Markdown → searchable parts.

In: the bytes of any Markdown file, or a session. Out: a Session of note parts, one a section; the
records of a session with its preface among them; text with what is not indexed blanked out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, tzinfo

from huimem.markup import fences, inside, searchable
from huimem.records import Message, Ref, Session, Turn
from huimem.vault import openers
from huimem.vault.front import Front, split_front
from huimem.vault.moments import date_in_name, read_moment
from huimem.vault.openers import Fault, Setting
from huimem.vault.reading import (
    created_problem,
    first_title,
    local_path,
    located,
    newer_problem,
    session_zone,
    text_field,
)
from huimem.vault.roles import listed_names
from huimem.vault.text import decode, encode, legible, no_text, trim

_HEADING = re.compile(r"^(#{1,6})[ \t]+([^\n]*)$", re.MULTILINE)
_LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_NOT_SLUG = re.compile(r"[^\w]+")
PREFACE = "preface"


def parse_note(
    data: bytes, path: str, *, zone: tzinfo, namespace: str = "", modified: datetime | None = None
) -> Session:
    """The parts of a note: one a section of its top level, each with its heading in its text.

    Dated by front matter (`created`, `date`) or a date in the file name; else by `modified`, and
    then `inferred`. What stands before the first section is the preface.
    """
    front, rest = split_front(data, path)
    text, wrong_byte = decode(rest)
    zone, problems = session_zone(front, path, zone)
    told = _told_date(front, path, zone)
    identity = text_field(front.fields, "id") or local_path(path).removesuffix(".md")
    sections = _sections(text)
    first = sections[0][0] if sections else len(text)
    at = told or modified
    faults = [Fault(*fault) for fault in no_text(text, wrong_byte)]
    problems += [*front.problems, *newer_problem(front.fields, path), *created_problem(front, path, zone)]
    problems += located(text, faults + _lost_messages(text, front, zone), path, front.body_line)
    note = Session(
        id=identity,
        title=text_field(front.fields, "title") or first_title(legible(text)) or identity.rsplit("/", 1)[-1],
        zone=zone,
        turns=_parts(text, sections, Ref(namespace, identity, ""), at, told is None, front.body_line),
        namespace=namespace,
        fields=front.fields,
        preface=legible(text[:first]),
        front=front.raw,
        preface_raw=encode(text[:first]),
        problems=tuple(sorted(problems, key=lambda problem: problem.line)),
    )
    return replace(note, turns=_with_preface(note, at, told is None))


def _told_date(front: Front, path: str, zone: tzinfo) -> datetime | None:
    for name in ("created", "date"):
        at = read_moment(text_field(front.fields, name), zone)
        if at is not None:
            return at
    return date_in_name(path, zone)


def _lost_messages(text: str, front: Front, zone: tzinfo) -> list[Fault]:
    """Lines that should have been messages where there is none; in a foreign note only the clearest."""
    listed = listed_names(front.fields)
    if "huimem" not in front.fields and not front.problems:
        return openers.impossible(text, listed)
    return openers.timed(text, Setting(zone, listed))[1]


def _sections(text: str) -> list[tuple[int, str]]:
    """Start and heading of each section: level 1 where that occurs twice, else the next level there is."""
    spans = fences(text)
    found = [
        (match.start(), len(match[1]), match[2].strip())
        for match in _HEADING.finditer(text)
        if not inside(spans, match.start())
    ]
    levels = Counter(level for _, level, _ in found)
    top = 1 if levels[1] > 1 else min((level for level in levels if level > 1), default=0)
    return [(start, heading) for start, level, heading in found if level <= top and (level > 1 or top == 1)]


def _parts(
    text: str, sections: Sequence[tuple[int, str]], owner: Ref, at: datetime | None, inferred: bool, line: int
) -> tuple[Turn, ...]:
    turns = []
    counted = 0
    slugs = Counter({PREFACE: 1})  # a section of that name is the second one
    for index, (start, heading) in enumerate(sections):
        end = sections[index + 1][0] if index + 1 < len(sections) else len(text)
        line += text.count("\n", counted, start)
        counted = start
        slug = slug_of(legible(heading))
        slugs[slug] += 1
        said, _ = trim(legible(text[start:end]))
        message = Message("note", said, at, None, line, line, encode(text[start:end]))
        ref = Ref(owner.namespace, owner.session, slug, slugs[slug])
        turns.append(Turn(ref, (message,), kind="note", inferred=inferred))
    return tuple(turns)


def slug_of(heading: str) -> str:
    """A heading as a ref's last part: letters and digits of any script, joined by hyphens."""
    shown = _LINK.sub(r"\1", heading).rstrip("# \t")
    return _NOT_SLUG.sub("-", shown.lower()).strip("-_") or "part"


def records(session: Session) -> tuple[Turn, ...]:
    """All there is to find in a session: its turns, and its preface where that says more than the title."""
    if session.turns and session.turns[0].ref.at == PREFACE:
        return session.turns
    created = read_moment(text_field(session.fields, "created"), session.zone)
    first = next((turn for turn in session.turns if turn.at), None)
    if created is None and first is not None:
        return _with_preface(session, first.at, first.inferred)
    return _with_preface(session, created, created is None)


def _with_preface(session: Session, at: datetime | None, inferred: bool) -> tuple[Turn, ...]:
    """The turns behind a part of the preface, dated `at`. A lone title is a part where nothing else is said.

    The part's bytes stay the session's `preface_raw`, so its own are empty.
    """
    said, skipped = trim(_without_title(session))
    if not searchable(said).strip():
        if session.turns or not session.preface.strip():
            return session.turns
        said, skipped = trim(session.preface)
    line = session.front.count(b"\n") + 1 + skipped
    message = Message("note", said, at, None, line, line, b"")
    ref = Ref(session.namespace, session.id, PREFACE)
    return (Turn(ref, (message,), kind="note", inferred=inferred), *session.turns)


def _without_title(session: Session) -> str:
    """The preface with the heading that repeats the title left empty."""
    for match in _HEADING.finditer(session.preface):
        if match[1] == "#" and match[2].strip().rstrip("#").rstrip() == session.title:
            return session.preface[: match.start()] + session.preface[match.end() :]
    return session.preface

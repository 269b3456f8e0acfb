"""A file's bytes → what the index sees of it.

In: bytes, the path they came from, the vault's zone. Out: a `Source` with as many records as can be
had; faults are its problems. Nothing here touches the disk.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, tzinfo
from hashlib import blake2b

from huimem.records import Session, Source, Turn
from huimem.vault.conflicts import conflict_problem
from huimem.vault.facts import FactFile, file_id, parse_facts, tags_of, timeline
from huimem.vault.layout import namespace_of
from huimem.vault.markdown import parse, sort_of
from huimem.vault.notes import parse_note, records

FEW = 8  # parts of a note that each stand under its title; in a diary of thousands it would drown the rest
BETWEEN_NAMES = " · "  # no phrase goes on from one to the next
_NO_NAMES = ("null",)  # what YAML writes for none
_LETTER = re.compile(r"[^\W\d_]")
_JOINTS = re.compile(r"[._/:-]+")


def digest(data: bytes) -> str:
    """blake2b-128 of the bytes, in hex."""
    return blake2b(data, digest_size=16).hexdigest()


def session_of(
    data: bytes, path: str, *, zone: tzinfo, modified: datetime | None = None, sort: str = ""
) -> Session:
    """What a file that is not a fact file holds: its conversation, or its parts as a note.

    `sort`: what `sort_of` says of it, where that is known.
    """
    return _session(sort or sort_of(data, path), data, path, zone, modified)


def _session(sort: str, data: bytes, path: str, zone: tzinfo, modified: datetime | None) -> Session:
    read = parse if sort == "session" else parse_note
    session = read(data, path, zone=zone, namespace=namespace_of(path), modified=modified)
    conflict = conflict_problem(data, path)
    return replace(session, problems=(*session.problems, *conflict)) if conflict else session


def source_of(data: bytes, path: str, *, zone: tzinfo, modified: datetime | None = None) -> Source:
    """Every record of a file. `modified`, the file's own date, stands in where nothing else dates a note."""
    sort = sort_of(data, path)
    if sort == "facts":
        return _facts(data, path, zone)
    session = _session(sort, data, path, zone, modified)
    return Source(
        path=path,
        digest=digest(data),
        namespace=session.namespace,
        title=session.title,
        tags=tags_of(session.fields),
        records=_under_title(records(session), session),
        problems=session.problems,
    )


def _under_title(turns: tuple[Turn, ...], session: Session) -> tuple[Turn, ...]:
    """The records of a file under its names: each part of a note of a few, the first of others.

    Of a talk it is the first turn.
    """
    first = next((turn for turn in turns if turn.kind == "turn"), None)
    title = "" if first and session.title == session.id else session.title
    called = _names(title, session.fields.get("aliases", ()))
    if not called:
        return turns
    every = first is None and len(turns) <= FEW
    under = turns[0] if first is None and turns else first
    return tuple(replace(turn, called=called) if every or turn is under else turn for turn in turns)


def _names(title: str, aliases: str | tuple[str, ...]) -> str:
    """The title of a file and its aliases, each that says more than those before it.

    An id is no name, nor is a date. A file's own name is its title where it has no other: with another
    one, moving the file would change what is indexed of it.
    """
    said: list[str] = []
    for one in (title, *((aliases,) if isinstance(aliases, str) else aliases)):
        known = any(_stands_in(one, other) for other in said)
        if _LETTER.search(one) and one.casefold() not in _NO_NAMES and not known:
            said.append(one)
    return BETWEEN_NAMES.join(said)


def _stands_in(name: str, other: str) -> bool:
    """Whether a name stands in another one, from the beginning of a word to the end of one."""
    return re.search(rf"(?<!\w){re.escape(name.casefold())}(?!\w)", other.casefold()) is not None


def _facts(data: bytes, path: str, zone: tzinfo) -> Source:
    file = parse_facts(data, path, zone=zone, namespace=namespace_of(path))
    facts = timeline(file.versions, namespace=file.namespace, file=file.id)
    title = "" if file.title in (file.key, file_id(path)) else file.title
    facts = tuple(replace(fact, called=_called(title, fact.key)) for fact in facts)
    return Source(
        path=path,
        digest=digest(data),
        namespace=file.namespace,
        title=file.title,
        tags=file.tags,
        records=(*facts, *records(_preface(file))),
        problems=(*file.problems, *conflict_problem(data, path)),
    )


def _called(title: str, key: str | None) -> str:
    """The title that somebody gave a fact's file, and what its key says: wifi.password is two words."""
    return BETWEEN_NAMES.join(filter(None, (title, key and _JOINTS.sub(" ", key))))


def _preface(file: FactFile) -> Session:
    """The text above the first section as a session without turns: it is searched like any preface."""
    front, raw = file.head[: file.preface_at], file.head[file.preface_at :]
    return Session(
        id=file.id,
        title=file.title,
        zone=file.zone,
        turns=(),
        namespace=file.namespace,
        fields=file.fields,
        preface=raw.decode("utf-8", "replace"),
        front=front,
        preface_raw=raw,
    )

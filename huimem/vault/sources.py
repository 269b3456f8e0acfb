"""A file's bytes → what the index sees of it.

In: bytes, the path they came from, the vault's zone. Out: a `Source` with as many records as can be
had; faults are its problems. Nothing here touches the disk.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, tzinfo
from hashlib import blake2b

from huimem.records import Session, Source
from huimem.vault.conflicts import conflict_problem
from huimem.vault.facts import FactFile, parse_facts, tags_of, timeline
from huimem.vault.layout import namespace_of
from huimem.vault.markdown import parse, sort_of
from huimem.vault.notes import parse_note, records


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
        records=records(session),
        problems=session.problems,
    )


def _facts(data: bytes, path: str, zone: tzinfo) -> Source:
    file = parse_facts(data, path, zone=zone, namespace=namespace_of(path))
    facts = timeline(file.versions, namespace=file.namespace, file=file.id)
    return Source(
        path=path,
        digest=digest(data),
        namespace=file.namespace,
        title=file.title,
        tags=file.tags,
        records=(*facts, *records(_preface(file))),
        problems=(*file.problems, *conflict_problem(data, path)),
    )


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

"""`recall_by_id`: a ref, or a place in a file → the exact words there, page by page, with its neighbours."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from huimem.errors import NotFound, UsageError
from huimem.records import Fact, Message, Record, Source
from huimem.surfaces.cli.finding import find, path_now
from huimem.surfaces.cli.hits import counted
from huimem.surfaces.documents import instant, record_document
from huimem.surfaces.mcp.answers import NOTE, OPENING, Answer, Document, joined, named, quoted, without_empty
from huimem.surfaces.mcp.desk import Arguments, Desk
from huimem.surfaces.mcp.recalling import fitted
from huimem.vault.layout import note_name
from huimem.vault.vault import Vault

BESIDE = 60  # tokens of a neighbour's words
_PLACE = re.compile(r"(?P<path>.+?\.md)(?::(?P<line>\d{1,9}))?", re.IGNORECASE)
_HINT = "recall_memory and list_memories give refs and paths; it may have been moved or deleted since."


def recall_by_id(desk: Desk, arguments: Arguments) -> Answer:
    """Show one record, or a whole file, exactly. Raises `NotFound`, `UsageError`."""
    source, records, (before, after) = _meant(desk, arguments)
    whole = sum(len(message.text) for record in records for message in record.messages)
    start, most = arguments["offset"], arguments["max_chars"]
    if start and start >= whole:
        raise UsageError(f"`offset` {start:,} lies past the end: {whole:,} characters", "Begin with 0.")
    page = list(_page(records, start, start + most))
    document: Document = {
        "ref": str(records[0].ref) if len(records) == 1 else "",
        "note": NOTE,
        "kind": records[0].kind if len(records) == 1 else "file",
        "title": source.title,
        "path": source.path,
        "line": records[0].messages[0].line,
        "when": instant(records[0].at, desk.memory.zone),
        "namespace": source.namespace,
        **_held(desk, records),
        "messages": [_message(desk, message, text) for message, text in page],
        "before": [_beside(desk, record) for record in before],
        "after": [_beside(desk, record) for record in after],
        "chars": whole,
        "next_offset": start + most if start + most < whole else None,
    }
    document = without_empty(document, "messages", "chars", "when", "path", "line")
    return Answer(_text(desk, document, page, (before, after)), document)


def _meant(desk: Desk, arguments: Arguments) -> tuple[Source, Sequence[Record], tuple[Sequence[Record], ...]]:
    """The file, which of its records are meant, and those before and after them."""
    vault, text, count = desk.memory.vault, arguments["id"].strip(), arguments["context_turns"]
    try:
        if source := _whole_file(vault, text):
            return source, source.records, ((), ())
        found = find(vault, _place(vault, text), desk.space(arguments))
    except NotFound as error:
        raise NotFound(error.message, _HINT) from error
    except UsageError as error:
        raise UsageError(error.message, _HINT) from error
    return found.source, [found.record], found.beside(count)


def _whole_file(vault: Vault, text: str) -> Source | None:
    """The file of a path without a line; None for anything else."""
    path = _file(vault, text)
    if path is None:
        return None
    source = vault.read(path, keep=True)
    if not source.records:
        raise NotFound(f"{source.path} holds no record")
    return source


def _place(vault: Vault, text: str) -> str:
    """A ref as it is, a place with its path from the vault, whatever folder the server was started in."""
    place = _PLACE.fullmatch(text)
    if place and _file(vault, place["path"]):
        return str(vault.root / text)
    if "#" in text or "@" in text:
        return text
    raise NotFound(f"the vault holds no file and no record {named(text)!r}")


def _file(vault: Vault, given: str) -> str | None:
    """The path of a note of the vault, open or packed, where `given` names one.

    Of any other file, not even that it exists is told. Raises `Unreadable` for one in a damaged archive.
    """
    try:
        place, root = (vault.root / given).resolve(), vault.root.resolve()
        if not place.is_relative_to(root):
            return None
        path = place.relative_to(root).as_posix()
        if vault.holds(path):
            return path
    except (OSError, ValueError):
        return None
    return path_now(vault, path) if note_name(place.name) else None


def _page(records: Sequence[Record], start: int, end: int) -> Iterator[tuple[Message, str]]:
    """The messages that lie between two offsets, counted through all texts, cut there."""
    at = 0
    for record in records:
        for message in record.messages:
            first, last = max(start - at, 0), min(end - at, len(message.text))
            if first < last or (not message.text and start <= at < end):
                yield message, message.text[first:last]
            at += len(message.text)


def _held(desk: Desk, records: Sequence[Record]) -> Document:
    """Of a fact its key, how long it holds, its importance."""
    if len(records) != 1 or not isinstance(records[0], Fact):
        return {}
    document = record_document(records[0], desk.memory.zone)
    return {name: document[name] for name in ("key", "valid", "importance")}


def _message(desk: Desk, message: Message, text: str) -> Document:
    at = instant(message.at, desk.memory.zone)
    document: Document = {"role": message.role, "name": message.name, "when": at, "line": message.line}
    return without_empty({**document, "text": text}, "when", "text")


def _beside(desk: Desk, record: Record) -> Document:
    at = instant(record.at, desk.memory.zone)
    return {"ref": str(record.ref), "when": at, "text": fitted(record.text, BESIDE)}


def _text(
    desk: Desk,
    document: Document,
    page: Sequence[tuple[Message, str]],
    beside: tuple[Sequence[Record], ...],
) -> str:
    chars, until = document["chars"], document.get("next_offset")
    ref = f"[{document['ref']}]" if document.get("ref") else ""
    head = [ref, named(str(document["kind"]), 30), f"{named(str(document['path']), 200)}:{document['line']}"]
    lines = [joined(head) + f" · {counted(int(str(chars)), 'character')}", OPENING]
    lines.append(quoted(f"# {document.get('title', '')}"))
    before, after = beside
    lines += _near(desk, "before", before)
    for message, text in page:
        lines += [f"{named(message.speaker)} · {desk.moment(message.at)}:", quoted(text)]
    if until:
        lines.append(f"It goes on: ask again with `offset` {until}.")
    lines += _near(desk, "after", after)
    return "\n".join(lines)


def _near(desk: Desk, name: str, records: Sequence[Record]) -> Iterator[str]:
    for record in records:
        yield f"{name}: [{record.ref}] {desk.moment(record.at)}"
        yield quoted(fitted(record.text, BESIDE))

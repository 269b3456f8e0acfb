"""Records found → Hits: each with its whole record, its evidence, its line, its neighbours; and passages.

Texts and lines come from the file as it stands now; a file that has changed or gone since it was
indexed costs its hit, with a warning, and never shows a text the file does not hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from huimem.errors import HuimemError, Problem
from huimem.index.rows import ChunkRow, RecordRow
from huimem.recall.passages import passages_of, shortfall
from huimem.records import Factor, Hit, Passage, Record, Source

Read = Callable[[str], Source]


@dataclass(frozen=True, slots=True)
class Found:
    """A record that answers: the message and the chunk that speak for it, and its factors.

    `highlight` is the span of the chunk's text that must be seen, (0, 0) for none in particular. `records`
    of its session lie in the time asked for, where it stands for that session.
    """

    record: RecordRow
    message: int
    chunk: ChunkRow
    factors: tuple[Factor, ...]
    records: int = 0
    highlight: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Told:
    """What is shown of an answer: hits, passages where they were asked for, what the reader must know."""

    hits: tuple[Hit, ...]
    passages: tuple[Passage, ...] = ()
    warnings: tuple[str, ...] = ()


def told_of(read: Read, found: Sequence[Found], context: int, budget: int | None) -> Told:
    """Hits in the order given with their passages, from one reading of each file.

    Passages are made where a context or a budget is asked for. A warning stands for each file that could
    not speak for itself, and one for the hits that the budget does not hold.
    """
    sources: dict[str, Source | Problem] = {}
    hits, missed = _hits(read, found, context, sources)
    if not context and budget is None:
        return Told(hits, (), missed)
    whole = {path: source for path, source in sources.items() if isinstance(source, Source)}
    filled = passages_of(hits, whole, context, budget)
    short = shortfall(filled, len(hits), budget)
    return Told(hits, filled.passages, (*missed, short) if short else missed)


def _hits(
    read: Read, found: Sequence[Found], context: int, sources: dict[str, Source | Problem]
) -> tuple[tuple[Hit, ...], tuple[str, ...]]:
    """Hits in the order given, and a warning for each file that could not speak for itself.

    The files read on the way are put into `sources`.
    """
    hits: list[Hit] = []
    missed: dict[str, str] = {}
    for one in found:
        path = one.record.path
        if path not in sources:
            sources[path] = _source(read, path)
        source = sources[path]
        if isinstance(source, Problem):
            missed[path] = str(source)
            continue
        hit = _hit(source, one, context)
        if hit:
            hits.append(hit)
        else:
            missed[path] = f"{path} changed while it was being read; ask again"
    return tuple(hits), tuple(missed.values())


def _source(read: Read, path: str) -> Source | Problem:
    """A file's records, or why they cannot be had."""
    try:
        return read(path)
    except HuimemError as error:
        return Problem(path, 0, error.message, error.hint)
    except OSError as error:
        return Problem(path, 0, error.strerror or str(error), "Check the disk and its permissions.")


def _hit(source: Source, one: Found, context: int) -> Hit | None:
    place = next((i for i, record in enumerate(source.records) if str(record.ref) == one.record.ref), None)
    if place is None or one.message >= len(source.records[place].messages):
        return None
    record = source.records[place]
    message = record.messages[one.message]
    if one.chunk.text not in message.text:
        return None
    return Hit(
        ref=record.ref,
        record=record,
        path=source.path,
        line=one.chunk.lines[0],
        title=source.title,
        tags=source.tags,
        message=one.message,
        evidence=one.chunk.text,
        factors=one.factors,
        highlight=one.highlight,
        before=_near(source, place - context, place),
        after=_near(source, place + 1, place + 1 + context),
        records=one.records,
    )


def _near(source: Source, start: int, end: int) -> tuple[Record, ...]:
    return source.records[max(0, start) : max(0, end)]

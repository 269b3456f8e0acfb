"""A source → its records cut into chunks, ready to be stored, what the catalog holds already left out.

Pure: the same source gives the same, whoever cuts it and in which process.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from huimem.index import cut
from huimem.index.asking import asking
from huimem.index.mentions import Times
from huimem.index.rows import milliseconds
from huimem.index.scripts import script
from huimem.index.texts import pack
from huimem.index.tokens import tokenize
from huimem.records import Chunk, Record, Source, TimeRange, Turn


class CutChunk(NamedTuple):
    """A chunk ready to be stored: its words in order, a blank between them, and its texts as they are kept.

    `text` None: it is the end of `said`, behind `lead` characters.
    """

    message: int
    role: str
    at_ms: int | None
    lines: tuple[int, int]
    hash: bytes
    script: str
    asks: float
    words: str
    said: bytes
    lead: int | None
    text: bytes | None


class Made(NamedTuple):
    """What cutting made of a record: its digest, and unless the catalog holds that, times and chunks."""

    digest: bytes
    spoken: tuple[TimeRange, ...] = ()
    chunks: Sequence[CutChunk] | None = None


@dataclass(frozen=True, slots=True)
class CutRecord:
    """A record ready to be stored; `chunks` None where the catalog is known to hold its digest."""

    record: Record
    digest: bytes
    chunks: Sequence[CutChunk] | None


@dataclass(frozen=True, slots=True)
class Held:
    """What the catalog holds of a source: under which path, the file's digest and its records'."""

    path: str
    digest: str
    records: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class CutSource:
    """A source ready to be stored in place of what the catalog `held`."""

    source: Source
    stamp: str
    racy: bool
    held: Held | None
    records: tuple[CutRecord, ...]


@dataclass(frozen=True, slots=True)
class Uncut:
    """A source that was read and is to be cut."""

    source: Source
    stamp: str
    racy: bool
    held: Held | None

    def joined(self, made: Iterable[Made]) -> CutSource:
        """The source with what was made of each of its records."""
        records = []
        for record, one in zip(self.source.records, made, strict=True):
            speaking = record
            if one.spoken and isinstance(record, Turn):
                speaking = replace(record, mentions=one.spoken)
            records.append(CutRecord(speaking, one.digest, one.chunks))
        return CutSource(self.source, self.stamp, self.racy, self.held, tuple(records))


def cut_source(uncut: Uncut, times: Times | None) -> CutSource:
    """Cut what is new in a source, and resolve its time words; what the catalog holds already is left."""
    source = uncut.source
    return uncut.joined(cut_records(source.records, source.namespace, source.tags, uncut.held, times))


def cut_records(
    records: Iterable[Record], namespace: str, tags: tuple[str, ...], before: Held | None, times: Times | None
) -> list[Made]:
    """What is to be stored of the records of a source, of which the catalog holds `before`."""
    left, made = Counter(before.records if before else ()), []
    for record in records:
        digest = cut.digest(record, namespace, tags)
        if left[digest] > 0:
            left[digest] -= 1
            made.append(Made(digest))
            continue
        spoken = () if times is None else times.mentioned(record)
        made.append(Made(digest, spoken, [_cut_chunk(chunk) for chunk in cut.chunks(record)]))
    return made


def _cut_chunk(chunk: Chunk) -> CutChunk:
    at_ms = milliseconds(chunk.at) if chunk.at else None
    spoken = chunk.text if chunk.said.endswith(chunk.text) else chunk.said
    nature = (script(spoken), asking(spoken))
    whose = (chunk.message, chunk.role, at_ms, chunk.lines, bytes.fromhex(chunk.id), *nature)
    words, said = " ".join(tokenize(chunk.said[chunk.asked :])), pack(chunk.said)
    if chunk.said.endswith(chunk.text):
        return CutChunk(*whose, words, said, len(chunk.said) - len(chunk.text), None)
    return CutChunk(*whose, words, said, None, pack(chunk.text))

"""Cuts sources for another process, which asks on standard input: the pure part of a sync.

In: frames, the first of which says how time words are read, each other one holds some sources with what
the catalog knows of them. Out: for each of those a frame with what was made of every source. It ends
when its input does, so that it outlives nobody.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, BinaryIO

from huimem.index.mentions import Times
from huimem.index.sources import CutChunk, Made, Uncut, cut_records
from huimem.records import Fact, Message, Record, Turn

_LENGTH = 8  # bytes before each frame, which say how many follow


def frame(value: object) -> bytes:
    """A value as it is sent. Raises whatever pickle does where that cannot be done."""
    body = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return len(body).to_bytes(_LENGTH, "big") + body


def receive(stream: BinaryIO) -> Any:
    """The next value; raises EOFError where no whole one follows."""
    length = int.from_bytes(stream.read(_LENGTH), "big")
    body = stream.read(length)
    if not length or len(body) < length:
        raise EOFError
    return pickle.loads(body)


def question(sources: Sequence[Uncut]) -> bytes:
    """A frame that asks for `sources` to be cut, without what cutting does not look at.

    Plain values travel several times as fast as records.
    """
    return frame(
        [
            (one.source.namespace, one.source.tags, [*map(_told, one.source.records)], one.held)
            for one in sources
        ]
    )


def answers(stream: BinaryIO) -> list[list[Made] | None]:
    """What was made of each source that was asked for; None where one cannot be cut."""
    return [
        None if made is None else [Made(digest, spoken, _chunks(chunks)) for digest, spoken, chunks in made]
        for made in receive(stream)
    ]


def _chunks(sent: Sequence[tuple[Any, ...]] | None) -> list[CutChunk] | None:
    return None if sent is None else [*map(CutChunk._make, sent)]


def _told(record: Record) -> Any:
    if isinstance(record, Fact):
        return record
    said = [(one.role, one.text, one.at, one.name, one.line, one.text_line) for one in record.messages]
    return record.ref, said, record.mentions, record.kind, record.inferred, record.called


def _heard(told: Any) -> Record:
    if isinstance(told, Fact):
        return told
    ref, said, *nature = told
    return Turn(ref, tuple(Message(*one) for one in said), *nature)


def _cut(asked: tuple[Any, ...], times: Times | None) -> Any:
    """What is sent back of one source; None where cutting fails: who asked tries it too, and says why."""
    namespace, tags, told, before = asked
    try:
        made = cut_records([*map(_heard, told)], namespace, tags, before, times)
    except Exception:
        return None
    return [(one.digest, one.spoken, _plain(one.chunks)) for one in made]


def _plain(chunks: Sequence[CutChunk] | None) -> list[tuple[Any, ...]] | None:
    return None if chunks is None else [tuple(one) for one in chunks]


def serve() -> None:
    """Answer until the input ends. What libraries print goes nowhere."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(100_000, 20, 20)  # next to nothing that is made here refers to itself
    out = os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 1)
    with suppress(EOFError, OSError):
        times = receive(sys.stdin.buffer)
        while True:
            asked = receive(sys.stdin.buffer)
            send(out, frame([_cut(one, times) for one in asked]))


def send(descriptor: int, data: bytes) -> None:
    """Write all of it; raises OSError where nobody reads any more."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]

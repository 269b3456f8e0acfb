"""A Memory → how it stands: freshness and sizes, problems, records by filter, weeks.

Looking asks no question and writes no file of the user's; lists catch up with the files first.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Unpack

from huimem import checking, heartbeat
from huimem.errors import Problem
from huimem.heartbeat import Watcher
from huimem.memory import Memory
from huimem.recall import listing
from huimem.recall.listing import Listed, Week
from huimem.recall.query import Keywords, Options, make
from huimem.recall.query import options as options_of
from huimem.records import Resolution


@dataclass(frozen=True, slots=True)
class Status:
    """How an index stands beside its vault. `pending` counts files it has not taken in, `bytes` its size.

    `problems` counts faults in files as last read; `embedder` names the one that answers, None where words
    do alone. `watcher` is None where none keeps the index in step. `building`: the embedder that will
    answer, and how many of all passages have its vector. `packed` counts the files in `archives`.
    """

    root: Path
    state: Path
    sources: int
    turns: int
    passages: int
    vectors_done: int
    vectors_total: int
    engine: str
    fresh: bool
    pending: int
    bytes: int
    embedder: str | None
    problems: int
    warnings: tuple[str, ...] = ()
    watcher: Watcher | None = None
    building: tuple[str, int, int] | None = None
    packed: int = 0
    archives: int = 0


def status(memory: Memory) -> Status:
    """How the index stands now; takes nothing in. Raises VaultError where the vault cannot be listed."""
    scan, counts = memory.vault.scan(), memory.index.counts()
    stamps = scan.stamps
    changes = memory.index.changes(stamps, unreadable=scan.unreadable)
    pending = len(changes.new) + len(changes.changed) + len(changes.removed) + len(scan.unreadable)
    embedder = memory.index.embedder
    answering = memory.index.answers()
    whole = embedder is not None and 0 < counts.vectors == counts.chunks
    return Status(
        root=memory.vault.root,
        state=memory.vault.state,
        sources=counts.sources,
        turns=counts.records,
        passages=counts.chunks,
        vectors_done=counts.vectors,
        vectors_total=counts.chunks if embedder else 0,
        engine="words+meaning" if whole else "words",
        fresh=not pending,
        pending=pending,
        bytes=_size(memory.vault.state),
        embedder=answering.name if embedder and answering else embedder.name if embedder else None,
        problems=len(scan.problems) + len(memory.index.problems()),
        warnings=memory.warnings,
        watcher=heartbeat.seen(memory.vault.state, now=memory.now().timestamp()),
        building=memory.index.building(),
        packed=sum(1 for _ in memory.vault.archives.inside(scan.archives, [])),
        archives=len(scan.archives),
    )


def problems(memory: Memory) -> tuple[Problem, ...]:
    """Every fault in the vault's files as they are now, and what clashes between them, by path and line."""
    return checking.problems(memory.vault)


def listed(
    memory: Memory, *, now: datetime | None = None, **keywords: Unpack[Keywords]
) -> tuple[Listed, ...]:
    """The newest records that pass the filters of a recall, at most `limit`; of a time those said then.

    Of a vague time those of its window, where it has one.
    """
    options = replace(options_of(keywords), said_only=True)
    asked = make("", options, memory.now(now), memory.resolve)
    question, window = asked.query, asked.resolution and asked.resolution.window
    if window and not question.during:
        question = replace(question, during=(window,))
    with memory.caught_up() as standing:
        narrowed = memory.narrowed(question, standing)
        return listing.listed(memory.index, narrowed, standing.overlay, question.limit, memory.zone)


def time_read(memory: Memory, phrase: str, now: datetime) -> Resolution:
    """How a time phrase beside a question is read. Raises UsageError where it names no time."""
    return make("", Options(when=phrase), memory.now(now), memory.resolve).resolution or Resolution()


def weeks(memory: Memory, *, namespace: str | None = None) -> tuple[Week, ...]:
    """What each week from the first to the last holds, in the zone of `memory`."""
    options = options_of({"namespace": namespace, "kinds": ("turn",)})
    question = make("", options, memory.now(), memory.resolve).query
    with memory.caught_up() as standing:
        narrowed = memory.narrowed(question, standing)
        return listing.weeks(memory.index, narrowed, standing.overlay, memory.zone)


def _size(folder: Path) -> int:
    """Bytes of all files below a folder; 0 where it does not exist."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(place, name)).st_size
            except OSError:  # it went meanwhile
                continue
    return total

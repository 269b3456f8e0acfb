"""Looking without asking: records by filter, newest first, and how much each week holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from huimem.index import browse
from huimem.index.filters import Filter
from huimem.index.index import Index, Snapshot
from huimem.index.rows import ChunkRow, RecordRow, instant
from huimem.recall.parts import parts_of
from huimem.records import TimeRange

_EXCERPT = 160  # characters


@dataclass(frozen=True, slots=True)
class Listed:
    """A record in a list. `at` is aware in the zone asked for, None where nothing dates it.

    `inferred` says that `at` was guessed.
    """

    ref: str
    at: datetime | None
    title: str
    path: str
    line: int
    kind: str
    role: str
    namespace: str
    excerpt: str
    inferred: bool = False


@dataclass(frozen=True, slots=True)
class Week:
    """An ISO week with the turns and sessions that began in it."""

    name: str
    range: TimeRange
    turns: int
    sessions: int


def listed(
    index: Index, narrowed: Filter, overlay: Snapshot | None, limit: int, zone: tzinfo
) -> tuple[Listed, ...]:
    """The newest records that pass, undated ones last; at most `limit`."""
    with index.snapshot() as snapshot:
        found = [
            one
            for part in parts_of(snapshot, narrowed, overlay)
            for one in browse.newest(part.snapshot.db, part.narrowed, limit)
        ]
    found.sort(key=lambda one: (one[0].at_ms is None, -(one[0].at_ms or 0), one[0].ref))
    return tuple(_listed(record, chunk, zone) for record, chunk in found[:limit])


def _listed(record: RecordRow, chunk: ChunkRow, zone: tzinfo) -> Listed:
    return Listed(
        ref=record.ref,
        at=_instant(record.at_ms, zone),
        title=record.title,
        path=record.path,
        line=chunk.lines[0],
        kind=record.kind,
        role=chunk.role,
        namespace=record.namespace,
        excerpt=_excerpt(chunk.text),
        inferred=record.inferred,
    )


def weeks(index: Index, narrowed: Filter, overlay: Snapshot | None, zone: tzinfo) -> tuple[Week, ...]:
    """Every week of `zone` from the first to the last that holds a turn, empty ones between them too."""
    turns: Counter[TimeRange] = Counter()
    sessions: dict[TimeRange, set[tuple[int, int]]] = {}
    spans: dict[str, TimeRange] = {}
    with index.snapshot() as snapshot:
        for number, part in enumerate(parts_of(snapshot, narrowed, overlay)):
            for at_ms, source in browse.moments(part.snapshot.db, part.narrowed):
                at = _instant(at_ms, zone)
                if at is None:
                    continue
                span = spans.setdefault(f"{at:%G-W%V}", TimeRange.week_of(at, zone))
                turns[span] += 1
                sessions.setdefault(span, set()).add((number, source))
    return tuple(
        Week(name, span, turns[span], len(sessions.get(span, ()))) for name, span in _through(spans, zone)
    )


def _through(spans: dict[str, TimeRange], zone: tzinfo) -> Iterator[tuple[str, TimeRange]]:
    """The weeks from the first to the last, without gaps."""
    starts = sorted(span.start for span in spans.values() if span.start)
    if not starts:
        return
    middle, last = starts[0] + timedelta(days=3), starts[-1]
    while middle - timedelta(days=4) < last:
        span = TimeRange.week_of(middle, zone)
        yield f"{middle.astimezone(zone):%G-W%V}", span
        middle += timedelta(days=7)


def _instant(at_ms: int | None, zone: tzinfo) -> datetime | None:
    if at_ms is None:
        return None
    return instant(at_ms).astimezone(zone)


def _excerpt(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _EXCERPT else line[: _EXCERPT - 1].rstrip() + "…"

"""What is searched: the index and, beside it, files that are not in it yet.

In: a snapshot of the index, a filter, and the overlay if there is one. Out: snapshots, each with the
filter that decides what may be found in it, so that no passage stands in two of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from huimem.index import browse
from huimem.index.filters import NOTHING, Filter
from huimem.index.index import Snapshot


@dataclass(frozen=True, slots=True)
class Part:
    """A part of what is searched, with what may be found in it."""

    snapshot: Snapshot
    narrowed: Filter


def parts_of(snapshot: Snapshot, narrowed: Filter, overlay: Snapshot | None) -> list[Part]:
    """The index, and its overlay, which holds what `narrowed` hides in the index."""
    index = Part(snapshot, narrowed)
    return [index] if overlay is None else [index, Part(overlay, replace(narrowed, hidden=NOTHING))]


def with_facts_held(parts: Sequence[Part]) -> list[Part]:
    """The same where a fact answers for a range in which it held, whenever it began and ended."""
    return [replace(part, narrowed=replace(part.narrowed, held=True)) for part in parts]


def oldest(parts: Sequence[Part], *, facts: bool = False) -> int | None:
    """When the oldest thing was said that passes the filters of the parts, or holds: milliseconds UTC."""
    times = [browse.oldest(part.snapshot.db, part.narrowed, facts=facts) for part in parts]
    return min((at for at in times if at is not None), default=None)

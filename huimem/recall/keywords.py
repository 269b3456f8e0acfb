"""What may be said of a question besides its words, as `Memory.recall` takes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TypedDict

from huimem.records import Message, TimeRange

# The messages before a question: each a text, or as `Memory.record` takes it.
History = str | Message | Mapping[str, object] | Iterable[str | Message | Mapping[str, object]] | None


class Keywords(TypedDict, total=False):
    """The keywords of `Memory.recall`; their meaning stands at `Options`. Of several, one alone will do."""

    when: str | None
    during: TimeRange | Iterable[TimeRange] | None
    said_only: bool
    namespace: str | None
    kinds: str | Iterable[str]
    roles: str | Iterable[str]
    tags: str | Iterable[str]
    limit: int
    context: int
    as_of: datetime | None
    include_superseded: bool
    history: History
    budget: int | None
    scan: bool | None
    weeks: int
    start: str | datetime | None
    enough: float

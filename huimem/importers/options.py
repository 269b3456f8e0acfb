"""How an export is to be read, and what of it could not be."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Literal

from huimem.errors import unexpected
from huimem.records import Conversation

Branch = Literal["active", "all"]
Tools = Literal["none", "names", "full"]


@dataclass(frozen=True, slots=True)
class Options:
    """`zone` is that of times without one. `branch`: what the person saw last, or every other ending too.

    `tools`: calls left out, as one folded line with one of the result, or whole. `since`: nothing that
    ended before it.
    """

    zone: tzinfo
    branch: Branch = "active"
    tools: Tools = "names"
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """What did not come in: its place in the export (`item 3`, `line 7`, "" for all of it), and why.

    Neither holds anything that was said. `left_out` counts what of it stayed behind, by kind.
    """

    place: str
    reason: str
    left_out: Mapping[str, int] = field(default_factory=dict)


def guarded(
    place: str, make: Callable[[], Iterator[Conversation | Skipped]]
) -> Iterator[Conversation | Skipped]:
    """What `make` yields for one item; where it fails, that item alone is skipped."""
    try:
        yield from make()
    except Exception as error:  # whatever somebody wrote there must not stop the items after it
        yield Skipped(place, unexpected(error))

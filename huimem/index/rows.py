"""What the index hands out: rows as frozen records, and reports of what was done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from huimem.errors import Problem
from huimem.records import TITLE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Stands for "no time" in arrays of int64 milliseconds; before any time that a file can name.
UNDATED = -(1 << 62)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def milliseconds(instant: datetime) -> int:
    """Whole milliseconds since 1970 in UTC of an aware instant, rounded down."""
    return (instant - _EPOCH) // _MILLISECOND


def instant(at_ms: int) -> datetime:
    """The aware instant, in UTC, of milliseconds since 1970. Raises OverflowError outside the calendar."""
    return _EPOCH + timedelta(milliseconds=at_ms)


@dataclass(frozen=True, slots=True)
class Passages:
    """Chunks as parallel arrays [n], in the order asked for; chunks that are gone are left out.

    `at_ms` is the message's own time (`UNDATED` where it has none); `message` counts those of its record
    from 0; `asks` is the share of the passage that stands in questions, `script` the number of its script.
    `tokens` is flat: chunk i holds `tokens[offsets[i]:offsets[i + 1]]`, term ids in order.
    """

    rows: NDArray[np.int64]
    record: NDArray[np.int64]
    message: NDArray[np.int64]
    at_ms: NDArray[np.int64]
    asks: NDArray[np.float64]
    script: NDArray[np.int64]
    user: NDArray[np.bool_]
    roles: tuple[str, ...]
    tokens: NDArray[np.uint32]
    offsets: NDArray[np.int64]

    @property
    def titles(self) -> NDArray[np.bool_]:
        """Which of them nobody said: what a record is called."""
        import numpy as np

        return np.array([role == TITLE for role in self.roles], bool)

    @property
    def lengths(self) -> NDArray[np.int64]:
        return self.offsets[1:] - self.offsets[:-1]

    def count(self, terms: Sequence[int]) -> NDArray[np.int64]:
        """How many words of each chunk are one of `terms`: int64 [n]."""
        import numpy as np

        running = np.concatenate(([0], np.cumsum(np.isin(self.tokens, terms))))
        found: NDArray[np.int64] = running[self.offsets[1:]] - running[self.offsets[:-1]]
        return found


@dataclass(frozen=True, slots=True)
class RecordRow:
    """A record as the catalog knows it. Times are milliseconds UTC, ranges half-open, None = open.

    `ord` is its place among the records of its source, `line` its first line in the file (1-based,
    0 where it has none); `fact` says that `valid_from` and `valid_to` mean something.
    """

    id: int
    source: int
    ord: int
    ref: str
    path: str
    line: int
    title: str
    tags: tuple[str, ...]
    namespace: str
    kind: str
    fact: bool
    key: str | None
    at_ms: int | None
    inferred: bool
    valid_from: int | None
    valid_to: int | None
    importance: float
    mentions: tuple[tuple[int | None, int | None], ...]


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A passage: where it stands (`lines` 1-based, both inside) and whose it is."""

    row: int
    record: int
    message: int
    role: str
    lines: tuple[int, int]
    at_ms: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Counts:
    """How much there is, and how many chunks have a vector of the present embedder."""

    sources: int
    records: int
    chunks: int
    terms: int
    vectors: int
    problems: int


@dataclass(frozen=True, slots=True)
class Changes:
    """How a listing differs from the index: paths to read, paths that are gone, how many stand.

    `shrunk`: those of `changed` that are shorter now, perhaps because a writer is in the middle of them.
    """

    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()
    unchanged: int = 0
    shrunk: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many files differ, or may."""
        return len(self.new) + len(self.changed) + len(self.removed) + len(self.doubtful)

    def __bool__(self) -> bool:
        """Whether anything must be read or removed; a doubtful file must be read again."""
        return bool(self.new or self.changed or self.removed or self.doubtful)


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What one sync did, in sources. `problems` are those of the files it read or could not read.

    `held`: paths that are gone and were not taken out, because they are suspiciously many. `pending`
    counts files that were not looked at because it was stopped; `missed` those that others changed the
    index under, so that they must be looked at again. `overtaken`: files were moved since they were listed.
    """

    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0
    held: tuple[str, ...] = ()
    pending: int = 0
    missed: int = 0
    overtaken: bool = False

    def __bool__(self) -> bool:
        """Whether the index is another one now."""
        return bool(self.added or self.changed or self.removed)

    def before(self, later: SyncReport) -> SyncReport:
        """Both as one, where `later` looked again at what this one had missed."""
        return replace(
            later,
            added=self.added + later.added,
            changed=self.changed + later.changed,
            removed=self.removed + later.removed,
            problems=tuple(dict.fromkeys((*self.problems, *later.problems))),
            warnings=tuple(dict.fromkeys((*self.warnings, *later.warnings))),
        )


@dataclass(frozen=True, slots=True)
class EmbedReport:
    """What one round of embedding did, in chunks: from the cache, by the embedder, still without."""

    cached: int = 0
    embedded: int = 0
    pending: int = 0
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0

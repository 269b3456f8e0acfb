"""Chunks without a vector → vectors: from the cache or the embedder, newest first, in small steps.

In: the catalog's pending rows. Out: cached vectors, committed batch by batch, so that a run that is
cut off loses at most one batch.
"""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from huimem import forking
from huimem.index import cut, dense, segments
from huimem.index.texts import unpack
from huimem.index.vectors import Cache
from huimem.ports import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

AT_ONCE = 8  # texts in one call of the embedder: more are no faster, and it must be possible to stop
BLOCK = 4_096  # rows looked up in the cache at once

Progress = Callable[[int, int], None]
Stop = Callable[[], bool]


def pending(db: sqlite3.Connection, embedder: str, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Those of `rows` (ascending) that have no vector of `embedder`: int64, ascending."""
    import numpy as np

    done = [dense.attributes(segment)["row"] for segment in segments.listed(db, embedder)]
    if not done:
        return rows
    return np.setdiff1d(rows, np.concatenate(done), assume_unique=True)


def newest_first(db: sqlite3.Connection, rows: Sequence[int]) -> list[int]:
    """Rows by the time of their message, latest first, undated ones last."""
    wanted = set(rows)
    found = db.execute("SELECT row FROM chunk ORDER BY at_ms DESC NULLS LAST, row DESC")
    return [row for (row,) in found if row in wanted]


@dataclass(frozen=True, slots=True)
class Made:
    """A vector as float16 bytes, and the hash of the text that it was made of."""

    hash: bytes
    code: bytes


def fitting(db: sqlite3.Connection, made: Mapping[int, Made]) -> dict[int, bytes]:
    """The vectors of those rows that still hold the text that they were made of."""
    found = (
        (row, db.execute("SELECT hash FROM chunk WHERE row = ?", (row,)).fetchone()) for row in sorted(made)
    )
    return {row: made[row].code for row, hash in found if hash and hash[0] == made[row].hash}


@dataclass(slots=True)
class Embedding:
    """One round: walks `rows` block by block and yields vectors to publish, until the budget ends.

    `deadline` is on the monotonic clock, None = no end; at least one batch is made by then. `stop` tells
    before each batch whether to end at once.
    """

    embedder: Embedder
    cache: Cache
    deadline: float | None
    stop: Stop | None = None
    progress: Progress | None = None
    cached: int = 0
    embedded: int = 0
    stopped: bool = False
    _total: int = field(default=0)

    def run(self, db: sqlite3.Connection, rows: Sequence[int]) -> Iterator[dict[int, Made]]:
        """Vectors by row, one dict a block; `db` is any reader of the catalog."""
        self._total = len(rows)
        for start in range(0, len(rows), BLOCK):
            yield self._block(db, rows[start : start + BLOCK])
            if self.stopped:
                return

    def _block(self, db: sqlite3.Connection, rows: Sequence[int]) -> dict[int, Made]:
        hashes = {
            row: found[0]
            for row in rows
            if (found := db.execute("SELECT hash FROM chunk WHERE row = ?", (row,)).fetchone())
        }
        codes = self.cache.get(list(set(hashes.values())), 2 * self.embedder.dim or None)
        self.cached += sum(hash in codes for hash in hashes.values())
        self._tell()
        missing = list({hash: row for row, hash in hashes.items() if hash not in codes}.items())
        sharing = Counter(hashes.values())
        for start in range(0, len(missing), AT_ONCE):
            if self._is_over():
                self.stopped = True
                break
            made = self._embed(db, missing[start : start + AT_ONCE])
            codes.update(made)
            self.embedded += sum(sharing[hash] for hash in made)
            self._tell()
        return {row: Made(hash, codes[hash]) for row, hash in hashes.items() if hash in codes}

    def _embed(self, db: sqlite3.Connection, wanted: list[tuple[bytes, int]]) -> dict[bytes, bytes]:
        found = [(hash, said(db, row)) for hash, row in wanted]
        texts = [(hash, text) for hash, text in found if text is not None]
        if not texts:
            return {}
        with forking.divided():
            vectors = self.embedder.embed([text for _, text in texts])
        codes = dense.to_codes(vectors, self.embedder.dim or vectors.shape[-1])
        made = dict(zip((hash for hash, _ in texts), codes, strict=True))
        self.cache.put(made)
        return made

    def _is_over(self) -> bool:
        if self.stop is not None and self.stop():
            return True
        return self.deadline is not None and bool(self.embedded) and time.monotonic() > self.deadline

    def _tell(self) -> None:
        if self.progress is not None:
            self.progress(self.cached + self.embedded, self._total)


def said(db: sqlite3.Connection, row: int) -> str | None:
    """What is embedded of a chunk; None where it is gone meanwhile."""
    found = db.execute("SELECT said FROM passage WHERE row = ?", (row,)).fetchone()
    return cut.plain(unpack(found[0])) if found else None

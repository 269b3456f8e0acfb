"""Files that the catalog does not hold yet → a small index in memory, searched beside it.

In: how the files differ from the catalog, and a function that reads one. Out: a `Snapshot` of what
is new, and the paths whose rows in the catalog no longer stand. It is for a question that comes while
another process holds the lock: nothing is waited for, nothing is written.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from huimem.errors import HuimemError
from huimem.files import Stamp, Unreadable
from huimem.index import catalog, cut
from huimem.index.batch import Batch, held, stands
from huimem.index.differing import LOOKS, Listing, settled
from huimem.index.filters import NOTHING, Hidden
from huimem.index.mentions import Times
from huimem.index.packed import by_digest, is_archive, is_overtaken, opened, stands_open
from huimem.index.rows import Changes
from huimem.index.snapshot import Snapshot
from huimem.index.sources import CutSource, Uncut, cut_source
from huimem.records import Packed, Source

Read = Callable[[str], Source | Packed]


@dataclass(frozen=True, slots=True)
class Overlay:
    """What to search beside the catalog: `snapshot` has words and no vectors; close it by leaving it.

    None where nothing differs. `held` counts the files in it, of which only the end may be there, where the
    rest stands in the catalog as it is. `hidden` is what no longer stands there. `left`: files there was no
    time for, of which the catalog answers as far as it knows them. `unsettled`: something is gone from where
    it was; `vanished` counts files that were listed and could no longer be read.
    """

    snapshot: Snapshot | None = None
    held: int = 0
    hidden: Hidden = NOTHING
    left: int = 0
    unsettled: bool = False
    vanished: int = 0

    def close(self) -> None:
        if self.snapshot is not None:
            self.snapshot.db.close()


def overlaid(
    db: sqlite3.Connection,
    changes: Changes,
    listing: Mapping[str, str],
    read: Read,
    *,
    times: Times | None,
    seconds: float,
) -> Overlay:
    """Read what is new, changed or doubtful, the newest first, for at most `seconds`."""
    end = time.monotonic() + seconds
    months = opened(db, changes, read)
    paths = [path for path in (*changes.new, *changes.changed, *changes.doubtful) if not is_archive(path)]
    paths.sort(key=lambda path: -_written(listing[path]))
    gone = {*changes.removed, *months.gone}.difference(months.moves)
    moved = by_digest(db, sorted(gone)) if months.wanted else {}
    for path, digest in months.wanted.items():
        if old := moved.get(digest):
            gone.discard(old.pop())  # it is packed now: what the catalog holds of it stands
        elif not stands_open(db, listing, path, digest, {}):
            paths.append(path)
    hidden, left, vanished = {(path, 0) for path in gone}, len(paths), 0
    sources: list[CutSource] = []
    for path in paths:
        if sources and time.monotonic() > end:
            break
        left -= 1
        try:
            source = read(path)
        except (HuimemError, OSError) as error:
            if isinstance(error, Unreadable) and error.gone:
                hidden.add((path, 0))
                vanished += 1
            continue
        if isinstance(source, Source) and not stands(held(db, path), source):
            first, end_of_it = _end(db, source, times)
            hidden.add((path, first))
            sources.append(end_of_it)
    unsettled = bool(gone or vanished or months.read or months.lost)
    return Overlay(_in_memory(sources), len(sources), frozenset(hidden), left, unsettled, vanished)


def at_rest(
    seen: Listing,
    compare: Callable[[Listing], Changes],
    again: Callable[[], Listing],
    overlay: Callable[[Changes, Mapping[str, str]], Overlay],
) -> Overlay:
    """The overlay of files that were not moved while they were read; as many as that were are `left`."""
    for look in range(1, LOOKS + 1):
        seen, changes = settled(seen, compare, again)
        found = overlay(changes, seen.stamps)
        now = again() if found.unsettled else seen
        if not found.vanished and not is_overtaken(seen.stamps, now.stamps):
            break
        if look == LOOKS:
            return replace(found, left=found.left + max(1, found.vanished))
        found.close()
        seen = now
    return found


def _end(db: sqlite3.Connection, source: Source, times: Times | None) -> tuple[int, CutSource]:
    """A source from the first record on that is not in the catalog as it is; how many come before it.

    A turn added to a long session costs one turn.
    """
    found = db.execute(
        "SELECT r.digest, r.line FROM record r JOIN source s ON s.id = r.source WHERE s.path = ? "
        "ORDER BY r.ord",
        (source.path,),
    ).fetchall()
    same = 0
    for record, standing in zip(source.records, found, strict=False):
        if (cut.digest(record, source.namespace, source.tags), cut.first_line(record)) != standing:
            break
        same += 1
    whole = replace(source, records=source.records[same:])
    return same, cut_source(Uncut(whole, "", True, None), times)


def _written(stamp: str) -> int:
    """When a file was last written, in nanoseconds; 0 where its stamp does not say."""
    try:
        return Stamp.parse(stamp).mtime_ns
    except ValueError:
        return 0


def _in_memory(sources: list[CutSource]) -> Snapshot:
    db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    db.executescript(catalog.SCHEMA)
    db.executemany("INSERT INTO counter VALUES (?, 1)", [(name,) for name in catalog.COUNTERS])
    batch = Batch(db, {})
    for source in sources:
        batch.put(source)
    batch.finish()
    return Snapshot(db, None, lambda: None, sqlite3.Connection.close)

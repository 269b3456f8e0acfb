"""Files and catalog → the difference between them, once it has come to rest, and what of it is believed.

In: a listing of paths with their stamps, and the catalog. Out: which files are new, changed, gone, or may
hide a change.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from huimem import files, forking
from huimem.index import catalog
from huimem.index.rows import Changes

SECOND_LOOK = 0.1  # seconds until what is gone or shrank is looked at again
LOOKS = 5
RACY_NS = 2_000_000_000  # the coarsest clock of a file system still in use (FAT) ticks every 2 s


def compare(
    db: sqlite3.Connection,
    listing: Mapping[str, str],
    *,
    only: Collection[str] | None = None,
    unreadable: Collection[str] = (),
    full: bool = False,
) -> Changes:
    """How `listing` (path → stamp) differs from the catalog.

    `only`: paths or folders; nothing else is looked at. What is missing below an `unreadable` folder
    is not taken for deleted. `full` doubts every file.
    """
    among = ("source WHERE archive = 0", "archive")
    text = " UNION ALL ".join(f"SELECT path, stamp, racy FROM {one}" for one in among)
    known = {path: (stamp, racy) for path, stamp, racy in db.execute(text)}
    if only is not None:
        listing = {path: stamp for path, stamp in listing.items() if _under(path, only)}
        known = {path: seen for path, seen in known.items() if _under(path, only)}
    new, changed, shrunk, doubtful, unchanged = [], [], [], [], 0
    for path, stamp in listing.items():
        seen = known.get(path)
        if seen is None:
            new.append(path)
        elif seen[0] != stamp:
            changed.append(path)
            if size(stamp) < size(seen[0]):
                shrunk.append(path)
        elif seen[1] or full:
            doubtful.append(path)
        else:
            unchanged += 1
    removed = [path for path in known.keys() - listing.keys() if not _under(path, unreadable)]
    return Changes(
        tuple(new), tuple(changed), tuple(sorted(removed)), tuple(doubtful), unchanged, tuple(shrunk)
    )


class Agreed:
    """The listing that was last found to agree with the catalog: given again, it is not compared again."""

    def __init__(self) -> None:
        self._last: tuple[int, tuple[str, ...], Mapping[str, str]] | None = None

    def compare(
        self, db: sqlite3.Connection, listing: Mapping[str, str], unreadable: Collection[str]
    ) -> Changes:
        """As `compare`, for a whole listing."""
        looked_at = catalog.generation(db), tuple(unreadable), listing
        if self._last == looked_at:
            return Changes(unchanged=len(listing))
        found = compare(db, listing, unreadable=unreadable)
        self._last = None if found else (*looked_at[:2], dict(listing))
        return found


def size(stamp: str) -> int:
    """How many bytes a file had; 0 where its stamp does not say."""
    try:
        return files.Stamp.parse(stamp).size
    except ValueError:
        return 0


def _under(path: str, places: Collection[str]) -> bool:
    """Whether `path` is one of the places or lies in one; "" is the vault itself."""
    if path in places or "" in places or "." in places:
        return True
    return any(path.startswith(f"{place.rstrip('/')}/") for place in places)


def is_racy(stamp: str, clock: int) -> bool:
    """Whether a file changed so shortly before `clock` that a later change may leave the same stamp."""
    try:
        parsed = files.Stamp.parse(stamp)
    except ValueError:
        return False
    return any(abs(clock - at) < RACY_NS for at in (parsed.mtime_ns, parsed.ctime_ns))


@dataclass(frozen=True, slots=True)
class Listing:
    """What lies in a vault at one moment: path → stamp, and what could not be looked at."""

    stamps: Mapping[str, str]
    unreadable: tuple[str, ...] = ()


def settled(
    seen: Listing, compare: Callable[[Listing], Changes], again: Callable[[], Listing] | None
) -> tuple[Listing, Changes]:
    """The listing and its changes once what is gone or shrank looks the same twice in a row.

    A save may empty a file or take it away for a moment. Where nothing comes to rest, the last look counts.
    """
    changes = compare(seen)
    for _ in range(LOOKS if again else 0):
        moving = {path: seen.stamps.get(path) for path in (*changes.removed, *changes.shrunk)}
        if not moving or again is None:
            break
        with forking.divided():
            time.sleep(SECOND_LOOK)
        seen = again()
        changes = compare(seen)
        if moving == {path: seen.stamps.get(path) for path in (*changes.removed, *changes.shrunk)}:
            break
    return seen, changes


@dataclass(frozen=True, slots=True)
class Spared:
    """When files that are gone are not believed to be: more than `most` and than `share` of all at once.

    `most` None: never. `confirmed`: paths that an earlier look has missed too, and are believed, unless
    nothing is left at all.
    """

    most: int | None = None
    share: float = 0.0
    confirmed: frozenset[str] = frozenset()

    def holds(self, gone: set[str], known: int) -> bool:
        if self.most is None or len(gone) <= max(self.most, self.share * known):
            return False
        return not gone <= self.confirmed or len(gone) == known


EVERY = Spared()  # whatever is gone goes

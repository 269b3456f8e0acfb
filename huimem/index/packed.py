"""Archives that differ from the catalog → which of their files are to be looked at, and which have left.

In: how the files differ, and a function that reads an archive's manifest. Out: paths with the digests that
manifests give them. A packed file that stands open with the same bytes is its shadow and has no rows; that
it was packed or taken out again changes its path and nothing else.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from huimem.errors import HuimemError, Problem
from huimem.index.rows import Changes
from huimem.months import archived
from huimem.records import Packed, Source

Read = Callable[[str], Source | Packed]


def is_archive(path: str) -> bool:
    """Whether a path is that of an archive itself."""
    place = archived(path)
    return place is not None and not place.name


def is_overtaken(listing: Mapping[str, str], again: Mapping[str, str]) -> bool:
    """Whether archives changed since a vault was listed: what was missing then may have stood there."""
    before, after = ({path: each[path] for path in each if is_archive(path)} for each in (listing, again))
    return before != after


def archive_of(path: str) -> str:
    """The path of the archive that a file is packed in, "" for an open file."""
    place = archived(path)
    return place.archive if place and place.name else ""


def original_of(path: str) -> str:
    """Where a packed file lies when it is open."""
    place = archived(path)
    return place.original if place else path


@dataclass(frozen=True, slots=True)
class Months:
    """What a run has to do about archives.

    `wanted` gives packed files to be looked at their digests; `gone` are those that are in no archive any
    more, `moves` open files that are packed and gone: open → packed path and digest. `read` are the
    archives that were read; `lost` those that are gone.
    """

    wanted: Mapping[str, str] = field(default_factory=dict)
    gone: frozenset[str] = frozenset()
    moves: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    read: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


def opened(db: sqlite3.Connection, changes: Changes, read: Read) -> Months:
    """The files of the archives that are new, changed, doubtful or gone, against those the catalog knows."""
    found: dict[str, Packed] = {}
    problems: list[Problem] = []
    for path in filter(is_archive, (*changes.new, *changes.changed, *changes.doubtful)):
        try:
            packed = read(path)
        except HuimemError as error:
            problems.append(Problem(path, 0, error.message, error.hint))
            continue
        if isinstance(packed, Packed):
            found[path] = packed
    lost = tuple(filter(is_archive, changes.removed))
    wanted: dict[str, str] = {}
    gone: set[str] = set()
    for path in (*found, *lost):
        held = found[path].files if path in found else {}
        known = files_of(db, path)
        gone |= known.keys() - held.keys()
        wanted |= {file: digest for file, digest in held.items() if known.get(file) != digest}
    moves = _uncovered(db, changes, wanted, gone)
    return Months(wanted, frozenset(gone), moves, tuple(found), lost, tuple(problems))


def files_of(db: sqlite3.Connection, archive: str) -> dict[str, str]:
    """What the catalog holds of an archive: path → digest, shadows as well."""
    row = db.execute("SELECT id FROM archive WHERE path = ?", (archive,)).fetchone()
    if row is None:
        return {}
    found = db.execute(
        "SELECT path, digest FROM source WHERE archive = ? UNION ALL "
        "SELECT path, digest FROM shadow WHERE archive = ?",
        (row[0], row[0]),
    )
    return dict(found.fetchall())


def _uncovered(
    db: sqlite3.Connection, changes: Changes, wanted: dict[str, str], gone: Collection[str]
) -> dict[str, tuple[str, str]]:
    """Shadows whose open file is gone: its rows are theirs now, open → packed path and digest.

    Where it was changed instead, or is gone and was another, the packed file is `wanted` again.
    """
    moves = {}
    removed, touched = set(changes.removed), {*changes.new, *changes.changed, *changes.doubtful}
    for path, original, digest in db.execute("SELECT path, original, digest FROM shadow").fetchall():
        if path in gone:
            continue
        if original in removed and digest_of(db, original) == digest:
            moves[original] = (path, digest)
        elif original in removed or original in touched:
            wanted[path] = digest
    return moves


def digest_of(db: sqlite3.Connection, path: str) -> str:
    """The digest that the catalog has of a file, "" where it has none."""
    found = db.execute("SELECT digest FROM source WHERE path = ?", (path,)).fetchone()
    return str(found[0]) if found else ""


def stands_open(
    db: sqlite3.Connection, listing: Collection[str], path: str, digest: str, read: Mapping[str, str]
) -> bool:
    """Whether a packed file also stands open with these bytes: as it was `read` just now, else as known."""
    original = original_of(path)
    return original in listing and (read.get(original) or digest_of(db, original)) == digest


def by_digest(db: sqlite3.Connection, paths: Sequence[str]) -> dict[str, list[str]]:
    """The files among `paths` that the catalog holds bytes of, by their digest; the last one first."""
    found: dict[str, list[str]] = {}
    for path in reversed(paths):
        if digest := digest_of(db, path):
            found.setdefault(digest, []).append(path)
    return found

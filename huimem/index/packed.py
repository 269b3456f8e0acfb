"""Archives that differ from the catalog → which of their files are to be looked at, and which have left.

In: how the files differ, and a function that reads an archive's manifest. Out: paths with the digests that
manifests give them. A packed file that stands open with the same bytes is its shadow and has no rows; that
it was packed or taken out again changes its path and nothing else.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from huimem.errors import HuimemError, Problem
from huimem.index.rows import Changes
from huimem.records import Packed, Source

_MARK = ".tar.zst"
Read = Callable[[str], Source | Packed]


def is_archive(path: str) -> bool:
    """Whether a listed path is that of an archive."""
    return path.endswith(_MARK)


def archive_of(path: str) -> str:
    """The path of the archive that a file is packed in, "" for an open file."""
    before, mark, _ = path.partition(f"{_MARK}/")
    return before + _MARK if mark else ""


def original_of(path: str) -> str:
    """Where a packed file lay: `archive/2025-12.tar.zst/sessions/…` → `sessions/…`, in its namespace."""
    archive, _, name = path.partition(f"{_MARK}/")
    return archive.rpartition("archive/")[0] + name


@dataclass(frozen=True, slots=True)
class Months:
    """What a run has to do about archives.

    `wanted` gives packed files to be looked at their digests; `gone` are those that are in no archive any
    more, `moves` open files that are packed and gone: open → packed path and digest. `read` are the
    archives that were read, with their digests; `lost` those that are gone.
    """

    wanted: Mapping[str, str] = field(default_factory=dict)
    gone: frozenset[str] = frozenset()
    moves: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    read: Mapping[str, str] = field(default_factory=dict)
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
        known = _known(db, path)
        gone |= known.keys() - held.keys()
        wanted |= {file: digest for file, digest in held.items() if known.get(file) != digest}
    moves = _uncovered(db, changes, wanted, gone)
    read_now = {path: packed.digest for path, packed in found.items()}
    return Months(wanted, frozenset(gone), moves, read_now, lost, tuple(problems))


def _known(db: sqlite3.Connection, archive: str) -> dict[str, str]:
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


@dataclass(slots=True)
class Open:
    """The digests of open files as far as a run knows them: those it has read, else the catalog's."""

    db: sqlite3.Connection
    listing: Collection[str]
    read: dict[str, str] = field(default_factory=dict)

    def says(self, path: str, digest: str) -> bool:
        """Whether an open file stands at `path` with these bytes."""
        if path not in self.listing:
            return False
        return (self.read.get(path) or digest_of(self.db, path)) == digest

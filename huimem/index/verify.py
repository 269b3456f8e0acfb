"""Is everything in the state folder what we put there? Looked at, never mended.

In: the state folder, and what the vault's files hold. Out: a Problem for each thing that is wrong, and how
far the catalog is behind the files. What others are in the middle of writing is waited for.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from huimem import files
from huimem.errors import Problem, WriteFailed
from huimem.index import catalog, dense, kinds, rot, seal, segments, sync, tokens
from huimem.index.disk import refusal
from huimem.index.intact import cache_fault, catalog_faults, damaged_words, words_held
from huimem.index.packed import files_of
from huimem.index.seal import CATALOG, EMBEDDINGS, LOCK, VECTORS, WORDS, Damaged, Seal

_REBUILT = "The next command builds it anew from the files; nothing else is lost."
_DELETE = "Delete it: the next command makes it again from the files."
_MENDED = "huimem sync --full mends it."
_RESYNC = "huimem sync --full reads the files again."


@dataclass(frozen=True, slots=True)
class Held:
    """What files hold: stamps of what a listing names, and the digests of open files and of packed ones.

    `open` has only files that were still as they were listed when they were read; `packed` goes by archive.
    """

    stamps: Mapping[str, str] = field(default_factory=dict)
    unreadable: tuple[str, ...] = ()
    open: Mapping[str, str] = field(default_factory=dict)
    packed: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verified:
    """`damaged`: derived files that are not what we put there, by path below the state folder.

    `wrong`: files of the vault that the catalog is wrong about. `pending` counts those that it does not know
    as they are, `sources` those it knows; None where there is no index, or one that will be replaced.
    """

    damaged: tuple[Problem, ...] = ()
    wrong: tuple[Problem, ...] = ()
    pending: int = 0
    sources: int | None = None


def verify(folder: Path, vault_id: str, held: Held, *, read_data: bool, wait: float = 10.0) -> Verified:
    """Look at the index in `folder`, with `read_data` at every byte of it.

    Raises `Locked` where something looks damaged and another process has been writing for `wait` seconds,
    `WriteFailed` where the disk does not let it be read.
    """
    found = _looked(folder, vault_id, held, read_data)
    if found.damaged or found.wrong:
        # A writer may have been at work. Where no lock can be made, nobody can write either.
        with suppress(WriteFailed), files.lock(folder / LOCK, timeout=wait, make=False):
            found = _looked(folder, vault_id, held, read_data)
    return found


def _looked(folder: Path, vault_id: str, held: Held, read_data: bool) -> Verified:
    odd = tuple(_odd(folder))
    if read_data:
        odd = (*odd, *(one for one in _rotten(folder) if not _told(one, odd)))
    try:
        if any(one.path == CATALOG for one in odd):
            return Verified(odd)
        if not (folder / CATALOG).is_file():
            return Verified(odd or tuple(_orphans(folder)))
        with closing(catalog.connect(folder)) as db:
            db.execute("BEGIN")
            if not _ours(catalog.identity_of(db), vault_id):
                return Verified(odd)
            faults = tuple(fault for fault in _faults(folder, db, read_data) if not _told(fault, odd))
            changes = sync.compare(db, held.stamps, unreadable=held.unreadable)
            doubted = {*changes.new, *changes.changed, *changes.doubtful}
            wrong = tuple(_wrong(db, held, doubted))
            (sources,) = db.execute("SELECT count(*) FROM source WHERE digest != ''").fetchone()
    except (Damaged, sqlite3.Error, ValueError, TypeError, AttributeError) as error:
        if (meant := refusal(folder / CATALOG, error)) is not None:
            raise meant from error
        return Verified((*odd, _damage(CATALOG, str(error).removeprefix(f"{CATALOG}: "))))
    pending = len(changes.new) + len(changes.changed) + len(changes.removed)
    return Verified((*odd, *faults), wrong, pending, sources)


def _told(fault: Problem, odd: Collection[Problem]) -> bool:
    """Whether that file, or one in that folder, is known to be no longer ours."""
    return any(one.path == fault.path or one.path.startswith(f"{fault.path}/") for one in odd)


def _ours(found: catalog.Identity, vault_id: str) -> bool:
    """Whether the next command will use this catalog rather than make another one."""
    return (found.schema, found.tokens, found.vault) == (catalog.SCHEMA_VERSION, tokens.IDENTITY, vault_id)


def _odd(folder: Path) -> Iterator[Problem]:
    """What is of the wrong kind, and what differs from the seal."""
    for path in kinds.misplaced(folder):
        yield Problem(path.name, 0, "is not what huimem put there", _REBUILT)
    state, names = seal.look(folder)
    for name in sorted(names) if state is Seal.DAMAGED else ():
        what = "was changed by another program" if (folder / name).exists() else "is gone"
        yield Problem(name, 0, what, _REBUILT)


def _rotten(folder: Path) -> Iterator[Problem]:
    """What has the size and the time that it had, and holds something else."""
    for name in sorted(rot.rotten(folder)):
        yield Problem(name, 0, "is damaged: the disk has changed it since it was written", _MENDED)


def _orphans(folder: Path) -> Iterator[Problem]:
    """A catalog that is gone while what it named still stands."""
    if any((folder / name).exists() for name in (WORDS, VECTORS)):
        yield Problem(CATALOG, 0, "is gone", _REBUILT)


def _damage(name: str, why: str) -> Problem:
    return Problem(name, 0, f"is damaged: {why}", _DELETE)


def _faults(folder: Path, db: sqlite3.Connection, read_data: bool) -> Iterator[Problem]:
    """What is wrong with the catalog by itself, and with words and vectors as it names them."""
    if read_data:
        yield from (_damage(CATALOG, why) for why in catalog_faults(db))
        yield from (_damage(f"{WORDS}/{name}", "its checksum does not fit") for name in damaged_words(folder))
        yield from (_damage(EMBEDDINGS, why) for why in (cache_fault(folder),) if why)
    (chunks,) = db.execute("SELECT count(*) FROM chunk").fetchone()
    found = words_held(folder) if chunks else 0
    if found is None:
        yield _damage(WORDS, "a part of it is missing")
    elif found < chunks:  # it may hold more: what is gone from the catalog goes there later
        yield _damage(WORDS, f"it holds {found:,} passages of {chunks:,}")
    for segment in segments.listed(db):
        name = f"{VECTORS}/{segment.file}"
        try:
            dense.attributes(segment)
            dense.check(folder / name, segment, verify=read_data)
        except Damaged as damage:
            remedy = "huimem sync --full makes its vectors again."
            yield Problem(name, 0, str(damage).removeprefix(f"{name} "), remedy)


def _wrong(db: sqlite3.Connection, held: Held, doubted: Collection[str]) -> Iterator[Problem]:
    """Files that the catalog takes for unchanged, and of which it holds other bytes than they do."""
    rows = db.execute("SELECT path, digest FROM source WHERE archive = 0 AND digest != '' ORDER BY path")
    for path, digest in rows.fetchall():
        if path not in doubted and held.open.get(path, digest) != digest:
            yield Problem(path, 0, "holds another text than the index has of it", _RESYNC)
    for (path,) in db.execute("SELECT path FROM archive ORDER BY path").fetchall():
        known = files_of(db, path)
        if path not in doubted and held.packed.get(path, known) != known:
            yield Problem(path, 0, "holds other files than the index has of it", _RESYNC)

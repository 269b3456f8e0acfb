"""Is the state folder ours and whole? What is not is taken away or rebuilt, and said.

In: the state folder and whose it should be. Out: a folder that can be used, and a line for each thing
that was lost. Nothing here is ever the only copy: words come back from the catalog, vectors from the
embedding cache, the catalog from the files.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing, suppress
from pathlib import Path

from huimem.errors import Locked, WriteFailed
from huimem.index import catalog, dense, kinds, lexical, seal, segments
from huimem.index.batch import postings
from huimem.index.catalog import Identity
from huimem.index.disk import refusals
from huimem.index.seal import (
    CATALOG,
    EMBEDDINGS,
    EMBEDDINGS_SEAL,
    SEAL,
    VECTORS,
    WORDS,
    Damaged,
    Seal,
)
from huimem.index.vectors import HASTE, Cache

_NONE, _ROTTEN = "there is none yet", "the disk has changed what it held"
_CACHE = frozenset({EMBEDDINGS, EMBEDDINGS_SEAL})
_REMEDY = "Check the disk, or delete the state folder: it is built again from the files."


def needed(folder: Path, identity: Identity) -> bool:
    """Whether `mend` has anything to do: the seal is off or broken, or the index is somebody else's."""
    if kinds.misplaced(folder) or seal.look(folder)[0] is not Seal.WHOLE:
        return True
    return bool(foreign(folder, identity, read_all=False))


def mend(folder: Path, identity: Identity, rotten: Collection[str] = ()) -> tuple[str, ...]:
    """Make the state folder usable and seal it; what was lost, a line each. The caller holds the lock.

    `rotten`: files of which it is known that they do not hold what was written, whatever the seal says.
    """
    cleared = (*kinds.clear(folder), *_cache_healed(folder, rotten))
    kinds.sweep(folder)
    rotten = frozenset(rotten) - _CACHE
    state, odd = seal.look(folder)
    if rotten:
        state, odd = Seal.DAMAGED, odd.union(rotten)
    torn = [f"{SEAL} was damaged: everything in the index was looked at"] if seal.torn(folder) else []
    bad = any(name.startswith(CATALOG) for name in rotten)
    lost = _ROTTEN if bad else foreign(folder, identity, read_all=state is not Seal.WHOLE)
    if state is Seal.WHOLE and not lost:
        return cleared
    seal.break_open(folder)
    if state is Seal.DAMAGED and not bad and any(name.startswith(CATALOG) for name in odd):
        warnings = [_begin_anew(folder, identity, "it was changed or deleted by another program")]
    elif lost == _NONE:
        warnings = _first(folder, identity)
    elif lost:
        warnings = [_begin_anew(folder, identity, lost)]
    else:
        warnings = list(_parts(folder, suspicious=any(name.startswith(WORDS) for name in odd)))
    seal.close(folder)
    return (*cleared, *warnings, *torn)


def _cache_healed(folder: Path, rotten: Collection[str]) -> Iterator[str]:
    """Mend the cache of vectors, unless somebody works with it: each vector has a checksum of its own."""
    cache = Cache(folder, "", HASTE)
    with suppress(Locked):
        if not _CACHE.isdisjoint(rotten):
            cache.heal()
            yield cache.warning


def foreign(folder: Path, identity: Identity, *, read_all: bool) -> str:
    """Why the catalog cannot be used, "" where it can; `read_all` has SQLite look at every page.

    Raises `WriteFailed` where the disk does not let it be opened.
    """
    if not (folder / CATALOG).exists():
        return _NONE
    try:
        with refusals(folder / CATALOG), catalog.reading(), closing(catalog.connect(folder)) as db:
            found = catalog.identity_of(db)
            if read_all and not catalog.sound(db):
                return "it was damaged"
    except Damaged:
        return "it was damaged"
    if found.schema != identity.schema:
        return "it was made by another version of huimem"
    if found.tokens != identity.tokens:
        return "its words were cut by other rules"
    if identity.times and found.times != identity.times:
        return "its times were read by other rules"
    return "it belongs to another vault" if found.vault != identity.vault else ""


def _first(folder: Path, identity: Identity) -> list[str]:
    """Make the first catalog; where parts of an older index lie about, it had been deleted."""
    leftovers = any((folder / name).exists() for name in (WORDS, VECTORS))
    line = _begin_anew(folder, identity, "its catalog was deleted")
    return [line] if leftovers else []


def _begin_anew(folder: Path, identity: Identity, why: str) -> str:
    lexical.remove(folder)
    _remove_vectors(folder)
    catalog.make(folder, identity)
    return f"the index is rebuilt from the files: {why}"


def _remove_vectors(folder: Path) -> None:
    for path in sorted((folder / VECTORS).glob("*")):
        kinds.take_away(path)


def _parts(folder: Path, *, suspicious: bool) -> Iterator[str]:
    """Check words and vectors against a sound catalog, and rebuild or drop what does not fit."""
    with closing(catalog.connect(folder, write=True)) as db:
        # A writer that lost the lock, its file deleted, may be at work: the transaction keeps it out.
        with catalog.transaction(db):
            fits = words_fit(folder, db, suspicious=suspicious)
            if not fits:
                rebuild_words(folder, db)
        if not fits:
            yield "the word index was damaged and is rebuilt"
        bad = [segment for segment in segments.listed(db) if not _fits(folder, segment)]
        if bad:
            with catalog.transaction(db):
                segments.drop(db, [segment.id for segment in bad])
            count = sum(segment.count for segment in bad)
            yield f"{len(bad)} vector files were damaged: {count} passages get their vectors again"
        segments.sweep(db, folder)


def words_fit(folder: Path, db: sqlite3.Connection, *, suspicious: bool) -> bool:
    """Whether the word index holds just the catalog's chunks, once what is gone is dropped from it.

    Inside the caller's transaction.
    """
    (chunks,) = db.execute("SELECT count(*) FROM chunk").fetchone()
    if not (folder / WORDS).exists():
        return bool(chunks == 0)
    if suspicious:
        return False
    (beyond,) = db.execute("SELECT next FROM counter WHERE name = 'chunk'").fetchone()
    gone = [row for (row,) in db.execute("SELECT row FROM gone_words")]
    try:
        lexical.publish(folder, (), gone, beyond)
        fits = bool(lexical.open_words(folder).count == chunks)
    except Damaged:
        return False
    if fits and gone:
        db.execute("DELETE FROM gone_words")
    return fits


def rebuild_words(folder: Path, db: sqlite3.Connection) -> None:
    """Write the word index anew from the catalog, inside the caller's transaction."""
    lexical.remove(folder)
    try:
        lexical.publish(folder, postings(db, 0), (), None)
    except Damaged as error:  # there was nothing left that could be damaged
        raise WriteFailed(f"{folder / WORDS} cannot be written: {error}", _REMEDY) from error
    db.execute("DELETE FROM gone_words")


def _fits(folder: Path, segment: dense.SegmentRow) -> bool:
    try:
        dense.check(folder / VECTORS / segment.file, segment, verify=True)
    except Damaged:
        return False
    return True

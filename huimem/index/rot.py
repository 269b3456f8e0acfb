"""Does each derived file hold the bytes that were written, though its size and time are as they were?

In: the state folder. Out: the names of those that do not: a disk has changed them. All bytes are read.
What somebody is in the middle of writing is left out. A SQLite file is compared as it lies on the disk,
free pages and all.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

from huimem import files
from huimem.errors import Locked, WriteFailed
from huimem.index import catalog, dense, digests, seal, segments
from huimem.index.digests import Stop, never
from huimem.index.seal import (
    CATALOG,
    EMBEDDINGS,
    EMBEDDINGS_LOCK,
    EMBEDDINGS_SEAL,
    SEAL,
    VECTORS,
    Damaged,
    Entry,
)

_PATIENCE = 10.0  # seconds for whoever writes to the cache


def rotten(folder: Path, names: Collection[str] | None = None, stop: Stop = never) -> frozenset[str]:
    """Names of files, all or of `names`, whose bytes are not those that were sealed.

    Raises `Stopped` where `stop` says so.
    """
    return frozenset((*_sealed(folder, names, stop), *_cache(folder, names, stop)))


def _sealed(folder: Path, names: Collection[str] | None, stop: Stop) -> frozenset[str]:
    """The same of what the seal names, and of the seal."""
    sealed = seal.entries(folder)
    if sealed is None:
        return frozenset({SEAL} if seal.torn(folder) else ())
    wanted = sealed.keys() if names is None else sealed.keys() & names
    odd = {name for name in wanted if differs(folder, name, sealed[name], stop)}
    if CATALOG not in odd:
        odd |= {*_vectors(folder, wanted, stop)}
    now = seal.entries(folder) or seal.NONE  # whoever wrote meanwhile has left another entry, or none yet
    return frozenset(name for name in odd if now.get(name) == sealed[name])


def differs(folder: Path, name: str, entry: Entry, stop: Stop = never) -> bool:
    """Whether a file has the time of its entry, and holds something else."""
    size, at, digest = entry
    found = seal.stamp(folder, name)
    if digest is None or found is None or found[1] != at:
        return False
    make = digests.of_database if name in (CATALOG, EMBEDDINGS) else digests.of_file
    try:
        return found[0] != size or make(folder / name, stop) != digest
    except OSError:  # it is gone, or kept from us: whoever needs it will say so
        return False


def _vectors(folder: Path, wanted: Collection[str], stop: Stop) -> Iterator[str]:
    """Files of vectors that are not what the catalog names; what else it says is of no matter here."""
    if not any(name.startswith(VECTORS) for name in wanted):
        return
    try:
        with closing(catalog.connect(folder)) as db:
            listed = segments.listed(db)
    except (Damaged, Locked, WriteFailed, sqlite3.Error):
        return
    for segment in listed:
        name = f"{VECTORS}/{segment.file}"
        if stop():
            raise digests.Stopped
        try:
            if name in wanted:
                dense.check(folder / name, segment, verify=True)
        except Damaged:
            yield name


def _cache(folder: Path, names: Collection[str] | None, stop: Stop) -> Iterator[str]:
    """The cache of vectors and its seal, where they were asked for."""
    if seal.torn(folder, EMBEDDINGS_SEAL):
        yield EMBEDDINGS_SEAL
    elif (names is None or EMBEDDINGS in names) and _cache_differs(folder, stop):
        yield EMBEDDINGS


def _cache_differs(folder: Path, stop: Stop) -> bool:
    """Whether the cache is not as it was sealed, and nobody writes to it."""
    sealed = seal.entries(folder, EMBEDDINGS_SEAL) or seal.NONE
    if EMBEDDINGS not in sealed or not differs(folder, EMBEDDINGS, sealed[EMBEDDINGS], stop):
        return False
    with ExitStack() as held:
        try:
            lock = files.lock(folder / EMBEDDINGS_LOCK, timeout=_PATIENCE, shared=True, make=False)
            held.enter_context(lock)
        except Locked:
            return False
        except WriteFailed:  # then nobody can write
            pass
        sealed = seal.entries(folder, EMBEDDINGS_SEAL) or seal.NONE
        return EMBEDDINGS in sealed and differs(folder, EMBEDDINGS, sealed[EMBEDDINGS], stop)

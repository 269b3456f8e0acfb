"""What removed records left behind in the index → nowhere any more.

In: the writer's connection, under the lock. Out: the hashes of passages that still stand, and who makes
their vectors: what the cache of vectors may go on holding.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from huimem.index import catalog, repair, segments
from huimem.index.embeddings import Embeddings

Needed = tuple[list[bytes], set[str]]


def purge(folder: Path, db: sqlite3.Connection, embeddings: Embeddings) -> Needed:
    """Wipe the words, vectors and freed pages of what is gone; what is still needed."""
    with catalog.transaction(db):
        embeddings.clean(db)
    with catalog.transaction(db):
        if db.execute("SELECT 1 FROM gone_words").fetchone():
            repair.rebuild_words(folder, db)
    segments.sweep(db, folder)
    catalog.move_journal(db)
    return needed(db, embeddings)


def needed(db: sqlite3.Connection, embeddings: Embeddings) -> Needed:
    """The hashes of all passages, and who makes vectors of them."""
    hashes = [hash for (hash,) in db.execute("SELECT DISTINCT hash FROM chunk")]
    return hashes, embeddings.makers(db)

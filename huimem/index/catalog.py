"""The catalog: one SQLite file that names everything in the index; one transaction publishes.

In: the state folder. Out: connections, for readers (query-only, each a fixed snapshot) and for the one
writer that holds the index lock; and the few facts that say whose index this is.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from huimem import files, forking
from huimem.errors import WriteFailed
from huimem.index import raw
from huimem.index.digests import Tally
from huimem.index.disk import broken, refusals
from huimem.index.seal import CATALOG, JOURNAL, Damaged, Entries
from huimem.temps import temp_beside

SCHEMA_VERSION = "7"

# Row numbers of sources, records, chunks and terms come from `counter` and are never given twice.
# `gone_words` and `gone_vectors` hold chunks that are removed here and still stand in the word index
# or in a segment. Lines of chunks count from the record's first line, so that moved text costs little.
SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE counter (name TEXT PRIMARY KEY, next INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE namespace (id INTEGER PRIMARY KEY, label TEXT NOT NULL UNIQUE);
CREATE TABLE label (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE source (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, stamp TEXT NOT NULL, racy INTEGER NOT NULL,
    digest TEXT NOT NULL, namespace INTEGER NOT NULL, title TEXT NOT NULL, tags TEXT NOT NULL,
    problems TEXT NOT NULL, archive INTEGER NOT NULL);
CREATE INDEX source_open ON source (path, stamp, racy) WHERE archive = 0;
CREATE INDEX source_packed ON source (archive) WHERE archive != 0;
CREATE TABLE archive (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, stamp TEXT NOT NULL, racy INTEGER NOT NULL);
CREATE TABLE shadow (
    path TEXT PRIMARY KEY, original TEXT NOT NULL, archive INTEGER NOT NULL, digest TEXT NOT NULL)
    WITHOUT ROWID;
CREATE TABLE tagged (
    source INTEGER NOT NULL, tag INTEGER NOT NULL, PRIMARY KEY (source, tag)) WITHOUT ROWID;
CREATE INDEX tagged_tag ON tagged (tag, source);
CREATE TABLE record (
    id INTEGER PRIMARY KEY, source INTEGER NOT NULL, ord INTEGER NOT NULL,
    line INTEGER NOT NULL, ref TEXT NOT NULL, kind INTEGER NOT NULL, fact INTEGER NOT NULL, key TEXT,
    at_ms INTEGER, inferred INTEGER NOT NULL, valid_from INTEGER, valid_to INTEGER,
    importance REAL NOT NULL, digest BLOB NOT NULL);
CREATE INDEX record_place ON record (source, ord);
CREATE INDEX record_ref ON record (ref);
CREATE INDEX record_kind ON record (kind);
CREATE INDEX record_at ON record (at_ms, fact, kind, source) WHERE inferred = 0;
CREATE INDEX record_fact ON record (valid_to, valid_from) WHERE fact = 1;
CREATE TABLE mention (
    record INTEGER NOT NULL, first_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL,
    PRIMARY KEY (record, first_ms, last_ms)) WITHOUT ROWID;
CREATE INDEX mention_first ON mention (first_ms, last_ms);
CREATE TABLE chunk (
    row INTEGER PRIMARY KEY, record INTEGER NOT NULL, message INTEGER NOT NULL, role INTEGER NOT NULL,
    namespace INTEGER NOT NULL, kind INTEGER NOT NULL, at_ms INTEGER, inferred INTEGER NOT NULL,
    line_first INTEGER NOT NULL, line_last INTEGER NOT NULL, hash BLOB NOT NULL,
    script INTEGER NOT NULL, asks REAL NOT NULL, tokens BLOB NOT NULL);
CREATE INDEX chunk_record ON chunk (record);
CREATE INDEX chunk_role ON chunk (role);
CREATE INDEX chunk_script ON chunk (script);
CREATE INDEX chunk_at ON chunk (at_ms) WHERE inferred = 0;
CREATE TABLE passage (row INTEGER PRIMARY KEY, said BLOB NOT NULL, lead INTEGER, text BLOB);
CREATE TABLE term (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE df (
    namespace INTEGER NOT NULL, term INTEGER NOT NULL, n INTEGER NOT NULL,
    PRIMARY KEY (namespace, term)) WITHOUT ROWID;
CREATE TABLE totals (
    namespace INTEGER PRIMARY KEY, chunks INTEGER NOT NULL, tokens INTEGER NOT NULL);
CREATE TABLE segment (
    id INTEGER PRIMARY KEY, file TEXT NOT NULL UNIQUE, bucket TEXT NOT NULL, embedder TEXT NOT NULL,
    dim INTEGER NOT NULL, size INTEGER NOT NULL, sha256 TEXT NOT NULL, count INTEGER NOT NULL,
    first_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL, rows BLOB NOT NULL, sketches BLOB NOT NULL);
CREATE TABLE gone_words (row INTEGER PRIMARY KEY);
CREATE TABLE gone_vectors (row INTEGER PRIMARY KEY);
"""
COUNTERS = ("source", "record", "chunk", "term", "segment")


@dataclass(frozen=True, slots=True)
class Identity:
    """Whose index it is, how its words were cut and its time words read: one of another identity is rebuilt.

    `times` "": whoever asks does not mind.
    """

    vault: str
    tokens: str
    times: str = ""
    schema: str = SCHEMA_VERSION


class Known(sqlite3.Connection):
    """A connection of which `raw` knows for as long as it is open: to the catalog at `path`."""

    path: Path | None = None

    def close(self) -> None:
        with forking.undivided():
            super().close()
            path, self.path = self.path, None
            if path is not None:
                raw.leave(path)


C = TypeVar("C", bound=Known)


class Reader(Known):
    """A reader's connection, which a fork closes: what it inherits would make its own locks void.

    `inode` is that of the file it reads, which may be deleted since; 0 where that is not known.
    """

    inode = 0


class Writer(Known):
    """The writer's connection: it moves the journal into the catalog by `settle` alone, and at its end."""

    tally: Tally

    def arrived(self) -> int | None:
        """Once it is closed: the digest of the catalog; None where the disk does not let it be read."""
        with suppress(OSError):
            return self.tally.arrived()
        return None


class Still(Reader):
    """A reader's connection to a catalog taken as unchanging: for one snapshot, not to be kept."""


def connect(folder: Path, *, write: bool = False) -> sqlite3.Connection:
    """A connection to an existing catalog, for use by one thread at a time.

    Only the holder of the index lock may ask for `write`. Raises `Damaged` where there is none,
    `WriteFailed` where the disk lets nobody in.
    """
    path = folder / CATALOG
    if write:
        return _writer(path)
    try:
        return _connect(path, "mode=ro", Reader)
    except WriteFailed:
        # Even a reader needs a file beside the catalog, to agree with writers on the journal. Where the
        # disk refuses that file and the journal is empty, nobody writes and the catalog is all there is.
        if os.path.exists(folder / JOURNAL) and os.path.getsize(folder / JOURNAL):
            raise
        return _connect(path, "mode=ro&immutable=1", Still)


def _writer(path: Path) -> Writer:
    db = _connect(path, "mode=rw", Writer)
    db.tally = Tally(path)
    db.execute("PRAGMA wal_autocheckpoint = 0")
    return db


def _connect(path: Path, how: str, sort: type[C]) -> C:
    if not os.path.isfile(path):
        raise Damaged(f"{path.name} is missing")
    with forking.undivided(), reading(), refusals(path):
        before = os.stat(path).st_ino
        db = _opened(path, how, sort)
        try:
            db.execute("PRAGMA cell_size_check = ON")
            db.execute("PRAGMA temp_store = MEMORY")  # a full disk must not stop a question
            # KiB, taken as needed; a writer adds at the ends of tables, and comes beside readers.
            db.execute(f"PRAGMA cache_size = {-16_384 if how == 'mode=rw' else -65_536}")
            if how == "mode=rw":
                db.execute("PRAGMA synchronous = NORMAL")
                db.execute("PRAGMA secure_delete = ON")
            else:
                db.execute("PRAGMA query_only = ON")
            db.execute("PRAGMA schema_version").fetchone()  # now, and not in the middle of an answer
        except BaseException:
            db.close()
            raise
    if isinstance(db, Reader):
        db.inode = before if before == _inode(path) else 0
        forking.close_in_child(db)
    return db


def _opened(path: Path, how: str, sort: type[C]) -> C:
    raw.enter(path)
    try:
        db = sqlite3.connect(
            f"file:{quote(os.fspath(path.absolute()))}?{how}",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            timeout=10.0,
            factory=sort,
        )
    except BaseException:
        raw.leave(path)
        raise
    db.path = path
    return db


def _inode(path: Path) -> int:
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0


def make(folder: Path, identity: Identity) -> None:
    """Put an empty catalog into `folder`, whole from its first moment. The caller holds the lock.

    What stood there before is gone afterwards, journal and all. Should another make one too, its lock file
    deleted, each publishes a whole one and the last one stands.
    """
    new = Path(temp_beside(folder / CATALOG))
    files.create(new, b"")
    try:
        with refusals(new):
            _fill(new, identity)
            for end in ("-wal", "-shm"):  # the old catalog's: a new one must not find them
                files.remove(folder / f"{CATALOG}{end}")
            os.replace(new, folder / CATALOG)
    except BaseException:
        for end in ("", "-wal", "-shm"):
            with suppress(OSError):
                os.unlink(f"{new}{end}")
        raise


def _fill(new: Path, identity: Identity) -> None:
    with closing(_connect(new, "mode=rw", Known)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(f"BEGIN; {SCHEMA} COMMIT;")
        with transaction(db):
            values = {"schema": identity.schema, "tokens": identity.tokens, "vault": identity.vault}
            values |= {"times": identity.times}
            values |= {"serial": secrets.token_hex(16), "generation": str(secrets.randbits(48))}
            db.executemany("INSERT INTO meta VALUES (?, ?)", values.items())
            db.executemany("INSERT INTO counter VALUES (?, 1)", [(name,) for name in COUNTERS])


def settle(db: sqlite3.Connection) -> None:
    """Move the journal into the catalog, so that a disk that refuses everything can still be read.

    Where a reader is in the middle of something, the next writer does it.
    """
    db.execute("PRAGMA busy_timeout = 0")
    move_journal(db)


def move_journal(db: sqlite3.Connection) -> None:
    """Move the journal into the catalog, waiting for readers as long as the connection does."""
    if isinstance(db, Writer):
        try:
            db.tally.leaving()
        except OSError:
            db.tally.total = None
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


@contextmanager
def writing(folder: Path, known: Entries) -> Iterator[Writer]:
    """The writer's connection to a catalog that is sealed in `known`; its journal is settled in the end."""
    with closing(_writer(folder / CATALOG)) as db:
        entry = known.get(CATALOG)
        db.tally.total = entry[2] if entry else None
        yield db
        settle(db)


def identity_of(db: sqlite3.Connection) -> Identity:
    """Whose catalog this is. Raises `Damaged` where it does not say."""
    with reading():
        found = dict(db.execute("SELECT name, value FROM meta"))
    try:
        return Identity(found["vault"], found["tokens"], found.get("times", ""), found["schema"])
    except KeyError as error:
        raise Damaged(f"{CATALOG} does not say whose it is") from error


def serial(db: sqlite3.Connection) -> str:
    """Which catalog this is: no two ever made have the same, and a row number means nothing in another."""
    found = db.execute("SELECT value FROM meta WHERE name = 'serial'").fetchone()
    return str(found[0]) if found else ""


def generation(db: sqlite3.Connection) -> int:
    """Grows with each transaction that publishes, and begins anywhere: never the same in two catalogs."""
    (value,) = db.execute("SELECT value FROM meta WHERE name = 'generation'").fetchone()
    return int(value)


def chunks(db: sqlite3.Connection) -> int:
    """How many chunks there are."""
    (count,) = db.execute("SELECT ifnull(sum(chunks), 0) FROM totals").fetchone()
    return int(count)


def sound(db: sqlite3.Connection) -> bool:
    """Whether SQLite finds its own structure whole; reads the entire file."""
    with suppress(sqlite3.Error):
        return bool(db.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))
    return False


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All or nothing; publishes on leaving."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("UPDATE meta SET value = value + 1 WHERE name = 'generation'")
        db.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise


@contextmanager
def reading() -> Iterator[None]:
    """Turn what SQLite says of a broken file into `Damaged`; a busy disk stays what it is."""
    try:
        yield
    except sqlite3.Error as error:
        if not broken(error):
            raise
        raise Damaged(f"{CATALOG}: {error}") from error


def take(db: sqlite3.Connection, name: str, count: int) -> int:
    """Reserve `count` numbers that were never given before; the first of them."""
    (first,) = db.execute("SELECT next FROM counter WHERE name = ?", (name,)).fetchone()
    db.execute("UPDATE counter SET next = next + ? WHERE name = ?", (count, name))
    return int(first)

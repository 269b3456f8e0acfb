"""The embedding cache: what was embedded once is never embedded again.

In: hashes of texts. Out: half-precision vectors as bytes. It outlives the index: rebuilds, renames and
checkouts of other branches find their vectors here. Each vector carries a checksum; a damaged one, or
a damaged file, is as good as none.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import timedelta
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote
from zlib import crc32

from huimem import files, forking
from huimem.errors import Conflict, Locked, WriteFailed
from huimem.index import kinds, raw, seal
from huimem.index.digests import Tally
from huimem.index.disk import broken, refusals
from huimem.index.filters import marks
from huimem.index.seal import EMBEDDINGS, EMBEDDINGS_LOCK, EMBEDDINGS_SEAL
from huimem.ports import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_AT_ONCE = 4096  # keys in one query
PATIENCE = 10.0  # seconds that work waits in all for others who use the cache
HASTE = 0.1  # and a question, each of the few times that it asks
_CHECK = 4  # bytes of the checksum behind each vector
# `unused` says since when (nanoseconds since 1970) no passage has had a vector that is still kept.
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS vector (key BLOB PRIMARY KEY, value BLOB NOT NULL)",
    "CREATE TABLE IF NOT EXISTS unused (key BLOB PRIMARY KEY, since INTEGER NOT NULL) WITHOUT ROWID",
)
# How long another branch may be checked out, or a file be away, and cost nothing on its way back.
KEPT = timedelta(days=14)


class Cache:
    """Vectors of one embedder, by the hash of the text that was embedded.

    `warning` says, once there is something to say, that the file was damaged and begun anew. Everything
    raises Locked where others hold the file for more than `patience` seconds.
    """

    def __init__(self, folder: Path, embedder: str, patience: float = PATIENCE) -> None:
        self.warning = ""
        self._patience = patience
        self._path = folder / EMBEDDINGS
        self._salt = _salt(embedder)

    def get(self, hashes: Sequence[bytes], size: int | None) -> dict[bytes, bytes]:
        """The vectors at hand by hash, little-endian float16 bytes; only those of `size` bytes, if given."""
        keys = {self._key(hash): hash for hash in hashes}
        found: dict[bytes, bytes] = {}
        with self._open() as db:
            for key, value in _select(db, list(keys)):
                code = value[:-_CHECK]
                if sound(key, value) and code and (size is None or len(code) == size):
                    found[keys[key]] = code
        return found

    def put(self, vectors: Mapping[bytes, bytes]) -> None:
        """Keep vectors by hash, durable on return."""
        rows = []
        for hash, code in vectors.items():
            key = self._key(hash)
            rows.append((key, code + _checksum(key, code)))
        with self._changing() as db:
            db.execute("BEGIN IMMEDIATE")
            db.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?)", rows)
            db.execute("COMMIT")

    def keep_only(self, hashes: Collection[bytes], embedders: Iterable[str]) -> int:
        """Forget every vector but those of `hashes` by `embedders`, for good; how many there were."""
        keys = {_key(_salt(name), hash) for name in embedders for hash in hashes}
        with self._changing(self._patience) as db:
            present = [key for (key,) in db.execute("SELECT key FROM vector") if key not in keys]
            db.execute("BEGIN IMMEDIATE")
            db.executemany("DELETE FROM vector WHERE key = ?", [(key,) for key in present])
            db.execute("COMMIT")
        return len(present)

    def forget_unused(self, hashes: Collection[bytes], embedders: Iterable[str], now: int) -> int:
        """Forget vectors that were none of `hashes` by `embedders` for as long as `KEPT`; how many.

        `now`: nanoseconds since 1970. What is seen unused here for the first time stays.
        """
        keys = ((_key(_salt(name), hash),) for name in embedders for hash in hashes)
        with self._changing() as db:
            db.execute("PRAGMA temp_store = MEMORY")
            db.execute("CREATE TEMP TABLE used (key BLOB PRIMARY KEY) WITHOUT ROWID")
            db.executemany("INSERT OR IGNORE INTO used VALUES (?)", keys)
            db.execute("BEGIN IMMEDIATE")
            db.execute("DELETE FROM unused WHERE key IN used")
            db.execute("UPDATE unused SET since = min(since, ?)", (now,))  # a clock that was ahead
            db.execute("INSERT OR IGNORE INTO unused SELECT key, ? FROM vector WHERE key NOT IN used", (now,))
            old = (now - KEPT // timedelta(microseconds=1) * 1000,)
            gone = db.execute(
                "DELETE FROM vector WHERE key IN (SELECT key FROM unused WHERE since <= ?)", old
            )
            db.execute("DELETE FROM unused WHERE since <= ?", old)
            db.execute("COMMIT")
        return gone.rowcount

    def heal(self) -> None:
        """Write the file anew, where a disk has changed it, with every vector in it that is what it was.

        They are all in memory meanwhile.
        """
        kept: list[tuple[object, object]] = []
        with self._changing() as db:
            kept.extend(row for row in db.execute("SELECT key, value FROM vector") if sound(*row))
        self._begin_anew()
        with self._changing() as db:
            db.execute("BEGIN IMMEDIATE")
            db.executemany("INSERT OR IGNORE INTO vector VALUES (?, ?)", kept)
            db.execute("COMMIT")
        self.warning = f"{EMBEDDINGS} was damaged and is written anew: {len(kept):,} vectors were kept"

    def _key(self, hash: bytes) -> bytes:
        return _key(self._salt, hash)

    @contextmanager
    def _changing(self, patience: float = HASTE) -> Iterator[sqlite3.Connection]:
        """As `_open`, alone among those who change something, which is sealed in the end.

        Where somebody reads meanwhile for longer than `patience`, it has no seal until the next time.
        """
        folder = self._path.parent
        with files.lock(folder / EMBEDDINGS_LOCK, timeout=self._patience, make=False):
            tally: Tally | None = None
            with self._open() as db:
                db.execute("PRAGMA wal_autocheckpoint = 0")
                before = Tally(self._path, _sealed(folder))
                yield db
                db.execute(f"PRAGMA busy_timeout = {round(patience * 1000)}")
                before.leaving()
                (busy, *_) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                tally = None if busy else before
            with suppress(WriteFailed, OSError):  # a seal that is left is one of another time
                _seal(folder, tally)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A connection; a file that SQLite cannot use is begun anew, and what it held is lost."""
        with forking.undivided(), refusals(self._path), raw.in_use(self._path):
            try:
                db = self._connect()
            except sqlite3.Error as error:
                if not broken(error):
                    raise
                self._begin_anew()
                db = self._connect()
            with closing(db):
                try:
                    yield db
                except sqlite3.Error as error:
                    if not broken(error):
                        raise
                    db.close()
                    self._begin_anew()

    def _begin_anew(self) -> None:
        self.warning = f"{EMBEDDINGS} was damaged and is begun anew: its vectors are computed again"
        for name in (EMBEDDINGS, f"{EMBEDDINGS}-wal", f"{EMBEDDINGS}-shm", EMBEDDINGS_SEAL):
            files.remove(self._path.with_name(name))

    def _connect(self) -> sqlite3.Connection:
        names = [EMBEDDINGS + end for end in ("", "-wal", "-shm")]
        if kinds.clear(self._path.parent, *names):
            self._begin_anew()
        if not self._path.exists():
            with suppress(Conflict):  # another one made it first
                files.create(self._path, b"")
        address = f"file:{quote(os.fspath(self._path.absolute()))}?mode=rw"
        end = time.monotonic() + self._patience
        db = sqlite3.connect(address, uri=True, isolation_level=None, timeout=0.0)
        try:
            _journal(db, end)
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute("PRAGMA secure_delete = ON")
            for table in _SCHEMA:
                _wait_until(db, end)
                db.execute(table)
            _wait_until(db, end)
        except sqlite3.Error:
            db.close()
            raise
        return db


def _sealed(folder: Path) -> int | None:
    """The digest of the cache as it stands; None where it was changed since it was sealed."""
    entry = (seal.entries(folder, EMBEDDINGS_SEAL) or {}).get(EMBEDDINGS)
    return entry[2] if entry and entry[:2] == seal.stamp(folder, EMBEDDINGS) else None


def _seal(folder: Path, tally: Tally | None) -> None:
    """Seal the cache as it stands; without a tally nobody knows what it holds."""
    stamp = seal.stamp(folder, EMBEDDINGS)
    if tally is None or stamp is None:
        files.remove(folder / EMBEDDINGS_SEAL)
    else:
        files.jot(folder / EMBEDDINGS_SEAL, seal.rendered({EMBEDDINGS: [*stamp, tally.arrived()]}))


def written(folder: Path) -> int:
    """When anything was last put into the cache, nanoseconds since 1970; 0 where there is none."""
    paths = [folder / f"{EMBEDDINGS}{end}" for end in ("", "-wal")]
    return max((found.mtime_ns for path in paths if (found := files.stamp(path))), default=0)


class Remembering:
    """An embedder that asks the cache before it asks `embedder`; its vectors have half precision.

    Where the disk refuses the cache, or others hold it, it does without.
    """

    def __init__(self, embedder: Embedder, cache: Cache) -> None:
        self.name, self.dim = embedder.name, embedder.dim
        self._embedder, self._cache = embedder, cache

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> NDArray[np.float32]:
        """float32 [len(texts), dim], as the embedder would give them but for the last digits."""
        import numpy as np

        sort = b"query" if as_query else b"passage"
        hashes = [blake2b(text.encode(), key=sort, digest_size=16).digest() for text in texts]
        codes: dict[bytes, bytes] | None = None
        with suppress(WriteFailed, Locked):
            codes = self._cache.get(hashes, None)
        if codes is None or len(codes) < len(set(hashes)):
            usable = codes is not None
            made = self._embedder.embed(texts, as_query=as_query).astype("<f2")
            codes = {hash: row.tobytes() for hash, row in zip(hashes, made, strict=True)}
            with suppress(WriteFailed, Locked):
                if usable:
                    self._cache.put(codes)
        return np.array([np.frombuffer(codes[hash], "<f2") for hash in hashes], np.float32)


def _select(db: sqlite3.Connection, keys: list[bytes]) -> Iterator[tuple[bytes, bytes]]:
    for start in range(0, len(keys), _AT_ONCE):
        part = keys[start : start + _AT_ONCE]
        yield from db.execute(f"SELECT key, value FROM vector WHERE key IN ({marks(len(part))})", part)


def _journal(db: sqlite3.Connection, end: float) -> None:
    """Use a journal. Where others make the same new file, SQLite does not wait for them by itself."""
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if time.monotonic() >= end or not error.sqlite_errorname.startswith("SQLITE_BUSY"):
                raise
            time.sleep(0.02)


def _wait_until(db: sqlite3.Connection, end: float) -> None:
    """Let what follows wait for others no longer than until `end` on the monotonic clock."""
    db.execute(f"PRAGMA busy_timeout = {max(0, round((end - time.monotonic()) * 1000))}")


def _salt(embedder: str) -> bytes:
    return blake2b(embedder.encode(), digest_size=16).digest()


def _key(salt: bytes, hash: bytes) -> bytes:
    return blake2b(hash, key=salt, digest_size=16).digest()


def sound(key: object, value: object) -> bool:
    """Whether a row of the cache is what `Cache.put` wrote: behind a vector stands a checksum of both."""
    if not (isinstance(key, bytes) and isinstance(value, bytes)):
        return False
    return _checksum(key, value[:-_CHECK]) == value[-_CHECK:]


def _checksum(key: bytes, code: bytes) -> bytes:
    return crc32(key + code).to_bytes(_CHECK, "little")

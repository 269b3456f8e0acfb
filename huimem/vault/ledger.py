"""What imports brought in before: derived, kept apart from the files, and never more than a memory.

In: conversations and documents by their digests. Out: which were taken before, into which file, and
with which messages. Whoever deletes it loses only that: files are then found by what they say.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from huimem import files
from huimem.vault.arrivals import DIGEST

NAME = "imports.db"
EVERY = 256  # conversations between two commits
_VERSION = 1
_SCHEMA = f"""
PRAGMA user_version = {_VERSION};
CREATE TABLE conversation (
  namespace TEXT NOT NULL, source TEXT NOT NULL, id TEXT NOT NULL,
  path TEXT NOT NULL, digest BLOB NOT NULL, known BLOB NOT NULL, document BLOB NOT NULL,
  PRIMARY KEY (namespace, source, id)
) WITHOUT ROWID;
CREATE TABLE document (
  digest BLOB NOT NULL, options TEXT NOT NULL, told TEXT NOT NULL, PRIMARY KEY (digest, options)
) WITHOUT ROWID;
CREATE INDEX conversation_document ON conversation (document);
"""

Origin = tuple[str, str, str]  # namespace, source, id


@dataclass(frozen=True, slots=True)
class Taken:
    """A conversation that was brought in: its file, its digest, and what is known of its messages."""

    path: str
    digest: bytes
    known: Mapping[bytes, bytes]


class Ledger:
    """The ledger in a state folder. Unusable or damaged it is begun anew; without a disk it forgets."""

    def __init__(self, folder: Path, *, keep: bool = True) -> None:
        self._db = _opened(folder / NAME, keep)
        self._waiting = 0

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(sqlite3.Error):
            self._db.commit()
        self._db.close()

    def taken(self, origin: Origin) -> Taken | None:
        """What is known of a conversation, None where it never came in."""
        query = "SELECT path, digest, known FROM conversation WHERE (namespace, source, id) = (?, ?, ?)"
        row = self._db.execute(query, origin).fetchone()
        return None if row is None else Taken(row[0], row[1], _read(row[2]))

    def take(self, origin: Origin, taken: Taken, document: bytes) -> None:
        """Remember a conversation as it came in from the document of that digest."""
        row = (*origin, taken.path, taken.digest, _written(taken.known), document)
        self._db.execute(f"INSERT OR REPLACE INTO conversation VALUES ({', '.join('?' * 7)})", row)
        self._later()

    def seen(self, origin: Origin, document: bytes) -> None:
        """A conversation that came in before stood unchanged in this document."""
        query = "UPDATE conversation SET document = ? WHERE (namespace, source, id) = (?, ?, ?)"
        self._db.execute(query, (document, *origin))
        self._later()

    def finish(self, document: bytes, options: str, told: Mapping[str, object]) -> None:
        """Remember that a document was taken to its end with these options, and what was told of it."""
        row = (document, options, json.dumps(told))
        self._db.execute("INSERT OR REPLACE INTO document VALUES (?, ?, ?)", row)
        self._later(EVERY)

    def finished(self, document: bytes, options: str) -> tuple[Mapping[str, object], list[str]] | None:
        """What was told of a document, and the files of its conversations; None where it must be read."""
        query = "SELECT told FROM document WHERE (digest, options) = (?, ?)"
        row = self._db.execute(query, (document, options)).fetchone()
        if row is None:
            return None
        paths = self._db.execute("SELECT path FROM conversation WHERE document = ?", (document,))
        told: Mapping[str, object] = json.loads(row[0])
        return told, [path for (path,) in paths]

    def _later(self, weight: int = 1) -> None:
        self._waiting += weight
        if self._waiting >= EVERY:
            self._db.commit()
            self._waiting = 0


def _opened(path: Path, keep: bool) -> sqlite3.Connection:
    """A usable database at `path`; in memory where it is not to be kept and there is none yet."""
    if not keep and not path.exists():
        return _made(sqlite3.connect(":memory:"))
    if path.is_symlink() or (path.exists() and not path.is_file()):
        return _made(sqlite3.connect(":memory:"))
    with suppress(sqlite3.Error):
        db = sqlite3.connect(path)
        with _closing_on_error(db):
            (version,) = db.execute("PRAGMA user_version").fetchone()
            if version == _VERSION and db.execute("PRAGMA quick_check(1)").fetchone() == ("ok",):
                return db
        db.close()
    files.remove(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    files.create(path, b"")
    return _made(sqlite3.connect(path))


@contextmanager
def _closing_on_error(db: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error:
        db.close()
        raise


def _made(db: sqlite3.Connection) -> sqlite3.Connection:
    db.executescript(_SCHEMA)
    return db


def _written(known: Mapping[bytes, bytes]) -> bytes:
    return b"".join(key + text for key, text in known.items())


def _read(known: bytes) -> dict[bytes, bytes]:
    step = 2 * DIGEST
    return {known[at : at + DIGEST]: known[at + DIGEST : at + step] for at in range(0, len(known), step)}

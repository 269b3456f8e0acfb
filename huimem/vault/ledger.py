"""What imports brought in before: derived, kept apart from the files, and never more than a memory.

In: conversations and documents by their digests. Out: which were taken before, into which file, and
with which messages. Whoever deletes it loses only that: files are then found by what they say.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from huimem import files
from huimem.vault.arrivals import DIGEST

NAME = "imports.db"
EVERY = 256  # conversations between two commits
_VERSION = 2
_PATIENCE = 5.0  # seconds
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
CREATE INDEX conversation_path ON conversation (namespace, path);
"""

Origin = tuple[str, str, str]  # namespace, source, id


@dataclass(frozen=True, slots=True)
class Taken:
    """A conversation that was brought in: its file and digest, what is known of its messages and title."""

    path: str
    digest: bytes
    known: Mapping[bytes, bytes]


class Ledger:
    """The ledger in a state folder. Unusable or damaged it is begun anew; without a disk it forgets.

    One process at a time may write to it, who holds the lock of imports; without `keep` it is only read.
    """

    def __init__(self, folder: Path, *, keep: bool = True) -> None:
        self._keep = keep
        self._db = _opened(folder / NAME) if keep else _read_only(folder / NAME)
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
        for path, digest, known in self._rows(query, origin):
            return Taken(str(path), bytes(digest), _read(bytes(known)))
        return None

    def owner(self, namespace: str, path: str) -> Origin | None:
        """Which conversation came in to this path last, None where none did."""
        query = "SELECT source, id FROM conversation WHERE (namespace, path) = (?, ?)"
        for source, id in self._rows(query, (namespace, path)):
            return namespace, str(source), str(id)
        return None

    def keys(self, namespace: str, source: str) -> Iterator[tuple[str, Iterable[bytes]]]:
        """Of each conversation of a source its id, and the keys of its messages."""
        query = "SELECT id, known FROM conversation WHERE (namespace, source) = (?, ?)"
        for id, known in self._rows(query, (namespace, source)):
            yield str(id), _read(bytes(known))

    def take(self, origin: Origin, taken: Taken, document: bytes) -> None:
        """Remember a conversation as it came in from the document of that digest."""
        row = (*origin, taken.path, taken.digest, _written(taken.known), document)
        self._write(f"INSERT OR REPLACE INTO conversation VALUES ({', '.join('?' * 7)})", row)

    def seen(self, origin: Origin, document: bytes) -> None:
        """A conversation that came in before stood unchanged in this document."""
        query = "UPDATE conversation SET document = ? WHERE (namespace, source, id) = (?, ?, ?)"
        self._write(query, (document, *origin))

    def finish(self, document: bytes, options: str, told: Mapping[str, object]) -> None:
        """Remember that a document was taken to its end with these options, and what was told of it."""
        row = (document, options, json.dumps(told))
        self._write("INSERT OR REPLACE INTO document VALUES (?, ?, ?)", row, EVERY)

    def finished(self, document: bytes, options: str) -> tuple[Mapping[str, object], list[str]] | None:
        """What was told of a document, and the files of its conversations; None where it must be read."""
        query = "SELECT told FROM document WHERE (digest, options) = (?, ?)"
        for (written,) in self._rows(query, (document, options)):
            told: Mapping[str, object] = json.loads(str(written))
            paths = self._rows("SELECT path FROM conversation WHERE document = ?", (document,))
            return told, [str(path) for (path,) in paths]
        return None

    def _rows(self, query: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        with suppress(sqlite3.Error):
            return self._db.execute(query, values).fetchall()
        return []

    def _write(self, query: str, values: Sequence[object], weight: int = 1) -> None:
        """A disk that refuses costs the memory of this, and nothing else."""
        if not self._keep:
            return
        with suppress(sqlite3.Error):
            self._db.execute(query, values)
            self._waiting += weight
            if self._waiting >= EVERY:
                self._waiting = 0
                self._db.commit()


def _opened(path: Path) -> sqlite3.Connection:
    """A usable database at `path`, a new one where it is damaged; in memory where it cannot be used."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        return _made(sqlite3.connect(":memory:"))
    if path.exists():
        try:
            return _checked(sqlite3.connect(path, timeout=_PATIENCE))
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                return _made(sqlite3.connect(":memory:"))
        except sqlite3.Error:
            pass
        files.remove(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    files.create(path, b"")
    return _made(sqlite3.connect(path, timeout=_PATIENCE))


def _read_only(path: Path) -> sqlite3.Connection:
    """The database at `path` as it is; an empty one in memory where there is none that can be read."""
    if path.is_file() and not path.is_symlink():
        with suppress(sqlite3.Error):
            return _checked(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True))
    return _made(sqlite3.connect(":memory:"))


def _checked(db: sqlite3.Connection) -> sqlite3.Connection:
    """The database, if it is whole and of our form. Raises sqlite3.Error; then it is closed."""
    with _closing_on_error(db):
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if version != _VERSION or db.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise sqlite3.DatabaseError("of another form, or damaged")
    return db


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

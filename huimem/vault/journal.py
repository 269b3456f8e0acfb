"""What was recorded lately, kept apart from the files that hold it, and what is to be recovered of it.

In: messages just written to a session. Out: the same as long as somebody may save an older copy over
them, and a Markdown file of those that were lost. The journal is no truth: it may be deleted at any
time, and a damaged one is begun anew. Every commit is synced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import timedelta
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from huimem import files, forking
from huimem.errors import Conflict, HuimemError, WriteFailed
from huimem.vault.layout import cut
from huimem.vault.markdown import line_end
from huimem.vault.text import whole

if TYPE_CHECKING:
    import sqlite3

NAME, RECOVERED = "journal.db", "recovered"
# How long an editor's buffer may be old and still be noticed.
AGE = timedelta(days=14)

_PATIENCE = 5.0
_STEM_BYTES = 200
_COLUMNS = "namespace, session, path, ref, place, digest, nth, recorded, markdown, kept"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS message (
  namespace TEXT NOT NULL, session TEXT NOT NULL, path TEXT NOT NULL, ref TEXT NOT NULL, place TEXT NOT NULL,
  digest BLOB NOT NULL, nth INTEGER NOT NULL, recorded INTEGER NOT NULL, markdown BLOB NOT NULL, kept TEXT,
  UNIQUE (namespace, session, place, digest, nth)
);
CREATE INDEX IF NOT EXISTS message_recorded ON message (recorded);
CREATE INDEX IF NOT EXISTS message_kept ON message (kept) WHERE kept IS NOT NULL;
"""
# https://www.sqlite.org/rescode.html: the file is no good, rather than busy, full or forbidden.
_DAMAGE = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR", "SQLITE_IOERR_SHORT")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Entry:
    """A message that was recorded. `markdown` holds its bytes in the file, heading and all.

    `place`: the ref of the turn it opens, else its speaker and time; `nth`: it was the nth message of
    this text in its session; `recorded`: milliseconds UTC; `kept`: the recovered file it is in, if any.
    """

    namespace: str
    session: str
    path: str
    ref: str
    place: str
    digest: bytes
    nth: int
    recorded: int
    markdown: bytes
    kept: str | None = None


def restorable(gone: Sequence[Entry]) -> bytes:
    """Messages as Markdown that can be appended to any session: a blank line before each."""
    parts = []
    for entry in gone:
        end = line_end(entry.markdown)
        parts.append(end + entry.markdown.rstrip(b"\r\n") + end)
    return b"".join(parts)


class Journal:
    """The journal of one vault, in its state folder. Never raises: `warnings` say what went wrong."""

    def __init__(self, state: Path) -> None:
        self.warnings: tuple[str, ...] = ()
        self._state = state
        self._path = state / NAME

    def add(self, recorded: Sequence[Entry]) -> None:
        """Keep what was recorded, and drop what is older than that by `AGE`.

        Older messages stay as long as the recovered file that holds them.
        """

        def insert(db: sqlite3.Connection) -> None:
            old = recorded[0].recorded - AGE // timedelta(milliseconds=1)
            db.execute("BEGIN IMMEDIATE")
            self._drop(db, old)
            db.executemany(
                f"INSERT OR REPLACE INTO message ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                map(_values, recorded),
            )
            files.step("before journal")

        if recorded:
            self._use(insert, None)

    def of(self, namespace: str, session: str) -> tuple[Entry, ...]:
        """What was recorded to a session, oldest first. One stat where there is no journal."""
        if whole(session) != session:
            return ()
        query = f"SELECT {_COLUMNS} FROM message WHERE namespace = ? AND session = ? ORDER BY rowid"
        rows = self._look(query, namespace, session)
        return tuple(Entry(*row) for row in rows)

    def sessions(self) -> frozenset[tuple[str, str]]:
        """Namespace and id of every session in the journal."""
        return frozenset(self._look("SELECT DISTINCT namespace, session FROM message"))

    def keep(self, gone: Sequence[Entry], path: str) -> Path | None:
        """Write the lost messages of the session at `path` to a recovered file and mark them, once.

        The file; None where another process has done it already or the disk refuses.
        """
        text = restorable(gone)
        name = f"{cut(Path(path).stem, _STEM_BYTES)}-{blake2b(text, digest_size=6).hexdigest()}.md"
        try:
            self._make_folder(RECOVERED)
            with suppress(Conflict):  # the same bytes are kept already
                files.create(self._state / RECOVERED / name, text)
        except HuimemError as error:
            self._warn(f"{path} has lost recorded messages, and they cannot be kept: {error.message}")
            return None
        return self._state / RECOVERED / name if self._mark(gone, name) else None

    def found_again(self, back: Sequence[Entry]) -> None:
        """Take the marks off messages that stand in their session again."""
        if back:
            self._mark(back, None)

    def recovered(self, name: str) -> Path | None:
        """The recovered file of that name; None where the user has deleted it."""
        path = self._state / RECOVERED / name
        return path if path.is_file() else None

    def forget(self, namespace: str, session: str) -> bool:
        """Drop all messages of a session, their bytes in the journal overwritten; whether none is left."""
        query = "DELETE FROM message WHERE namespace = ? AND session = ?"
        if not self._exists():
            return True
        return self._use(lambda db: db.execute(query, (namespace, session)) is not None, False)

    def _drop(self, db: sqlite3.Connection, before: int) -> None:
        names = "SELECT DISTINCT kept FROM message WHERE kept IS NOT NULL"
        held = [name for (name,) in db.execute(names) if self.recovered(name)]
        marks = ", ".join("?" * len(held))
        query = f"DELETE FROM message WHERE recorded < ? AND (kept IS NULL OR kept NOT IN ({marks}))"
        db.execute(query, (before, *held))

    def _mark(self, marked: Sequence[Entry], kept: str | None) -> bool:
        """Set or take off marks; whether any was not so before."""
        query = (
            "UPDATE message SET kept = ? WHERE namespace = ? AND session = ? AND place = ? AND digest = ?"
            " AND nth = ? AND kept IS NOT ? AND (kept IS NULL OR ? IS NULL)"
        )
        rows = [(kept, e.namespace, e.session, e.place, e.digest, e.nth, kept, kept) for e in marked]

        def update(db: sqlite3.Connection) -> bool:
            db.execute("BEGIN IMMEDIATE")
            return db.executemany(query, rows).rowcount > 0

        return self._use(update, False)

    def _look(self, query: str, *values: str) -> list[Any]:
        if not self._exists():
            return []
        return self._use(lambda db: db.execute(query, values).fetchall(), [])

    def _exists(self) -> bool:
        with suppress(files.Unreadable):
            return files.stamp(self._path) is not None
        return True  # it cannot be seen: using it says why

    def _use(self, act: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """Carry out `act` in the journal; `otherwise` where that cannot be done."""
        import sqlite3

        try:
            try:
                return self._once(act)
            except sqlite3.Error as error:
                if not _damaged(error):
                    raise
            self._begin_anew()
            return self._once(act)
        except HuimemError as error:
            why = error.message
        except (OSError, sqlite3.Error) as error:
            why = f"{self._path} cannot be used: {error}"
        self._warn(f"{why}; should an editor save an older copy of a session, what it takes away is not kept")
        return otherwise

    def _once(self, act: Callable[[sqlite3.Connection], T]) -> T:
        with forking.undivided(), closing(self._connect()) as db, db:
            return act(db)

    def _connect(self) -> sqlite3.Connection:
        import sqlite3

        if self._path.is_symlink() or (self._path.exists() and not self._path.is_file()):
            raise WriteFailed(f"{self._path} is no regular file", "Move it away.")
        if not self._path.exists():
            self._make_folder()
            with suppress(Conflict):  # another process makes it too
                files.create(self._path, b"")
        address = f"file:{quote(str(self._path.absolute()))}?mode=rw"
        db = sqlite3.connect(address, uri=True, isolation_level=None, timeout=_PATIENCE)
        try:
            # Opened for each use, a write-ahead log would be set up and taken down every time.
            db.execute("PRAGMA journal_mode = TRUNCATE")
            db.execute("PRAGMA synchronous = FULL")
            db.execute("PRAGMA secure_delete = ON")
            if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'message_kept'").fetchone():
                db.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} COMMIT;")
        except sqlite3.Error:
            db.close()
            raise
        return db

    def _begin_anew(self) -> None:
        """Replace a damaged journal, unless another process has done so."""
        import sqlite3

        with files.lock(self._state / "locks/journal.lock"):
            with suppress(sqlite3.Error):
                if self._once(_sound):
                    return
            for name in (f"{NAME}-journal", NAME):
                files.remove(self._state / name)
        self._warn(f"{NAME} was damaged and is begun anew: what it knew of recorded messages is lost")

    def _make_folder(self, name: str = "") -> None:
        if not (self._state / name).is_dir():
            files.make_derived_folder(self._state)
            files.make_folder(self._state / name)

    def _warn(self, line: str) -> None:
        if line not in self.warnings:
            self.warnings += (line,)


def _values(entry: Entry) -> tuple[str | bytes | int | None, ...]:
    return (
        entry.namespace,
        entry.session,
        entry.path,
        entry.ref,
        entry.place,
        entry.digest,
        entry.nth,
        entry.recorded,
        entry.markdown,
        entry.kept,
    )


def _sound(db: sqlite3.Connection) -> bool:
    db.execute(f"SELECT {_COLUMNS} FROM message LIMIT 1")
    return bool(db.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))


def _damaged(error: sqlite3.Error) -> bool:
    return str(getattr(error, "sqlite_errorname", "")).startswith(_DAMAGE)

"""What was recorded lately, kept apart from the files that hold it, and what is to be recovered of it.

In: messages just written to a session. Out: the same as long as somebody may save an older copy over
them, and a Markdown file of those that were lost. The journal is no truth: it may be deleted at any
time, and a damaged one is begun anew. Every commit is synced.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import timedelta
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

from huimem import files, forking
from huimem.errors import Conflict, HuimemError, WriteFailed
from huimem.vault.layout import cut
from huimem.vault.markdown import line_end

if TYPE_CHECKING:
    import sqlite3

NAME, RECOVERED = "journal.db", "recovered"
# How long an editor's buffer may be old and still be noticed, and how long what it took away is told of.
AGE, KEPT_AGE = timedelta(days=14), timedelta(days=60)
# As many recovered files at once are not forced to disk one by one: the journal has their text too.
MANY = 32
# Seconds that each waits for another process that is writing to the journal.
LOOKING, KEEPING, RECORDING = 0.1, 0.3, 1.0

_STEM_BYTES = 200
_COLUMNS = "namespace, session, path, place, digest, nth, recorded, markdown, kept, told, number"
_WITHOUT_TEXT = _COLUMNS.replace("markdown", "x''")
_SCHEMA = """
CREATE TABLE IF NOT EXISTS message (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  namespace TEXT NOT NULL, session TEXT NOT NULL, path TEXT NOT NULL, place TEXT NOT NULL,
  digest BLOB NOT NULL, nth INTEGER NOT NULL, recorded INTEGER NOT NULL, markdown BLOB NOT NULL,
  kept TEXT, told INTEGER NOT NULL,
  UNIQUE (session, namespace, place, digest, nth)
);
CREATE INDEX IF NOT EXISTS message_path ON message (path);
CREATE INDEX IF NOT EXISTS message_recorded ON message (recorded) WHERE kept IS NULL;
CREATE INDEX IF NOT EXISTS message_kept ON message (recorded) WHERE kept IS NOT NULL;
CREATE INDEX IF NOT EXISTS message_untold ON message (number) WHERE kept IS NOT NULL AND told = 0;
"""
# https://www.sqlite.org/rescode.html: the file is no good, rather than busy, full or forbidden.
_DAMAGE = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR", "SQLITE_IOERR_SHORT")
_BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Entry:
    """A message that was recorded. `markdown` holds its bytes in the file, heading and all.

    `place`: the address in its session of the turn it opens, else its speaker and time; `nth`: it was
    the nth message of this text there; `recorded`: milliseconds UTC; `kept`: the name of the recovered
    file that is made of it, if any, and `told`: whether somebody was shown that; `number`: its row,
    never used again. Entries that are read lack `markdown`.
    """

    namespace: str
    session: str
    path: str
    place: str
    digest: bytes
    nth: int
    recorded: int
    markdown: bytes
    kept: str | None = None
    told: int = 0
    number: int = 0


@dataclass(frozen=True, slots=True)
class Missing:
    """Entries of one session that are not in the file at `path` any more."""

    path: str
    entries: tuple[Entry, ...]


def restorable(texts: Sequence[bytes]) -> bytes:
    """Messages as Markdown that can be appended to any session: a blank line before each."""
    parts = []
    for text in texts:
        end = line_end(text)
        parts.append(end + text.rstrip(b"\r\n") + end)
    return b"".join(parts)


class Journal:
    """The journal of one vault, in its state folder. Never raises: `warnings` say what went wrong.

    Who looks and finds another process writing gives up soon and without a word; who records waits longer.
    """

    def __init__(self, state: Path) -> None:
        self.warnings: tuple[str, ...] = ()
        self._state = state
        self._path = state / NAME

    def add(self, recorded: Sequence[Entry], instead: Sequence[int] = ()) -> None:
        """Keep what was recorded just now, `instead` of entries of these numbers, which were made longer.

        What is older by `AGE` is dropped, what is kept by `KEPT_AGE`.
        """

        def insert(db: sqlite3.Connection) -> None:
            db.execute("BEGIN IMMEDIATE")
            for age, which in ((AGE, "IS NULL"), (KEPT_AGE, "IS NOT NULL")):
                before = recorded[0].recorded - age // timedelta(milliseconds=1)
                db.execute(f"DELETE FROM message WHERE kept {which} AND recorded < ?", (before,))
            db.executemany("DELETE FROM message WHERE number = ?", [(number,) for number in instead])
            marks = ", ".join("?" * 10)
            db.executemany(
                f"INSERT OR REPLACE INTO message ({_COLUMNS}) VALUES ({marks}, NULL)", map(_values, recorded)
            )
            files.step("before journal")

        if recorded:
            self._use(insert, None, RECORDING)

    def exists(self) -> bool:
        """Whether anything was ever recorded here; one stat."""
        with suppress(files.Unreadable):
            return files.stamp(self._path) is not None
        return True  # it cannot be seen: using it says why

    def entries(self, after: int = 0) -> tuple[Entry, ...] | None:
        """All above that number in the order they were recorded; None where they cannot be read now."""
        return self._look("number > ?", after)

    def entries_of(self, sessions: Sequence[str], paths: Sequence[str]) -> tuple[Entry, ...] | None:
        """Those of sessions of these ids, and of sessions that were recorded at these paths, likewise."""
        ids, places = (", ".join("?" * len(values)) for values in (sessions, paths))
        recorded_there = f"SELECT session FROM message WHERE path IN ({places})"
        return self._look(f"session IN ({ids}) OR session IN ({recorded_there})", *sessions, *paths)

    def kept(self) -> tuple[Entry, ...]:
        """Those that were missing when somebody looked, and for which a recovered file is made."""
        return self._look("kept IS NOT NULL") or ()

    def untold(self) -> tuple[Entry, ...]:
        """Those of them that nobody was shown. One stat and one question where there are none."""
        return self._look("kept IS NOT NULL AND told = 0") or ()

    def tell(self, shown: Collection[int]) -> frozenset[int]:
        """Mark the entries of these numbers as told; those that nobody else had told."""

        def mark(db: sqlite3.Connection) -> frozenset[int]:
            db.execute("BEGIN IMMEDIATE")
            rows = db.execute("SELECT number FROM message WHERE kept IS NOT NULL AND told = 0")
            fresh = frozenset(number for (number,) in rows).intersection(shown)
            db.executemany("UPDATE message SET told = 1 WHERE number = ?", [(number,) for number in fresh])
            return fresh

        return self._use(mark, frozenset(), KEEPING) if shown else frozenset()

    def keep(self, lost: Sequence[Missing], back: Sequence[int]) -> None:
        """Write recovered files and mark what is in them; take the marks off entries that are `back`.

        All marks in one transaction. What cannot be written is not marked.
        """
        texts = self._texts([entry.number for missing in lost for entry in missing.entries])
        marks = []
        for missing in lost:
            held = [entry for entry in missing.entries if entry.number in texts]
            text = restorable([texts[entry.number] for entry in held])
            name = _name(missing, text)
            if held and self._write(name, text, missing.path, durable=len(lost) <= MANY):
                marks += [(name, missing.path, entry.number) for entry in held]

        def mark(db: sqlite3.Connection) -> None:
            db.execute("BEGIN IMMEDIATE")
            query = "UPDATE message SET kept = ?, path = ?, told = 0 WHERE number = ? AND kept IS NULL"
            db.executemany(query, marks)
            query = "UPDATE message SET kept = NULL, told = 0 WHERE number = ?"
            db.executemany(query, [(number,) for number in back])

        if marks or back:
            self._use(mark, None, KEEPING)

    def recovered(self, held: Sequence[Entry]) -> Path | None:
        """The recovered file of these entries; None where the user has deleted it after being told of it."""
        name = held[0].kept or ""
        path = self._state / RECOVERED / name
        if _holds_text(path):
            return path
        if all(entry.told for entry in held):
            return None
        texts = self._texts([entry.number for entry in held])
        text = restorable([texts[entry.number] for entry in held if entry.number in texts])
        return path if text and self._write(name, text, held[0].path, durable=True) else None

    def forget(self, namespace: str, session: str) -> bool:
        """Drop all messages of a session, their bytes in the journal overwritten; whether none is left."""
        query = "DELETE FROM message WHERE namespace = ? AND session = ?"
        if not self.exists():
            return True
        return self._use(lambda db: db.execute(query, (namespace, session)) is not None, False, RECORDING)

    def _write(self, name: str, text: bytes, path: str, *, durable: bool) -> bool:
        """Write a recovered file unless it is there; whether it is then."""
        place = self._state / RECOVERED / name
        try:
            self._make_folder(RECOVERED)
            if not _holds_text(place):
                write = files.create if durable and not place.exists() else files.jot
                with suppress(Conflict):  # another process keeps the same bytes
                    write(place, text)
        except HuimemError as error:
            self._warn(f"{path} has lost recorded messages, and they cannot be kept: {error.message}")
            return False
        return True

    def _texts(self, numbers: Sequence[int]) -> dict[int, bytes]:
        """The Markdown of entries, by number; those recorded again meanwhile have another."""
        query = "SELECT number, markdown FROM message WHERE number = ?"

        def fetch(db: sqlite3.Connection) -> dict[int, bytes]:
            db.execute("BEGIN")
            return dict(db.execute(query, (number,)).fetchone() or (0, b"") for number in numbers)

        nothing: dict[int, bytes] = {}
        texts = self._use(fetch, nothing, KEEPING) if numbers else nothing
        return {number: text for number, text in texts.items() if number}

    def _look(self, where: str, *values: str | int) -> tuple[Entry, ...] | None:
        query = f"SELECT {_WITHOUT_TEXT} FROM message WHERE {where} ORDER BY number"
        if not self.exists():
            return ()
        rows = self._use(lambda db: db.execute(query, values).fetchall(), None, LOOKING)
        return None if rows is None else tuple(Entry(*row) for row in rows)

    def _use(self, act: Callable[[sqlite3.Connection], T], otherwise: T, patience: float) -> T:
        """Carry out `act` in the journal; `otherwise` where that cannot be done."""
        import sqlite3

        try:
            try:
                return self._once(act, patience)
            except sqlite3.Error as error:
                if not _is(error, _DAMAGE):
                    raise
            self._begin_anew(patience)
            return self._once(act, patience)
        except HuimemError as error:
            why = error.message
        except (OSError, sqlite3.Error) as error:
            if patience < RECORDING and _is(error, _BUSY):
                return otherwise
            why = f"{self._path} cannot be used: {error}"
        self._warn(f"{why}; should an editor save an older copy of a session, what it takes away is not kept")
        return otherwise

    def _once(self, act: Callable[[sqlite3.Connection], T], patience: float) -> T:
        with forking.undivided(), closing(self._connect(patience)) as db, db:
            return act(db)

    def _connect(self, patience: float) -> sqlite3.Connection:
        import sqlite3

        if self._path.is_symlink() or (self._path.exists() and not self._path.is_file()):
            raise WriteFailed(f"{self._path} is no regular file", "Move it away.")
        if not self._path.exists():
            self._make_folder()
            with suppress(Conflict):  # another process makes it too
                files.create(self._path, b"")
        address = f"file:{quote(str(self._path.absolute()))}?mode=rw"
        db = sqlite3.connect(address, uri=True, isolation_level=None, timeout=patience)
        try:
            # Opened for each use, a write-ahead log would be set up and taken down every time.
            db.execute("PRAGMA journal_mode = TRUNCATE")
            db.execute("PRAGMA synchronous = FULL")
            db.execute("PRAGMA secure_delete = ON")
            if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'message_untold'").fetchone():
                db.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} COMMIT;")
        except sqlite3.Error:
            db.close()
            raise
        return db

    def _begin_anew(self, patience: float) -> None:
        """Replace a damaged journal, unless another process has done so."""
        import sqlite3

        with files.lock(self._state / "locks/journal.lock", timeout=patience):
            with suppress(sqlite3.Error):
                if self._once(_sound, patience):
                    return
            for name in (f"{NAME}-journal", NAME):
                files.remove(self._state / name)
        self._warn(f"{NAME} was damaged and is begun anew: what it knew of recorded messages is lost")

    def _make_folder(self, name: str = "") -> None:
        if name:
            files.own_folder(self._state, name)
        elif not self._state.is_dir():
            files.make_derived_folder(self._state)

    def _warn(self, line: str) -> None:
        if line not in self.warnings:
            self.warnings += (line,)


def _values(entry: Entry) -> tuple[str | bytes | int | None, ...]:
    return (
        entry.namespace,
        entry.session,
        entry.path,
        entry.place,
        entry.digest,
        entry.nth,
        entry.recorded,
        entry.markdown,
        entry.kept,
        entry.told,
    )


def _sound(db: sqlite3.Connection) -> bool:
    db.execute(f"SELECT {_COLUMNS} FROM message LIMIT 1")
    return bool(db.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))


def _name(missing: Missing, text: bytes) -> str:
    first = missing.entries[0]
    of = f"{first.namespace}\0{first.session}\0".encode() + text
    return f"{cut(Path(missing.path).stem, _STEM_BYTES)}-{blake2b(of, digest_size=6).hexdigest()}.md"


def _holds_text(path: Path) -> bool:
    """A file that was not forced to disk may be empty after a power cut."""
    return path.is_file() and path.stat().st_size > 0


def _is(error: BaseException, names: tuple[str, ...]) -> bool:
    return str(getattr(error, "sqlite_errorname", "")).startswith(names)

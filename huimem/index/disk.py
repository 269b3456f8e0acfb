"""What the disk refuses the index → `WriteFailed` with the file and the remedy, whoever says it.

In: errors of the system, of SQLite and of tantivy, each in its own words. Out: one error. Damage is
another matter: a damaged file is built again, a refusal leaves everything as it stands.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from huimem.errors import Conflict, HuimemError, Locked, WriteFailed
from huimem.index.seal import Damaged
from huimem.refusals import REMEDIES, refused, trial

# https://www.sqlite.org/rescode.html: the disk or the system says no, and the file may be whole.
_REFUSED = ("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM", "SQLITE_AUTH")
_BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL")
_BROKEN = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR", "SQLITE_IOERR_SHORT")


def broken(error: sqlite3.Error) -> bool:
    """Whether an error says that the file itself is no good, rather than busy, full or forbidden."""
    return _name(error).startswith(_BROKEN)


def refusal(path: Path, error: BaseException) -> HuimemError | None:
    """What an error of the disk at `path` means: `WriteFailed`, `Locked`; None where it is none.

    `Meddled` where a file has gone that was there a moment ago.
    """
    if isinstance(error, FileNotFoundError):
        return _meddled(path)
    if isinstance(error, OSError):
        named = isinstance(error.filename, str) and os.path.isabs(error.filename)
        return refused(Path(error.filename) if named else path, error)
    if not isinstance(error, sqlite3.Error) or broken(error):
        return None
    if _name(error).startswith(_BUSY):
        return Locked(f"{path} is in use by another program", "Wait until it has finished, or stop it.")
    if _name(error).startswith(_REFUSED):
        cause = _cause(path)
        if cause is not None:
            return refused(path, cause)
        return WriteFailed(f"{path} cannot be used: {error}", REMEDIES[errno.EIO])
    return None


@contextmanager
def refusals(path: Path) -> Iterator[None]:
    """Turn what the disk refuses meanwhile into `WriteFailed` (`Locked` where others use the file).

    `path` is named where the error itself names no file; all other errors pass.
    """
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        meant = refusal(path, error)
        if meant is None:
            raise
        raise meant from error


def file_clock(folder: Path) -> int:
    """What time it is by the clock that stamps files, in nanoseconds since 1970."""
    with refusals(folder):
        os.utime(folder)
        return os.stat(folder).st_mtime_ns


class Meddled(Locked):
    """Others changed a derived file in the middle of our work: once it is mended, the work can go on."""


@contextmanager
def sheltered(folder: Path) -> Iterator[None]:
    """Let out nothing of what a file in the state folder `folder` does wrong but errors with a remedy.

    Raises `WriteFailed` and `Locked` as `refusals` does, `Meddled` for damage. The system's own errors
    pass: they may come from an embedder.
    """
    try:
        yield
    except (Damaged, sqlite3.Error, Conflict) as error:
        raise refusal(folder, error) or _meddled(folder) from error


def _meddled(path: Path) -> Meddled:
    return Meddled(
        f"the index in {path if path.is_dir() else path.parent} was changed by another program meanwhile",
        "Try again. If it happens again, find out which program changes or deletes files there.",
    )


def _name(error: sqlite3.Error) -> str:
    return str(getattr(error, "sqlite_errorname", ""))


def _cause(path: Path) -> OSError | None:
    """The system's own reason why SQLite could not write: it keeps that to itself.

    The file is not opened: closing it again would take SQLite's locks away.
    """
    mine = os.access in os.supports_effective_ids
    if path.exists() and not os.access(path, os.R_OK | os.W_OK, effective_ids=mine):
        return OSError(errno.EACCES, os.strerror(errno.EACCES))
    return trial(path.parent)

"""A disk that refuses: nothing that stands in the state folder is lost by it, and the error says why."""

from __future__ import annotations

import errno
import os
import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from huimem.errors import Locked, WriteFailed
from huimem.index.disk import refusals
from tests.index.made import ALL, EMBEDDER, edited, healed, opened, state
from tests.processes import no_file_beyond, obeying_modes


@pytest.mark.parametrize("size", [0, 4096, 40_000])
def test_a_disk_that_refuses_costs_nothing_that_stood_there(
    size: int, pristine: tuple[Path, tuple[object, ...]], edited_state: tuple[object, ...], tmp_path: Path
) -> None:
    folder = tmp_path / "state"
    shutil.copytree(pristine[0], folder)
    files = edited()
    with no_file_beyond(size):
        for _ in range(2):
            index = opened(folder)
            with pytest.raises(WriteFailed, match=r"cannot be written: File too large") as failed:
                files.sync(index)
                index.embed()
            assert str(folder) in failed.value.message and "size limit" in failed.value.hint
            with index.snapshot() as snapshot:
                assert len(snapshot.find(["appl"], ALL)) >= 5
                assert len(snapshot.nearest(EMBEDDER.embed(["apple"])[0], ALL)[0]) >= 10
            index.close()
    index, warnings = healed(folder, files)
    assert not warnings and state(index) == edited_state


def test_an_index_that_cannot_be_read_either_is_named(
    pristine: tuple[Path, tuple[object, ...]], tmp_path: Path
) -> None:
    folder = tmp_path / "state"
    shutil.copytree(pristine[0], folder)
    (folder / "catalog.db").chmod(0)
    with obeying_modes(), pytest.raises(WriteFailed, match=r"catalog\.db cannot be .*: Permission denied"):
        opened(folder)


def full(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA max_page_count = 2")
        db.execute("CREATE TABLE t AS SELECT zeroblob(100000)")


def written_read_only(path: Path) -> None:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        db.execute("CREATE TABLE t (a)")


def no_such_place(path: Path) -> None:
    sqlite3.connect(path.parent / "nowhere" / "x.db")


def busy(path: Path) -> None:
    with closing(sqlite3.connect(path)) as one, closing(sqlite3.connect(path, timeout=0)) as other:
        one.execute("BEGIN EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")


def scribbled(path: Path) -> None:
    path.write_bytes(b"no database at all" * 100)
    with closing(sqlite3.connect(path)) as db:
        db.execute("SELECT * FROM sqlite_master")


def system(number: int, name: str | None) -> Callable[[Path], None]:
    def refuse(path: Path) -> None:
        raise OSError(number, os.strerror(number), str(path.parent / name) if name else None)

    return refuse


# What fails, as which error it comes out, and what its text and hint hold.
FAILURES = [
    (full, WriteFailed, "catalog.db cannot be used: database or disk is full", "disk"),
    (written_read_only, WriteFailed, "catalog.db cannot be used: attempt to write a readonly", "disk"),
    (no_such_place, WriteFailed, "catalog.db cannot be used: unable to open database file", "disk"),
    (busy, Locked, "catalog.db is in use by another program", "Wait until it has finished"),
    (scribbled, sqlite3.DatabaseError, "file is not a database", ""),
    (system(errno.ENOSPC, None), WriteFailed, "catalog.db cannot be written: No space left", "free some"),
    (system(errno.EROFS, "x"), WriteFailed, "x cannot be written: Read-only file system", "read-only"),
    (system(errno.EDQUOT, "x"), WriteFailed, "x cannot be written: Disk quota exceeded", "quota"),
    (system(errno.EIO, "x"), WriteFailed, "x cannot be written: Input/output error", "disk reports"),
]


@pytest.mark.parametrize(("fail", "kind", "says", "hint"), FAILURES)
def test_each_refusal_of_the_disk_has_one_name(
    fail: Callable[[Path], None], kind: type[Exception], says: str, hint: str, tmp_path: Path
) -> None:
    path = tmp_path / "catalog.db"
    sqlite3.connect(path).close()
    with pytest.raises(kind, match=re.escape(says)) as failed, refusals(path):
        fail(path)
    assert hint in getattr(failed.value, "hint", "")

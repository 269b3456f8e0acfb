"""The embedding cache while another process holds it: a question does without, work waits for so long."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from huimem.errors import Locked
from huimem.index import vectors
from huimem.index.seal import EMBEDDINGS
from huimem.index.vectors import Cache, written
from tests.index.made import ALL, EMBEDDER, opened, vault

HASH = bytes(16)


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Another one keeps everybody out of the cache."""
    with closing(sqlite3.connect(folder / EMBEDDINGS, isolation_level=None)) as db:
        for text in ("PRAGMA locking_mode=EXCLUSIVE", "PRAGMA journal_mode=DELETE", "BEGIN EXCLUSIVE"):
            db.execute(text)
        yield


def test_a_question_goes_on_without_a_cache_that_is_held(tmp_path: Path) -> None:
    index = opened(tmp_path)
    vault().sync(index)
    assert index.embed().pending == 0
    index.close()
    index = opened(tmp_path)
    with held(tmp_path):
        start = time.monotonic()
        assert index.meaning("apple", ALL) is not None
        assert time.monotonic() - start < 0.5


@pytest.mark.parametrize(
    "work", [lambda cache: cache.get([HASH], None), lambda cache: cache.put({HASH: b"x"})]
)
def test_work_waits_for_its_time_in_all_and_no_longer(work, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    cache = Cache(tmp_path, "x", 0.3)
    cache.put({HASH: b"ab"})
    with held(tmp_path):
        start = time.monotonic()
        with pytest.raises(Locked, match="in use by another program"):
            work(cache)
        assert 0.25 < time.monotonic() - start < 1.0
    assert cache.get([HASH], None) == {HASH: b"ab"}


def test_a_writer_in_the_middle_keeps_no_reader_out(tmp_path: Path) -> None:
    cache = Cache(tmp_path, "x", 0.1)
    cache.put({HASH: b"ab"})
    with closing(sqlite3.connect(tmp_path / EMBEDDINGS, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        assert cache.get([HASH], None) == {HASH: b"ab"}


def test_when_a_vector_was_last_made_can_be_seen(tmp_path: Path) -> None:
    assert written(tmp_path) == 0
    Cache(tmp_path, EMBEDDER.name).put({HASH: b"ab"})
    assert written(tmp_path) > 0 and vectors.HASTE < vectors.PATIENCE

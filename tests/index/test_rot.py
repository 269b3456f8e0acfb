"""A disk that gives back other bytes than were written, sizes and times as they were: it is noticed.

By who reads all bytes, and by a process that comes to use the index, before it answers.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from huimem import files
from huimem.errors import Locked
from huimem.index import catalog, digests, rot, seal
from huimem.index.digests import Tally
from huimem.index.index import Index
from huimem.index.seal import CATALOG, EMBEDDINGS, EMBEDDINGS_LOCK, EMBEDDINGS_SEAL, SEAL
from huimem.index.touch import Touch
from huimem.index.vectors import Cache
from tests.index.flipped import cuts, flips, holding, sorts, told, victims
from tests.index.made import ALL, Files, opened, source, turn, vault

Pristine = tuple[Path, tuple[object, ...]]

KINDS = {".db", ".seal", ".json", ".fast", ".fieldnorm", ".idx", ".pos", ".store", ".term", ".faiss"}


def test_files_of_all_kinds_are_among_the_victims(pristine: Pristine) -> None:
    names = victims(pristine[0])
    assert {Path(name).suffix for name in names} >= KINDS
    assert {CATALOG, EMBEDDINGS, SEAL, "words/meta.json", "words/.managed.json"} < {*names}


def is_found(folder: Path, name: str) -> bool:
    """Whether a check finds a file damaged, and so does a process that begins to use the index."""
    sealed = name == SEAL  # without one everything is looked at
    return name in told(folder) and (sealed or name in Touch(folder).found())


SLOW = (pytest.mark.slow, pytest.mark.timeout(300))


@pytest.mark.parametrize(("count", "others"), [(2, 0), pytest.param(100, 3, marks=SLOW)])
def test_every_flip_and_every_cut_is_found(count: int, others: int, pristine: Pristine) -> None:
    """So many flips in a file of each sort, and some in each of the others."""
    folder = pristine[0]
    assert told(folder) == set() == Touch(folder).found()
    names = victims(folder)
    for name in sorts(names) if not others else names:
        path = folder / name
        here = count if name in sorts(names) else others
        for data in (*flips(path, here), *cuts(path)[:: 1 if others else 5]):
            with holding(path, data):
                assert is_found(folder, name), f"{name} of {len(data)} bytes"
    assert told(folder) == set() == Touch(folder).found()


# What is written goes into the digest by and by: afterwards it is that of all bytes.

STEPS: dict[str, Callable[[Index, Files, random.Random], object]] = {
    "an edit": lambda index, files, chance: put(index, files, chance, 1),
    "many edits": lambda index, files, chance: put(index, files, chance, 12),
    "a deletion": lambda index, files, chance: take_out(index, files, chance),
    "vectors": lambda index, files, chance: index.embed(),
    "a purge": lambda index, files, chance: index.purge(),
    "a look at everything": lambda index, files, chance: files.sync(index, full=True),
}


def put(index: Index, files: Files, chance: random.Random, count: int) -> None:
    for number in range(count):
        words = " ".join(f"word{chance.randrange(400)}" for _ in range(chance.randrange(5, 300)))
        name = f"n{chance.randrange(9)}"
        files.put(source(f"{name}.md", turn("2026-05-06", words, f"{number}", session=name)))
    files.sync(index)


def take_out(index: Index, files: Files, chance: random.Random) -> None:
    files.remove(chance.choice(sorted(files.sources)))
    files.sync(index)


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 8))])
def test_after_any_writes_the_digest_is_that_of_all_bytes(seed: int, tmp_path: Path) -> None:
    """With readers in the middle, which keep the journal from being emptied, or not; and by two writers."""
    chance, kept, number = random.Random(seed), vault(), 0
    indexes = [opened(tmp_path / "state"), opened(tmp_path / "state")]
    with ExitStack() as readers:
        put(indexes[0], kept, chance, 3)
        for step in chance.choices([*STEPS], k=10):
            index = chance.choice(indexes)
            if chance.random() < 0.3 and step != "a purge":
                snapshot = readers.enter_context(index.snapshot())
                snapshot.rows(ALL)
            elif chance.random() < 0.3 or step == "a purge":  # which waits for them
                readers.close()
            STEPS[step](index, kept, chance)
            number += 1
            sealed = seal.entries(tmp_path / "state")
            assert sealed is not None and None not in (sealed[CATALOG][2], sealed["words/meta.json"][2])
            assert rot.rotten(tmp_path / "state") == frozenset(), f"{number}: {step}"
    for index in indexes:
        index.close()


def test_an_edit_reads_no_more_of_the_catalog_than_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = vault()
    index = opened(tmp_path / "state")
    files.sync(index)
    index.embed()
    monkeypatch.setattr(digests, "of_database", lambda *rest: pytest.fail("all of it was read"))
    put(index, files, random.Random(1), 3)
    index.embed()
    index.close()
    monkeypatch.undo()
    assert rot.rotten(tmp_path / "state") == frozenset()


def test_what_is_too_long_for_one_journal_is_in_the_digest(tmp_path: Path) -> None:
    """Two transactions of many pages: by itself SQLite would empty the journal between them."""
    index, kept = opened(tmp_path / "state"), vault()
    kept.sync(index)
    with index._writing(1.0) as db:
        for number in range(2):
            with catalog.transaction(db):
                texts = [(f"{number}{at} {os.urandom(3000).hex()}",) for at in range(1200)]
                db.executemany("INSERT INTO label (text) VALUES (?)", texts)
    assert rot.rotten(tmp_path / "state") == frozenset()
    index.close()


def test_bytes_between_the_old_end_of_a_file_and_the_new_are_in_the_digest(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(os.urandom(3 * digests.BLOCK + 100))
    tally = Tally(path, digests.of_database(path))
    tally.leaving()
    with open(path, "r+b") as file:
        file.seek(7 * digests.BLOCK)
        file.write(b"end")
    assert tally.arrived() == digests.of_database(path)


def test_a_list_of_words_is_read_though_its_time_is_the_old_one(pristine: Pristine, tmp_path: Path) -> None:
    """Two may be written within one tick of the clock that stamps files."""
    folder = tmp_path / "state"
    shutil.copytree(pristine[0], folder)
    before = seal.entries(folder) or {}
    with holding(folder / "words/meta.json", (folder / "words/meta.json").read_bytes().swapcase()):
        seal.close(folder, before)
        assert rot.rotten(folder) == frozenset()


# The cache of vectors.


def test_a_cache_that_others_changed_is_sealed_anew(tmp_path: Path) -> None:
    """Nobody knows what they put there: that is no damage, and the next write makes a digest of it."""
    cache = Cache(tmp_path, "x")
    cache.put({bytes(16): b"ab"})
    with closing(sqlite3.connect(tmp_path / EMBEDDINGS)) as db:
        db.execute("CREATE TABLE other (x)")
    time.sleep(0.02)  # a tick of the clock that stamps files
    os.utime(tmp_path / EMBEDDINGS)
    assert rot.rotten(tmp_path) == frozenset()
    cache.put({bytes(15) + b"1": b"cd"})
    with holding(tmp_path / EMBEDDINGS, next(flips(tmp_path / EMBEDDINGS, 3))):
        assert rot.rotten(tmp_path) == {EMBEDDINGS}
    assert rot.rotten(tmp_path) == frozenset()


def test_who_reads_the_cache_for_long_leaves_it_without_a_seal(tmp_path: Path) -> None:
    cache = Cache(tmp_path, "x")
    cache.put({bytes([n]) * 16: b"ab" for n in range(9)})
    with closing(sqlite3.connect(tmp_path / EMBEDDINGS, isolation_level=None)) as db:
        db.execute("BEGIN")
        assert db.execute("SELECT count(*) FROM vector").fetchone() == (9,)
        cache.put({b"1" * 16: b"cd"})
        assert not (tmp_path / EMBEDDINGS_SEAL).exists()
        db.execute("COMMIT")
    cache.put({b"2" * 16: b"ef"})
    assert (tmp_path / EMBEDDINGS_SEAL).exists() and rot.rotten(tmp_path) == frozenset()


def test_what_the_disk_left_of_the_cache_is_kept(tmp_path: Path) -> None:
    cache, vectors = Cache(tmp_path, "x"), {bytes([n]) * 16: bytes([n]) * 64 for n in range(50)}
    cache.put(vectors)
    path = tmp_path / EMBEDDINGS
    changed = bytearray(path.read_bytes())
    changed[changed.index(bytes([7]) * 64)] ^= 1
    path.write_bytes(changed)
    cache.heal()
    assert "49 vectors were kept" in cache.warning
    assert cache.get([*vectors], None) == {
        key: code for key, code in vectors.items() if key != bytes([7]) * 16
    }
    assert rot.rotten(tmp_path) == frozenset()


def test_one_writer_at_a_time_puts_something_into_the_cache(tmp_path: Path) -> None:
    cache = Cache(tmp_path, "x", 0.05)
    cache.put({bytes(16): b"ab"})
    with files.lock(tmp_path / EMBEDDINGS_LOCK):
        assert cache.get([bytes(16)], None) == {bytes(16): b"ab"}
        with pytest.raises(Locked, match=r"embeddings\.lock"):
            cache.put({b"1" * 16: b"cd"})
        assert rot.rotten(tmp_path) == frozenset()

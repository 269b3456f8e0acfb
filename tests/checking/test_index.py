"""A check of the derived files: whatever is not what was written there is found, and the remedy works."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from huimem import Memory, files
from huimem.errors import Locked
from huimem.index import intact, seal
from huimem.index.verify import Held, verify
from huimem.vault.vault import Vault
from tests.checking.checked import MARCH, NOW, check, flipped, holding, tell, told


@pytest.mark.slow
@pytest.mark.parametrize("part", ["catalog.db", "words/*", "vectors/*", "words/.managed.json"])
def test_every_flip_that_a_program_made_in_the_index_is_found(part: str, vault: Vault) -> None:
    chance, victims = random.Random(part), sorted(vault.state.glob(part))
    for _ in range(25):
        path = chance.choice([path for path in victims if path.stat().st_size])
        data = path.read_bytes()
        with holding(path, flipped(data, chance.randrange(len(data)), chance.randrange(8))):
            for read_data in (False, True):
                found = check(vault, read_data=read_data).damaged
                assert str(path.relative_to(vault.root)) in [problem.path for problem in found]


EVERY = ["catalog.db", "embeddings.db", "seal.json", "words/*.*", "words/.*.json", "vectors/*", "unpacked/*"]


@pytest.mark.slow
@pytest.mark.parametrize("part", EVERY)
def test_every_flip_of_the_disk_is_found_where_all_bytes_are_read(part: str, vault: Vault) -> None:
    """No time of the file tells of it."""
    Vault.open(vault.root, vault.config).read(f"{MARCH}/sessions/2026-W10/first.md", keep=True)
    chance = random.Random(part)
    for path in [one for one in sorted(vault.state.glob(part)) if one.stat().st_size]:
        path.chmod(0o600)
        data = path.read_bytes()
        for at in chance.sample(range(len(data)), 12):
            with holding(path, flipped(data, at, chance.randrange(8)), keep_time=True):
                found = [problem.path for problem in check(vault).damaged]
                assert found == [str(path.relative_to(vault.root))], at


DELETED = ["catalog.db", "words/meta.json", "words/*.idx", "vectors/*"]


@pytest.mark.parametrize("part", DELETED)
def test_what_is_gone_from_the_index_is_found(part: str, vault: Vault) -> None:
    path = next(vault.state.glob(part))
    with holding(path, None):
        found = check(vault, read_data=False).damaged
    assert str(path.relative_to(vault.root)) in [problem.path for problem in found]


def test_what_is_of_the_wrong_kind_is_found(own_vault: Vault) -> None:
    shutil.rmtree(own_vault.state / "vectors")
    (own_vault.state / "vectors").write_text("", encoding="utf-8")
    assert (".huimem/vectors", True) in told(check(own_vault, read_data=False))


CATALOGS = [
    ("UPDATE passage SET said = (SELECT said FROM passage WHERE row = 2) WHERE row = 1", "passages"),
    ("UPDATE passage SET said = x'00' WHERE row = 1", "passages"),
    ("UPDATE passage SET lead = 100000 WHERE row = 1", "passages"),
    ("DELETE FROM passage WHERE row = 1", "passages"),
    ("UPDATE df SET n = n + 1 WHERE term = 1", "counts"),
    ("DELETE FROM df WHERE term = 2", "counts"),
    ("UPDATE totals SET tokens = tokens + 1", "counts"),
    ("UPDATE chunk SET tokens = x'' WHERE row = 1", "counts"),
    ("UPDATE chunk SET role = role + 1 WHERE row = 1", "vectors"),
    ("UPDATE segment SET rows = zeroblob(length(rows)) WHERE id = (SELECT min(id) FROM segment)", "vectors"),
]


@pytest.mark.parametrize(("change", "said"), CATALOGS)
def test_what_does_not_fit_in_a_catalog_is_told(change: str, said: str, vault: Vault, tmp_path: Path) -> None:
    shutil.copy(vault.state / "catalog.db", tmp_path)
    with closing(sqlite3.connect(tmp_path / "catalog.db", isolation_level=None)) as db:
        assert [*intact.catalog_faults(db)] == []
        db.execute(change)
        faults = [*intact.catalog_faults(db)]
    assert any(said in fault for fault in faults)


def test_a_damaged_vector_in_the_cache_is_found(own_vault: Vault) -> None:
    with closing(sqlite3.connect(own_vault.state / "embeddings.db", isolation_level=None)) as db:
        db.execute("UPDATE vector SET value = zeroblob(length(value)) WHERE rowid = 1")
    assert told(check(own_vault)) == {(".huimem/embeddings.db", True)}
    (own_vault.state / "embeddings.db").write_bytes(b"no database" * 500)
    assert told(check(own_vault)) == {(".huimem/embeddings.db", True)}


# What stands in the catalog of a file that is unchanged, and what is said.
WRONG = [
    ("UPDATE source SET digest = 'f00d' WHERE path LIKE '%/late.md'", "sessions/2026-W35/late.md"),
    ("UPDATE source SET digest = 'f00d' WHERE path LIKE '%/second.md'", MARCH),
    ("DELETE FROM source WHERE path LIKE '%/second.md'", MARCH),
]


@pytest.mark.slow
@pytest.mark.parametrize(("change", "path"), WRONG)
def test_a_file_of_which_the_index_holds_something_else_is_found(
    change: str, path: str, own_vault: Vault
) -> None:
    """And the remedy works."""
    with closing(sqlite3.connect(own_vault.state / "catalog.db", isolation_level=None)) as db:
        db.execute("UPDATE source SET racy = 0")
        db.execute("UPDATE archive SET racy = 0")
        db.execute(change)
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    seal.close(own_vault.state)
    found = check(own_vault, read_data=False)
    assert told(found) == {(path, True)}
    assert found.damaged[0].remedy.startswith("huimem sync --full")
    with Memory.open(own_vault.root, embedder="hashing", background=False) as memory:
        memory.sync(full=True)
    assert told(check(own_vault)) == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    "part", ["catalog.db", "words/*.idx", "words/meta.json", "vectors/*", "embeddings.db"]
)
def test_the_remedy_for_what_no_time_tells_of_works(part: str, own_vault: Vault) -> None:
    path = next(own_vault.state.glob(part))
    was, data = path.stat(), path.read_bytes()
    path.write_bytes(flipped(data, len(data) // 2))
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
    (damage,) = check(own_vault).damaged
    assert damage.path == str(path.relative_to(own_vault.root))
    assert damage.remedy.startswith("huimem sync --full")
    with Memory.open(own_vault.root, embedder="hashing", background=False) as memory:
        memory.sync(full=True)
        assert memory.recall("marigold door", namespace="**", now=NOW).freshness.whole
    assert told(check(own_vault)) == set()


def test_a_writer_at_work_is_no_damage(own_vault: Vault) -> None:
    """While another process writes, what looks damaged is looked at again; and who it is, is told."""
    path, state = next(own_vault.state.glob("words/*.idx")), own_vault.state
    with holding(path, b""), files.lock(state / seal.LOCK), pytest.raises(Locked, match=r"index\.lock"):
        verify(state, str(own_vault.root.resolve()), Held(), read_data=False, wait=0.1)


def test_a_check_beside_a_busy_writer_sees_no_damage(own_vault: Vault) -> None:
    stop = threading.Event()

    def write() -> None:
        with Memory.open(own_vault.root, embedder="hashing", background=False) as memory:
            for number in range(200):
                if stop.is_set():
                    break
                tell(memory, f"busy{number % 5}", f"2026-08-{1 + number // 5 % 28:02}")
                memory.sync()

    writer = threading.Thread(target=write)
    writer.start()
    found = [check(own_vault).damaged for _ in range(15)]
    stop.set()
    writer.join()
    assert found == [()] * 15
    assert check(own_vault).damaged == ()

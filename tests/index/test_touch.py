"""A process that comes to use an index which a disk has changed meanwhile: it says so, and mends it first."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

from huimem.index import digests, rot, seal, touch
from huimem.index.seal import CATALOG, EMBEDDINGS, SEAL
from huimem.index.touch import Touch
from tests.index.flipped import flips, holding, sorts, told, victims
from tests.index.made import ALL, Files, edited, opened, state, vault
from tests.processes import code_of, start

Pristine = tuple[Path, tuple[object, ...]]
SLOW = (pytest.mark.slow, pytest.mark.timeout(300))


def first_question(folder: Path, files: Files) -> tuple[tuple[object, ...], tuple[str, ...]]:
    """What a process that has just opened the index answers, and what it says of it."""
    with closing(opened(folder)) as index:
        said = [*files.sync(index).warnings]
        said += index.embed().warnings
        return state(index), tuple(said)


def answers_right(folder: Path, right: tuple[object, ...]) -> None:
    """A process that comes to use the index says that it was damaged, and answers from a mended one."""
    answered, said = first_question(folder, vault())
    assert answered == right
    assert any("damaged" in line or "disk" in line for line in said), said
    assert first_question(folder, vault()) == (right, ())
    assert told(folder) == set()


@pytest.mark.parametrize("count", [3, pytest.param(5, marks=SLOW)])
def test_a_process_that_begins_to_use_it_mends_it_and_says_so(
    count: int, pristine: Pristine, tmp_path: Path
) -> None:
    before, right = pristine
    for name in sorts(victims(before)) if count > 3 else [CATALOG, EMBEDDINGS, "words/meta.json"]:
        for number, data in enumerate([*flips(before / name, count)][2 if count == 3 else 0 :]):
            folder = tmp_path / f"{name.replace('/', ' ')} {number}"
            shutil.copytree(before, folder)
            with suppress(FileNotFoundError), holding(folder / name, data):
                child = start(lambda folder=folder: answers_right(folder, right))
                assert code_of(child) == 0, (name, number)
                shutil.rmtree(folder)


def test_many_bytes_are_read_behind_its_back_once_it_has_stayed(
    pristine: Pristine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, right = pristine
    shutil.copytree(before, tmp_path / "state")
    monkeypatch.setattr(touch, "AT_ONCE", 0)
    monkeypatch.setattr(touch, "DELAY", 0.2)
    path = tmp_path / "state" / CATALOG
    was, data = path.stat(), [*flips(path, 3)][2]
    path.write_bytes(data)
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
    index = opened(tmp_path / "state")
    assert index.said() == ()
    assert index._touch._thread is not None
    index._touch._thread.join(10)
    kept = vault()
    assert any("the disk has changed" in line for line in kept.sync(index).warnings)
    assert index.embed().pending == 0 and state(index) == right
    index.close()


def test_who_ends_at_once_does_not_wait_for_the_reading(
    pristine: Pristine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(touch, "AT_ONCE", 0)
    monkeypatch.setattr(touch, "DELAY", 60.0)
    begun = time.monotonic()
    opened(pristine[0]).close()
    assert time.monotonic() < begun + 1.0


def test_what_another_process_leaves_is_read_too_and_what_was_read_is_not(
    pristine: Pristine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, looked, plain = tmp_path / "state", [], rot.rotten
    shutil.copytree(pristine[0], folder)
    index, other, kept = opened(folder), opened(folder), edited()

    def rotten(place: Path, names: set[str], stop: object) -> frozenset[str]:
        looked.append({*names})
        return plain(place, names)

    monkeypatch.setattr(rot, "rotten", rotten)
    before = {path.name for path in folder.glob("words/*.idx")}
    kept.sync(other)
    assert looked == []
    kept.sync(index)
    (names,) = looked
    after = {path.name for path in folder.glob("words/*.idx")}
    assert {Path(name).name for name in names if name.endswith(".idx")} == after - before
    assert CATALOG not in names and "words/meta.json" in names
    kept.sync(index)
    assert len(looked) == 1
    index.close()
    other.close()


@pytest.mark.parametrize("at_once", [1 << 20, 0])
def test_a_catalog_that_is_written_to_meanwhile_is_read_once_more(
    at_once: int, pristine: Pristine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, looked, plain = tmp_path / "state", [], rot.rotten
    shutil.copytree(pristine[0], folder)
    other = opened(folder)

    def rotten(place: Path, names: set[str], stop: object) -> frozenset[str]:
        looked.append({*names})
        if len(looked) == 1:
            edited().sync(other)
        return plain(place, names)

    monkeypatch.setattr(rot, "rotten", rotten)
    monkeypatch.setattr(touch, "AT_ONCE", at_once)
    monkeypatch.setattr(touch, "DELAY", 0.0)
    monkeypatch.setattr(touch, "LONGEST_PAUSE", 0.05)
    reading = Touch(folder)
    assert reading.found() == frozenset()
    if reading._thread is not None:
        reading._thread.join(10)
    assert reading.found() == frozenset() and all(CATALOG in names for names in looked[:2])
    assert len(looked) >= 2
    reading.stop()
    other.close()


def test_what_is_written_while_it_is_read_is_no_damage(
    pristine: Pristine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, plain = tmp_path / "state", digests.of_database
    shutil.copytree(pristine[0], folder)
    other = opened(folder)

    def mixed(path: Path, *rest: object) -> int:
        edited().sync(other)
        return plain(path) + (path.name == CATALOG)

    monkeypatch.setattr(digests, "of_database", mixed)
    assert rot.rotten(folder) == frozenset()
    other.close()


def test_a_look_at_everything_mends_what_no_time_tells(pristine: Pristine, tmp_path: Path) -> None:
    """In a process that has read everything before, while it was whole."""
    folder, kept = tmp_path / "state", vault()
    shutil.copytree(pristine[0], folder)
    index = opened(folder)
    path = folder / "words" / "meta.json"
    was, data = path.stat(), path.read_bytes().replace(b"opstamp", b"opstbmp", 1)
    path.write_bytes(data)
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert kept.sync(index).warnings == ()
    assert kept.sync(index, full=True).warnings == ("the word index was damaged and is rebuilt",)
    assert state(index) == pristine[1] and told(folder) == set()
    index.close()


def test_a_seal_of_the_form_before_is_no_damage(pristine: Pristine, tmp_path: Path) -> None:
    folder = tmp_path / "state"
    shutil.copytree(pristine[0], folder)
    entries = seal.entries(folder) or {}
    (folder / SEAL).write_text(json.dumps({name: entry[:2] for name, entry in entries.items()}))
    assert told(folder) == set()
    assert first_question(folder, vault()) == (pristine[1], ())
    assert (seal.entries(folder) or {})[CATALOG][2] and rot.rotten(folder) == frozenset()


def test_reading_the_catalog_beside_connections_takes_no_lock_away(
    pristine: Pristine, tmp_path: Path
) -> None:
    """Closing any descriptor of a file ends all locks of the process on it: another one must not see that."""
    folder = tmp_path / "state"
    shutil.copytree(pristine[0], folder)
    index = opened(folder)
    with index.snapshot() as snapshot:
        snapshot.rows(ALL)
        digests.of_database(folder / CATALOG)
        child = start(lambda: nobody_may_have_it(folder))
        assert code_of(child) == 0
    index.close()


def nobody_may_have_it(folder: Path) -> None:
    """Another process cannot have the catalog for itself."""
    with closing(sqlite3.connect(folder / CATALOG, isolation_level=None, timeout=0.0)) as db:
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            db.execute("SELECT count(*) FROM chunk").fetchone()

"""The cache of unpacked files on disks that refuse, and used by many at once: right bytes or none."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from huimem import files
from huimem.errors import WriteFailed
from huimem.vault.unpacked import Unpacked
from tests.processes import code_of, no_file_beyond, obeying_modes, start
from tests.vault.test_unpacked import DATA, keep, kept, name


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "vault/.huimem"


# A disk that refuses.


def test_a_write_that_is_refused_is_no_error(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """E6"""
    cache = Unpacked(state, 72)
    keep(cache, DATA)

    def full(path: Path, data: bytes, *, mode: int) -> None:
        raise WriteFailed(f"{path} cannot be written: No space left on device", "Free some space.")

    monkeypatch.setattr(files, "jot", full)
    keep(cache, b"new")
    assert cache.get(name(b"new")) is None and cache.get(name(DATA)) == DATA
    assert kept(state) == {name(DATA)}


def test_a_disk_that_fills_up_leaves_no_half_entry(state: Path) -> None:
    """E6, D9: the system refuses in the middle of a write."""
    cache = Unpacked(state, 72)
    keep(cache, DATA)
    large = bytes(200_000)
    with no_file_beyond(100_000):
        keep(cache, large)
        assert cache.get(name(large)) is None and cache.get(name(DATA)) == DATA
    assert kept(state) == {name(DATA)}
    keep(cache, large)
    assert cache.get(name(large)) == large


def _closed(state: Path, mode: int) -> None:
    state.mkdir(parents=True, exist_ok=True)
    (state / "unpacked").mkdir(exist_ok=True)
    (state / "unpacked").chmod(mode)


def _no_folder_there(state: Path) -> None:
    state.mkdir(parents=True, exist_ok=True)
    state.chmod(0o500)


def _nothing_to_be_seen(state: Path) -> None:
    state.mkdir(parents=True, exist_ok=True)
    state.chmod(0)


REFUSING: dict[str, Callable[[Path], None]] = {
    "read-only": lambda state: _closed(state, 0o500),
    "not to be listed": lambda state: _closed(state, 0o300),
    "closed": lambda state: _closed(state, 0),
    "no folder can be made": _no_folder_there,
    "closed above": _nothing_to_be_seen,
}


@pytest.mark.parametrize("what", REFUSING)
@pytest.mark.parametrize("before", [False, True])
def test_a_folder_that_refuses_is_no_error(state: Path, what: str, before: bool) -> None:
    """E6"""
    cache = Unpacked(state, 72)
    if before:
        keep(cache, DATA)
    REFUSING[what](state)
    try:
        with obeying_modes():
            assert cache.get(name(DATA)) in (DATA if before else None, None)
            keep(cache, DATA, b"new")
            cache.drop([name(DATA)])
            cache.clean()
    finally:
        state.chmod(0o700)
        for path in state.iterdir():
            path.chmod(0o700)
    keep(cache, DATA)
    assert cache.get(name(DATA)) == DATA


@pytest.mark.parametrize("place", [".", "unpacked"])
def test_a_file_where_the_folder_should_be_is_no_error(state: Path, place: str) -> None:
    """E6"""
    (state / place).parent.mkdir(parents=True, exist_ok=True)
    (state / place).write_bytes(b"mine")
    cache = Unpacked(state, 72)
    keep(cache, DATA)
    cache.clean()
    assert cache.get(name(DATA)) is None and cache.drop([name(DATA)]) == 0
    assert (state / place).read_bytes() == b"mine"


# Others at the same time, and processes that die.


@pytest.mark.slow
def test_killed_at_any_step_leaves_no_half_entry(tmp_path: Path) -> None:
    """D9: and what the dead one left behind is swept by the next."""
    outcomes = []
    for number in range(100):
        state = tmp_path / f"{number}/.huimem"
        seen: list[str] = []

        def dying(number: int = number, state: Path = state, seen: list[str] = seen) -> None:
            def watch(step: str) -> None:
                seen.append(step)
                if len(seen) > number:
                    os._exit(137)

            files.watch_steps(watch)
            keep(Unpacked(state, 72), DATA)

        code = code_of(start(dying))
        outcomes.append(Unpacked(state, 72).get(name(DATA)))
        left = len(kept(state))
        keep(Unpacked(state, 72), b"the next")
        assert kept(state) <= {name(DATA), name(b"the next")}, f"{left} files were left"
        assert Unpacked(state, 72).get(name(b"the next")) == b"the next"
        if code == 0:
            break
    assert set(outcomes[:-1]) == {None} and outcomes[-1] == DATA and len(outcomes) > 5


MANY = [bytes([letter]) * random.Random(letter).randrange(20_000) for letter in range(40)]


def busy(state: Path, seed: int, turns: int) -> None:
    """Puts, gets, poisons and cleans; raises where other bytes are had than were put."""
    chance = random.Random(seed)
    cache = Unpacked(state, 0.5, most=150_000)
    for _ in range(turns):
        data = chance.choice(MANY)
        found = cache.get(name(data))
        assert found in (None, data)
        match chance.randrange(6):
            case 0:
                cache.clean()
            case 1:
                cache.drop([name(data)])
            case 2:
                cache.put(name(data), data[:-1])  # as of somebody who cannot write
            case _:
                cache.put(name(data), data)


def test_threads_never_get_other_bytes(state: Path) -> None:
    """D9, D10"""
    wrong: list[BaseException] = []

    def act(seed: int) -> None:
        try:
            busy(state, seed, 150)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=act, args=[seed]) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_processes_never_get_other_bytes(state: Path) -> None:
    """D9, D10"""
    children = [start(lambda seed=seed: busy(state, seed, 300)) for seed in (1, 2)]  # type: ignore[misc]
    assert [code_of(child) for child in children] == [0, 0]
    Unpacked(state, 0.5, most=150_000).clean()
    assert kept(state) <= set(map(name, [*MANY, *(data[:-1] for data in MANY)]))
    assert sum(path.stat().st_size for path in (state / "unpacked").iterdir()) <= 150_000


def test_a_reader_keeps_what_it_has_opened(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """D10: an entry that is deleted while somebody reads it is read to its end."""
    cache = Unpacked(state, 72)
    keep(cache, DATA)
    read_once = os.fstat

    def evicting(descriptor: int) -> os.stat_result:
        cache.drop([name(DATA)])
        return read_once(descriptor)

    monkeypatch.setattr(os, "fstat", evicting)
    found = cache.get(name(DATA))
    monkeypatch.undo()
    assert found in (None, DATA) and not kept(state)

"""The cache of unpacked files: right bytes or none, for a while, and never a reason for anything to fail."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from huimem import files
from huimem.vault.unpacked import OFTEN, Unpacked

HOUR = 3600.0
DATA = "金盏花在门边。The marigold is by the door.\n".encode()
NOW = 1_764_576_000.0


class Clock:
    """Stands still until it is set."""

    def __init__(self, now: float = NOW) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def name(data: bytes) -> str:
    return sha256(data).hexdigest()


def keep(cache: Unpacked, *many: bytes) -> None:
    for data in many:
        cache.put(name(data), data)


def kept(state: Path) -> set[str]:
    return {path.name for path in (state / "unpacked").glob("*")}


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "vault/.huimem"


@pytest.fixture
def clock() -> Clock:
    return Clock()


# What is kept.


def test_what_is_put_is_had_again(state: Path) -> None:
    cache = Unpacked(state, 72)
    assert cache.get(name(DATA)) is None
    keep(cache, DATA, b"")
    for each in (cache, Unpacked(state, 72)):
        assert each.get(name(DATA)) == DATA and each.get(name(b"")) == b""
        assert each.get(name(b"other")) is None
    assert cache.drop([name(DATA), name(b"other")]) == 1 and cache.get(name(DATA)) is None


def test_nobody_else_may_read_it_and_nobody_write_to_it(state: Path) -> None:
    """I1, K6: under the widest umask."""
    modes: set[int] = set()
    before = os.umask(0)

    def look(step: str) -> None:
        modes.update(stat.S_IMODE(path.stat().st_mode) for path in state.glob("unpacked/.huimem-*"))

    files.watch_steps(look)
    try:
        keep(Unpacked(state, 72), DATA)
    finally:
        files.watch_steps(None)
        os.umask(before)
    assert modes == {0o600}, "as a temp file"
    assert stat.S_IMODE((state / "unpacked" / name(DATA)).stat().st_mode) == 0o400
    assert {stat.S_IMODE(path.stat().st_mode) for path in (state, state / "unpacked")} == {0o700}
    assert (state / "CACHEDIR.TAG").exists() and (state / ".gitignore").exists()


POISON = {"other bytes": b"other", "cut off": DATA[:-1], "longer": DATA + b"\0", "nothing": b""}


@pytest.mark.parametrize("what", POISON)
def test_an_entry_with_other_bytes_is_not_used_and_goes(state: Path, what: str) -> None:
    """F22, K6"""
    cache = Unpacked(state, 72)
    keep(cache, DATA)
    entry = state / "unpacked" / name(DATA)
    entry.chmod(0o600)
    entry.write_bytes(POISON[what])
    assert cache.get(name(DATA)) is None
    assert not entry.exists()
    keep(cache, DATA)
    assert cache.get(name(DATA)) == DATA


def _symlink(entry: Path) -> None:
    (entry.parent.parent / "same").write_bytes(DATA)
    entry.symlink_to(entry.parent.parent / "same")


@pytest.mark.parametrize("bend", [_symlink, os.mkfifo])
def test_an_entry_that_is_no_file_is_not_used(state: Path, bend: Callable[[Path], None]) -> None:
    """F22"""
    cache = Unpacked(state, 72)
    keep(cache, DATA)
    (state / "unpacked" / name(DATA)).unlink()
    bend(state / "unpacked" / name(DATA))
    assert cache.get(name(DATA)) is None
    keep(cache, DATA)
    assert cache.get(name(DATA)) == DATA and (state / "unpacked" / name(DATA)).is_file()


# What is not its own.

PATHS = [
    "../../mine.md",
    "../mine",
    "/etc/hostname",
    "",
    ".",
    "..",
    "mine",
    "A" * 64,
    f"{'a' * 64}/..",
    "a\0",
]


@pytest.mark.parametrize("path", PATHS)
def test_a_path_for_a_hash_reads_and_deletes_nothing(state: Path, path: str) -> None:
    """G12, F22: a stranger's archive says what its hashes are."""
    cache = Unpacked(state, 72)
    keep(cache, DATA)
    mine = [
        state.parent / "mine.md",
        state / "mine",
        state / "unpacked/mine",
        state / "unpacked" / ("A" * 64),
    ]
    for file in mine:
        file.write_bytes(b"mine")
    assert cache.get(path) is None
    cache.put(path, b"theirs")
    assert cache.drop([path]) == 0
    Unpacked(state, 0.001, most=0, clock=Clock(NOW * 2)).clean()
    assert [file.read_bytes() for file in mine] == [b"mine"] * 4
    assert kept(state) == {"mine", "A" * 64}


def test_a_symlink_for_a_folder_costs_nobody_a_file(state: Path) -> None:
    """G13: a vault of a stranger may bring a state folder along."""
    precious = state.parent / "precious"
    precious.mkdir(parents=True)
    for other in ("letter.txt", name(b"a backup"), name(DATA)):
        (precious / other).write_bytes(DATA)
    state.mkdir()
    (state / "unpacked").symlink_to(precious)
    for cache in (Unpacked(state, 72, clock=Clock(NOW * 2)), Unpacked(state, 0), Unpacked(state, 72, most=0)):
        assert cache.get(name(DATA)) is None
        keep(cache, DATA, b"new")
        assert cache.drop([name(DATA)]) == 0
        cache.clean()
        assert {file.name for file in precious.iterdir()} == {"letter.txt", name(b"a backup"), name(DATA)}
        assert {file.read_bytes() for file in precious.iterdir()} == {DATA}


# For how long.


def test_it_goes_when_nobody_has_used_it_for_so_long(state: Path, clock: Clock) -> None:
    """D10"""
    cache = Unpacked(state, 72, clock=clock)
    keep(cache, b"used", b"unused")
    clock.now += 71 * HOUR
    assert cache.get(name(b"used")) == b"used"
    clock.now += 2 * HOUR
    cache.clean()
    assert kept(state) == {name(b"used")}
    clock.now += 73 * HOUR
    Unpacked(state, 72, clock=clock).put(name(b"new"), b"new")
    assert kept(state) == {name(b"new")}, "the first that is kept is when old ones are looked for"


@pytest.mark.parametrize(
    ("now", "young"), [(0.0, False), (4_070_908_800.0, False), (NOW - 24 * HOUR, True), (NOW + HOUR, False)]
)
def test_a_clock_that_was_set_costs_the_cache_and_nothing_else(
    state: Path, clock: Clock, now: float, young: bool
) -> None:
    """H4: 1970, 2099, a day back: no entry stays for ever, and each is what it says."""
    cache = Unpacked(state, 72, clock=clock)
    keep(cache, DATA)
    clock.now = now
    assert cache.get(name(DATA)) == DATA, "used now, by this clock"
    cache.clean()
    assert kept(state) == {name(DATA)}
    clock.now = NOW
    cache.clean()
    assert kept(state) == ({name(DATA)} if young else set()), "not for ever because it is of the future"
    keep(cache, DATA)
    assert cache.get(name(DATA)) == DATA


@pytest.mark.parametrize("now", [0.0, 4_070_908_800.0])
def test_an_entry_of_another_time_goes(state: Path, clock: Clock, now: float) -> None:
    """H4"""
    cache = Unpacked(state, 72, clock=clock)
    keep(cache, DATA)
    clock.now = now
    cache.clean()
    assert kept(state) == set()


def test_what_others_use_while_it_cleans_is_not_of_the_future(state: Path, clock: Clock) -> None:
    """D10"""
    other = Unpacked(state, 72, clock=clock)
    keep(other, DATA)

    def busy() -> float:
        """As soon as somebody has looked at the clock, another process keeps something."""
        now = clock.now
        clock.now += 1
        keep(other, b"new")
        return now

    Unpacked(state, 72, clock=busy).clean()
    assert kept(state) == {name(DATA), name(b"new")}


def test_what_is_too_much_goes_longest_unused_first(state: Path, clock: Clock) -> None:
    many = [bytes([letter]) * 100 for letter in b"abcde"]
    cache = Unpacked(state, 72, most=350, clock=clock)
    for data in many:
        clock.now += 1
        keep(cache, data)
    clock.now += 1
    assert cache.get(name(many[0])) == many[0]
    cache.clean()
    assert kept(state) == {name(many[0]), name(many[3]), name(many[4])}
    keep(cache, b"x" * 351)
    assert name(b"x" * 351) not in kept(state), "one that is too much by itself"


def test_it_is_cleaned_every_so_often(state: Path, clock: Clock) -> None:
    """E6: a process that runs for long keeps no more than it may."""
    cache = Unpacked(state, 72, most=10 * 4, clock=clock)
    for number in range(3 * OFTEN):
        clock.now += 1
        keep(cache, b"%04d" % number)
    assert len(kept(state)) <= 10 + OFTEN


def test_no_hours_keep_nothing_and_clear_what_there_was(state: Path) -> None:
    """K5: the cache is off."""
    keep(Unpacked(state, 72), DATA)
    off = Unpacked(state, 0)
    assert off.get(name(DATA)) is None
    keep(off, b"new")
    assert kept(state) == set()


def test_no_hours_make_no_folder(state: Path) -> None:
    keep(Unpacked(state, 0), DATA)
    assert not state.exists()

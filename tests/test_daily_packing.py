"""A watcher that packs cold months by itself: once a day, beside all else that it does, where it is asked."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from huimem import Memory, upkeep
from huimem.errors import Problem, VaultError, WriteFailed
from huimem.months import Archived
from huimem.packing import PACKED_AT, Packing, is_due, last_packed
from huimem.surfaces.cli.watch import render_packing
from huimem.vault.archive import Done
from huimem.watching import rounds
from tests.test_watching import SOON, Rounds, wait_for
from tests.vault.months_told import ALL_MARCH, NOW, tell, told_in


class Clock:
    """Stands still until it is set."""

    def __init__(self, now: datetime = NOW) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def root(outside_temp: Path) -> Path:
    return told_in(outside_temp / "vault").root


@contextmanager
def packing(root: Path, clock: Clock | None, *, auto: bool = True) -> Iterator[Rounds]:
    stop = threading.Event()
    with Memory.open(root, embedder="none", **{"archive.auto": auto}) as memory:
        running = rounds(memory.vault, memory.index, stop=stop, pace=SOON, clock=clock)
        try:
            yield Rounds(memory, running, stop)
        finally:
            running.close()


def packed_by(one: Rounds) -> dict[str, int]:
    """What the next packing that ends has put where."""
    done = one.until(lambda one: one.packed).packed
    assert done is not None
    return {each.place.archive: each.files for each in done.done}


def packs_nothing(one: Rounds, seconds: float = 0.5) -> None:
    with pytest.raises(AssertionError, match="no such round"):
        one.until(lambda one: one.packed, seconds)


@pytest.mark.slow
def test_cold_months_are_packed_at_the_start_and_then_once_a_day(root: Path) -> None:
    clock = Clock()
    with packing(root, clock) as one:
        assert packed_by(one) == {path: len(names) for path, names in ALL_MARCH.items()}
        before = one.memory.index.counts()
        tell(one.memory.vault, "found", "2026-04-20")
        clock.now += timedelta(hours=23, minutes=59)
        assert one.counts() == (1, 0, 0)
    with packing(root, clock) as one:
        packs_nothing(one)
    with packing(root, clock) as one:
        one.until(lambda _: True)
        clock.now += timedelta(minutes=1)
        assert packed_by(one) == {"archive/2026-04.tar.zst": 1}
        assert one.memory.index.counts().sources == before.sources + 1
        left = one.memory.index.changes(one.memory.vault.scan().stamps)
        assert not (left.new or left.changed or left.removed)


# What the state folder says of the last time, and whether it is time again on 1 September at noon.
LAST = [
    (None, True),
    ("2026-08-31T12:00:00+00:00", True),
    ("2026-08-31T12:00:01+00:00", False),
    ("2026-08-31T20:00:01+08:00", False),
    ("2026-09-01T12:00:01+00:00", True),
    ("2026-09-01T11:00:00", True),
    ("yesterday", True),
    ("\udcff", True),
]


@pytest.mark.parametrize(("last", "due"), LAST)
def test_it_is_time_when_a_day_has_passed_by_a_clock_that_can_be_believed(
    last: str | None, due: bool, tmp_path: Path
) -> None:
    if last is not None:
        (tmp_path / PACKED_AT).write_bytes(os.fsencode(last))
    assert is_due(last_packed(tmp_path), NOW) == due


def test_nothing_is_packed_where_it_is_off_or_a_question_is_asked(root: Path) -> None:
    for clock, auto in ((Clock(), False), (None, True)):
        with packing(root, clock, auto=auto) as one:
            packs_nothing(one)
    with Memory.open(root, embedder="none", **{"archive.auto": True}) as memory:
        memory.recall("marigold", now=NOW)
        memory.sync()
        memory.record([{"role": "user", "content": "hazelnut"}])
    assert not (root / "archive").exists() and not (root / ".huimem" / PACKED_AT).exists()


def test_a_vault_may_ask_for_it(root: Path) -> None:
    settings = 'timezone = "UTC"\n[archive]\nauto = true\nkeep = 5\n'
    (root / "huimem.toml").write_text(settings, encoding="utf-8")
    with Memory.open(root, embedder="none") as memory:
        packed = next(one.packed for one in memory.watch(now=NOW) if one.packed)
    assert [one.place.archive for one in packed.done] == [path for path in ALL_MARCH if "2026-03" in path]


def test_an_archive_that_is_damaged_is_named_once_and_the_others_are_packed(root: Path) -> None:
    (root / "archive").mkdir()
    (root / "archive/2026-03.tar.zst").write_bytes(b"no archive")
    with packing(root, Clock()) as one:
        ended = one.until(lambda one: one.packed)
        assert ended.packed is not None and len(ended.packed.done) == 2
        (line,) = ended.packed.faults
        assert line.startswith("not packed: ") and "2026-03.tar.zst cannot be read" in line
        assert line in ended.warnings and last_packed(root / ".huimem") == NOW
        tell(one.memory.vault, "more", "2026-08-31")
        assert one.counts() == (1, 0, 0)
        assert sum(line in each.warnings for each in one.taken) == 1


# What packing raises, what is said of it.
FAULTS = [
    (
        WriteFailed("archive cannot be written: full", "Free some space."),
        "archive cannot be written: full – Free some space.",
    ),
    (VaultError("the vault cannot be listed"), "the vault cannot be listed"),
    (ValueError("what was said"), "unexpected ValueError at test_daily_packing.py:"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "words"), FAULTS)
def test_a_packing_that_fails_is_said_and_tried_again_and_the_watcher_goes_on(
    root: Path, fault: Exception, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, tries = upkeep.archive, []

    def fail_at_first(*given: object) -> object:
        tries.append(1)
        if len(tries) == 1:
            raise fault
        return archive(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(upkeep, "archive", fail_at_first)
    monkeypatch.setattr("huimem.packing.RETRY", 0.3)
    with packing(root, Clock()) as one:
        one.warning(f"not packed: {words}")
        assert last_packed(root / ".huimem") is None
        tell(one.memory.vault, "more", "2026-08-31")
        assert one.counts() == (1, 0, 0)
        assert packed_by(one) == {path: len(names) for path, names in ALL_MARCH.items()}
        assert last_packed(root / ".huimem") == NOW
        assert "what was said" not in str(one.taken)


def test_edits_are_taken_in_while_it_packs_and_the_end_waits_for_a_month_alone(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, begun, go_on = upkeep.archive, [], threading.Event()

    def wait(*given: object) -> object:
        begun.append(1)
        go_on.wait(10)
        return archive(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(upkeep, "archive", wait)
    with packing(root, Clock()) as one:
        one.until(lambda _: True)
        for name in ("more", "again"):
            tell(one.memory.vault, name, "2026-08-31")
            assert one.counts() == (1, 0, 0)
        assert wait_for(lambda: len(begun) == 1) and not (root / "archive").exists()
        threading.Timer(0.5, go_on.set).start()
    assert len(begun) == 1 and len([*root.glob("**/*.tar.zst")]) == 1
    assert last_packed(root / ".huimem") is None


def test_what_nobody_has_used_for_long_is_deleted_at_the_start(root: Path) -> None:
    data, old = b"unpacked", time.time() - 100 * 3600
    entry = root / ".huimem/unpacked" / sha256(data).hexdigest()
    entry.parent.mkdir(parents=True)
    entry.write_bytes(data)
    os.utime(entry, (old, old))
    with packing(root, None) as one:
        one.until(lambda _: True)
        assert not entry.exists()


HERE, THERE = Archived("", "2026-03"), Archived("", "2026-04")
STAYS = Problem("sessions/2026-W10/first.md", 3, "is not packed")
LINES = [
    (Packing(), "nothing to pack"),
    (Packing((Done(HERE, 1_200), Done(THERE, 1))), "packed 1,201 files in 2 archives"),
    (
        Packing((Done(HERE, 1),), (STAYS,)),
        "packed 1 file in 1 archive, 1 file stays: huimem archive --dry-run says why",
    ),
    (Packing(kept=(STAYS, STAYS)), "nothing to pack, 2 files stay: huimem archive --dry-run says why"),
]


@pytest.mark.parametrize(("packed", "line"), LINES)
def test_a_packing_is_a_line(packed: Packing, line: str) -> None:
    assert render_packing(packed) == line

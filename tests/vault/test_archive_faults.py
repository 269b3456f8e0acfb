"""Packing months while others are at it, and on a disk that refuses: nothing is lost on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from huimem import files
from huimem.errors import Conflict, WriteFailed
from huimem.files import Unreadable
from huimem.months import archived
from huimem.vault.archive import Done, archive, restore_month
from huimem.vault.cold import plan
from huimem.vault.vault import Vault
from tests.vault.months_told import ALL_MARCH, MARCH, NOW, bytes_of, packed, tell, told_in


@pytest.fixture
def told(tmp_path: Path) -> Vault:
    return told_in(tmp_path / "vault")


# Others at it


def meanwhile(told: Vault, what: Callable[[], None]) -> tuple[Done, ...]:
    """Packing, with `what` done once the archive stands and before anything is deleted."""
    months = plan(told, NOW, month="2026-03").months
    return tuple(archive(told, place, cold, what) for place, cold in months.items() if not place.owner)


def put(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def test_a_file_changed_before_it_would_be_deleted_stays(told: Vault) -> None:
    """K3."""
    place = told.root / "sessions/2026-W10/first.md"
    late = place.read_bytes() + b"\nA late word.\n"

    (done,) = meanwhile(told, lambda: put(place, late))
    assert place.read_bytes() == late
    assert done.files == 1 and [problem.path for problem in done.kept] == ["sessions/2026-W10/first.md"]


def test_a_file_changed_in_the_last_instant_stays(told: Vault) -> None:
    """K3."""
    place = told.root / "sessions/2026-W10/first.md"
    late = place.read_bytes() + b"\nA late word.\n"
    left = [late]
    files.watch_steps(lambda name: put(place, left.pop()) if name == "before remove" and left else None)
    meanwhile(told, lambda: None)
    files.watch_steps(None)
    assert not left and place.read_bytes() == late and not told.scan().leftovers
    assert not list(place.parent.glob(".huimem-*"))


def test_a_file_added_before_the_others_are_deleted_stays(told: Vault) -> None:
    """K4."""
    added, new = (
        told.root / "sessions/2026-W10/new.md",
        (told.root / "sessions/2026-W10/first.md").read_bytes(),
    )
    meanwhile(told, lambda: put(added, new))
    assert (told.root / "sessions/2026-W10/new.md").exists()
    assert not (told.root / "sessions/2026-W10/first.md").exists()


def test_a_session_that_somebody_records_to_stays(told: Vault) -> None:
    with files.lock(told.session_lock_path("", "first")):
        (done,) = meanwhile(told, lambda: None)
    assert [problem.path for problem in done.kept] == ["sessions/2026-W10/first.md"]
    assert (told.root / "sessions/2026-W10/first.md").exists()
    packed(told)
    assert not (told.root / "sessions/2026-W10/first.md").exists()


def test_a_late_copy_joins_the_archive_and_replaces_nothing(told: Vault) -> None:
    """D7, K7: another device brings an older state of a packed session, and a session of its own."""
    before = bytes_of(told)
    packed(told)
    older = before["sessions/2026-W10/first.md"].split(b"\n## User \xc2\xb7 2026-03-03")[0]
    (told.root / "sessions/2026-W10/first.md").write_bytes(older)
    tell(told, "other", "2026-03-04")
    other = (told.root / "sessions/2026-W10/other.md").read_bytes()
    packed(told)
    after = bytes_of(told)
    assert set(before.items()) <= set(after.items())
    assert sorted(after.values()) == sorted([*before.values(), older, other])
    assert [path.name for path in (told.root / "sessions/2026-W10").iterdir()] == ["late.md"]


def test_a_restored_file_takes_no_place_of_another(told: Vault) -> None:
    """D8, G4."""
    packed(told)
    (told.root / "sessions/2026-W10/first.md").write_bytes(b"newer")
    restore_month(told, MARCH)
    lie = sorted(path.name for path in (told.root / "sessions/2026-W10").iterdir())
    assert (told.root / "sessions/2026-W10/first.md").read_bytes() == b"newer"
    assert len(lie) == 3 and lie[0].startswith("first-")


# Things that go wrong


def damage(told: Vault) -> None:
    path = told.root / MARCH.archive
    data = bytearray(path.read_bytes())
    data[-40] ^= 1
    path.write_bytes(bytes(data))


def test_a_damaged_archive_is_neither_added_to_nor_deleted(told: Vault) -> None:
    """F8, D7."""
    packed(told)
    damage(told)
    was = (told.root / MARCH.archive).read_bytes()
    tell(told, "other", "2026-03-04")
    with pytest.raises(Unreadable, match=r"2026-03\.tar\.zst cannot be read"):
        packed(told)
    with pytest.raises(Unreadable):
        restore_month(told, MARCH)
    assert (told.root / MARCH.archive).read_bytes() == was
    assert (told.root / "sessions/2026-W10/other.md").exists()


def test_a_disk_that_writes_something_else_costs_no_file(told: Vault) -> None:
    """F8: what is read back is not what was written."""
    before = bytes_of(told)

    def spoil(name: str) -> None:
        if name == "before check":
            (temp,) = (told.root / "archive").glob(".huimem-*.tmp")
            data = bytearray(temp.read_bytes())
            data[-40] ^= 1
            temp.write_bytes(bytes(data))

    files.watch_steps(spoil)
    with pytest.raises(Unreadable):
        packed(told)
    files.watch_steps(None)
    assert bytes_of(told) == before and not told.scan().archives


FAULTS = [
    pytest.param(OSError(28, "No space left on device"), marks=pytest.mark.slow),
    pytest.param(OSError(5, "Input/output error"), marks=pytest.mark.slow),
]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_disk_that_refuses_at_any_step_costs_nothing(told: Vault, fault: OSError) -> None:
    """E4, E11, D6: at each step of packing the disk refuses once; the next run completes."""
    before = bytes_of(told)
    steps = 0
    for number in range(1, 1000):
        left = iter(range(number, 0, -1))

        def refuse(name: str, left: Iterator[int] = left) -> None:
            if next(left, 0) == 1:
                raise fault

        files.watch_steps(refuse)
        with suppress(WriteFailed, Unreadable, Conflict):
            packed(told)
        files.watch_steps(None)
        assert bytes_of(told) == before
        packed(told)
        assert set(told.scan().archives) == set(ALL_MARCH) and bytes_of(told) == before
        for path in ALL_MARCH:
            place = archived(path)
            assert place is not None
            restore_month(told, place)
        assert bytes_of(told) == before
        if next(left, None) is not None:
            steps = number
            break
    assert steps > 60

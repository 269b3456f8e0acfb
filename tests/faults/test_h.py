"""Group H of the faults: clocks that are wrong, and files whose times are from anywhere."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from huimem import Memory, checking, files
from huimem.records import Message
from huimem.vault.vault import Vault
from tests.vault.samples import everything

NOON = datetime(2026, 4, 6, 12, tzinfo=UTC)
# What the computer's clock says from one call to the next: set back, to its epoch, far ahead, right again.
CLOCK = (
    NOON,
    NOON - timedelta(days=1),
    datetime(1970, 1, 1, tzinfo=UTC),
    datetime(2099, 12, 31, 23, 59, 59, tzinfo=UTC),
    datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC),
    NOON,
    NOON + timedelta(microseconds=1),
)


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return Vault.create(tmp_path / "vault", tz="Asia/Shanghai")


def test_a_clock_that_jumps_writes_over_nothing(vault: Vault) -> None:
    """H4: new sessions have names of their own, older files keep every byte, all is read back."""
    held: dict[str, bytes] = {}
    refs = []
    for number, now in enumerate(CLOCK):
        refs += vault.record([Message("user", f"hi {number}")], now=now)
        after = everything(vault)
        assert after.items() >= held.items() and len(after) == number + 2
        held = after
    assert len({str(ref) for ref in refs}) == len(CLOCK)
    said = [vault.find(ref)[2].messages[0] for ref in refs]
    assert [message.text for message in said] == [f"hi {number}" for number in range(len(CLOCK))]
    assert [message.at for message in said[:5]] == list(CLOCK[:5])
    assert checking.problems(vault) == ()


def test_a_session_grows_in_the_order_in_which_it_was_recorded_whatever_the_clock_says(vault: Vault) -> None:
    """H4: a turn said "earlier" goes behind the one before it, with a ref of its own."""
    refs = []
    for number, now in enumerate(CLOCK):
        before = everything(vault).get("sessions/2026-W15/s.md", b"")
        refs += vault.record([Message("user", f"hi {number}")], session="s", now=now)
        assert everything(vault)["sessions/2026-W15/s.md"].startswith(before)
    session = vault.session("sessions/2026-W15/s.md")
    assert [m.text for m in session.messages] == [f"hi {number}" for number in range(len(CLOCK))]
    assert [turn.ref for turn in session.turns] == refs and len(set(refs)) == len(CLOCK)
    assert sorted(refs, key=lambda ref: ref.at) == refs and checking.problems(vault) == ()
    again = vault.record([Message("user", "hi 2", session.messages[2].at)], session="s", now=NOON)
    assert again == (refs[2],) and len(vault.session("sessions/2026-W15/s.md").messages) == len(CLOCK)


# Times that a file may have, seconds since 1970.
TIMES = {
    "the epoch": 0,
    "before it": -5,
    "1902": -2_145_916_800,
    "1980, as from a FAT disk": 315_532_800,
    "far ahead": 4_102_444_800,
    "2286": 9_999_999_999,
}


def test_a_change_is_seen_whatever_the_times_of_the_file(marigold_vault: Path) -> None:
    """H6: times are compared for inequality: none is too old to be looked at, none too new to be passed."""
    notes = {marigold_vault / f"{name}.md": at for name, at in TIMES.items()}
    with Memory.open(marigold_vault) as memory:
        for number, word in enumerate(("larkspur", "foxglove", "snowdrop")):
            for note, at in notes.items():
                note.write_text(f"The {word} is blue.\n", encoding="utf-8")
                os.utime(note, (at - number, at - number))  # each save is older than the one before it
            assert {hit.path for hit in memory.recall(word, limit=99).hits} == {note.name for note in notes}
            assert not memory.sync().report.problems
        assert memory.recall("larkspur").hits == () == memory.recall("foxglove").hits
        assert [hit.path for hit in memory.recall("marigold").hits] == ["sessions/good.md"]
    assert all(note.stat().st_mtime == at - 2 for note, at in notes.items())


@pytest.mark.parametrize("seconds", [-99_999_999_999, -62_135_596_801, 253_402_300_800, 99_999_999_999_999])
def test_a_file_of_a_year_that_no_calendar_has_is_read(
    vault: Vault, seconds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H6: some disks keep such times, and this one may not: the stamp is made up."""
    (vault.root / "note.md").write_text("# Odd\n\nThe larkspur is odd.\n", encoding="utf-8")
    read = files.read

    def odd(path: Path, **options: Any) -> tuple[bytes, files.Stamp]:
        data, stamp = read(path, **options)
        return data, replace(stamp, mtime_ns=seconds * 10**9)

    monkeypatch.setattr(files, "read", odd)
    source = vault.read("note.md")
    assert source.records[0].messages[0].text.endswith("The larkspur is odd.") and not source.problems

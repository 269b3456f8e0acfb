"""Group H of the faults: clocks that are wrong, and files whose times are from anywhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from huimem import Memory, checking, files
from huimem.errors import UsageError
from huimem.records import Message
from huimem.vault.vault import Vault
from tests.importers.exporting import Talk, export, talk
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


Huimem = Callable[..., tuple[int, str, str]]


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


# Times at the edges of the calendar, as programs send them. Some zone shows each of the refused ones in a
# year that headings cannot have, or goes on into one with the next thousandth of a second.
TOO_FAR = [
    "0001-01-01T00:00:00+00:00",
    "0001-12-31T23:59:59-12:00",
    "0002-01-01T00:00:00+14:00",
    "0002-12-31T23:59:59+00:00",
    "9998-01-01T00:00:00+00:00",
    "9998-12-31T23:59:59.999+00:00",
    "9999-12-31T23:59:59.999999-14:00",
]
KEPT = {
    "0003-01-01T00:00:00+00:00": ("sessions/0003-W01/chat_0003-01-01_080543.md", "00030101T080543"),
    "0202-03-04T05:06:07+00:00": ("sessions/0202-W09/chat_0202-03-04_131150.md", "02020304T131150"),
    "0999-12-31T12:00:00+00:00": ("sessions/1000-W01/chat_0999-12-31_200543.md", "09991231T200543"),
    "9997-12-31T23:59:59.998+00:00": (
        "sessions/9998-W01/chat_9998-01-01_075959.md",
        "99980101T075959998",
    ),
}


@pytest.mark.parametrize("at", TOO_FAR)
def test_a_time_that_could_not_be_read_back_is_refused(vault: Vault, at: str, tmp_path: Path) -> None:
    """H4: by the message's time, by the clock, by an import: nothing is written, and it is said why."""
    moment = datetime.fromisoformat(at)
    messages = [Message("user", "hi", NOON), Message("assistant", "ho", moment)]
    for session in (None, "s"):
        with pytest.raises(UsageError, match=r"message 2 has the time .* the years 3 to 9997") as refused:
            vault.record(messages, session=session, now=NOON)
        assert "Correct the time" in refused.value.hint
        with pytest.raises(UsageError, match=r"the clock shows the time .* the years 3 to 9997") as refused:
            vault.record([Message("user", "hi")], session=session, now=moment)
        assert "Set the computer's clock" in refused.value.hint
    assert vault.record([Message("user", "hi", NOON)], session="s", now=moment)  # nobody asked the clock
    before = everything(vault)
    with pytest.raises(UsageError):
        vault.record(messages, session="s", now=NOON)
    assert everything(vault) == before


@pytest.mark.parametrize("at", KEPT)
def test_what_is_recorded_at_the_edges_of_the_calendar_is_read_back(vault: Vault, at: str) -> None:
    """H4: years have four digits everywhere, so that they are read, sorted and packed as any other."""
    moment = datetime.fromisoformat(at)
    path, digits = KEPT[at]
    refs = vault.record([Message("user", "hi", moment), Message("user", "ho", moment)], now=NOON)
    assert set(everything(vault)) == {"huimem.toml", path} and refs[0].at == digits
    first, second = (vault.find(ref)[2].messages[0] for ref in refs)
    assert (first.at, second.at) == (moment, moment + timedelta(milliseconds=1))
    assert vault.record([first, second], session=refs[0].session, now=NOON) == refs
    assert checking.problems(vault) == ()


def test_an_import_takes_what_can_be_read_back(tmp_path: Path, huimem: Huimem) -> None:
    """H4: a conversation of a year that files cannot keep is left out by name; the others come in."""
    Memory.create(tmp_path / "vault", tz="UTC").close()
    talks = [Talk(talk("Which index?", "HNSW."), each) for each in ("good", "bad")]
    source = export(tmp_path / "c.json", "claude", talks)
    data = json.loads(source.read_text(encoding="utf-8"))
    data[1]["chat_messages"][0]["created_at"] = "9998-12-31T23:59:59Z"
    source.write_text(json.dumps(data), encoding="utf-8")
    code, out, err = huimem("import", str(source), "--vault", str(tmp_path / "vault"), "--json")
    report = json.loads(out)
    assert code == 0 and err == "" and report["new"] == 1
    reason = "message 1 has the time 9998-12-31 23:59:59+00:00: files keep those of the years 3 to 9997"
    assert report["skipped"] == [{"document": "c.json", "place": "bad", "reason": reason}]


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
        return data, stamp._replace(mtime_ns=seconds * 10**9)

    monkeypatch.setattr(files, "read", odd)
    source = vault.read("note.md")
    assert source.records[0].messages[0].text.endswith("The larkspur is odd.") and not source.problems


# What each computer says of itself; `TZ` is read by the process alone.
COMPUTERS = ("America/Los_Angeles", "Asia/Shanghai", "Pacific/Kiritimati", "UTC")
RECORDS = """
import sys
from datetime import UTC, datetime
from huimem import Memory
with Memory.open(sys.argv[1], embedder="none", background=False) as memory:
    at = datetime(2026, 4, 5, 20, tzinfo=UTC)
    print(memory.record([{"role": "user", "content": "hi", "at": at}], session=sys.argv[2])[0])
"""


def at_a_computer(zone: str, *words: str) -> str:
    """What a Python that believes to be in a zone prints."""
    env = {**os.environ, "TZ": zone}
    done = subprocess.run([sys.executable, *words], env=env, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("zone", "week", "at"),
    [("Asia/Tokyo", "2026-W15", "20260406T050000"), ("America/New_York", "2026-W14", "20260405T160000")],
)
def test_every_computer_puts_an_instant_into_the_same_week(
    zone: str, week: str, at: str, tmp_path: Path
) -> None:
    """H5: a new vault names the zone of the computer that made it, and the others go by that."""
    root = tmp_path / "vault"
    at_a_computer(zone, "-m", "huimem", "init", str(root))
    assert f'\ntimezone = "{zone}"\n' in (root / "huimem.toml").read_text(encoding="utf-8")
    refs = [at_a_computer(there, "-c", RECORDS, str(root), f"s{n}") for n, there in enumerate(COMPUTERS)]
    assert refs == [f"s{n}#{at}" for n in range(len(COMPUTERS))]
    assert {path.parent.name for path in root.rglob("s?.md")} == {week}

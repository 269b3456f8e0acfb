"""What was recorded is kept for a while, whatever becomes of the journal, and by any number of processes."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from huimem import checking, files
from huimem.records import Message
from huimem.vault.journal import Journal
from huimem.vault.vault import Vault
from tests.processes import code_of, obeying_modes, start
from tests.vault.losing import (
    FRONT,
    LATER,
    MORE,
    PATH,
    found,
    kept,
    record_on,
    recorded,
    said_in,
    saved,
    seen,
)  # fmt: skip
from tests.vault.samples import HELLO, NOW, everything, put

# How long.


def test_after_fourteen_days_an_old_copy_is_a_decision(vault: Vault) -> None:
    old, _ = recorded(vault)
    record_on(LATER + timedelta(days=14), vault, HELLO, "other")
    assert said_in(vault, saved(vault, old)) == ["Why that?", "It is small."]
    record_on(LATER + timedelta(days=14), vault, MORE)
    record_on(LATER + timedelta(days=28, seconds=1), vault, HELLO, "third")
    assert saved(vault, old) is None


@pytest.mark.parametrize("days", [-90, 400])
def test_when_messages_were_said_does_not_count(days: int, vault: Vault) -> None:
    said = NOW + timedelta(days=days)
    vault.record(HELLO, session="s", now=NOW)
    vault.record([Message("user", "Long ago", said)], session="other", now=said)
    first, _, last = Journal(vault.state).entries() or ()
    assert (first.session, last.session) == ("s", "other")
    assert last.recorded == (vault.root / last.path).stat().st_mtime_ns // 10**6


def test_a_loss_that_is_not_settled_stays_a_problem_for_sixty_days(vault: Vault) -> None:
    old, _ = recorded(vault)
    saved(vault, old)
    record_on(LATER + timedelta(days=60), vault, HELLO, "other")
    assert len(found(vault)) == 1
    record_on(LATER + timedelta(days=60, seconds=1), vault, HELLO, "third")
    assert found(vault) == [] and len(os.listdir(vault.state / "recovered")) == 1


# A journal that is not as it was left, a disk that refuses.


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def foreign(path: Path) -> None:
    path.unlink()
    db = sqlite3.connect(path)
    db.executescript("CREATE TABLE message (kept); CREATE INDEX message_kept ON message (kept)")
    db.close()


DAMAGE: dict[str, Callable[[Path], object]] = {
    "other bytes": lambda path: path.write_bytes(b"no database" * 1000),
    "bytes changed": lambda path: path.write_bytes(path.read_bytes()[:2000] + b"x" * 20000),
    "cut short": cut_short,
    "another program's": foreign,
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_journal_is_begun_anew_and_that_is_said(name: str, vault: Vault) -> None:
    vault.record(HELLO, session="s", now=NOW)
    old = (vault.root / PATH).read_text()
    DAMAGE[name](vault.state / "journal.db")
    vault.record(MORE, session="s", now=LATER)
    (warning,) = vault.warnings
    assert warning.startswith("journal.db was damaged and is begun anew")
    assert said_in(vault, saved(vault, old)) == ["Why that?", "It is small."]


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_journal_stops_no_look(name: str, vault: Vault) -> None:
    old, _ = recorded(vault)
    DAMAGE[name](vault.state / "journal.db")
    assert saved(vault, old) is None and checking.problems(vault) == () and len(vault.warnings) == 1


def linked(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.parents[2] / "elsewhere.db")


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


REFUSED: dict[str, Callable[[Path], object]] = {
    "no permission": lambda path: path.chmod(0o400),
    "a folder": folder,
    "a symlink": linked,
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_journal_that_cannot_be_written_stops_no_record(name: str, vault: Vault) -> None:
    vault.record(HELLO, session="s", now=NOW)
    REFUSED[name](vault.state / "journal.db")
    with obeying_modes():
        assert len(vault.record(MORE, session="s", now=LATER)) == 1
        assert seen(vault) is None
    (warning,) = vault.warnings
    assert "journal.db" in warning and "is not kept" in warning
    assert len(vault.session(PATH).messages) == 4 and list(everything(vault)) == ["huimem.toml", PATH]


def test_nothing_is_written_behind_a_symlink(vault: Vault, tmp_path: Path) -> None:
    vault.record(HELLO, session="s", now=NOW)
    (tmp_path / "elsewhere.db").touch()
    linked(vault.state / "journal.db")
    vault.record(MORE, session="s", now=LATER)
    assert (tmp_path / "elsewhere.db").read_bytes() == b"" and len(vault.warnings) == 1


def test_a_recovered_file_that_cannot_be_written_is_tried_again(vault: Vault) -> None:
    old, _ = recorded(vault)
    (vault.state / "recovered").touch()
    assert saved(vault, old) is None
    assert [w for w in vault.warnings if PATH in w and "cannot be kept" in w]
    (vault.state / "recovered").unlink()
    assert said_in(vault, seen(vault)) == ["Why that?", "It is small."]


def test_nothing_that_was_said_stands_in_warnings_or_lines(vault: Vault) -> None:
    old, _ = recorded(vault)
    lost = saved(vault, old)
    cut_short(vault.state / "journal.db")
    vault.record([Message("user", "Why now?", LATER)], session="s", now=LATER)
    lines = [str(lost), *vault.warnings, *map(str, checking.problems(vault))]
    assert not [line for line in lines if "Why" in line or "small" in line]


def test_conversations_are_kept_from_others_eyes(vault: Vault) -> None:
    old, _ = recorded(vault)
    lost = saved(vault, old)
    for name in ("journal.db", "journal.db-journal"):
        assert stat.S_IMODE((vault.state / name).stat().st_mode) == 0o600
    assert stat.S_IMODE((vault.root / kept(lost)).stat().st_mode) == 0o600
    for place in (vault.state, vault.state / "recovered"):
        assert stat.S_IMODE(place.stat().st_mode) == 0o700


def test_a_forgotten_session_is_nowhere_in_the_journal(vault: Vault) -> None:
    recorded(vault)
    vault.record([Message("user", "stays", NOW)], session="other", now=NOW)
    assert Journal(vault.state).forget("", "s")
    text = (vault.state / "journal.db").read_bytes()
    assert b"small" not in text and b"stays" in text
    assert b"small" not in (vault.state / "journal.db-journal").read_bytes()


# Several processes.


def test_what_two_processes_record_is_all_looked_after(vault: Vault) -> None:
    vault.record(HELLO, session="s", now=NOW)
    old = (vault.root / PATH).read_text()

    def add(writer: int) -> None:
        for number in range(10):
            vault.record([Message("user", f"{writer}.{number}", NOW)], session="s", now=NOW)
        assert not vault.warnings

    assert [code_of(child) for child in [start(lambda w=w: add(w)) for w in range(2)]] == [0, 0]
    assert seen(vault) is None
    said = said_in(vault, saved(vault, old))
    assert sorted(said) == sorted(f"{writer}.{number}" for writer in range(2) for number in range(10))


def test_of_several_processes_that_notice_one_tells(vault: Vault) -> None:
    old, _ = recorded(vault)
    put(vault, PATH, old)
    children = [start(lambda: os._exit(7 if seen(vault) else 0)) for _ in range(4)]
    assert sorted(code_of(child) for child in children) == [0, 0, 0, 7]


def test_several_processes_begin_a_damaged_journal_anew(vault: Vault) -> None:
    vault.record(HELLO, session="s", now=NOW)
    DAMAGE["other bytes"](vault.state / "journal.db")
    children = [start(lambda n=n: vault.record(HELLO, session=f"t{n}", now=NOW)) for n in range(4)]
    assert [code_of(child) for child in children] == [0] * 4
    assert {e.session for e in Journal(vault.state).entries() or ()} == {f"t{n}" for n in range(4)}


@pytest.mark.parametrize("held", [(), HELLO], ids=["new", "grown"])
def test_killed_before_the_journal_has_it_a_file_is_whole(held: tuple[Message, ...], vault: Vault) -> None:
    vault.record(held, session="s", now=NOW)

    def dying() -> None:
        files.watch_steps(lambda name: os._exit(137) if name == "before journal" else None)
        vault.record((*HELLO, *MORE), session="s", now=LATER)

    assert code_of(start(dying)) == 137
    assert len(vault.session(PATH).messages) == 4 and seen(vault) is None
    vault.record([Message("user", "And?", LATER)], session="s", now=LATER)
    assert said_in(vault, saved(vault, FRONT)) == [*(m.text for m in held), "And?"]
    assert not vault.warnings

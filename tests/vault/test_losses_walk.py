"""A walk through files keeps what they have lost, whoever made it and however many; it is told once."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from huimem.vault.journal import MANY
from huimem.vault.vault import Vault
from tests.vault.losing import (
    FRONT,
    LATER,
    MORE,
    PATH,
    found,
    kept,
    looked_at,
    record_on,
    recorded,
    said_in,
    saved,
    seen,
)
from tests.vault.samples import HELLO, NOW, put


def again(vault: Vault) -> Vault:
    """The vault as another process opens it."""
    return Vault.open(vault.root, vault.config)


def shortened(vault: Vault, count: int) -> list[str]:
    """So many sessions that have each lost what was recorded later; their paths."""
    for number in range(count):
        record_on(NOW, vault, HELLO, f"s{number}")
    paths = [f"sessions/2026-W15/s{number}.md" for number in range(count)]
    opened = [(vault.root / path).read_text() for path in paths]
    for number, path in enumerate(paths):
        record_on(LATER, vault, MORE, f"s{number}")
        put(vault, path, opened[number])
    return paths


# Kept by one, told by another.


def test_what_one_walk_keeps_another_process_tells_later(vault: Vault) -> None:
    old, _ = recorded(vault)
    put(vault, PATH, old)
    looked_at(vault, PATH)
    told = again(vault).untold()
    assert [said_in(vault, line) for line in told] == [["Why that?", "It is small."]]
    assert vault.untold() == again(vault).untold() == ()


def test_a_loss_that_nobody_was_told_of_stays_until_somebody_is(vault: Vault) -> None:
    old, _ = recorded(vault)
    put(vault, PATH, old)
    for _ in range(3):
        looked_at(vault, PATH)
    assert len(vault.untold()) == 1


def test_what_doctor_shows_is_told(vault: Vault) -> None:
    old, _ = recorded(vault)
    put(vault, PATH, old)
    assert len(found(vault)) == 1 and again(vault).untold() == ()


def test_what_came_back_before_anybody_was_told_is_not_told(vault: Vault) -> None:
    old, now = recorded(vault)
    put(vault, PATH, old)
    looked_at(vault, PATH)
    put(vault, PATH, now)
    looked_at(vault, PATH)
    assert vault.untold() == ()


def test_a_recovered_file_that_vanished_before_it_was_told_of_is_made_again(vault: Vault) -> None:
    old, _ = recorded(vault)
    put(vault, PATH, old)
    looked_at(vault, PATH)
    (name,) = os.listdir(vault.state / "recovered")
    (vault.state / "recovered" / name).write_bytes(b"")
    (told,) = vault.untold()
    assert kept(told).endswith(name) and said_in(vault, told) == ["Why that?", "It is small."]


def test_nothing_to_tell_makes_no_journal(vault: Vault) -> None:
    assert vault.untold() == () and not vault.state.exists()


# What happens during a walk.


def test_a_walk_that_fails_keeps_what_it_has_seen(vault: Vault) -> None:
    old, _ = recorded(vault)
    put(vault, PATH, old)
    losses = vault.losses()
    with pytest.raises(ZeroDivisionError):
        try:
            losses.note(vault.read(PATH))
            raise ZeroDivisionError
        finally:
            losses.finish()
    losses.finish()
    assert len(vault.untold()) == 1


def test_a_file_read_twice_counts_as_it_was_read_last(vault: Vault) -> None:
    old, now = recorded(vault)
    losses = vault.losses()
    losses.note(vault.read(PATH))
    put(vault, PATH, old)
    losses.note(vault.read(PATH))
    losses.finish()
    assert len(vault.untold()) == 1
    losses.note(vault.read(PATH))
    put(vault, PATH, now)
    losses.note(vault.read(PATH))
    losses.finish()
    assert seen(vault) is None and found(vault) == []


@pytest.mark.parametrize("others", [1, MANY + 1])
def test_what_is_recorded_and_lost_during_a_walk_is_noticed(others: int, vault: Vault) -> None:
    record_on(NOW, vault, HELLO)
    old = (vault.root / PATH).read_text()
    losses = vault.losses()
    for number in range(others):
        losses.note(vault.read(put(vault, f"{number}.md", "# A note\n").name))
    record_on(LATER, vault, MORE)
    put(vault, PATH, old)
    losses.note(vault.read(PATH))
    losses.finish()
    assert [said_in(vault, line) for line in vault.untold()] == [["Why that?", "It is small."]]


def test_a_note_in_the_old_place_of_a_session_that_moved_loses_nothing(vault: Vault) -> None:
    recorded(vault)
    (vault.root / PATH).rename(vault.root / "moved.md")
    assert saved(again(vault), "# Another\n\nText.\n") is None


# Many at once.


@pytest.mark.parametrize(
    ("count", "more"),
    [
        (3, []),
        (4, ["1 more session holds less than was recorded: huimem doctor"]),
        (MANY + 8, [f"{MANY + 5} more sessions hold less than was recorded: huimem doctor"]),
    ],
)
def test_of_many_losses_three_are_told_one_by_one(count: int, more: list[str], vault: Vault) -> None:
    paths = shortened(vault, count)
    looked_at(vault, *paths)
    told = again(vault).untold()
    assert [said_in(vault, line) for line in told[:3]] == [["Why that?", "It is small."]] * 3
    assert list(told[3:]) == more and vault.untold() == ()
    assert len(os.listdir(vault.state / "recovered")) == count == len(found(vault))


def test_many_copies_made_by_hand_need_not_hold_what_came_later(vault: Vault) -> None:
    paths = shortened(vault, MANY + 8)
    copies = [put(vault, f"copy {n}.md", (vault.root / p).read_bytes()).name for n, p in enumerate(paths)]
    for number in range(len(paths)):
        record_on(LATER, vault, MORE, f"s{number}")
    looked_at(vault, *copies)
    assert vault.untold() == ()


def test_many_files_that_moved_lose_nothing(vault: Vault) -> None:
    paths = shortened(vault, MANY + 8)
    for number, path in enumerate(paths):
        record_on(LATER, vault, MORE, f"s{number}")
        (vault.root / path).rename(vault.root / f"{number}.md")
        put(vault, path, "# Another\n")
    looked_at(vault, *paths, *(f"{number}.md" for number in range(len(paths))))
    assert vault.untold() == ()


# A journal that another process holds.


@contextmanager
def held(vault: Vault) -> Iterator[None]:
    """Meanwhile somebody stands still in the middle of writing to the journal."""
    with closing(sqlite3.connect(vault.state / "journal.db", isolation_level=None)) as db:
        db.execute("BEGIN EXCLUSIVE")
        yield
        db.execute("ROLLBACK")


@pytest.mark.parametrize("count", [1, MANY + 8])
def test_a_journal_that_is_held_costs_a_walk_half_a_second_at_most(count: int, vault: Vault) -> None:
    paths = shortened(vault, count)
    with held(vault):
        start = time.monotonic()
        looked_at(vault, *paths)
        assert vault.untold() == () and time.monotonic() - start < 0.5
    assert not vault.warnings
    looked_at(vault, *paths)
    assert len(vault.untold()) == min(count, 4)


@pytest.mark.slow
def test_a_journal_that_is_held_stops_no_record_and_that_is_said(vault: Vault) -> None:
    vault.record(HELLO, session="s", now=NOW)
    with held(vault):
        start = time.monotonic()
        vault.record(MORE, session="s", now=LATER)
        assert time.monotonic() - start < 1.5
    (warning,) = vault.warnings
    assert "is not kept" in warning and saved(vault, FRONT) is not None

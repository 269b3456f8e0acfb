"""Files that are packed, put back or renamed just while they are listed or read: nothing is missed."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from huimem import Memory
from huimem.months import Archived, archived
from huimem.vault import archive as packing
from huimem.vault import listing
from huimem.vault.cold import plan
from huimem.vault.vault import Vault
from tests.test_archiving import NOW, made

MARCH = Archived("", "2026-03")
FIRST, SEVENTH = "sessions/2026-W10/s0.md", "sessions/2026-W10/s6.md"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return made(tmp_path / "vault")


def pack_all(vault: Vault) -> None:
    for place, cold in plan(vault, NOW).months.items():
        packing.archive(vault, place, cold)


def put_back(name: str, vault: Vault) -> None:
    packing.restore(vault, Archived("", "2026-03", name))


put_first_back, put_seventh_back = partial(put_back, FIRST), partial(put_back, SEVENTH)


def put_month_back(vault: Vault) -> None:
    packing.restore_month(vault, MARCH)


def rename(vault: Vault) -> None:
    os.rename(vault.root / FIRST, vault.root / "sessions/2026-W10/renamed.md")


def another(memory: Memory) -> Vault:
    """The vault as another process has it."""
    return Vault.open(memory.vault.root, memory.vault.config)


def refs(memory: Memory) -> set[str]:
    """The refs that the index holds, whatever the files are."""
    with closing(sqlite3.connect(memory.vault.state / "catalog.db")) as db:
        return {ref for (ref,) in db.execute("SELECT ref FROM record")}


def sessions(vault: Vault, scan: listing.Scan) -> set[str]:
    """The sessions of a listing, open or packed, by name."""
    inside = [place.name for place, _ in vault.archives.inside(scan.archives)]
    return {path.rpartition("/")[2] for path in (*scan.files, *inside)}


Act = Callable[[Vault], object]
WHILE_LISTED = {
    "packed": ((), pack_all),
    "a month put back": ((pack_all,), put_month_back),
    "a session put back": ((pack_all,), put_first_back),
}


@pytest.mark.parametrize(("before", "act"), WHILE_LISTED.values(), ids=WHILE_LISTED)
@pytest.mark.parametrize("folder", ["", "archive/", "sessions/", "sessions/2026-W10/"])
def test_what_moves_while_it_is_listed_is_in_the_listing(
    before: tuple[Act, ...], act: Act, folder: str, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault, walk, acted = another(memory), listing._Walk.folder, list[str]()
    expected = sessions(vault, vault.scan())
    for each in before:
        each(vault)

    def meanwhile(self: listing._Walk, name: str) -> None:
        if not acted and (name == folder or name == "sessions/"):  # there may be no archive yet
            acted.append(name)
            act(vault)
        walk(self, name)

    monkeypatch.setattr(listing._Walk, "folder", meanwhile)
    found = listing.scan(vault.root)
    assert acted and sessions(vault, found) == expected


def touch(path: str, vault: Vault) -> None:
    """A turn more, so that there is something to be read."""
    text = "\n## User · 2026-03-30 10:00:00\n\nOne more.\n"
    with open(vault.root / path, "a", encoding="utf-8") as file:
        file.write(text)


WHILE_READ = {
    # before, what is read when it happens, what happens
    "put back, as a manifest is read": ((pack_all, put_seventh_back), str(MARCH), put_first_back),
    "a month put back, as its manifest is read": ((pack_all, put_seventh_back), str(MARCH), put_month_back),
    "packed, as it is read": ((pack_all, put_first_back), FIRST, pack_all),
    "packed, as another is read": ((partial(touch, SEVENTH),), SEVENTH, pack_all),
    "renamed, as it is read": ((partial(touch, FIRST),), FIRST, rename),
}  # fmt: skip


@pytest.mark.parametrize(("before", "path", "act"), WHILE_READ.values(), ids=WHILE_READ)
@pytest.mark.parametrize("known", [True, False])
def test_what_moves_while_it_is_read_is_in_the_index(
    before: tuple[Act, ...],
    path: str,
    act: Act,
    known: bool,
    memory: Memory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """C8: `known` where the index knew of the packing before."""
    vault, held, acted = another(memory), Vault.held, list[str]()
    expected = refs(memory)
    for number, each in enumerate(before):
        each(vault)
        if known and not number:
            memory.sync()

    def meanwhile(self: Vault, name: str) -> object:
        if not acted and name == path:
            acted.append(name)
            act(vault)
        return held(self, name)

    monkeypatch.setattr(Vault, "held", meanwhile)
    memory.sync()
    assert refs(memory) >= expected
    found = memory.recall("number0", namespace="**", now=NOW, limit=20)
    assert {str(hit.ref) for hit in found.hits} >= {"s0#20260302T100000"} and found.freshness.fresh
    assert acted or archived(path)


def test_a_file_that_is_packed_twice_is_read_anew(memory: Memory) -> None:
    """What was read where a file had gone is not what stands there later."""
    vault = another(memory)
    pack_all(vault)
    before = memory.source(FIRST)
    put_back(FIRST, vault)
    touch(FIRST, vault)
    pack_all(vault)
    assert len(memory.source(FIRST).records) == len(before.records) + 1

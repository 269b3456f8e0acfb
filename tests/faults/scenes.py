"""A small vault, what is said there, and what verbs do to its files: for what ends in the middle of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from huimem.records import Message
from huimem.vault.archive import restore_month
from huimem.vault.cold import plan
from huimem.vault.forget import doomed, mark, scrub, take_out
from huimem.vault.keeping import Keeping
from huimem.vault.remembering import remembering
from huimem.vault.vault import Vault
from tests.importers.exporting import Talk, bring, talk
from tests.vault.months_told import MARCH, packed

NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
DAYS = {"first": ("2026-03-02", "2026-03-03"), "second": ("2026-03-20",), "today": ("2026-09-01",)}
TALK = Talk(talk("A marigold for her?", "A marigold of silk."), "c-1", "Silk")
IMPORTED = [TALK.grown("And a marigold for him?"), Talk(talk("A marigold?", first=9000), "c-2", "Late")]


def said(name: str, *days: str) -> list[Message]:
    """Two messages for each of the days."""
    return [
        Message(role, f"A marigold of {name}, {role}, {day}.", at + timedelta(seconds=later))
        for day in days
        for at in [datetime.fromisoformat(f"{day}T10:00:00+00:00")]
        for later, role in ((0, "user"), (5, "assistant"))
    ]


def hold(key: str | None, text: str, vault: Vault) -> None:
    """What is done to files when a fact is remembered."""
    given = remembering(text, key=key, kind=None, valid=None, at=NOW, zone=vault.zone)
    Keeping(vault).remember(given)


def import_all(vault: Vault) -> None:
    bring(vault.root, vault.root.with_name("c.json"))


def pack_all(vault: Vault) -> None:
    packed(vault, plan(vault, NOW + timedelta(days=99), keep=0))


def unpack(vault: Vault) -> None:
    """Nothing, where it is done already: the vault would say so."""
    if (vault.root / MARCH.archive).exists():
        restore_month(vault, MARCH)


def take(what: str, vault: Vault) -> None:
    """What is done to files when something is forgotten."""
    found = doomed(vault, [what])
    if refs := [ref for one in found for ref in one.refs]:
        mark(vault, refs, NOW)
    scrub(vault, [text for one in found for text in one.said])
    for one in found:
        take_out(vault, one)

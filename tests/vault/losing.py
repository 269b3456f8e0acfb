"""A session that grew after somebody opened it, and what is told when their old copy is saved."""

from __future__ import annotations

from datetime import timedelta

from huimem.errors import Problem
from huimem.records import Message
from huimem.vault.losses import Lost
from huimem.vault.vault import Vault
from tests.vault.samples import HELLO, NOW, put

PATH = "sessions/2026-W15/s.md"
LATER = NOW + timedelta(days=2)
MORE = (
    Message("user", "Why that?", NOW + timedelta(minutes=1)),
    Message("assistant", "It is small.", NOW + timedelta(minutes=1, seconds=7)),
)
FRONT = "---\nhuimem: 1\nid: s\n---\n"


def recorded(vault: Vault) -> tuple[str, str]:
    """A session that grew after somebody opened it: what their editor holds, and the file."""
    vault.record(HELLO, session="s", now=NOW)
    opened = (vault.root / PATH).read_text()
    vault.record(MORE, session="s", now=LATER)
    return opened, (vault.root / PATH).read_text()


def seen(vault: Vault, path: str = PATH) -> Lost | None:
    """What is told when the file is looked at."""
    return vault.losses().lost(vault.read(path))


def saved(vault: Vault, text: str, path: str = PATH) -> Lost | None:
    """What is told after somebody has saved `text`."""
    put(vault, path, text)
    return seen(vault, path)


def said_in(vault: Vault, lost: Lost | None) -> list[str]:
    """The texts that are kept in the recovered file."""
    if lost is None:
        return []
    kept = (vault.root / lost.kept).read_bytes()
    return [m.text for m in Vault.create(vault.root.parent / "look").session(copied(vault, kept)).messages]


def copied(vault: Vault, text: bytes) -> str:
    (vault.root.parent / "look").mkdir(exist_ok=True)
    (vault.root.parent / "look/a.md").write_bytes(text)
    return "a.md"


def found(vault: Vault) -> list[Problem]:
    """What `doctor` says of losses."""
    return [problem for problem in vault.problems() if "no longer" in problem.message]

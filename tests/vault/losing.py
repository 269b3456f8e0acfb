"""A session that grew after somebody opened it, and what is told when their old copy is saved."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from unittest.mock import patch

from huimem import checking, files
from huimem.errors import Problem
from huimem.records import Message
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
    record_on(NOW, vault, HELLO)
    opened = (vault.root / PATH).read_text()
    record_on(LATER, vault, MORE)
    return opened, (vault.root / PATH).read_text()


def record_on(day: datetime, vault: Vault, messages: Sequence[Message], session: str = "s") -> None:
    """Record as if the computer's clock showed `day` while the file is written."""
    stamp_of = files.stamp

    def dated(path: Path) -> files.Stamp | None:
        stamp = stamp_of(path)
        return stamp._replace(mtime_ns=int(day.timestamp() * 10**9)) if stamp else None

    with patch.object(files, "stamp", dated):
        vault.record(messages, session=session, now=day)


def looked_at(vault: Vault, *paths: str) -> None:
    """One walk through the files at these paths."""
    losses = vault.losses()
    for path in paths:
        losses.note(vault.read(path))
    losses.finish()


def seen(vault: Vault, path: str = PATH) -> str | None:
    """What is told when the file is looked at; at most one line."""
    looked_at(vault, path)
    told = vault.untold()
    assert len(told) < 2
    return told[0] if told else None


def saved(vault: Vault, text: str, path: str = PATH) -> str | None:
    """What is told after somebody has saved `text`."""
    put(vault, path, text)
    return seen(vault, path)


def kept(told: str | None) -> str:
    """The path of the recovered file that a line names."""
    return shlex.split(command(told))[1]


def command(told: str | None) -> str:
    """The command that a line gives to bring everything back."""
    assert told is not None
    return told.split("`")[1]


def said_in(vault: Vault, told: str | None) -> list[str]:
    """The texts that are kept in the recovered file."""
    if told is None:
        return []
    text = (vault.root / kept(told)).read_bytes()
    return [m.text for m in Vault.create(vault.root.parent / "look").session(copied(vault, text)).messages]


def copied(vault: Vault, text: bytes) -> str:
    (vault.root.parent / "look").mkdir(exist_ok=True)
    (vault.root.parent / "look/a.md").write_bytes(text)
    return "a.md"


def found(vault: Vault) -> list[Problem]:
    """What `doctor` says of losses."""
    return [problem for problem in checking.problems(vault) if "no longer" in problem.message]

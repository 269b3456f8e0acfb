"""Group I of the faults: what others on this computer can see."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from huimem import Memory
from tests.importers.exporting import Talk, export, talk

Huimem = Callable[..., tuple[int, str, str]]
CHAT = "## User 2026-04-06 9:14\n\nA short heading.\n"


@pytest.mark.skipif(os.name != "posix", reason="modes")
def test_nobody_else_can_read_what_any_verb_has_made(
    tmp_path: Path, own_home: Path, huimem: Huimem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I1: folders 0700 and files 0600 though the mask allows all: notes, index, vectors, journal, backups."""
    source = str(export(tmp_path / "c.json", "chatgpt", [Talk(talk("Hello", "Hi"))]))
    monkeypatch.setenv("HUIMEM_EMBEDDER", "hashing")
    before = os.umask(0)
    try:
        vault = tmp_path / "vault"
        assert huimem("init", str(vault), "--tz", "UTC")[0] == 0
        monkeypatch.chdir(vault)
        for words in (
            ("record", "--session", "s", "--role", "user", "--at", "2026-04-06T09:00"),
            ("record", "--session", "s", "--role", "user", "--at", "2026-04-06T10:00", "--namespace", "ann"),
            ("import", source),
            ("sync",),
            ("recall", "hello"),
            ("status",),
            ("doctor",),
        ):
            assert huimem(*words)[0] == 0, words
        (stale,) = vault.glob("sessions/2026-W15/s.md")
        stale.write_bytes(stale.read_bytes().split(b"## User")[0])  # so that something is recovered
        with Memory.open(vault) as memory:
            rounds = memory.watch()
            next(rounds)
            rounds.close()
            chat = vault / "chat.md"
            chat.write_text(CHAT, encoding="utf-8")
            chat.chmod(0o600)
            assert memory.vault.fmt("chat.md")
    finally:
        os.umask(before)
    made = [path for path in (vault, *vault.rglob("*"), *own_home.rglob("*")) if not path.is_symlink()]
    names = {path.name for path in made}
    assert {"recovered", "backups", "locks", "words", "vectors", "journal.db", "imports.db"} <= names
    shown = {
        str(path.relative_to(tmp_path)): oct(stat.S_IMODE(path.stat().st_mode))
        for path in made
        if path.stat().st_mode & 0o077 and not path.name.startswith(".tantivy")  # empty, in a closed folder
    }
    assert shown == {}

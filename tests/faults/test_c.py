"""Group C of the faults: a vault that a program copies between machines, locks and index and all."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from huimem.config import user_file
from tests.trees import tree

Huimem = Callable[..., tuple[int, str, str]]
VERBS = [
    ("record", "--session", "s", "--role", "user", "--at", "2024-03-04T09:00"),
    ("sync",),
    ("recall", "marigold"),
    ("archive",),
    ("recall", "words"),
    ("unarchive", "2024-03"),
    ("forget", "s", "--yes"),
    ("status",),
    ("check", "--read-data"),
]


def advice(out: str) -> tuple[str, str]:
    """The line and the file that doctor names as the remedy, ready to be put there."""
    found = re.search(
        r'^warn  state .*: (state_dir = "[^"]+") in (\S+), or HUIMEM_STATE, moves it out$', out, re.M
    )
    assert found, out
    return found[1], found[2]


def test_what_doctor_advises_for_a_synced_vault_keeps_locks_and_index_out_of_it(
    marigold_vault: Path, own_home: Path, huimem: Huimem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C13: afterwards no verb leaves anything in the vault but notes and archives."""
    (marigold_vault / ".stfolder").mkdir()
    monkeypatch.setenv("HUIMEM_EMBEDDER", "hashing")
    line, file = advice(huimem("doctor")[1])
    assert Path(file) == user_file() and Path(file).is_relative_to(own_home)
    Path(file).parent.mkdir(parents=True)
    Path(file).write_text(f"{line}\n", encoding="utf-8")
    (marigold_vault / ".huimem").rename(own_home / "old")
    for words in VERBS:
        code, out, err = huimem(*words)
        assert code == 0, (words, out, err)
        assert not (marigold_vault / ".huimem").exists(), words
        left = {Path(path).suffix for path in tree(marigold_vault)}
        assert left <= {".md", ".toml", ".json", ".zst"}, words
    state = Path(re.search(r"^state +(\S+)", huimem("status")[1], re.M)[1])  # type: ignore[index]
    assert state.is_relative_to(own_home / ".local/state/huimem")
    assert {"locks", "catalog.db", "index.lock", "words"} <= {path.name for path in state.iterdir()}
    code, out, _ = huimem("doctor")
    assert code == 0 and "warn  state" not in out

"""Which files a vault holds, asked for one path: what the scan lists, and no other."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from huimem.config import load
from huimem.records import Message
from huimem.vault.vault import Vault
from tests.vault.samples import NOW, put

LISTED = ["AI/talk.md", "AI/深/笔记.MD", "sessions/2026-W15/s.md", "namespaces/bob/facts/diet.md"]
NOT_LISTED = [
    "Private/diary.md",
    "top.md",
    "AI/secret/keys.md",
    "AI/talk.sync-conflict-20260401-101500-ABCDEFG.md",
    "AI/talk (Bob's conflicted copy 2026-04-01).md",
    "AI/.hidden.md",
    "AI/.obsidian/x.md",
    "AI/~draft.md",
    "AI/talk.txt",
    "archive/2025-12.md",
    "feedback/feedback_2026-W15_laptop.md",
]
NO_PLACES = [
    "",
    ".",
    "AI",
    "AI/none.md",
    "../outside.md",
    "AI/../AI/talk.md",
    "AI/link.md",
    "AI/all/diary.md",
    "a\0b.md",
]


@pytest.fixture
def narrowed(tmp_path: Path) -> Vault:
    """A vault of a part of a folder, in which links lead to the other part."""
    vault = Vault.create(tmp_path / "obs", tz="Asia/Shanghai", include=["AI/**"])
    vault = Vault.open(vault.root, load(vault.root))
    (vault.root / ".huimemignore").write_text("AI/secret/\n", encoding="utf-8")
    (tmp_path / "outside.md").write_text("# Outside\n", encoding="utf-8")
    for path in (*LISTED, *NOT_LISTED):
        put(vault, path, f"# {path}\n\nwords\n")
    (vault.root / "AI/link.md").symlink_to(vault.root / "Private/diary.md")
    (vault.root / "AI/all").symlink_to(vault.root / "Private")
    return vault


def test_a_vault_holds_what_the_scan_lists(narrowed: Vault) -> None:
    assert sorted(narrowed.scan().files) == sorted(LISTED)
    every = [os.path.relpath(path, narrowed.root) for path in narrowed.root.rglob("*")]
    assert sorted(path for path in every if narrowed.holds(path)) == sorted(LISTED)
    assert not any(map(narrowed.holds, NO_PLACES))
    everything = Vault.create(narrowed.root.parent / "plain", tz="UTC")
    for path in NOT_LISTED:
        put(everything, path, "words\n")
    listed = everything.scan().files
    assert [path for path in NOT_LISTED if everything.holds(path)] == [p for p in NOT_LISTED if p in listed]
    assert sorted(listed) == ["AI/secret/keys.md", "Private/diary.md", "top.md"]


def test_a_session_named_like_a_note_outside_is_one_of_its_own(narrowed: Vault) -> None:
    diary = (narrowed.root / "Private/diary.md").read_bytes()
    for _ in range(2):
        narrowed.record([Message("user", "hi", NOW)], session="Private/diary", now=NOW)
    assert (narrowed.root / "Private/diary.md").read_bytes() == diary
    assert sorted(narrowed.scan().files) == sorted([*LISTED, "sessions/2026-W15/private-diary.md"])

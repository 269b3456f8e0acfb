"""A conversation, the file it becomes, and a look at everything a vault's owner has."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from huimem.records import Message
from huimem.vault.vault import Vault

NOW = datetime(2026, 4, 6, 1, 14, 23, tzinfo=UTC)  # 09:14:23 in Shanghai, a Monday
HELLO = (Message("user", "Which index?", NOW), Message("assistant", "HNSW.", NOW + timedelta(seconds=7)))
PATH = "sessions/2026-W15/chat_2026-04-06_091423.md"
WRITTEN = """\
---
huimem: 1
id: chat_2026-04-06_091423
title: Index choice
aliases:
  - Index choice
created: 2026-04-06T09:14:23
tz: Asia/Shanghai
---

# Index choice

## User · 2026-04-06 09:14:23

Which index?

## Assistant · 2026-04-06 09:14:30

HNSW.
"""


def put(vault: Vault, path: str, text: str | bytes) -> Path:
    place = vault.root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(text.encode() if isinstance(text, str) else text)
    return place


def everything(vault: Vault) -> dict[str, bytes]:
    """All user files by path: what nobody may change unasked."""
    return {
        str(p.relative_to(vault.root)): p.read_bytes()
        for p in vault.root.rglob("*")
        if p.is_file() and ".huimem" not in p.parts
    }

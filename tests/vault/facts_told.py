"""Files of facts, and how tests have a fact remembered: in Shanghai, on 6 April 2026 at 09:14:23."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from huimem.vault.keeping import Keeping
from huimem.vault.remembering import Remembering, remembering
from huimem.vault.vault import Vault
from tests.vault.samples import NOW

SHANGHAI = ZoneInfo("Asia/Shanghai")
DIET = """\
---
huimem: 1
key: diet
kind: preference
---

## 2026-04-01 08:00:00 →

Vegetarian.
"""
NOTES = """\
---
huimem: 1
kind: note
---

## note · 2026-04-06 09:14:23

Rent goes up.
"""


def on(day: str, clock: str = "00:00") -> datetime:
    return datetime.fromisoformat(f"{day}T{clock}").replace(tzinfo=SHANGHAI)


def asked(text: str, at: datetime = NOW, **said: Any) -> Remembering:
    options: dict[str, Any] = {"key": None, "kind": None, "valid": None, "zone": SHANGHAI, **said}
    return remembering(text, at=at, **options)


def remember(vault: Vault, text: str, at: datetime = NOW, *, namespace: str = "", **said: Any) -> str:
    return str(Keeping(vault).remember(asked(text, at, **said), namespace))

"""Settings files as tests look at them: one with another server in it, the entry of ours, the backups."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

Run = Callable[..., tuple[int, str, str]]
# Servers that were to be started: command line, variables, folder.
Asked = list[tuple[tuple[str, ...], dict[str, str], str | None]]
OTHER = '{\n  "mcpServers": {\n    "other": {"command": "npx", "env": {"KEY": "s3cret"}}\n  }\n}\n'


def entry(path: Path, name: str = "huimem") -> dict[str, object]:
    found = json.loads(path.read_text(encoding="utf-8"))["mcpServers"][name]
    assert isinstance(found, dict)
    return found


def backups(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.huimem-backup-*"))

"""A vault of its own for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from huimem import files
from huimem.vault.vault import Vault


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    """An empty vault in Shanghai; whoever watches its writes stops with the test."""
    yield Vault.create(tmp_path / "vault", tz="Asia/Shanghai")
    files.watch_steps(None)

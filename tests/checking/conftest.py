"""A vault to be checked: one for tests that put back what they spoil, one for each of the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from huimem import checking
from huimem.vault.vault import Vault
from tests.checking.checked import made


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Vault:
    return made(tmp_path_factory.mktemp("checked") / "vault")


@pytest.fixture
def own_vault(tmp_path: Path) -> Vault:
    return made(tmp_path / "vault")


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody packs here while a check looks."""
    monkeypatch.setattr(checking, "AGAIN", 0)

"""For tests of imports: a vault to import into."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.importers.exporting import made_vault


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return made_vault(tmp_path / "vault")

"""Vaults outside the temp folder: one for each test, or one that a watcher watches for a whole module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.desk import Desk
from tests.live.places import huimem, place
from tests.live.watched import Watched


@pytest.fixture
def root() -> Iterator[Path]:
    """An empty vault."""
    with place() as root:
        yield root


@pytest.fixture(scope="module")
def desk() -> Iterator[Desk]:
    with place() as root:
        (root / "beacon.md").write_text("It is lit.\n", encoding="utf-8")
        assert huimem(root, "sync").returncode == 0  # what the embedder is measured by is embedded here
        with Watched(root) as watched:
            yield Desk(root, watched)

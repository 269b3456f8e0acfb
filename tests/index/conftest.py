"""State folders to be damaged: as they were left, and what an undamaged index answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.index.made import edited, healed, opened, source, state, turn, vault


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[object, ...]]:
    """A state folder that has seen edits, and what it answers."""
    folder, files = tmp_path_factory.mktemp("pristine") / "state", vault()
    index = opened(folder)
    files.put(source("5.md", turn("2026-06-06", "first version", session="s5")))
    files.sync(index)
    index.embed()
    last = vault().sources["5.md"]
    files.sources["5.md"], files.stamps = last, vault().stamps
    files.sync(index)
    index.embed()
    index.close()
    return folder, state(index)


@pytest.fixture(scope="module")
def edited_state(tmp_path_factory: pytest.TempPathFactory) -> tuple[object, ...]:
    """What an index of the edited vault answers, built from scratch."""
    index, _ = healed(tmp_path_factory.mktemp("edited") / "state", edited())
    return state(index)

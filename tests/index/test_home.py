"""A state folder that goes comes back; in a folder that took the place of its own it does not."""

from __future__ import annotations

import shutil
from pathlib import Path
from threading import get_ident

import pytest

from huimem import forking
from huimem.errors import VaultError
from huimem.index import repair
from tests.index.made import opened, vault


def test_a_deleted_state_folder_is_made_anew(tmp_path: Path) -> None:
    index = opened(tmp_path / "vault/.huimem")
    shutil.rmtree(index.folder)
    assert vault().sync(index).added == 6


def test_nothing_comes_to_be_in_a_folder_that_took_the_place_of_the_vault(tmp_path: Path) -> None:
    index = opened(tmp_path / "vault/.huimem")
    vault().sync(index)
    (tmp_path / "vault").rename(tmp_path / "away")
    (tmp_path / "vault").mkdir()
    for work in (index.embed, index.purge, index.coverage, lambda: vault().sync(index)):
        with pytest.raises(VaultError, match="another folder"):
            work()
    assert not [*(tmp_path / "vault").iterdir()]
    (tmp_path / "vault").rmdir()
    (tmp_path / "away").rename(tmp_path / "vault")
    assert index.embed().embedded == 12


def test_no_fork_cuts_through_mending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index, inside = opened(tmp_path / "vault/.huimem"), []
    monkeypatch.setattr(repair, "needed", lambda *_: inside.append(forking._gate.inside[get_ident()]))
    index.mend(1.0)
    assert inside == [1]

"""The wheel: what it holds, and that it works from an empty folder with nothing beside it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy of the checkout whose sample vault has been used: it has an index beside it."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    left_out = shutil.ignore_patterns(".*cache", ".git", ".hypothesis", "__pycache__", "dist", "build")
    copy = shutil.copytree(ROOT, folder / "copy", ignore=left_out)
    (copy / "vault" / ".huimem").mkdir(exist_ok=True)
    (copy / "vault" / ".huimem" / "catalog.db").write_bytes(b"derived")
    run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], copy)
    return next(folder.glob("huimem-*.whl"))


def run(command: Sequence[str], folder: Path, **environment: str) -> str:
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_wheel_holds_the_package_and_its_files_and_nothing_else(wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    package = (
        path for path in (ROOT / "huimem").rglob("*") if path.is_file() and "__pycache__" not in path.parts
    )
    vault = (path for path in (ROOT / "vault").rglob("*") if path.is_file() and ".huimem" not in path.parts)
    expected = {path.relative_to(ROOT).as_posix() for path in package}
    expected |= {f"huimem/data/{path.relative_to(ROOT).as_posix()}" for path in vault}
    assert names == expected | {"huimem/data/default.toml"}
    assert "huimem/py.typed" in names


USE = """
from huimem.resources import default_config, demo_vault
print(demo_vault(), (demo_vault() / "huimem.toml").is_file(), "timezone" in default_config())
"""


def test_it_works_in_an_empty_folder(wheel: Path, tmp_path: Path) -> None:
    site, empty = tmp_path / "site", tmp_path / "empty"
    zipfile.ZipFile(wheel).extractall(site)
    empty.mkdir()
    found = run([sys.executable, "-c", USE], empty, PYTHONPATH=str(site))
    assert found.split() == [str(site / "huimem" / "data" / "vault"), "True", "True"]
    assert "recall" in run([sys.executable, "-m", "huimem", "--help"], empty, PYTHONPATH=str(site))
    assert [*empty.iterdir()] == []

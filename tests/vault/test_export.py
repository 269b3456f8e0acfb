"""A copy of a whole vault: all of it, nothing derived, read back before it counts."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from huimem import files
from huimem.errors import UsageError, VaultError, WriteFailed
from huimem.vault.export import export
from huimem.vault.vault import Vault
from tests.trees import tree
from tests.vault.months_told import packed, told_in

KINDS = ["copy", "copy.tar.zst"]


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    """Open and packed sessions, others' files, a symlink, a pipe and what a writer left behind."""
    vault = told_in(tmp_path / "vault")
    packed(vault)
    root = vault.root
    (root / "图片").mkdir()
    (root / "图片/door.png").write_bytes(bytes(range(256)) * 900)
    (root / ".obsidian").mkdir()
    (root / ".obsidian/app.json").write_text("{}")
    (root / "empty.md").write_bytes(b"")
    (root / "long.md").write_bytes(b"x" * 3)
    os.chmod(root / "long.md", 0o640)
    os.utime(root / "long.md", ns=(1_700_000_000_000_000_000,) * 2)
    (root / ".huimem-1-abcdef.tmp").write_bytes(b"half")
    (root / "link.md").symlink_to("/etc/hostname")
    os.mkfifo(root / "pipe.md")
    return vault


def opened(copy: Path, tmp_path: Path) -> Path:
    """The folder of a copy, with stock tools where it is one file."""
    if copy.is_dir():
        return copy
    folder = tmp_path / "opened"
    folder.mkdir()
    subprocess.run(f"zstd -dc '{copy}' | tar x -C '{folder}'", shell=True, check=True)
    return folder


@pytest.mark.parametrize("name", ["copy", pytest.param("copy.tar.zst", marks=pytest.mark.slow)])
def test_a_copy_holds_all_that_is_the_owners(vault: Vault, tmp_path: Path, name: str) -> None:
    done = export(vault, tmp_path / name)
    copy = opened(tmp_path / name, tmp_path)
    expected = tree(vault.root)
    for left in ("link.md", "pipe.md", ".huimem-1-abcdef.tmp"):
        del expected[left]
    assert tree(copy) == expected and done.files == len(expected)
    assert [problem.path for problem in done.left] == ["link.md", "pipe.md"]
    assert not (copy / ".huimem").exists()
    status = (copy / "long.md").stat()
    assert (status.st_mode & 0o777, status.st_mtime_ns) == (0o640, 1_700_000_000_000_000_000)


@pytest.mark.parametrize("name", KINDS)
def test_what_a_disk_spoils_is_no_copy(vault: Vault, tmp_path: Path, name: str) -> None:
    """F8."""

    def spoil(step: str) -> None:
        if step in ("before check", "after publish"):
            for path in (*tmp_path.glob(".huimem-*.tmp"), *tmp_path.glob("copy/*.md")):
                path.write_bytes(path.read_bytes()[:-1] + b"!")

    files.watch_steps(spoil)
    with pytest.raises(VaultError, match="does not read back"):
        export(vault, tmp_path / name)
    files.watch_steps(None)
    assert not (tmp_path / "copy.tar.zst").exists()


@pytest.mark.parametrize("name", KINDS)
def test_a_full_disk_is_said(vault: Vault, tmp_path: Path, name: str) -> None:
    """E1."""

    def refuse(step: str) -> None:
        if step == "after write":
            raise OSError(28, "No space left on device")

    files.watch_steps(refuse)
    with pytest.raises(WriteFailed, match="No space left"):
        export(vault, tmp_path / name)
    files.watch_steps(None)
    assert not (tmp_path / "copy.tar.zst").exists()


def test_nothing_is_written_over_and_nothing_into_the_vault(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full/mine").write_text("mine")
    (tmp_path / "there.tar.zst").write_text("mine")
    for place in (
        tmp_path / "full",
        tmp_path / "there.tar.zst",
        vault.root / "copy",
        vault.root / "x.tar.zst",
    ):
        with pytest.raises(UsageError):
            export(vault, place)
    assert (tmp_path / "there.tar.zst").read_text() == "mine"


def test_a_copy_is_a_vault(vault: Vault, tmp_path: Path) -> None:
    export(vault, tmp_path / "copy")
    copy = Vault.open(tmp_path / "copy", vault.config)
    assert copy.scan().archives.keys() == vault.scan().archives.keys()
    path = "archive/2026-03.tar.zst/sessions/2026-W10/first.md"
    assert copy.read(path).records == vault.read(path).records

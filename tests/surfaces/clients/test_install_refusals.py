"""`huimem mcp install` where something stands in the way: nothing is lost and nothing half done."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from huimem import files
from tests.processes import obeying_modes
from tests.surfaces.clients.settings import OTHER, Run, backups, entry

REFUSED = [
    (("--client", "claude-desktop", "--scope", "project"), 2, "Claude Desktop has no settings of a project"),
    (("--client", "cursor", "--name", "my memory"), 2, "is no name for a server"),
    (("--client", "emacs"), 2, "'emacs' is not one of"),
    ((), 2, "Missing option '--client'"),
    (("--client", "cursor", "--vault", "nowhere"), 3, "huimem init"),
    (("--client", "cursor", "--tz", "Mars/Base"), 3, "Mars/Base"),
]


@pytest.mark.parametrize(("words", "code", "said"), REFUSED)
def test_what_cannot_be_meant_is_refused(
    mcp: Run, home: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    found, out, err = mcp("install", *words, "--no-test")
    assert (found, out) == (code, "")
    assert said in err
    assert not (home / ".cursor/mcp.json").exists()


def test_a_file_that_cannot_be_read_stays_and_is_named_with_its_line(mcp: Run, home: Path) -> None:
    path = home / ".cursor/mcp.json"
    path.write_text('{\n  "mcpServers": {\n    "a": "s3cret"\n', encoding="utf-8")
    before = files.stamp(path)
    code, out, err = mcp("install", "--client", "cursor")
    assert (code, out) == (3, "")
    assert f"{path}:4:1: a comma or a closing bracket is missing; nothing was written" in err
    assert "hint: Correct the file, or put in what `huimem mcp config --client cursor` prints." in err
    assert "s3cret" not in err
    assert (files.stamp(path), backups(home / ".cursor")) == (before, [])


def test_a_folder_in_the_files_place_is_refused(mcp: Run, home: Path) -> None:
    (home / ".cursor/mcp.json").mkdir()
    code, _, err = mcp("install", "--client", "cursor")
    assert code == 3
    assert "is not a regular file" in err


def test_a_write_protected_file_stays(mcp: Run, home: Path) -> None:
    path = home / ".cursor/mcp.json"
    path.write_text(OTHER, encoding="utf-8")
    path.chmod(0o444)
    with obeying_modes():
        code, _, err = mcp("install", "--client", "cursor")
    assert code == 3
    assert f"{path} is write-protected; nothing was written" in err
    assert (path.read_text(encoding="utf-8"), backups(home / ".cursor")) == (OTHER, [])


# Backups, symlinks, other programs.


def test_no_backup_is_ever_overwritten(mcp: Run, home: Path) -> None:
    path, now = home / ".cursor/mcp.json", "2026-04-15T10:30:05"
    for text in ("{}", '{"a": 1}', '{"b": 2}'):
        path.write_text(text, encoding="utf-8")
        assert mcp("install", "--client", "cursor", "--no-test", "--now", now)[0] == 0
    stem = "mcp.json.huimem-backup-20260415-103005"
    assert {backup.name: backup.read_text(encoding="utf-8") for backup in backups(home / ".cursor")} == {
        stem: "{}",
        f"{stem}-2": '{"a": 1}',
        f"{stem}-3": '{"b": 2}',
    }


def test_behind_a_symlink_the_target_is_written_and_named(mcp: Run, home: Path, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles/mcp.json"
    target.parent.mkdir()
    target.write_text(OTHER, encoding="utf-8")
    link = home / ".cursor/mcp.json"
    link.symlink_to(target)
    code, _, err = mcp("install", "--client", "cursor", "--no-test")
    assert code == 0
    assert link.is_symlink()
    assert "huimem" in json.loads(target.read_text(encoding="utf-8"))["mcpServers"]
    assert f"note: {link} is a symlink: the file that changes is {target}" in err
    assert (len(backups(link.parent)), backups(target.parent)) == (1, [])


def test_a_symlink_to_nothing_yet_is_followed(mcp: Run, home: Path, tmp_path: Path) -> None:
    link = home / ".cursor/mcp.json"
    link.symlink_to(tmp_path / "dotfiles/mcp.json")
    assert mcp("install", "--client", "cursor", "--no-test")[0] == 0
    assert entry(tmp_path / "dotfiles/mcp.json")
    assert link.is_symlink()


def test_a_symlink_to_itself_is_refused(mcp: Run, home: Path) -> None:
    link = home / ".cursor/mcp.json"
    link.symlink_to(link)
    code, _, err = mcp("install", "--client", "cursor", "--no-test")
    assert code == 3
    assert str(link) in err


@pytest.mark.parametrize(("edits", "code"), [(1, 0), (99, 5)])
def test_an_edit_that_comes_in_between_is_kept(mcp: Run, home: Path, edits: int, code: int) -> None:
    """Another program writes the file while ours is on its way: once, and every time."""
    path = home / ".cursor/mcp.json"
    path.write_text('{"n": 0}', encoding="utf-8")
    left = [*range(1, edits + 1)]

    def write_meanwhile(step: str) -> None:
        if step == "after sync" and left and backups(path.parent):
            path.write_text(f'{{"n": {left.pop(0)}}}', encoding="utf-8")

    before = files.watch_steps(write_meanwhile)
    try:
        found, _, err = mcp("install", "--client", "cursor", "--no-test")
    finally:
        files.watch_steps(before)
    held = json.loads(path.read_text(encoding="utf-8"))
    assert found == code
    assert held["n"] > 0
    assert ("mcpServers" in held) == (code == 0)
    assert len(backups(path.parent)) == (1 if code == 0 else 0)
    assert ("was changed by another program" in err) == (code == 5)

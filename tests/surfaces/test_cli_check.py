"""`huimem check` on the command line: its exit codes, and what programs get."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from huimem import checking
from huimem.surfaces.cli.main import run


@pytest.fixture
def packed(marigold_vault: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault of one packed session and one open note."""
    monkeypatch.setattr(checking, "AGAIN", 0)
    (marigold_vault / "note.md").write_text("The aster is by the gate.\n", encoding="utf-8")
    week = marigold_vault / "sessions/2026-W15"
    week.mkdir()
    next(marigold_vault.glob("sessions/*.md")).rename(week / "chat.md")
    assert run(["archive", "--now", "2027-01-01"]) == 0
    return marigold_vault


def spoil(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1] + b"?")


def copy(root: Path) -> None:
    (root / "note (conflicted copy 2026-09-01).md").write_text("The aster is gone.\n", encoding="utf-8")


def spoil_archive(root: Path) -> None:
    spoil(root / "archive/2026-04.tar.zst")


def spoil_index(root: Path) -> None:
    spoil(next(root.glob(".huimem/words/*.idx")))


CODES: list[tuple[tuple[Callable[[Path], None], ...], int, int, int]] = [
    # what happens to the vault, the exit code, how much is damaged, how many problems there are
    ((), 0, 0, 0),
    ((copy,), 1, 0, 1),
    ((spoil_archive,), 12, 1, 0),
    ((spoil_index,), 12, 1, 0),
    ((spoil_archive, spoil_index, copy), 12, 2, 1),
]


@pytest.mark.parametrize(("changes", "code", "damaged", "problems"), CODES)
def test_exit_code_and_document(
    changes: tuple[Callable[[Path], None], ...],
    code: int,
    damaged: int,
    problems: int,
    packed: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for change in changes:
        change(packed)
    capsys.readouterr()
    assert run(["check", "--read-data", "--json"]) == code
    found = json.loads(capsys.readouterr().out)
    assert (len(found["damaged"]), len(found["problems"])) == (damaged, problems)
    assert (found["read_data"], found["files"], found["archives"]) == (True, 1, 1)
    assert all(one["path"] and one["message"] and one["remedy"] for one in found["damaged"])
    assert run(["check", "--read-data"]) == code
    shown = capsys.readouterr().out
    assert shown.splitlines()[-1].startswith(f"{damaged} damaged, {problems} problem")
    assert shown.count("\nbad ") == damaged and shown.count("\nfail ") == problems


def test_what_is_damaged_is_left_as_it_is_and_mended_by_the_next_question(
    packed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spoil_index(packed)
    for _ in range(2):
        assert run(["check"]) == 12
    assert run(["recall", "marigold"]) == 0
    assert run(["check", "--read-data"]) == 0


def test_the_exit_code_is_documented(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    assert "12 an archive or the index is damaged" in " ".join(capsys.readouterr().out.split())

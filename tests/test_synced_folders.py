"""Folders that a program copies between machines, told by names and marks; and what doctor says of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from huimem.surfaces.cli.main import run
from huimem.synced_folders import synced_by
from tests.conftest import GOOD

# Where the vault lies, below a home at `home/me`; what lies about; who syncs it.
FOLDERS: list[tuple[str, tuple[str, ...], str | None]] = [
    ("home/me/notes", (), None),
    ("home/me/Dropbox/notes", (), "Dropbox"),
    ("home/me/dropbox", (), "Dropbox"),
    ("home/me/Dropbox (Gardeners)/a/b/notes", (), "Dropbox"),
    ("home/me/Library/CloudStorage/Dropbox-Gardeners/notes", (), "Dropbox"),
    ("home/me/about-dropbox/notes", (), None),
    ("home/me/OneDrive/notes", (), "OneDrive"),
    ("home/me/OneDrive - 园艺公司/notes", (), "OneDrive"),
    ("home/me/Library/CloudStorage/OneDrive-Personal/notes", (), "OneDrive"),
    ("home/me/Library/Mobile Documents/com~apple~CloudDocs/notes", (), "iCloud Drive"),
    ("home/me/Library/Mobile Documents/iCloud~md~obsidian/Documents/notes", (), "iCloud Drive"),
    ("home/me/iCloudDrive/notes", (), "iCloud Drive"),
    ("home/me/Google Drive/notes", (), "Google Drive"),
    ("home/me/Library/CloudStorage/GoogleDrive-me@example.org/My Drive/notes", (), "Google Drive"),
    ("home/me/Nextcloud/notes", (), "Nextcloud"),
    ("home/me/ownCloud/notes", (), "ownCloud"),
    ("mnt/Nextcloud/notes", (), "Nextcloud"),
    ("home/me/shared/notes", ("home/me/shared/.stfolder/",), "Syncthing"),
    ("home/me/notes", ("home/me/notes/.stfolder",), "Syncthing"),
    ("home/me/notes", ("home/me/.stfolder/",), "Syncthing"),
    ("home/me/work/notes", ("home/me/work/.nextcloudsync.log",), "Nextcloud"),
    ("home/me/work/notes", ("home/me/work/.owncloudsync.log",), "ownCloud"),
    ("home/me/box/notes", ("home/me/box/.dropbox",), "Dropbox"),
    ("home/me/box/notes", ("home/me/box/.dropbox.cache/",), "Dropbox"),
    ("home/me/drive/notes", ("home/me/drive/.tmp.drivedownload/",), "Google Drive"),
    # The settings of Dropbox, in the home of whoever has it.
    ("home/me/notes", ("home/me/.dropbox/",), None),
    ("home/me/notes", ("home/.stfolder/",), None),
]


@pytest.mark.parametrize(("place", "about", "program"), FOLDERS)
def test_who_syncs_a_folder(place: str, about: tuple[str, ...], program: str | None, tmp_path: Path) -> None:
    (tmp_path / place).mkdir(parents=True)
    for mark in about:
        if mark.endswith("/"):
            (tmp_path / mark).mkdir()
        else:
            (tmp_path / mark).write_text("", encoding="utf-8")
    assert synced_by(tmp_path / place, home=tmp_path / "home/me") == program


def test_a_home_of_that_name_and_what_lies_above_it_tell_nothing(tmp_path: Path) -> None:
    vault = tmp_path / "Dropbox/nextcloud/notes"
    vault.mkdir(parents=True)
    assert synced_by(vault, home=tmp_path / "Dropbox/nextcloud") is None


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "Dropbox/notes").mkdir(parents=True)
    (tmp_path / "notes").symlink_to(tmp_path / "Dropbox/notes")
    assert synced_by(tmp_path / "notes", home=tmp_path / "me") == "Dropbox"


@pytest.mark.parametrize(
    ("place", "outside", "warned"),
    [
        ("Dropbox/notes", False, True),
        ("Dropbox/notes", True, False),
        ("notes", False, False),
    ],
)
def test_doctor_warns_of_state_that_is_synced(
    place: str,
    outside: bool,
    warned: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / place).mkdir(parents=True)
    (tmp_path / place / "chat.md").write_text(GOOD, encoding="utf-8")
    monkeypatch.setenv("HUIMEM_EMBEDDER", "none")
    if outside:
        monkeypatch.setenv("HUIMEM_STATE", str(tmp_path / "state"))
    assert run(["doctor", "--vault", str(tmp_path / place)]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("warn  state")]
    assert bool(lines) == warned
    for line in lines:
        assert "Dropbox" in line and "state_dir" in line and "config.toml" in line and "HUIMEM_STATE" in line

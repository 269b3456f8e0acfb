"""A listing that begins from the one before says what one made anew says, whatever happened in between."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from huimem.vault.listing import scan

OLD, TEXT = 1_700_000_000, "# Note\n\nthe blue kettle, 蓝色的水壶\n"


def _touched_back(path: Path) -> None:
    """The same length and times, other words: as restored backups and `cp -p` do it."""
    path.write_text(TEXT.replace("blue", "grey"), encoding="utf-8")
    os.utime(path, (OLD, OLD))


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _link(path: Path) -> None:
    path.rename(path.with_name("b.txt"))
    path.symlink_to("b.txt")


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "inside.md").write_text(TEXT, encoding="utf-8")


CHANGES: dict[str, Callable[[Path], object]] = {
    "an edit": lambda path: path.write_text("other", encoding="utf-8"),
    "an edit of the same length and times": _touched_back,
    "another file of the same bytes": lambda path: (path.unlink(), path.write_text(TEXT, encoding="utf-8")),
    "deleted": lambda path: path.unlink(),
    "moved": lambda path: path.rename(path.with_name("c.md")),
    "a pipe in its place": _pipe,
    "a link in its place": _link,
    "a folder in its place": _folder,
    "its folder moved": lambda path: path.parent.rename(path.parent.with_name("elsewhere")),
    "a new file beside it": lambda path: path.with_name("d.md").write_text(TEXT, encoding="utf-8"),
    "left out": lambda path: (path.parents[1] / ".huimemignore").write_text("b.md\n", encoding="utf-8"),
    "a copy of a sync program": lambda path: path.with_name("b (conflicted copy).md").write_text(TEXT),
    "a month was packed": lambda path: (
        (path.parents[1] / "archive").mkdir(),
        (path.parents[1] / "archive" / "2025-01.tar.zst").write_bytes(b"zstd"),
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_changed_since_the_last_listing_is_seen(change: str, tmp_path: Path) -> None:
    for name in ("notes/a.md", "notes/b.md", "文件/丙.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(TEXT, encoding="utf-8")
        os.utime(tmp_path / name, (OLD, OLD))
    first = scan(tmp_path)
    assert first.files.keys() == {"notes/a.md", "notes/b.md", "文件/丙.md"}
    assert scan(tmp_path, before=first) is first
    CHANGES[change](tmp_path / "notes/b.md")
    after, anew = scan(tmp_path, before=first), scan(tmp_path)
    assert after == anew != first
    assert after.stamps == anew.stamps


def test_a_file_that_is_asked_for_again_is_listed_again(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(TEXT, encoding="utf-8")
    narrow = scan(tmp_path, ["b.md"])
    assert not narrow.files
    assert scan(tmp_path, ["a.md"], narrow).files.keys() == {"a.md"}
    assert not scan(tmp_path, ["b.md"], scan(tmp_path)).files


class BreakingOff:
    """A folder whose disk fails behind its first entry."""

    def __init__(self, place: int | str, fault: int) -> None:
        self.listed = real_scandir(place)
        self.fault = fault

    def __enter__(self) -> Iterator[os.DirEntry[str]]:
        return self

    def __exit__(self, *_: object) -> None:
        self.listed.close()

    def __iter__(self) -> Iterator[os.DirEntry[str]]:
        yield next(self.listed)
        raise OSError(self.fault, os.strerror(self.fault))


real_scandir = os.scandir


@pytest.mark.parametrize("fault", [errno.EIO, errno.ENOTDIR, errno.ENOENT])
@pytest.mark.parametrize("by_descriptor", [True, False])
def test_a_folder_that_breaks_off_is_no_folder_whose_files_were_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_descriptor: bool, fault: int
) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text(TEXT, encoding="utf-8")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/c.md").write_text(TEXT, encoding="utf-8")
    (tmp_path / "notes/d.md").write_text(TEXT, encoding="utf-8")
    inside = (tmp_path / "notes").stat().st_ino

    def scandir(place: int | str) -> object:
        return BreakingOff(place, fault) if os.stat(place).st_ino == inside else real_scandir(place)

    monkeypatch.setattr("huimem.vault.listing._BY_DESCRIPTOR", by_descriptor)
    monkeypatch.setattr(os, "scandir", scandir)
    found = scan(tmp_path)
    assert {"a.md", "b.md"} <= set(found.files)
    assert found.unreadable == ("notes/",)
    (problem,) = found.problems
    assert str(problem) == (
        f"notes/: cannot be read: {os.strerror(fault)} – "
        "Check its owner and mode; what was indexed of it stays."
    )


# What a symlink is made to lead to; none of them can be followed.
ODD_LINKS = ["link", "a.md/beyond", "z" * 300, "nowhere"]


@pytest.mark.parametrize("folder", ["", "notes/"])
@pytest.mark.parametrize("leads_to", ODD_LINKS)
def test_a_link_that_leads_nowhere_is_nobody_elses_fault(tmp_path: Path, folder: str, leads_to: str) -> None:
    (tmp_path / "notes").mkdir()
    files = {f"{place}{name}.md" for place in ("", "notes/") for name in "abcdefgh"}
    for path in files:
        (tmp_path / path).write_text(TEXT, encoding="utf-8")
    before = scan(tmp_path)
    (tmp_path / folder / "link").symlink_to(leads_to)
    found = scan(tmp_path, before=before)
    assert (set(found.files), found.unreadable, found.problems) == (files, (), ())


def test_a_folder_swapped_for_a_link_while_it_is_listed_leads_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault, outside = tmp_path / "vault", tmp_path / "outside"
    (vault / "notes").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret.md").write_text(TEXT, encoding="utf-8")
    opening = os.open

    def swapped(path: str, *how: int, dir_fd: int | None = None) -> int:
        if str(path).rstrip("/").endswith("notes") and not (vault / "notes").is_symlink():
            (vault / "notes").rmdir()
            (vault / "notes").symlink_to(outside)
        return opening(path, *how, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", swapped)
    assert not scan(vault).files and (vault / "notes").is_symlink()

"""What Linux tells of itself as text, and folders on a disk → what is watched, and where events come."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from huimem.vault.coverage import (
    Watched,
    folders,
    limit,
    missing,
    mount_kind,
    top_folders,
    watched,
    watched_inodes,
)
from huimem.vault.layout import Filter

FDINFO = """\
pos:\t0
flags:\t00
mnt_id:\t15
ino:\t11
inotify wd:2 ino:9e7e sdev:800013 mask:800afce ignored_mask:0 fhandle-bytes:8 fhandle-type:1 f_handle:7e9e
inotify wd:1 ino:a sdev:800013 mask:800afce ignored_mask:0
inotify wd:3 ino:a sdev:800013 mask:800afce ignored_mask:0
"""
MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
40 22 0:41 / /home/me/far rw,nosuid shared:20 - nfs4 host:/export rw,vers=4.2
41 40 8:2 / /home/me/far/near rw - ext4 /dev/sdb1 rw
42 22 0:43 / /mnt/my\\040disk rw - fuse.sshfs host: rw
43 22 0:44 / /twice rw - ext4 /dev/sdc1 rw
44 22 0:45 / /twice rw - 9p share rw
45 22 0:46 / /mnt/usb rw - fuseblk /dev/sdd1 rw
a line that is none
"""

# where the vault lies, on what kind of file system that is
PLACES = [
    ("/home/me/notes", "ext4"),
    ("/home/me/far", "nfs4"),
    ("/home/me/far/notes", "nfs4"),
    ("/home/me/farther", "ext4"),
    ("/home/me/far/near/notes", "ext4"),
    ("/mnt/my disk/notes", "fuse.sshfs"),
    ("/twice/notes", "9p"),
    ("/mnt/usb", "fuseblk"),
]

# inodes of folders, what is watched, how many lack a watch
COVERED = [
    ({"": 1, "a": 2, "b": 3}, Watched(frozenset({1, 2, 3, 9}), 4), 0),
    ({"": 1, "a": 2, "b": 3}, Watched(frozenset({1, 3}), 2), 1),
    ({"": 1, "a": 2, "b": 3}, Watched(frozenset({71, 72, 73}), 3), 0),
    ({"": 1, "a": 2, "b": 3}, Watched(frozenset({71}), 1), 2),
    ({"": 1, "a": 2, "b": 3}, Watched(frozenset(), 0), 3),
    ({}, Watched(frozenset(), 0), 0),
]


def test_watched_inodes_are_read_from_what_the_system_tells_of_a_descriptor() -> None:
    assert watched_inodes([FDINFO, "pos:\t0\n"]) == Watched(frozenset({0x9E7E, 0xA}), 3)


@pytest.mark.parametrize(("place", "kind"), PLACES)
def test_the_mount_that_lies_deepest_and_uppermost_holds_a_folder(place: str, kind: str) -> None:
    assert mount_kind(MOUNTS, place) == kind


def test_no_mount_is_no_kind() -> None:
    assert mount_kind("", "/home") == ""


@pytest.mark.parametrize(("wanted", "found", "count"), COVERED)
def test_folders_are_compared_by_inode_or_else_by_number(
    wanted: dict[str, int], found: Watched, count: int
) -> None:
    assert missing(wanted, found) == count


def test_folders_that_no_scan_enters_are_not_counted(tmp_path: Path) -> None:
    for name in ("a/b", ".git/objects", "a/.trash", "left out/deep", "state/vectors", "a/state"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / ".huimemignore").write_text("/left out/\n", encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    rule = Filter.of(tmp_path)
    found = folders(tmp_path, rule, "state")
    assert found == {name: os.stat(tmp_path / name).st_ino for name in ("", "a", "a/b", "a/state")}
    assert top_folders(tmp_path, rule, "state").keys() == {"a"}


def test_a_folder_that_is_gone_has_no_folders(tmp_path: Path) -> None:
    assert folders(tmp_path / "gone", Filter()) == {}
    assert top_folders(tmp_path / "gone", Filter()) == {}


@pytest.mark.skipif(not Path("/proc/self/fdinfo").exists(), reason="this system does not tell")
def test_limits_and_watches_are_known_where_the_system_tells() -> None:
    assert (limit("max_user_watches") or 0) > 0
    assert limit("no_such_limit") is None
    assert watched() is not None

"""A folder → what the system says about watching it: which of its folders are watched, and how many can be.

In: the root of a vault, and what Linux tells of itself as text. Out: folders by inode, limits, kinds of
file systems. Where a system tells nothing, nothing is found to be wrong.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from huimem.vault.layout import Filter, ignored

_WATCHED = re.compile(r"^inotify wd:\S+ ino:([0-9a-f]+)", re.MULTILINE)
_ESCAPED = re.compile(r"\\([0-7]{3})")
_PROCESS = Path("/proc/self")
_LIMITS = Path("/proc/sys/fs/inotify")
# File systems that other machines change without a word to this one.
_FAR = frozenset({
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre", "virtiofs", "vboxsf",
    "vmhgfs", "prl_fs", "drvfs",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Watched:
    """What this process has the system watch: inodes, and how many watches in all."""

    inodes: frozenset[int]
    count: int


def folders(root: Path, rule: Filter, aside: str = "") -> dict[str, int]:
    """The folders of a vault that are looked at, "" for itself, with their inodes; none below `aside`.

    What cannot be listed is left out with all below it.
    """
    found: dict[str, int] = {}
    with suppress(OSError):
        found[""] = os.stat(root).st_ino
    pending = [""]
    while pending:
        above = pending.pop()
        for name, inode in _inside(root, above, rule):
            if name != aside:
                found[name] = inode
                pending.append(f"{name}/")
    return found


def top_folders(root: Path, rule: Filter, aside: str = "") -> dict[str, int]:
    """Only those folders that lie in the vault itself. Raises nothing."""
    return {name: inode for name, inode in _inside(root, "", rule) if name != aside}


def _inside(root: Path, above: str, rule: Filter) -> Iterator[tuple[str, int]]:
    """The folders in one folder (`above` is empty or ends in a slash) that a scan enters."""
    with suppress(OSError), os.scandir(os.path.join(root, above)) as entries:
        for entry in entries:
            if not ignored(entry.name) and entry.is_dir(follow_symlinks=False):
                name = above + entry.name
                if rule.all or rule.enters(name):
                    yield name, entry.inode()


def watched_inodes(told: Iterable[str]) -> Watched:
    """What the system watches, from the fdinfo texts of inotify descriptors."""
    found = [int(inode, 16) for text in told for inode in _WATCHED.findall(text)]
    return Watched(frozenset(found), len(found))


def watched() -> Watched | None:
    """What the system watches for this process; None where it does not say."""
    try:
        descriptors = os.listdir(_PROCESS / "fd")
    except OSError:
        return None
    return watched_inodes(filter(None, map(_told, descriptors)))


def _told(descriptor: str) -> str:
    """The fdinfo of an inotify descriptor; empty for any other and for one that was closed meanwhile."""
    try:
        if os.readlink(_PROCESS / "fd" / descriptor) != "anon_inode:inotify":
            return ""
        return (_PROCESS / "fdinfo" / descriptor).read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def missing(wanted: Mapping[str, int], found: Watched) -> int:
    """How many of the folders are not watched.

    Some file systems show other inodes than the system counts by; then only the numbers are compared.
    """
    unwatched = sum(inode not in found.inodes for inode in wanted.values())
    if unwatched < len(wanted):
        return unwatched
    return max(0, len(wanted) - found.count)


def limit(name: str) -> int | None:
    """The present value of a limit of inotify, `max_user_watches` or `max_user_instances`."""
    try:
        return int((_LIMITS / name).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def far_file_system(path: Path) -> str | None:
    """The kind of file system that holds `path` if its changes may not be told; None otherwise."""
    try:
        mounts = (_PROCESS / "mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    kind = mount_kind(mounts, os.path.realpath(path))
    return kind if kind in _FAR or kind == "fuse" or kind.startswith("fuse.") else None


def mount_kind(mounts: str, path: str) -> str:
    """The kind of file system that holds an absolute path, from the text of mountinfo; "" if unknown."""
    best, kind = "", ""
    for line in mounts.splitlines():
        front, _, back = line.partition(" - ")
        fields = front.split()
        if len(fields) < 5 or not back:
            continue
        place = _ESCAPED.sub(lambda code: chr(int(code[1], 8)), fields[4])
        # Of two mounts at one place the later lies on top.
        if len(place) >= len(best) and (path == place or path.startswith(f"{place.rstrip('/')}/")):
            best, kind = place, back.split()[0]
    return kind

"""Files as they stand: stamps and bytes, reached through the descriptors of their folders.

In: paths. Out: bytes with a stamp, or why they cannot be had. Everything below an opened folder is reached
through that folder's descriptor, so that a folder swapped for a symlink cannot lead elsewhere.
"""

from __future__ import annotations

import errno
import os
import stat as kinds
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from huimem.errors import HuimemError
from huimem.refusals import REMEDIES

LIMIT = 64 << 20

NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
READ: int = os.O_RDONLY | NOFOLLOW | getattr(os, "O_NONBLOCK", 0)
READ_FOLDER: int = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_DESCRIPTORS = os.open in os.supports_dir_fd


class Unreadable(HuimemError):
    """A file cannot be read now: gone, no regular file, no permission, too large, or changing.

    Never to be taken for a deletion. `gone` is True only where no file of that name exists.
    """

    def __init__(self, message: str, hint: str = "", *, gone: bool = False) -> None:
        super().__init__(message, hint)
        self.gone = gone


class Stamp(NamedTuple):
    """What tells one state of a file from another without reading it. Compare for inequality only."""

    dev: int
    ino: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @classmethod
    def of(cls, status: os.stat_result) -> Stamp:
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)

    @classmethod
    def parse(cls, text: str) -> Stamp:
        """The stamp written as `text` by `str`. Raises ValueError for anything else."""
        dev, ino, size, mtime_ns, ctime_ns = (int(part, 16) for part in text.split("."))
        return cls(dev, ino, size, mtime_ns, ctime_ns)

    def __str__(self) -> str:
        return f"{self.dev:x}.{self.ino:x}.{self.size:x}.{self.mtime_ns:x}.{self.ctime_ns:x}"


def stamp(path: Path) -> Stamp | None:
    """The stamp of `path`, symlinks not followed; None where nothing stands. Raises `Unreadable`."""
    try:
        return Stamp.of(os.lstat(path))
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
            return None
        raise _unreadable(path, error) from error


def read(path: Path, *, limit: int = LIMIT, within: Path | None = None) -> tuple[bytes, Stamp]:
    """All bytes of a regular file and its stamp, which is the same before and after the read.

    `within`: a folder above `path` below which no component may be a symlink. Raises `Unreadable`
    for what is gone, no regular file, over `limit` bytes, refused by the system or never at rest.
    """
    try:
        with folder_of(path, within) as (folder, name):
            for pause in (0.01, 0.05, 0.2, 0.0):
                found = read_once(folder, name, limit)
                if found is not None:
                    return found
                time.sleep(pause)
    except OSError as error:
        raise _unreadable(path, error) from error
    raise Unreadable(f"{path} changes while it is read", "Try again when its writer has finished.")


def read_range(path: Path, start: int, end: int, *, within: Path | None = None) -> tuple[bytes, Stamp]:
    """Bytes [start, end) of a file, fewer where it ends before, and its stamp. Raises `Unreadable`."""
    try:
        with folder_of(path, within) as (folder, name):
            descriptor = os.open(name, READ, dir_fd=folder)
            with open(descriptor, "rb") as file:
                status = os.fstat(descriptor)
                if not kinds.S_ISREG(status.st_mode):
                    raise OSError(errno.EINVAL, "not a regular file")
                file.seek(start)
                return file.read(end - start), Stamp.of(status)
    except OSError as error:
        raise _unreadable(path, error) from error


def read_once(folder: int | None, name: str, limit: int) -> tuple[bytes, Stamp] | None:
    """One try: None where the file changed meanwhile."""
    descriptor = os.open(name, READ, dir_fd=folder)
    with open(descriptor, "rb") as file:
        before = os.fstat(descriptor)
        if not kinds.S_ISREG(before.st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        if before.st_size > limit:
            raise OSError(errno.EFBIG, f"over {limit >> 20} MiB")
        data = file.read(limit + 1)
        after = os.fstat(descriptor)
    same = Stamp.of(before) == Stamp.of(after) and len(data) == after.st_size
    return (data, Stamp.of(after)) if same else None


def _unreadable(path: Path, error: OSError) -> Unreadable:
    match error.errno:
        case errno.ENOENT | errno.ENOTDIR:
            return Unreadable(f"{path} is gone", "Nothing to do if that was meant.", gone=True)
        case errno.ELOOP:
            return Unreadable(f"{path} is, or lies behind, a symlink", REMEDIES[errno.ELOOP])
        case errno.EINVAL | errno.ENXIO | errno.EISDIR:
            return Unreadable(f"{path} is not a regular file", "Move it out of the vault.")
        case errno.EFBIG:
            return Unreadable(f"{path} is too large ({error.strerror})", "Split it into parts.")
    remedy = REMEDIES.get(error.errno or 0, "")
    return Unreadable(f"{path} cannot be read: {error.strerror or error}", remedy)


@contextmanager
def folder_of(path: Path, within: Path | None) -> Iterator[tuple[int | None, str]]:
    """The opened folder of `path` and the name in it; where descriptors cannot be used, (None, path).

    Below `within` each component is opened on its own and may not be a symlink.
    """
    if not _DESCRIPTORS:
        yield None, str(path)
        return
    steps = path.parent.relative_to(within).parts if within is not None else ()
    if ".." in steps or path.name in ("", ".."):
        raise OSError(errno.EINVAL, "a path that leaves its folder")
    folder = os.open(within if within is not None else path.parent, READ_FOLDER)
    try:
        for name in steps:
            below = _open_below(folder, name)
            os.close(folder)
            folder = below
        yield folder, path.name
    finally:
        os.close(folder)


def _open_below(folder: int, name: str) -> int:
    """A folder inside an opened one. A symlink there is an error of its own, never "nothing there"."""
    try:
        return os.open(name, READ_FOLDER | NOFOLLOW, dir_fd=folder)
    except NotADirectoryError:
        if kinds.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from None
        raise

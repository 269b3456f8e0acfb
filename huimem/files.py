"""The only module that writes to users' files, and the only way their bytes are read.

In: paths and bytes. Out: bytes with a stamp, or files that are whole and durable, or an error that
leaves what stood there before. A write goes to a hidden temp file in the same folder, is synced,
and is published by one rename; a reader sees the old file or the new one and nothing else.

Everything below an opened folder is reached through that folder's descriptor, so that a folder
swapped for a symlink in the middle of a write cannot lead it elsewhere.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat as kinds
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from huimem import forking
from huimem.errors import Conflict, HuimemError
from huimem.locks import lock, written_elsewhere
from huimem.refusals import REMEDIES, refused
from huimem.renaming import EXCHANGE, NOREPLACE, renamed

__all__ = [
    "LIMIT", "Stamp", "Unreadable", "create", "jot", "leftover", "lock", "make_folder", "read", "remove",
    "replace", "stamp", "step", "watch_steps",
]  # fmt: skip

LIMIT = 64 << 20
# Seconds to wait for a program that has a file open for writing.
PATIENCE = 2.0
TEMP = re.compile(r"\.huimem-(\d+)-[0-9a-f]+\.tmp")

_NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
_READ: int = os.O_RDONLY | _NOFOLLOW | getattr(os, "O_NONBLOCK", 0)
_NEW: int = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW
_FOLDER: int = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_DESCRIPTORS = os.open in os.supports_dir_fd

_CACHE_TAG = b"Signature: 8a477f597d28d172789f06886806bc55\n# Derived by huimem: delete it at will.\n"


class Unreadable(HuimemError):
    """A file cannot be read now: gone, no regular file, no permission, too large, or changing.

    Never to be taken for a deletion. `gone` is True only where no file of that name exists.
    """

    def __init__(self, message: str, hint: str = "", *, gone: bool = False) -> None:
        super().__init__(message, hint)
        self.gone = gone


@dataclass(frozen=True, slots=True)
class Stamp:
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


def _silent(name: str) -> None:
    """The hook that stands where nobody watches."""


on_step: Callable[[str], None] = _silent


def watch_steps(callback: Callable[[str], None] | None) -> Callable[[str], None]:
    """Call `callback` with the name of every step of every write from now on; None stops that.

    Returns the callback that was set before. What it raises acts as the step's own failure.
    """
    global on_step
    before, on_step = on_step, callback or _silent
    return before


def step(name: str) -> None:
    """A point at which a write can be cut off: whatever happens here must leave old or new."""
    on_step(name)


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
        with _folder_of(path, within) as (folder, name):
            for pause in (0.01, 0.05, 0.2, 0.0):
                found = _read_once(folder, name, limit)
                if found is not None:
                    return found
                time.sleep(pause)
    except OSError as error:
        raise _unreadable(path, error) from error
    raise Unreadable(f"{path} changes while it is read", "Try again when its writer has finished.")


def _read_once(folder: int | None, name: str, limit: int) -> tuple[bytes, Stamp] | None:
    """One try: None where the file changed meanwhile."""
    descriptor = os.open(name, _READ, dir_fd=folder)
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


def create(path: Path, data: bytes, *, within: Path | None = None) -> None:
    """Write a new file (0600), durable on return. Raises `Conflict` where one stands already.

    Raises `WriteFailed` where the disk refuses; then no file of that name has come to be.
    """
    with _writing(path), _folder_of(path, within) as (folder, name):
        with _temp(folder, name, data, None) as temp:
            step("before publish")
            _publish_new(folder, temp, name)
            step("after publish")
        _sync(folder)


def replace(path: Path, data: bytes, base: bytes, *, within: Path | None = None) -> None:
    """Put `data` in place of a file that holds `base`; it keeps its mode. Durable on return.

    Raises `Conflict` where the file holds anything else, up to the instant of the exchange, and
    `WriteFailed` where the disk refuses; in both cases what stood there stands.
    """
    with _writing(path), _folder_of(path, within) as (folder, name):
        _expect(folder, name, base)
        with _temp(folder, name, data, os.stat(name, dir_fd=folder, follow_symlinks=False)) as temp:
            _expect(folder, name, base)
            step("before publish")
            if renamed(folder, temp, name, EXCHANGE):
                step("after exchange")
                _check_displaced(folder, temp, name, (base, data))
            else:
                os.replace(temp, name, src_dir_fd=folder, dst_dir_fd=folder)
            step("after publish")
        _sync(folder)


def jot(path: Path, data: bytes) -> None:
    """Put a derived file in place of whatever stands there: whole, not durable. Raises `WriteFailed`."""
    with _writing(path), _temp(None, str(path), data, None, durable=False) as temp:
        os.replace(temp, path)


def remove(path: Path, *, within: Path | None = None) -> None:
    """Delete a file, durably; nothing happens where none stands. Raises `WriteFailed`."""
    with _writing(path), _folder_of(path, within) as (folder, name):
        step("before remove")
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)
        step("after remove")
        _sync(folder)


def make_folder(path: Path, *, within: Path | None = None) -> None:
    """Make a folder and those above it, new ones 0700. Raises `WriteFailed`, never follows below `within`."""
    missing = []
    while path != within and not path.is_dir():
        missing.append(path)
        path = path.parent
    for folder in reversed(missing):
        with _writing(folder), _folder_of(folder, within) as (parent, name):
            with suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=parent)
            _sync(parent)


def make_derived_folder(path: Path) -> None:
    """Make a folder whose contents may be deleted, marked so for backup programs and git."""
    make_folder(path)
    for name, text in (("CACHEDIR.TAG", _CACHE_TAG), (".gitignore", b"*\n")):
        with suppress(Conflict):  # another process marks it too
            if stamp(path / name) is None:
                create(path / name, text)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Turn the system's refusals into `WriteFailed` with a remedy."""
    try:
        yield
    except OSError as error:
        raise refused(path, error) from error


@contextmanager
def _folder_of(path: Path, within: Path | None) -> Iterator[tuple[int | None, str]]:
    """The opened folder of `path` and the name in it; where descriptors cannot be used, (None, path).

    Below `within` each component is opened on its own and may not be a symlink.
    """
    if not _DESCRIPTORS:
        yield None, str(path)
        return
    steps = path.parent.relative_to(within).parts if within is not None else ()
    if ".." in steps or path.name in ("", ".."):
        raise OSError(errno.EINVAL, "a path that leaves its folder")
    folder = os.open(within if within is not None else path.parent, _FOLDER)
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
        return os.open(name, _FOLDER | _NOFOLLOW, dir_fd=folder)
    except NotADirectoryError:
        if kinds.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from None
        raise


@contextmanager
def _temp(
    folder: int | None, name: str, data: bytes, like: os.stat_result | None, *, durable: bool = True
) -> Iterator[str]:
    """A synced temp file beside `name` that holds `data`; gone afterwards unless renamed away."""
    temp = os.path.join(os.path.dirname(name), f".huimem-{os.getpid()}-{secrets.token_hex(6)}.tmp")
    step("before temp")
    try:
        with forking.undivided():  # a fork would go on to be somebody who has the file open for writing
            descriptor = os.open(temp, _NEW, 0o600, dir_fd=folder)
            try:
                step("after temp")
                with open(descriptor, "wb", closefd=False) as file:
                    file.write(data)
                step("after write")
                if like is not None:
                    _copy_mode(descriptor, like)
                if durable:
                    os.fsync(descriptor)
                step("after sync")
            finally:
                os.close(descriptor)
        yield temp
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temp, dir_fd=folder)


def _copy_mode(descriptor: int, like: os.stat_result) -> None:
    if hasattr(os, "fchown"):
        own = os.fstat(descriptor)
        if (own.st_uid, own.st_gid) != (like.st_uid, like.st_gid):
            with suppress(PermissionError):
                os.fchown(descriptor, like.st_uid, like.st_gid)
        os.fchmod(descriptor, kinds.S_IMODE(like.st_mode))


def _publish_new(folder: int | None, temp: str, name: str) -> None:
    """Give the temp file its name, which must be free."""
    try:
        if folder is None:
            os.rename(temp, name)
            return
        try:
            os.link(temp, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except PermissionError:  # a disk without hard links
            if not renamed(folder, temp, name, NOREPLACE):
                raise
    except FileExistsError as error:
        raise Conflict(f"{name} exists already", "Nothing was written; choose another name.") from error


def _expect(folder: int | None, name: str, base: bytes) -> None:
    """Raise `Conflict` unless `name` is a regular file that holds `base` and nobody is writing to it."""
    try:
        _wait_for_writers(folder, name)
        found = _read_once(folder, name, max(LIMIT, len(base)))
    except FileNotFoundError:
        found = None
    if found is None or found[0] != base:
        raise _changed(name)


def _wait_for_writers(folder: int | None, name: str) -> None:
    """Let a program that has the file open for writing finish: its late words must not be lost."""
    descriptor = os.open(name, _READ, dir_fd=folder)
    try:
        end = time.monotonic() + PATIENCE
        while written_elsewhere(descriptor):
            if time.monotonic() > end:
                raise Conflict(
                    f"{name} is open for writing in another program",
                    "Save and close it there, then try again.",
                )
            time.sleep(0.02)
    finally:
        os.close(descriptor)


def _changed(name: str) -> Conflict:
    return Conflict(
        f"{name} was changed by another program in the meantime",
        "Nothing was written; the other program's version stands. Try again.",
    )


def _check_displaced(folder: int | None, temp: str, name: str, versions: tuple[bytes, bytes]) -> None:
    """Look at what the exchange displaced: an edit that came in at the last instant goes back.

    `versions`: what was to be displaced, and what took its place. Should that have been edited as
    well in the meantime, the later edit is kept beside the file as a conflict copy.
    """
    base, data = versions
    try:
        _expect(folder, temp, base)
    except Conflict:
        renamed(folder, temp, name, EXCHANGE)
        found = _read_once(folder, temp, LIMIT)
        if found is None or found[0] != data:
            stem, ending = os.path.splitext(name)
            copy = f"{stem}.sync-conflict-{secrets.token_hex(4)}{ending}"
            os.rename(temp, copy, src_dir_fd=folder, dst_dir_fd=folder)
        raise _changed(name) from None


def _sync(folder: int | None) -> None:
    step("before folder sync")
    if folder is not None:
        os.fsync(folder)
    step("after folder sync")


def leftover(name: str) -> bool:
    """Whether a name in a folder is the temp file of a writer that is no longer alive."""
    match = TEMP.fullmatch(name)
    if not match:
        return False
    try:
        os.kill(int(match[1]), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:
        pass
    return False

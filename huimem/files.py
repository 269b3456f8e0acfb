"""The only module that writes to users' files, and the only way their bytes are read.

In: paths and bytes. Out: bytes with a stamp, or files that are whole and durable, or an error that
leaves what stood there before. A write goes to a hidden temp file in the same folder, is synced,
and is published by one rename; a reader sees the old file or the new one and nothing else.

Folders are reached as `huimem.descriptors` does it.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat as kinds
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from huimem import forking
from huimem.descriptors import LIMIT, NOFOLLOW, READ, Stamp, Unreadable, folder_of, read, read_once, stamp
from huimem.errors import Conflict, UsageError, WriteFailed
from huimem.locks import lock, written_elsewhere
from huimem.refusals import refused
from huimem.renaming import EXCHANGE, NOREPLACE, renamed
from huimem.temps import TEMP, leftover, temp_beside

__all__ = [
    "LIMIT", "TEMP", "Stamp", "Unreadable", "create", "jot", "leftover", "lock", "make_folder", "read",
    "remove", "remove_folder", "replace", "rewrite", "settle", "sized", "stamp", "step", "take_away",
    "watch_steps",
]  # fmt: skip

# Seconds to wait for a program that has a file open for writing.
PATIENCE = 2.0

_NEW: int = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOFOLLOW

# What keeps a derived folder out of backups, of git, and of Nextcloud and ownCloud.
_MARKS = {
    "CACHEDIR.TAG": b"Signature: 8a477f597d28d172789f06886806bc55\n# Derived by huimem: delete it at will.\n",
    ".gitignore": b"*\n",
    ".sync-exclude.lst": b"*\n",
}
_NOT_FOR_DROPBOX = "user.com.dropbox.ignored"


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


def create(
    path: Path,
    data: bytes,
    *,
    within: Path | None = None,
    mode: int = 0o600,
    mtime_ns: int | None = None,
    check: Callable[[bytes], None] | None = None,
) -> None:
    """Write a new file, durable on return. Raises `Conflict` where one stands already.

    Before it has its name `check` is given what the disk holds of it, and may raise. Raises `WriteFailed`
    where the disk refuses; in both cases no file of that name has come to be.
    """
    with _writing(path), folder_of(path, within) as (folder, name):
        with _temp(folder, name, data, None) as temp:
            _check_written(folder, temp, check)
            _dress(folder, temp, mode, mtime_ns)
            step("before publish")
            _publish_new(folder, temp, name)
            step("after publish")
        _sync(folder)


def replace(
    path: Path,
    data: bytes,
    base: bytes,
    *,
    within: Path | None = None,
    check: Callable[[bytes], None] | None = None,
) -> None:
    """Put `data` in place of a file that holds `base`; it keeps its mode. Durable on return.

    `check` as for `create`. Raises `Conflict` where the file holds anything else, up to the instant of the
    exchange, and `WriteFailed` where the disk refuses; in both cases what stood there stands.
    """
    with _writing(path), folder_of(path, within) as (folder, name):
        _expect(folder, name, base)
        with _temp(folder, name, data, os.stat(name, dir_fd=folder, follow_symlinks=False)) as temp:
            _check_written(folder, temp, check)
            _expect(folder, name, base)
            step("before publish")
            if renamed(folder, temp, name, EXCHANGE):
                step("after exchange")
                _check_displaced(folder, temp, name, (base, data))
            else:
                os.replace(temp, name, src_dir_fd=folder, dst_dir_fd=folder)
            step("after publish")
        _sync(folder)


def rewrite(path: Path, change: Callable[[bytes], bytes], *, within: Path | None = None) -> None:
    """Make a file hold what `change` makes of its bytes; where none stands, of b"". Durable on return.

    Raises `Unreadable`, and as `create` and `replace`.
    """
    try:
        base, _ = read(path, within=within)
    except Unreadable as error:
        if not error.gone:
            raise
        make_folder(path.parent, within=within)
        create(path, change(b""), within=within)
        return
    if (data := change(base)) != base:
        replace(path, data, base, within=within)


def sized(data: bytes, path: str, remedy: str) -> bytes:
    """What is to be written to `path`, if it can be read again. Raises `UsageError`."""
    if len(data) > LIMIT:
        raise UsageError(f"{path} would be over {LIMIT >> 20} MiB, more than huimem reads", remedy)
    return data


def jot(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Put a derived file in place of whatever stands there: whole, not durable. Raises `WriteFailed`."""
    with _writing(path), _temp(None, str(path), data, None, durable=False) as temp:
        _dress(None, temp, mode, None)
        os.replace(temp, path)


def remove(path: Path, *, within: Path | None = None) -> None:
    """Delete a file, durably; nothing happens where none stands. Raises `WriteFailed`."""
    with _writing(path), folder_of(path, within) as (folder, name):
        step("before remove")
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)
        step("after remove")
        _sync(folder)


def take_away(path: Path, base: bytes, *, within: Path | None = None, durable: bool = True) -> None:
    """Delete a file that holds `base`. Raises `Conflict` where it holds anything else.

    It is moved aside first and looked at once more: an edit of the last instant goes back to its place.
    What is not `durable` may be there again after a power cut, until its folder is synced.
    """
    with _writing(path), folder_of(path, within) as (folder, name):
        _expect(folder, name, base)
        aside = temp_beside(name)
        step("before remove")
        os.rename(name, aside, src_dir_fd=folder, dst_dir_fd=folder)
        try:
            step("after aside")
            _expect(folder, aside, base)
            os.unlink(aside, dir_fd=folder)
        except (Conflict, OSError) as error:
            _publish_new(folder, aside, name)
            with suppress(FileNotFoundError):  # it has its name back as well
                os.unlink(aside, dir_fd=folder)
            raise (_changed(name) if isinstance(error, Conflict) else error) from None
        step("after remove")
        if durable:
            _sync(folder)


def remove_folder(path: Path, *, within: Path | None = None) -> bool:
    """Sync a folder, and delete it where it is empty, durably; False where it is not, or is gone."""
    with _writing(path), suppress(FileNotFoundError):
        with folder_of(path / "any", within) as (itself, _):
            _sync(itself)
        with folder_of(path, within) as (folder, name):
            try:
                os.rmdir(name, dir_fd=folder)
            except OSError as error:
                if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                    return False
                raise
            _sync(folder)
        return True
    return False


def make_folder(path: Path, *, within: Path | None = None) -> None:
    """Make a folder and those above it, new ones 0700. Raises `WriteFailed`, never follows below `within`.

    Below `within` those that are there are made durable too: who made them may have died before it did.
    """
    above = [each for each in (path, *path.parents) if within is not None or not each.is_dir()]
    depth = len(path.relative_to(within).parts) if within is not None else len(above)
    for folder in reversed(above[:depth]):
        with _writing(folder), folder_of(folder, within) as (parent, name):
            with suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=parent)
            _sync(parent)


def settle(path: Path, *, within: Path) -> None:
    """Make durable that a file is there as it is, or is gone. Raises `WriteFailed`.

    For whoever relies on what another run did, and writes nothing itself: that run may have died at it.
    """
    make_folder(path.parent, within=within)
    with _writing(path), folder_of(path, within) as (folder, name):
        with suppress(FileNotFoundError), open(os.open(name, READ, dir_fd=folder), "rb") as file:
            if folder is not None:
                os.fsync(file.fileno())
        _sync(folder)


def make_derived_folder(path: Path) -> None:
    """Make a folder whose contents may be deleted, marked so for backup programs, git and sync programs."""
    new = not path.is_dir()
    make_folder(path)
    if new and hasattr(os, "setxattr"):  # on one that Dropbox has copied already it would delete the copies
        with suppress(OSError):  # not every disk keeps such marks
            os.setxattr(path, _NOT_FOR_DROPBOX, b"1")
    for name, text in _MARKS.items():
        with suppress(Conflict):  # another process marks it too
            if stamp(path / name) is None:
                create(path / name, text)


def own_folder(above: Path, name: str) -> Path:
    """A folder that huimem keeps for itself in a derived one, made where it is missing.

    Raises `WriteFailed` where a symlink stands there: it would lead what is kept elsewhere.
    """
    folder = above / name
    if folder.is_symlink():
        raise WriteFailed(
            f"{folder} is a symlink and is not followed", "Delete it; state_dir moves all of it."
        )
    if not folder.is_dir():
        make_derived_folder(above)
        make_folder(folder)
    return folder


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Turn the system's refusals into `WriteFailed` with a remedy."""
    try:
        yield
    except OSError as error:
        raise refused(path, error) from error


@contextmanager
def _temp(
    folder: int | None, name: str, data: bytes, like: os.stat_result | None, *, durable: bool = True
) -> Iterator[str]:
    """A synced temp file beside `name` that holds `data`; gone afterwards unless renamed away."""
    temp = temp_beside(name)
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


def _check_written(folder: int | None, temp: str, check: Callable[[bytes], None] | None) -> None:
    """Have somebody look at a temp file as the disk has it, before it gets its name."""
    if check is not None:
        step("before check")
        found = read_once(folder, temp, os.stat(temp, dir_fd=folder).st_size)
        check(found[0] if found else b"")


def _dress(folder: int | None, temp: str, mode: int, mtime_ns: int | None) -> None:
    """The mode and the time of a file before it has its name: watchers see it whole or not at all."""
    if mode != 0o600:
        os.chmod(temp, mode, dir_fd=folder)
    if mtime_ns is not None:
        os.utime(temp, ns=(mtime_ns, mtime_ns), dir_fd=folder)


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
    found = None
    with suppress(FileNotFoundError):
        _wait_for_writers(folder, name)
        found = read_once(folder, name, max(LIMIT, len(base)))
    if found is None or found[0] != base:
        raise _changed(name)


def _wait_for_writers(folder: int | None, name: str) -> None:
    """Let a program that has the file open for writing finish: its late words must not be lost."""
    descriptor = os.open(name, READ, dir_fd=folder)
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
        found = read_once(folder, temp, LIMIT)
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

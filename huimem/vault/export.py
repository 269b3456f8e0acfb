"""A whole vault → a copy of it in an empty folder or one `.tar.zst`, read back and compared before it counts.

In: a vault, a place. Out: every regular file of the vault but for what is derived, with its bytes, mode and
time. What cannot be copied is named; a file that changes meanwhile is copied as it was at one moment.
"""

from __future__ import annotations

import io
import os
import stat
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import zstandard

from huimem import files
from huimem.errors import Problem, UsageError, VaultError
from huimem.months import ENDING
from huimem.vault.layout import printable
from huimem.vault.vault import Vault

LEVEL = 9


@dataclass(frozen=True, slots=True)
class Exported:
    """What was copied: files and their bytes; `left` are those that were not, each with the reason."""

    place: Path
    files: int
    size: int
    left: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class _Copied:
    path: str
    data: bytes
    mode: int
    mtime_ns: int


def export(vault: Vault, place: Path) -> Exported:
    """Copy a vault to a folder that is empty or not there, or to a new file whose name ends in .tar.zst.

    Raises `UsageError` where something lies there, or inside the vault; `WriteFailed`; `VaultError` where
    what was written does not read back as it was.
    """
    if place.resolve().is_relative_to(vault.root.resolve()):
        raise UsageError(f"{place} lies inside the vault", "Name a place outside of it.")
    if place.name.endswith(ENDING):
        return _to_file(vault, place)
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise UsageError(f"{place} is not empty", "Name a new folder, or a file that ends in .tar.zst.")
    return _to_folder(vault, place)


def _to_folder(vault: Vault, place: Path) -> Exported:
    left: list[Problem] = []
    count = size = 0
    files.make_folder(place)
    for one in _copied(vault, left):
        target = place / one.path
        files.make_folder(target.parent, within=place)
        files.create(target, one.data, within=place, mode=one.mode, mtime_ns=one.mtime_ns)
        if files.read(target, within=place, limit=max(files.LIMIT, len(one.data)))[0] != one.data:
            raise VaultError(f"{target} does not read back as it was written", "Check that disk.")
        count, size = count + 1, size + len(one.data)
    return Exported(place, count, size, tuple(left))


def _to_file(vault: Vault, place: Path) -> Exported:
    if os.path.lexists(place):
        raise UsageError(f"{place} is there already", "Name a new file.")
    left: list[Problem] = []
    digests: dict[str, str] = {}
    packed, size = io.BytesIO(), 0
    squeezed = zstandard.ZstdCompressor(LEVEL, write_checksum=True).stream_writer(packed, closefd=False)
    with squeezed, tarfile.open(fileobj=squeezed, mode="w|", format=tarfile.PAX_FORMAT) as tar:
        for one in _copied(vault, left):
            info = tarfile.TarInfo(one.path)
            info.size, info.mode, info.mtime = len(one.data), one.mode, one.mtime_ns // 10**9
            tar.addfile(info, io.BytesIO(one.data))
            digests[one.path] = sha256(one.data).hexdigest()
            size += len(one.data)

    def check(written: bytes) -> None:
        if _read_back(written) != digests:
            raise VaultError(f"{place} does not read back as it was written", "Check that disk.")

    files.create(place, packed.getvalue(), check=check)
    return Exported(place, len(digests), size, tuple(left))


def _read_back(archive: bytes) -> dict[str, str]:
    """The SHA-256 of each file of an export by its name; nothing where it is damaged."""
    reader = zstandard.ZstdDecompressor().stream_reader(archive, read_across_frames=True)
    found = {}
    try:
        with tarfile.open(fileobj=io.BufferedReader(reader), mode="r|") as tar:
            for info in tar:
                held = tar.extractfile(info)
                found[info.name] = sha256(held.read() if held else b"").hexdigest()
    except (tarfile.TarError, zstandard.ZstdError, OSError):
        return {}
    return found


def _copied(vault: Vault, left: list[Problem]) -> Iterator[_Copied]:
    """Every regular file of a vault in order of path, the state folder and temp files left out."""
    for path in _paths(vault, "", left):
        place = vault.root / path
        try:
            status = place.lstat()
            data, stamp = files.read(place, within=vault.root, limit=max(files.LIMIT, status.st_size))
        except (files.Unreadable, OSError) as error:
            said = error.message if isinstance(error, files.Unreadable) else str(error.strerror)
            left.append(Problem(printable(path), 0, said.removeprefix(f"{place} "), "It is not in the copy."))
            continue
        yield _Copied(path, data, stat.S_IMODE(status.st_mode) & 0o777, max(stamp.mtime_ns, 0))


def _paths(vault: Vault, folder: str, left: list[Problem]) -> Iterator[str]:
    with os.scandir(vault.root / folder) as entries:
        listed = sorted(entries, key=lambda entry: entry.name)
    for entry in listed:
        path = folder + entry.name
        if Path(entry.path) == vault.state or files.TEMP.fullmatch(entry.name):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _paths(vault, f"{path}/", left)
        elif entry.is_file(follow_symlinks=False):
            yield path
        else:
            what = "is a symlink" if entry.is_symlink() else "is not a regular file"
            left.append(Problem(printable(path), 0, what, "It is not in the copy."))

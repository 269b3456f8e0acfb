"""A folder → which one stands at its place, who made it, and whether a vault can lie there."""

from __future__ import annotations

import os
from pathlib import Path

from huimem.errors import VaultError

# Bytes of a path: what a system takes is 4,096, and notes and their temp files need names below it.
LONGEST_VAULT = 3_800
# SQLite takes 504, and the names of its files below the state folder, temp files among them, up to 38.
LONGEST_STATE = 460


def identity(folder: Path) -> tuple[int, int] | None:
    """Device and inode of a folder, symlinks followed; None where none can be reached."""
    try:
        status = os.stat(folder)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def stranger(folder: Path, vault: Path) -> int | None:
    """The user that a folder, or the symlink to it, belongs to; None where it is ours, root's or nobody's.

    None too for whoever owns `vault`: what is answered from it is theirs to say in any case.
    """
    if not hasattr(os, "geteuid"):
        return None
    known = {os.geteuid(), 0, _owner(vault)}
    owners = (_owner(folder, follow) for follow in (False, True))
    return next((owner for owner in owners if owner is not None and owner not in known), None)


def _owner(folder: Path, follow: bool = True) -> int | None:
    try:
        return os.stat(folder, follow_symlinks=follow).st_uid
    except OSError:
        return None


def seen_from(root: Path, path: Path) -> Path:
    """A path as it is told to somebody at `root`: whole where it does not lie below."""
    return path.relative_to(root) if path.is_relative_to(root) else path


def refuse_path(vault: Path) -> None:
    """Raise `VaultError` where no vault can lie, told by the path alone: nothing is looked at."""
    data = os.fsencode(vault)
    shown = data.decode("utf-8", "backslashreplace")
    if data != shown.encode():
        raise VaultError(
            f"the path {shown} is not valid UTF-8, so nothing can be indexed below it",
            "Rename the folder that has such a name, or move the vault out of it.",
        )
    if len(data) > LONGEST_VAULT:
        raise VaultError(
            f"the path {shown} has {len(data):,} bytes: files below it could get no names",
            f"Move the vault to a folder whose path has at most {LONGEST_VAULT:,}.",
        )


def refuse_state_path(state: Path) -> None:
    """Raise `VaultError` where SQLite could make no files: its limit is far below that of the system."""
    longest = max(len(os.fsencode(path)) for path in (state, os.path.realpath(state)))
    if os.name == "posix" and longest > LONGEST_STATE:
        raise VaultError(
            f"derived data cannot be kept in {state}: its path has more than {LONGEST_STATE} bytes",
            "Set `state_dir` in your own config, or HUIMEM_STATE, to a folder with a shorter path.",
        )

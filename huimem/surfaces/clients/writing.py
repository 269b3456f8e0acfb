"""A plan → the settings file with it, and a backup beside: all or nothing, never over somebody's edit."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from huimem import files
from huimem.errors import ConfigError, Conflict
from huimem.surfaces.clients.plan import Plan

TRIES = 3  # a running client may rewrite its settings between our look and our write
Planner = Callable[[bytes | None], Plan]


@dataclass(frozen=True, slots=True)
class Installed:
    """What was done. `target` is the file behind a symlink, else the path itself. `backup` is None where
    nothing was written or nothing stood there before."""

    plan: Plan
    target: Path
    backup: Path | None = None
    written: bool = False


def look(path: Path, planner: Planner) -> Installed:
    """What would be done at `path`; nothing is written. Raises `ConfigError` and what `planner` raises."""
    target = target_of(path)
    return Installed(planner(held(target)), target)


def install(path: Path, planner: Planner, now: datetime) -> Installed:
    """Carry out what `planner` makes of the file at `path`, which is made with its folder if need be.

    Raises `ConfigError` for a file that may not be read or written, `Conflict` where another program
    keeps changing it, `WriteFailed`; then the file is as it was and no backup is left.
    """
    for left in reversed(range(TRIES)):
        found = look(path, planner)
        if not found.plan.changes:
            return found
        try:
            return _carried_out(path, found, now)
        except Conflict:
            if not left:
                raise
    raise AssertionError("the last try returns or raises")


def target_of(path: Path) -> Path:
    """The file that is meant: symlinks, of the file or of a folder above it, are followed."""
    return Path(os.path.realpath(path))


def held(target: Path) -> bytes | None:
    """What a file holds; None where there is none. Raises `ConfigError`."""
    try:
        return files.read(target)[0]
    except files.Unreadable as error:
        if error.gone:
            return None
        raise ConfigError(error.message, "Check it and its folder; nothing was written.") from error


def _carried_out(path: Path, found: Installed, now: datetime) -> Installed:
    plan, target = found.plan, found.target
    if plan.before is None:
        files.make_folder(target.parent)
        files.create(target, plan.after)
        return Installed(plan, target, None, True)
    if not os.access(target, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise ConfigError(
            f"{target} is write-protected; nothing was written",
            "Allow writing, or put in what `huimem mcp config` prints.",
        )
    backup = _kept(path, plan.before, now)
    try:
        files.replace(target, plan.after, plan.before)
    except BaseException:
        files.remove(backup)
        raise
    return Installed(plan, target, backup, True)


def _kept(path: Path, data: bytes, now: datetime) -> Path:
    """A new file beside `path` that holds `data`. Beside a symlink, not beside the file that it leads to:
    that one may lie in a repository, where a copy of its secrets would be committed unseen."""
    stem = f"{path.name}.huimem-backup-{now:%Y%m%d-%H%M%S}"
    for ending in ("", *(f"-{number}" for number in range(2, 100))):
        backup = path.with_name(stem + ending)
        if files.stamp(backup) is None:
            files.create(backup, data)
            return backup
    raise ConfigError(f"{path.parent} holds too many backups of this second", "Try again in a moment.")

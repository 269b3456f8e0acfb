"""Has anybody but us touched the state folder? A list of its files' sizes and times tells.

In: the state folder. Out: the names of files that are not as we left them. The seal is broken before
a write and made anew after it, both under the index lock; where there is none, a write was cut short.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from enum import Enum
from pathlib import Path

from huimem import files
from huimem.errors import Conflict

CATALOG, WORDS, VECTORS = "catalog.db", "words", "vectors"
EMBEDDINGS, LOCK, SEAL = "embeddings.db", "index.lock", "seal.json"
# Held by whoever brings files in, for as long as that takes; `LOCK` only while a batch is published.
SYNC_LOCK = "sync.lock"
# Held by whoever makes vectors, so that two processes do not make the same ones.
EMBED_LOCK = "embed.lock"
JOURNAL = f"{CATALOG}-wal"
_TRIES = 3


class Seal(Enum):
    """What the seal says of the state folder."""

    WHOLE = "all is as we left it"
    OPEN = "no seal: a write is going on, or was cut short"
    DAMAGED = "something was changed by others"


class Damaged(Exception):
    """A derived file does not hold what we put there; it must be rebuilt. Never leaves the index."""


def break_open(folder: Path) -> None:
    """Take the seal off, before anything under `folder` is changed."""
    files.remove(folder / SEAL)


def close(folder: Path) -> None:
    """Seal what stands under `folder` now, in place of any other seal.

    Where others seal it at the same moment it stays open, so that the next one looks at everything.
    """
    for _ in range(_TRIES):
        files.remove(folder / SEAL)
        with suppress(Conflict):
            files.create(folder / SEAL, json.dumps(dict(_present(folder))).encode())
            return
    break_open(folder)


def look(folder: Path) -> tuple[Seal, frozenset[str]]:
    """What the seal says, and the names (relative to `folder`) that differ from it."""
    sealed = _sealed(folder)
    if sealed is None:
        return Seal.OPEN, frozenset()
    present = dict(_present(folder))
    names = sealed.keys() | present.keys()
    odd = frozenset(name for name in names if sealed.get(name) != present.get(name))
    if not odd:
        return Seal.WHOLE, odd
    # A writer may have begun between the two looks: it breaks the seal first.
    return (Seal.DAMAGED, odd) if _sealed(folder) == sealed else (Seal.OPEN, frozenset())


def _sealed(folder: Path) -> dict[str, list[int]] | None:
    try:
        found = json.loads((folder / SEAL).read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _present(folder: Path) -> Iterator[tuple[str, list[int]]]:
    for name in (CATALOG, JOURNAL):
        yield from _measure(folder, name)
    for below in (WORDS, VECTORS):
        try:
            names = sorted(os.listdir(folder / below))
        except OSError:
            continue
        for name in names:
            if not name.startswith((".tantivy", ".huimem-")):  # locks, and temp files of dead writers
                yield from _measure(folder, f"{below}/{name}")


def _measure(folder: Path, name: str) -> Iterator[tuple[str, list[int]]]:
    try:
        status = os.lstat(folder / name)
    except OSError:
        return
    # A reader may leave an empty journal behind; it holds nothing.
    if status.st_size or name != JOURNAL:
        yield name, [status.st_size, status.st_mtime_ns]

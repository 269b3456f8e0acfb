"""Names in the state folder that are ours, and what stands there in place of what we put there.

In: the state folder. Out: a folder in which nothing of the wrong kind (a folder where a file belongs,
the reverse, or a symlink) is in the way; a line for each thing that was taken away.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from huimem import files
from huimem.index.disk import refusals
from huimem.index.seal import (
    CATALOG,
    EMBED_LOCK,
    EMBEDDINGS,
    EMBEDDINGS_LOCK,
    EMBEDDINGS_SEAL,
    LOCK,
    SEAL,
    SYNC_LOCK,
    VECTORS,
    WORDS,
)

_JOURNALLED = (CATALOG, EMBEDDINGS)
_BESIDE = ("", "-wal", "-shm")  # what SQLite keeps beside a file
_FILES = (
    LOCK,
    SYNC_LOCK,
    EMBED_LOCK,
    EMBEDDINGS_LOCK,
    SEAL,
    EMBEDDINGS_SEAL,
    *(f"{name}{end}" for name in _JOURNALLED for end in _BESIDE),
)
_FOLDERS = (WORDS, VECTORS)


def misplaced(folder: Path, *names: str) -> tuple[Path, ...]:
    """What is of the wrong kind under our names, all or only `names`."""
    return tuple(folder / name for name in _wrong(folder, names))


def _wrong(folder: Path, names: Sequence[str]) -> Iterator[str]:
    for ours, belongs in ((_FILES, stat.S_ISREG), (_FOLDERS, stat.S_ISDIR)):
        for name in ours:
            if names and name not in names:
                continue
            try:
                mode = os.lstat(os.path.join(folder, name)).st_mode
            except OSError:
                continue
            if not belongs(mode):
                yield name


def clear(folder: Path, *names: str) -> tuple[str, ...]:
    """Take away what `misplaced` finds, a line each. Raises `WriteFailed` where the disk refuses."""
    return tuple(take_away(path) for path in misplaced(folder, *names))


def sweep(folder: Path) -> None:
    """Delete the temp files of writers that are no longer alive, and what SQLite kept beside them."""
    for name in os.listdir(folder):
        if any(name.endswith(end) and files.leftover(name.removesuffix(end)) for end in _BESIDE):
            files.remove(folder / name)


def take_away(path: Path) -> str:
    """Delete whatever stands at `path`, a symlink and never what it leads to; a line that says so."""
    belongs = "folder" if path.name in _FOLDERS else "file"
    if path.is_dir() and not path.is_symlink():
        with refusals(path):
            shutil.rmtree(path)
    else:
        files.remove(path)
    return f"{path.name} in the state folder was no {belongs} and is made anew"

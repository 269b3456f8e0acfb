"""What a disk may give back of an index in place of what was written; and what a check says of that."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from huimem.index import catalog, segments
from huimem.index.verify import Held, verify

# Beside what is read: marks and locks, and what SQLite makes anew whenever it begins.
BESIDE = (".TAG", ".lock", "-shm")


def victims(folder: Path) -> list[str]:
    """The files of an index that are read, and hold anything."""
    with closing(catalog.connect(folder)) as db:
        named = {f"vectors/{segment.file}" for segment in segments.listed(db)}
    there = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return sorted(
        name
        for name, path in there.items()
        if path.stat().st_size
        and not name.startswith(".")
        and not name.endswith(BESIDE)
        and (name in named or not name.startswith("vectors/"))  # others wait for their end
    )


@contextmanager
def holding(path: Path, data: bytes) -> Iterator[None]:
    """Meanwhile the disk gives back `data` for a file, whose times are as they were."""
    was, before = path.stat(), path.read_bytes()
    path.write_bytes(data)
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
    try:
        yield
    finally:
        path.write_bytes(before)
        os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))


def flips(path: Path, count: int) -> Iterator[bytes]:
    """What a file holds, each time with one bit another: of so many bytes, first and last among them."""
    chance, data = random.Random(path.suffix + path.name[:3]), path.read_bytes()
    inner = chance.choices(range(len(data)), k=count - 2)
    for at in (0, len(data) - 1, *inner):
        changed = bytearray(data)
        changed[at] ^= 1 << chance.randrange(8)
        yield bytes(changed)


def cuts(path: Path) -> list[bytes]:
    """What is left of a file that was cut short."""
    data = path.read_bytes()
    return [data[:-1], data[: len(data) * 999 // 1000], data[: len(data) // 2], data[:4], b""]


def told(folder: Path) -> set[str]:
    """What `check --read-data` says is damaged."""
    return {problem.path for problem in verify(folder, "vault", Held(), read_data=True).damaged}


def sorts(names: list[str]) -> list[str]:
    """One file of each sort."""
    return [
        *{name if name.endswith((".db", ".json")) else Path(name).suffix: name for name in names}.values()
    ]

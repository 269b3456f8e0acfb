"""Has anybody but us touched the state folder? A list of its files' sizes and times tells.

In: the state folder. Out: the names of files that are not as we left them. The seal is broken before
a write and made anew after it, both under the index lock; where there is none, a write was cut short.
Beside size and time it keeps a digest of what each file held, for those who read all bytes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from enum import Enum
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from zlib import crc32

from huimem import files
from huimem.errors import Conflict
from huimem.index import digests

CATALOG, WORDS, VECTORS = "catalog.db", "words", "vectors"
EMBEDDINGS, LOCK, SEAL = "embeddings.db", "index.lock", "seal.json"
# Held by whoever brings files in, for as long as that takes; `LOCK` only while a batch is published.
SYNC_LOCK = "sync.lock"
# Held by whoever makes vectors, so that two processes do not make the same ones.
EMBED_LOCK = "embed.lock"
# The cache of vectors is no part of any state of the index: it has a seal of its own, and a lock for whoever
# puts something into it.
EMBEDDINGS_SEAL, EMBEDDINGS_LOCK = "embeddings.seal", "embeddings.lock"
JOURNAL = f"{CATALOG}-wal"
_TRIES = 3
_BEFORE = b', "files": '

# Of each file: its size, its time in nanoseconds since 1970, and its digest; None where nobody knows it.
Entry = list[int | None]
Entries = Mapping[str, Entry]
NONE: Entries = MappingProxyType({})


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


def close(folder: Path, known: Entries = NONE, catalog: int | None = None) -> None:
    """Seal what stands under `folder` now, in place of any other seal.

    `known` are the entries of the seal that was broken, `catalog` is the digest of that file, if known:
    what they do not tell is read. Where others seal it at the same moment it stays open, so that the next
    one looks at everything.
    """
    for _ in range(_TRIES):
        files.remove(folder / SEAL)
        with suppress(Conflict):
            entries = {
                name: [
                    *stamp,
                    catalog if name == CATALOG and catalog else _digest(folder, name, stamp, known),
                ]
                for name, stamp in _present(folder)
            }
            files.create(folder / SEAL, rendered(entries))
            return
    break_open(folder)


def look(folder: Path) -> tuple[Seal, frozenset[str]]:
    """What the seal says, and the names (relative to `folder`) that differ from it."""
    sealed = entries(folder)
    if sealed is None:
        return Seal.OPEN, frozenset()
    present = dict(_present(folder))
    names = sealed.keys() | present.keys()
    odd = frozenset(name for name in names if sealed.get(name, [])[:2] != present.get(name, []))
    if not odd:
        return Seal.WHOLE, odd
    # A writer may have begun between the two looks: it breaks the seal first.
    return (Seal.DAMAGED, odd) if entries(folder) == sealed else (Seal.OPEN, frozenset())


def entries(folder: Path, name: str = SEAL) -> Entries | None:
    """What a seal says of each file; None where there is none, or one of which a bit is not as it was."""
    try:
        return parsed((folder / name).read_bytes())
    except OSError:
        return None


def torn(folder: Path, name: str = SEAL) -> bool:
    """Whether a seal stands there that does not say what was written. One of an older form is none."""
    try:
        data = (folder / name).read_bytes()
    except OSError:
        return False
    return parsed(data) is None and not data.startswith(b'{"catalog.db": [')


@lru_cache(maxsize=2)  # a seal is looked at by each question
def parsed(data: bytes) -> Entries | None:
    """The entries that `rendered` wrote; None for anything else."""
    text = data.partition(_BEFORE)[2][:-1]
    if data != _checked(text):
        return None
    try:
        found = json.loads(text)
        return found if all(len(entry) == 3 for entry in found.values()) else None
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None


def rendered(entries: Entries) -> bytes:
    """Entries with a checksum of their own."""
    return _checked(json.dumps(dict(entries)).encode())


def _checked(text: bytes) -> bytes:
    return b'{"crc": "%08x"%s%s}' % (crc32(text), _BEFORE, text)


def _digest(folder: Path, name: str, stamp: list[int], known: Entries) -> int | None:
    """What a file holds, in a number. Vectors have theirs in the catalog, from before they were written."""
    if name.startswith(f"{VECTORS}/"):
        return None
    before = known.get(name)
    # A file of words keeps its name and its bytes, but for the lists, which may change within one tick.
    if before and before[:2] == stamp and name not in (CATALOG, JOURNAL) and not name.endswith(".json"):
        return before[2]
    make = digests.of_database if name == CATALOG else digests.of_words
    with suppress(OSError):
        return make(folder / name)
    return None


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
    found = stamp(folder, name)
    # A reader may leave an empty journal behind; it holds nothing.
    if found and (found[0] or name != JOURNAL):
        yield name, found


def stamp(folder: Path, name: str) -> list[int] | None:
    """The size and the time of a file, as entries begin; None where there is none."""
    try:
        status = os.lstat(os.path.join(folder, name))  # a path of its own takes longer than the look
    except OSError:
        return None
    return [status.st_size, status.st_mtime_ns]

"""What stands in the index of a vault, told without a question: a question would catch up with the files.

In: the root of a vault. Out: places of words, refs, rows, and whether it equals an index from scratch.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from huimem import upkeep
from huimem.config import load
from huimem.index import tokens
from huimem.index.index import Index, Snapshot
from huimem.providers.table import load_embedder
from huimem.upkeep import times_of
from huimem.vault.vault import Vault
from tests.index.made import ALL, content, places, statistics
from tests.live.places import eventually

STATE = ".huimem"


@contextmanager
def looking(root: Path, state: Path | None = None) -> Iterator[Snapshot]:
    """One fixed state of the index as it stands."""
    index = Index.open(state or root / STATE, None, vault_id=str(root.resolve()))
    with closing(index), index.snapshot() as snapshot:
        yield snapshot


def found_in(snapshot: Snapshot, word: str, below: str = "") -> list[tuple[str, int]]:
    """Path and line of the messages below a folder that hold a word, in order."""
    rows = snapshot.find(tokens.query_terms(word), ALL, 100_000)
    holding = [row for row, text in zip(rows, snapshot.texts(rows.tolist()), strict=True) if word in text]
    found = {(path, line) for path, _, _, line in places(snapshot, holding)}
    return sorted(each for each in found if each[0].startswith(below))


def found(root: Path, word: str, below: str = "") -> list[tuple[str, int]]:
    """Where the index holds a word."""
    with looking(root) as snapshot:
        return found_in(snapshot, word, below)


@dataclass(frozen=True, slots=True)
class Seen:
    """What an index says of the files below a folder: where some words stand, and every record's ref."""

    words: dict[str, list[tuple[str, int]]]
    refs: list[tuple[str, str]]


def seen(root: Path, below: str, *words: str) -> Seen:
    """`Seen` of one state of the index."""
    with looking(root) as snapshot:
        records = snapshot.records([id for (id,) in snapshot.db.execute("SELECT id FROM record")])
        refs = sorted((record.path, record.ref) for record in records if record.path.startswith(below))
        return Seen({word: found_in(snapshot, word, below) for word in words}, refs)


def passages(root: Path, state: Path | None = None, below: str = "") -> dict[int, str]:
    """The passages below a folder by their row numbers, which stay for as long as nothing is indexed anew."""
    with looking(root, state) as snapshot:
        numbers = snapshot.rows(ALL)
        paths = [path for path, *_ in places(snapshot, numbers)]
        texts = snapshot.texts(numbers.tolist())
        listed = zip(numbers.tolist(), paths, texts, strict=True)
        return {row: text for row, path, text in listed if path.startswith(below)}


def has_its_vectors(root: Path) -> None:
    """Wait until every passage has a vector."""
    index = Index.open(root / STATE, load_embedder("hashing"), vault_id=str(root.resolve()))
    with closing(index):
        eventually(lambda: len(index.pending()), 0)


def embedded(root: Path) -> int:
    """How many texts were ever embedded, each kept in the cache, once every passage has its vector."""
    has_its_vectors(root)
    with closing(sqlite3.connect(f"file:{root / STATE / 'embeddings.db'}?mode=ro", uri=True)) as db:
        (count,) = db.execute("SELECT count(*) FROM vector").fetchone()
        return int(count)


Holdings = tuple[list[tuple[object, ...]], dict[str, object]]


def holdings(root: Path) -> Holdings:
    """Every passage with all that is known of it, and the sums that ranking uses."""
    with looking(root) as snapshot:
        return content(snapshot), statistics(snapshot)


def from_scratch(root: Path) -> Holdings:
    """What an index holds that is built from a copy of the vault's files, times kept."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:  # tantivy tidies up in a thread
        copy = Path(name) / "vault"
        shutil.copytree(root, copy, symlinks=True, ignore=shutil.ignore_patterns(STATE, ".git"))
        vault = Vault.open(copy, load(copy))
        times = times_of(vault.config)
        with closing(Index.open(copy / STATE, None, vault_id=str(copy.resolve()), times=times)) as index:
            upkeep.sync(vault, index, vectors=False)
        return holdings(copy)


def difference(root: Path, wanted: Holdings) -> list[tuple[str, object]]:
    """What the index holds too much or too little, and sums that are not right."""
    (held, sums), (should, right) = holdings(root), wanted
    too_much = [("too much", each) for each in held if each not in should]
    too_little = [("too little", each) for each in should if each not in held]
    wrong = [(name, (sums.get(name), right.get(name))) for name in {*sums, *right}]
    return [*too_much, *too_little, *(each for each in wrong if each[1][0] != each[1][1])]


def equals_scratch(root: Path) -> None:
    """Wait until the index holds what one built from scratch does."""
    wanted = from_scratch(root)
    eventually(lambda: difference(root, wanted), [])

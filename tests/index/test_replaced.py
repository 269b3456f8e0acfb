"""Catalogs and lock files that others delete in the middle of our work: nothing wrong, nothing lost."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from huimem import files
from huimem.errors import Locked
from huimem.index import seal, sync
from huimem.index.embedding import said
from huimem.index.index import Index
from huimem.index.seal import CATALOG, LOCK, SEAL, SYNC_LOCK
from huimem.providers.hashing import HashingEmbedder
from huimem.records import Source
from tests.index.made import ALL, EMBEDDER, Files, healed_state, opened, source, turn


def notes(first: int, last: int) -> Files:
    files = Files()
    for n in range(first, last):
        files.put(source(f"{n:02}.md", turn("2026-04-06", f"apple number{n}", session=f"s{n}")))
    return files


class Meanwhile(HashingEmbedder):
    """Embeds, and in the second call something happens."""

    def __init__(self, act: Callable[[], object]) -> None:
        super().__init__("32")
        self._act, self._calls = act, 0

    def embed(self, texts, *, as_query: bool = False):  # type: ignore[no-untyped-def]
        self._calls += 1
        if self._calls == 2:
            self._act()
        return super().embed(texts, as_query=as_query)


def misled(index: Index) -> list[str]:
    """Passages whose vector is that of another text."""
    with index.snapshot() as snapshot:
        rows, view = snapshot.rows(ALL), snapshot.vectors()
        texts = [said(snapshot.db, row) or "" for row in rows.tolist()]
        if view is None:
            return []
        own = zip(texts, rows, EMBEDDER.embed(texts), strict=True)
        return [
            text
            for text, row, vector in own
            if view.places(np.array([row]))[0] >= 0 and snapshot.cosines(vector, np.array([row]))[0] < 0.99
        ]


def replaced(folder: Path, files: Files) -> Index:
    """An index of `files` in a new catalog, whose row numbers begin again."""
    (folder / CATALOG).unlink()
    index = opened(folder)
    files.sync(index)
    return index


def test_no_passage_gets_the_vector_of_another_catalogs_row(tmp_path: Path) -> None:
    folder, others = tmp_path / "state", notes(10, 30)
    index = opened(folder, Meanwhile(lambda: replaced(folder, others)))
    notes(0, 40).sync(index)
    index.embed()
    assert index.counts().sources == 20 and not misled(index)
    assert index.embed().pending == 0 and not misled(index)
    assert healed_state(folder, others) == healed_state(tmp_path / "scratch", others)


def test_vectors_in_memory_are_of_the_catalog_that_they_were_made_for(tmp_path: Path) -> None:
    index = opened(tmp_path / "state")
    notes(0, 5).sync(index)
    with index.holding(EMBEDDER) as held:
        replaced(tmp_path / "state", notes(3, 6))
        with index.snapshot(held.name) as snapshot:
            assert snapshot.vectors() is None and "built anew" in snapshot.warnings[0]


def test_each_catalog_has_an_identity_of_its_own(tmp_path: Path) -> None:
    index, files = opened(tmp_path / "state"), notes(0, 3)
    files.sync(index)
    before = index.identity()
    index.embed()
    with index.snapshot() as snapshot:
        assert snapshot.identity == index.identity() == before != ""
        replaced(tmp_path / "state", files)
        assert snapshot.identity == before != index.identity()
    with index.snapshot() as later:
        assert later.identity == index.identity() != before


@pytest.fixture
def steps() -> Iterator[Callable[[Callable[[str], None] | None], object]]:
    yield files.watch_steps
    files.watch_steps(None)


def test_a_catalog_whose_beginnings_others_delete_is_begun_once_more(
    tmp_path: Path, steps: Callable[[Callable[[str], None] | None], object]
) -> None:
    folder, held = tmp_path / "state", notes(0, 3)
    deleted: list[Path] = []

    def clean(step: str) -> None:
        temps = [*folder.glob(".huimem-*.tmp")] if step == "after folder sync" else []
        if temps and not deleted:
            deleted.extend(temps)
            for temp in temps:
                temp.unlink()

    steps(clean)
    index = opened(folder)
    held.sync(index)
    assert deleted and index.counts().sources == 3


def test_two_that_make_a_catalog_at_once_end_in_one_that_is_whole(
    tmp_path: Path, steps: Callable[[Callable[[str], None] | None], object]
) -> None:
    folder, held, others = tmp_path / "state", notes(0, 3), list[int]()

    def another(step: str) -> None:
        if step == "after folder sync" and not others and [*folder.glob(".huimem-*.tmp")]:
            others.append(0)
            (folder / LOCK).unlink()
            other = opened(folder)
            held.sync(other)
            others[0] = other.counts().sources

    steps(another)
    index = opened(folder)
    held.sync(index)
    assert others == [3] and index.counts().sources == 3
    assert healed_state(folder, held) == healed_state(tmp_path / "scratch", held)


def test_what_a_dead_writer_left_in_the_state_folder_is_swept_and_a_living_ones_is_not(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "state"
    notes(0, 3).sync(opened(folder))
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    dead = [f".huimem-{child.pid}-00ff.tmp{end}" for end in ("", "-wal", "-shm")]
    for name in (*dead, living := f".huimem-{os.getpid()}-00ff.tmp"):
        (folder / name).write_bytes(b"x")
    seal.break_open(folder)  # as whoever was killed had it
    opened(folder)
    assert [path.name for path in folder.glob(".huimem-*")] == [living]


class Once:
    """Reads files; before the n-th one something happens, once."""

    def __init__(self, files: Files, n: int, act: Callable[[], object]) -> None:
        self._files, self._left, self._act = files, n, act

    def __call__(self, path: str) -> Source:
        self._left -= 1
        if self._left == 0:
            self._act()
        return self._files.read(path)


def test_files_of_batches_before_a_new_catalog_are_brought_in_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sync, "MOST_SOURCES", 2)
    folder, files = tmp_path / "state", notes(0, 7)
    index = opened(folder)
    report = index.sync(files.stamps, Once(files, 5, (folder / CATALOG).unlink))
    assert report.missed == 0 and report.pending == 0 and index.counts().sources == 7
    assert healed_state(folder, files) == healed_state(tmp_path / "scratch", files)


def test_what_another_writer_changed_meanwhile_is_looked_at_again(tmp_path: Path) -> None:
    folder, old, new = tmp_path / "state", notes(0, 3), notes(0, 3)
    new.put(source("01.md", turn("2026-04-06", "changed", session="s1")))

    def other() -> None:
        (folder / SYNC_LOCK).unlink()
        old.sync(opened(folder))

    index = opened(folder)
    assert index.sync(new.stamps, Once(new, 3, other)).missed == 0
    assert not index.changes(new.stamps)
    assert healed_state(folder, new) == healed_state(tmp_path / "scratch", new)


def test_an_index_that_is_replaced_at_every_look_is_no_silent_success(tmp_path: Path) -> None:
    folder, files = tmp_path / "state", notes(0, 3)

    def read(path: str) -> Source:
        (folder / CATALOG).unlink(missing_ok=True)
        return files.read(path)

    with pytest.raises(Locked, match="replaced again and again"):
        opened(folder).sync(files.stamps, read)


def test_words_that_are_being_rebuilt_are_searched_one_by_one(tmp_path: Path) -> None:
    index = opened(tmp_path / "state")
    notes(0, 5).sync(index)
    empty = opened(tmp_path / "empty")
    notes(9, 10).sync(empty)
    (tmp_path / "state/words").rename(tmp_path / "old")
    (tmp_path / "empty/words").rename(tmp_path / "state/words")
    with index._readers.snapshot() as snapshot:
        assert len(snapshot.find(["appl"], ALL)) == 5


def test_a_seal_takes_the_place_of_another(tmp_path: Path) -> None:
    notes(0, 1).sync(opened(tmp_path))
    (tmp_path / SEAL).write_text("{}")
    seal.close(tmp_path)
    assert seal.look(tmp_path)[0] is seal.Seal.WHOLE


def test_a_writer_whose_lock_file_was_deleted_leaves_no_seal(tmp_path: Path) -> None:
    index = opened(tmp_path)
    with index._writing(1.0):
        (tmp_path / LOCK).unlink()
    assert not (tmp_path / SEAL).exists()
    index.mend(1.0)
    assert (tmp_path / SEAL).exists()


def test_what_sqlite_says_in_a_snapshot_becomes_an_error_with_a_remedy(tmp_path: Path) -> None:
    index = opened(tmp_path)
    with pytest.raises(Locked, match="changed by another program"), index.snapshot() as snapshot:
        snapshot.db.execute("SELECT * FROM what_is_gone")


AT_WORK = """
import sys, time
from huimem import Memory
memory, me, n = Memory.open(sys.argv[1], embedder="hashing"), sys.argv[2], 0
end = time.monotonic() + 4
while time.monotonic() < end:
    word, n = f"zebra{me}x{n}", n + 1
    memory.record([{"role": "user", "content": f"about {word}"}], session=f"s{me}")
    found = memory.recall(word)
    told = any(word in message.text for hit in found.hits for message in hit.record.messages)
    assert told or not found.freshness.fresh, word
memory.close()
print(n)
"""


@pytest.mark.slow
def test_a_cleaner_that_deletes_lock_files_costs_no_error_and_no_word(tmp_path: Path) -> None:
    root, vault = Path(__file__).parents[2], tmp_path / "vault"
    subprocess.run([sys.executable, "-m", "huimem", "init", str(vault)], cwd=root, check=True)
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", AT_WORK, str(vault), str(n)],
            cwd=root,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for n in range(3)
    ]
    while any(worker.poll() is None for worker in workers):
        time.sleep(0.05)
        for name in (SYNC_LOCK, LOCK):
            (vault / ".huimem" / name).unlink(missing_ok=True)
    said = [worker.communicate() for worker in workers]
    assert [worker.returncode for worker in workers] == [os.EX_OK] * 3, said
    assert all(int(out) > 5 for out, _ in said)

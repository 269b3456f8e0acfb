"""Whatever happens to the state folder: the next sync answers as if nothing had been, and says so."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from huimem.index import catalog, sync, tokens
from huimem.index.index import Index
from huimem.index.vectors import Cache
from huimem.providers.hashing import HashingEmbedder
from tests.cutting import Cut, cut_at
from tests.index.made import ALL, EMBEDDER, Files, edited, healed, opened, source, state, turn, vault


def flip(path: Path, at: float) -> None:
    data = bytearray(path.read_bytes())
    if data:
        data[int((len(data) - 1) * at)] ^= 0x10
    path.write_bytes(bytes(data))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "deleted": lambda path: path.unlink(),
    "emptied": lambda path: path.write_bytes(b""),
    "cut in half": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "one bit near the start": lambda path: flip(path, 0.03),
    "one bit near the end": lambda path: flip(path, 0.9),
    "another file": lambda path: path.write_bytes(b"SQLite format 3\0 and no more" * 9),
}
# Kinds of files in the state folder, and whether their loss costs the index anything to tell of.
KINDS = {
    "catalog.db": True,
    "seal.json": False,
    "embeddings.db": False,
    "index.lock": False,
    "CACHEDIR.TAG": False,
    "words/meta.json": True,
    "words/*.idx": True,
    "words/*.fast": True,
    "words/*.term": True,
    "vectors/*.faiss": True,
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_noticed_and_healed(
    kind: str, pristine: tuple[Path, tuple[object, ...]], tmp_path: Path
) -> None:
    before, answered = pristine
    for name, damage in DAMAGES.items():
        folder = tmp_path / name
        shutil.copytree(before, folder)  # keeps times: an untouched copy is whole
        victim = sorted(folder.glob(kind))[0]
        damage(victim)
        index, warnings = healed(folder, vault())
        assert state(index) == answered, name
        assert not KINDS[kind] or warnings, f"{name} was healed without a word"
        assert not vault().sync(index) and not index.embed().embedded
        index.close()


def test_an_untouched_copy_is_used_as_it_is(
    pristine: tuple[Path, tuple[object, ...]], tmp_path: Path
) -> None:
    before, answered = pristine
    shutil.copytree(before, tmp_path / "copy")
    files = vault()
    index, warnings = healed(tmp_path / "copy", files)
    assert not warnings and not files.reads and state(index) == answered


@pytest.mark.parametrize("lost", ["", "words", "vectors"])
def test_folders_may_vanish_under_an_open_index(
    lost: str, pristine: tuple[Path, tuple[object, ...]], tmp_path: Path
) -> None:
    before, answered = pristine
    folder = tmp_path / "state"
    shutil.copytree(before, folder)
    files = vault()
    index, _ = healed(folder, files)
    state(index)
    shutil.rmtree(folder / lost)
    files.sync(index)
    index.embed()
    assert state(index) == answered


def test_a_reader_of_a_deleted_index_finds_an_empty_one(
    pristine: tuple[Path, tuple[object, ...]], tmp_path: Path
) -> None:
    folder = tmp_path / "state"
    shutil.copytree(pristine[0], folder)
    index = opened(folder)
    shutil.rmtree(folder)
    with index.snapshot() as snapshot:
        assert len(snapshot.rows(ALL)) == len(snapshot.find(["appl"], ALL)) == 0
    assert index.counts().chunks == 0


@pytest.mark.parametrize("lost", ["words", "vectors"])
def test_a_reader_answers_with_what_is_left(
    lost: str, pristine: tuple[Path, tuple[object, ...]], tmp_path: Path
) -> None:
    folder = tmp_path / "state"
    shutil.copytree(pristine[0], folder)
    index = opened(folder)
    shutil.rmtree(folder / lost)
    with index.snapshot() as snapshot:
        assert len(snapshot.find(["appl"], ALL)) == 6
        near, _ = snapshot.nearest(EMBEDDER.embed(["apple"])[0], ALL)
        assert len(near) == (12 if lost == "words" else 0)
        assert snapshot.warnings or lost == "words"


FOREIGN = [
    (lambda db: db.execute("UPDATE meta SET value = '0' WHERE name = 'schema'"), "another version"),
    (lambda db: db.execute("UPDATE meta SET value = '?' WHERE name = 'tokens'"), "other rules"),
    (lambda db: db.execute("UPDATE meta SET value = '?' WHERE name = 'vault'"), "another vault"),
    (lambda db: db.execute("DELETE FROM meta WHERE name = 'vault'"), "damaged"),
]


@pytest.mark.parametrize(("change", "said"), FOREIGN)
def test_an_index_of_another_identity_is_rebuilt(
    change: Callable[[object], object], said: str, pristine: tuple[Path, tuple[object, ...]], tmp_path: Path
) -> None:
    folder = tmp_path / "state"
    shutil.copytree(pristine[0], folder)
    index = opened(folder)
    with index._writing(1.0) as db:
        change(db)
    index.close()
    index, warnings = healed(folder, vault())
    assert said in warnings[0] and state(index) == pristine[1]


def test_other_rules_for_words_rebuild_the_index(
    pristine: tuple[Path, tuple[object, ...]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "state"
    shutil.copytree(pristine[0], folder)
    monkeypatch.setattr(tokens, "IDENTITY", "tomorrow's")
    files = vault()
    assert healed(folder, files)[1] and len(files.reads) == 6


class Counting(HashingEmbedder):
    """Counts what it is asked to embed; a name of its own."""

    def __init__(self, name: str = "counting", size: str = "32") -> None:
        super().__init__(size)
        self.name, self.texts = name, 0

    def embed(self, texts, *, as_query: bool = False):  # type: ignore[no-untyped-def]
        self.texts += len(texts)
        return super().embed(texts, as_query=as_query)


def test_rebuilding_and_coming_back_embeds_nothing(tmp_path: Path) -> None:
    files, embedder = vault(), Counting()
    index = opened(tmp_path / "state", embedder)
    files.sync(index)
    first = index.embed()
    assert (first.embedded, first.cached) == (12, 0)
    spent = embedder.texts
    kept = files.sources["0.md"]
    files.remove("0.md")
    files.sync(index)
    index.embed()
    files.put(kept)
    files.sync(index)
    index.embed()
    index.close()
    (tmp_path / "state/catalog.db").unlink()
    index = opened(tmp_path / "state", embedder)
    files.sync(index)
    assert index.embed().cached == 12 and embedder.texts == spent


def test_vectors_of_two_embedders_are_never_mixed(tmp_path: Path) -> None:
    files = vault()
    index = opened(tmp_path / "state", Counting("one"))
    files.sync(index)
    index.embed()
    index.close()
    other = Counting("two", "64")
    index = opened(tmp_path / "state", other)
    assert "one" in files.sync(index).warnings[0]
    assert index.counts().vectors == 0 and len(index.pending()) == 12
    with index.snapshot() as snapshot:
        assert len(snapshot.find(["appl"], ALL)) == 6
        assert len(snapshot.nearest(other.embed(["apple"])[0], ALL)[0]) == 0
    assert index.embed().embedded == 12
    with index.snapshot() as snapshot:
        assert len(snapshot.nearest(other.embed(["apple"])[0], ALL)[0]) == 12
        assert {row[0] for row in snapshot.db.execute("SELECT DISTINCT dim FROM segment")} == {64}
    index.close()
    back = opened(tmp_path / "state", Counting("one"))
    assert back.embed().cached == 12


VERBS: dict[str, Callable[[Index], object]] = {
    "sync": lambda index: edited().sync(index),
    "embed": lambda index: index.embed(),
    "purge": lambda index: index.purge(),
}


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
def test_cut_off_at_any_step_the_next_run_completes(
    verb: str, pristine: tuple[Path, tuple[object, ...]], edited_state: tuple[object, ...], tmp_path: Path
) -> None:
    before = pristine[0]
    if verb != "sync":
        before = tmp_path / "synced"
        shutil.copytree(pristine[0], before)
        index = opened(before)
        edited().sync(index)
        index.close()
    steps = 0
    while True:
        steps += 1
        folder = tmp_path / f"{steps}"
        shutil.copytree(before, folder)
        finished = cut_off(opened(folder), VERBS[verb], steps)
        index, _ = healed(folder, edited())
        assert state(index) == edited_state
        index.close()
        if finished:
            return


def cut_off(index: Index, run: Callable[[Index], object], step: int) -> bool:
    """Run and end at the n-th step of writing; True where the run had fewer."""
    with closing(index):
        return cut_at(step, lambda: run(index))


def test_words_committed_without_the_catalog_are_never_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, index = vault(), opened(tmp_path / "state")
    files.sync(index)
    publish = sync.Sync._publish_words

    def cut(self: sync.Sync, *rest: object) -> None:
        publish(self, *rest)  # type: ignore[arg-type]
        raise Cut

    monkeypatch.setattr(sync.Sync, "_publish_words", cut)
    files.put(source("0.md", turn("2026-01-06", "replaced", session="s0")))
    with pytest.raises(Cut):
        files.sync(index)
    monkeypatch.undo()
    with opened(index.folder).snapshot() as snapshot:
        assert len(snapshot.find(["replac"], ALL)) == 0 and len(snapshot.find(["appl"], ALL)) == 6
    files.sync(index)
    with index.snapshot() as snapshot:
        assert len(snapshot.find(["replac"], ALL)) == 1 and len(snapshot.find(["appl"], ALL)) == 5


def test_purge_leaves_no_trace_of_what_was_removed(tmp_path: Path) -> None:
    files, index = Files(), opened(tmp_path / "state")
    files.put(source("a.md", turn("2026-04-06", "apple", "secretword-one and more")))
    files.put(source("b.md", turn("2026-04-07", "secretword-two", session="b")))
    files.sync(index)
    index.embed()
    hashes = [hash for (hash,) in catalog.connect(index.folder).execute("SELECT hash FROM chunk")]
    files.put(source("a.md", turn("2026-04-06", "apple")))
    files.remove("b.md")
    files.sync(index)
    index.purge()
    assert not list((index.folder / "vectors").iterdir()) and index.embed().cached == 1
    left = Cache(index.folder, EMBEDDER.name).get(hashes, None)
    assert len(left) == 1 and index.counts().terms == 1 and index.counts().vectors == 1
    for path in index.folder.rglob("*"):
        assert not path.is_file() or b"secretword" not in path.read_bytes(), path


def test_everything_is_for_its_owner_alone_and_marked_as_derived(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        files, index = vault(), opened(tmp_path / "state")
        files.sync(index)
        index.embed()
        modes = {path: stat.S_IMODE(path.lstat().st_mode) for path in index.folder.rglob("*")}
    finally:
        os.umask(before)
    private = {path: mode for path, mode in modes.items() if not path.name.startswith(".tantivy")}
    assert {mode for path, mode in private.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in private.items() if path.is_file()} == {0o600}
    assert (index.folder / ".gitignore").read_text() == "*\n"
    assert (
        (index.folder / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55")
    )

"""Changing the embedder: the old vectors answer until the new ones are whole, and no two are ever mixed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from huimem.errors import ConfigError
from huimem.index import answering, catalog, embedding
from huimem.index.dense import ROW
from huimem.index.embedding import said
from huimem.index.index import Index
from huimem.index.vectors import Cache
from huimem.ports import Embedder
from huimem.providers.hashing import HashingEmbedder
from tests.cutting import cut_at
from tests.index.made import ALL, Files, source, turn

MANY, BATCH = 70, 32  # passages: three batches of the embedder


@pytest.fixture(autouse=True)
def three_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "AT_ONCE", BATCH)


class Tilted(HashingEmbedder):
    """Another model of the same dimension: its vectors are the others', every second place negated."""

    def __init__(self, size: str) -> None:
        super().__init__(size)
        self.name = f"tilted/{size}"

    def embed(self, texts, *, as_query: bool = False):  # type: ignore[no-untyped-def]
        vectors = super().embed(texts)
        if not as_query:  # a mixed-up pair of question and passage gives other cosines
            vectors[:, ::2] *= -1
        return vectors


class Failing(HashingEmbedder):
    """Loads well, and then does not work."""

    def embed(self, texts, *, as_query: bool = False):  # type: ignore[no-untyped-def]
        raise ConfigError("the weights are damaged")


def made(spec: str) -> Embedder:
    name, _, size = spec.partition(":")
    return {"hashing": HashingEmbedder, "tilted": Tilted, "failing": Failing}[name](size)


def chosen(folder: Path, spec: str, load: Callable[[str], Embedder] | None = made) -> Index:
    return Index.open(folder, made(spec), vault_id="vault", spec=spec, load=load)


def notes(count: int, word: str = "apple") -> Files:
    files = Files()
    for n in range(count):
        day = f"2026-{1 + n % 6:02}-{1 + n % 27:02}"
        files.put(source(f"{n:03}.md", turn(day, f"{word} number{n}", session=f"s{n}")))
    return files


def built(folder: Path, spec: str, files: Files) -> Index:
    """An index in which `spec` answers for everything."""
    index = chosen(folder, spec)
    files.sync(index)
    assert index.embed().pending == 0
    return index


def answer(index: Index) -> str | None:
    """The spec that answers a question, every cosine its own; None: by words alone."""
    meaning = index.meaning("apple number3", ALL)
    if meaning is None:
        return None
    spec = meaning.embedder.replace("/", ":").replace("@1", "")
    with index.snapshot(meaning.embedder) as snapshot:
        if snapshot.vectors() is None:
            return None
        rows, cosines = snapshot.nearest(meaning.vector, ALL, 1000)
        assert not snapshot.warnings
        assert sorted(rows.tolist()) == snapshot.rows(ALL).tolist()
        texts = [said(snapshot.db, row) or "" for row in rows.tolist()]
    question = made(spec).embed(["apple number3"], as_query=True)[0]
    assert cosines == pytest.approx(made(spec).embed(texts) @ question, abs=2e-3)
    return spec


def makers(index: Index) -> set[str]:
    """The embedders whose vectors the catalog names."""
    with closing(catalog.connect(index.folder)) as db:
        return {
            name.replace("/", ":").replace("@1", "") for (name,) in db.execute("SELECT embedder FROM segment")
        }


def stray(index: Index) -> set[int]:
    """Rows that stand in a segment and not in the catalog."""
    with closing(catalog.connect(index.folder)) as db:
        rows = {row for (row,) in db.execute("SELECT row FROM chunk")}
        blobs = [blob for (blob,) in db.execute("SELECT rows FROM segment")]
    return {row for blob in blobs for row in np.frombuffer(blob, np.dtype(ROW))["row"].tolist()} - rows


def rounds(index: Index) -> Iterator[None]:
    """One batch after the other until nothing is being built."""
    for _ in range(50):
        if index.building() is None:
            return
        yield
        index.embed(seconds=0)
    raise AssertionError("the switch never came")


PAIRS = [("hashing:32", "hashing:64"), ("hashing:32", "tilted:32"), ("tilted:64", "hashing:64")]


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_the_old_vectors_answer_at_every_step_until_the_new_are_whole(
    old: str, new: str, tmp_path: Path
) -> None:
    built(tmp_path / "state", old, notes(MANY)).close()
    index = chosen(tmp_path / "state", new)
    seen = []
    for _ in rounds(index):
        assert answer(index) == old and index.coverage() == (MANY, MANY)
        seen.append(index.building())
    assert seen == [(new, 0, MANY), (new, 32, MANY), (new, 64, MANY)]
    assert answer(index) == new and makers(index) == {new} and index.coverage() == (MANY, MANY)


def test_who_chose_nothing_new_goes_on_with_what_answers(tmp_path: Path) -> None:
    index = built(tmp_path / "state", "hashing:32", notes(5))
    built(tmp_path / "state", "tilted:32", notes(5)).close()
    assert answer(index) == "tilted:32"


def test_what_is_new_meanwhile_gets_a_vector_of_the_old_first(tmp_path: Path) -> None:
    files = notes(MANY)
    built(tmp_path / "state", "hashing:32", files).close()
    index = chosen(tmp_path / "state", "tilted:32")
    index.embed(seconds=0)
    files.put(source("new.md", turn("2026-07-01", "apple number99", "apple pie", session="new")))
    files.sync(index)
    assert len(index.pending()) == 2 and answer(index) is None
    index.embed(rows=index.pending())
    assert answer(index) == "hashing:32" and index.building() == ("tilted:32", 32, MANY + 2)
    files.put(source("new.md", turn("2026-07-01", "apple number98", session="new")))
    files.sync(index)
    index.embed(seconds=0)
    assert answer(index) == "hashing:32" and not stray(index)
    assert index.embed().pending == 0 and answer(index) == "tilted:32" and not stray(index)


def test_an_old_one_that_was_never_whole_is_not_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huimem.index.embeddings.KEPT_UP", 8)
    index = chosen(tmp_path / "state", "hashing:32")
    notes(MANY).sync(index)
    index.embed(seconds=0)
    new = chosen(tmp_path / "state", "tilted:32")
    report = new.embed()
    assert (report.embedded, report.pending) == (MANY, 0) and answer(new) == "tilted:32"


def refuse(spec: str) -> Embedder:
    raise ConfigError("it is not on this disk")


@pytest.mark.parametrize(
    ("load", "why"),
    [
        (None, "does not say how to load it"),
        (refuse, "it is not on this disk"),
        (lambda spec: made("hashing:64"), "it is another model by now"),
    ],
)
def test_where_the_old_one_cannot_be_loaded_words_answer_and_it_is_said(
    load: Callable[[str], Embedder] | None, why: str, tmp_path: Path
) -> None:
    files = notes(MANY)
    built(tmp_path / "state", "hashing:32", files).close()
    index = chosen(tmp_path / "state", "tilted:32", load)
    (warning,) = files.sync(index).warnings
    assert "made by hashing:32" in warning and why in warning and "those of tilted:32" in warning
    assert answer(index) is None and index.coverage() == (0, MANY)
    for _ in range(3):
        index.embed(seconds=0)
    assert answer(index) == "tilted:32" and makers(index) == {"tilted:32"} and not files.sync(index).warnings


def test_an_old_one_that_fails_when_it_is_asked_is_given_up(tmp_path: Path) -> None:
    files = notes(5)
    built(tmp_path / "state", "hashing:32", files).close()
    index = chosen(tmp_path / "state", "tilted:32", lambda spec: Failing("32"))
    assert answer(index) is None
    assert "the weights are damaged" in files.sync(index).warnings[0]
    index.embed()
    assert answer(index) == "tilted:32"


def test_an_index_from_before_embedders_were_named_answers_with_what_it_has(tmp_path: Path) -> None:
    index = built(tmp_path / "state", "hashing:32", notes(5))
    with index._writing(1.0) as db:
        db.execute("DELETE FROM meta WHERE name LIKE 'answering%'")
    index.close()
    assert answer(chosen(tmp_path / "state", "tilted:32")) is None
    index = chosen(tmp_path / "state", "hashing:32")
    assert answer(index) == "hashing:32"
    index.embed()
    assert answer(chosen(tmp_path / "state", "tilted:32")) == "hashing:32"


def test_two_that_chose_differently_take_turns_and_never_mix(tmp_path: Path) -> None:
    one = built(tmp_path / "state", "hashing:32", notes(5))
    other = chosen(tmp_path / "state", "tilted:32")
    for _ in range(3):
        assert other.embed().pending == 0 and answer(one) == answer(other) == "tilted:32"
        assert one.embed().pending == 0 and answer(one) == answer(other) == "hashing:32"
    assert one.embed().cached + one.embed().embedded == 0


def test_one_that_was_replaced_takes_the_turn_back_only_in_a_whole_round(tmp_path: Path) -> None:
    one = built(tmp_path / "state", "hashing:32", notes(5))
    built(tmp_path / "state", "tilted:32", notes(5)).close()
    report = one.embed(seconds=60)
    assert (report.cached, report.embedded, report.pending) == (0, 0, 0)
    assert one.building() is None and answer(one) == "tilted:32"
    one.embed()
    assert answer(one) == "hashing:32"


def test_programs_of_different_settings_do_not_rewrite_everything_by_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    specs = ("hashing:32", "tilted:32")
    built(tmp_path / "state", specs[0], notes(5)).close()
    for spec in (*reversed(specs), *specs):  # the first switch is made, and then there is peace for an hour
        with closing(chosen(tmp_path / "state", spec)) as index:
            index.embed(seconds=60)
            assert answer(index) == "tilted:32"
    monkeypatch.setattr(answering, "SETTLING", 0)
    chosen(tmp_path / "state", "hashing:32").embed(seconds=60)
    assert answer(chosen(tmp_path / "state", "hashing:32")) == "hashing:32"


def test_what_was_begun_goes_when_the_old_choice_is_kept(tmp_path: Path) -> None:
    one = built(tmp_path / "state", "hashing:32", notes(MANY))
    chosen(tmp_path / "state", "tilted:32").embed(seconds=0)
    one.embed(seconds=60)
    assert makers(one) == {"hashing:32", "tilted:32"} and answer(one) == "hashing:32"
    one.embed()
    assert makers(one) == {"hashing:32"} and answer(one) == "hashing:32"


def test_without_an_embedder_the_vectors_stay_but_not_those_of_what_is_gone(tmp_path: Path) -> None:
    files = notes(5)
    built(tmp_path / "state", "hashing:32", files).close()
    index = Index.open(tmp_path / "state", None, vault_id="vault", spec="none", load=made)
    files.remove("003.md")
    files.sync(index)
    assert index.answers() is None and index.meaning("apple", ALL) is None and index.embed().pending == 0
    index.purge()
    assert makers(index) == {"hashing:32"} and not stray(index)
    assert answer(chosen(tmp_path / "state", "hashing:32")) == "hashing:32"


def test_purge_keeps_the_cache_of_both_while_one_is_being_built(tmp_path: Path) -> None:
    built(tmp_path / "state", "hashing:32", notes(MANY)).close()
    index = chosen(tmp_path / "state", "tilted:32")
    index.embed(seconds=0)
    with closing(catalog.connect(index.folder)) as db:
        hashes = [hash for (hash,) in db.execute("SELECT hash FROM chunk")]
    index.purge()
    kept = [
        len(Cache(index.folder, made(spec).name).get(hashes, None)) for spec in ("hashing:32", "tilted:32")
    ]
    assert kept == [MANY, 32]


def test_each_embedder_has_its_own_scale(tmp_path: Path) -> None:
    index = built(tmp_path / "state", "hashing:32", notes(5))
    ours = index.meaning("apple", ALL)
    assert ours is not None and ours.scale == index.scale(made("hashing:32")) != index.scale(
        made("tilted:32")
    )


def cut_off(index: Index, step: int) -> bool:
    """Embed and end at the n-th step of writing; True where there were fewer."""
    with closing(index):
        return cut_at(step, index.embed)


@pytest.mark.slow
def test_cut_off_at_any_step_of_a_switch_one_of_the_two_answers_whole(tmp_path: Path) -> None:
    built(tmp_path / "before", "hashing:32", notes(2)).close()
    for step in range(1, 200):
        folder = tmp_path / f"{step}"
        shutil.copytree(tmp_path / "before", folder)
        finished = cut_off(chosen(folder, "tilted:32"), step)
        for spec in ("hashing:32", "tilted:32"):
            with closing(chosen(folder, spec)) as index:
                assert answer(index) in ("hashing:32", "tilted:32")
        index = chosen(folder, "tilted:32")
        assert index.embed().pending == 0 and answer(index) == "tilted:32" and makers(index) == {"tilted:32"}
        index.close()
        if finished:
            assert step > 10
            return


def test_vectors_held_for_a_comparison_disturb_nothing_and_are_never_swept(tmp_path: Path) -> None:
    files = notes(MANY)
    index = built(tmp_path / "state", "hashing:32", files)
    other = made("tilted:32")
    question = other.embed(["apple number3"], as_query=True)[0]
    with index.holding(other) as held:
        assert (held.passages, held.made, held.dim) == (MANY, MANY, 32)
        files.put(source("000.md", turn("2026-01-01", "apple changed", session="s0")))
        beside = chosen(tmp_path / "state", "hashing:32")
        files.sync(beside)
        beside.embed()
        assert answer(index) == "hashing:32" and makers(index) == {"hashing:32"}
        with index.snapshot(held.name) as snapshot:
            rows, cosines = snapshot.nearest(question, ALL, 1000)
            still = {
                said(snapshot.db, row): cosine for row, cosine in zip(rows.tolist(), cosines, strict=True)
            }
    still.pop(None, None)  # a passage that is gone by now has no text
    assert len(still) == MANY - 1
    assert [*still.values()] == pytest.approx(other.embed([*still]) @ question, abs=2e-3)
    assert chosen(tmp_path / "state", "tilted:32").embed().cached == MANY - 1


SWITCHING = """
import sys
from pathlib import Path
from tests.index.test_embedders import chosen
folder = Path(sys.argv[1])
print("ready", flush=True)
for n in range(int(sys.argv[2])):
    index = chosen(folder, ("tilted:32", "hashing:32")[n % 2])
    assert index.embed().pending == 0
    index.close()
"""


@pytest.mark.slow
def test_a_reader_never_errs_and_never_mixes_while_another_process_switches(tmp_path: Path) -> None:
    index = built(tmp_path / "state", "hashing:32", notes(30))
    command = [sys.executable, "-c", SWITCHING, str(tmp_path / "state"), "60"]
    seen: list[str | None] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]) as process:
        assert process.stdout is not None
        process.stdout.readline()
        while process.poll() is None:
            seen.append(answer(index))
    assert process.returncode == 0
    assert {"hashing:32", "tilted:32"} <= {*seen} and seen.count(None) <= len(seen) // 5

"""Sync: what is read, what keeps its rows, what the report says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from huimem.errors import Locked
from huimem.files import lock
from huimem.index.index import Index
from huimem.index.sync import Listing
from huimem.records import Message, Source
from tests.index.made import ALL, Files, content, opened, source, state, statistics, texts, turn


@pytest.fixture
def index(tmp_path: Path) -> Index:
    return opened(tmp_path / "state")


@pytest.fixture
def vault() -> Files:
    files = Files()
    files.put(source("a.md", turn("2026-04-06 09:00", "which index", "faiss"), turn("2026-04-07", "peanuts")))
    files.put(source("b.md", turn("2026-05-01", "讨论 faiss 索引", session="b")))
    return files


def done(report: object) -> tuple[int, int, int, int]:
    return report.added, report.changed, report.removed, report.unchanged  # type: ignore[attr-defined]


def rows(index: Index) -> dict[str, int]:
    with index.snapshot() as snapshot:
        return {snapshot.chunk(row).text: row for row in snapshot.rows(ALL).tolist()}


def find(index: Index, word: str) -> set[str]:
    with index.snapshot() as snapshot:
        return texts(snapshot, snapshot.find([word], ALL))


def test_the_second_sync_reads_and_changes_nothing(index: Index, vault: Files) -> None:
    assert done(vault.sync(index)) == (2, 0, 0, 0)
    second = vault.sync(index)
    assert not second and not vault.reads and done(second) == (0, 0, 0, 2)


def test_a_new_stamp_with_old_bytes_keeps_every_row(index: Index, vault: Files) -> None:
    vault.sync(index)
    before = rows(index)
    vault.touch("a.md")
    assert done(vault.sync(index)) == (0, 0, 0, 2) and vault.reads == ["a.md"]
    assert rows(index) == before
    vault.sync(index)
    assert not vault.reads


def test_only_the_edited_record_gets_new_rows(index: Index, vault: Files) -> None:
    vault.sync(index)
    before = rows(index)
    vault.put(source("a.md", turn("2026-04-06 09:00", "which index", "faiss"), turn("2026-04-07", "walnuts")))
    assert done(vault.sync(index)) == (0, 1, 0, 1)
    after = rows(index)
    assert after["which index"] == before["which index"] and "peanuts" not in after
    assert after["walnuts"] not in before.values()
    assert find(index, "peanut") == set() and find(index, "walnut") == {"walnuts"}


def test_text_that_moved_down_keeps_its_rows_and_shows_its_new_line(index: Index, vault: Files) -> None:
    vault.sync(index)
    before = rows(index)
    first = turn("2026-04-05", "breakfast")
    later = (
        turn("2026-04-06 09:00", "which index", "faiss", line=5),
        turn("2026-04-07", "peanuts", line=13),
    )
    vault.put(source("a.md", first, *later))
    vault.sync(index)
    after = rows(index)
    assert {text: after[text] for text in before} == before
    with index.snapshot() as snapshot:
        assert snapshot.chunk(after["peanuts"]).lines == (15, 15)
        beside, _ = snapshot.beside(int(snapshot.passages(np.array([after["peanuts"]])).record[0]), 5)
        assert len(beside) == 2


def test_a_moved_file_keeps_rows_and_vectors(index: Index, vault: Files) -> None:
    vault.sync(index)
    index.embed()
    before = rows(index)
    moved = replace(vault.sources["a.md"], path="deep/a.md")
    vault.remove("a.md")
    vault.put(moved)
    assert done(vault.sync(index)) == (0, 1, 0, 1)
    assert rows(index) == before and index.counts().vectors == len(before)
    with index.snapshot() as snapshot:
        paths = {record.path for record in snapshot.records(range(1, 9))}
    assert paths == {"deep/a.md", "b.md"}


def test_gone_files_are_gone_from_rows_words_and_sums(index: Index, vault: Files, tmp_path: Path) -> None:
    vault.sync(index)
    vault.remove("b.md")
    assert done(vault.sync(index)) == (0, 0, 1, 1)
    fresh = opened(tmp_path / "fresh")
    vault.sync(fresh)
    assert find(index, "faiss") == {"faiss"}
    with index.snapshot() as left, fresh.snapshot() as right:
        assert content(left) == content(right) and statistics(left) == statistics(right)


ONLY = [
    # only, files then indexed
    (["a.md"], {"a.md"}),
    (["x"], {"x/c.md"}),
    (["x/", "b.md"], {"x/c.md", "b.md"}),
    (["."], {"a.md", "b.md", "x/c.md"}),
    (["a"], set()),
]


@pytest.mark.parametrize(("only", "indexed"), ONLY)
def test_only_names_files_or_folders(index: Index, vault: Files, only: list[str], indexed: set[str]) -> None:
    vault.put(source("x/c.md", turn("2026-06-01", "tea", session="c")))
    vault.sync(index, only=only)
    with index.snapshot() as snapshot:
        assert {place[0][0] for place in content(snapshot)} == indexed  # type: ignore[index]


def test_only_never_removes_others(index: Index, vault: Files) -> None:
    vault.sync(index)
    vault.remove("b.md")
    assert not vault.sync(index, only=["a.md"])
    assert find(index, "索引") == {"讨论 faiss 索引"}
    assert vault.sync(index, only=["b.md"]).removed == 1


def test_what_lies_under_an_unreadable_folder_is_not_deleted(index: Index, vault: Files) -> None:
    vault.put(source("x/c.md", turn("2026-06-01", "tea", session="c")))
    vault.sync(index)
    vault.remove("x/c.md")
    assert not vault.sync(index, unreadable=["x"])
    assert find(index, "tea") == {"tea"}
    assert vault.sync(index).removed == 1


def test_an_unreadable_file_keeps_its_rows_and_gets_a_problem(index: Index, vault: Files) -> None:
    vault.sync(index)
    vault.touch("a.md")
    vault.broken.add("a.md")
    for _ in range(2):  # it is tried again each time
        report = vault.sync(index)
        assert vault.reads == ["a.md"] and not report
        assert [problem.path for problem in report.problems] == ["a.md"] == [p.path for p in index.problems()]
    assert find(index, "peanut") == {"peanuts"}
    vault.broken.clear()
    assert not vault.sync(index).problems and not index.problems()
    vault.sync(index)
    assert not vault.reads


def test_a_new_file_that_cannot_be_read_is_named_until_it_can(index: Index, vault: Files) -> None:
    vault.broken.add("b.md")
    vault.sync(index)
    assert [problem.path for problem in index.problems()] == ["b.md"] and index.counts().sources == 1
    vault.broken.clear()
    vault.sync(index)
    assert not index.problems() and find(index, "索引") and index.counts().sources == 2


def test_problems_of_a_file_last_as_long_as_the_file_has_them(index: Index, vault: Files) -> None:
    from huimem.errors import Problem

    bad = Problem("a.md", 3, "no such time", "write 09:14:23")
    vault.put(replace(vault.sources["a.md"], digest="1", problems=(bad,)))
    assert vault.sync(index).problems == (bad,) == index.problems()
    vault.put(replace(vault.sources["a.md"], digest="2", problems=()))
    vault.sync(index)
    assert index.problems() == ()


def test_a_name_that_is_not_utf8_is_reported_and_others_go_on(index: Index, vault: Files) -> None:
    vault.put(source("bad\udcff.md", turn("2026-06-01", "tea")))
    report = vault.sync(index)
    assert report.added == 2 and "UTF-8" in report.problems[0].message


def test_lone_surrogates_in_text_cost_nothing_but_themselves(index: Index) -> None:
    files = Files()
    files.put(source("a.md", turn("2026-06-01", "green \udcff tea")))
    files.sync(index)
    assert find(index, "tea") == {"green ? tea"}


def test_a_file_changed_within_the_clocks_grain_is_read_again(
    index: Index, vault: Files, tmp_path: Path
) -> None:
    from huimem import files as disk

    path = tmp_path / "a.md"
    path.write_text("x")
    vault.remove("b.md")
    vault.stamps["a.md"] = str(disk.stamp(path))
    vault.sync(index)
    same = vault.stamps["a.md"]
    vault.put(source("a.md", turn("2026-04-06", "cashews")))
    vault.stamps["a.md"] = same
    assert vault.sync(index).changed == 1 and find(index, "cashew")


def test_full_reads_every_file(index: Index, vault: Files) -> None:
    vault.sync(index)
    before = dict(vault.stamps)
    vault.put(source("a.md", turn("2026-04-06", "cashews")))
    vault.stamps = before
    assert not vault.sync(index)
    assert vault.sync(index, full=True).changed == 1 and vault.reads == ["a.md", "b.md"]


def test_changed_tags_reach_the_filters(index: Index, vault: Files) -> None:
    from huimem.index.filters import Filter

    vault.sync(index)
    vault.put(source("b.md", *vault.sources["b.md"].records, tags=["stocks"]))
    vault.sync(index)
    with index.snapshot() as snapshot:
        assert texts(snapshot, snapshot.find(["faiss"], Filter(tags=("stocks",)))) == {"讨论 faiss 索引"}


def test_speakers_of_a_chat_between_people_are_found_by_name(index: Index) -> None:
    said = Message("person", "I adopted a cat.", turn("2026-06-01", "x").at, "Caroline", 1, 3)
    files = Files()
    files.put(source("p.md", replace(turn("2026-06-01", "x"), messages=(said,))))
    files.sync(index)
    assert find(index, "carolin") == {"I adopted a cat."} == find(index, "cat")


def test_comments_and_block_ids_are_not_indexed_and_the_passage_is_shown_as_written(index: Index) -> None:
    files = Files()
    written = "I trade <!-- hidden words --> on Wednesdays. ^trade-rule"
    files.put(source("a.md", turn("2026-06-01", written)))
    files.sync(index)
    assert find(index, "trade") == {"I trade <!-- hidden words --> on Wednesdays."}
    assert find(index, "hidden") == find(index, "trade-rule") == set()


def test_another_writer_is_named_and_nothing_is_taken_in_meanwhile(index: Index, vault: Files) -> None:
    for name in ("index.lock", "sync.lock"):
        with lock(index.folder / name), pytest.raises(Locked, match="process"):
            vault.sync(index, wait=0.05)
    assert len(index.changes(vault.stamps).new) == 2
    assert vault.sync(index).added == 2


def test_the_same_listing_is_compared_again_once_the_index_is_another(index: Index, vault: Files) -> None:
    listed = dict(vault.stamps)
    assert len(index.changes(listed).new) == 2
    vault.sync(index)
    assert not index.changes(listed) and index.changes(listed).unchanged == 2
    opened(index.folder).sync({}, vault.read)
    assert len(index.changes(listed).new) == 2
    vault.sync(index)
    assert not index.changes(listed)
    assert len(index.changes(listed, full=True).doubtful) == 2
    assert index.changes(listed, only={"nowhere.md"}).unchanged == 0


def test_a_source_that_another_writer_changed_meanwhile_is_left_to_the_next_sync(
    index: Index, vault: Files
) -> None:
    vault.sync(index)
    other = opened(index.folder)

    def read(path: str) -> Source:
        stale = vault.sources[path]
        (index.folder / "sync.lock").unlink()  # somebody cleans up while we work
        vault.put(source("a.md", turn("2026-04-06", "newest")))
        vault.sync(other)
        return stale

    vault.put(source("a.md", turn("2026-04-06", "older")))
    index.sync(dict(vault.stamps), read, only=["a.md"])
    assert find(index, "newest") and not find(index, "older")


def test_a_file_that_is_gone_for_a_moment_keeps_its_rows(index: Index, vault: Files) -> None:
    """A1, A18: a listing that was made between the two halves of a save is not the last word."""
    vault.sync(index)
    before = state(index)
    without = {path: stamp for path, stamp in vault.stamps.items() if path != "a.md"}
    report = index.sync(without, vault.read, again=lambda: Listing(vault.stamps))
    assert not report and state(index) == before


def test_progress_ends_at_the_number_of_files(index: Index, vault: Files) -> None:
    steps: list[tuple[int, int]] = []
    vault.sync(index, progress=lambda done, total: steps.append((done, total)))
    assert steps[-1] == (2, 2)


def test_a_sync_that_is_stopped_publishes_what_is_ready_and_leaves_the_rest(tmp_path: Path) -> None:
    files, index = Files(), opened(tmp_path)
    files.put(source("gone.md", turn("2026-04-06", "pear", session="gone")))
    files.sync(index)
    files.remove("gone.md")
    for n in range(5):
        files.put(source(f"{n}.md", turn("2026-04-06", f"apple number{n}", session=f"s{n}")))
    report = files.sync(index, stop=lambda: len(files.reads) == 2)
    assert (report.added, report.removed, report.pending, index.counts().sources) == (2, 0, 3, 3)
    report = files.sync(index)
    assert (report.added, report.removed, report.pending, index.counts().sources) == (3, 1, 0, 5)

"""Files that are not in the index yet, read into memory and searched beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from huimem.index.index import Index
from huimem.index.overlay import Overlay
from huimem.index.sync import Listing
from huimem.locks import lock
from tests.index.made import ALL, Files, content, opened, source, statistics, turn, vault


@pytest.fixture
def index(tmp_path: Path) -> Index:
    """An index in step with the small vault."""
    index = opened(tmp_path / "state", None)
    vault().sync(index)
    return index


def beside(index: Index, files: Files, seconds: float = 5.0) -> Overlay:
    return index.beside(lambda: Listing(files.stamps), files.read, seconds=seconds)


def paths(overlay: Overlay) -> set[str]:
    if overlay.snapshot is None:
        return set()
    with overlay.snapshot as snapshot:
        return {path for (path,) in snapshot.db.execute("SELECT path FROM source")}


def edit(files: Files) -> None:
    files.put(source("5.md", turn("2026-06-06", "edited", session="s5")))


def add(files: Files) -> None:
    files.put(source("6.md", turn("2026-06-07", "new", session="s6")))


def move(files: Files) -> None:
    moved = files.sources["0.md"]
    files.remove("0.md")
    files.put(source("elsewhere/0.md", *moved.records))


# What becomes of the vault: what the overlay holds, and what it hides in the index.
CHANGES = {
    "nothing": (lambda files: None, set(), set()),
    "touched": (lambda files: files.touch("1.md"), set(), set()),
    "added": (add, {"6.md"}, {"6.md"}),
    "edited": (edit, {"5.md"}, {"5.md"}),
    "deleted": (lambda files: files.remove("3.md"), set(), {"3.md"}),
    "moved": (move, {"elsewhere/0.md"}, {"0.md", "elsewhere/0.md"}),
    "unreadable": (lambda files: (edit(files), files.broken.add("5.md")), set(), set()),
}


@pytest.mark.parametrize("case", CHANGES)
def test_it_holds_what_the_index_lacks_and_hides_what_no_longer_stands(case: str, index: Index) -> None:
    change, held, hidden = CHANGES[case]
    files = vault()
    change(files)
    found = beside(index, files)
    assert (paths(found), {path for path, _ in found.hidden}, found.left) == (held, hidden, 0)


def test_of_a_session_that_grew_only_its_end_is_read_in(index: Index) -> None:
    files = vault()
    first = files.sources["5.md"].records
    later = turn("2026-06-07", "much later", session="s5", line=20)
    files.put(source("5.md", *first, later))
    found = beside(index, files)
    with found.snapshot as snapshot:
        assert found.hidden == {("5.md", 1)}
        assert [record.ref for record in snapshot.records([1, 2])] == [str(later.ref)]
        assert snapshot.records([1, 2])[0].line == 20


def test_where_lines_moved_all_that_follows_is_read_anew(index: Index) -> None:
    files = vault()
    (moved,) = vault().sources["5.md"].records
    lower = turn("2026-06-06", *(message.text for message in moved.messages), session="s5", line=9)
    files.put(source("5.md", lower))
    found = beside(index, files)
    with found.snapshot as snapshot:
        assert snapshot.chunk(1).lines[0] == 11 and found.hidden == {("5.md", 0)}


def test_it_knows_of_a_file_all_that_an_index_would(index: Index, tmp_path: Path) -> None:
    files, alone = vault(), Files()
    for each in (files, alone):
        add(each)
    fresh = opened(tmp_path / "fresh", None)
    alone.sync(fresh)
    with beside(index, files).snapshot as overlay, fresh.snapshot() as whole:
        assert content(overlay) == content(whole)
        assert statistics(overlay) == statistics(whole)
        assert overlay.find(["new"], ALL).tolist() == [1]


def test_the_newest_file_comes_first_and_what_there_is_no_time_for_is_counted(index: Index) -> None:
    files = vault()
    for number, name in enumerate(("old", "newest", "older")):
        files.put(source(f"{name}.md", turn("2026-06-06", name, session=name)))
        when = (10, 30, 20)[number]
        files.stamps[f"{name}.md"] = f"1.{number}.5.{when:x}.{when:x}"
    found = beside(index, files, seconds=0)
    assert (paths(found), found.left) == ({"newest.md"}, 2)


def test_nothing_is_locked_and_nothing_written(index: Index) -> None:
    before = {path: path.stat().st_mtime_ns for path in index.folder.rglob("*") if path.is_file()}
    files = vault()
    edit(files)
    with lock(index.folder / "index.lock"), lock(index.folder / "sync.lock"):
        beside(index, files).snapshot.db.close()
    after = {path: path.stat().st_mtime_ns for path in index.folder.rglob("*") if path.is_file()}
    assert {path.name for path in after if after[path] != before.get(path)} <= {"sync.lock", "index.lock"}


def test_a_vault_without_an_index_is_read_from_nothing(tmp_path: Path) -> None:
    empty = opened(tmp_path / "state", None)
    found = beside(empty, vault())
    with found.snapshot as snapshot:
        assert len(snapshot.find(["pear"], ALL)) == 6
        assert snapshot.records([1])[0].at_ms is not None

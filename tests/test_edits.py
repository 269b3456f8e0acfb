"""An edit made in any program is in the next answer, without a watcher: old words are gone, new ones found.

Each edit turns a note that speaks of a tangerine into one, of the same length, that speaks of a zucchini.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest

from huimem import Memory, overview
from huimem.surfaces.cli.main import run

OLD, NEW = b"tangerine", b"zucchini!"
NOTE = "# Kitchen\n\nThe tangerine is in the bowl.\n"


def in_place(path: Path) -> None:
    """The same inode, one write."""
    with open(path, "r+b") as file:
        text = file.read()
        file.seek(text.index(OLD))
        file.write(NEW)


def by_rename(path: Path) -> None:
    """A new file moved over the old one, as most editors save."""
    beside = path.with_name("4913")
    beside.write_bytes(path.read_bytes().replace(OLD, NEW))
    os.replace(beside, path)


def deleted_and_written(path: Path) -> None:
    text = path.read_bytes()
    path.unlink()
    path.write_bytes(text.replace(OLD, NEW))


def by_sed(path: Path) -> None:
    program = shutil.which("sed")
    if program is None:
        pytest.skip("this system has no sed")
    subprocess.run([program, "-i.orig", "s/tangerine/zucchini!/", str(path)], check=True)
    path.with_name(f"{path.name}.orig").unlink()


def with_its_old_times(edit: Callable[[Path], None]) -> Callable[[Path], None]:
    """The edit, after which the file has its old size and the times that it had before."""

    def edited(path: Path) -> None:
        before = path.stat()
        edit(path)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)

    return edited


def swapped(path: Path) -> None:
    """Two notes exchange their names."""
    other = path.with_name("other.md")
    other.write_bytes(path.read_bytes().replace(OLD, NEW))
    path.rename(path.with_name("aside.md"))
    other.rename(path)
    path.with_name("aside.md").unlink()


EDITS = {
    "in place": in_place,
    "in place, times put back": with_its_old_times(in_place),
    "renamed over": by_rename,
    "renamed over, times put back": with_its_old_times(by_rename),
    "deleted and written again": deleted_and_written,
    "deleted and written again, times put back": with_its_old_times(deleted_and_written),
    "sed -i": by_sed,
    "swapped": swapped,
}


@pytest.fixture
def note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only note of a vault, indexed."""
    (tmp_path / "note.md").write_text(NOTE, encoding="utf-8")
    monkeypatch.setenv("HUIMEM_EMBEDDER", "hashing")
    monkeypatch.setenv("HUIMEM_VAULT", str(tmp_path))
    assert run(["sync", "-q"]) == 0
    return tmp_path / "note.md"


@pytest.fixture
def memory(note: Path) -> Iterator[Memory]:
    """A memory that was opened before the edit and stays open."""
    with Memory.open(note.parent) as memory:
        assert found(memory, "tangerine") == [("note.md", 3)]
        yield memory


def found(memory: Memory, question: str) -> list[tuple[str, int]]:
    """Where the hits are that hold the question's own words."""
    hits = memory.recall(question, limit=20).hits
    return [(hit.path, hit.line) for hit in hits if question in hit.evidence]


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_the_next_answer_knows_the_edit(edit: Callable[[Path], None], note: Path, memory: Memory) -> None:
    edit(note)
    assert found(memory, "tangerine") == []
    assert found(memory, "zucchini") == [("note.md", 3)]
    memory.linger(10)
    answer = memory.recall("zucchini")
    assert answer.freshness.fresh and answer.freshness.engine == "words+meaning"


@pytest.mark.slow
@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_another_process_knows_it_too(
    edit: Callable[[Path], None], note: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(note)
    assert run(["recall", "zucchini", "--json"]) == 0
    assert run(["list"]) == 0
    said = capsys.readouterr()
    assert "zucchini" in said.out and "tangerine" not in said.out + said.err


def test_a_moved_note_is_found_at_its_new_place_and_keeps_its_vectors(note: Path, memory: Memory) -> None:
    (note.parent / "deeper").mkdir()
    note.rename(note.parent / "deeper/moved.md")
    assert found(memory, "tangerine") == [("deeper/moved.md", 3)]
    done = memory.sync().embedded
    assert done and (done.embedded, done.pending) == (0, 0)


def test_a_deleted_note_is_gone_and_a_new_one_is_there(note: Path, memory: Memory) -> None:
    note.unlink()
    (note.parent / "new.md").write_text("A fresh zucchini.", encoding="utf-8")
    assert found(memory, "tangerine") == []
    assert found(memory, "zucchini") == [("new.md", 1)]


def test_lines_put_above_move_the_line_of_a_hit(note: Path, memory: Memory) -> None:
    note.write_text(NOTE.replace("\n\n", "\n\n\n\n"), encoding="utf-8")
    assert found(memory, "tangerine") == [("note.md", 5)]


def test_a_new_title_is_what_hits_print(note: Path, memory: Memory) -> None:
    in_place(note)
    note.write_bytes(note.read_bytes().replace(b"# Kitchen", b"# Larder"))
    assert [hit.title for hit in memory.recall("zucchini").hits] == ["Larder"]


def test_edits_in_quick_succession_are_all_seen(note: Path, memory: Memory) -> None:
    """Same inode, same size, same times: only a second look at the bytes can tell."""
    before = note.stat()
    for number in range(100, 112):
        with open(note, "r+b") as file:
            file.write(f"# Kitchen\n\nwalnut{number} ".encode())
        os.utime(note, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert found(memory, f"walnut{number}") == [("note.md", 3)]
        assert found(memory, f"walnut{number - 1}") == []


def test_a_note_without_a_date_has_that_of_its_file_also_when_only_that_changes(note: Path) -> None:
    with Memory.open(note.parent) as memory:
        for year in (2001, 2011):
            at = datetime(year, 5, 6, tzinfo=memory.zone)
            os.utime(note, (at.timestamp(), at.timestamp()))
            (listed,) = overview.listed(memory)
            assert (listed.at, listed.inferred) == (at, True)

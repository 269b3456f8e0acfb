"""Notes and folders that move, go, come back and are copied: the index follows by itself.

A watcher runs, and nobody asks a question: what is told here, the watcher did.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.live.desk import Desk
from tests.live.editors import LINE, NOTE, OLD, OTHER_LINE
from tests.live.indexed import Seen, embedded, equals_scratch, found, passages, seen
from tests.live.places import carried_out, huimem, standing

pytestmark = pytest.mark.slow


def test_a_deleted_note_is_gone(desk: Desk) -> None:
    folder = desk.folder()
    desk.lay(f"{folder}n.md").unlink()
    desk.knows(OLD, below=folder)


def test_a_note_deleted_and_written_at_once_keeps_its_rows(desk: Desk) -> None:
    """The file system may even give the new file the old inode."""
    folder = desk.folder()
    note = desk.lay(f"{folder}n.md")
    before = passages(desk.root, below=folder)
    for _ in range(20):
        note.unlink()
        note.write_text(NOTE, encoding="utf-8")
    desk.has_looked()
    assert passages(desk.root, below=folder) == before


def renamed(folder: Path) -> str:
    folder.rename(folder.with_name(f"{folder.name}-renamed"))
    return f"{folder.name}-renamed/"


def moved_down(folder: Path) -> str:
    target = folder.parent / f"{folder.name}-above/deep"
    target.mkdir(parents=True)
    folder.rename(target / "moved")
    return f"{folder.name}-above/deep/moved/"


@pytest.mark.parametrize("move", [renamed, moved_down])
def test_a_folder_that_moves_takes_its_notes_along(move: Callable[[Path], str], desk: Desk) -> None:
    folder = desk.folder()
    desk.lay(f"{folder}n.md")
    desk.lay(f"{folder}deeper/n.md")
    count = embedded(desk.root)
    place = move(desk.root / folder[:-1])
    desk.knows(OLD, (f"{place}deeper/n.md", LINE), (f"{place}n.md", LINE), below=place)
    desk.knows(OLD, below=folder)
    assert embedded(desk.root) == count
    (desk.root / place / "deeper/n.md").write_text(NOTE.replace(OLD, "walnut"), encoding="utf-8")
    desk.knows("walnut", (f"{place}deeper/n.md", LINE), below=place)


def test_a_folder_moved_out_of_the_vault_is_gone_and_comes_back(desk: Desk) -> None:
    folder = desk.folder()
    desk.lay(f"{folder}n.md")
    desk.lay(f"{folder}deeper/n.md")
    before, count = seen(desk.root, folder, OLD), embedded(desk.root)
    outside = desk.root.parent / folder[:-1]
    (desk.root / folder).rename(outside)
    desk.sees(folder, Seen({OLD: []}, []))
    outside.rename(desk.root / folder)
    desk.sees(folder, before)
    assert embedded(desk.root) == count


def test_a_note_made_with_its_folders_is_found(desk: Desk) -> None:
    folder = desk.folder()
    script = 'mkdir -p "$1/a/b/c" && echo "A walnut." > "$1/a/b/c/n.md"'
    for number in range(5):
        carried_out(desk.root, "sh", "-c", script, "sh", f"{folder}{number}")
    desk.knows("walnut", *[(f"{folder}{number}/a/b/c/n.md", 1) for number in range(5)], below=folder)
    (desk.root / folder / "3/a/b/c/n.md").write_text("A hazelnut.\n", encoding="utf-8")
    desk.knows("hazelnut", (f"{folder}3/a/b/c/n.md", 1), below=folder)


def test_a_session_in_the_wrong_week_is_still_that_session(desk: Desk) -> None:
    record = ("record", "--session", "larder", "--role", "user", "--at")
    ref = huimem(desk.root, *record, "2026-04-06T09:00", given=f"The {OLD}.").stdout.strip()
    right, wrong = "sessions/2026-W15/larder.md", "sessions/2025-W01/renamed.md"
    line = standing(desk.root, right, OLD)[1]
    desk.knows(OLD, (right, line), below="sessions/")
    (desk.root / wrong).parent.mkdir()
    (desk.root / right).rename(desk.root / wrong)
    desk.sees("sessions/", Seen({OLD: [(wrong, line)]}, [(wrong, ref)]))
    huimem(desk.root, *record, "2026-04-06T10:00", given="The foxglove.")
    desk.knows("foxglove", standing(desk.root, wrong, "foxglove"), below=wrong)


# What sync programs, desktops and editors leave beside a note; none of it is a conversation.
BESIDE = (
    "n.sync-conflict-20260102-030405-ABCDEF1.md",
    "n (conflicted copy 2026-01-02).md",
    "n (Ann's conflicted copy 2026-01-02).md",
    ".n.md.icloud",
    ".syncthing.n.md.tmp",
    "~syncthing~n.md.tmp",
    ".~lock.n.md#",
    ".n.md.part",
    ".goutputstream-ABCDEF",
    ".DS_Store",
    "._n.md",
    "n.md~",
    "#n.md#",
    ".n.md.swp",
    "4913",
    ".trash/n.md",
    ".obsidian/n.md",
    ".stversions/n.md",
)


def test_copies_and_leftovers_beside_a_note_are_neither_indexed_nor_deleted(desk: Desk) -> None:
    folder = desk.folder()
    desk.lay(f"{folder}n.md")
    before = seen(desk.root, folder, OLD)
    for name in BESIDE:
        (desk.root / folder / name).parent.mkdir(exist_ok=True)
        (desk.root / folder / name).write_text(NOTE, encoding="utf-8")
    os.symlink("nobody@nowhere.1:2", desk.root / folder / ".#n.md")
    desk.has_looked()
    assert seen(desk.root, folder, OLD) == before
    assert all((desk.root / folder / name).exists() for name in BESIDE)
    assert "sync-conflict" in huimem(desk.root, "doctor").stdout


def test_of_two_notes_with_one_id_both_are_kept_and_the_clash_is_reported(desk: Desk) -> None:
    folder = desk.folder()
    text = "---\nid: twice\n---\n\n" + NOTE
    desk.lay(f"{folder}n.md", text, line=LINE + 4)
    shutil.copy(desk.root / folder / "n.md", desk.root / folder / "n 2.md")
    both = [(f"{folder}n 2.md", LINE + 4), (f"{folder}n.md", LINE + 4)]
    desk.knows(OLD, *both, below=folder)
    for _ in range(3):
        desk.has_looked()
        assert found(desk.root, OLD, folder) == both
    assert f"has the same id as {folder}n 2.md" in huimem(desk.root, "doctor").stdout


def test_a_note_replaced_by_a_link_or_a_folder_is_gone(desk: Desk) -> None:
    folder = desk.folder()
    note = desk.lay(f"{folder}n.md")
    note.unlink()
    note.symlink_to(desk.root / "huimem.toml")
    desk.knows(OLD, below=folder)
    note.unlink()
    note.mkdir()
    (note / "inside.md").write_text(NOTE, encoding="utf-8")
    desk.knows("marigold", (f"{folder}n.md/inside.md", OTHER_LINE), below=folder)


def test_files_that_vanish_while_they_are_looked_at_cost_nothing(desk: Desk) -> None:
    folder = desk.folder()
    for number in range(300):
        note = desk.root / folder / f"{number}.md"
        note.write_text(NOTE, encoding="utf-8")
        note.unlink()
    desk.lay(f"{folder}n.md")
    desk.knows(OLD, (f"{folder}n.md", LINE), below=folder)
    assert "error" not in desk.watched.text.lower()


def test_in_the_end_the_index_equals_one_from_scratch(desk: Desk) -> None:
    equals_scratch(desk.root)

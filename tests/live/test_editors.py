"""A save in any program reaches the index by itself: the new word is found, the old one is gone.

A watcher runs, and nobody asks a question: what is told here, the watcher did.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from huimem import Memory
from tests.live.desk import Desk
from tests.live.editors import AFTER, EDITS, LINE, NEW, NOTE, OLD, OTHER_LINE, VIM, by_command
from tests.live.indexed import Seen, embedded, equals_scratch, found, passages, seen
from tests.live.places import carried_out, eventually, huimem, standing

pytestmark = pytest.mark.slow

NEW_WORD = "zucchini"


@pytest.fixture(scope="module")
def notes(desk: Desk) -> dict[str, Path]:
    """A note for each way of saving, in a folder of its own; the index knows them all."""
    laid = {name: desk.root / desk.folder() / "n.md" for name in EDITS}
    for note in laid.values():
        note.write_text(NOTE, encoding="utf-8")
    eventually(lambda: len(found(desk.root, OLD)), len(laid))
    return laid


@pytest.mark.parametrize("name", EDITS)
def test_a_save_is_searchable_and_nothing_else_is_indexed(
    name: str, desk: Desk, notes: dict[str, Path]
) -> None:
    note, (edit, moves) = notes[name], EDITS[name]
    folder, path = f"{note.parent.name}/", f"{note.parent.name}/n.md"
    before, inode = seen(desk.root, folder), note.stat().st_ino
    edit(note)
    assert note.read_text(encoding="utf-8") == AFTER
    assert moves is None or (note.stat().st_ino != inode) == moves, "it does not save as it used to"
    words = {OLD: [], NEW_WORD: [(path, LINE)], "marigold": [(path, OTHER_LINE)]}
    desk.sees(folder, Seen(words, before.refs))


def test_vim_changes_a_recorded_session_in_its_week(desk: Desk) -> None:
    done = huimem(desk.root, "record", "--session", "pantry", "--at", "2026-04-06T09:00", "--role", "user",
                  given=f"The {OLD} and the marigold.")  # fmt: skip
    path = "sessions/2026-W15/pantry.md"
    desk.knows(OLD, standing(desk.root, path, OLD), below=path)
    before = seen(desk.root, "sessions/")
    by_command((*VIM, "-c", f"%s/{OLD}/{NEW}/", "-c", "wq", "{note}"))(desk.root / path)
    desk.sees("sessions/", Seen({OLD: [], NEW_WORD: [standing(desk.root, path, NEW_WORD)]}, before.refs))
    assert before.refs == [(path, done.stdout.strip())]


def test_a_backup_that_vim_keeps_is_neither_indexed_nor_deleted(desk: Desk) -> None:
    folder = desk.folder()
    note = desk.lay(f"{folder}n.md")
    by_command((*VIM, "-c", "set backup", "-c", f"%s/{OLD}/{NEW}/", "-c", "wq", "{note}"))(note)
    desk.knows(NEW_WORD, (f"{folder}n.md", LINE), below=folder)
    assert found(desk.root, OLD, folder) == []
    assert note.with_name("n.md~").read_text(encoding="utf-8") == NOTE


@contextmanager
def always(look: Callable[[], bool]) -> Iterator[list[bool]]:
    """Look again and again while the block runs; one look that fails is a failure."""
    finished, looks = threading.Event(), []

    def go_on() -> None:
        while not finished.is_set():
            looks.append(look())
            time.sleep(0.005)

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        yield looks
    finally:
        finished.set()
        thread.join()
    assert looks and all(looks)


def test_at_no_time_is_a_conversation_missing_while_vim_saves(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = desk.folder()
    note = desk.lay(f"{folder}n.md", NOTE.replace("marigold", "foxglove"))
    monkeypatch.setenv("HUIMEM_EMBEDDER", "none")

    def answered() -> bool:
        return memory.recall("foxglove").hits[0].evidence == "The foxglove is by the door."

    def indexed() -> bool:
        return found(desk.root, "foxglove", folder) == [(f"{folder}n.md", OTHER_LINE)]

    with Memory.open(desk.root) as memory, always(answered), always(indexed):
        for number in range(12):
            word = f"unripe{number:03}"
            carried_out(desk.root, *VIM, "-c", f"{LINE}s/The .* is/The {word} is/", "-c", "wq", str(note))
            time.sleep(0.15)
        desk.knows(word, (f"{folder}n.md", LINE))


def test_an_empty_file_between_two_writes_drops_no_turn(desk: Desk) -> None:
    """A save in place that stays half done for longer than the watcher waits."""
    folder = desk.folder()
    note = desk.lay(f"{folder}n.md")
    before = seen(desk.root, folder, OLD, "marigold")
    note.write_text("", encoding="utf-8")
    time.sleep(1.0)
    note.write_text(NOTE, encoding="utf-8")
    desk.sees(folder, before)


def test_constant_saving_is_not_waited_out(desk: Desk) -> None:
    folder = desk.folder()
    note = desk.lay(f"{folder}n.md")
    count, looks, early = embedded(desk.root), len(desk.watched.documents), False
    for number in range(50):
        note.write_text(NOTE.replace(OLD, f"walnut{number:02}"), encoding="utf-8")
        early = early or found(desk.root, OLD, folder) == []
        time.sleep(0.1)
    assert early
    desk.knows("walnut49", (f"{folder}n.md", LINE))
    assert embedded(desk.root) - count <= 10 and len(desk.watched.documents) - looks <= 12


def test_turns_appended_by_a_shell_are_found_and_old_ones_keep_their_rows(desk: Desk) -> None:
    folder = desk.folder()
    note = desk.lay(f"{folder}n.md")
    old, count = passages(desk.root, below=folder), embedded(desk.root)
    for number in range(5):
        turn = f"\n## User · 2026-04-07 09:00:0{number}\n\nA walnut{number}.\n"
        carried_out(desk.root, "sh", "-c", 'printf "%s" "$1" >> "$2"', "sh", turn, str(note))
    desk.knows("walnut4", standing(desk.root, f"{folder}n.md", "walnut4"), below=folder)
    assert passages(desk.root, below=folder).items() >= old.items()
    assert embedded(desk.root) - count == 5


@pytest.mark.parametrize("command", [("touch",), ("touch", "-d", "2001-02-03"), ("chmod", "640")])
def test_other_times_and_modes_index_nothing_anew(command: tuple[str, ...], desk: Desk) -> None:
    folder = desk.folder()
    note = desk.lay(f"{folder}n.md")
    before = passages(desk.root, below=folder)
    carried_out(desk.root, *command, str(note))
    desk.has_looked()
    assert passages(desk.root, below=folder) == before


def test_another_time_of_a_note_without_dates_is_the_guessed_time_of_its_words(desk: Desk) -> None:
    path = f"{desk.folder()}n.md"
    note = desk.lay(path, f"The {OLD}.\n", line=1)
    carried_out(desk.root, "touch", "-d", "2001-02-03", str(note))
    desk.has_looked()
    equals_scratch(desk.root)


def test_a_stale_buffer_loses_no_turn_unnoticed(desk: Desk) -> None:
    """An editor that was opened before a turn was recorded saves what it had read then."""
    record = ("record", "--session", "stale", "--role", "user", "--at")
    huimem(desk.root, *record, "2026-04-13T09:00", given=f"The {OLD}.")
    path = "sessions/2026-W16/stale.md"
    desk.knows(OLD, standing(desk.root, path, OLD), below=path)
    buffer = (desk.root / path).read_text(encoding="utf-8")
    huimem(desk.root, *record, "2026-04-13T10:00", given="The foxglove.")
    desk.knows("foxglove", standing(desk.root, path, "foxglove"), below=path)
    (desk.root / path).write_text(buffer.replace(OLD, NEW), encoding="utf-8")
    desk.knows(NEW_WORD, standing(desk.root, path, NEW_WORD), below=path)
    desk.knows("foxglove", below=path)
    eventually(lambda: any(path in warning for warning in desk.watched.warnings), True)
    (kept,) = (desk.root / ".huimem/recovered").glob("stale-*.md")
    assert "The foxglove." in kept.read_text(encoding="utf-8")
    assert "foxglove" not in desk.watched.text
    assert kept.name in huimem(desk.root, "doctor").stdout


def test_in_the_end_the_index_equals_one_from_scratch(desk: Desk) -> None:
    equals_scratch(desk.root)

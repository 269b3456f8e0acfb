"""How programs save: each turns a note that speaks of a tangerine into one that speaks of a zucchini.

In: the note's path. Out: the note with the new word, saved in the program's own way. Both words are of
one length, so that sizes tell nothing.
"""

from __future__ import annotations

import mmap
import os
import time
from collections.abc import Callable
from pathlib import Path

from tests.live.places import carried_out
from tests.live.terminal import typed

OLD, NEW = "tangerine", "zucchini!"
NOTE = """\
# Kitchen

## User · 2026-04-06 09:00:00

The tangerine is in the bowl.

## Assistant · 2026-04-06 09:00:30

Noted.

## User · 2026-04-06 10:00:00

The marigold is by the door.
"""
LINE, OTHER_LINE = 5, 13  # where the word stands that changes, and one that does not
AFTER = NOTE.replace(OLD, NEW)

Edit = Callable[[Path], None]

VIM = ("vim", "-Es", "-N", "-u", "NONE", "-i", "NONE")
IN_VIM = ("-c", f"%s/{OLD}/{NEW}/", "-c", "wq", "{note}")
IN_EMACS = f'(progn (find-file "{{note}}") (while (search-forward "{OLD}" nil t) (replace-match "%s"))'
# The lock link and the copy that is saved by itself lie there for a while, as they do while one types.
DALLYING = (
    "(auto-save-mode 1) (do-auto-save t) "
    '(unless (and (file-symlink-p "{lock}") (file-exists-p "{autosaved}")) (kill-emacs 9)) (sleep-for 0.7)'
)

# A program's name, its command, and whether the note is a new file afterwards (another inode).
COMMANDS: dict[str, tuple[tuple[str, ...], bool]] = {
    "vim": ((*VIM, *IN_VIM), True),
    "vim, backup written and dropped": (
        (*VIM, "-c", "set nobackup writebackup backupcopy=no", *IN_VIM), True,
    ),
    "vim, in place": ((*VIM, "-c", "set backupcopy=yes", *IN_VIM), False),
    "vim, backup kept": ((*VIM, "-c", "set backup backupcopy=no", *IN_VIM), True),
    "emacs": (
        ("emacs", "-Q", "--batch", "--eval", f"{IN_EMACS % NEW} (save-buffer))"), True,
    ),
    "emacs, lock and autosave": (
        ("emacs", "-Q", "--batch", "--eval", f"{IN_EMACS % NEW} {DALLYING} (save-buffer))"), True,
    ),
    "emacs, second save": (
        (
            "emacs", "-Q", "--batch", "--eval",
            f'{IN_EMACS % "aubergine"} (save-buffer) (sleep-for 0.5) (goto-char (point-min))'
            f' (while (search-forward "aubergine" nil t) (replace-match "{NEW}")) (save-buffer))',
        ), True,
    ),
    "sed -i": (("sed", "-i", f"s/{OLD}/{NEW}/", "{note}"), True),
    "perl -pi": (("perl", "-pi", "-e", f"s/{OLD}/{NEW}/", "{note}"), True),
    "mv over it": (("mv", "{beside}", "{note}"), True),
    "mv from outside": (("mv", "{outside}", "{note}"), True),
    "ln -f": (("ln", "-f", "{beside}", "{note}"), True),
    "cp": (("cp", "{outside}", "{note}"), False),
    "cp -p": (("cp", "-p", "{outside}", "{note}"), False),
    "rsync": (("rsync", "-I", "{outside}", "{note}"), True),
    "rsync --inplace": (("rsync", "-I", "--inplace", "{outside}", "{note}"), False),
    "rsync -t": (("rsync", "-t", "-I", "{outside}", "{note}"), True),
}  # fmt: skip


def by_command(command: tuple[str, ...]) -> Edit:
    """The edit that a command makes; `{beside}` and `{outside}` are new texts with the note's old times."""

    def edit(note: Path) -> None:
        root = next(folder for folder in note.parents if (folder / "huimem.toml").exists())
        places = {
            "{note}": note,
            "{beside}": note.with_name("new text"),
            "{outside}": root.parent / "new text",
            "{lock}": note.with_name(f".#{note.name}"),
            "{autosaved}": note.with_name(f"#{note.name}#"),
        }
        for name in ("{beside}", "{outside}"):
            if name in command:
                places[name].write_text(AFTER, encoding="utf-8")
                os.utime(places[name], ns=(note.stat().st_atime_ns, note.stat().st_mtime_ns))
        words = list(command)
        for name, path in places.items():
            words = [word.replace(name, str(path)) for word in words]
        carried_out(root, *words)

    return edit


def in_vim_with_a_screen(note: Path) -> None:
    """With its swap file, as people use it."""
    command = ("vim", "-N", "-u", "NONE", "-i", "NONE", str(note))
    typed(note.parent, command, [(OLD, f":%s/{OLD}/{NEW}/\r"), (NEW, ":w\r"), ("written", ":q\r")])


def in_nano(note: Path) -> None:
    replace, save, leave = "\x1c", "\x0f", "\x18"
    steps = [
        (OLD, replace),
        ("Search", f"{OLD}\r"),
        ("Replace with", f"{NEW}\r"),
        ("instance?", "a"),
        ("occurrence", save),
        ("Write", "\r"),
        ("Wrote", leave),
    ]
    typed(note.parent, ("nano", "-I", str(note)), steps)


def truncated_and_written(note: Path) -> None:
    """One file, emptied, then written in two halves: as VS Code does on a slow disk."""
    half = len(AFTER) // 2
    with open(note, "r+", encoding="utf-8") as file:
        for part in ("", AFTER[:half], AFTER[half:]):
            file.truncate() if not part else file.write(part)
            file.flush()
            time.sleep(0.4)


def while_typing(note: Path) -> None:
    """Twenty saves in place a tenth of a second apart, the last one right: as Obsidian does."""
    for number in range(20):
        text = AFTER if number == 19 else NOTE.replace(OLD, f"unripe{number:03}")
        note.write_text(text, encoding="utf-8")
        time.sleep(0.1)


def through_memory(note: Path) -> None:
    """Written through a mapping: the system tells of nothing but the closing."""
    with open(note, "r+b") as file, mmap.mmap(file.fileno(), 0) as text:
        at = text.find(OLD.encode())
        text[at : at + len(OLD)] = NEW.encode()


def deleted_and_written(note: Path) -> None:
    note.unlink()
    note.write_text(AFTER, encoding="utf-8")


def deleted_then_written(note: Path) -> None:
    """Gone for longer than a look takes."""
    note.unlink()
    time.sleep(0.8)
    note.write_text(AFTER, encoding="utf-8")


PROGRAMS: dict[str, tuple[Edit, bool | None]] = {
    "vim with a screen": (in_vim_with_a_screen, True),
    "nano": (in_nano, False),
    "truncated and written": (truncated_and_written, False),
    "while typing": (while_typing, False),
    "through memory": (through_memory, False),
    "deleted and written": (deleted_and_written, None),
    "deleted, later written": (deleted_then_written, None),
}
EDITS: dict[str, tuple[Edit, bool | None]] = {
    **{name: (by_command(command), moves) for name, (command, moves) in COMMANDS.items()},
    **PROGRAMS,
}

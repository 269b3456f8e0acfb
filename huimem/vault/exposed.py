"""Who else on this computer can change a vault, and so what is answered from it.

In: the folders of a vault and of its state. Out: a Problem for each in which others can put files in the
place of ours, and their lines, for whoever shows them, the first time.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from shlex import quote

from huimem import files
from huimem.errors import Problem, WriteFailed
from huimem.folders import seen_from

TOLD = "told"  # the lines that were told last, in the state folder


def exposed(vault: Path, state: Path) -> tuple[Problem, ...]:
    """What is wrong with the modes of these two folders.

    A vault may be shared with a group; its state is for one user alone, since it says what is answered.
    """
    problems = []
    mode = _mode(vault)
    if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:  # where that is set only owners take files out
        problems.append(_changed(".", "everybody on this computer", f"chmod o-w {quote(str(vault))}"))
    mode = _mode(state)
    if mode & (stat.S_IWOTH | stat.S_IWGRP):
        shown = str(seen_from(vault, state))
        others = "everybody on this computer" if mode & stat.S_IWOTH else "its group"
        problems.append(_changed(shown, others, f"chmod go-w {quote(str(state))}"))
    return tuple(problems)


def _mode(folder: Path) -> int:
    """The mode of a folder; 0 where there is none, or the system has no modes."""
    try:
        return os.stat(folder).st_mode if os.name == "posix" else 0
    except OSError:
        return 0


def _changed(path: str, others: str, remedy: str) -> Problem:
    return Problem(path, 0, f"can be changed by {others}, and so can the answers", remedy)


def told_once(state: Path, problems: Sequence[Problem]) -> tuple[str, ...]:
    """The lines of these problems, if they are others than those that were told last."""
    lines = tuple(map(str, problems))
    data = "\n".join(lines).encode("utf-8", "backslashreplace")
    if not lines:
        return ()
    with suppress(files.Unreadable):
        if files.read(state / TOLD)[0] == data:
            return ()
    with suppress(WriteFailed):  # then they are told again
        files.jot(state / TOLD, data)
    return lines

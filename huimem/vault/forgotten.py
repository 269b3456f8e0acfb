"""What was forgotten: the lines of the feedback log that say so.

In: the feedback files of namespaces. Out: the refs that nothing may bring back. Copies that a sync
program made of a feedback file are read too: what one machine forgot is forgotten.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from huimem import files

FOLDER = "feedback"
_LINE = re.compile(
    r"^- (?P<at>[0-9-]{10}[ T][0-9:.]{5,15}(?: ?[+-][0-9:]{4,6})?) (?P<what>forgot|restored) (?P<ref>\S+)",
    re.MULTILINE,
)


def forgotten(root: Path, folders: Sequence[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Refs that the feedback below `folders` (of namespaces, "" or ending in /) says are forgotten, and
    those that were restored since. A file that cannot be read counts as empty.
    """
    lines: list[tuple[str, str, str]] = []
    for above in [root / folder / FOLDER for folder in folders]:
        for path in sorted(above.glob("feedback_*.md")) if above.is_dir() else ():
            with suppress(files.Unreadable):
                text = files.read(path, within=root)[0].decode("utf-8", "replace")
                found = _LINE.finditer(text.replace("\r\n", "\n"))
                lines += [(match["at"].replace("T", " "), match["what"], match["ref"]) for match in found]
    last = {ref: what for _, what, ref in sorted(lines, key=lambda line: line[0])}
    gone, back = (frozenset(r for r, what in last.items() if what == w) for w in ("forgot", "restored"))
    return gone, back

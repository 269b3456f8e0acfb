"""What was forgotten: the lines of the feedback log that say so.

In: the feedback files of a namespace. Out: the refs that nothing may bring back. Copies that a sync
program made of a feedback file are read too: what one machine forgot is forgotten.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from huimem import files

FOLDER = "feedback"
_LINE = re.compile(
    r"^- (?P<at>[0-9-]{10}[ T][0-9:.]{5,15}(?: ?[+-][0-9:]{5,6})?) (?P<what>forgot|restored) (?P<ref>\S+)",
    re.MULTILINE,
)


def forgotten(root: Path, folder: str) -> frozenset[str]:
    """Refs of the feedback below `folder` (of a namespace, "" or ending in /) that are forgotten still.

    A later `restored` of the same ref takes it back. A file that cannot be read counts as empty.
    """
    lines: list[tuple[str, str, str]] = []
    above = root / folder / FOLDER
    for path in sorted(above.glob("feedback_*.md")) if above.is_dir() else ():
        with suppress(files.Unreadable):
            text = files.read(path, within=root)[0].decode("utf-8", "replace")
            lines += [
                (match["at"].replace("T", " "), match["what"], match["ref"]) for match in _LINE.finditer(text)
            ]
    last = {ref: what for _, what, ref in sorted(lines, key=lambda line: line[0])}
    return frozenset(ref for ref, what in last.items() if what == "forgot")

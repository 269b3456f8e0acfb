"""The marks that git and its kin leave in a file that was changed on both sides.

In: a file's bytes. Out: a Problem that names the first place, if there is one. The file is read as it
stands, both sides and the marks; nothing is decided here.
"""

from __future__ import annotations

import re

from huimem.errors import Problem
from huimem.markup import fences, inside
from huimem.vault.text import decode

_MARK = re.compile(r"^(?:<{7} |={7}\r?$|>{7} )", re.MULTILINE)


def conflict_problem(data: bytes, path: str) -> tuple[Problem, ...]:
    """The problem of a file in which all three marks stand in their order, outside code fences."""
    if b"<<<<<<< " not in data or b">>>>>>> " not in data:
        return ()
    text = decode(data)[0]
    places = _conflicts(text)
    if not places:
        return ()
    more = f", and {len(places) - 1:,} more" if len(places) > 1 else ""
    return (
        Problem(
            path,
            text.count("\n", 0, places[0]) + 1,
            f"two versions between the marks of a merge that is not finished{more}: read as text",
            "keep what is right of both and delete the marks; in a code fence they are text",
        ),
    )


def _conflicts(text: str) -> list[int]:
    """Where each conflict begins."""
    spans = fences(text)
    found, begun, parted = list[int](), -1, False
    for mark in _MARK.finditer(text):
        if inside(spans, mark.start()):
            continue
        if mark[0][0] == "<":
            begun, parted = mark.start(), False
        elif mark[0][0] == "=":
            parted = begun >= 0
        elif parted:
            found.append(begun)
            begun, parted = -1, False
    return found

"""Lines that open messages: pure recognisers.

In: one line, or the lines of a text. Out: what they say, before anybody decides whether they count.
A timed heading has one shape for reader and writer: what the reader could take for one, the writer
escapes in content, and nothing else.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import datetime, timedelta
from typing import NamedTuple

from huimem.vault import moments, roles

# Longest time part with its blanks; heading lines are looked at from their end, however long.
_WINDOW = 96
_TAIL = re.compile(
    r"(?P<mark>[ \t]{0,8}[·\-–—|,，][ \t]{0,8}|[ \t]{1,8})"
    r"(?:(?P<date>[0-9]{4}-[0-9]{1,2}-[0-9]{1,2})(?:[ \t]{1,8}|T))?"
    r"(?P<hour>[0-9]{1,2})[:：](?P<minute>[0-9]{2})(?:[:：](?P<second>[0-9]{2})(?:\.(?P<fraction>[0-9]{1,6}))?)?"
    r"(?:[ \t]{1,8}(?P<offset>Z|[+-][0-9]{2}:[0-9]{2}))?\Z"
)
_FULL = re.compile(
    r"[ \t]+·[ \t]+[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?"
    r"(?:[ \t]+(?:Z|[+-][0-9]{2}:[0-9]{2}))?\Z"
)
# A full heading just as the writer makes it: the short way for nearly every line there is.
_WRITTEN = re.compile(
    r"(##(?:####)?) ([^\n]*[^ \t\n]) · "
    r"((?!0001|9999)[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{3})?)\r?\Z"
)
# Lines at level 2 or 6, backslashes before them or not: the only ones that can have the shape.
CANDIDATE = re.compile(r"^\\*##(?:####)?[ \t][^\n]*", re.MULTILINE)
_OPENING = re.compile(r"##(?:####)?(?=[ \t])")
_ROLE_HEADING = re.compile(r"^(?P<level>#{1,6})[ \t]+(?P<head>[^\n]{1,80})$", re.MULTILINE)
_ROLE_BOLD = re.compile(
    r"^\*\*(?P<head>[^*:：\n]{1,60})(?:[:：]\*\*|\*\*[:：]|\*\*(?=[ \t\r]*$))[ \t]*", re.MULTILINE
)


class Heading(NamedTuple):
    """A line of the shape `## NAME · TIME`.

    `wall` is its naive time, on 2000-01-01 where the line has no date (`dated` false), None where
    there is no such time; `full` as the writer makes them.
    """

    level: int
    head: str
    wall: datetime | None
    dated: bool
    offset: timedelta | None
    full: bool


def read_heading(line: str) -> Heading | None:
    """The timed heading that `line` has the shape of, at column 0; None for any other line."""
    written = _WRITTEN.match(line)
    if written is not None:
        with suppress(ValueError):
            at = datetime.fromisoformat(written[3])
            return Heading(len(written[1]), written[2].lstrip(" \t"), at, True, None, True)
    opening = _OPENING.match(line)
    if opening is None:
        return None
    line = line.rstrip(" \t\r")
    skipped = max(len(line) - _WINDOW, opening.end())
    tail = _TAIL.search(line[skipped:])
    if tail is None:
        return None
    head = line[opening.end() : skipped + tail.start()].strip(" \t")
    if not head:
        return None
    wall, offset = _time_of(tail)
    full = _FULL.match(tail[0]) is not None
    return Heading(opening.end(), head, wall, tail["date"] is not None, offset, full)


def _time_of(tail: re.Match[str]) -> tuple[datetime | None, timedelta | None]:
    year, month, day = map(int, (tail["date"] or "2000-01-01").split("-"))
    clock = (int(tail["hour"]), int(tail["minute"]), int(tail["second"] or 0))
    wall = moments.wall_clock((year, month, day), clock, tail["fraction"] or "")
    if tail["offset"] is None:
        return wall, None
    offset = moments.read_offset(tail["offset"])
    return (None if offset is None else wall), offset


def escape(text: str) -> str:
    """One more backslash before every line that has the shape of a timed heading."""
    if "##" not in text:
        return text
    return CANDIDATE.sub(lambda m: "\\" + m[0] if read_heading(m[0].lstrip("\\")) else m[0], text)


def unescape(text: str) -> str:
    """One backslash less before every line of that shape: the inverse of `escape`."""
    if "\\##" not in text:
        return text
    return CANDIDATE.sub(
        lambda m: m[0][1:] if m[0][0] == "\\" and read_heading(m[0].lstrip("\\")) else m[0], text
    )


class RoleLine(NamedTuple):
    """An untimed line that names a speaker: `## User`, `#### You:` (its level), `**Human:**` (level 0).

    `start` is where it begins in the text, `end` where what was said begins.
    """

    start: int
    end: int
    level: int
    role: str
    name: str | None


def role_lines(text: str) -> list[RoleLine]:
    """Every untimed line of a known role, in text order."""
    found = []
    for match in _ROLE_HEADING.finditer(text):
        who = roles.speaker(match["head"].rstrip(" \t\r#").rstrip(" :：").strip("*:： "), frozenset())
        if who:
            found.append(RoleLine(match.start(), match.end(), len(match["level"]), *who))
    for match in _ROLE_BOLD.finditer(text):
        who = roles.speaker(match["head"].strip(), frozenset())
        if who:
            found.append(RoleLine(match.start(), match.end(), 0, *who))
    return sorted(found, key=lambda line: line.start)

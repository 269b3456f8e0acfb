"""Where messages begin: a body's text → its message openings, in text order.

In: the body of a file and what its front matter says. Out: `Opener`s and the faults met. Two forms
are read here: timed headings (ours) and untimed role lines (what others write).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import NamedTuple

from huimem.markup import fences, inside
from huimem.vault import headings, roles
from huimem.vault.headings import CANDIDATE, Heading, RoleLine, read_heading
from huimem.vault.moments import place

# A time without a date that lies further back than this belongs to the next day.
NEXT_DAY = timedelta(hours=6)
_NO_DATE = "its time is not known"


@dataclass(frozen=True, slots=True)
class Setting:
    """What is known before the first message is read.

    `listed` are the participants (case folded), `base` gives a first heading without a date its day:
    `created`, else the file name's date.
    """

    zone: tzinfo
    listed: frozenset[str] = frozenset()
    base: datetime | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """A problem at an offset of the body; its line is counted when all are known."""

    place: int
    message: str
    remedy: str = ""


class Opener(NamedTuple):
    """A message's opening. Offsets count characters of the body.

    `start` is where its bytes begin and `text` where what was said begins; that ends at `stop`, or
    at the next opening where `stop` is None. `said` stands for the text where the line itself says it.
    """

    start: int
    text: int
    role: str
    name: str | None
    at: datetime | None
    level: int = 0
    stop: int | None = None
    said: str | None = None


def any_timed(text: str, listed: frozenset[str]) -> bool:
    """Whether a timed heading makes messages of this text."""
    short = False
    for _, _, heading in _candidates(text):
        if heading.full and heading.wall:
            return True
        short = True
    return short and bool(timed(text, Setting(UTC, listed))[0])


def _candidates(text: str) -> Iterator[tuple[int, int, Heading]]:
    """Every line of the shape of a timed heading without a backslash: start, end, what it says."""
    for match in CANDIDATE.finditer(text) if "##" in text else ():
        heading = read_heading(match[0])
        if heading is not None:
            yield match.start(), match.end(), heading


def timed(text: str, setting: Setting) -> tuple[list[Opener], list[Fault]]:
    """The messages under timed headings, and a fault for each line that only looks like one."""
    found = list(_candidates(text))
    if all(heading.full and heading.wall for _, _, heading in found):
        hidden = set[int]()
    else:
        hidden = _hidden(text, found)
    openers: list[Opener] = []
    faults: list[Fault] = []
    for start, end, heading in found:
        who = roles.speaker(heading.head, setting.listed)
        if who is None and not heading.full:
            who = roles.speaker(heading.head.rstrip(" :："), setting.listed)
        fault = _fault(heading, who is not None, start in hidden)
        if fault is not None:
            if fault[0]:
                faults.append(Fault(start, *fault))
            continue
        role, name = who or ("person", heading.head)
        at, remark = _dated(heading, openers[-1].at if openers else None, setting)
        if remark:
            faults.append(Fault(start, *remark))
        openers.append(Opener(start, min(end + 1, len(text)), role, name, at, heading.level))
    return openers, faults


def impossible(text: str, listed: frozenset[str]) -> list[Fault]:
    """A fault for each line that would open a message if its time existed."""
    faults = []
    for start, _, heading in _candidates(text):
        known = roles.speaker(heading.head, listed) is not None
        fault = _fault(heading, known, hidden=False) if heading.wall is None else None
        if fault and fault[0]:
            faults.append(Fault(start, *fault))
    return faults


def _hidden(text: str, found: list[tuple[int, int, Heading]]) -> set[int]:
    """Starts of the short headings inside a fence that closes before the next full heading."""
    borders = [0, *(start for start, _, heading in found if heading.full and heading.wall), len(text)]
    shorts = defaultdict[int, list[int]](list)
    for start, _, heading in found:
        if not heading.full:
            shorts[bisect_right(borders, start) - 1].append(start)
    hidden = set[int]()
    for region, starts in shorts.items():
        spans = fences(text, borders[region], borders[min(region + 1, len(borders) - 1)])
        hidden.update(start for start in starts if inside(spans, start))
    return hidden


def _fault(heading: Heading, known: bool, hidden: bool) -> tuple[str, str] | None:
    """Why a line of the shape is no heading, with a remedy; an empty reason needs no saying."""
    shown = heading.head[:40]
    escape = "or put a backslash before the line if it is text"
    if heading.wall is None:
        if heading.full or known:
            return (
                f"the time in the heading of {shown!r} does not exist: read as text",
                f"correct it, {escape}",
            )
        return "", ""
    if heading.full:
        return None
    if hidden:
        if known:
            remedy = f"close the fence above it or write date and seconds, {escape}"
            return f"the heading of {shown!r} stands in a code fence: read as text", remedy
        return "", ""
    if not known:
        remedy = f"list the speaker under `participants:`, {escape}"
        return f"looks like a message heading, but {shown!r} is no known speaker: read as text", remedy
    return None


def _dated(
    heading: Heading, before: datetime | None, setting: Setting
) -> tuple[datetime | None, tuple[str, str] | None]:
    """The instant of a heading, and what there is to say about how it was found."""
    wall, zone = heading.wall, setting.zone
    assert wall is not None
    if heading.dated:
        return _instant(wall, heading, zone), None
    reference = before or setting.base
    if reference is None:
        return None, (f"a heading without a date, and none before it: {_NO_DATE}", "write the date into it")
    day = reference.astimezone(zone)
    at = _instant(datetime.combine(day.date(), wall.time()), heading, zone)
    if before is None or before - at <= NEXT_DAY:
        return at, None
    at = _instant(datetime.combine(day.date() + timedelta(days=1), wall.time()), heading, zone)
    message = f"read as the next day, {at:%Y-%m-%d}: the time is over 6 hours before the message above"
    return at, (message, "`huimem fmt` writes the date; correct it if it is another day")


def _instant(wall: datetime, heading: Heading, zone: tzinfo) -> datetime:
    if heading.offset is None:
        return place(wall, zone)
    return wall.replace(tzinfo=timezone(heading.offset))


def any_untimed(text: str) -> bool:
    """Whether role lines without a time make a conversation of this text."""
    return bool(_conversation(text)[0])


def _conversation(text: str) -> tuple[list[RoleLine], list[RoleLine]]:
    """The role lines of the one style in which both user and assistant speak, and those in fences."""
    lines = headings.role_lines(text)
    if len(lines) < 2:
        return [], []
    spans = fences(text)
    styles = defaultdict[int, list[RoleLine]](list)
    for line in lines:
        if not inside(spans, line.start):
            styles[line.level].append(line)
    spoken = [said for said in styles.values() if {"user", "assistant"} <= {line.role for line in said}]
    best = max(spoken, key=len, default=[])
    fenced = [line for line in lines if best and line.level == best[0].level and inside(spans, line.start)]
    return best, fenced


def untimed(text: str, at: datetime | None) -> tuple[list[Opener], list[Fault]]:
    """The messages under role lines without a time; all are dated `at`."""
    lines, fenced = _conversation(text)
    openers = [
        Opener(line.start, min(line.end + bool(line.level), len(text)), line.role, line.name, at)
        for line in lines
    ]
    reason = "a line that names a speaker stands in a code fence: read as text"
    return openers, [
        Fault(line.start, reason, "close the fence above it if it is a message") for line in fenced
    ]

"""How things look on a terminal: columns, colours, times, places. Pure once made."""

from __future__ import annotations

import os
import shutil
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache
from pathlib import Path

from huimem.folders import seen_from
from huimem.records import TimeRange
from huimem.surfaces.cli.visible import visible, visible_line

WIDEST = 100  # columns; longer lines are hard to read
_NEVER_FIRST = frozenset("，。、；：？！…）】》」』”’,.;:?!)]}%")  # these stay with what they close,
_NEVER_LAST = frozenset("（【《「『“‘([{")  # these with what they open
_STYLES = {"strong": "1", "faint": "2", "place": "36", "good": "32", "bad": "31"}


@dataclass(frozen=True, slots=True)
class Look:
    """How to show things: `root` is the vault, `here` the folder that shown paths start from.

    Times are shown in `zone`; a year only where it is not that of `now`.
    """

    zone: tzinfo
    now: datetime
    root: Path = Path()
    here: Path = Path()
    width: int = WIDEST
    colour: bool = False

    def styled(self, style: str, text: str) -> str:
        """`text` in one of the styles strong, faint, place, good, bad; as it is without colours."""
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self.colour and text else text

    def place(self, path: str, line: int = 0) -> str:
        """`path:line` for a terminal to open: from the working folder where the file lies below it."""
        whole = self.root / path
        shown = seen_from(self.here, whole)
        return self.styled("place", visible_line(str(shown)) + (f":{line}" if line else ""))

    def moment(self, at: datetime | None) -> str:
        """`Wed 8 Apr 23:58`; `undated` for None."""
        if at is None:
            return "undated"
        return f"{self.day(at)} {at.astimezone(self.zone):%H:%M}"

    def day(self, at: datetime, *, years: bool = False) -> str:
        local = at.astimezone(self.zone)
        same = local.year == self.now.astimezone(self.zone).year
        return f"{local:%a} {local.day} {local:%b}" + (f" {local.year}" if years or not same else "")

    def span(self, span: TimeRange, *, years: bool = False) -> str:
        """A range in a few words, its last day inside: `Wed 8 Apr`, `Mon 6 Apr to Sun 12 Apr`.

        Clocks stand where it does not begin and end with a day; `years` gives the present one too.
        """
        start, end = span.local()
        if start is None or end is None:
            at = self._edge(start or end, years) if start or end else ""
            return f"from {at} on" if start else f"before {at}" if end else "any time"
        last = _just_before(end)
        one_day, whole = last.date() == start.date(), _begins_a_day(start) and _begins_a_day(end)
        first = self.day(start, years=years)
        if whole:
            return first if one_day else f"{first} to {self.day(last, years=years)}"
        clock = "%H:%M:%S" if start.second or end.second else "%H:%M"
        until = f"{end:{clock}}" if one_day else f"{self.day(end, years=years)} {end:{clock}}"
        if one_day and end.date() != start.date():
            until = until.replace("00", "24", 1)
        return f"{first} {start:{clock}} to {until}"

    def _edge(self, at: datetime | None, years: bool) -> str:
        """Where an open range begins or ends: a day, with its clock inside one."""
        if at is None:
            return ""
        clock = "" if _begins_a_day(at) else f" {at:%H:%M}"
        return self.day(at, years=years) + clock

    def lines(self, text: str, indent: str) -> int:
        """How many lines a text has as a block."""
        return 1 + self.block(text, indent).count("\n")

    def block(self, text: str, indent: str, lines: int | None = None) -> str:
        """Text wrapped and indented; after `lines` lines it is cut with …"""
        shown: list[str] = []
        for line in wrapped(visible(text.expandtabs(4)), self.width - len(indent)):
            if len(shown) == lines:
                shown[-1] = clipped(shown[-1] + " …", self.width - len(indent))
                break
            shown.append(line)
        return "\n".join((indent + line).rstrip() for line in shown)


def _just_before(at: datetime) -> datetime:
    try:
        return (at.astimezone(UTC) - timedelta(microseconds=1)).astimezone(at.tzinfo)
    except OverflowError:  # the calendar begins there
        return at


def _begins_a_day(at: datetime) -> bool:
    """Whether a day begins there; where the clock skips midnight, it does an hour later."""
    return _just_before(at).date() != at.date()


def zone_name(zone: tzinfo) -> str:
    """`Asia/Shanghai`, or the offset of a zone that has no name."""
    return str(getattr(zone, "key", zone))


def looking(
    zone: tzinfo, now: datetime, root: Path = Path(), environ: Mapping[str, str] = os.environ
) -> Look:
    """The look of this terminal: no colours where standard output is none, or `NO_COLOR` asks for none."""
    terminal = sys.stdout is not None and sys.stdout.isatty()
    colour = bool(environ.get("FORCE_COLOR")) or (
        terminal and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"
    )
    width = min(shutil.get_terminal_size((WIDEST, 24)).columns, WIDEST) if terminal else WIDEST
    here = Path.cwd()
    return Look(zone, now, Path(os.path.abspath(root)), here, max(width, 40), colour)


def columns(text: str) -> int:
    """How many columns a terminal gives a text: wide characters take two, combining ones none."""
    return sum(_column(c) for c in text)


@cache
def _column(c: str) -> int:
    if unicodedata.combining(c) or unicodedata.category(c) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(c) in "WF" else 1


def clipped(text: str, width: int) -> str:
    """`text` in at most `width` columns, with … where it was cut."""
    if columns(text) <= width:
        return text
    kept = ""
    for c in text:
        if columns(kept) + _column(c) > width - 1:
            break
        kept += c
    return kept.rstrip() + "…"


def wrapped(text: str, width: int) -> Iterator[str]:
    """Lines of at most `width` columns: broken at blanks, or between wide characters."""
    for line in text.split("\n"):
        yield from _broken(line, width)


def _broken(line: str, width: int) -> Iterator[str]:
    start = used = breakable = 0  # the line may be broken before `breakable` where that lies past `start`
    before = ""
    for at, c in enumerate(line):
        if _parts(before, c):
            breakable = at
        while used + _column(c) > width and c != " " and at > start:
            cut = breakable if breakable > start else at
            yield line[start:cut].rstrip()
            start, used = cut, columns(line[cut:at])
        used += _column(c)
        before = c
    yield line[start:].rstrip()


def _parts(before: str, c: str) -> bool:
    """Whether a line may end after `before` and go on with `c`."""
    if not before or c in _NEVER_FIRST or before in _NEVER_LAST:
        return False
    return before == " " or _column(c) == 2 or _column(before) == 2

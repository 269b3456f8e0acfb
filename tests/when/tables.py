"""The tables of `fixtures/when`: questions, the time words in them, and what they mean.

A row is `text, now, phrase, start, end, grain, flags`, tab-separated; a text of several ranges takes
several rows. The values are worked out by hand from the conventions, never taken from the code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from zoneinfo import ZoneInfo

from huimem.records import Reading, Resolution, TimeRange
from huimem.when import resolve

FOLDER = Path(__file__).parents[2] / "fixtures" / "when"
ZONE = "Asia/Shanghai"  # where a row names none
_NOW = re.compile(r"([^\[]+)(?:\[(.+)\])?")


@dataclass(frozen=True, slots=True)
class Row:
    """One expected range. `start` and `end` are local wall times, None where that side is open."""

    phrase: str
    start: datetime | None
    end: datetime | None
    grain: str | None
    flags: frozenset[str]


@dataclass(frozen=True, slots=True)
class Case:
    """A question asked at `now`, with every range that it names, in order; of a trap none."""

    text: str
    now: datetime
    rows: tuple[Row, ...]

    @property
    def name(self) -> str:
        return f"{self.text} @ {self.now:%Y-%m-%dT%H:%M}"


def cases(name: str) -> list[Case]:
    """The questions of a table; `name` is its file without the ending."""
    lines = (FOLDER / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines[1:] if line.strip() and not line.startswith("#")]
    wrong = [row for row in rows if len(row) != 7]
    assert not wrong, f"rows without seven columns: {wrong}"
    return [
        Case(text, _now(now), tuple(_row(one) for one in group if "none" not in one[6].split()))
        for (text, now), group in groupby(rows, key=lambda row: (row[0], row[1]))
    ]


def _now(cell: str) -> datetime:
    found = _NOW.fullmatch(cell)
    assert found, f"no time: {cell}"
    return datetime.fromisoformat(found[1]).replace(tzinfo=ZoneInfo(found[2] or ZONE))


def _row(cells: list[str]) -> Row:
    _, _, phrase, start, end, grain, flags = cells
    return Row(
        phrase, _at(start), _at(end), None if grain == "-" else grain, frozenset(flags.split()) - {"-"}
    )


def _at(cell: str) -> datetime | None:
    return None if cell == "-" else datetime.fromisoformat(cell)


def faults(case: Case, outside: re.Pattern[str]) -> list[str]:
    """Where the resolver differs from a case; `outside` matches what a phrase may begin or end with more."""
    found = resolve(case.text, case.now)
    if any("vague" in row.flags for row in case.rows):
        return _vague_faults(case, found, outside)
    readings = found.readings if found else ()
    if len(readings) != len(case.rows) or (found and found.vague):
        return [f"{len(case.rows)} ranges wanted, found {_shown(case.text, found)}"]
    said, at = [], 0
    for row, reading in zip(case.rows, readings, strict=True):
        at = case.text.index(row.phrase, at)
        said += _row_faults(case.text, row, reading, at, outside)
        said += _other_faults(row, reading, found.alternatives if found else ())
        at += len(row.phrase)
    return said


def _row_faults(text: str, row: Row, reading: Reading, at: int, outside: re.Pattern[str]) -> list[str]:
    said = []
    if wall(reading.range) != (row.start, row.end):
        said.append(f"{row.phrase}: {_period(*wall(reading.range))}, not {_period(row.start, row.end)}")
    if row.grain is not None and reading.grain != row.grain:
        said.append(f"{row.phrase}: grain {reading.grain}, not {row.grain}")
    for flag, raised in (("fuzzy", reading.fuzzy), ("future", reading.future)):
        if flag in row.flags and not raised:
            said.append(f"{row.phrase}: not {flag}")
    if reading.future and "future" not in row.flags:
        said.append(f"{row.phrase}: future")
    return said + _span_faults(text, row.phrase, reading.span, at, outside)


def _span_faults(
    text: str, phrase: str, span: tuple[int, int], at: int, outside: re.Pattern[str]
) -> list[str]:
    overlaps = span[0] < at + len(phrase) and at < span[1]
    words = text[slice(*span)]
    if overlaps and outside.sub("", words) == outside.sub("", phrase):
        return []
    return [f"{phrase}: stands at {words!r}"]


def _other_faults(row: Row, reading: Reading, others: tuple[Reading, ...]) -> list[str]:
    offered = {wall(other.range) for other in others if other.span == reading.span}
    wanted = [flag.removeprefix("alt=") for flag in row.flags if flag.startswith("alt=")]
    return [
        f"{row.phrase}: alternative {pair} not offered"
        for pair in wanted
        if tuple(_at(cell) for cell in pair.split("/")) not in offered
    ]


def _vague_faults(case: Case, found: Resolution | None, outside: re.Pattern[str]) -> list[str]:
    if found is None or not found.vague or found.readings:
        return [f"vague wanted, found {_shown(case.text, found)}"]
    if len(found.vague_spans) != len(case.rows):
        return [f"{len(found.vague_spans)} vague spans"]
    said = []
    for row, span in zip(case.rows, found.vague_spans, strict=True):
        said += _span_faults(case.text, row.phrase, span, case.text.index(row.phrase), outside)
    flags = {flag for row in case.rows for flag in row.flags}
    windows = [flag.removeprefix("window=") for flag in flags if flag.startswith("window=")]
    window = found.window and "/".join(map(_cell, wall(found.window)))
    return said + [f"window {window}, not {wanted}" for wanted in windows if wanted != (window or "none")]


def _cell(at: datetime | None) -> str:
    """A wall time as the tables write it."""
    if at is None:
        return "-"
    return f"{at:%Y-%m-%d}" if at.time() == datetime.min.time() else f"{at:%Y-%m-%dT%H:%M}"


def wall(period: TimeRange) -> tuple[datetime | None, datetime | None]:
    """Both ends as a clock on the wall shows them."""
    start, end = period.local()
    return start and start.replace(tzinfo=None, fold=0), end and end.replace(tzinfo=None, fold=0)


def _shown(text: str, found: Resolution | None) -> str:
    if found is None:
        return "nothing"
    return "; ".join(
        [f"{text[slice(*r.span)]!r} {_period(*wall(r.range))}" for r in found.readings]
        + [f"vague {text[slice(*span)]!r}" for span in found.vague_spans]
    )


def _period(start: datetime | None, end: datetime | None) -> str:
    return f"{start.isoformat() if start else '…'}/{end.isoformat() if end else '…'}"

"""What every tool works with: the memory, whose default namespace, which present; and how times are asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from huimem import overview
from huimem.errors import UsageError
from huimem.memory import Memory
from huimem.records import Freshness, TimeRange
from huimem.surfaces.cli.hits import counted
from huimem.surfaces.cli.look import Look
from huimem.surfaces.documents import freshness_document
from huimem.surfaces.mcp.answers import Document, joined
from huimem.surfaces.phrases import phrase_of

Arguments = Mapping[str, Any]
Report = Callable[[float, float | None, str], None]
_EXAMPLES = 'Try "last Wednesday", "上周三", "2026-W14", "2026-04-08" or "2026-04-01..2026-04-05".'


@dataclass(frozen=True, slots=True)
class Desk:
    """One call's surroundings. `indexing`: files that were in, of how many, when the call came.

    `report` tells the client how the work goes: done, of how many, in words.
    """

    memory: Memory
    namespace: str | None
    now: datetime
    indexing: tuple[int, int] | None
    report: Report

    @property
    def look(self) -> Look:
        """How times are shown: as for people, in plain text."""
        return Look(self.memory.zone, self.now, self.memory.vault.root)

    def moment(self, at: datetime | None) -> str:
        """`Wed 2026-04-08 23:58`; `undated` for None."""
        return f"{at.astimezone(self.memory.zone):%a %Y-%m-%d %H:%M}" if at else "undated"

    def space(self, arguments: Arguments) -> str | None:
        """The namespace that is asked for, else the server's own."""
        named: str | None = arguments["namespace"]
        return self.namespace if named is None else named

    def progress(self, what: str, done: int, total: int) -> None:
        """Tell how the catching up with the files goes."""
        self.report(done, total, f"indexing {what}, {done:,} of {total:,} files")

    def standing(self, freshness: Freshness) -> Document:
        """How far an answer covers the vault, with how far the taking in is."""
        document = freshness_document(freshness)
        if self.indexing and not freshness.fresh:
            document["indexing"] = {"done": self.indexing[0], "total": self.indexing[1]}
        return document

    def standing_words(self, freshness: Freshness) -> str:
        """The same in a few words: `index fresh`, `indexing, 1,000 of 5,000 files`."""
        if freshness.fresh:  # the last file may have come in since the call did
            words = "index fresh"
        elif self.indexing:
            words = f"indexing, {self.indexing[0]:,} of {self.indexing[1]:,} files: ask again for the rest"
        else:
            words = f"{counted(freshness.pending, 'file')} not in the index yet"
        missing = freshness.vectors_total - freshness.vectors_done
        return joined(
            [
                words,
                "by words only" if freshness.engine == "words" and freshness.vectors_total else "",
                f"vectors {freshness.vectors_done:,} of {freshness.vectors_total:,}" if missing > 0 else "",
            ]
        )


def when_of(desk: Desk, arguments: Arguments) -> str | None:
    """The time that is asked for, as one phrase. Raises `UsageError` where it names no time."""
    when, since, until = (_said(arguments[name]) for name in ("when", "since", "until"))
    if since is None and until is None:
        if when is not None:
            read(desk, when)
        return when
    if when is not None:
        raise UsageError("`when` and `since` or `until` ask for a time twice", "Give one of them.")
    start = _range(desk, "since", since).start if since else None
    end = _range(desk, "until", until).end if until else None
    if start and end and start >= end:
        raise UsageError("`since` lies after `until`", "Exchange them.")
    return phrase_of(TimeRange(start, end), desk.memory.zone) if start or end else None


def read(desk: Desk, phrase: str) -> tuple[TimeRange, ...]:
    """How a time phrase is read, vague ones by their window. Raises `UsageError` where it names no time."""
    try:
        found = overview.time_read(desk.memory, phrase, desk.now)
    except UsageError as error:
        raise UsageError(error.message, _EXAMPLES) from error
    return found.ranges or ((found.window,) if found.window else ())


def _said(value: str | None) -> str | None:
    return value if value and value.strip() else None


def _range(desk: Desk, name: str, phrase: str) -> TimeRange:
    ranges = read(desk, phrase)
    if not ranges:
        raise UsageError(f"`{name}` names no exact time", _EXAMPLES)
    return ranges[0]

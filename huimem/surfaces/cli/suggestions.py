"""An answer → command lines that may find more: another reading of its time, a walk, how one goes on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil
from shlex import quote

from huimem.recall.query import WEEKS
from huimem.records import Query, Recall
from huimem.surfaces.cli.visible import visible_line
from huimem.surfaces.phrases import phrase_of, until


@dataclass(frozen=True, slots=True)
class Typed:
    """A question as it was typed, `-` where it came by standard input; `now` is in the asker's zone.

    `shared` are options that were given with it and are to be given again.
    """

    question: str
    now: datetime
    shared: tuple[str, ...] = ()

    def line(self, verb: str, query: Query, *options: str) -> str:
        """The same question with another verb or other options, under the filters it had."""
        filters = [words for words in _filters(query) if verb == "recall" or words != ("--said",)]
        named = (*options, *(word for words in filters for word in words), *self.shared)
        dashed = self.question.startswith("-") and self.question != "-"
        words = (*named, "--", self.question) if dashed else (self.question, *named)
        return " ".join(("huimem", verb, *(quote(visible_line(word)) for word in words)))


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A command line that may find more, and why."""

    why: str
    command: str


def filter_words(query: Query) -> str:
    """The filters of a question as the options that set them, for reading."""
    return visible_line(" ".join(word for words in _filters(query) for word in words))


def _filters(query: Query) -> Iterator[tuple[str, ...]]:
    """The options that set the filters of a question, each with its value."""
    for option, values in (("--kind", query.kinds), ("--role", query.roles), ("--tag", query.tags)):
        yield from ((option, value) for value in values)
    if query.said_only and query.text:
        yield ("--said",)
    if query.namespace:
        yield "--namespace", query.namespace


def suggestions(recall: Recall, typed: Typed) -> Iterator[Suggestion]:
    """What to ask instead where a time holds no answer, and how a walk goes on."""
    query = recall.query
    if recall.scanned or recall.exhausted:
        if recall.cursor:
            phrase = until(recall.cursor, typed.now.tzinfo or UTC)
            yield Suggestion("farther back", typed.line("scan", query, "--from", phrase))
    elif query.named and not recall.hits:
        yield from _other_readings(recall, typed)
        if query.text:
            walk = typed.line("scan", query, "--from", "today", *_far(recall, typed))
            yield Suggestion("walk back week by week", walk)


def _other_readings(recall: Recall, typed: Typed) -> Iterator[Suggestion]:
    used = [reading.span for reading in recall.readings if reading.range in recall.query.named]
    for other in recall.resolution.alternatives if recall.resolution else ():
        if other.span in used:
            phrase = phrase_of(other.range, other.range.zone)
            line = typed.line("recall", recall.query, "--when", phrase)
            yield Suggestion(f"another reading, {other.words}", line)


def _far(recall: Recall, typed: Typed) -> list[str]:
    """As many weeks as lead back to a time that holds something, where that is more than a walk goes."""
    starts = [span.start for span in recall.query.named if span.start] if recall.considered else []
    weeks = ceil((typed.now - min(starts)).days / 7) + 1 if starts else 0
    return ["--weeks", str(weeks)] if weeks > WEEKS else []

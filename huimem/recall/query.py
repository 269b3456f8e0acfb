"""What a caller asks → a Query, made once: time words become ranges, the rest becomes terms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypedDict

from huimem.errors import UsageError
from huimem.index.tokens import query_terms
from huimem.records import Query, Resolution, TimeRange
from huimem.vault.layout import namespaces_asked
from huimem.vault.roles import role_of
from huimem.vault.text import whole

Resolve = Callable[[str, datetime], Resolution | None]
LONGEST = 20_000  # characters of a question that are read; an essay's start says what it is about
MOST_HITS = 1_000


class Keywords(TypedDict, total=False):
    """The keywords of `Memory.recall`; their meaning stands at `Options`."""

    when: str | None
    during: Sequence[TimeRange] | None
    said_only: bool
    namespace: str | None
    kinds: Sequence[str]
    roles: Sequence[str]
    tags: Sequence[str]
    limit: int
    context: int
    as_of: datetime | None
    include_superseded: bool


@dataclass(frozen=True, slots=True)
class Options:
    """How to answer: the keywords of `Memory.recall`, with the meaning given there.

    `when` is a time phrase that takes the place of the question's own time words; `during` are
    ranges already made; together they are a union. `context` counts neighbour records on each side.
    """

    when: str | None = None
    during: Sequence[TimeRange] | None = None
    said_only: bool = False
    namespace: str | None = None
    kinds: Sequence[str] = ()
    roles: Sequence[str] = ()
    tags: Sequence[str] = ()
    limit: int = 5
    context: int = 0
    as_of: datetime | None = None
    include_superseded: bool = False


def options(keywords: Keywords) -> Options:
    """The keywords of a question as `Options`, its names in the form that files give theirs."""
    given = Options(**keywords)
    return replace(
        given,
        namespace=namespaces_asked(given.namespace),
        kinds=tuple(whole(kind).lower() for kind in given.kinds),
        roles=tuple(role_of(role) or whole(role).casefold() for role in given.roles),
        tags=tuple(whole(tag).removeprefix("#") for tag in given.tags),
    )


def make(text: str, options: Options, now: datetime, resolve: Resolve) -> tuple[Query, Resolution | None]:
    """The Query of a question with how its time was read.

    `now` is aware. Raises UsageError for a limit below 1, a negative context, a naive `as_of`, or a
    `when` that names no time.
    """
    _check(options)
    asked = text[:LONGEST].replace("\x00", " ")
    resolution = _time(asked, options, now, resolve)
    words = _without_times(asked, resolution) if resolution and options.when is None else asked
    ranges = (*(options.during or ()), *(resolution.ranges if resolution else ()))
    return (
        Query(
            text=words.strip(),
            terms=tuple(query_terms(words)),
            as_of=options.as_of or now,
            during=ranges,
            vague=bool(resolution and resolution.vague),
            said_only=options.said_only,
            namespace=options.namespace,
            kinds=tuple(options.kinds),
            roles=tuple(options.roles),
            tags=tuple(options.tags),
            limit=min(options.limit, MOST_HITS),
            include_superseded=options.include_superseded,
        ),
        resolution,
    )


def _check(options: Options) -> None:
    if options.limit < 1:
        raise UsageError(f"a limit of {options.limit} asks for nothing", "use --limit 1 or more")
    if options.context < 0:
        raise UsageError(f"context cannot be {options.context}", "use --context 0 or more")
    if options.as_of is not None and options.as_of.tzinfo is None:
        raise UsageError("as_of needs a zone", "give it an offset, as in 2026-04-15T10:30+08:00")


def _time(text: str, options: Options, now: datetime, resolve: Resolve) -> Resolution | None:
    """The phrase of `when` must be a time through and through; a question's own words may be none."""
    if options.when is None:
        return resolve(text, now)
    phrase = options.when.strip()
    resolution = resolve(phrase, now)
    covered = resolution and sum(b - a for a, b in (r.span for r in resolution.readings)) >= len(phrase)
    if not resolution or not (covered or resolution.vague):
        raise UsageError(
            f"“{phrase}” names no time that can be read",
            "try a date (2026-04-08), a month (2026-04), a week (2026-W15), a range (2026-04-01..2026-04-05)",
        )
    return resolution


def _without_times(text: str, resolution: Resolution) -> str:
    """The question with its time words blanked, so that they are not searched for."""
    for start, end in (reading.span for reading in resolution.readings):
        text = text[:start] + " " * (end - start) + text[end:]
    return text

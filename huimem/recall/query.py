"""What a caller asks → a Query, made once: time words become ranges, the rest becomes terms."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TypedDict

from huimem.errors import UsageError
from huimem.index.tokens import query_terms
from huimem.recall.frames import asks_for_talk, is_frame
from huimem.records import Query, Reading, Resolution, TimeRange
from huimem.vault.layout import namespaces_asked
from huimem.vault.roles import role_of
from huimem.vault.text import whole

Resolve = Callable[[str, datetime], Resolution | None]
LONGEST = 20_000  # characters of a question that are read; an essay's start says what it is about
MOST_HITS = 1_000
_SHOWN = 80  # characters of a phrase that names no time
_ANOTHER_DAY = timedelta(days=400)  # away: of another name, month and year
_FOUR_FIGURES = re.compile(r"\s*[1-9]\d{3}\s*", re.ASCII)

# What "about" adds to a range on either side: one unit of its grain, and never more than its own length.
_UNITS = {
    "second": timedelta(seconds=1),
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "daypart": timedelta(hours=6),
    "day": timedelta(days=1),
    "weekend": timedelta(days=2),
    "week": timedelta(days=7),
    "tenday": timedelta(days=10),
    "month": timedelta(days=31),
    "quarter": timedelta(days=92),
    "season": timedelta(days=92),
    "half": timedelta(days=184),
}


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


@dataclass(frozen=True, slots=True)
class Understood:
    """A question as it was asked at `now`, how its time was read, and the Query that follows from both.

    `unused` are readings that limit nothing; the words of those that are `again` words like others are
    searched for, but for `unheard` ones. `replaced` is where time words stand that `when` takes the place of.
    """

    asked: str
    options: Options
    now: datetime
    resolution: Resolution | None
    query: Query = field(init=False)
    unused: frozenset[Reading] = frozenset()
    again: frozenset[Reading] = frozenset()
    unheard: frozenset[str] = frozenset()
    replaced: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "query", _query(self))

    @property
    def own(self) -> tuple[Reading, ...]:
        """The readings of the question's own words that limit it. What `when` names was demanded."""
        if self.resolution is None or self.options.when is not None:
            return ()
        return tuple(reading for reading in self.resolution.readings if reading not in self.unused)

    @property
    def words(self) -> str:
        """The question without its time words, so that they are not searched for."""
        if self.resolution is None or self.options.when is not None:
            return _blanked(self.asked, self.replaced)
        spans = [reading.span for reading in self.resolution.readings if reading not in self.again]
        return _blanked(self.asked, (*spans, *self.resolution.vague_spans))

    def without(
        self, unused: Collection[Reading], again: Collection[Reading], heard: Callable[[str], bool]
    ) -> Understood:
        """The same question, where some of its own readings limit nothing.

        The words of `again` are searched for, since a talk may have been about "the nineties"; those that
        were never `heard` are not, nor are the numbers of days.
        """
        made = replace(self, unused=self.unused.union(unused), again=self.again.union(again))
        more = set(made.query.terms) - set(self.query.terms)
        silent = {term for term in more if (term.isdigit() and len(term) < 4) or not heard(term)}
        return replace(made, unheard=self.unheard.union(silent))


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


def make(text: str, options: Options, now: datetime, resolve: Resolve) -> Understood:
    """The Query of a question with how its time was read.

    `now` is aware. Raises UsageError for a limit below 1, a negative context, a naive `as_of`, or a
    `when` that names no time.
    """
    _check(options)
    asked = text[:LONGEST].replace("\x00", " ")
    resolution = _time(asked, options, now, resolve)
    replaced = () if options.when is None else _passing(asked, now, resolve)
    return Understood(asked, options, now, resolution, replaced=replaced)


def _passing(asked: str, now: datetime, resolve: Resolve) -> tuple[tuple[int, int], ...]:
    """Where a question's time words stand, but for those that may be what it is about."""
    found = resolve(asked, now) or Resolution()
    spans = [one.span for one in found.readings if not is_fixed(one, asked, now, resolve)]
    return (*spans, *found.vague_spans)


def is_fixed(reading: Reading, asked: str, now: datetime, resolve: Resolve) -> bool:
    """Whether a phrase means the same time on any day, "the nineties" and not "last year"."""
    then = now - _ANOTHER_DAY if now.year > 1970 else now + _ANOTHER_DAY
    read = resolve(asked[slice(*reading.span)], then)
    return read is not None and read.ranges == (reading.range,)


def _query(given: Understood) -> Query:
    options, resolution, words = given.options, given.resolution, given.words
    readings = resolution.readings if resolution else ()
    used = [reading for reading in readings if reading not in given.unused]
    named = (*(options.during or ()), *(reading.range for reading in used))
    vague = bool(resolution and resolution.vague)
    terms = tuple(term for term in query_terms(words) if term not in given.unheard)
    listing = (bool(named) or vague) and (not terms or is_frame(words))
    ahead = bool(used) and all(reading.future for reading in used)  # then nothing can have been said yet
    return Query(
        text="" if listing else words.strip(),
        terms=() if listing else terms,
        as_of=options.as_of or given.now,
        during=named if listing else (*(options.during or ()), *map(widened, used)),
        named=named,
        vague=vague,
        said_only=options.said_only or (listing and not ahead and asks_for_talk(words)),
        namespace=options.namespace,
        kinds=tuple(options.kinds),
        roles=tuple(options.roles),
        tags=tuple(options.tags),
        limit=min(options.limit, MOST_HITS),
        include_superseded=options.include_superseded,
    )


def widened(reading: Reading) -> TimeRange:
    """The range that a reading lets pass: its own, and with "about" one unit more on each closed side."""
    span = reading.range
    if not reading.fuzzy:
        return span
    unit = _UNITS.get(reading.grain, timedelta(days=366))
    margin = min(unit, span.end - span.start) if span.start and span.end else unit
    try:
        return TimeRange(
            span.start - margin if span.start else None, span.end + margin if span.end else None, span.zone
        )
    except OverflowError:  # at the ends of the calendar
        return span


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
    resolution = _year(options.when, now, resolve) or resolve(options.when, now)
    spans = [*(r.span for r in resolution.readings), *resolution.vague_spans] if resolution else []
    if not spans or not is_frame(_blanked(options.when, spans)):
        named = options.when.strip()
        raise UsageError(
            f"“{named if len(named) <= _SHOWN else named[:_SHOWN] + '…'}” names no time that can be read",
            "try last Wednesday, 上周三, in March, 三月, 2026-04-08 or 2026-04-01..2026-04-05; "
            "huimem when PHRASE shows how a phrase is read",
        )
    return resolution


def _year(phrase: str, now: datetime, resolve: Resolve) -> Resolution | None:
    """Four figures alone, which in a question may be any number, where a time is asked for."""
    found = resolve(f"year {phrase.strip()}", now) if _FOUR_FIGURES.fullmatch(phrase) else None
    if found is None:
        return None
    span = (0, len(phrase))
    return replace(found, readings=tuple(replace(one, span=span) for one in found.readings))


def _blanked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text

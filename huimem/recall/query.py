"""What a caller asks → a Query, made once: time words become ranges, the rest becomes terms."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from huimem.errors import UsageError
from huimem.given import several, texts
from huimem.index.tokens import query_terms
from huimem.recall.frames import asks_for_talk, is_frame
from huimem.recall.intent import asks_for_latest, asks_for_past
from huimem.recall.keywords import Keywords as Keywords
from huimem.recall.wording import Worded, excluding, unwrapped, worded
from huimem.records import Query, Reading, Resolution, TimeRange
from huimem.vault.incoming import texts_from
from huimem.vault.layout import namespaces_asked
from huimem.vault.roles import role_of
from huimem.vault.text import whole

Resolve = Callable[[str, datetime], Resolution | None]
LONGEST = 20_000  # characters of a question that are read; an essay's start says what it is about
MOST_HITS = 1_000
PASTED = 3  # lines of a piece of talk
WEEKS, MOST_WEEKS = 16, 5_200  # of a walk without a window; a century
ENOUGH = 0.6  # the score of a week's best that may end a walk
A_MOMENT = timedelta(microseconds=1)
_EARLIEST = datetime.min.replace(tzinfo=UTC)
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


@dataclass(frozen=True, slots=True)
class Way:
    """What a walk goes through, from its end back, and how much `farther` while it has found nothing.

    `spans` are in the order of time, with gaps between them. The last one's end is open where it is the
    present, the first one's start where it is everything. `weekly`: by weeks, however long they are.
    `enough` is the score of a step's best that may end it. `vague`: nobody asked for a walk.
    """

    spans: tuple[TimeRange, ...]
    farther: timedelta = timedelta()
    weekly: bool = False
    enough: float = ENOUGH
    vague: bool = False

    @property
    def border(self) -> datetime | None:
        """Where its spans begin, and what lies farther ends; None before all times."""
        return self.spans[0].start

    @property
    def stretches(self) -> tuple[TimeRange, ...]:
        """All that it may come to: what lies farther, and its spans."""
        if self.border is None or not self.farther:
            return self.spans
        try:
            start = self.border - self.farther
        except OverflowError:  # before all times
            start = None
        return (TimeRange(start, self.border, self.spans[0].zone), *self.spans)


@dataclass(frozen=True, slots=True)
class Options:
    """How to answer: the keywords of `Memory.recall`, with the meaning given there.

    `when` is a time phrase that takes the place of the question's own time words; `during` are
    ranges already made; together they are a union. `context` counts neighbour records on each side;
    `budget` is how many tokens the passages may take. `scan`: walk back through time, at most `weeks`
    of it where no window is named; None where the time is vague. `start`, a phrase or a moment, takes the
    place of the question's own time words, and a walk begins at its end. `enough` is the score of a week's
    best that may end a walk. `history` are the messages before the question, oldest first.
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
    history: Sequence[str] = ()
    budget: int | None = None
    scan: bool | None = None
    weeks: int = WEEKS
    start: str | datetime | None = None
    enough: float = ENOUGH


@dataclass(frozen=True, slots=True)
class Understood:
    """A question as it was asked at `now`, how its time was read, and the Query that follows from both.

    `unused` are readings that limit nothing; the words of those that are `again` words like others are
    searched for, but for `unheard` ones. `replaced` is where time words stand that `when` or `start` takes
    the place of; `begin` is where a walk begins, None where nobody said it.
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
    begin: datetime | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "query", _query(self))

    @property
    def own(self) -> tuple[Reading, ...]:
        """The readings of the question's own words that limit it. What `when` names was demanded."""
        if self.resolution is None or self.options.when is not None:
            return ()
        return tuple(reading for reading in self.resolution.readings if reading not in self.unused)

    @property
    def worded(self) -> Worded:
        """The question without its time words, so that they are not searched for, and without its marks."""
        found = self.resolution or Resolution()
        timed = bool(self.options.during or found.readings or found.vague)
        if self.options.when is not None:
            return worded(_blanked(self.asked, self.replaced), timed=timed)
        spans = [reading.span for reading in found.readings if reading not in self.again]
        return worded(_blanked(self.asked, (*self.replaced, *spans, *found.vague_spans)), timed=timed)

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
    """The keywords of a question as `Options`, its names in the form that files give theirs.

    Raises UsageError where several of a kind are expected and something else is given.
    """
    given = Options(**keywords)  # type: ignore[arg-type]  # several of a kind are read below
    during = several("during", given.during, (TimeRange,), 'give TimeRanges, or words: when="last week"')
    return replace(
        given,
        during=during or None,
        namespace=namespaces_asked(given.namespace),
        kinds=tuple(whole(kind).lower() for kind in texts("kinds", given.kinds, "note")),
        roles=tuple(role_of(role) or whole(role).casefold() for role in texts("roles", given.roles, "user")),
        tags=tuple(whole(tag).removeprefix("#") for tag in texts("tags", given.tags, "work")),
        history=texts_from(given.history),
    )


def make(text: str, options: Options, now: datetime, resolve: Resolve) -> Understood:
    """The Query of a question with how its time was read.

    `now` is aware. Raises UsageError for a limit or a budget below 1, a negative context, a naive
    `as_of` or `start`, or a `when` or `start` that names no time.
    """
    _check(options)
    asked = unwrapped(text[:LONGEST].replace("\x00", " "))
    if options.when is None and options.start is None:
        return Understood(asked, options, now, None if is_pasted(asked) else _times(asked, now, resolve))
    resolution = None if options.when is None else _named(options.when, now, resolve)
    begin = _end_of(options.start, now, resolve)
    return Understood(asked, options, now, resolution, replaced=_passing(asked, now, resolve), begin=begin)


def is_pasted(text: str) -> bool:
    """Whether a text is a piece of talk and no question: three lines or more.

    What its time words say is when something was, not when to look: read as filters they cost MADial's
    dialogues R@5 .07.
    """
    return text.strip().count("\n") >= PASTED - 1


def _times(asked: str, now: datetime, resolve: Resolve) -> Resolution | None:
    """How a question's time words are read; words to shut out are none, but those of "Monday -Friday"."""
    found = resolve(asked, now)
    spans = [*(one.span for one in found.readings), *found.vague_spans] if found else []
    out = [mark for mark in excluding(asked) if not any(start < mark[0] < end for start, end in spans)]
    return resolve(_blanked(asked, out), now) if out else found


def _passing(asked: str, now: datetime, resolve: Resolve) -> tuple[tuple[int, int], ...]:
    """Where a question's time words stand, but for those that may be what it is about."""
    found = _times(asked, now, resolve) or Resolution()
    spans = [one.span for one in found.readings if not is_fixed(one, asked, now, resolve)]
    return (*spans, *found.vague_spans)


def is_fixed(reading: Reading, asked: str, now: datetime, resolve: Resolve) -> bool:
    """Whether a phrase means the same time on any day, "the nineties" and not "last year"."""
    then = now - _ANOTHER_DAY if now.year > 1970 else now + _ANOTHER_DAY
    read = resolve(asked[slice(*reading.span)], then)
    return read is not None and read.ranges == (reading.range,)


def _query(given: Understood) -> Query:
    options, resolution, asked = given.options, given.resolution, given.worded
    pasted = is_pasted(given.asked)
    words = asked.text
    readings = resolution.readings if resolution else ()
    used = [reading for reading in readings if reading not in given.unused]
    named = (*(options.during or ()), *(reading.range for reading in used))
    vague = bool(resolution and resolution.vague)
    terms = tuple(term for term in query_terms(words) if term not in given.unheard)
    listing = (bool(named) or vague) and not asked.phrases and (not terms or is_frame(words))
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
        # Who quotes a text looks for it, and who asks for what was, for what was.
        include_superseded=options.include_superseded
        or bool(asked.phrases)
        or (not pasted and asks_for_past(given.asked)),
        history=tuple(options.history),
        phrases=asked.phrases,
        excluded=asked.excluded,
        # Time words and all: "before" and "these days" are such. What is quoted was said by others.
        latest=not pasted and asks_for_latest(_unquoted(given.asked, asked)),
        pasted=pasted,
    )


def _unquoted(text: str, marks: Worded) -> str:
    for words in (*marks.phrases, *(one.written for one in marks.excluded)):
        text = text.replace(words, " ")
    return text


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
    if not 0 <= options.context <= MOST_HITS:
        raise UsageError(f"context cannot be {options.context:,}", f"use --context 0 to {MOST_HITS:,}")
    if options.budget is not None and options.budget < 1:
        raise UsageError(
            f"a budget of {options.budget} tokens holds nothing",
            "use --budget 1 or more; 1000 is about a page and a half",
        )
    if not 1 <= options.weeks <= MOST_WEEKS:
        raise UsageError(f"a walk cannot go {options.weeks:,} weeks", f"use --weeks 1 to {MOST_WEEKS:,}")
    if options.start is not None and options.when is not None:
        raise UsageError("the time of a walk is named twice", "use --when or --from, not both")
    for name, at in (("as_of", options.as_of), ("start", options.start)):
        if isinstance(at, datetime) and at.tzinfo is None:
            raise UsageError(f"{name} needs a zone", "give it an offset, as in 2026-04-15T10:30+08:00")


def _named(phrase: str, now: datetime, resolve: Resolve) -> Resolution:
    """A phrase that must be a time through and through, as a question's own words need not be."""
    resolution = _year(phrase, now, resolve) or resolve(phrase, now)
    spans = [*(r.span for r in resolution.readings), *resolution.vague_spans] if resolution else []
    if resolution is None or not spans or not is_frame(_blanked(phrase, spans)):
        named = phrase.strip()
        raise UsageError(
            f"“{named if len(named) <= _SHOWN else named[:_SHOWN] + '…'}” names no time that can be read",
            "try last Wednesday, 上周三, in March, 三月, 2026-04-08 or 2026-04-01..2026-04-05; "
            "huimem when PHRASE shows how a phrase is read",
        )
    return resolution


def _end_of(start: str | datetime | None, now: datetime, resolve: Resolve) -> datetime | None:
    """Where a walk begins: at the end of the time named, of the present where that is open."""
    if not isinstance(start, str):
        return start
    read = _named(start, now, resolve)
    spans = read.ranges or ((read.window,) if read.window else ())
    ends = [span.end for span in spans if span.end is not None]
    return max(ends) if ends and len(ends) == len(spans) else now


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


def walking(asked: Understood) -> Way | None:
    """What is walked back through, from its end; None where the question is answered at once.

    The window of vague words, and as many weeks more while nothing is found; for a walk that is asked for,
    the times named, else the last weeks before its `begin`.
    """
    options, resolution = asked.options, asked.resolution
    vague = resolution is not None and resolution.vague and not asked.query.named
    wanted = options.scan if options.scan is not None else vague or asked.begin is not None
    if not wanted or not asked.query.text:
        return None
    if asked.query.during:
        return Way(_apart(asked.query.during), enough=options.enough)
    if resolution is not None and resolution.window is not None:
        farther = timedelta(weeks=options.weeks)
        return Way((resolution.window,), farther, enough=options.enough, vague=options.scan is None)
    zone = asked.now.tzinfo or UTC
    try:
        here = TimeRange.week_of(asked.begin - A_MOMENT if asked.begin else asked.now, zone)
    except OverflowError as error:
        raise UsageError("no week begins or ends there", "begin the walk within the calendar") from error
    span = TimeRange(_weeks_before(here, options.weeks - 1), asked.begin or here.end, zone)
    return Way((span,), weekly=True, enough=options.enough, vague=vague and options.scan is None)


def _apart(spans: Sequence[TimeRange]) -> tuple[TimeRange, ...]:
    """Some ranges in the order of time, those that overlap or touch as one."""
    found: list[TimeRange] = []
    for span in sorted(spans, key=lambda span: span.start or _EARLIEST):
        last = found[-1] if found else None
        if last is None or (last.end and span.start and last.end < span.start):
            found.append(span)
        else:
            end = max(last.end, span.end) if last.end and span.end else None
            found[-1] = TimeRange(last.start, end, last.zone)
    return tuple(found)


def _weeks_before(week: TimeRange, weeks: int) -> datetime | None:
    """Where the week begins that lies so many weeks before another; None before all times."""
    first = week.local()[0]
    try:
        return first and TimeRange.days_from(first - timedelta(weeks=weeks), 7, week.zone).start
    except OverflowError:
        return None

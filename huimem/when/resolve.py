"""A question's time words → a Resolution, in the zone of `now`. Pure: no clock, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache

from huimem.ranges import Reading, Resolution, TimeRange
from huimem.when import masks
from huimem.when.chinese import CHINESE
from huimem.when.coming import coming
from huimem.when.conventions import place
from huimem.when.english import ENGLISH
from huimem.when.expressions import About, Expression, Moment, Open, Vague
from huimem.when.iso import ISO
from huimem.when.language import Found, Grammar
from huimem.when.periods import back
from huimem.when.placing import DAY, Here, Place, Span, midnight
from huimem.when.words import WEEKDAYS, said

LANGUAGES = {language.name: language for language in (ENGLISH, CHINESE)}
_WEEKDAYS = {weekday.lower(): number for number, weekday in enumerate(WEEKDAYS)}


def resolve(
    text: str, now: datetime, *, week_start: str = "monday", languages: Collection[str] | None = None
) -> Resolution | None:
    """What stretches of time `text` names, in text order; None where it names none.

    `now` is aware and its zone is the answer's; ranges are half-open and whole days, weeks or months
    are those of that zone. Vague words give no range but a window to begin looking in. `languages`:
    names out of "en" and "zh", all by default. Raises ValueError for a naive `now`, an unknown
    language or weekday.
    """
    return _resolution(text, now, week_start, languages, place)


def resolve_spoken(
    text: str, at: datetime, *, week_start: str = "monday", languages: Collection[str] | None = None
) -> Resolution | None:
    """What somebody spoke of who said `text` at `at`: as `resolve`, but whatever recurs has two readings.

    Whoever asks a memory looks back; whoever tells of Friday may mean the last one or the next.
    """
    return _resolution(text, at, week_start, languages, place, coming, told=True)


def _weekday(name: str) -> int:
    number = _WEEKDAYS.get(name.lower())
    if number is None:
        raise ValueError(f"{name!r} is no weekday; use one of {', '.join(_WEEKDAYS)}")
    return number


@lru_cache(maxsize=8)
def _grammar(chosen: frozenset[str] | None) -> Grammar:
    names = sorted(LANGUAGES if chosen is None else chosen)
    unknown = [name for name in names if name not in LANGUAGES]
    if unknown or not names:
        raise ValueError(
            f"languages are out of {', '.join(sorted(LANGUAGES))}, not {', '.join(unknown) or 'none'}"
        )
    return Grammar((ISO, *(LANGUAGES[name] for name in names)))


_Placing = Callable[[Expression, Here], Place | None]


def _resolution(
    text: str,
    now: datetime,
    week_start: str,
    languages: Collection[str] | None,
    *ways: _Placing,
    told: bool = False,
) -> Resolution | None:
    """The readings of a text by each of the `ways` to place an expression, in text order.

    Whoever has `told` of 3 am means that of the day, whatever else is vague.
    """
    if now.tzinfo is None:
        raise ValueError("now needs a zone")
    here = Here(now.replace(tzinfo=None), now.tzinfo, _weekday(week_start))
    grammar = _grammar(None if languages is None else frozenset(languages))
    found = grammar.expressions(masks.hide(grammar.normal(text)))
    if not found:
        return None
    vague = [one for one in found if isinstance(one.expression, Vague)]
    idle = [] if told else _of_no_day(found, vague)
    readings: list[Reading] = []
    others: list[Reading] = []
    known: dict[int, list[_Readings]] = {}  # the grammar hands out one object for equal phrases
    for one in found:
        if one in vague or one in idle:
            continue
        seen = known.get(id(one.expression))
        if seen is None:
            seen = [_readings(way(one.expression, here), one, here, now) for way in ways]
            known[id(one.expression)] = seen
        else:
            seen = [(_moved(main, one), _moved(also, one)) for main, also in seen]
        for main, also in seen:
            readings += main
            others += also
    if not readings and not vague:
        return None
    window = _window(vague[0].expression, here) if vague and not readings else None
    spans = tuple(sorted((one.start, one.end) for one in (*vague, *idle)))
    return Resolution(tuple(readings), bool(vague) and not readings, window, tuple(others), spans)


def _of_no_day(found: Sequence[Found], vague: Sequence[Found]) -> list[Found]:
    """Times of day of no day, where a question says else only vaguely when: "a while ago at 3 am".

    By themselves they are those of the last day. Just now they are those of today.
    """
    bare = [one for one in found if _is_of_no_day(one.expression)]
    if not any(_is_days_wide(one.expression) for one in vague) or len(bare) + len(vague) < len(found):
        return []
    return bare


def _is_of_no_day(expression: Expression) -> bool:
    if isinstance(expression, About | Open):
        return _is_of_no_day(expression.of)
    return isinstance(expression, Moment) and expression.day is None


def _is_days_wide(expression: Expression) -> bool:
    return isinstance(expression, Vague) and (expression.back is None or expression.back[1] != "hour")


_Readings = tuple[list[Reading], list[Reading]]


def _moved(readings: list[Reading], found: Found) -> list[Reading]:
    """The same readings of the same words at another place."""
    return [replace(reading, span=(found.start, found.end)) for reading in readings]


def _readings(where: Place | None, found: Found, here: Here, now: datetime) -> _Readings:
    """A place as it is read, nothing where the zone has no such time, and its other readings."""
    main: list[Reading] = []
    also: list[Reading] = []
    if where is not None:
        words = said(where.of, here.shown(where.span))
        for span, name in ((where.span, words), *((other.span, other.words) for other in where.others)):
            range_ = _range(span, here)
            if range_ is None:
                if not main:
                    break
                continue
            future = range_.start is not None and range_.start > now
            reading = Reading(range_, span.grain, (found.start, found.end), where.fuzzy, future, name)
            (also if main else main).append(reading)
    return main, also


def _range(span: Span, here: Here) -> TimeRange | None:
    """The instants of a span; None where the zone skips all of it or its calendar ends before."""
    try:
        return here.range(span)
    except (ValueError, OverflowError):
        return None


def _window(vague: Expression, here: Here) -> TimeRange | None:
    """Where to begin looking for something vague; None where it may be anywhere."""
    if not isinstance(vague, Vague) or vague.back is None:
        return None
    (count, unit), (near, near_unit) = vague.back, vague.until
    try:
        if unit == "hour":
            return here.range(Span(here.before(timedelta(hours=count)), here.now, "hour"))
        start = midnight(back(here.today, ((count, unit),), -1))
        end = midnight(back(here.today, ((near, near_unit),), -1)) + DAY * (near == 0)
        return here.range(Span(start, end, "day"))
    except (ValueError, OverflowError):  # asked where the calendar begins
        return None

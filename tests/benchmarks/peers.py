"""Other libraries that read time words, each turned into the same answer: half-open ranges of local time.

Every adapter uses its library's own preference for the past where it has one, and widens a point to
the whole unit that the library says it means (a day, a month, the hour of a clock time). Recurring
times and durations are dropped, as they name no stretch of the past.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from io import StringIO
from typing import Any

Span = tuple[datetime | None, datetime | None]
DAY, HOUR, MINUTE, SECOND = timedelta(days=1), timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a library reads in a phrase: ranges in text order, wall clock; `vague` where it can say so."""

    spans: tuple[Span, ...] = ()
    vague: bool = False


Ask = Callable[[str, datetime, str], Answer]  # phrase, aware now, language


@dataclass(frozen=True, slots=True)
class Peer:
    """A library; `load` raises ImportError where it is not installed. `imports` and `first` are
    statements: what a program imports, and a first phrase read."""

    name: str
    distribution: str
    languages: tuple[str, ...]
    load: Callable[[], Ask]
    imports: str
    first: str
    says_vague: bool = False


def unit(at: datetime, grain: str) -> Span:
    """The whole unit that holds `at`."""
    day = datetime.combine(at.date(), time())
    match grain:
        case "year":
            return datetime(at.year, 1, 1), datetime(at.year + 1, 1, 1)
        case "month":
            return day.replace(day=1), (day.replace(day=1) + 32 * DAY).replace(day=1)
        case "week":
            monday = day - at.weekday() * DAY
            return monday, monday + 7 * DAY
        case "hour":
            start = at.replace(minute=0, second=0, microsecond=0)
            return start, start + HOUR
        case "minute":
            start = at.replace(second=0, microsecond=0)
            return start, start + MINUTE
        case "second":
            start = at.replace(microsecond=0)
            return start, start + SECOND
    return day, day + DAY


def clock(at: datetime, phrase: str) -> str:
    """The grain of a clock time, by the phrase that names it."""
    if re.search(r"\d:\d\d:\d\d|second|\bsecs?\b|秒", phrase, re.I):
        return "second"
    if re.search(r"\d:\d\d|minute|\bmins?\b|分|刻|半", phrase, re.I):
        return "minute"
    return "minute" if at.minute and not re.search(r"hour|小时|钟头", phrase, re.I) else "hour"


def _huimem() -> Ask:
    from huimem.when import resolve

    def ask(text: str, now: datetime, language: str) -> Answer:
        found = resolve(text, now)
        if found is None:
            return Answer()
        spans = (span.local() for span in found.ranges)
        naive = tuple((_wall(start), _wall(end)) for start, end in spans)
        return Answer(naive, found.vague)

    return ask


def _wall(at: datetime | None) -> datetime | None:
    return at.replace(tzinfo=None) if at else None


def _dateparser() -> Ask:
    from dateparser.search import search_dates

    def ask(text: str, now: datetime, language: str) -> Answer:
        settings = {
            "RELATIVE_BASE": now.replace(tzinfo=None),
            "PREFER_DATES_FROM": "past",
            "RETURN_TIME_AS_PERIOD": True,
            "RETURN_TIME_SPAN": True,
        }
        found = search_dates(text, languages=[language], settings=settings, add_period=True) or []
        return Answer(tuple(_with_spans([(phrase, _wall(at), period) for phrase, at, period in found])))

    return ask


def _with_spans(found: list[tuple[str, Any, str]]) -> Iterator[Span]:
    """Points as units; a pair `X (start)`, `X (end)` is a range, which says more than a point inside X."""
    starts = {p.removesuffix(" (start)"): at for p, at, _ in found if p.endswith(" (start)")}
    ends = {p.removesuffix(" (end)"): at for p, at, _ in found if p.endswith(" (end)")}
    points = [row for row in found if not row[0].endswith((" (start)", " (end)"))]
    for phrase, start in starts.items():
        if phrase in ends and phrase not in {point[0] for point in points}:
            points = [point for point in points if point[0] not in phrase]
            yield unit(start, "day")[0], unit(ends[phrase], "day")[1]
    for phrase, at, period in points:
        yield unit(at, clock(at, phrase) if period in ("time", "part_of_day") else period)


def _recognizers() -> Ask:
    from recognizers_date_time import Culture, recognize_datetime

    cultures = {"en": Culture.English, "zh": Culture.Chinese}

    def ask(text: str, now: datetime, language: str) -> Answer:
        local = now.replace(tzinfo=None)
        read = (
            _latest([*_values(found, local)], local)
            for found in recognize_datetime(text, cultures[language], reference=local)
        )
        return Answer(tuple(span for span in read if span))

    return ask


def _values(found: Any, now: datetime) -> Iterator[Span]:
    for value in (found.resolution or {}).get("values", ()):
        kind = value["type"]
        if kind in ("duration", "set"):
            continue
        if "value" in value:
            if at := _moment(value["value"], now):
                yield unit(at, "day" if kind == "date" else clock(at, found.text))
            continue
        start, end = (_moment(value.get(side), now) for side in ("start", "end"))
        if start and end and end <= start:
            start, end = start - (DAY if kind == "timerange" else timedelta()), end
        if start or end:
            yield start, end


def _moment(text: str | None, now: datetime) -> datetime | None:
    """A date, a date with a clock time, or a clock time alone: then the latest before now."""
    if not text or text == "not resolved":
        return None
    if re.fullmatch(r"\d\d:\d\d:\d\d", text):
        at = datetime.combine(now.date(), time.fromisoformat(text))
        return at if at <= now else at - DAY
    return datetime.fromisoformat(text)


def _latest(spans: list[Span], now: datetime) -> Span | None:
    """Of the readings that a library offers the latest one begun, else the first."""
    begun = [span for span in spans if span[0] is None or span[0] <= now]
    return max(begun, key=lambda span: span[0] or datetime.min) if begun else spans[0] if spans else None


def _jionlp() -> Ask:
    with redirect_stdout(StringIO()):  # it greets
        import jionlp

    extract = jionlp.ner.extract_time

    def ask(text: str, now: datetime, language: str) -> Answer:
        local = now.replace(tzinfo=None)
        found = extract(text, time_base=local, with_parsing=True)
        return Answer(
            tuple(
                _closed(row["detail"]["time"], row["text"], local)
                for row in found
                if row["type"] in ("time_point", "time_span") and "detail" in row
            )
        )

    return ask


def _closed(sides: list[str], phrase: str, now: datetime) -> Span:
    """Its ends are the last second inside; "since" ends at now, which stands for an open end."""
    start, end = (
        None if "inf" in side or side == "blank" else datetime.fromisoformat(side) for side in sides
    )
    if end and end.second == 59:
        end += SECOND
    if end == now and re.search(r"(以来|以后|之后|起)$", phrase):
        end = None
    return start, end


def _parsedatetime() -> Ask:
    import parsedatetime

    constants = parsedatetime.Constants("en_US", usePyICU=False)
    constants.DOWParseStyle = -1  # a bare weekday lies behind
    constants.YearParseStyle = 0  # the present year instead of the next one
    calendar = parsedatetime.Calendar(constants, version=parsedatetime.VERSION_CONTEXT_STYLE)
    context = parsedatetime.pdtContext
    grains = {
        context.ACU_SEC: "second",
        context.ACU_MIN: "minute",
        context.ACU_HOUR: "hour",
        context.ACU_HALFDAY: "hour",
        context.ACU_DAY: "day",
        context.ACU_WEEK: "week",
        context.ACU_MONTH: "month",
        context.ACU_YEAR: "year",
    }

    def ask(text: str, now: datetime, language: str) -> Answer:
        spans = []
        for at, said, *_ in calendar.nlp(text, sourceTime=now.replace(tzinfo=None)) or ():
            grain = next((grain for bit, grain in grains.items() if said.accuracy & bit), None)
            if grain:
                spans.append(unit(at, grain))
        return Answer(tuple(spans))

    return ask


_TODAY = "from datetime import datetime, timezone; now = datetime(2026, 4, 15, 10, 30, tzinfo=timezone.utc)"
PEERS = (
    Peer(
        "huimem",
        "huimem",
        ("en", "zh"),
        _huimem,
        "from huimem.when import resolve",
        f"{_TODAY}; resolve('last Tuesday', now)",
        says_vague=True,
    ),
    Peer(
        "dateparser",
        "dateparser",
        ("en", "zh"),
        _dateparser,
        "from dateparser.search import search_dates",
        "search_dates('last Tuesday', languages=['en'])",
    ),
    Peer(
        "recognizers-text",
        "recognizers-text-date-time",
        ("en", "zh"),
        _recognizers,
        "from recognizers_date_time import recognize_datetime",
        "recognize_datetime('last Tuesday', 'en-us')",
    ),
    Peer(
        "jionlp",
        "jionlp",
        ("zh",),
        _jionlp,
        "import jionlp",
        "jionlp.ner.extract_time('上周三', with_parsing=True)",
    ),
    Peer(
        "parsedatetime",
        "parsedatetime",
        ("en",),
        _parsedatetime,
        "import parsedatetime",
        "parsedatetime.Calendar().nlp('last Tuesday')",
    ),
)

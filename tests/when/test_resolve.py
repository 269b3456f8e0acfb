"""Laws that hold for any text at any time, and what zones, settings and quotation marks do."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from huimem.records import Resolution
from huimem.when import resolve, resolve_spoken
from tests.when.tables import cases, wall

SHANGHAI = ZoneInfo("Asia/Shanghai")
NOW = datetime(2026, 4, 15, 10, 30, tzinfo=SHANGHAI)
ZONES = [
    "UTC", "Asia/Shanghai", "Europe/Paris", "America/New_York", "Asia/Kolkata", "Asia/Kathmandu",
    "Australia/Lord_Howe", "Pacific/Auckland", "Pacific/Honolulu", "Pacific/Apia", "America/Sao_Paulo",
]  # fmt: skip
moments = st.builds(
    lambda at, zone: at.replace(tzinfo=ZoneInfo(zone)),
    st.datetimes(datetime(1970, 1, 1), datetime(2199, 12, 31, 23, 59)),
    st.sampled_from(ZONES),
)
PHRASES = sorted({case.text for name in ("english", "chinese", "ancestors") for case in cases(name)})
PIECES = sorted(
    {word for phrase in PHRASES for word in phrase.split()}
    | set("年月日号点周上下前后一二三0123456789 -/:.,")
)
texts = st.one_of(
    st.text(max_size=80),
    st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join),
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
    st.sampled_from(PHRASES),
)


def lawful(text: str, found: Resolution | None) -> None:
    if found is None:
        return
    assert found.readings or found.vague
    spans = [reading.span for reading in found.readings]
    assert all(0 <= start < end <= len(text) for start, end in (*spans, *found.vague_spans))
    assert spans == sorted(spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans)), "phrases that overlap"
    for reading in (*found.readings, *found.alternatives):
        start, end = reading.range.start, reading.range.end
        assert start is None or end is None or start < end
        assert start is not None or end is not None
        assert reading.words and reading.grain
        assert reading.span in spans


@settings(max_examples=600)
@given(texts, moments)
def test_any_text_at_any_time_gives_lawful_ranges(text: str, now: datetime) -> None:
    lawful(text, resolve(text, now))


@given(texts, moments)
def test_what_is_spoken_of_holds_what_is_asked_for(text: str, now: datetime) -> None:
    asked, spoken = resolve(text, now), resolve_spoken(text, now)
    assert set(asked.ranges if asked else ()) <= set(spoken.ranges if spoken else ())


# Said on Wednesday 15 April: what recurs may also be the next one, what has one place may not.
SPOKEN = [
    ("see you on Friday", ["2026-04-10", "2026-04-17"]),
    ("the party is at the weekend", ["2026-04-11", "2026-04-18"]),
    ("on Wednesday", ["2026-04-08", "2026-04-22"]),
    ("at Christmas we stay home", ["2025-12-25", "2026-12-25"]),
    ("yesterday", ["2026-04-14"]),
    ("last Friday", ["2026-04-10"]),
    ("in March 2024", ["2024-03-01"]),
    ("in April", ["2026-04-01"]),
    ("in June", ["2025-06-01", "2026-06-01"]),
    ("I am away from Monday to Friday", ["2026-04-06", "2026-04-13"]),
    ("周一到周五我在家", ["2026-04-06", "2026-04-13"]),
    ("from last Monday to Friday", ["2026-04-13"]),
    ("dentist at 3 pm", ["2026-04-14", "2026-04-15"]),
    ("下午三点接妈妈", ["2026-04-14", "2026-04-15"]),
    ("breakfast at 9 am", ["2026-04-15"]),
    ("the run starts at 2 am", ["2026-04-15"]),
    ("the dentist yesterday at 3 pm", ["2026-04-14"]),
    ("dinner in the evening", ["2026-04-14"]),
    ("the market on Sunday morning", ["2026-04-12", "2026-04-19"]),
    ("周日上午去市场", ["2026-04-12", "2026-04-19"]),
    ("the workshop runs from 2 pm to 4 pm", ["2026-04-14", "2026-04-15"]),
]


@pytest.mark.parametrize(("text", "starts"), SPOKEN)
def test_whoever_tells_of_friday_may_mean_the_next_one(text: str, starts: list[str]) -> None:
    spoken = resolve_spoken(text, NOW)
    assert spoken is not None
    assert [f"{wall(span)[0]:%Y-%m-%d}" for span in spoken.ranges] == starts


def test_the_next_one_is_told_by_its_dates_and_as_inexact_as_the_last() -> None:
    spoken = resolve_spoken("around Friday", NOW)
    assert spoken is not None
    assert [(one.words, one.fuzzy) for one in spoken.readings] == [
        ("the latest Friday before today", True),
        ("Fri 17 Apr 2026", True),
    ]


@given(texts, moments)
def test_the_same_question_gets_the_same_answer(text: str, now: datetime) -> None:
    assert resolve(text, now) == resolve(text, now)


@given(st.sampled_from(PHRASES), moments)
def test_what_is_read_begins_and_ends_with_words(text: str, now: datetime) -> None:
    found = resolve(text, now)
    for reading in found.readings if found else ():
        words = text[slice(*reading.span)]
        assert words == words.strip() != ""


@given(st.sampled_from(PHRASES), st.datetimes(datetime(1970, 1, 2), datetime(2199, 12, 30)))
def test_capitals_and_spaces_change_nothing(text: str, at: datetime) -> None:
    now = at.replace(tzinfo=UTC)
    plain, odd = resolve(text, now), resolve(text.replace(" ", "\u00a0 "), now)
    assert (plain.ranges if plain else ()) == (odd.ranges if odd else ())


@pytest.fixture(params=["Pacific/Kiritimati", "America/Los_Angeles", "UTC"])
def process_zone(request: pytest.FixtureRequest) -> Iterator[str]:
    before = os.environ.get("TZ")
    os.environ["TZ"] = request.param
    time.tzset()
    yield request.param
    os.environ.pop("TZ") if before is None else os.environ.update(TZ=before)
    time.tzset()


def test_the_zone_of_the_process_does_not_matter(process_zone: str) -> None:
    found = resolve("yesterday at 9pm and 两小时前", NOW)
    assert found is not None
    assert [wall(span) for span in found.ranges] == [
        (datetime(2026, 4, 14, 21), datetime(2026, 4, 14, 22)),
        (datetime(2026, 4, 15, 8), datetime(2026, 4, 15, 9)),
    ]


# Clocks that change: text, zone, now, the length of the range and where it starts in UTC.
CLOCK_CHANGES = [
    ("yesterday", "Europe/Paris", "2026-03-30T09:00", 23, "2026-03-28T23:00"),
    ("昨天", "Europe/Paris", "2026-10-26T09:00", 25, "2026-10-24T22:00"),
    ("yesterday", "Australia/Lord_Howe", "2026-04-06T09:00", 24.5, "2026-04-04T13:00"),
    ("last week", "America/New_York", "2026-03-12T09:00", 167, "2026-03-02T05:00"),
    ("3 hours ago", "Europe/Paris", "2026-03-29T04:30", 1, "2026-03-28T23:00"),
    ("2 hours ago", "Europe/Paris", "2026-10-25T03:30", 2, "2026-10-25T00:00"),
    ("the last 3 hours", "Europe/Paris", "2026-10-25T04:30", 3, "2026-10-25T00:30"),
    ("yesterday at 2:30", "Europe/Paris", "2026-03-30T09:00", 1 / 60, "2026-03-29T01:30"),
    ("at 2:30 yesterday", "Europe/Paris", "2026-10-26T09:00", 1 / 60, "2026-10-25T00:30"),
    ("yesterday", "Asia/Kolkata", "2026-04-15T00:10", 24, "2026-04-13T18:30"),
    ("today", "Pacific/Auckland", "2026-04-15T00:10", 24, "2026-04-14T12:00"),
    ("today", "Pacific/Honolulu", "2026-04-14T23:50", 24, "2026-04-14T10:00"),
]  # fmt: skip


# At 02:50 of the hour that came twice, or just after it: minutes and seconds lie in one of the two.
TWICE = [
    ("20 minutes ago", "2026-10-25T02:50+01:00", "2026-10-25T01:30"),
    ("30 seconds ago", "2026-10-25T02:50+01:00", "2026-10-25T01:49:30"),
    ("20 minutes ago", "2026-10-25T03:10+01:00", "2026-10-25T01:50"),
    ("90分钟前", "2026-10-25T03:50+01:00", "2026-10-25T01:20"),
    ("90 minutes ago", "2026-10-25T03:10+01:00", "2026-10-25T00:40"),
    ("in 20 minutes", "2026-10-25T02:50+02:00", "2026-10-25T01:10"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "now", "start"), TWICE)
def test_minutes_ago_in_an_hour_that_comes_twice(text: str, now: str, start: str) -> None:
    found = resolve(text, datetime.fromisoformat(now).astimezone(ZoneInfo("Europe/Paris")))
    assert found is not None
    (span,) = found.ranges
    assert span.start == datetime.fromisoformat(start).replace(tzinfo=UTC)
    assert span.end == span.start + timedelta(seconds=1 if "seconds" in text else 60)


def test_a_time_that_the_clock_skips_is_told_as_the_clock_shows_it() -> None:
    found = resolve("today at 2:30am", datetime(2026, 3, 29, 10, tzinfo=ZoneInfo("Europe/Paris")))
    assert found is not None
    assert [one.words for one in found.readings] == ["Sun 29 Mar 2026 03:30"]


@pytest.mark.parametrize(("text", "zone", "now", "hours", "start"), CLOCK_CHANGES)
def test_days_and_hours_where_the_clock_changes(
    text: str, zone: str, now: str, hours: float, start: str
) -> None:
    found = resolve(text, datetime.fromisoformat(now).replace(tzinfo=ZoneInfo(zone)))
    assert found is not None
    (span,) = found.ranges
    assert span.start is not None and span.end is not None
    assert span.start == datetime.fromisoformat(start).replace(tzinfo=UTC)
    assert (span.end - span.start) == timedelta(hours=hours)


def test_a_day_that_a_zone_skipped_is_no_time() -> None:
    now = datetime(2012, 1, 3, 9, tzinfo=ZoneInfo("Pacific/Apia"))
    assert resolve("on 30 December 2011", now) is None


@pytest.mark.parametrize("year", [1970, 2010, 2050, 2098])
def test_lunar_names_within_the_known_years(year: int) -> None:
    assert resolve(f"{year}年端午节", NOW) is not None


@pytest.mark.parametrize("text", ["2150年端午节", "1850年中秋", "2199年除夕", "1850年农历五月初五", "重阳节"])
def test_lunar_names_outside_the_known_years_are_no_time(text: str) -> None:
    later = datetime(2150, 4, 15, tzinfo=SHANGHAI)
    assert resolve(text, later) is None


MASKED = [
    'what did I mean by "last Wednesday"?',
    "你说的“上周三”是什么意思",
    "the note 「昨天的事」",
    "谁写的《五月的一天》《去年夏天》",
    "run `date -d yesterday` for me",
    "what does ```\nlast week\n``` print",
    "see https://example.org/2026/04/08/last-week",
    "open ~/notes/yesterday/2026-04-08.md",
    "mail friday@example.org about it",
    "the word 'yesterday' in French",
]


@pytest.mark.parametrize("text", MASKED)
def test_what_is_quoted_is_no_filter(text: str) -> None:
    assert resolve(text, NOW) is None


@pytest.mark.parametrize(
    "text",
    ["it's last week's, isn't it?", "the boys' trip last week", "5'10\" last week 6'2\"", "the ' last week"],
)
def test_an_apostrophe_is_no_quotation(text: str) -> None:
    found = resolve(text, NOW)
    assert found is not None and len(found.readings) == 1


def test_a_week_begins_when_the_settings_say() -> None:
    weeks = {start: resolve("last week", NOW, week_start=start) for start in ("monday", "sunday", "Saturday")}
    assert {start: wall(found.ranges[0])[0] for start, found in weeks.items() if found} == {
        "monday": datetime(2026, 4, 6),
        "sunday": datetime(2026, 4, 5),
        "Saturday": datetime(2026, 4, 4),
    }
    chinese = resolve("上周", NOW, week_start="sunday")
    assert chinese is not None and wall(chinese.ranges[0])[0] == datetime(2026, 4, 6)


def test_languages_can_be_chosen() -> None:
    text = "yesterday 昨天"
    counts = {names: resolve(text, NOW, languages=names) for names in (("en",), ("zh",), ("en", "zh"))}
    assert {names: len(found.readings) if found else 0 for names, found in counts.items()} == {
        ("en",): 1,
        ("zh",): 1,
        ("en", "zh"): 2,
    }
    assert resolve("2026-04-08", NOW, languages=["zh"]) == resolve("2026-04-08", NOW, languages=["en"])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"now": datetime(2026, 4, 15)}, "zone"),
        ({"now": NOW, "week_start": "someday"}, "no weekday"),
        ({"now": NOW, "languages": ["tlh"]}, "out of en, zh"),
        ({"now": NOW, "languages": []}, "out of en, zh"),
    ],
)
def test_what_cannot_be_is_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        resolve("yesterday", **wrong)  # type: ignore[arg-type]


def test_the_first_reading_stands_apart_from_the_others() -> None:
    found = resolve("what did we decide last Tuesday?", NOW)
    assert found is not None
    (reading,), (other,) = found.readings, found.alternatives
    assert (wall(reading.range)[0], wall(other.range)[0]) == (datetime(2026, 4, 7), datetime(2026, 4, 14))
    assert (reading.words, other.words) == (
        "Tuesday of the week before this one",
        "yesterday",
    )


def test_long_texts_take_time_in_proportion() -> None:
    """Counted in steps of the profiler, not in seconds: ten times the text, about ten times the work."""
    import sys

    def steps(text: str) -> int:
        count = 0

        def seen(*_: object) -> None:
            nonlocal count
            count += 1

        sys.setprofile(seen)
        try:
            resolve(text, NOW)
        finally:
            sys.setprofile(None)
        return count

    for piece in (
        "last Wednesday ",
        "上上周三",
        "1 ",
        "12/",
        '"',
        "'a ",
        "monday ",
        "一",
        "the ",
        "2026-04-08 ",
    ):
        small, large = steps(piece * (2_000 // len(piece))), steps(piece * (20_000 // len(piece)))
        assert large <= 14 * small + 2_000, piece


# Asked on Wednesday 15 April 2026.
READINGS = [
    ("three months ago", "the whole month around it"),
    ("半个月前", "the whole week around it"),
    ("around March 5", "Thu 5 Mar 2026"),
    ("so far this year", "from Thu 1 Jan 2026 until now"),
    ("三月至今", "from Sun 1 Mar 2026 until now"),
    ("the last half year", "half a year up to and with today"),
    ("past quarter", "the quarter before this one"),
    ("the past hour", "1 hour up to now"),
    ("上上周五", "Friday 2 weeks before this one"),
    ("上周三", "Wednesday of the week before this one"),
]


@pytest.mark.parametrize(("text", "words"), READINGS)
def test_a_reading_says_what_was_understood(text: str, words: str) -> None:
    found = resolve(text, NOW)
    assert found is not None
    assert [one.words for one in found.readings] == [words]


@pytest.mark.parametrize("week_start", ["monday", "sunday"])
def test_the_first_days_of_the_month_stand_beside_its_first_week(week_start: str) -> None:
    found = resolve("first week of May 2025", NOW, week_start=week_start)
    assert found is not None
    assert [wall(one.range) for one in found.alternatives] == [(datetime(2025, 5, 1), datetime(2025, 5, 8))]

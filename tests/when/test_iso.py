"""Dates in figures: a case is a row of phrase, start and end; now is Wednesday 2026-04-15 in Shanghai."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from huimem.when import resolve

SHANGHAI = ZoneInfo("Asia/Shanghai")
NOW = datetime(2026, 4, 15, 10, 30, tzinfo=SHANGHAI)

WHOLE = [
    ("2026-04-08", "2026-04-08", "2026-04-09", "day"),
    ("2026/4/8", "2026-04-08", "2026-04-09", "day"),
    ("2026-04", "2026-04-01", "2026-05-01", "month"),
    ("2025-12", "2025-12-01", "2026-01-01", "month"),
    ("2026-W15", "2026-04-06", "2026-04-13", "week"),
    ("2026-W01", "2025-12-29", "2026-01-05", "week"),
    ("2020-W53", "2020-12-28", "2021-01-04", "week"),
    ("2026-W15-3", "2026-04-08", "2026-04-09", "day"),
    ("2026-04-08..2026-04-10", "2026-04-08", "2026-04-11", "day"),
    ("2026-04-08/2026-04-10", "2026-04-08", "2026-04-11", "day"),
    ("2026-09-01/04", "2026-09-01", "2026-09-05", "day"),
    ("2026-09-28/10-04", "2026-09-28", "2026-10-05", "day"),
    ("2026-04-01 to 2026-04-10", "2026-04-01", "2026-04-11", "day"),
    ("2026-04-01到2026-04-10", "2026-04-01", "2026-04-11", "day"),
    ("2026-03..2026-04", "2026-03-01", "2026-05-01", "month"),
    ("2026-04-08..", "2026-04-08", None, "day"),
    ("2026-04-08T10:00..", "2026-04-08T10:00", None, "minute"),
    ("2026-04-08T10:00:07+08:00..", "2026-04-08T10:00:07", None, "second"),
    ("..2026-04-08T10:00", None, "2026-04-08T10:01", "minute"),
    ("..2026-04-08", None, "2026-04-09", "day"),
    ("2026-04-08T10:15", "2026-04-08T10:15", "2026-04-08T10:16", "minute"),
    ("2026-04-08 10:15:02", "2026-04-08T10:15:02", "2026-04-08T10:15:03", "second"),
    ("2026-04-08T10:15Z", "2026-04-08T18:15", "2026-04-08T18:16", "minute"),
    ("2026-04-08T10:15-04:00", "2026-04-08T22:15", "2026-04-08T22:16", "minute"),
    ("2024-02-29", "2024-02-29", "2024-03-01", "day"),
]
NOTHING = [
    "2026-04-31", "2025-02-29", "2026-13-45", "电话2026-13-45", "2026-W60", "v2026-04-01",
    "chat_2026-04-08_230512", "192.168.1.1", "2026-04-081", "order 12026-04-08", "https://a.b/2026-04-08/x",
    "it was 2026 degrees", "", "…",
    "2026-04-08T25:00", "2026-04-10..2026-04-01", "2026-W16 to 2026-W15", "2026-09-04/01",
]  # fmt: skip
INSIDE = [
    ("what did we decide on 2026-04-08?", [("2026-04-08", "2026-04-09")]),
    ("2026-04-08那天聊了什么", [("2026-04-08", "2026-04-09")]),
    ("从2026-04-01到2026-04-10的股票", [("2026-04-01", "2026-04-11")]),
    ("compare 2026-03 and 2026-04", [("2026-03-01", "2026-04-01"), ("2026-04-01", "2026-05-01")]),
    ("at 2026-04-08.", [("2026-04-08", "2026-04-09")]),
    ("(2026-04-08)", [("2026-04-08", "2026-04-09")]),
]


def instant(text: str | None, zone: ZoneInfo = SHANGHAI) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).replace(tzinfo=zone)


@pytest.mark.parametrize(("phrase", "start", "end", "grain"), WHOLE)
def test_whole_phrase(phrase: str, start: str | None, end: str | None, grain: str) -> None:
    resolution = resolve(phrase, NOW)
    assert resolution is not None
    (reading,) = resolution.readings
    assert (reading.range.start, reading.range.end) == (instant(start), instant(end))
    assert (reading.grain, reading.span) == (grain, (0, len(phrase)))


@pytest.mark.parametrize("text", NOTHING)
def test_is_no_time(text: str) -> None:
    assert resolve(text, NOW) is None


@pytest.mark.parametrize(("text", "ranges"), INSIDE)
def test_inside_a_question(text: str, ranges: list[tuple[str, str]]) -> None:
    resolution = resolve(text, NOW)
    assert resolution is not None
    assert [(r.start, r.end) for r in resolution.ranges] == [(instant(a), instant(b)) for a, b in ranges]


@pytest.mark.parametrize(
    ("zone", "hours"),
    [("Asia/Shanghai", 24), ("Europe/Berlin", 23), ("America/New_York", 24), ("Asia/Kathmandu", 24)],
)
def test_a_day_is_as_long_as_its_zone_makes_it(zone: str, hours: int) -> None:
    now = datetime(2026, 4, 15, tzinfo=ZoneInfo(zone))
    resolution = resolve("2026-03-29", now)
    assert resolution is not None
    (span,) = resolution.ranges
    assert span.start is not None and span.end is not None
    assert (span.end - span.start).total_seconds() == hours * 3600


def test_a_midnight_that_no_clock_shows_moves_forward() -> None:
    resolution = resolve("2018-11-04", datetime(2026, 4, 15, tzinfo=ZoneInfo("America/Sao_Paulo")))
    assert resolution is not None
    assert resolution.ranges[0].start == datetime.fromisoformat("2018-11-04T03:00+00:00")


def test_tomorrow_lies_ahead() -> None:
    readings = [resolve(day, NOW) for day in ("2026-04-16", "2026-04-15")]
    assert [r.readings[0].future for r in readings if r] == [True, False]


def test_words_say_the_reading() -> None:
    said = {
        p: r.readings[0].words for p in ("2026-04-08", "2026-W15", "2026-04-08..") if (r := resolve(p, NOW))
    }
    assert said == {
        "2026-04-08": "Wed 8 Apr 2026",
        "2026-W15": "Mon 6 Apr 2026 to Sun 12 Apr 2026",
        "2026-04-08..": "from Wed 8 Apr 2026 on",
    }


def test_now_needs_a_zone() -> None:
    with pytest.raises(ValueError, match="zone"):
        resolve("2026-04-08", datetime(2026, 4, 15))


@given(st.text(max_size=60))
def test_any_text_is_read_without_a_fault(text: str) -> None:
    resolution = resolve(text, NOW)
    spans = [reading.span for reading in resolution.readings] if resolution else []
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert spans == sorted(spans)


@given(st.dates(min_value=datetime(1970, 1, 1).date(), max_value=datetime(2199, 12, 31).date()))
def test_every_day_reads_as_itself(day: object) -> None:
    resolution = resolve(str(day), NOW)
    assert resolution is not None
    start, end = resolution.ranges[0].local()
    assert start is not None and end is not None
    assert (str(start.date()), (end - start).days) == (str(day), 1)

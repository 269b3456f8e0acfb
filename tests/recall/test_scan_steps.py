"""The steps of a walk and where it stops: tables of windows, zones and scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from huimem import TimeRange
from huimem.recall.query import Way, make, options, walking
from huimem.recall.scan import MOST_STEPS, Gone, Step, periods, steps_of, walk

ZONES = {name: ZoneInfo(name) for name in ("Asia/Shanghai", "Europe/Berlin", "America/New_York")}
HERE = ZONES["Asia/Shanghai"]
NOW = datetime(2026, 4, 15, 10, 30, tzinfo=HERE)


def at(text: str, zone: tzinfo = HERE) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone)


def span(start: str | None, end: str | None, zone: tzinfo = HERE) -> TimeRange:
    return TimeRange(at(start, zone) if start else None, at(end, zone) if end else None, zone)


def edges(spans: list[TimeRange]) -> list[str]:
    """Where each begins, on the wall clock, and at last where the first ends: they follow each other."""
    assert all(later.start == earlier.end for later, earlier in pairwise(spans))
    local = [one.local() for one in spans]
    return [_wall(start) for start, _ in local] + [_wall(local[0][1])] if spans else []


def _wall(moment: datetime | None) -> str:
    assert moment is not None
    return f"{moment:%Y-%m-%d}" if (moment.hour, moment.minute) == (0, 0) else f"{moment:%Y-%m-%d %H:%M}"


# start, end, zone: where the steps begin, the latest first, and where the first ends
PERIODS = [
    ("2026-04-06", "2026-04-20", "Asia/Shanghai", ["2026-04-13", "2026-04-06", "2026-04-20"]),
    ("2026-04-06", "2026-04-13", "Asia/Shanghai", ["2026-04-06", "2026-04-13"]),
    # cut at both borders of the window
    ("2026-04-08 12:00", "2026-04-16", "Asia/Shanghai", ["2026-04-13", "2026-04-08 12:00", "2026-04-16"]),
    ("2026-04-08", "2026-04-09", "Asia/Shanghai", ["2026-04-08", "2026-04-09"]),
    # a month's end is no week's
    ("2026-03-25", "2026-04-02", "Asia/Shanghai", ["2026-03-30", "2026-03-25", "2026-04-02"]),
    # clocks go forward on Sunday 29 March, back on Sunday 25 October
    ("2026-03-23", "2026-04-06", "Europe/Berlin", ["2026-03-30", "2026-03-23", "2026-04-06"]),
    ("2026-10-19", "2026-11-02", "Europe/Berlin", ["2026-10-26", "2026-10-19", "2026-11-02"]),
    ("2026-03-02", "2026-03-16", "America/New_York", ["2026-03-09", "2026-03-02", "2026-03-16"]),
    # the year turns within a week
    ("2025-12-29", "2026-01-12", "Asia/Shanghai", ["2026-01-05", "2025-12-29", "2026-01-12"]),
]


@pytest.mark.parametrize(("start", "end", "zone", "steps"), PERIODS)
def test_a_window_is_walked_by_weeks_from_its_end(start: str, end: str, zone: str, steps: list[str]) -> None:
    assert edges(periods(span(start, end, ZONES[zone]))) == steps


@pytest.mark.parametrize("zone", ZONES)
def test_a_window_longer_than_a_year_is_walked_by_months(zone: str) -> None:
    found = periods(span("2025-01-15", "2026-03-10", ZONES[zone]))
    months = [f"2026-{month:02}-01" for month in (3, 2, 1)]
    months += [f"2025-{month:02}-01" for month in range(12, 1, -1)]
    assert edges(found) == [*months, "2025-01-15", "2026-03-10"]


# start, end, whether by weeks in any case: how many steps
LENGTHS = [
    ("2024-01-01", "2025-01-01", False, 53),  # 366 days are a year: 52 weeks from Monday, and two days
    ("2024-01-01", "2025-01-02", False, 13),
    ("2024-04-15", "2026-04-13", True, 104),
    ("1990-01-01", "2026-01-01", True, MOST_STEPS),
]


@pytest.mark.parametrize(("start", "end", "weekly", "count"), LENGTHS)
def test_how_many_steps_a_window_has(start: str, end: str, weekly: bool, count: int) -> None:
    assert len(periods(span(start, end), weekly=weekly)) == count


# the window, how many weeks farther, when the first thing was said: edges of the steps on Wed 15 April
STEPS = [
    (("2026-04-01", "2026-04-13"), 0, "2020-01-01", ["2026-04-06", "2026-04-01", "2026-04-13"]),
    # an open end, and one in the future, is that of this week
    (("2026-04-08", None), 0, "2020-01-01", ["2026-04-13", "2026-04-08", "2026-04-20"]),
    (("2026-04-08", "2027-01-01"), 0, "2020-01-01", ["2026-04-13", "2026-04-08", "2026-04-20"]),
    # but what lies wholly in the future is walked
    (("2026-05-04", "2026-05-11"), 0, "2020-01-01", ["2026-05-04", "2026-05-11"]),
    # nothing is older than the first thing said, so no week before it is walked
    ((None, "2026-04-13"), 0, "2026-04-02", ["2026-04-06", "2026-03-30", "2026-04-13"]),
    (("2025-01-01", "2026-04-13"), 0, "2026-04-02", ["2026-04-06", "2026-03-30", "2026-04-13"]),
    ((None, "2026-04-13"), 0, "2026-04-13", []),
    (("2026-03-01", "2026-03-08"), 0, "2026-03-20", []),
    # a window, and what may be walked beyond it: no step holds of both
    (("2026-04-08", "2026-04-13"), 1, "2020-01-01", ["2026-04-08", "2026-04-06", "2026-04-01", "2026-04-13"]),
    (("2026-04-08", "2026-04-13"), 1, "2026-04-09", ["2026-04-08", "2026-04-06", "2026-04-13"]),
    (("2026-04-06", "2026-04-13"), 1, "2020-01-01", ["2026-04-06", "2026-03-30", "2026-04-13"]),
]


@pytest.mark.parametrize(("window", "farther", "first", "steps"), STEPS)
def test_the_steps_of_a_way(
    window: tuple[str | None, str | None], farther: int, first: str, steps: list[str]
) -> None:
    way = Way((span(*window),), timedelta(weeks=farther))
    assert edges([step.range for step in steps_of(way, at(first), NOW)]) == steps


# the times named, as they were read: the first and last day of each step
GAPS = [
    (
        [("2026-01-05", "2026-01-11"), ("2026-03-25", "2026-03-31")],
        ["03-30 03-31", "03-25 03-30", "01-05 01-11"],
    ),
    # the later one first, however they were named
    ([("2026-03-30", "2026-04-01"), ("2026-01-05", "2026-01-07")], ["03-30 04-01", "01-05 01-07"]),
    # days of one week with a day between them
    ([("2026-04-06", "2026-04-07"), ("2026-04-08", "2026-04-09")], ["04-08 04-09", "04-06 04-07"]),
    # what touches or overlaps is one time
    ([("2026-04-06", "2026-04-07"), ("2026-04-07", "2026-04-08")], ["04-06 04-08"]),
    ([("2026-03-30", "2026-04-12"), ("2026-04-01", "2026-04-03")], ["04-06 04-12", "03-30 04-06"]),
    ([("2026-04-13", None), ("2026-04-14", "2026-04-15")], ["04-13 04-20"]),
    ([(None, "2026-01-08"), ("2026-04-13", None)], ["04-13 04-20", "01-05 01-08", "12-29 01-05"]),
    # each begins no earlier than anything that was said
    ([("2025-01-01", "2025-02-01"), ("2026-04-13", None)], ["04-13 04-20"]),
    # and ends with the present week, unless all of it is to come
    ([("2026-04-13", "2026-05-04"), ("2026-05-11", "2026-05-18")], ["05-11 05-18", "04-13 04-20"]),
]


@pytest.mark.parametrize(("named", "steps"), GAPS)
def test_no_step_lies_in_a_gap_between_the_times_named(
    named: list[tuple[str | None, str | None]], steps: list[str]
) -> None:
    during = [span(*edges) for edges in named]
    asked = make("boats", options({"during": during, "scan": True}), NOW, lambda text, now: None)
    way = walking(asked)
    assert way is not None
    found = [one.range.local() for one in steps_of(way, at("2026-01-01"), NOW)]
    assert [f"{start:%m-%d} {end:%m-%d}" for start, end in found if start and end] == steps


# times that are walked: how many steps of weeks, and of months, which a year and more is walked by
UNITS = [
    ([("2026-03-25", "2026-04-03")], False, (2, 0)),
    ([("2025-03-25", "2026-04-03")], False, (0, 14)),  # with a cut month at either end
    ([("2025-03-25", "2026-04-03")], True, (54, 0)),
    ([("2024-01-01", "2025-02-03"), ("2026-04-01", "2026-04-03")], False, (1, 14)),
]


@pytest.mark.parametrize(("named", "weekly", "counts"), UNITS)
def test_a_step_knows_whether_it_is_a_month(
    named: list[tuple[str, str]], weekly: bool, counts: tuple[int, int]
) -> None:
    way = Way(tuple(span(*edges) for edges in named), weekly=weekly)
    months = [step.monthly for step in steps_of(way, at("2020-01-01"), NOW)]
    assert (months.count(False), months.count(True)) == counts


@dataclass(frozen=True)
class Candidate:
    """As much of a candidate as a walk looks at."""

    score: float
    at_ms: int


WEEKS = periods(span("2026-03-02", "2026-04-13"))  # six
ALL_STEPS = [Step(week) for week in WEEKS]
NAMES = ["W15", "W14", "W13", "W12", "W11", "W10"]


def candidate(week: TimeRange, score: float, hour: int = 5) -> Any:
    assert week.start is not None
    return Candidate(score, int((week.start + timedelta(hours=hour)).timestamp() * 1000))


def walked(bests: list[float], way: Way) -> Gone:
    """A walk through weeks whose best scores these are, 0 for none."""
    found = [candidate(week, best) for week, best in zip(WEEKS, bests, strict=False) if best]
    found += [candidate(week, best / 2, 9) for week, best in zip(WEEKS, bests, strict=False) if best]
    found.sort(key=lambda one: -one.score)
    return walk(found, ALL_STEPS[: len(bests)], lambda week: 3, way)


WHOLE = Way((span("2026-03-02", "2026-04-13"),), enough=0.5)
LAST_WEEK = Way((span("2026-04-06", "2026-04-13"),), timedelta(weeks=5), enough=0.5)
LAST_TWO = Way((span("2026-03-30", "2026-04-13"),), timedelta(weeks=4), enough=0.5)
STOPS = [
    # bests of the weeks, back in time: how many are walked, whether none stood out
    ([0.62, 0.9], WHOLE, 1, False),
    ([0.0, 0.0, 0.5, 0.9], WHOLE, 3, False),
    ([0.3, 0.62, 0.9], WHOLE, 2, False),
    ([0.49, 0.52, 0.9], WHOLE, 3, False),  # .52 is good, and too near to .49
    ([0.45, 0.51, 0.9], WHOLE, 2, False),
    ([0.3, 0.4, 0.45], WHOLE, 3, True),
    ([0.49, 0.3, 0.52, 0.53], WHOLE, 4, True),
    ([0.0, 0.0], WHOLE, 2, True),
    ([], WHOLE, 0, True),
    # another measure of what is good enough
    ([0.3, 0.62, 0.9], Way(WHOLE.spans, enough=0.3), 1, False),
    ([0.3, 0.62, 0.9], Way(WHOLE.spans, enough=0.7), 3, False),
    ([0.0, 0.1], Way(WHOLE.spans, enough=0.0), 2, False),  # a week without a candidate never stands out
    # beyond the window only as long as nothing good enough was found
    ([0.49, 0.52, 0.9], LAST_TWO, 2, True),
    ([0.3, 0.9, 0.95], LAST_WEEK, 2, False),
    ([0.0, 0.0, 0.3, 0.9], LAST_WEEK, 4, False),
    ([0.0, 0.0, 0.7, 0.9], LAST_WEEK, 3, False),
    # where vague words lead, not before what they mean holds nothing so much better farther back
    ([0.62, 0.9], replace(WHOLE, vague=True), 2, False),
    ([0.62, 0.66, 0.3], replace(WHOLE, vague=True), 1, False),
    ([0.62, 0.3, 0.7, 0.9], replace(WHOLE, vague=True), 4, False),
    ([0.62, 0.9], replace(LAST_WEEK, vague=True), 1, False),
    ([0.3, 0.0, 0.62, 0.9], replace(LAST_WEEK, vague=True), 3, False),
]


@pytest.mark.parametrize(("bests", "way", "count", "exhausted"), STOPS)
def test_where_a_walk_stops(bests: list[float], way: Way, count: int, exhausted: bool) -> None:
    gone = walked(bests, way)
    assert [step.best for step in gone.steps] == bests[:count]
    assert [step.range for step in gone.steps] == WEEKS[:count]
    assert gone.exhausted is exhausted
    assert sorted(one.score for one in gone.candidates) == sorted(
        part for best in bests[:count] if best for part in (best, best / 2)
    )

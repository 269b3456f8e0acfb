"""Single lines and values: which lines are headings, who speaks, when, and how a time is written."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from huimem.vault.headings import read_heading
from huimem.vault.moments import date_in_name, digits, read_moment, read_zone, settle, written, zone_name
from huimem.vault.roles import head_of, speaker

SHANGHAI, BERLIN = ZoneInfo("Asia/Shanghai"), ZoneInfo("Europe/Berlin")

# A line → who, its wall clock ("-": no such time), and `full` or `short`; None: no heading at all.
HEADINGS = [
    ("## User · 2026-04-06 09:14:23", "User", "2026-04-06 09:14:23", "full"),
    ("###### 小李 · 2026-04-06 09:14:23.001\r", "小李", "2026-04-06 09:14:23.001000", "full"),
    ("##  User  ·  2026-04-06 09:14:23  ", "User", "2026-04-06 09:14:23", "full"),
    ("## User · 2026-04-06T09:14:23 +08:00", "User", "2026-04-06 09:14:23", "full"),
    (
        "## A · 2026-01-01 00:00:00 · 2026-04-06 09:14:23",
        "A · 2026-01-01 00:00:00",
        "2026-04-06 09:14:23",
        "full",
    ),
    ("## User · 2026-02-30 09:14:23", "User", "-", "full"),
    ("## User · 2026-04-06 24:00:00", "User", "-", "full"),
    ("## User · 2026-04-06 23:59:60", "User", "-", "full"),
    ("## User · 0001-01-01 00:00:00", "User", "-", "full"),
    ("## User · 2026-04-06 09:14:23 +25:00", "User", "-", "full"),
    ("## User·2026-04-06 09:14:23", "User", "2026-04-06 09:14:23", "short"),
    ("## User · 2026-04-06 09:14", "User", "2026-04-06 09:14:00", "short"),
    ("## User 2026-4-6 9:14", "User", "2026-04-06 09:14:00", "short"),
    ("## User - 9:14", "User", "2000-01-01 09:14:00", "short"),
    ("## Caroline Smith — 09:14:23", "Caroline Smith", "2000-01-01 09:14:23", "short"),
    ("## 用户，9：14", "用户", "2000-01-01 09:14:00", "short"),
    ("## Lunch at 12:30", "Lunch at", "2000-01-01 12:30:00", "short"),
    ("# User · 2026-04-06 09:14:23", None, "", ""),
    ("### User · 2026-04-06 09:14:23", None, "", ""),
    (" ## User · 2026-04-06 09:14:23", None, "", ""),
    ("##User · 2026-04-06 09:14:23", None, "", ""),
    ("\\## User · 2026-04-06 09:14:23", None, "", ""),
    ("## · 2026-04-06 09:14:23", None, "", ""),
    ("## User · 2026-04-06", None, "", ""),
    ("## User · 2026-04-06 09:14:23 sharp", None, "", ""),
    ("## 2026-04-06", None, "", ""),
]


@pytest.mark.parametrize(("line", "head", "wall", "sort"), HEADINGS, ids=[line for line, *_ in HEADINGS])
def test_a_line_has_the_shape_of_a_heading_or_not(line: str, head: str | None, wall: str, sort: str) -> None:
    heading = read_heading(line)
    assert (heading.head if heading else None) == head
    if heading:
        assert str(heading.wall or "-") == wall
        assert ("full" if heading.full else "short") == sort


# Words before the time, listed participants → role and name.
SPEAKERS = [
    ("User", (), ("user", None)),
    ("ASSISTANT", (), ("assistant", None)),
    ("我", (), ("user", None)),
    ("助手", (), ("assistant", None)),
    ("developer", (), ("system", None)),
    ("Function", (), ("tool", None)),
    ("bot", (), ("assistant", None)),
    ("ChatGPT", (), ("assistant", "ChatGPT")),
    ("Assistant (Claude)", (), ("assistant", "Claude")),
    ("用户（小李）", (), ("user", "小李")),
    ("Claude", ("claude",), ("person", "Claude")),
    ("You", ("you",), ("person", "You")),
    ("Caroline", ("caroline",), ("person", "Caroline")),
    ("Caroline", (), None),
    ("Bo (work)", (), None),
    ("User Guide", (), None),
]


@pytest.mark.parametrize(("head", "listed", "who"), SPEAKERS)
def test_a_speaker_is_a_role_or_a_listed_name(
    head: str, listed: tuple[str, ...], who: tuple[str, str | None] | None
) -> None:
    assert speaker(head, frozenset(listed)) == who


@pytest.mark.parametrize(
    ("role", "name", "head"),
    [
        ("user", None, "User"),
        ("assistant", "Claude", "Assistant (Claude)"),
        ("person", " Ann\n\tLee\x00 ", "Ann Lee"),
        ("person", "", "Person"),
    ],
)
def test_a_head_is_one_clean_line(role: str, name: str | None, head: str) -> None:
    assert head_of(role, name) == head


# An instant in UTC, a zone → how it is written, and the digits of its ref.
WRITTEN = [
    ("2026-04-06T01:14:23", SHANGHAI, "2026-04-06 09:14:23", "20260406T091423"),
    ("2026-04-06T01:14:23.001999", SHANGHAI, "2026-04-06 09:14:23.001", "20260406T091423001"),
    ("2026-10-25T00:30:00", BERLIN, "2026-10-25 02:30:00 +02:00", "20261025T023000"),
    ("2026-10-25T01:30:00", BERLIN, "2026-10-25 02:30:00 +01:00", "20261025T023000"),
    ("2026-10-25T02:30:00", BERLIN, "2026-10-25 03:30:00", "20261025T033000"),
]


@pytest.mark.parametrize(("instant", "zone", "text", "short"), WRITTEN)
def test_a_time_is_written_as_the_wall_clock_shows_it(
    instant: str, zone: ZoneInfo, text: str, short: str
) -> None:
    at = settle(datetime.fromisoformat(instant).replace(tzinfo=UTC), zone)
    assert (written(at, zone), digits(at)) == (text, short)
    assert read_moment(text, zone) == at


# Text → the instant it says in Shanghai.
MOMENTS = [
    ("2026-04-06", "2026-04-06T00:00:00+08:00"),
    ("2026-4-6 9:14", "2026-04-06T09:14:00+08:00"),
    (" 2026-04-06T09:14:23 ", "2026-04-06T09:14:23+08:00"),
    ("2026-04-06T09:14:23.5", "2026-04-06T09:14:23.500000+08:00"),
    ("2026-04-06T09:14:23.123456789Z", "2026-04-06T09:14:23.123456+00:00"),
    ("2026-04-06 09:14:23 -0330", "2026-04-06T09:14:23-03:30"),
    ("2025-13-45", None),
    ("2016-12-31 23:59:60", None),
    ("26-04-06", None),
    ("2026-04-06 09:14:23 +99:00", None),
    ("yesterday", None),
    ("", None),
]


@pytest.mark.parametrize(("text", "expected"), MOMENTS)
def test_a_moment_is_read_or_unknown_never_now(text: str, expected: str | None) -> None:
    at = read_moment(text, SHANGHAI)
    assert (at.isoformat() if at else None) == expected


@pytest.mark.parametrize("name", ["Asia/Shanghai", "UTC", "UTC+08:00", "UTC-03:30"])
def test_a_zone_has_a_name_that_reads_back(name: str) -> None:
    zone = read_zone(name)
    assert zone is not None
    assert zone_name(zone) == name


@pytest.mark.parametrize(
    "name", ["Asia/Nowhere", "Asia", "../etc/passwd", "/etc/localtime", "", "a\x00b", "+99:00"]
)
def test_a_name_of_no_zone_is_none(name: str) -> None:
    assert read_zone(name) is None


@pytest.mark.parametrize("name", ["2026-04-06.md", "chat_2026-04-06_091423.md", "a/chat_20260406091423.md"])
def test_a_name_may_hold_a_date(name: str) -> None:
    assert date_in_name(name, SHANGHAI) == datetime(2026, 4, 6, tzinfo=SHANGHAI)


@pytest.mark.parametrize(
    "name", ["v1.20260.md", "123456789.md", "99999999.md", "2026-0406.md", "20260406091423123.md"]
)
def test_a_name_without_a_date_has_none(name: str) -> None:
    assert date_in_name(name, SHANGHAI) is None

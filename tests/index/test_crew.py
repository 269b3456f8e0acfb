"""Other processes that help to cut: the same index with and without them, whatever becomes of them."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial
from pathlib import Path

import pytest

from huimem.index import crew, worker
from huimem.index.crew import Crew
from huimem.index.index import Index
from huimem.index.mentions import Times
from huimem.when import resolve_spoken
from tests.index.made import Files, fact, source, turn

SPOKEN = Times("as told", partial(resolve_spoken, week_start="sunday"))
SAID = (
    "Yesterday we chose the 向量索引 for project {n}, and the tests ran.",
    "下周三再讨论第 {n} 份合同。See you on Friday at 5pm, room {n}.",
)
MANY = 12  # sources, with as few as `few` makes of a job


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A crew is wanted for a few files already, and two of them are a job."""
    monkeypatch.setattr(crew, "LEAST_FILES", 3)
    monkeypatch.setattr(crew, "JOB_FILES", 2)
    monkeypatch.setattr(crew, "_processors", lambda: 3)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The processes that were started."""
    seen: list[subprocess.Popen[bytes]] = []
    watch_starts(monkeypatch, seen.append)
    return seen


def watch_starts(monkeypatch: pytest.MonkeyPatch, then: Callable[[subprocess.Popen[bytes]], object]) -> None:
    """Do something with each process that a crew has just started."""
    begin = Crew._started

    def begun(self: Crew) -> tuple[int, int]:
        ends = begin(self)
        then(self._children[-1])
        return ends

    monkeypatch.setattr(Crew, "_started", begun)


def library(count: int = MANY) -> Files:
    files = Files()
    for n in range(count):
        turns = [turn(f"2026-04-{1 + n % 28:02} 09:{m:02}", *(s.format(n=n) for s in SAID)) for m in (1, 30)]
        files.put(source(f"{n:03}.md", *turns, namespace="x" if n % 5 == 0 else "", tags=[f"t{n % 3}"]))
    files.put(source("facts.md", fact("diet", "2026-04-01", None, "no peanuts, since last May")))
    return files


def tables(folder: Path) -> dict[str, list[tuple[object, ...]]]:
    """All that the catalog holds, row numbers too, but for what no two catalogs share."""
    index = Index.open(folder, None, vault_id="vault", times=SPOKEN)
    with closing(index), index._reading() as db:
        names = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        held = {name: sorted(db.execute(f"SELECT * FROM {name}").fetchall(), key=repr) for name in names}
    held["meta"] = [row for row in held["meta"] if row[0] not in ("serial", "generation")]
    return held


def synced(folder: Path, files: Files, **options: object) -> dict[str, list[tuple[object, ...]]]:
    index = Index.open(folder, None, vault_id="vault", times=SPOKEN)
    with closing(index):
        report = files.sync(index, **options)
    assert not report.problems
    return tables(folder)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[object, ...]]]:
    """What one process alone makes of the library."""
    made = synced(tmp_path_factory.mktemp("alone") / "state", library())
    assert len(made["source"]) == MANY + 1
    assert made["mention"]
    return made


@pytest.mark.usefixtures("few")
def test_with_others_the_index_is_the_same_to_the_row(
    tmp_path: Path,
    alone: dict[str, list[tuple[object, ...]]],
    started: list[subprocess.Popen[bytes]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answered = []
    answers = worker.answers
    monkeypatch.setattr(worker, "answers", lambda stream: answered.append(1) or answers(stream))
    monkeypatch.setattr(Crew, "_taken_back", lambda self: None)  # so that all is left to the others
    assert synced(tmp_path / "state", library()) == alone
    assert len(answered) == (MANY + 2) // 2
    assert [child.returncode for child in started] == [-signal.SIGKILL] * 2


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("signal_", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "stopped"])
def test_others_that_are_killed_or_hang_cost_nothing_but_time(
    tmp_path: Path,
    alone: dict[str, list[tuple[object, ...]]],
    monkeypatch: pytest.MonkeyPatch,
    signal_: signal.Signals,
) -> None:
    sent = []
    watch_starts(monkeypatch, lambda child: sent.append(child.send_signal(signal_)))
    monkeypatch.setattr(crew, "LATE", 0.05)
    assert synced(tmp_path / "state", library()) == alone
    assert len(sent) == 2


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("program", ["python-that-is-not-there", "python-that-ends"])
def test_where_no_other_can_be_started_one_process_does_it(
    tmp_path: Path,
    alone: dict[str, list[tuple[object, ...]]],
    monkeypatch: pytest.MonkeyPatch,
    program: str,
) -> None:
    path = tmp_path / program
    if program.endswith("ends"):
        path.write_text("#!/bin/sh\nexit 3\n")
        path.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(path))
    assert synced(tmp_path / "state", library()) == alone


class Own(tzinfo):
    """A zone that no other process knows of."""

    def utcoffset(self, at: datetime | None) -> timedelta:
        return timedelta(hours=3)

    def dst(self, at: datetime | None) -> timedelta:
        return timedelta()

    def __reduce__(self) -> str:
        raise TypeError("not to be sent")


@pytest.mark.usefixtures("few")
def test_what_cannot_be_sent_is_cut_here(tmp_path: Path) -> None:
    files = library()
    odd = turn("2026-04-09 09:00", "Seen the day before yesterday.")
    message = replace(odd.messages[0], at=datetime(2026, 4, 9, 9, tzinfo=Own()))
    files.put(source("005.md", replace(odd, messages=(message,))))
    held = synced(tmp_path / "state", files)
    assert len(held["source"]) == MANY + 1
    assert any("005.md" in row for row in held["source"])


@pytest.mark.usefixtures("few")
def test_a_stop_in_the_middle_leaves_whole_files_for_the_next_sync(
    tmp_path: Path, alone: dict[str, list[tuple[object, ...]]]
) -> None:
    files, asked = library(), iter(range(1_000))
    index = Index.open(tmp_path / "state", None, vault_id="vault", times=SPOKEN)
    with closing(index):
        report = files.sync(index, stop=lambda: next(asked) >= 7)
        assert len(files.reads) == 7
        assert report.added <= 7
        assert report.added + report.pending == MANY + 1
        assert index.counts().sources == report.added
    assert synced(tmp_path / "state", files) == alone


def test_a_file_that_cannot_be_read_is_named_with_others_too(tmp_path: Path, few: None) -> None:
    files = library()
    files.broken.add("004.md")
    index = Index.open(tmp_path / "state", None, vault_id="vault", times=SPOKEN)
    with closing(index):
        report = files.sync(index)
    assert [problem.path for problem in report.problems] == ["004.md"]
    assert report.added == MANY


FOREIGN = Times("own", lambda text, at: None)


@pytest.mark.parametrize(
    ("files", "size", "processors", "times", "helping"),
    [
        (300, 0, 2, SPOKEN, 1),
        (1, 4_000_000, 2, SPOKEN, 1),
        (299, 3_999_999, 2, SPOKEN, 0),
        (300, 0, 1, SPOKEN, 0),
        (300, 0, 4, None, 3),
        (300, 0, 64, SPOKEN, 6),
        (300, 0, 2, FOREIGN, 0),
    ],
)
def test_how_many_help(
    monkeypatch: pytest.MonkeyPatch,
    files: int,
    size: int,
    processors: int,
    times: Times | None,
    helping: int,
) -> None:
    monkeypatch.setattr(crew, "_processors", lambda: processors)
    assert Crew.needed(times, files, size)._helping == helping


@pytest.mark.parametrize("program", ["/opt/blender", "", "/usr/sbin/uwsgi"])
def test_a_program_that_embeds_python_is_not_started_again(
    monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    monkeypatch.setattr(crew, "_processors", lambda: 4)
    monkeypatch.setattr(sys, "executable", program)
    assert Crew.needed(SPOKEN, 1_000, 0)._helping == 0


def test_a_frozen_program_is_not_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crew, "_processors", lambda: 4)
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert Crew.needed(SPOKEN, 1_000, 0)._helping == 0


# Syncs for a long time, and says which process helps it.
PARENT = """
import sys
from datetime import datetime
from huimem.index import crew
from tests.index import test_crew as made

print("main", flush=True)
crew._processors = lambda: 2
crew.LEAST_FILES = 3
begin = crew.Crew._started
def begun(self):
    ends = begin(self)
    print(self._children[-1].pid, flush=True)
    return ends
crew.Crew._started = begun
crew.Crew._taken_back = lambda self: None
crew.LATE = 60.0
index = made.Index.open(made.Path(sys.argv[1]), None, vault_id="vault", times=made.SPOKEN)
made.library(3_000).sync(index)
"""


@pytest.fixture
def parent(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), *sys.path])}
    command = [sys.executable, "-c", PARENT, str(tmp_path / "state")]
    with subprocess.Popen(
        command, cwd=root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as child:
        yield child
        child.kill()


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs a descriptor of a process")
@pytest.mark.parametrize("signal_", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_who_helps_ends_with_the_process_that_it_helps(
    parent: subprocess.Popen[bytes], signal_: signal.Signals
) -> None:
    assert parent.stdout is not None
    assert parent.stdout.readline() == b"main\n"
    helper = int(parent.stdout.readline())
    process = os.pidfd_open(helper)
    try:
        line = Path(f"/proc/{helper}/cmdline").read_bytes()
        assert not any(said in line for said in (b"Yesterday", b"project", b"contract"))
        parent.send_signal(signal_)
        parent.wait(30)
        assert select.select([process], [], [], 30)[0], "still there"
    finally:
        os.close(process)


def test_a_helper_says_nothing_where_its_input_ends() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from huimem.index.worker import serve; serve()"],
        input=b"\0\0",
        capture_output=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_turns_and_facts_arrive_as_they_were_sent() -> None:
    spoken = turn("2026-04-09 09:00", "昨天 chose it.", "Well.", session="s")
    held = fact("diet", "2026-04-01", "2026-05-01", "no peanuts")
    for record in (spoken, held):
        assert worker._heard(worker._told(record)) == record
    assert spoken.messages[0].at == datetime(2026, 4, 9, 9, tzinfo=UTC)

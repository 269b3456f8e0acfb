"""Records in real programs: what `huimem edit` and `huimem open` start, and what they make of an edit."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from huimem import Memory, files, heartbeat, locks, upkeep
from huimem.background import told
from huimem.errors import Locked
from huimem.months import archived
from huimem.surfaces.cli.main import run
from tests.live.places import HUIMEM, ROOT, environment
from tests.trees import tree

PATH = "sessions/2026-W15/chat_2026-04-08_101502.md"
REF = "chat_2026-04-08_101502#20260408T102000"
TEXT = """\
---
huimem: 1
id: chat_2026-04-08_101502
title: Shards
created: 2026-04-08T10:15:02
tz: UTC
---

## User · 2026-04-08 10:15:02

HNSW or IVF? 内存紧张。

## User · 2026-04-08 10:20:00

The marigold is by the door.
"""
OTHER = TEXT.replace("chat_2026-04-08_101502", "other").replace("marigold", "tulip")

# Notes its arguments and the file's text, then does what it is told by its first words.
EDITOR = f"""\
#!{sys.executable}
import json, os, sys, time
from pathlib import Path
place = Path(sys.argv[-1])
Path(os.environ["SEEN"]).write_text(json.dumps(sys.argv[1:]))
for old, new in zip(sys.argv[1:-2:2], sys.argv[2:-2:2]):
    place.write_text(place.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A vault with two sessions, in a folder whose name has blanks, and a program that edits."""
    root = tmp_path / "my 'own' $notes"
    (root / PATH).parent.mkdir(parents=True)
    (root / "huimem.toml").write_text('timezone = "UTC"\n', encoding="utf-8")
    (root / PATH).write_text(TEXT, encoding="utf-8")
    (root / PATH).with_name("other.md").write_text(OTHER, encoding="utf-8")
    (tmp_path / "home").mkdir()
    (tmp_path / "vim").write_text(EDITOR, encoding="utf-8")
    (tmp_path / "vim").chmod(0o755)
    return root


def settings(root: Path, options: str = "") -> dict[str, str]:
    return {
        "VISUAL": f"{root.parent / 'vim'} {options}",
        "SEEN": str(root.parent / "seen"),
        "HUIMEM_EMBEDDER": "none",
    }


@dataclass
class Line:
    """Carries out command lines on a vault: exit code, standard output and error, the editor's among them."""

    root: Path
    captured: pytest.CaptureFixture[str]
    patch: pytest.MonkeyPatch

    def __call__(self, *words: str, options: str = "", **more: str) -> tuple[int, str, str]:
        for name, value in {**settings(self.root, options), **more}.items():
            self.patch.setenv(name, value)
        self.captured.readouterr()
        code = run([*words, "--vault", str(self.root)])
        said = self.captured.readouterr()
        return code, said.out, said.err


@pytest.fixture
def line(root: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Line:
    return Line(root, capfd, monkeypatch)


def seen(root: Path) -> list[str]:
    """The arguments that the editor was started with."""
    found = json.loads((root.parent / "seen").read_text(encoding="utf-8"))
    assert isinstance(found, list)
    return found


def test_the_editor_gets_a_line_and_a_path_and_nothing_that_was_said(root: Path, line: Line) -> None:
    assert line("edit", REF) == (0, f"{root / PATH}:13  nothing changed\n", "")
    assert seen(root) == ["+13", str(root / PATH)]
    line("edit", f"{PATH}:15")
    assert seen(root) == ["+15", str(root / PATH)]
    line("edit", PATH, options="-R")
    assert seen(root) == ["-R", str(root / PATH)]


def test_an_edit_is_taken_in(root: Path, line: Line) -> None:
    line("sync")
    done = line("edit", REF, options="marigold larkspur IVF 'flat IVF'")
    assert done == (0, f"{root / PATH}:13  2 records changed\n", "")
    status = json.loads(line("status", "--json")[1])
    assert status["fresh"] and status["pending"] == 0


def test_turns_that_come_and_go_are_counted(root: Path, line: Line) -> None:
    line("sync")
    options = "10:20:00 10:20:01 'door.' 'door.\n\n## User · 2026-04-08 11:00:00\n\nYes.'"
    assert json.loads(line("edit", REF, "--json", options=options)[1]) == {
        "path": PATH, "line": 13, "put_back_from": None, "changed": True,
        "records": {"changed": 0, "added": 2, "gone": 1},
    }  # fmt: skip


def test_a_packed_file_is_put_back_and_edited_and_the_others_stay_packed(root: Path, line: Line) -> None:
    before = tree(root)
    line("archive", "--now", "2026-09-01")
    assert line("edit", REF, options="marigold larkspur") == (
        0,
        f"{root / PATH}:13  1 record changed\n",
        f"put back from archive/2026-04.tar.zst: {PATH}\n",
    )
    assert (root / PATH).read_text(encoding="utf-8") == TEXT.replace("marigold", "larkspur")
    with Memory.open(root, embedder="none") as memory:
        assert memory.recall("larkspur").hits[0].path == PATH
        inside = memory.recall("tulip").hits[0].path
        assert inside.startswith("archive/")
    assert set(before) - set(tree(root)) == {inside.removeprefix("archive/2026-04.tar.zst/")}
    assert line("check", "--read-data")[0] == 0


def test_nothing_is_put_back_where_no_editor_can_be_started(root: Path, line: Line) -> None:
    line("archive", "--now", "2026-09-01")
    for verb, more in (("edit", {"VISUAL": "none-such"}), ("open", {"PATH": "/nowhere"})):
        code, out, err = line(verb, REF, **more)
        assert (code, out) == (3, "") and err.startswith("huimem: ")
    assert not (root / PATH).exists()


def test_whoever_records_to_it_goes_first(root: Path, line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two who put one file back, a recorder and we, do it one after the other."""
    line("archive", "--now", "2026-09-01")
    monkeypatch.setattr(files, "lock", partial(locks.lock, timeout=0.05))
    with Memory.open(root, embedder="none") as memory:
        inside = memory.vault.find(memory.recall("marigold").hits[0].ref)[0]
        place = archived(inside)
        assert place is not None
        held = locks.lock(memory.vault.session_lock_path(*memory.vault.id_of(inside)))
        with held, pytest.raises(Locked):
            upkeep.put_back(memory.vault, memory.index, place)
        assert upkeep.put_back(memory.vault, memory.index, place) == PATH
        assert upkeep.put_back(memory.vault, memory.index, place) == PATH


@contextmanager
def editing(root: Path, script: str) -> Iterator[subprocess.Popen[str]]:
    """`huimem edit` in a process group of its own, as a terminal has it, with an editor that has begun."""
    (root.parent / "vim").write_text(f"#!{sys.executable}\n{script}", encoding="utf-8")
    more = settings(root)
    with subprocess.Popen(
        [*HUIMEM, "edit", REF, "--vault", str(root)], cwd=ROOT, env=environment(root, **more), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    ) as process:  # fmt: skip
        try:
            end = time.monotonic() + 20
            while not (root.parent / "seen").exists() and time.monotonic() < end:
                time.sleep(0.02)
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


INTERRUPTED = """
import os, signal, sys, time
from pathlib import Path
hit = []
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    sys.exit("it cannot be interrupted")
signal.signal(signal.SIGINT, lambda *_: hit.append(1))
Path(os.environ["SEEN"]).write_text("")
while not hit:
    time.sleep(0.02)
place = Path(sys.argv[-1])
place.write_text(place.read_text(encoding="utf-8").replace("marigold", "larkspur"), encoding="utf-8")
"""


def test_keys_that_interrupt_are_the_editors(root: Path, line: Line) -> None:
    """Control-C inside an editor ends neither it nor the taking in of what is saved after."""
    line("sync")
    with editing(root, INTERRUPTED) as process:
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (0, f"{root / PATH}:13  1 record changed\n", "")


def test_what_an_editor_prints_is_not_what_huimem_says(root: Path, line: Line) -> None:
    """Where standard output is no terminal: a program that reads it gets the line or the document alone."""
    (root.parent / "vim").write_text("#!/bin/sh\necho drawn by the editor\n", encoding="utf-8")
    said = f"{root / PATH}:13  nothing changed\n"
    assert line("edit", REF) == (0, said, "drawn by the editor\n")


# The program, the words with it, what is said when the file is as before.
IMPATIENT = [
    (
        "code",
        "",
        "code has not waited: what you save there, the next question knows (--wait in $VISUAL has it ",
    ),
    ("code", "--wait", ""),
    ("gvim", "", "gvim has not waited: what you save there, the next question knows (-f in $VISUAL has it "),
]


@pytest.mark.parametrize(("program", "options", "said"), IMPATIENT)
def test_an_editor_that_does_not_wait_is_told_of(
    root: Path, line: Line, program: str, options: str, said: str
) -> None:
    shutil.move(root.parent / "vim", root.parent / program)
    code, out, err = line("edit", REF, VISUAL=f"{root.parent / program} {options}")
    assert code == 0 and out.endswith("  nothing changed\n")
    assert err.startswith(said) and bool(err) == bool(said)


def test_where_a_watcher_runs_the_edit_is_left_to_it(root: Path, line: Line) -> None:
    line("sync")
    with heartbeat.lease(root / ".huimem"), heartbeat.Heart(root / ".huimem", beat=0.05):
        end = time.monotonic() + 5
        while (found := heartbeat.seen(root / ".huimem", now=time.time())) is None or found.stuck:
            assert time.monotonic() < end
        said = f"{root / PATH}:13  1 record changed (the watcher takes it in)\n"
        assert line("edit", REF, options="marigold larkspur") == (0, said, "")
        with Memory.open(root, embedder="none") as memory:
            assert memory.index.changes(memory.vault.scan().stamps).changed


def test_an_edit_stands_where_the_index_is_locked(
    root: Path, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    line("sync")
    fault = Locked("sync.lock is locked by process 7", "Wait.")

    def refuse(*_: object, **__: object) -> None:
        raise fault

    monkeypatch.setattr(Memory, "sync", refuse)
    said = f"{root / PATH}:13  1 record changed (the next question takes it in)\n"
    assert line("edit", REF, options="marigold larkspur") == (0, said, f"warning: {told(fault)}\n")
    assert "larkspur" in (root / PATH).read_text("utf-8")


# What the opener's exit code is, that of huimem.
OPENED = [(0, 0), (3, 3)]


@pytest.mark.parametrize(("code", "ours"), OPENED)
def test_the_system_opens_the_file(root: Path, line: Line, code: int, ours: int) -> None:
    opener = root.parent / "xdg-open"
    opener.write_text(f"{EDITOR}\nsys.exit({code})\n", encoding="utf-8")
    opener.chmod(0o755)
    done, out, err = line("open", REF, PATH=f"{root.parent}:{os.environ['PATH']}")
    assert done == ours and seen(root) == [str(root / PATH)]
    assert out == ("" if code else f"{root / PATH}:13\n")
    assert ("xdg-open could not open it (exit code 3)" in err) == bool(code)

"""D12: a signal in the middle of a verb ends it as it asks; files are old or new, and none is a part."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from huimem import Memory, checking, files
from huimem.vault.vault import Vault

# Sends itself the signal at a step of writing, then goes on as the command line does.
CHILD = """
import os, sys
from itertools import count
from huimem import files
from huimem.surfaces.cli.main import main
step, number, *sys.argv[1:] = sys.argv[1:]
steps = count(1)
files.watch_steps(lambda name: os.kill(os.getpid(), int(number)) if next(steps) == int(step) else None)
main()
"""
NOW = "2026-09-01T12:00"
SAID = json.dumps([{"role": "user", "content": "The tulip 郁金香.", "at": "2026-08-30T10:00:00+00:00"}])
VERBS = {
    "record": (["record", "--session", "new"], SAID),
    "record to a known session": (["record", "--session", "s1"], SAID),
    "sync": (["sync"], ""),
    "recall": (["recall", "marigold"], ""),
    "archive": (["archive"], ""),
    "import": (["import", "-", "--from", "openai"], SAID),
    "forget": (["forget", "s2", "--yes"], ""),
}
SIGNALS = [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("signals") / "vault"
    Memory.create(root, tz="UTC").close()
    with Memory.open(root, embedder="none", background=False) as memory:
        for number in range(4):
            at = datetime(2026, 3, 2 + number, 10, tzinfo=UTC)
            said = [{"role": "user", "content": f"The marigold {number} 金盏花.", "at": at}]
            memory.record(said, session=f"s{number}", title=f"Talk {number}")
    return root


def run(root: Path, verb: str, *before: str) -> subprocess.CompletedProcess[str]:
    args, given = VERBS[verb]
    begin = [sys.executable, *(before or ("-m", "huimem"))]
    options = ["--vault", str(root), "--now", NOW]
    env = {**os.environ, "HUIMEM_EMBEDDER": "none"}
    return subprocess.run(
        [*begin, *args, *options], input=given, capture_output=True, text=True, env=env, timeout=60
    )


@pytest.mark.slow
@pytest.mark.parametrize("step", [1, 4, 9])
@pytest.mark.parametrize("verb", VERBS)
def test_a_signal_in_the_middle_ends_a_verb_and_the_next_run_completes(
    verb: str, step: int, kept: Path, tmp_path: Path
) -> None:
    number, code = SIGNALS[(len(verb) + step) % len(SIGNALS)]
    root = tmp_path / "vault"
    shutil.copytree(kept, root)
    whole = {path.read_bytes() for path in root.glob("sessions/**/*.md")}
    done = run(root, verb, "-c", CHILD, str(step), str(int(number)))
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr and "marigold" not in done.stderr
    assert not [path for path in root.rglob("*") if files.TEMP.fullmatch(path.name)]
    if verb in ("sync", "recall"):
        assert {path.read_bytes() for path in root.glob("sessions/**/*.md")} == whole
    again = run(root, verb)
    assert again.returncode == 0, again.stderr
    with Memory.open(root, embedder="none", background=False) as memory:
        memory.sync()
        checked = checking.check(Vault.open(root, memory.config), read_data=True)
    assert not checked.damaged and not checked.problems and not checked.pending

"""Vaults for real editors: outside the temp folder, with a home of their own and the programs of the system.

vim saves in place below /tmp (its 'backupskip'), so a vault there would show nothing of its moves.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest

ROOT = Path(__file__).parents[2]
HUIMEM = (sys.executable, "-m", "huimem")
OUTSIDE_TEMP = "/var/tmp"

T = TypeVar("T")


@contextmanager
def place() -> Iterator[Path]:
    """The root of an empty vault in UTC; the folder above it is the test's own, and goes with it."""
    if not os.path.isdir(OUTSIDE_TEMP):
        pytest.skip(f"this system has no {OUTSIDE_TEMP}")
    above = Path(tempfile.mkdtemp(prefix="huimem-live-", dir=OUTSIDE_TEMP))
    try:
        (above / "home").mkdir()
        (above / "vault").mkdir()
        (above / "vault/huimem.toml").write_text('timezone = "UTC"\n', encoding="utf-8")
        yield above / "vault"
    finally:
        shutil.rmtree(above)


def environment(root: Path, **more: str) -> dict[str, str]:
    """What child processes of a vault see: no settings of whoever runs the tests, cheap vectors."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HUIMEM_", "XDG_"))}
    home = str(root.parent / "home")
    own = {"HOME": home, "HUIMEM_EMBEDDER": "hashing", "PYTHONPATH": str(ROOT), "TERM": "xterm"}
    return {**kept, **own, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8", **more}


def huimem(root: Path, *words: str, given: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    """Carry out a command line of huimem in a process of its own."""
    done = subprocess.run(
        [*HUIMEM, *words, "--vault", str(root)],
        input=given, env=environment(root, **more), capture_output=True, text=True, timeout=50,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return done


def tool(name: str) -> str:
    """The path of a program; without it the test is skipped."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"this system has no {name}")
    return found


def carried_out(root: Path, *command: str, check: bool = True) -> str:
    """Run a program of the system inside the vault; what it printed."""
    done = subprocess.run(
        [tool(command[0]), *command[1:]],
        cwd=root, env=environment(root), capture_output=True, text=True, timeout=50,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0 or not check, (command, done.stdout, done.stderr)
    return done.stdout


def eventually(look: Callable[[], T], wanted: T, seconds: float = 15.0) -> None:
    """Wait until `look` sees `wanted`; after `seconds` what it sees instead is the failure."""
    end = time.monotonic() + seconds
    while look() != wanted and time.monotonic() < end:
        time.sleep(0.03)
    assert look() == wanted


def standing(root: Path, path: str, word: str) -> tuple[str, int]:
    """The path, and the last line on which a word stands in that file now: a title may hold it too."""
    lines = (root / path).read_text(encoding="utf-8").splitlines()
    return path, max(number for number, line in enumerate(lines, start=1) if word in line)

"""Programs that want a terminal: started in one, typed into, and their screens read."""

from __future__ import annotations

import os
import select
import subprocess
import termios
import time
from collections.abc import Sequence
from pathlib import Path

from tests.live.places import environment, tool

PATIENCE = 10.0


def typed(root: Path, command: Sequence[str], steps: Sequence[tuple[str, str]]) -> None:
    """Run a program in a terminal: each step waits until the screen shows some words, then types keys."""
    ours, theirs = os.openpty()
    try:
        termios.tcsetwinsize(theirs, (24, 100))
        with subprocess.Popen(
            [tool(command[0]), *command[1:]], cwd=root, env=environment(root),
            stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        ) as process:  # fmt: skip
            try:
                for words, keys in steps:
                    _wait_for(ours, words)
                    os.write(ours, keys.encode())
                end = time.monotonic() + PATIENCE
                while process.poll() is None and time.monotonic() < end:
                    _read(ours)
                assert process.returncode == 0
            finally:
                process.kill()
    finally:
        os.close(ours)
        os.close(theirs)


def _wait_for(screen: int, words: str) -> None:
    shown, end = "", time.monotonic() + PATIENCE
    while words not in shown:
        assert time.monotonic() < end, f"waited for {words!r}, the screen shows {shown!r}"
        shown += _read(screen)


def _read(screen: int) -> str:
    ready, _, _ = select.select([screen], [], [], 0.05)
    return os.read(screen, 65_536).decode("utf-8", "replace") if ready else ""

"""What tests of files need from the system: other processes, and somebody who may not do everything."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534


def start(action: Callable[[], object]) -> int:
    """Fork a process that does one thing; its id."""
    child = os.fork()
    if child == 0:
        try:
            action()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return child


def code_of(child: int) -> int:
    """Wait for a process: its exit code."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@contextmanager
def unprivileged() -> Iterator[Path]:
    """An empty folder of somebody who obeys modes; root, who does not, becomes nobody meanwhile."""
    with tempfile.TemporaryDirectory() as name:
        root = os.geteuid() == 0
        if root:
            os.chown(name, NOBODY, NOBODY)
            os.seteuid(NOBODY)
        try:
            yield Path(name)
        finally:
            for path in Path(name).iterdir():
                path.chmod(0o700)
            if root:
                os.seteuid(0)

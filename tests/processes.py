"""What tests of files need from the system: other processes, and somebody who may not do everything."""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
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


@contextmanager
def obeying_modes() -> Iterator[None]:
    """This thread obeys modes meanwhile, also where it is root's: it lays two capabilities down."""
    if os.geteuid() != 0 or sys.platform != "linux":
        yield
        return
    libc = ctypes.CDLL(None)
    header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()  # capget(2)
    libc.capget(header, sets)
    kept = sets[0]
    sets[0] &= ~0b110  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    libc.capset(header, sets)
    try:
        yield
    finally:
        sets[0] = kept
        libc.capset(header, sets)


@contextmanager
def no_file_beyond(size: int) -> Iterator[None]:
    """No file of this process can grow beyond `size` bytes meanwhile."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def on_a_small_disk(
    folder: Path, script: str, arguments: Sequence[str], env: Mapping[str, str], limit: str = "size=4m"
) -> subprocess.CompletedProcess[str] | None:
    """Run a shell script on a disk of 4 MB that only it sees at `folder`; None where that is not allowed."""
    mount = f'mount -t tmpfs -o {limit} tmpfs "$1" && cd "$1" && shift || exit 99'
    done = subprocess.run(
        ["unshare", "-Urm", "sh", "-c", f"{mount}\n{script}", "sh", str(folder), *arguments],
        env=env,
        capture_output=True,
        text=True,
    )
    return None if done.returncode in (1, 99) and not done.stdout else done

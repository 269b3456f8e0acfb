"""The memory a command line means, opened for one verb, with the asker's zone and present."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime

from huimem.config import asking_zone
from huimem.memory import Memory
from huimem.surfaces.cli.options import Shared, present

# Seconds that a command works on for the questions to come.
LITTLE = 1.0


@contextmanager
def memory_of(shared: Shared) -> Iterator[tuple[Memory, datetime]]:
    """The open memory and the present in the asker's zone.

    Raises `VaultError`, `ConfigError`, and `UsageError` for a present that cannot be read.
    """
    with Memory.open(shared.vault) as memory:
        memory.zone = asking_zone(memory.config, shared.tz)
        yield memory, present(shared.now, memory.zone)


def linger(shared: Shared, memory: Memory, said: Sequence[str] = ()) -> None:
    """Make a little of the vectors that are missing, now that the answer is out, with what it `said`."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    fault = ""
    with suppress(KeyboardInterrupt):  # the answer is out: it is done
        fault = memory.linger(LITTLE)
    if fault and not said:  # the same disk, most likely
        shared.say(f"warning: {fault}")

"""The memory a command line means, opened for one verb, with the asker's zone and present."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from huimem.config import asking_zone
from huimem.memory import Memory
from huimem.surfaces.cli.options import Shared, present


@contextmanager
def memory_of(shared: Shared) -> Iterator[tuple[Memory, datetime]]:
    """The open memory and the present in the asker's zone.

    Raises `VaultError`, `ConfigError`, and `UsageError` for a present that cannot be read.
    """
    with Memory.open(shared.vault) as memory:
        memory.zone = asking_zone(memory.config, shared.tz)
        yield memory, present(shared.now, memory.zone)

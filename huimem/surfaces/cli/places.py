"""A ref, or a place in a file → an open file and a line in it, for other programs to open.

What is packed is put back first: no other program can open a file in an archive.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from subprocess import Popen

from huimem import upkeep
from huimem.errors import ConfigError
from huimem.months import archived
from huimem.surfaces.cli.answering import memory_of
from huimem.surfaces.cli.finding import located
from huimem.surfaces.cli.opening import vault_of
from huimem.surfaces.cli.options import Shared
from huimem.vault.vault import Vault


@dataclass(frozen=True, slots=True)
class Place:
    """A line of an open file, 0 for none; `packed` is the archive that it was just taken out of, else ""."""

    vault: Vault
    path: str
    line: int
    packed: str = ""

    @property
    def file(self) -> str:
        """The file's whole path."""
        return os.path.abspath(self.vault.root / self.path)


def laid_open(shared: Shared, text: str) -> Place:
    """The place that `text` names, as `huimem show` takes it; said where it had to be put back first.

    Raises `NotFound`, `UsageError`, and as `Memory.unarchive`.
    """
    vault, _ = vault_of(shared)
    path, line = located(vault, text, shared.namespace)
    inside = archived(path)
    if inside is None:
        return Place(vault, path, line)
    with memory_of(shared) as (memory, _):
        path = upkeep.put_back(memory.vault, memory.index, inside)
    shared.say(f"put back from {inside.archive}: {path}")
    return Place(vault, path, line, inside.archive)


def carried_out(command: Sequence[str]) -> int:
    """Run a program to its end, on this terminal; its exit code. Raises `ConfigError` where it cannot start.

    Where standard output leads elsewhere, to a file or a pipe, it stays free of what the program prints.
    """
    try:
        with Popen(command, stdout=None if os.isatty(1) else 2) as program:
            return program.wait()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ConfigError(f"{command[0]} cannot be started: {reason}", "Name another program.") from error


def ending(code: int) -> str:
    """How a program ended, in words."""
    return f"exit code {code}" if code >= 0 else f"signal {-code}"

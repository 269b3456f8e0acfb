"""What can go wrong, in two kinds.

A fault in a user's file is a value, `Problem`: it is collected and shown, and stops nothing.
A request that cannot be carried out is an exception; each says what to do in `hint`:

HuimemError
├── UsageError            the request itself is off                        exit 2
├── VaultError            no vault there, or it cannot be used             exit 3
│   └── NewerFormat       written by a newer huimem: read, never written
├── ConfigError           a setting is wrong, unknown or not allowed       exit 3
├── MissingExtra          an optional package is needed                    exit 3
├── Forked                opened before a fork, used after it             exit 3
├── NotFound              no such record                                   exit 1
├── Locked                another process holds the lock                   exit 5
├── Conflict              the file changed under us; nothing was written   exit 5
└── WriteFailed           the disk refused; the old file stands            exit 3
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault in a user's file: where it stands, what it is, what to do. `line` 1-based, 0 = all of it."""

    path: str
    line: int
    message: str
    remedy: str = ""

    @property
    def place(self) -> str:
        return place(self.path, self.line)

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" + (f" – {self.remedy}" if self.remedy else "")


def place(path: str, line: int) -> str:
    """`path:line`, the path alone where the line is 0."""
    return f"{path}:{line}" if line else path


def unexpected(error: Exception) -> str:
    """An error of ours by its type and place alone: its own text could hold what somebody said."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "an unknown place"
    return f"unexpected {type(error).__name__} at {place}"


class HuimemError(Exception):
    """Root of all errors of huimem. `hint` names the remedy; `exit_code` is the command line's."""

    exit_code = 3

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class UsageError(HuimemError):
    """The request itself is off."""

    exit_code = 2


class VaultError(HuimemError):
    """No vault there, or it cannot be used."""


class NewerFormat(VaultError):
    """A file of a newer format: it is read, never written."""


class ConfigError(HuimemError):
    """A setting is wrong, unknown, or not allowed where it stands."""


class MissingExtra(HuimemError):
    """An optional package is needed; the hint holds the install line."""


class Forked(HuimemError):
    """What a process opened cannot be used in a fork of it."""


class NotFound(HuimemError):
    """No record, session or file of that name."""

    exit_code = 1


class Locked(HuimemError):
    """Another process holds the lock; the message names it."""

    exit_code = 5


class Conflict(HuimemError):
    """The file changed while it was being rewritten; nothing was written."""

    exit_code = 5


class WriteFailed(HuimemError):
    """The disk refused a write; what stood there before still stands."""

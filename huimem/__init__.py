"""huimem: a memory vault for conversations with AI, in plain Markdown.

    from huimem import Memory

    with Memory.open("vault") as memory:
        found = memory.recall("which index did we choose?")

Importing the package loads nothing; each name below is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from huimem.errors import ConfigError, HuimemError, NotFound, Problem, UsageError, VaultError
    from huimem.memory import Memory
    from huimem.records import (
        Fact,
        Factor,
        Freshness,
        Hit,
        Message,
        Reading,
        Recall,
        Ref,
        Resolution,
        Session,
        TimeRange,
        Turn,
    )

__version__ = "0.1.0"

__all__ = [
    "ConfigError",
    "Fact",
    "Factor",
    "Freshness",
    "Hit",
    "HuimemError",
    "Memory",
    "Message",
    "NotFound",
    "Problem",
    "Reading",
    "Recall",
    "Ref",
    "Resolution",
    "Session",
    "TimeRange",
    "Turn",
    "UsageError",
    "VaultError",
    "__version__",
]

_IN_ERRORS = ("ConfigError", "HuimemError", "NotFound", "Problem", "UsageError", "VaultError")
_HOMES = dict.fromkeys(_IN_ERRORS, "huimem.errors") | {"Memory": "huimem.memory"}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'huimem' has no attribute {name!r}")
    value: object = getattr(import_module(_HOMES.get(name, "huimem.records")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

"""Names of sources → importers, the built-in ones and those that installed packages register.

A further source is one file with one class, an `Importer`, named in the entry-point group
`huimem.importers`. The built-ins stand in the same table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol, cast

from huimem.errors import ConfigError, UsageError
from huimem.importers.documents import Document
from huimem.importers.glance import Glance
from huimem.importers.options import Options, Skipped
from huimem.records import Conversation

AUTO = "auto"
GROUP = "huimem.importers"
# In the order in which they are asked whose a document is.
IMPORTERS = {
    "chatgpt": "huimem.importers.chatgpt:ChatGPT",
    "claude": "huimem.importers.claude:Claude",
    "claude-code": "huimem.importers.claude_code:ClaudeCode",
    "openai": "huimem.importers.openai:OpenAI",
    "huimemory": "huimem.importers.huimemory:HuiMemory",
}


class Importer(Protocol):
    """Reads one sort of export; made anew for each import.

    `apart`: its documents have nothing to do with one another, so that a known one need not be read.
    """

    name: str
    apart: bool

    def claims(self, glance: Glance) -> bool:
        """Whether a document that begins so is one of its own."""
        ...

    def read(self, document: Document, options: Options) -> Iterator[Conversation | Skipped]:
        """The document's conversations in order, and what could not be read. Streams."""
        ...


def importer_names() -> tuple[str, ...]:
    """Names of sources: built-in, then registered."""
    return (*dict.fromkeys((*IMPORTERS, *(entry.name for entry in _registered()))),)


def importers(name: str = AUTO) -> Sequence[Importer]:
    """New importers: the one of that name, or all in the order in which they are asked.

    Raises UsageError for an unknown name, ConfigError where a registered one does not load.
    """
    if name == AUTO:
        return [_make(each) for each in importer_names()]
    if name not in importer_names():
        raise UsageError(f"there is no source {name!r}", f"Known: {AUTO}, {', '.join(importer_names())}.")
    return [_make(name)]


@cache
def _registered() -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=GROUP))


def _make(name: str) -> Importer:
    if name in IMPORTERS:
        module, attribute = IMPORTERS[name].split(":")
        return cast(Importer, getattr(import_module(module), attribute)())
    entry = next(entry for entry in _registered() if entry.name == name)
    try:
        return cast(Importer, entry.load()())
    except Exception as fault:  # whatever the code of somebody else runs into
        raise ConfigError(
            f"importer {entry.name!r} ({entry.value}) does not load: {type(fault).__name__}: {fault}",
            "Repair or uninstall the package that registers it, or name another one: --from KIND.",
        ) from fault

"""Wikilinks that lead to a file: which of them lead nowhere once that file is packed.

In: a vault, and the files that are to go. Out: links in files that stay, each with its line.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePosixPath

from huimem import files
from huimem.vault.vault import Vault

_LINK = re.compile(r"\[\[([^\[\]|#^\n]+)[^\[\]\n]*\]\]")


@dataclass(frozen=True, slots=True)
class Link:
    """A link as it stands in a file: its line, 1-based, its `text`, and the file that it leads to."""

    path: str
    line: int
    text: str
    leads_to: str


def breaking(vault: Vault, going: Collection[str]) -> tuple[Link, ...]:
    """The links in open files that lead to a file in `going` and to no other; by path and line.

    Files that go themselves, and those that cannot be read, are left out.
    """
    staying = sorted(set(vault.scan().files).difference(going))
    others, targets = _by_name(staying), _by_name(going)
    return tuple(
        Link(path, line, text, lost)
        for path in staying
        for line, text, name in _links(vault, path)
        if (lost := _led_to(name, targets)) and not _led_to(name, others)
    )


def _links(vault: Vault, path: str) -> Iterator[tuple[int, str, str]]:
    """Line, text and name of each link in a file."""
    with suppress(files.Unreadable):
        data, _ = files.read(vault.root / path, within=vault.root)
        for number, line in enumerate(data.split(b"\n"), 1):
            if b"[[" in line:
                for found in _LINK.finditer(line.decode("utf-8", "replace")):
                    yield number, found[0], found[1].rstrip("\\")  # in a table | is \\|


def _by_name(paths: Iterable[str]) -> dict[str, list[str]]:
    """Paths by the name that a link to them ends in."""
    named: dict[str, list[str]] = {}
    for path in sorted(paths):
        named.setdefault(_plain(PurePosixPath(path).name), []).append(path)
    return named


def _led_to(name: str, named: dict[str, list[str]]) -> str:
    """The first path that a link of that name leads to, by its name or by its path's end; "" for none."""
    wanted = _plain(name.strip().lstrip("/"))
    ends = f"/{wanted}"
    return next(
        (path for path in named.get(wanted.rpartition("/")[2], ()) if f"/{_plain(path)}".endswith(ends)), ""
    )


def _plain(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold().removesuffix(".md")

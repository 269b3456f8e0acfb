"""A path as somebody types it → the vault's own paths."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from huimem.errors import UsageError
from huimem.vault.layout import inside, note_name
from huimem.vault.vault import Vault

# A file that may not be read is no mistake of whoever names it; it is told of when it is opened.
PATH = click.Path(path_type=Path, readable=False)


def paths_in(vault: Vault, given: Path) -> Sequence[str]:
    """A path from the working folder, or else from the vault, as the vault's paths; a folder as its files.

    A file that is not there keeps its place, so that its absence can be noticed. Raises `UsageError`
    for a path outside the vault, and for a file that is none of its notes.
    """
    root = vault.root.resolve()
    here = given.resolve() if given.exists() or given.is_absolute() else (root / given).resolve()
    if not here.is_relative_to(root):
        raise UsageError(f"{given} lies outside the vault {vault.root}", "Name files or folders inside it.")
    path = here.relative_to(root).as_posix()
    if here.is_dir():
        below = "" if path == "." else f"{path}/"
        return [file for file in sorted(vault.scan().files) if file.startswith(below)]
    if here.exists() and not (inside(path) and note_name(here.name)):
        raise UsageError(f"{given} is no Markdown file of the vault", "Name a .md file that is not hidden.")
    return [path]

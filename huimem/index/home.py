"""Where an index lives: a state folder that may be deleted at any moment, and is then made again.

In: its path. Out: the folder, there and marked as derived, unless the folder it stood in went away: a
disk that was unmounted leaves an empty folder behind, in which nothing may come to be.
"""

from __future__ import annotations

from pathlib import Path

from huimem import files
from huimem.errors import VaultError
from huimem.folders import identity


class Home:
    """The state folder of one index."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._above: tuple[int, int] | None = None

    def make(self) -> None:
        """See that it is there. Raises `VaultError` where the folder above is not the one it was."""
        above = identity(self._folder.parent)
        if self._above is not None and above != self._above and not self._folder.is_dir():
            raise VaultError(
                f"{self._folder.parent} is gone, or another folder than before", "Is its disk still mounted?"
            )
        files.make_derived_folder(self._folder)
        self._above = identity(self._folder.parent)

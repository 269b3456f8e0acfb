"""A vault under a watcher's eye, on which notes are laid; what the index knows of them is waited for."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from tests.live.editors import LINE, NOTE, OLD
from tests.live.indexed import Seen, found, seen
from tests.live.places import eventually
from tests.live.watched import Watched


class Desk:
    """One vault for many tests: each lays its notes in a folder of its own."""

    def __init__(self, root: Path, watched: Watched) -> None:
        self.root = root
        self.watched = watched
        self._numbers = count(1)

    def folder(self) -> str:
        """The name of a new folder, with a slash behind it."""
        name = f"case{next(self._numbers):03}/"
        (self.root / name).mkdir()
        return name

    def lay(self, path: str, text: str = NOTE, word: str = OLD, line: int = LINE) -> Path:
        """A note that the index knows; `word` stands on `line`."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")
        self.knows(word, (path, line), below=path)
        return self.root / path

    def knows(self, word: str, *where: tuple[str, int], below: str = "") -> None:
        """Wait until the index holds a word in these places and no others."""
        eventually(lambda: found(self.root, word, below), [*where])

    def sees(self, below: str, wanted: Seen) -> None:
        """Wait until the index says this of a folder."""
        eventually(lambda: seen(self.root, below, *wanted.words), wanted)

    def has_looked(self) -> None:
        """Return when the watcher has looked at everything that changed before."""
        word = f"beacon{next(self._numbers):03}"
        (self.root / "beacon.md").write_text(f"A {word}.\n", encoding="utf-8")
        self.knows(word, ("beacon.md", 1))

"""Where imported sessions stand: source and id → path, as the front matter of the files says it.

In: the files of one namespace. Out: the file of a conversation, wherever its owner has moved it. All are
read once, and only when somebody asks for one that does not stand where it stood before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from huimem import files
from huimem.vault import layout
from huimem.vault.front import split_front
from huimem.vault.ledger import Origin
from huimem.vault.reading import text_field

HEAD = 64 << 10  # bytes of a file in which its front matter stands
_ID = re.compile(rb"^id:[ \t]*[\"']?([^\"'\r\n]+?)[\"']?[ \t]*\r?$", re.MULTILINE)


@dataclass(slots=True)
class Origins:
    """The files of a vault and, of one namespace, which conversation each of them is.

    `unread` could not be looked at; `ids` are those of sessions, whatever their file is called.
    """

    root: Path
    namespace: str
    there: set[str]
    unread: set[str] = field(default_factory=set)
    _ids: set[str] = field(default_factory=set)
    _paths: dict[Origin, str] | None = None

    def find(self, origin: Origin, path: str, *, sure: bool) -> str:
        """Where its session stands, "" where there is none. `path`: where it was last, "" for nowhere.

        `sure`: a file that stands there is taken for it unread. Its owner may have put another one there.
        """
        if path in self.there and (sure or self._may_be(path, origin)):
            return path
        return self._listed().get(origin, "")

    def put(self, origin: Origin, path: str, session: str) -> None:
        """A session was made of it."""
        self.there.add(path)
        self._ids.add(session)
        self._listed()[origin] = path

    def has_id(self, session: str) -> bool:
        """Whether a session of that id stands anywhere in the namespace."""
        self._listed()
        return session in self._ids

    def _may_be(self, path: str, origin: Origin) -> bool:
        """Whether the file may be that conversation: it says so, or says nothing, or cannot be read now."""
        try:
            found = self._origin(files.read(self.root / path, within=self.root)[0], path)
        except files.Unreadable as error:
            return not error.gone
        return found in (origin, None)

    def _origin(self, data: bytes, path: str) -> Origin | None:
        if b"\nsource_id:" not in data[:HEAD]:
            return None
        front, _ = split_front(data, path)
        source, id = text_field(front.fields, "source"), text_field(front.fields, "source_id")
        return (self.namespace, source, id) if source and id else None

    def _listed(self) -> dict[Origin, str]:
        if self._paths is None:
            self._paths = dict(self._all())
        return self._paths

    def _all(self) -> Iterator[tuple[Origin, str]]:
        """Every imported session of the namespace; of two that say they are the same, the first counts."""
        for path in sorted(self.there, reverse=True):
            if layout.namespace_of(path) != self.namespace:
                continue
            try:
                data = files.read(self.root / path, within=self.root)[0]
            except files.Unreadable as error:
                if not error.gone:
                    self.unread.add(path)
                continue
            if named := _ID.search(data, 0, HEAD):
                self._ids.add(named[1].decode("utf-8", "replace"))
            if origin := self._origin(data, path):
                yield origin, path

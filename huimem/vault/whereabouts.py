"""Where the file of a session lies, open or packed, and whose session a file holds.

In: a namespace and an id, or a path. Out: paths, likeliest first. What was listed is remembered and thrown
away on any doubt.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from huimem import files
from huimem.months import FOLDER, archived
from huimem.vault import layout
from huimem.vault.archives import Archives
from huimem.vault.front import split_front
from huimem.vault.listing import Scan

# Seconds for which a listing made to find a session's file by its id counts as fresh.
LISTING_AGE = 2.0

Owner = tuple[str, str]


@dataclass(slots=True)
class _Ids:
    """Where each session's file lies, as last seen: path → (stamp, namespace, id), and the way back.

    `packed`: archive → (stamp, the files in it by owner).
    """

    seen: dict[str, tuple[files.Stamp, Owner]]
    packed: dict[str, tuple[files.Stamp, dict[Owner, str]]]
    paths: dict[Owner, str]
    listed: float


class Whereabouts:
    """Finds the files of one vault's sessions; `folder_of` gives the folder of a namespace as it stands."""

    def __init__(
        self,
        root: Path,
        archives: Archives,
        scan: Callable[[], Scan],
        holds: Callable[[str], bool],
        folder_of: Callable[[str], str],
    ) -> None:
        self._root = root
        self._archives = archives
        self._scan = scan
        self._holds = holds
        self._folder_of = folder_of
        self._ids: _Ids | None = None

    def add(self, namespace: str, session: str, path: str) -> None:
        """A session has just begun in the file at `path`."""
        if self._ids is not None:
            self._ids.paths[namespace, session] = path

    def places(self, namespace: str, session: str) -> Iterator[str]:
        """Paths at which the session or note of that id may lie, likeliest first; packed ones last."""
        folder, name = self._folder_of(namespace), layout.file_name(session)
        weeks = self._root / folder / "sessions"
        for week in sorted(weeks.iterdir(), reverse=True) if weeks.is_dir() else ():
            if (week / f"{name}.md").is_file():
                yield f"{folder}sessions/{week.name}/{name}.md"
        path = f"{folder}{session}.md"
        if layout.inside(session) and files.stamp(self._root / path) and self._holds(path):
            yield path
        listed = self._listed(namespace, session)
        if listed:
            yield listed
        yield from (path for path in self.packed(namespace, session) if path != listed)

    def packed(self, namespace: str, session: str) -> Iterator[str]:
        """Paths of packed files of that id, whatever stands open."""
        if self._ids is None:
            self._ids = _Ids({}, {}, {}, -math.inf)
        known, folder = self._ids.packed, self._folder_of(namespace) + FOLDER
        with suppress(OSError):
            for name in sorted(os.listdir(self._root / folder)):
                path = f"{folder}/{name}"
                stamp = files.stamp(self._root / path) if archived(path) else None
                if stamp and (path not in known or known[path][0] != stamp):
                    known[path] = (stamp, self._owners_in(path))
                if stamp and (held := known[path][1].get((namespace, session))):
                    yield held

    def id_of(self, path: str) -> Owner:
        """Namespace and id of a file by its front matter alone."""
        if (packed := archived(path)) and packed.name:
            with suppress(files.Unreadable):
                return layout.namespace_of(packed.original), self._archives.member(packed).id
        namespace, place = layout.split_namespace(path)
        with suppress(files.Unreadable):
            front, _ = split_front(files.read(self._root / path, within=self._root)[0], path)
            named = front.fields.get("id")
            if isinstance(named, str) and named.strip():
                return namespace, named.strip()
        return namespace, place.removesuffix(".md")

    def _listed(self, namespace: str, session: str) -> str | None:
        """Where a listing finds the front matter `id`; the listing is made again when it is old."""
        known = self._ids.paths.get((namespace, session)) if self._ids else None
        gone = known is not None and not self._stands(known)
        if known and not gone and self.id_of(known) == (namespace, session):
            return known
        if self._ids is None or gone or time.monotonic() - self._ids.listed > LISTING_AGE:
            self._ids = self._list_ids(self._ids or _Ids({}, {}, {}, 0.0))
        return self._ids.paths.get((namespace, session), None if gone else known)

    def _stands(self, path: str) -> bool:
        place = archived(path)
        return files.stamp(self._root / (place.archive if place else path)) is not None

    def _list_ids(self, before: _Ids) -> _Ids:
        """All ids with their files: an open file comes before a packed one."""
        seen: dict[str, tuple[files.Stamp, Owner]] = {}
        scan = self._scan()
        for path, stamp in scan.files.items():
            old = before.seen.get(path)
            seen[path] = old if old and old[0] == stamp else (stamp, self.id_of(path))
        packed: dict[str, tuple[files.Stamp, dict[Owner, str]]] = {}
        paths: dict[Owner, str] = {}
        for path, stamp in sorted(scan.archives.items(), reverse=True):
            known = before.packed.get(path)
            packed[path] = known if known and known[0] == stamp else (stamp, self._owners_in(path))
            paths |= packed[path][1]
        paths |= {owner: path for path, (_, owner) in sorted(seen.items(), reverse=True)}
        return _Ids(seen, packed, paths, time.monotonic())

    def _owners_in(self, archive: str) -> dict[Owner, str]:
        namespace = layout.namespace_of(archive)
        return {(namespace, one.id): str(place) for place, one in self._archives.inside([archive], [])}

"""The archives of a vault as they stand: what lies in them, and the bytes of each file.

In: places in archives. Out: manifests and bytes that agree with each other, or `Unreadable` that names the
archive and what is wrong with it. Files are read frame by frame; no archive is ever unpacked to the disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TypeVar

from huimem import descriptors, files
from huimem.files import Unreadable
from huimem.months import Archived, archived
from huimem.records import Packed
from huimem.vault import pack
from huimem.vault.pack import BadArchive, Manifest, Member
from huimem.vault.unpacked import Unpacked

KEPT = 48  # manifests in memory
LIMIT = 4 << 30
TRIES = 8  # looks at an archive that is replaced each time
_REMEDY = "Put back a copy of it from a backup; huimem check --read-data tells what is damaged."

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Known:
    """A manifest as it was read, with the state of the archive it was read from."""

    stamp: files.Stamp
    manifest: Manifest
    members: dict[str, Member]


class Archives:
    """Reads the archives below `root`; usable from several threads."""

    def __init__(self, root: Path, unpacked: Unpacked) -> None:
        self.unpacked = unpacked
        self._root = root
        self._known: dict[str, _Known] = {}
        self._frame: tuple[str, files.Stamp, int, bytes] | None = None
        self._lock = Lock()

    def manifest(self, place: Archived) -> Manifest:
        """What an archive says it holds. Raises `Unreadable`."""
        return self._looked_up(place).manifest

    def packed(self, place: Archived) -> Packed:
        """The same as the index sees it. Raises `Unreadable`."""
        members = self._looked_up(place).manifest.members
        return Packed(place.archive, {place.file(member.name): member.digest for member in members})

    def inside(
        self, paths: Iterable[str], unread: list[Unreadable] | None = None
    ) -> Iterator[tuple[Archived, Member]]:
        """Every file in the archives at `paths`, with what is said of it.

        Archives that cannot be read are added to `unread`; without that, raises `Unreadable`.
        """
        for place in filter(None, map(archived, paths)):
            try:
                members = self.manifest(place).members
            except Unreadable as error:
                if unread is None:
                    raise
                unread.append(error)
                continue
            for member in members:
                yield Archived(place.owner, place.month, member.name), member

    def member(self, place: Archived) -> Member:
        """What the manifest says of a file. Raises `Unreadable`, `gone` where it is not in there."""
        return self._found(place)[1]

    def read(self, place: Archived, *, keep: bool = False) -> tuple[bytes, Member]:
        """The bytes of a file, checked; `keep` them for another look. Raises `Unreadable`."""
        member = self.member(place)
        data = self.unpacked.get(member.sha256) if keep else None
        if data is not None:
            return data, member
        data, member = self._steadily(place, lambda: self._unpacked_member(place))
        if keep:
            self.unpacked.put(member.sha256, data)
        return data, member

    def whole(self, place: Archived) -> bytes:
        """All bytes of an archive. Raises `Unreadable`."""
        return files.read(self._root / place.archive, limit=LIMIT, within=self._root)[0]

    def _steadily(self, place: Archived, look: Callable[[], _T]) -> _T:
        """What `look` finds in an archive: again where that was replaced meanwhile. Raises `Unreadable`."""
        path = self._root / place.archive
        for left in reversed(range(TRIES)):
            before = files.stamp(path)
            try:
                return look()
            except BadArchive as error:
                if not left or files.stamp(path) == before:
                    raise self.bad(place, error) from error
        raise AssertionError("the last look ends in one or the other")

    def _found(self, place: Archived) -> tuple[_Known, Member]:
        known = self._looked_up(place)
        member = known.members.get(place.name)
        if member is None:
            hint = "Nothing to do if that was meant."
            raise Unreadable(f"{self._root / str(place)} is gone", hint, gone=True)
        return known, member

    def _looked_up(self, place: Archived) -> _Known:
        path = place.archive
        stamp = files.stamp(self._root / path)
        with self._lock:
            known = self._known.get(path)
        if known is not None and known.stamp == stamp:
            return known
        known = self._steadily(place, lambda: self._read_manifest(place))
        with self._lock:
            if len(self._known) >= KEPT:
                self._known.clear()
            self._known[path] = known
        return known

    def _read_manifest(self, place: Archived) -> _Known:
        beginning, _ = self._range(place, 0, pack.BEGINNING)
        head, stamp = self._range(place, 0, pack.manifest_end(beginning))
        manifest = pack.manifest_of(head)
        if stamp.size != manifest.total:
            raise BadArchive("it is cut off, or something was added to it")
        if manifest.month != place.month:
            raise BadArchive(f"it is the archive of {manifest.month}")
        return _Known(stamp, manifest, {member.name: member for member in manifest.members})

    def _unpacked_member(self, place: Archived) -> tuple[bytes, Member]:
        known, member = self._found(place)
        return pack.member_in(self._unpacked_frame(place, known, member.frame), member), member

    def _unpacked_frame(self, place: Archived, known: _Known, frame: int) -> bytes:
        """A frame of files; the last one is at hand, for whoever reads all files in order."""
        key = (place.archive, known.stamp, frame)
        held = self._frame
        if held is not None and held[:3] == key:
            return held[3]
        compressed, _ = self._range(place, *known.manifest.place(frame))
        tar = pack.tar_of(known.manifest, frame, compressed)
        self._frame = (*key, tar)
        return tar

    def _range(self, place: Archived, start: int, end: int) -> tuple[bytes, files.Stamp]:
        path = self._root / place.archive
        try:
            return descriptors.read_range(path, start, end, within=self._root)
        except Unreadable as error:
            said = error.message.replace(str(path), str(self._root / str(place)), 1)
            raise Unreadable(said, error.hint, gone=error.gone) from error

    def bad(self, place: Archived, error: BadArchive) -> Unreadable:
        """What is wrong with an archive, as an error that names it."""
        hint = error.hint or _REMEDY
        return Unreadable(f"{self._root / str(place)} cannot be read: {error.message}", hint)

"""The files of a vault as they are now.

In: the root of a vault. Out: one listing of what belongs to it, with stamps, and what could not be looked
at. A listing begins from the one before: what stands as it stood costs a look at its status and no more.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from huimem.descriptors import NOFOLLOW, READ_FOLDER
from huimem.errors import Problem, VaultError
from huimem.files import Stamp, leftover
from huimem.months import ENDING, FOLDER, archived
from huimem.vault.layout import ASIDE, Filter, conflict_copy, encodable, ignored, printable

# What iCloud leaves in the place of a file that it keeps elsewhere.
_AWAY = re.compile(r"\.(.+\.(?:md|MD))\.icloud", re.DOTALL)

# A folder whose months are packed below it: the vault, or a namespace.
_OWNER = re.compile(r"(?:namespaces/[^/]+/)*", re.DOTALL)
_LOOKS = 4  # at a vault whose archives change while it is listed

_NEW: tuple[str, None] = ("", None)
_BY_DESCRIPTOR = os.scandir in os.supports_fd
_GONE = FileNotFoundError, NotADirectoryError

Entries = AbstractContextManager[Iterator[os.DirEntry[str]]]

_SYMLINK = ("is a symlink and is not followed", "Move what it points to into the vault.")
_DEVICE = ("is not a regular file and is not opened", "Move it out of the vault.")
_NOT_UTF8 = ("has a name that is not valid UTF-8 and is not indexed", "Rename it.")
_ELSEWHERE = (
    "is kept in iCloud and not on this disk: what was indexed of it stays",
    "Download it there, or right-click: Keep Downloaded.",
)
_COPY = (
    "is a sync program's copy of a note changed on two machines, and is not indexed",
    "Bring what it adds into the note and delete the copy.",
)


@dataclass(frozen=True)
class Scan:
    """What lies in a vault now; nothing in it is to be changed.

    `unreadable`: folders and files that could not be looked at, whose contents must not be taken for
    deleted. `leftovers`: temp files of writers that died. `archives` are months that are packed. `rule`
    says what belongs.
    """

    files: Mapping[str, Stamp]
    problems: tuple[Problem, ...] = ()
    unreadable: tuple[str, ...] = ()
    leftovers: tuple[str, ...] = ()
    archives: Mapping[str, Stamp] = field(default_factory=dict)
    rule: Filter = field(default_factory=Filter, repr=False)

    @cached_property
    def stamps(self) -> Mapping[str, str]:
        """Files and archives with their stamps as text."""
        return {path: str(stamp) for each in (self.files, self.archives) for path, stamp in each.items()}

    @cached_property
    def by_folder(self) -> Mapping[str, Mapping[str, tuple[str, Stamp]]]:
        """Paths and stamps of the files by their folder, with its closing slash, and their name."""
        found: dict[str, dict[str, tuple[str, Stamp]]] = {}
        for path, stamp in self.files.items():
            folder, slash, name = path.rpartition("/")
            found.setdefault(folder + slash, {})[name] = path, stamp
        return found


def scan(root: Path, include: Sequence[str] = (), before: Scan | None = None) -> Scan:
    """List the Markdown files of the vault at `root` with their stamps, in no order.

    `before`: an earlier listing of the same vault, given back itself where nothing is different.
    Symlinks are not followed, devices not opened, hidden folders not entered. What is packed or put back
    meanwhile is in the listing, open or packed or both. Raises `VaultError` where the root itself cannot
    be listed: a missing vault is never an empty one.
    """
    rule = Filter.of(root, include)
    known = before.by_folder if before is not None and before.rule == rule else {}
    for _ in range(_LOOKS):
        walk = _Walk(os.fspath(root), rule, known)
        while walk.pending:
            walk.folder(walk.pending.pop())
        if walk.archives == walk.archives_now():
            break
    found = (tuple(walk.problems), tuple(walk.unreadable), tuple(walk.leftovers))
    now = Scan(walk.files, *found, walk.archives, rule)
    return before if before is not None and now == before else now


@dataclass(slots=True)
class _Walk:
    """One scan under way; `pending` holds the folders still to be listed, with their closing slash.

    `known`: files that an earlier scan listed by the same rule, by folder and name.
    """

    root: str
    rule: Filter
    known: Mapping[str, Mapping[str, tuple[str, Stamp]]]
    pending: list[str] = field(default_factory=lambda: [""])
    files: dict[str, Stamp] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    leftovers: list[str] = field(default_factory=list)
    archives: dict[str, Stamp] = field(default_factory=dict)
    owners: list[str] = field(default_factory=list)

    def archives_now(self) -> dict[str, Stamp]:
        """The archives once more, by a walk of their folders alone.

        They are listed before what they may hold, and stand before that is deleted, or are made smaller
        after that has come back: where they are the same at both ends, nothing was missed between.
        """
        walk = _Walk(self.root, self.rule, self.known, pending=[])
        for owner in self.owners:
            place = owner + FOLDER
            if (self.rule.all or self.rule.enters(place)) and _is_folder(os.path.join(self.root, place)):
                walk.folder(f"{place}/")
        return walk.archives

    def folder(self, folder: str) -> None:
        """List a folder; one that cannot be listed to its end keeps what was indexed of it."""
        path = f"{self.root}/{folder}"[:-1] if folder else self.root
        opened: int | None = None
        gone: tuple[type[OSError], ...] = _GONE
        try:
            if _BY_DESCRIPTOR:
                # What lies in an opened folder is looked at by its name alone, which takes a tenth less.
                opened = os.open(path, READ_FOLDER | (NOFOLLOW if folder else 0))
            entries = os.scandir(path if opened is None else opened)
            gone = ()  # it is there, whatever its disk says from now on
            self._entries(folder, entries)
        except OSError as error:
            self._refused(folder, error, gone)
        finally:
            if opened is not None:
                os.close(opened)

    def _entries(self, folder: str, entries: Entries) -> None:
        if _OWNER.fullmatch(folder):
            self.owners.append(folder)
        aside, first = ASIDE.get(folder[:-1].rpartition("/")[2]), len(self.pending)
        known, files = self.known.get(folder, {}), self.files
        with entries as listed:
            for entry in listed:
                path, stamp = known.get(entry.name, _NEW)
                if stamp is not None and stamp == _standing(entry):
                    files[path] = stamp
                else:
                    self._look(entry, folder + entry.name, aside)
        if (place := f"{folder}{FOLDER}/") in self.pending[first:]:
            self.pending.remove(place)
            self.pending.append(place)

    def _look(self, entry: os.DirEntry[str], path: str, aside: re.Pattern[str] | None) -> None:
        """What something is that is not known; `aside` names what its folder keeps beside the notes."""
        name = entry.name
        if ignored(name):
            self._ignored(path, name)
        elif (is_folder := self._is_dir(entry, path)) is None:
            return
        elif is_folder:
            if self.rule.all or self.rule.enters(path):
                self.pending.append(f"{path}/")
        elif not name.endswith((".md", ".MD")):
            if entry.is_symlink() and _leads_to_folder(entry):
                self._report(path, *_SYMLINK)
            elif aside and name.endswith(ENDING) and archived(path):
                self._archive(entry, path)
        elif aside is None or not aside.fullmatch(name):
            self._file(entry, path)

    def _is_dir(self, entry: os.DirEntry[str], path: str) -> bool | None:
        """Whether something is a folder; None where that cannot be looked at."""
        try:
            return entry.is_dir(follow_symlinks=False)
        except OSError as error:
            self._refused(path, error)
            return None

    def _ignored(self, path: str, name: str) -> None:
        if name.startswith(".huimem-") and leftover(name):
            self.leftovers.append(path)
        elif away := _AWAY.fullmatch(name):
            place = path.removesuffix(name) + away[1]
            self.unreadable.append(place)
            self._report(place, *_ELSEWHERE)

    def _file(self, entry: os.DirEntry[str], path: str) -> None:
        status = self._status(entry, path)
        if status is None or not (self.rule.all or self.rule.takes(path)):
            return
        if not stat.S_ISREG(status.st_mode):
            self._irregular(path, status)
        elif not path.isascii() and not encodable(path):
            self._report(printable(path), *_NOT_UTF8)
        elif "onflict" in path and conflict_copy(entry.name):
            self._report(path, *_COPY)
        else:
            self.files[path] = Stamp.of(status)

    def _archive(self, entry: os.DirEntry[str], path: str) -> None:
        status = self._status(entry, path)
        if status is None:
            return
        if stat.S_ISREG(status.st_mode):
            self.archives[path] = Stamp.of(status)
        else:
            self._irregular(path, status)

    def _status(self, entry: os.DirEntry[str], path: str) -> os.stat_result | None:
        try:
            return entry.stat(follow_symlinks=False)
        except OSError as error:
            self._refused(path, error)
            return None

    def _irregular(self, path: str, status: os.stat_result) -> None:
        self._report(path, *(_SYMLINK if stat.S_ISLNK(status.st_mode) else _DEVICE))

    def _refused(self, path: str, error: OSError, gone: tuple[type[OSError], ...] = _GONE) -> None:
        """A folder or file that cannot be looked at; one that has just `gone` is nothing to report."""
        if not path:
            raise VaultError(
                f"the vault {self.root} cannot be listed: {error.strerror or error}",
                "Check that the folder exists, that its disk is mounted and that you may read it.",
            ) from error
        if not isinstance(error, gone):
            self.unreadable.append(path)
            self._report(
                printable(path),
                f"cannot be read: {error.strerror or error}",
                "Check its owner and mode; what was indexed of it stays.",
            )

    def _report(self, path: str, message: str, remedy: str) -> None:
        self.problems.append(Problem(path, 0, message, remedy))


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _leads_to_folder(link: os.DirEntry[str]) -> bool:
    """Whether a symlink does; one that cannot be followed leads nowhere."""
    try:
        return link.is_dir()
    except OSError:
        return False


def _standing(entry: os.DirEntry[str]) -> tuple[int, ...]:
    """What the stamp of something is now, as a mere tuple, which is made in half the time; () if unknown."""
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return ()
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)

"""A vault: a folder of Markdown as the files are now, and the ways of adding to it.

In: its root and settings. Out: listings, `Source`s, sessions; files made or changed through
`huimem.files` alone. It keeps no truth of its own: what it remembers is thrown away on any doubt.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from functools import partial
from itertools import chain
from os.path import isfile
from pathlib import Path

from huimem import files
from huimem.config import VAULT_FILE, Config, load, state_folder, zone_named, zone_of
from huimem.errors import Conflict, NotFound, Problem, UsageError, VaultError
from huimem.folders import identity, refuse_path
from huimem.months import archived
from huimem.records import Message, Packed, Ref, Session, Source, Turn
from huimem.vault import layout, listing
from huimem.vault.archive import restore
from huimem.vault.archives import Archives
from huimem.vault.exposed import exposed, told_once
from huimem.vault.fmt import normalise
from huimem.vault.founding import settings_text
from huimem.vault.journal import Journal
from huimem.vault.layout import Filter
from huimem.vault.listing import Scan
from huimem.vault.losses import Losses, entries, last_recorded, untold
from huimem.vault.markdown import parse, render
from huimem.vault.moments import read_zone, zone_name
from huimem.vault.recording import Recording, begin, extend
from huimem.vault.replays import without_forgotten
from huimem.vault.sources import digest, session_of, source_of
from huimem.vault.text import whole
from huimem.vault.unpacked import Unpacked
from huimem.vault.whereabouts import Whereabouts

# How often a write is tried again when another program changes the file at the same time.
TRIES = 8
FIRST, LAST = -62_135_510_400, 253_402_214_400  # seconds: the second day of year 1, the last but one of 9999
# How many sessions that begin in one second may take a name before us.
NAMES = 1000
# Sessions share lock files, so that there are at most 4,096 however many there ever were.
LOCK_DIGITS = 3


class Vault:
    """The files of one vault. Cheap to open: nothing is listed or read before it is asked for."""

    def __init__(self, root: Path, config: Config) -> None:
        self.root = root
        self.config = config
        self.zone: tzinfo = zone_of(config)
        self.state = state_folder(root, config)
        self.marked = files.stamp(root / VAULT_FILE) is not None
        self._folder = identity(root)
        self._listed: Scan | None = None
        self._journal = Journal(self.state)
        self._kept_out = ""
        self.archives = Archives(root, Unpacked(self.state, config.archive.cache_ttl_hours))
        self._whereabouts = Whereabouts(root, self.archives, self.scan, self.holds, self.namespace_folder)

    @classmethod
    def open(cls, root: Path, config: Config) -> Vault:
        """The vault at `root`. Raises `VaultError` where there is no such folder, or none can be used."""
        refuse_path(root)
        if not root.is_dir():
            raise VaultError(f"{root} is not a folder", "Check the path, or make a vault: huimem init DIR")
        return cls(root, config)

    @classmethod
    def create(cls, root: Path, *, tz: str | None = None, include: Sequence[str] = ()) -> Vault:
        """Make a vault, or adopt a folder of notes: writes `huimem.toml` where none is, and nothing else.

        It names a zone, `tz` or the user's, so that every computer puts an instant into the same week.
        Raises `ConfigError` for an unknown zone, `WriteFailed` where the disk refuses.
        """
        refuse_path(root)
        if tz is not None:
            zone_named(tz, "--tz")
        else:
            here = zone_name(zone_of(load(None)))
            tz = here if read_zone(here) else None
        if root.exists() and not root.is_dir():
            raise VaultError(f"{root} is a file, not a folder", "Name a folder.")
        files.make_folder(root)
        with suppress(Conflict):
            files.create(root / VAULT_FILE, settings_text(tz, include).encode())
        return cls.open(root, load(root))

    def scan(self) -> Scan:
        """The vault's files and their stamps.

        Raises `VaultError` where it cannot be listed, or where its `huimem.toml` is no longer there:
        a disk that was unmounted must not read as a vault whose files were deleted.
        """
        if self.marked and files.stamp(self.root / VAULT_FILE) is None:
            raise VaultError(f"{self.root / VAULT_FILE} is gone", "Is its disk still mounted?")
        if not self.marked and identity(self.root) != self._folder:
            raise VaultError(
                f"{self.root} is gone, or another folder than before",
                "Is its disk still mounted?",
            )
        self._listed = listing.scan(self.root, self.config.include, self._listed)
        return self._listed

    def holds(self, path: str) -> bool:
        """Whether a file is part of the vault: `scan` would list it. Raises `files.Unreadable` likewise."""
        root = self.root.resolve()
        place = root / path
        here = isfile(place) and place.resolve() == place
        return here and Filter.of(self.root, self.config.include).lists(path)

    def stamp(self, path: str) -> files.Stamp | None:
        """The stamp of a file now, of a packed one that of its archive; None where it is gone."""
        place = archived(path)
        return files.stamp(self.root / (place.archive if place else path))

    def read(self, path: str, *, keep: bool = False) -> Source:
        """A file's records. Faults in it are problems; raises `files.Unreadable` where it cannot be read.

        `keep` what had to be unpacked for another look.
        """
        data, original, modified = self._contents(path, keep)
        source = source_of(data, original, zone=self.zone, modified=modified)
        return source if original == path else replace(source, path=path)

    def session(self, path: str) -> Session:
        """A file as a conversation, or a note's parts. Raises `files.Unreadable`."""
        data, original, modified = self._contents(path, True)
        return session_of(data, original, zone=self.zone, modified=modified)

    def held(self, path: str) -> Source | Packed:
        """What a listed path holds: a file's records, or the files of an archive. Raises as `read`."""
        place = archived(path)
        return self.archives.packed(place) if place and not place.name else self.read(path)

    def elsewhere(self, path: str) -> str | None:
        """Where a file is that has just been packed, or put back, and is gone from `path`; None: nowhere."""
        if packed := archived(path):
            return packed.original if self.stamp(packed.original) else None
        for archive in sorted(self.scan().archives, reverse=True):
            place = archived(archive)
            if place and path.startswith(place.owner):
                inside = replace(place, name=path.removeprefix(place.owner))
                with suppress(files.Unreadable):
                    self.archives.member(inside)
                    return str(inside)
        return None

    def contents(self, path: str) -> tuple[bytes, str]:
        """A file's bytes, open or packed, and the path it has where it is open. Raises `files.Unreadable`."""
        return self._contents(path, False)[:2]

    def places(self, namespace: str, session: str) -> Iterator[str]:
        """Paths at which the session or note of that id may lie, likeliest first."""
        return self._whereabouts.places(namespace, session)

    def forget_recorded(self, namespace: str, session: str) -> bool:
        """Drop what the journal keeps of a session; whether nothing is left of it there."""
        return self._journal.forget(namespace, session)

    def _contents(self, path: str, keep: bool) -> tuple[bytes, str, datetime]:
        """A file's bytes, the path it has where it is not packed, and when it was last changed."""
        if (place := archived(path)) and place.name:
            data, member = self.archives.read(place, keep=keep)
            return data, place.original, _moment(member.mtime_ns)
        data, stamp = files.read(self.root / path, within=self.root)
        return data, path, _moment(stamp.mtime_ns)

    def find(self, ref: Ref, path: str | None = None) -> tuple[str, Session, Turn]:
        """The turn or note part that `ref` names; `path`: where it was last seen. Raises `NotFound`."""
        for place in chain([path] if path else [], self._whereabouts.places(ref.namespace, ref.session)):
            with suppress(files.Unreadable):
                session = self.session(place)
                for turn in session.turns:
                    if turn.ref == ref:
                        return place, session, turn
        raise NotFound(
            f"no record {ref}", "It may have been moved or deleted; `huimem list` shows what is there."
        )

    def fault(self, path: str, error: files.Unreadable) -> Problem:
        """Why a file cannot be read, as a problem of that file."""
        return Problem(path, 0, error.message.removeprefix(f"{self.root / path} "), error.hint)

    def record(
        self,
        messages: Sequence[Message],
        *,
        session: str | None = None,
        title: str | None = None,
        namespace: str = "",
        people: bool | None = None,
        fields: Mapping[str, str | tuple[str, ...]] | None = None,
        now: datetime,
    ) -> tuple[Ref, ...]:
        """Append messages to a session; one ref a turn, durable on return.

        The same messages again change no byte, a longer list adds its new ones; turns that were forgotten
        stay out. Without `session` a new file is made, whatever is there. `people` None: told by the
        messages. Raises `UsageError` for messages of the other sort, or all of them forgotten,
        `NewerFormat`, `Locked`, `Conflict`, `WriteFailed`.
        """
        if not messages:
            return ()
        label = layout.namespace_text(namespace)
        recording = Recording(tuple(messages), title, label, people, fields or {}, now, self.zone)
        self.keep_labels(namespace)
        if session is None:
            return self._start(recording)
        session = whole(session)
        if not session.strip():
            raise UsageError("the session's id is empty", "Leave it out to begin a new session.")
        with files.lock(self.session_lock_path(label, session)):
            for _ in range(TRIES):
                with suppress(Conflict):
                    return self._continue(recording, session)
        raise Conflict(f"session {session} is being changed by another program", "Try again in a moment.")

    def fmt(self, path: str, *, check: bool = False, upgrade: bool = False) -> bool:
        """Write a file in full form; whether it changes. `check` writes nothing; a backup is kept.

        Raises `files.Unreadable`, `NewerFormat`, `Conflict`, `WriteFailed`.
        """
        data, stamp = files.read(self.root / path, within=self.root)
        better = normalise(data, path, self.zone, upgrade=upgrade, modified=_moment(stamp.mtime_ns))
        if better == data or check:
            return better != data
        backup = self.prepare("backups") / f"{digest(path.encode())[:8]}-{digest(data)}.md"
        with suppress(Conflict):  # the same bytes are kept already
            files.create(backup, data)
        files.replace(self.root / path, better, data, within=self.root)
        return True

    def rescue(self) -> tuple[str, ...]:
        """Move what writers that died left behind into the state folder; the paths moved.

        Such a file may hold the last edit that an exchange displaced, so nothing is thrown away.
        """
        moved = self.scan().leftovers
        for path in moved:
            data, _ = files.read(self.root / path, within=self.root)
            with suppress(Conflict):
                files.create(self.prepare("recovered") / f"{digest(data)}.md", data)
            files.remove(self.root / path, within=self.root)
        return moved

    @property
    def warnings(self) -> tuple[str, ...]:
        """What went wrong with the journal of recorded messages, and what the last recording left out."""
        return (*self._journal.warnings, *filter(None, [self._kept_out]))

    def losses(self) -> Losses:
        """For one walk through files read anew: what was recorded to a session and is no longer in it."""
        at = self._whereabouts
        return Losses(self._journal, self.root, self.zone, self.read, at.places, at.packed, self.id_of)

    def exposed(self) -> tuple[Problem, ...]:
        """What of this vault and its state other users of the computer can change."""
        return exposed(self.root, self.state)

    def untold(self) -> tuple[str, ...]:
        """A few lines on what walks have found lost, and on who can change the vault.

        For whoever shows them: they are told only once.
        """
        return (*told_once(self.state, self.exposed()), *untold(self._journal, self.root, self.zone))

    def _start(self, recording: Recording) -> tuple[Ref, ...]:
        """A session in a new file of its own."""
        week = self.week_of(recording)
        for _ in range(NAMES):
            name = layout.session_name(recording.first, self.zone, self._taken(week))
            with suppress(Conflict):
                return self._begin(recording, name, f"{week}/{name}.md")
        raise Conflict(f"no free name for a session in {week}", "Try again in a moment.")

    def _continue(self, recording: Recording, session: str) -> tuple[Ref, ...]:
        """Append to the session of that id, or begin it."""
        for path in self._whereabouts.places(recording.namespace, session):
            try:
                data, path_open, _ = self._contents(path, False)
            except files.Unreadable as error:
                if error.gone:
                    continue
                raise
            held = parse(data, path_open, zone=self.zone, namespace=recording.namespace)
            if held.id != session:
                continue
            recording = self._without_forgotten(recording, session, held.zone, held.people)
            recorded = partial(last_recorded, self._journal, held)
            grown, refs = extend(held, recording, path, data, recorded)
            after = render(grown)
            if after != data:
                if (packed := archived(path)) is not None:
                    path = restore(self, packed)
                files.replace(self.root / path, after, data, within=self.root)
                since, instead = len(held.messages), tuple[int, ...]()
                if since and grown.messages[since - 1] != held.messages[-1]:  # it was made longer
                    grown = parse(after, path, zone=self.zone, namespace=recording.namespace)
                    since, instead = since - 1, recorded()
                self.note_recorded(grown, since, path, instead)
            elif archived(path) is None:  # what stands there may be of a run that died before it was durable
                files.settle(self.root / path, within=self.root)
            return refs
        recording = self._without_forgotten(recording, session, self.zone, recording.people)
        week = self.week_of(recording)
        name = layout.free_name(layout.file_name(session), self._taken(week))
        return self._begin(recording, session, f"{week}/{name}.md")

    def _without_forgotten(
        self, recording: Recording, session: str, zone: tzinfo, people: bool | None
    ) -> Recording:
        labels = recording.namespace.split("/") if recording.namespace else []
        above = ("/".join(labels[:count]) for count in range(len(labels) + 1))
        folders = [self.namespace_folder(each) for each in above]
        of_this = replace(recording, people=people)
        kept, self._kept_out = without_forgotten(of_this, session, zone, self.root, folders)
        return replace(kept, people=recording.people)

    def _begin(self, recording: Recording, session: str, path: str) -> tuple[Ref, ...]:
        made, refs = begin(recording, session)
        files.make_folder((self.root / path).parent, within=self.root)
        files.create(self.root / path, render(made), within=self.root)
        self.note_recorded(made, 0, path)
        self._whereabouts.add(recording.namespace, session, path)
        return refs

    def note_recorded(self, session: Session, since: int, path: str, instead: Sequence[int] = ()) -> None:
        """Put what was just written to `path` into the journal, at the time at which it was."""
        for written in (path, path.rpartition("/")[0]):  # an editor may be putting another file there
            with suppress(files.Unreadable):
                if stamp := self.stamp(written):
                    self._journal.add(entries(session, since, path, stamp.mtime_ns // 10**6), instead)
                    return

    def _taken(self, folder: str) -> Callable[[str], bool]:
        """Whether a name stands in a folder, on any disk: some do not tell Talk.md from talk.md."""
        there: set[str] = set()
        with suppress(OSError):
            there = {layout.folded(name) for name in os.listdir(self.root / folder)}
        return lambda name: bool(self.stamp(f"{folder}/{name}.md")) or layout.folded(f"{name}.md") in there

    def week_of(self, recording: Recording) -> str:
        """The folder of the week in which a conversation began."""
        folder = self.namespace_folder(recording.namespace)
        return f"{folder}sessions/{layout.week_folder(recording.first, self.zone)}"

    def id_of(self, path: str) -> tuple[str, str]:
        """Namespace and id of a file by its front matter alone."""
        return self._whereabouts.id_of(path)

    def namespace_folder(self, namespace: str) -> str:
        """The folder of a namespace and a slash, as it stands on disk: people name folders freely."""
        folder = ""
        for label in namespace.split("/") if namespace else ():
            above = f"{folder}{layout.NAMESPACES}/"
            name = label
            if not (self.root / above / label).is_dir() and (self.root / above).is_dir():
                names = (entry.name for entry in (self.root / above).iterdir())
                name = next((n for n in sorted(names) if layout.namespace_text(n) == label), label)
            folder = f"{above}{name}/"
        return folder

    def keep_labels(self, namespace: str) -> None:
        """Write down labels that are too long for a folder name, beside their folder's contents."""
        done: list[str] = []
        for label in namespace.split("/") if namespace else ():
            done.append(label)
            short = layout.namespace_text(label)
            if short.find("~") > 0 and short != label:
                folder = self.root / self.namespace_folder(layout.namespace_text("/".join(done)))
                files.make_folder(folder, within=self.root)
                text = f"label = {json.dumps(layout.decode_namespace(label), ensure_ascii=False)}\n"
                with suppress(Conflict):
                    files.create(folder / "namespace.toml", text.encode("utf-8", "replace"), within=self.root)

    def session_lock_path(self, namespace: str, session: str) -> Path:
        """The lock file of whoever writes to that session."""
        name = digest(f"{namespace}\0{session}".encode("utf-8", "surrogatepass"))
        return self.prepare("locks") / f"session-{name[:LOCK_DIGITS]}.lock"

    def prepare(self, name: str) -> Path:
        """A folder of the state folder."""
        return files.own_folder(self.state, name)


def _moment(mtime_ns: int) -> datetime:
    """When a file was changed; disks know years that no calendar has."""
    return datetime.fromtimestamp(min(max(mtime_ns // 10**9, FIRST), LAST), UTC)

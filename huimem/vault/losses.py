"""What a session has lost since it was recorded: an older copy that an editor saved takes newer turns out.

In: the journal, and a file as it was read. Out: the messages that are there no longer, told once, with
the command that brings them back. A deletion and an old buffer look alike from here, so nothing is put
back unasked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, tzinfo
from hashlib import blake2b
from itertools import chain, islice
from pathlib import Path
from shlex import quote

from huimem.errors import Problem, VaultError
from huimem.files import Unreadable
from huimem.records import Fact, Message, Record, Session, Source
from huimem.vault.journal import Entry, Journal
from huimem.vault.moments import digits

Owner = tuple[str, str]
MANY = 32  # files after which the journal is asked for all its sessions at once


@dataclass(frozen=True, slots=True)
class Lost:
    """Recorded messages that are in their session no longer, and the recovered file that holds them.

    `first` and `last`: when they were recorded, in the zone in which that is shown; both paths as shown.
    """

    path: str
    count: int
    first: datetime
    last: datetime
    kept: str

    @classmethod
    def of(cls, gone: Sequence[Entry], path: str, kept: str, zone: tzinfo) -> Lost:
        times = sorted(entry.recorded for entry in gone)
        first, last = (datetime.fromtimestamp(time / 1000, zone) for time in (times[0], times[-1]))
        return cls(path, len(gone), first, last, kept)

    def __str__(self) -> str:
        pronoun, verb = ("They", "are") if self.count > 1 else ("It", "is")
        return f"{self._what(self.path)}. {pronoun} {verb} kept in {self.kept}; {self._back}."

    def problem(self) -> Problem:
        """The same as a fault of the session's file."""
        return Problem(self.path, 0, self._what("it"), f"{self._back}; delete {self.kept} if that was meant")

    def _what(self, place: str) -> str:
        days = sorted({self.first.date(), self.last.date()})
        when = f"on {days[0]}" if len(days) == 1 else f"between {days[0]} and {days[1]}"
        counted = f"{self.count} messages" if self.count > 1 else "1 message"
        verb = "are" if self.count > 1 else "is"
        why = "an editor may have saved an older copy"
        return f"{counted} recorded {when} {verb} no longer in {place}: {why}"

    @property
    def _back(self) -> str:
        them = "them" if self.count > 1 else "it"
        return f"`cat {quote(self.kept)} >> {quote(self.path)}` brings {them} back"


def entries(session: Session, since: int, path: str, now: datetime) -> tuple[Entry, ...]:
    """The messages of a session from index `since` on, which were written to `path` just now."""
    recorded = int(now.timestamp() * 1000)
    said = Counter(message.text for message in session.messages[:since])
    found = []
    first = 0
    for turn in session.turns:
        fresh = max(since - first, 0)
        first += len(turn.messages)
        for ref, place, digest, message in islice(_messages([turn]), fresh, None) if first > since else ():
            said[message.text] += 1
            raw, nth = message.raw or b"", said[message.text]
            found.append(Entry(session.namespace, session.id, path, ref, place, digest, nth, recorded, raw))
    return tuple(found)


def missing(recorded: Sequence[Entry], source: Source) -> frozenset[Entry]:
    """Those that a file of their session holds no longer: neither their heading stands there nor their text.

    A message of the file vouches for the entry it equals before it vouches for one that was edited.
    A text that was said several times is there only as often as it was when the entry was made.
    """
    exact: Counter[tuple[str, bytes]] = Counter()
    headings: Counter[str] = Counter()
    texts: Counter[bytes] = Counter()
    for _, place, digest, _ in _messages(source.records):
        exact[place, digest] += 1
        headings[place] += 1
        texts[digest] += 1
    changed = []
    for entry in recorded:
        if exact[entry.place, entry.digest]:
            exact[entry.place, entry.digest] -= 1
            headings[entry.place] -= 1
        else:
            changed.append(entry)
    gone = set()
    for entry in changed:
        if headings[entry.place]:
            headings[entry.place] -= 1
        elif texts[entry.digest] < entry.nth:
            gone.add(entry)
    return frozenset(gone)


def _messages(records: Iterable[Record]) -> Iterator[tuple[str, str, bytes, Message]]:
    """Every message with its ref, its place and the digest of its text."""
    for record in records:
        ref = str(record.ref)
        for index, message in enumerate(record.messages):
            at = digits(message.at) if message.at else ""
            place = f"{message.speaker} {at}" if index else ref
            text = message.text.encode("utf-8", "surrogatepass")
            yield ref, place, blake2b(text, digest_size=16).digest(), message


@dataclass(slots=True)
class Losses:
    """The journal of a vault, and how its files are found and read. An `Owner`: a session's namespace and id.

    `places` gives the paths at which a session may lie, `owner_of` whose the file at a path is. For one
    walk through the files: after `MANY` of them it knows which sessions the journal holds.
    """

    journal: Journal
    root: Path
    zone: tzinfo
    read: Callable[[str], Source]
    places: Callable[[str, str], Iterable[str]]
    owner_of: Callable[[str], Owner]
    _asked: int = 0
    _known: frozenset[Owner] | None = None

    def lost(self, source: Source) -> Lost | None:
        """What the session of `source` has lost and nobody was told of yet; it is in a recovered file now."""
        owner = self._owner(source)
        recorded = self.journal.of(*owner) if self._may_hold(owner) else ()
        gone = self._gone(recorded, source, owner) if recorded else None
        if gone is None:
            return None
        self.journal.found_again([entry for entry in recorded if entry.kept and entry not in gone])
        new = [entry for entry in recorded if entry in gone and entry.kept is None]
        kept = self.journal.keep(new, source.path) if new else None
        return self._lost(new, source.path, kept) if kept else None

    def _may_hold(self, owner: Owner) -> bool:
        """Whether the journal is worth a look: a question for each of thousands of files takes its time."""
        self._asked += 1
        if self._asked == MANY:
            self._known = self.journal.sessions()
        return self._known is None or owner in self._known

    def problems(self, sources: Sequence[Source]) -> Iterator[Problem]:
        """What sessions have lost, as long as the recovered file is there."""
        known = self.journal.sessions()
        told: set[str] = set()
        for source in sources if known else ():
            owner = self._owner(source)
            if owner not in known:
                continue
            self.lost(source)
            gone = self._gone(self.journal.of(*owner), source, owner) or frozenset()
            for name in sorted({entry.kept for entry in gone if entry.kept} - told):
                told.add(name)
                if kept := self.journal.recovered(name):
                    held = [entry for entry in gone if entry.kept == name]
                    yield self._lost(held, source.path, kept).problem()

    def _gone(self, recorded: Sequence[Entry], source: Source, owner: Owner) -> frozenset[Entry] | None:
        """Those that no file of the session holds; None where `source` is no longer a file of it.

        Files are read again before anything is called lost: it may have been recorded after `source`
        was read, and another file may have the session's id.
        """
        gone = missing(recorded, source)
        if gone:
            now = self._held(source.path, owner)
            if now is None:
                return None
            gone &= missing(recorded, now)
        if gone:
            with suppress(OSError, VaultError):  # what cannot be listed holds nothing that anybody sees
                for path in chain({entry.path for entry in gone}, self.places(*owner)):
                    copy = self._held(path, owner) if path != source.path else None
                    gone &= missing(recorded, copy) if copy else gone
        return gone

    def _held(self, path: str, owner: Owner) -> Source | None:
        """The file at `path` as it is now; None where it is not one of that session."""
        with suppress(Unreadable):
            source = self.read(path)
            if self._owner(source) == owner:
                return source
        return None

    def _owner(self, source: Source) -> Owner:
        for record in source.records:
            if not isinstance(record, Fact):
                return record.ref.namespace, record.ref.session
        return self.owner_of(source.path)

    def _lost(self, gone: Sequence[Entry], path: str, kept: Path) -> Lost:
        inside = kept.is_relative_to(self.root)
        return Lost.of(gone, path, str(kept.relative_to(self.root) if inside else kept), self.zone)

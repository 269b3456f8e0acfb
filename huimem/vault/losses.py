"""What a session has lost since it was recorded: an older copy that an editor saved takes newer turns out.

In: the journal, and files as they are read. Out: the messages that are there no longer, kept at once, and
told when somebody listens, with the command that brings them back. A deletion and an old buffer look
alike from here, so nothing is put back unasked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from hashlib import blake2b
from itertools import chain, groupby, islice
from pathlib import Path
from shlex import quote

from huimem.errors import HuimemError, Problem
from huimem.files import Unreadable
from huimem.folders import seen_from
from huimem.records import Fact, Message, Record, Session, Source
from huimem.vault.journal import MANY, Entry, Journal, Missing
from huimem.vault.layout import split_namespace
from huimem.vault.moments import digits
from huimem.vault.text import whole

Owner = tuple[str, str]
LINES = 3  # sessions that are told of one by one


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


def entries(session: Session, since: int, path: str, recorded: int) -> tuple[Entry, ...]:
    """The messages of a session from index `since` on; `path` was written with them at `recorded`, ms UTC."""
    said = Counter(message.text for message in session.messages[:since])
    found = []
    first = 0
    for turn in session.turns:
        fresh = max(since - first, 0)
        first += len(turn.messages)
        for place, message in islice(_places([turn]), fresh, None) if first > since else ():
            said[message.text] += 1
            raw, nth, digest = message.raw or b"", said[message.text], _digest(message)
            found.append(Entry(session.namespace, session.id, path, place, digest, nth, recorded, raw))
    return tuple(found)


def last_recorded(journal: Journal, session: Session) -> tuple[int, ...]:
    """The journal's number of a session's last message; empty where another one was last recorded there."""
    *_, last = entries(session, len(session.messages) - 1, "", 0)
    rows = journal.entries_of([session.id], []) or ()
    owner = (session.namespace, session.id, last.place)
    there = [one for one in rows if (one.namespace, one.session, one.place) == owner]
    return (there[-1].number,) if there and there[-1].digest == last.digest else ()


def missing(recorded: Sequence[Entry], source: Source) -> frozenset[int]:
    """Numbers of those that a file holds no longer: neither their heading stands there nor their text.

    A message of the file vouches for the entry it equals before it vouches for one that was edited.
    A text that was said several times is there only as often as it was when the entry was made.
    """
    texts = Counter(_digest(message) for record in source.records for message in record.messages)
    if all(texts[entry.digest] >= entry.nth for entry in recorded):
        return frozenset()
    exact = Counter((place, _digest(message)) for place, message in _places(source.records))
    headings = Counter(place for place, _ in exact.elements())
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
            gone.add(entry.number)
    return frozenset(gone)


def _places(records: Iterable[Record]) -> Iterator[tuple[str, Message]]:
    """Every message with its place, which is the same in whatever session it stands."""
    for record in records:
        ref = record.ref
        for index, message in enumerate(record.messages):
            at = digits(message.at) if message.at else ""
            yield f"{message.speaker} {at}" if index else f"{ref.mark}{ref.at}~{ref.tie}", message


def _digest(message: Message) -> bytes:
    return blake2b(message.text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def untold(journal: Journal, root: Path, zone: tzinfo) -> tuple[str, ...]:
    """Lines on losses that nobody was told of: a few sessions one by one, then how many more there are."""
    groups = _by_file(journal.untold())
    shown = [(held, path) for held in groups[:LINES] if (path := journal.recovered(held))]
    rest = groups[LINES:]
    first = journal.tell({entry.number for held in [*(h for h, _ in shown), *rest] for entry in held})
    lines = [str(_lost(held, path, root, zone)) for held, path in shown if held[0].number in first]
    more = sum(held[0].number in first for held in rest)
    if more:
        counted = "1 more session holds" if more == 1 else f"{more:,} more sessions hold"
        lines.append(f"{counted} less than was recorded: huimem doctor")
    return tuple(lines)


def _by_file(kept: Iterable[Entry]) -> list[list[Entry]]:
    """The entries of each recovered file together."""

    def name(entry: Entry) -> str:
        return entry.kept or ""

    groups = [list(held) for _, held in groupby(sorted(kept, key=name), name)]
    return sorted(groups, key=lambda held: held[0].number)


def _lost(held: Sequence[Entry], kept: Path, root: Path, zone: tzinfo) -> Lost:
    shown = seen_from(root, kept)
    return Lost.of(held, held[0].path, str(shown), zone)


@dataclass(frozen=True, slots=True)
class _Recorded:
    """What the journal holds of some sessions: their entries, and whose file stood where."""

    entries: dict[Owner, list[Entry]]
    owners: dict[str, Owner]
    last: int

    @classmethod
    def of(cls, entries: Sequence[Entry]) -> _Recorded:
        by_owner: dict[Owner, list[Entry]] = {}
        for entry in entries:
            by_owner.setdefault((entry.namespace, entry.session), []).append(entry)
        owners = {entry.path: (entry.namespace, entry.session) for entry in entries}
        return cls(by_owner, owners, entries[-1].number if entries else 0)


@dataclass(frozen=True, slots=True)
class _Look:
    """What was seen of a session in the journal: numbers of the entries that no file of it held.

    `path`: the first file that lacked some; `sure`: what is gone was recorded before the file was read.
    """

    path: str
    gone: frozenset[int]
    sure: bool

    @classmethod
    def at(cls, files: Mapping[str, _Look]) -> _Look:
        """All files of a session taken together, by path."""
        looks = [*files.values()]
        first = next((look for look in looks if look.gone), looks[0])
        gone = frozenset.intersection(*(look.gone for look in looks))
        return cls(first.path, gone, all(look.sure for look in looks))


@dataclass(slots=True)
class Losses:
    """What sessions have lost, for one walk through files: `note` each that is read anew, then `finish`.

    The journal is read once. Where another process is writing to it, or it cannot be used, the walk goes
    on without it: what a file has lost is then noticed when that file changes again. `places` gives the
    paths at which a session may lie, `owner_of` whose the file at a path is: namespace and id.
    """

    journal: Journal
    root: Path
    zone: tzinfo
    read: Callable[[str], Source]
    places: Callable[[str, str], Iterable[str]]
    packed: Callable[[str, str], Iterable[str]]
    owner_of: Callable[[str], Owner]
    _noted: set[str] = field(default_factory=set)
    _waiting: list[Source] = field(default_factory=list)
    _recorded: _Recorded | None = None
    _looked: dict[Owner, dict[str, _Look]] = field(default_factory=dict)
    _blind: bool = False

    def note(self, source: Source) -> None:
        """Take in a file as it was just read. Never raises, and tells nothing."""
        if self._blind or whole(source.path) != source.path or not self.journal.exists():
            return
        self._noted.add(source.path)
        if self._recorded is not None:
            self._compare(source, self._recorded, sure=True)
            return
        self._waiting.append(source)
        if len(self._waiting) > MANY:
            self._compare_waiting(self.journal.entries())

    def finish(self) -> None:
        """Keep what the files noted have lost, in recovered files. Never raises, and tells nothing.

        Does nothing a second time; afterwards another walk may begin.
        """
        try:
            self._settle()
        finally:
            self._noted, self._waiting, self._looked = set(), [], {}
            self._recorded, self._blind = None, False

    def problems(self, sources: Iterable[Source]) -> Iterator[Problem]:
        """What sessions have lost, as long as the recovered file is there; it is told by this.

        `sources` are all files of the vault: the losses of a session that is deleted are none.
        """
        for source in sources:
            self.note(source)
        paths = {owner: look.path for owner, look in self._settle().items()}
        shown: set[int] = set()
        for held in _by_file(self.journal.kept()) if paths else ():
            path = paths.get((held[0].namespace, held[0].session))
            if path and (kept := self.journal.recovered(held)):
                shown.update(entry.number for entry in held if not entry.told)
                yield _lost([replace(held[0], path=path), *held[1:]], kept, self.root, self.zone).problem()
        self.journal.tell(shown)
        self.finish()

    def _settle(self) -> dict[Owner, _Look]:
        """Compare what waits, look again at what is missing, and keep what is lost; all sessions seen."""
        if self._waiting:
            owners = [self._owner(source)[1] for source in self._waiting]
            ids = [session for session in owners if whole(session) == session]
            self._compare_waiting(self.journal.entries_of(ids, [source.path for source in self._waiting]))
        elif self._recorded is not None:
            self._compare_late(self._recorded)
        recorded = self._recorded or _Recorded.of(())
        looks = {owner: _Look.at(files) for owner, files in self._looked.items()}
        many = sum(bool(look.gone) for look in looks.values()) > MANY
        confirmed, lost, back = {}, [], []
        for owner, look in looks.items():
            gone, held = self._confirmed(owner, look, recorded, many), recorded.entries.get(owner, [])
            if gone is None:
                continue
            confirmed[owner] = look
            back += [entry.number for entry in held if entry.kept and entry.number not in gone]
            new = tuple(entry for entry in held if entry.kept is None and entry.number in gone)
            lost += [Missing(look.path, new)] if new else []
        self.journal.keep(lost, back)
        return confirmed

    def _compare_waiting(self, found: tuple[Entry, ...] | None) -> None:
        if found is None:
            self._blind = True
        else:
            self._recorded = _Recorded.of(found)
            for source in self._waiting:
                self._compare(source, self._recorded, sure=False)
        self._waiting = []

    def _compare_late(self, before: _Recorded) -> None:
        """Look at files again to which something was recorded since the journal was read."""
        late = self.journal.entries(before.last)
        entries = self.journal.entries() if late else None
        if not late or entries is None:
            return
        self._recorded = _Recorded.of(entries)
        for entry in late:
            self._looked.pop((entry.namespace, entry.session), None)
        for path in self._noted.intersection(entry.path for entry in late):
            with suppress(Unreadable):
                self._compare(self.read(path), self._recorded, sure=True)

    def _compare(self, source: Source, recorded: _Recorded, *, sure: bool) -> None:
        owner = self._whose(source, recorded)
        if owner not in recorded.entries:
            return
        look = _Look(source.path, missing(recorded.entries[owner], source), sure)
        self._looked.setdefault(owner, {})[source.path] = look

    def _confirmed(self, owner: Owner, look: _Look, recorded: _Recorded, many: bool) -> frozenset[int] | None:
        """Those that no file of the session holds; None where the file looked at is no longer one of it.

        A few are read again before anything is called lost: it may have been recorded meanwhile, and a
        file that was not looked at may have the session's id. Of `many` the walk has seen enough, but for
        what is packed: no walk reads that.
        """
        gone, held = look.gone, recorded.entries.get(owner, [])
        if gone and not (many and look.sure):
            now = self._held(look.path, owner, recorded)
            if now is None:
                return None
            gone &= missing(held, now)
        if gone:
            seen = self._noted if many else {look.path}
            paths = {entry.path for entry in held if entry.number in gone} - seen
            with suppress(OSError, HuimemError):  # what cannot be listed holds nothing that anybody sees
                for path in chain(paths, self.packed(*owner) if many else self.places(*owner)):
                    copy = self._held(path, owner, recorded) if path not in seen else None
                    gone &= missing(held, copy) if copy else gone
        return gone

    def _held(self, path: str, owner: Owner, recorded: _Recorded) -> Source | None:
        """The file at `path` as it is now; None where it is not one of that session."""
        with suppress(Unreadable):
            source = self.read(path)
            if self._whose(source, recorded) == owner:
                return source
        return None

    def _whose(self, source: Source, recorded: _Recorded) -> Owner:
        """The session of a file; where it has no id of its own, the one that was recorded there."""
        owner = self._owner(source)
        namespace, place = split_namespace(source.path)
        if owner in recorded.entries or owner != (namespace, place.removesuffix(".md")):
            return owner
        return recorded.owners.get(source.path, owner)

    def _owner(self, source: Source) -> Owner:
        for record in source.records:
            if not isinstance(record, Fact):
                return record.ref.namespace, record.ref.session
        return self.owner_of(source.path)

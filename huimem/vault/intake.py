"""Conversations from elsewhere → session files: new ones made, known ones grown, no edit undone.

In: conversations one by one. Out: what became of each. A conversation is known by its source and id,
which its file's front matter says; the ledger only makes that quick and remembers what was deleted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from functools import partial
from pathlib import Path
from typing import Literal

from huimem import files
from huimem.errors import Conflict, NewerFormat
from huimem.records import Conversation, Message, Ref, Session, Turn
from huimem.vault import layout
from huimem.vault.arrivals import (
    MARK,
    Known,
    digest,
    known_of,
    plan,
    renamed,
    renames,
    state_of,
    title_of,
    titled,
)
from huimem.vault.behind import Behind
from huimem.vault.forgotten import forgotten
from huimem.vault.front import Value
from huimem.vault.ledger import Ledger, Origin, Taken
from huimem.vault.markdown import inserted, is_newer, parse, render, rewritten, title_throughout
from huimem.vault.origins import Origins
from huimem.vault.recording import Recording, as_spoken, begin, names_of, with_participants
from huimem.vault.vault import TRIES, Vault

What = Literal["new", "updated", "unchanged", "deleted", "forgotten"]
MOST_NAMES = 1_000_000  # conversations that begin in one second: thousands without times are of one date
LOOK_AGAIN = b""  # stands for the digest of a conversation of which something was kept out


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a conversation. `added` messages were put in, `grown` got a newer text; `edited` ones
    stay as their owner wrote them, `deleted` and `forgotten` ones stay out. `renamed`: its title changed."""

    what: What
    path: str = ""
    added: int = 0
    grown: int = 0
    edited: int = 0
    deleted: int = 0
    forgotten: int = 0
    renamed: bool = False


@dataclass(frozen=True, slots=True)
class _Taken:
    """An outcome, what is now known of the messages, and whether all of them were taken."""

    outcome: Outcome
    known: dict[bytes, bytes]
    whole: bool = True


@dataclass(slots=True)
class Intake:
    """One import into one namespace. `write` False: only look. `again`: what was deleted comes back."""

    vault: Vault
    namespace: str
    ledger: Ledger
    now: datetime
    write: bool = True
    again: bool = False
    _origins: Origins = field(init=False)
    _forgotten: frozenset[str] = field(init=False)
    _restored: frozenset[str] = field(init=False)
    _names: set[str] = field(default_factory=set)
    _folders: set[Path] = field(default_factory=set)  # that are there, and on the disk
    _numbers: dict[str, int] = field(default_factory=dict)  # the first that may be free
    _foreseen: dict[Origin, dict[bytes, bytes]] = field(default_factory=dict)
    _behind: Behind = field(default_factory=Behind)
    _new: set[Origin] = field(default_factory=set)  # whose files may be on their way
    _owners: dict[bytes, str] | None = None  # key → id, of sources whose conversations share messages

    def __post_init__(self) -> None:
        self.namespace = layout.namespace_text(self.namespace)
        self._origins = Origins(self.vault.root, self.namespace, set(self.vault.scan().files))
        labels = self.namespace.split("/") if self.namespace else []
        above = ("/".join(labels[:count]) for count in range(len(labels) + 1))
        folders = [self.vault.namespace_folder(each) for each in above]
        self._forgotten, self._restored = forgotten(self.vault.root, folders)

    def settled(self, paths: Collection[str]) -> bool:
        """Whether all these files are still where they were, and nothing in them is to come back."""
        return self._origins.there.issuperset(paths) and not any(map(self._to_restore, paths))

    def owns(self, path: str) -> bool:
        """Whether a file is part of the vault already."""
        return path in self._origins.there

    def take(self, conversation: Conversation, document: bytes) -> Outcome:
        """Bring one in. Raises Conflict, WriteFailed, NewerFormat, UsageError; then nothing was written."""
        origin: Origin = (self.namespace, conversation.source, conversation.id)
        if not conversation.messages or len(conversation.keys) != len(conversation.messages):
            raise ValueError("a conversation has messages, and a key for each of them")
        if conversation.copied:
            conversation = self._own(conversation)
            if not conversation.messages:
                return Outcome("unchanged")
        if origin in self._foreseen:
            return self._foresee(origin, conversation)
        if origin in self._new:
            self.settle()
        before = self.ledger.taken(origin)
        state = state_of(conversation)
        same = before is not None and before.digest == state and not self.again
        path = self._origins.find(origin, before.path if before else "", sure=same)
        if before is not None and same and path and not self._to_restore(path):
            if path == before.path:
                self.ledger.seen(origin, document)
            else:
                self.ledger.take(origin, replace(before, path=path), document)
            return Outcome("unchanged", path)
        if path:
            taken = self._grow(conversation, path, before.known if before else None)
        elif before is not None and not self.again:
            return Outcome("deleted", before.path)
        else:
            taken = self._begin(conversation, state, document)
        if not self.write:
            self._foreseen[origin] = taken.known
        elif path:
            self._remember(origin, taken, state, document)
        return taken.outcome

    def settle(self) -> None:
        """Wait until all that was taken is on the disk. Raises WriteFailed where something cannot be."""
        self._behind.settle()
        self._new.clear()

    def _remember(self, origin: Origin, taken: _Taken, state: bytes, document: bytes) -> None:
        row = Taken(taken.outcome.path, state if taken.whole else LOOK_AGAIN, taken.known)
        self.ledger.take(origin, row, document)

    def _own(self, conversation: Conversation) -> Conversation:
        """Without the messages that came in with another conversation of its source."""
        if self._owners is None:
            kept = self.ledger.keys(self.namespace, conversation.source)
            self._owners = {key: id for id, keys in kept for key in keys}
        own = [
            index
            for index, key in enumerate(conversation.keys)
            if self._owners.get(digest(key), conversation.id) == conversation.id
        ]
        if len(own) == len(conversation.keys):
            return conversation
        if all(index < conversation.repeats for index in own):
            own = []  # nothing but what only leads to the rest
        messages = tuple(conversation.messages[index] for index in own)
        return replace(conversation, messages=messages, keys=tuple(conversation.keys[index] for index in own))

    def _foresee(self, origin: Origin, conversation: Conversation) -> Outcome:
        """What would become of one that came up before, in an import that does not write."""
        held = self._foreseen[origin]
        known, title = known_of(conversation, held), title_of(conversation)
        called = renames(held, conversation, title)
        self._foreseen[origin] = titled(known, title.text, title) if called else known
        keys = [digest(key) for key in conversation.keys]
        added = sum(key not in held for key in keys)
        grown = sum(key in held and known[key] != held[key] for key in keys)
        what: What = "updated" if added or grown or called else "unchanged"
        return Outcome(what, "", added, grown, renamed=called)

    def _to_restore(self, path: str) -> bool:
        """Whether something that was forgotten in this file's session may come back."""
        if not self._restored:
            return False
        namespace, session = self.vault.id_of(path)
        return _names_session(self._restored, namespace, session)

    # --- a session that is there ------------------------------------------------------------------

    def _grow(self, conversation: Conversation, path: str, known: Known | None) -> _Taken:
        if not self.write:
            return self._grown(conversation, path, known)
        _, session = self.vault.id_of(path)
        with files.lock(self.vault.session_lock_path(self.namespace, session)):
            for _ in range(TRIES):
                with suppress(Conflict):
                    return self._grown(conversation, path, known)
        raise Conflict(f"{path} is being changed by another program", "Try again in a moment.")

    def _grown(self, conversation: Conversation, path: str, known: Known | None) -> _Taken:
        data, _ = files.read(self.vault.root / path, within=self.vault.root)
        held = parse(data, path, zone=self.vault.zone, namespace=self.namespace)
        said = replace(conversation, messages=_spoken(conversation, people=held.people))
        refs = self._refs(said, held)
        found = plan(held, said, known, lambda index: self.again or self._restores(refs, index, known))
        out = {index for index in (*found.deleted, *(n for n, _ in found.fresh)) if index in refs}
        out = {index for index in out if refs[index] in self._forgotten}
        fresh = [(place, index) for index, place in found.fresh if index not in out]
        deleted = [index for index in found.deleted if index not in out]
        named = renamed(held, conversation, known)
        outcome = Outcome(
            "updated" if fresh or found.grown or named is not held else "unchanged",
            path,
            added=len(fresh),
            grown=len(found.grown),
            edited=found.edited,
            deleted=len(deleted),
            forgotten=len(out),
            renamed=named is not held,
        )
        if outcome.what == "updated":
            texts = {place: said.messages[index].text for place, index in found.grown.items()}
            added = [(place, said.messages[index]) for place, index in fresh]
            self._write_grown(named, texts, added, (path, data))
        elif self.write:
            files.settle(self.vault.root / path, within=self.vault.root)
        after = titled(known_of(said, known, out), title_throughout(named), title_of(conversation))
        back = {digest(_mark(refs[n])) for _, n in fresh if refs.get(n) in self._restored}
        return _Taken(outcome, {**after, **dict.fromkeys(back, MARK)}, not out)

    def _write_grown(
        self,
        held: Session,
        texts: Mapping[int, str],
        added: list[tuple[int, Message]],
        file: tuple[str, bytes],
    ) -> None:
        path, data = file
        if is_newer(held):
            raise NewerFormat(
                f"{path} was written by a newer huimem", "Upgrade huimem: pip install -U huimem"
            )
        if held.people:
            held = with_participants(held, names_of([message for _, message in added]))
        grown = inserted(rewritten(held, texts), added) if texts or added else held
        written = files.sized(render(grown), path, "Leave it out.")
        if self.write:
            files.replace(self.vault.root / path, written, data, within=self.vault.root)
            first = min((place for place, _ in added), default=len(held.messages))
            self.vault.note_recorded(grown, first, path)

    def _refs(self, said: Conversation, held: Session) -> dict[int, str]:
        """The ref that the turn of each message has; none where nothing was ever forgotten."""
        if not self._forgotten and not self._restored:
            return {}
        recording = self._recording(said, held.fields, held.zone)
        whole, _ = begin(replace(recording, people=held.people), held.id)
        refs = (str(turn.ref) for turn in whole.turns for _ in turn.messages)
        return dict(enumerate(refs))

    def _restores(self, refs: Mapping[int, str], index: int, known: Known | None) -> bool:
        """Whether a message was forgotten and restored, and has not come back for that before."""
        ref = refs.get(index)
        return ref in self._restored and (known is None or digest(_mark(ref)) not in known)

    # --- a new one --------------------------------------------------------------------------------

    def _begin(self, conversation: Conversation, state: bytes, document: bytes) -> _Taken:
        """Begin a session of it; its file is made behind our back, and then remembered."""
        origin: Origin = (self.namespace, conversation.source, conversation.id)
        recording = self._recording(conversation, {}, self.vault.zone)
        folder = self.vault.week_of(recording)
        for name in self._candidates(conversation, recording):
            path = f"{folder}/{name}.md"
            if self._is_taken(name, path, origin):
                continue
            session, _ = begin(recording, name)
            turns = tuple(turn for turn in session.turns if str(turn.ref) not in self._forgotten)
            if len(turns) == len(session.turns) and _names_session(self._forgotten, self.namespace, name):
                continue
            kept = _without(session, turns)
            written = files.sized(render(kept), path, "Leave it out.") if turns else b""
            self._names.add(path)
            if not turns:
                return _Taken(Outcome("forgotten"), {}, whole=False)
            gone = [n for n, turn in enumerate(_turn_of_each(session)) if str(turn.ref) in self._forgotten]
            outcome = Outcome("new", path, len(kept.messages), forgotten=len(gone))
            title = replace(title_of(conversation), text=session.title)
            known = titled(known_of(conversation, None, gone), session.title, title)
            taken = _Taken(outcome, known, not gone)
            if self.write:
                self._prepare(path, kept.id, origin)
                self._behind.create(
                    self.vault.root / path,
                    written,
                    self.vault.root,
                    done=partial(self._remember, origin, taken, state, document),
                    taken=partial(self._begin, conversation, state, document),
                )
            return taken
        raise Conflict(f"no free name for a session in {folder}", "Try again in a moment.")

    def _is_taken(self, name: str, path: str, origin: Origin) -> bool:
        """Whether another session has that name, or had it: what was forgotten there is not of this one.

        Raises Unreadable where the file of that name cannot be read: it may be the very conversation.
        """
        if path in self._names or self._origins.has_id(name):
            return True
        if self.vault.stamp(path) is not None:
            if path in self._origins.unread:
                files.read(self.vault.root / path, within=self.vault.root)
            return True
        return self.ledger.owner(self.namespace, path) not in (None, origin)

    def _prepare(self, path: str, session: str, origin: Origin) -> None:
        """Make the folder of a new file, and take note of what will stand there."""
        folder = (self.vault.root / path).parent
        if folder not in self._folders or not folder.is_dir():
            self.vault.keep_labels(self.namespace)
            files.make_folder(folder, within=self.vault.root)
            self._folders.add(folder)
        self._origins.put(origin, path, session)
        self._new.add(origin)

    def _candidates(self, conversation: Conversation, recording: Recording) -> Iterator[str]:
        wanted = layout.file_name(conversation.session) if conversation.session else ""
        name = wanted or layout.session_name(recording.first, self.vault.zone, lambda _: False)
        for number in range(self._numbers.get(name, 1), MOST_NAMES):
            yield f"{name}-{number}" if number > 1 else name
            self._numbers[name] = number + 1  # it was no use

    def _recording(self, conversation: Conversation, fields: Mapping[str, Value], zone: tzinfo) -> Recording:
        told: dict[str, Value] = {
            "times": "inferred" if conversation.inferred else "",
            "source": conversation.source,
            "source_id": conversation.id,
            "model": conversation.model,
            "tags": conversation.tags,
            "participants": fields.get("participants", ""),
        }
        ours = {key: value for key, value in told.items() if value}
        title = conversation.title or None
        return Recording(conversation.messages, title, self.namespace, None, ours, self.now, zone)


def _spoken(conversation: Conversation, *, people: bool) -> tuple[Message, ...]:
    """Its messages as a session of that sort holds them: with an assistant, people are users."""
    if people:
        return as_spoken(conversation.messages, people=True)
    return tuple(
        replace(message, role="user") if message.role == "person" else message
        for message in conversation.messages
    )


def _names_session(refs: Collection[str], namespace: str, session: str) -> bool:
    """Whether any of the refs is that of a turn of the session."""
    mark = str(Ref(namespace, session, "0")).removesuffix("0")
    return any(ref.startswith(mark) for ref in refs)


def _mark(ref: str | None) -> str:
    """What is remembered of a turn that came back: it does so once."""
    return f"restored {ref}"


def _turn_of_each(session: Session) -> Iterator[Turn]:
    """The turn of each message, in order."""
    return (turn for turn in session.turns for _ in turn.messages)


def _without(session: Session, turns: tuple[Turn, ...]) -> Session:
    """The session with only these turns, to be written anew."""
    if len(turns) == len(session.turns):
        return session
    fresh = tuple(replace(turn, messages=tuple(map(_unwritten, turn.messages))) for turn in turns)
    return replace(session, turns=fresh)


def _unwritten(message: Message) -> Message:
    return replace(message, raw=None)

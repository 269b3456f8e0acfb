"""Conversations from elsewhere → session files: new ones made, known ones grown, no edit undone.

In: conversations one by one. Out: what became of each. A conversation is known by its source and id,
which its file's front matter says; the ledger only makes that quick and remembers what was deleted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import blake2b
from typing import Literal

from huimem import files
from huimem.errors import Conflict, NewerFormat
from huimem.records import Conversation, Message, Session, Turn
from huimem.vault import layout
from huimem.vault.arrivals import Known, known_of, plan
from huimem.vault.forgotten import forgotten
from huimem.vault.front import Value, split_front
from huimem.vault.ledger import Ledger, Origin, Taken
from huimem.vault.markdown import append, is_newer, parse, render, rewritten
from huimem.vault.reading import text_field
from huimem.vault.recording import Recording, as_spoken, begin, names_of, with_participants
from huimem.vault.vault import NAMES, TRIES, Vault

What = Literal["new", "updated", "unchanged", "deleted", "forgotten"]
HEAD = 64 << 10  # bytes of a file in which its front matter stands


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a conversation. `added` messages were appended, `grown` got more text; `edited` ones
    stay as their owner wrote them, `deleted` ones stay out."""

    what: What
    path: str = ""
    added: int = 0
    grown: int = 0
    edited: int = 0
    deleted: int = 0


@dataclass(slots=True)
class Intake:
    """One import into one namespace. `write` False: only look. `again`: what was deleted comes back."""

    vault: Vault
    namespace: str
    ledger: Ledger
    now: datetime
    write: bool = True
    again: bool = False
    _there: set[str] = field(init=False)
    _origins: dict[tuple[str, str], str] | None = None
    _forgotten: frozenset[str] = field(init=False)
    _names: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.namespace = layout.namespace_text(self.namespace)
        self._there = set(self.vault.scan().files)
        self._forgotten = forgotten(self.vault.root, self.vault.namespace_folder(self.namespace))

    def stand(self, paths: list[str]) -> bool:
        """Whether all these files are still where they were."""
        return self._there.issuperset(paths)

    def take(self, conversation: Conversation, document: bytes) -> Outcome:
        """Bring one in. Raises Conflict, WriteFailed, NewerFormat, UsageError; then nothing was written."""
        origin: Origin = (self.namespace, conversation.source, conversation.id)
        before = None if self.again else self.ledger.taken(origin)
        digest = _digest(conversation)
        path = self._path(conversation, before)
        if before is not None and before.digest == digest and path:
            self.ledger.seen(origin, document)
            return Outcome("unchanged", path)
        if path:
            outcome = self._grow(conversation, path, before.known if before else None)
        elif before is not None:
            return Outcome("deleted", before.path)
        else:
            outcome = self._begin(conversation)
        if outcome.path and self.write:
            known = {**(before.known if before else {}), **known_of(conversation)}
            self.ledger.take(origin, Taken(outcome.path, digest, known), document)
        return outcome

    def _path(self, conversation: Conversation, before: Taken | None) -> str:
        """Where its session stands, "" where there is none."""
        if before is not None and before.path in self._there:
            return before.path
        if self._origins is None:
            self._origins = dict(self._listed())
        return self._origins.get((conversation.source, conversation.id), "")

    def _listed(self) -> Iterator[tuple[tuple[str, str], str]]:
        """Source and id of every imported session in the namespace."""
        for path in sorted(self._there, reverse=True):
            if layout.namespace_of(path) != self.namespace:
                continue
            with suppress(files.Unreadable):
                data = files.read(self.vault.root / path, within=self.vault.root)[0]
                if b"\nsource_id:" not in data[:HEAD]:
                    continue
                front, _ = split_front(data, path)
                origin = text_field(front.fields, "source"), text_field(front.fields, "source_id")
                if all(origin):
                    yield origin, path

    # --- a session that is there ------------------------------------------------------------------

    def _grow(self, conversation: Conversation, path: str, known: Known | None) -> Outcome:
        _, session = self.vault.id_of(path)
        with files.lock(self.vault.session_lock_path(self.namespace, session)):
            for _ in range(TRIES):
                with suppress(Conflict):
                    return self._grown(conversation, path, known)
        raise Conflict(f"{path} is being changed by another program", "Try again in a moment.")

    def _grown(self, conversation: Conversation, path: str, known: Known | None) -> Outcome:
        data, _ = files.read(self.vault.root / path, within=self.vault.root)
        held = parse(data, path, zone=self.vault.zone, namespace=self.namespace)
        said = replace(conversation, messages=as_spoken(conversation.messages, people=held.people))
        found = plan(held, said, known)
        fresh = self._unforgotten(held, said, found.fresh)
        outcome = Outcome("unchanged", path, len(fresh), len(found.grown), found.edited, found.deleted)
        if not fresh and not found.grown:
            return outcome
        if is_newer(held):
            raise NewerFormat(
                f"{path} was written by a newer huimem", "Upgrade huimem: pip install -U huimem"
            )
        texts = {place: said.messages[index].text for place, index in found.grown.items()}
        added = [said.messages[index] for index in fresh]
        if held.people:
            held = with_participants(held, names_of(added))
        grown = append(rewritten(held, texts), added)
        if self.write:
            files.replace(self.vault.root / path, render(grown), data, within=self.vault.root)
            self.vault.note_recorded(grown, len(held.messages), path)
        return replace(outcome, what="updated")

    def _unforgotten(self, held: Session, said: Conversation, fresh: tuple[int, ...]) -> list[int]:
        """Of the messages to append, those whose turn nobody asked to forget."""
        if not self._forgotten or not fresh:
            return [*fresh]
        whole, _ = begin(self._recording(said, held.fields), held.id)
        refs = [str(turn.ref) for turn in whole.turns for _ in turn.messages]
        return [index for index in fresh if refs[index] not in self._forgotten]

    # --- a new one --------------------------------------------------------------------------------

    def _begin(self, conversation: Conversation) -> Outcome:
        recording = self._recording(conversation, {})
        folder = self.vault.week_of(recording)
        for name in self._candidates(conversation, recording):
            session, _ = begin(recording, name)
            turns = tuple(turn for turn in session.turns if str(turn.ref) not in self._forgotten)
            if not turns:
                return Outcome("forgotten")
            path = f"{folder}/{name}.md"
            if self._is_taken(name, path, whole=len(turns) == len(session.turns)):
                continue
            kept = _without(session, turns)
            if self.write:
                try:
                    self._make(path, kept)
                except Conflict:  # another program took the name
                    continue
            self._names.add(path)
            count = len(kept.messages)
            return Outcome("new", path, count, deleted=len(session.messages) - count)
        raise Conflict(f"no free name for a session in {folder}", "Try again in a moment.")

    def _is_taken(self, name: str, path: str, *, whole: bool) -> bool:
        """Whether a file has that name, or had it once: then other turns than these are forgotten there."""
        mark = f"{self.namespace}/{name}#" if self.namespace else f"{name}#"
        if whole and any(ref.startswith(mark) for ref in self._forgotten):
            return True
        return path in self._names or self.vault.stamp(path) is not None

    def _make(self, path: str, session: Session) -> None:
        folder = (self.vault.root / path).parent
        if not folder.is_dir():
            self.vault.keep_labels(self.namespace)
            files.make_folder(folder, within=self.vault.root)
        files.create(self.vault.root / path, render(session), within=self.vault.root)
        self._there.add(path)
        if self._origins is not None:
            origin = text_field(session.fields, "source"), text_field(session.fields, "source_id")
            self._origins[origin] = path

    def _candidates(self, conversation: Conversation, recording: Recording) -> Iterator[str]:
        wanted = layout.file_name(conversation.session) if conversation.session else ""
        name = wanted or layout.session_name(recording.first, self.vault.zone, lambda _: False)
        for number in range(1, NAMES):
            yield f"{name}-{number}" if number > 1 else name

    def _recording(self, conversation: Conversation, fields: Mapping[str, Value]) -> Recording:
        ours: dict[str, Value] = {
            key: value
            for key, value in (
                ("times", "inferred" if conversation.inferred else ""),
                ("source", conversation.source),
                ("source_id", conversation.id),
                ("model", conversation.model),
                ("tags", conversation.tags),
            )
            if value
        }
        return Recording(
            conversation.messages,
            conversation.title or None,
            self.namespace,
            None,
            {**ours, **{key: value for key, value in fields.items() if key == "participants"}},
            self.now,
            self.vault.zone,
        )


def _without(session: Session, turns: tuple[Turn, ...]) -> Session:
    """The session with only these turns, to be written anew."""
    if len(turns) == len(session.turns):
        return session
    fresh = tuple(replace(turn, messages=tuple(map(_unwritten, turn.messages))) for turn in turns)
    return replace(session, turns=fresh)


def _unwritten(message: Message) -> Message:
    return replace(message, raw=None)


def _digest(conversation: Conversation) -> bytes:
    """What tells this state of a conversation from any other."""
    said = [[m.role, m.name, m.text, m.at.timestamp() if m.at else 0] for m in conversation.messages]
    if conversation.inferred:
        said = [message[:3] for message in said]
    told = json.dumps([said, conversation.keys], ensure_ascii=True)
    return blake2b(told.encode(), digest_size=16).digest()

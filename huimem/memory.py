"""Memory: one vault with its index, and the verbs that people, agents and programs share.

The only file that wires: it loads the embedder, reads the clock, and hands each leg what it needs.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from threading import Event
from types import TracebackType
from typing import NoReturn, Unpack

from huimem import upkeep
from huimem.config import Config, asking_zone, find_vault, load
from huimem.errors import UsageError
from huimem.following import Following
from huimem.forgetting import Forgotten, forget
from huimem.given import several, texts
from huimem.index.filters import Filter
from huimem.index.index import Index
from huimem.index.meaning import Beside
from huimem.providers.table import (
    embedder_names,
    load_embedder,
    load_recorded,
    load_reranker,
    unless_missing,
)
from huimem.recall import query as asking
from huimem.recall.intent import without_asides
from huimem.recall.periods import limited
from huimem.recall.pipeline import Asked, Second, narrow, recall
from huimem.recall.query import Keywords, Understood
from huimem.recall.scan import Walk, finished
from huimem.recall.wanting import told_before
from huimem.records import Message, Query, Recall, Ref, Resolution, TimeRange
from huimem.upkeep import CaughtUp, Progress, Synced
from huimem.vault.archive import Done
from huimem.vault.cold import plan
from huimem.vault.incoming import messages_from
from huimem.vault.keeping import Keeping
from huimem.vault.recent import Recent
from huimem.vault.remembering import remembering, validity
from huimem.vault.vault import Vault
from huimem.watching import Round, rounds
from huimem.when import resolve

__all__ = ["Memory", "embedder_names", "load_embedder"]

TRIES = 3  # for a question whose index is deleted while it is answered


class Memory:
    """A vault and its index. Use as a context manager; cheap to open, loads what a verb needs.

    Threads may share it. A fork opens its own: there the verbs of this one raise Forked.
    """

    def __init__(self, vault: Vault, config: Config) -> None:
        self.vault = vault
        self.config = config
        self.zone = asking_zone(config)
        embedder, lacking = unless_missing(load_embedder, config.embedder, "words answer alone")
        reader, more = unless_missing(load_reranker, config.reranker, "hits keep their order")
        self.warnings = (*lacking, *more)
        self.index = Index.open(
            vault.state,
            embedder,
            vault_id=str(vault.root.resolve()),
            spec=config.embedder,
            load=load_recorded,
            times=upkeep.times_of(config),
        )
        self._second = Second(reader, config.rerank, time.monotonic) if reader else None
        self.source = Recent(vault).source
        self._keeping = Keeping(vault)
        self._following = Following(
            vault, self.index, wanted=config.background, clock=lambda: self.now().timestamp()
        )

    @classmethod
    def open(cls, path: str | Path | None = None, **settings: object) -> Memory:
        """The memory of a vault: `path`, else $HUIMEM_VAULT, the nearest parent, the user's config.

        `settings` override config keys, `timezone="Asia/Shanghai"`. Raises VaultError, ConfigError.
        """
        root = find_vault(Path(path) if path is not None else None, os.environ, Path.cwd())
        config = load(root, settings)
        return cls(Vault.open(root, config), config)

    @classmethod
    def create(cls, path: str | Path, *, tz: str | None = None, include: str | Iterable[str] = ()) -> Memory:
        """Make a vault, or adopt a folder of notes: writes `huimem.toml`, moves and overwrites nothing."""
        vault = Vault.create(Path(path), tz=tz, include=texts("include", include, "notes/**"))
        return cls(vault, vault.config)

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise UsageError(
            "a Memory cannot be sent to another process",
            "Send its path, and open it there: Memory.open(path).",
        )

    def close(self) -> None:
        """Stop what goes on in the background and let go of files. Does nothing in a fork."""
        if self.index.inherited:
            return
        self._following.close()
        self.index.close()

    def record(
        self,
        messages: Mapping[str, object] | Message | Iterable[Mapping[str, object] | Message],
        *,
        session: str | None = None,
        title: str | None = None,
        namespace: str | None = None,
        people: bool | None = None,
        now: datetime | None = None,
    ) -> tuple[Ref, ...]:
        """Append a conversation's messages; one ref a turn, durable when it returns.

        The same messages again change nothing; a grown list adds what is new. Without `session` a
        new file is made. Raises UsageError for messages that cannot be read or mix two sorts.
        """
        self.index.refuse_fork()
        refs = self.vault.record(
            messages_from(messages, self.zone),
            session=session,
            title=title,
            namespace=namespace or "",
            people=people,
            now=self.now(now),
        )
        self._following.wake()
        return refs

    def remember(
        self,
        text: str,
        *,
        key: str | None = None,
        kind: str | None = None,
        valid: str | TimeRange | None = None,
        at: datetime | None = None,
        source: str | None = None,
        sources: str | Ref | Iterable[str | Ref] = (),
        importance: float | None = None,
        tags: str | Iterable[str] = (),
        namespace: str | None = None,
        now: datetime | None = None,
    ) -> Ref:
        """Write a fact; the ref of the version that says it, durable when it returns.

        With a `key` it takes the place of what held of that key, which stays in the file; without one it is
        a note of its week. It holds from `at` on, else from now, or in `valid`: a range, or a phrase as for
        `recall`. `sources` are refs that it comes from. What holds already changes nothing. Raises UsageError
        for what cannot be kept, VaultError for broken front matter, Locked, Conflict, WriteFailed.
        """
        self.index.refuse_fork()
        moment = self.now(now)
        if isinstance(valid, str):
            read = asking.make("", asking.options({"when": valid}), moment, self.resolve).resolution
            valid = validity(valid, read or Resolution())
        given = remembering(
            text,
            key=key,
            kind=kind,
            valid=valid,
            at=self.now(at) if at else moment,
            zone=self.vault.zone,
            importance=importance,
            source=source,
            sources=several("sources", sources, (str, Ref), "give refs, as huimem recall prints them"),
            tags=texts("tags", tags, "work"),
        )
        ref = self._keeping.remember(given, namespace or "")
        self._following.wake()
        return ref

    def recall(
        self,
        text: str,
        *,
        now: datetime | None = None,
        progress: Progress | None = None,
        **keywords: Unpack[Keywords],
    ) -> Recall:
        """Answer a question from the vault as it is at this moment.

        Time words narrow exactly, to what was said then or speaks of it, vague ones are walked back through;
        without any other words the answer is that time's sessions. `keywords` are the fields of `Options`;
        where several are taken, one text, range or message alone will do. Finding nothing is an answer
        without hits. `progress` is told, as in `sync`, how the catching up with the files goes. Raises
        UsageError for keywords that make no question.
        """
        asked = asking.make(text, asking.options(keywords), self.now(now), self.resolve)
        for _ in range(TRIES):
            catalog = self.index.identity()
            found = finished(self._answer(asked, progress))
            if self.index.identity() == catalog:  # else it was deleted and begun anew in between
                break
        return found

    def scan(
        self,
        text: str,
        *,
        now: datetime | None = None,
        progress: Progress | None = None,
        **keywords: Unpack[Keywords],
    ) -> Walk:
        """As `recall`, by a walk back through time until a week stands out, or True is sent: its value."""
        asked = asking.make(text, replace(asking.options(keywords), scan=True), self.now(now), self.resolve)
        return self._answer(asked, progress)

    def _answer(self, asked: Understood, progress: Progress | None) -> Walk:
        with self.index.ahead(*_told(asked.query)) as begun, self.caught_up(progress) as standing:
            asked, narrowed, unused = self.limited(asked, standing)
            wordy = standing.lacks_vectors(narrowed)
            text, before = _told(asked.query)
            meaning = None if wordy else self.index.meaning(text, narrowed, before, begun)
            fresh = upkeep.freshness(self.index, standing, meaning is not None)
            said = (*self.warnings, *self.vault.warnings, *standing.warnings, *unused)
            given = Asked.of(asked, narrowed, meaning, fresh, said)
            given = replace(given, overlay=standing.overlay, second=self._second)
            found = yield from recall(self.index, self.source, given, self.config.ranking)
        if not found.freshness.whole or standing.overlay or standing.hidden or self.index.building():
            self._following.wake()
        return found

    def sync(
        self,
        paths: str | Iterable[str] = (),
        *,
        full: bool = False,
        vectors: bool = True,
        progress: Progress | None = None,
        wait: float = 10.0,
    ) -> Synced:
        """Make the index agree with the vault; `paths` restrict it and never mean that others are gone.

        `full` reads every file again. Words first, then `vectors`. `progress(what, done, total)` is
        called with "words" or "vectors". Raises Locked where another process holds the index for more
        than `wait` seconds, WriteFailed where the disk refuses.
        """
        paths = texts("paths", paths, "notes/garden.md")
        return upkeep.sync(
            self.vault, self.index, paths, full=full, vectors=vectors, progress=progress, wait=wait
        )

    def archive(
        self, *, month: str | None = None, keep: int | None = None, now: datetime | None = None
    ) -> tuple[Done, ...]:
        """Pack cold months, `month` alone or all that are over for more than `keep` months; one `Done` each.

        Answers stay what they were. Raises Locked, WriteFailed, Unreadable; what was packed until then is.
        """
        self.index.refuse_fork()
        planned = plan(self.vault, self.now(now), keep=keep, month=month)
        return upkeep.archive(self.vault, self.index, planned)

    def forget(
        self,
        *refs: str,
        key: str | None = None,
        namespace: str | None = None,
        dry: bool = False,
        now: datetime | None = None,
    ) -> Forgotten:
        """Make records, whole sessions, a fact or a namespace be nowhere any more, and never come back.

        `refs` may be ids of sessions. `dry` only tells. Raises NotFound, UsageError, Locked, Conflict,
        WriteFailed, Unreadable.
        """
        self.index.refuse_fork()
        moment = self.now(now)
        return forget(self.vault, self.index, refs, key=key, namespace=namespace, dry=dry, now=moment)

    def unarchive(self, month: str, *, namespace: str = "") -> Done:
        """Put the files of a packed month back where they lay. Raises NotFound where there is none."""
        self.index.refuse_fork()
        return upkeep.unarchive(self.vault, self.index, month, namespace)

    def resolve(self, text: str, now: datetime) -> Resolution | None:
        """How the time words of a text are read in this vault."""
        return resolve(text, now, week_start=self.config.week_start)

    def now(self, now: datetime | None = None) -> datetime:
        """The moment of a question, in the zone of questions: `now`, else the clock's."""
        if now is None:
            return datetime.now(self.zone)
        return now.astimezone(self.zone) if now.tzinfo else now.replace(tzinfo=self.zone)

    def caught_up(self, progress: Progress | None = None) -> AbstractContextManager[CaughtUp]:
        """Words of every file as it is now, in the index or, meanwhile, beside it."""
        return upkeep.caught_up(self.vault, self.index, progress, followed=self._following.expected)

    def narrowed(self, question: Query, standing: CaughtUp) -> Filter:
        """What a question may find, in the index and beside it."""
        labels = self.index.labels(question.namespace, standing.overlay)
        return narrow(question, labels, standing.hidden)

    def limited(self, asked: Understood, standing: CaughtUp) -> tuple[Understood, Filter, tuple[str, ...]]:
        """A question without those of its ranges that can hold nothing, what it may find, a line for each."""
        narrowed = self.narrowed(asked.query, standing)
        asked, said = limited(self.index, asked, narrowed, standing.overlay, self.resolve)
        return asked, self.narrowed(asked.query, standing) if said else narrowed, said

    def watch(
        self, *, stop: Event | None = None, vectors: bool = True, now: datetime | None = None
    ) -> Generator[Round]:
        """Keep the index in step with the files until `stop` is set or the generator is closed.

        Yields a `Round` for the first look and for each later one that took something in or has something
        to say; `vectors` follow in the background. With `archive.auto` it packs cold months once a day; `now`
        stands for the clock there. Raises Locked where another process watches already.
        """
        clock = partial(self.now, now)
        return rounds(self.vault, self.index, stop=stop, vectors=vectors, clock=clock)

    def linger(self, seconds: float) -> str:
        """Wait for what goes on in the background, at most `seconds`; what goes wrong there, else ""."""
        self.index.refuse_fork()
        self._following.wait(seconds)
        return self._following.fault


def _told(query: Query) -> tuple[str, Beside]:
    """What a question tells of its matter, and what was told before it with its share."""
    return without_asides(query.text), told_before(query)

"""Memory: one vault with its index, and the verbs that people, agents and programs share.

The only file that wires: it loads the embedder, reads the clock, and hands each leg what it needs.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Unpack

from huimem import upkeep
from huimem.config import Config, asking_zone, find_vault, load
from huimem.errors import MissingExtra
from huimem.files import Unreadable
from huimem.index.filters import Filter
from huimem.index.index import Index
from huimem.ports import Embedder
from huimem.providers.table import load_embedder
from huimem.recall import query as asking
from huimem.recall.candidates import Meaning
from huimem.recall.pipeline import Asked, narrow, recall
from huimem.recall.query import Keywords, Options
from huimem.records import Freshness, Message, Query, Recall, Ref, Resolution, Source
from huimem.upkeep import Progress, Synced
from huimem.vault.incoming import messages_from
from huimem.vault.layout import namespaces_asked
from huimem.vault.roles import role_of
from huimem.vault.text import whole
from huimem.vault.vault import Vault
from huimem.when import resolve


class Memory:
    """A vault and its index. Use as a context manager; cheap to open, loads what a verb needs."""

    def __init__(self, vault: Vault, config: Config) -> None:
        self.vault = vault
        self.config = config
        self.warnings: tuple[str, ...] = ()
        self.zone = asking_zone(config)
        self.index = Index.open(vault.state, self._embedder(), vault_id=str(vault.root.resolve()))
        self._read: dict[str, tuple[str, Source]] = {}

    @classmethod
    def open(cls, path: str | Path | None = None, **settings: object) -> Memory:
        """The memory of a vault: `path`, else $HUIMEM_VAULT, the nearest parent, the user's config.

        `settings` override config keys, `timezone="Asia/Shanghai"`. Raises VaultError, ConfigError.
        """
        root = find_vault(Path(path) if path is not None else None, os.environ, Path.cwd())
        config = load(root, settings)
        return cls(Vault.open(root, config), config)

    @classmethod
    def create(cls, path: str | Path, *, tz: str | None = None, include: Sequence[str] = ()) -> Memory:
        """Make a vault, or adopt a folder of notes: writes `huimem.toml`, moves and overwrites nothing."""
        vault = Vault.create(Path(path), tz=tz, include=tuple(include))
        return cls(vault, vault.config)

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self.index.close()

    def record(
        self,
        messages: Sequence[Mapping[str, object] | Message],
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
        return self.vault.record(
            messages_from(messages, self.zone),
            session=session,
            title=title,
            namespace=namespace or "",
            people=people,
            now=self.now(now),
        )

    def recall(
        self,
        text: str,
        *,
        now: datetime | None = None,
        progress: Progress | None = None,
        **keywords: Unpack[Keywords],
    ) -> Recall:
        """Answer a question from the vault as it is at this moment.

        Time words narrow exactly; `when`, `during`, `said_only`, `namespace`, `kinds`, `roles`,
        `tags`, `limit`, `context`, `as_of` and `include_superseded` are those of `Options`. Finding
        nothing is an answer without hits. `progress` is told, as in `sync`, how the catching up with
        the files goes. Raises UsageError for keywords that make no question.
        """
        options = self.options(keywords)
        question, resolution = asking.make(text, options, self.now(now), self.resolve)
        pending, warnings = self.catch_up(progress)
        namespaces = self.index.labels(question.namespace)
        narrowed = narrow(question, namespaces)
        warnings += upkeep.few_vectors(self.index, narrowed) if question.text else ()
        meaning = self._meaning(question, narrowed)
        vectors, passages = self.index.coverage()
        freshness = Freshness(
            fresh=not pending,
            pending=pending,
            engine="words+meaning" if meaning and vectors else "words",
            vectors_done=vectors,
            vectors_total=passages if self.index.embedder else 0,
        )
        asked = Asked(
            question, resolution, narrowed, meaning, freshness, (*self.warnings, *warnings), options.context
        )
        return recall(self.index, self.source, asked, self.config.ranking)

    def sync(
        self,
        paths: Sequence[str] = (),
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
        return upkeep.sync(
            self.vault, self.index, paths, full=full, vectors=vectors, progress=progress, wait=wait
        )

    def source(self, path: str) -> Source:
        """A file's records as they stand now; what was read for an earlier hit is kept while unchanged."""
        stamp = str(self.vault.stamp(path))
        kept = self._read.get(path)
        if kept and kept[0] == stamp:
            return kept[1]
        if len(self._read) >= 64:
            self._read.clear()
        try:
            source = self.vault.read(path)
        except Unreadable as error:
            fault = self.vault.fault(path, error)
            raise Unreadable(fault.message, fault.remedy, gone=error.gone) from error
        self._read[path] = (stamp, source)
        return source

    def _embedder(self) -> Embedder | None:
        try:
            return load_embedder(self.config.embedder)
        except MissingExtra as missing:
            self.warnings = (f"{missing.message}: words answer alone; {missing.hint}",)
            return None

    def resolve(self, text: str, now: datetime) -> Resolution | None:
        """How the time words of a text are read in this vault."""
        return resolve(text, now, week_start=self.config.week_start)

    def now(self, now: datetime | None = None) -> datetime:
        """The moment of a question, in the zone of questions: `now`, else the clock's."""
        if now is None:
            return datetime.now(self.zone)
        return now.astimezone(self.zone) if now.tzinfo else now.replace(tzinfo=self.zone)

    def options(self, keywords: Keywords) -> Options:
        """The keywords of a question as `Options`, its names in the form that files give theirs."""
        options = Options(**keywords)
        return replace(
            options,
            namespace=namespaces_asked(options.namespace),
            kinds=tuple(whole(kind).lower() for kind in options.kinds),
            roles=tuple(role_of(role) or whole(role).casefold() for role in options.roles),
            tags=tuple(whole(tag).removeprefix("#") for tag in options.tags),
        )

    def catch_up(self, progress: Progress | None = None) -> tuple[int, tuple[str, ...]]:
        """Words of every file as it is now: how many files are not in yet, and what went wrong."""
        return upkeep.catch_up(self.vault, self.index, progress)

    def _meaning(self, question: Query, narrowed: Filter) -> Meaning | None:
        """The question's vector where every passage it may find has one."""
        if self.index.embedder is None or not question.text or len(self.index.pending(narrowed)):
            return None
        return Meaning(self.index.embedder.embed([question.text], as_query=True)[0], self.index.scale())

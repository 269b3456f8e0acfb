"""Vaults made in code: sources and their listing as two dicts, and all that an index says of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from pathlib import Path

import numpy as np

from huimem.files import Unreadable
from huimem.index.filters import Filter
from huimem.index.index import Index
from huimem.index.mentions import Times
from huimem.index.rows import SyncReport
from huimem.index.snapshot import Snapshot
from huimem.providers.hashing import HashingEmbedder
from huimem.records import Fact, Message, Record, Ref, Source, TimeRange, Turn
from huimem.when import resolve

ALL = Filter(namespaces=None)
EMBEDDER = HashingEmbedder("32")


def at(text: str) -> datetime:
    """`2026-04-06 09:14` in UTC; a date alone is its midnight."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def day(text: str, days: int = 1) -> TimeRange:
    return TimeRange(at(text), at(text) + timedelta(days=days))


def turn(
    when: str | None,
    *texts: str,
    session: str = "s",
    namespace: str = "",
    mentions: Sequence[TimeRange] = (),
    inferred: bool = False,
    line: int = 1,
) -> Turn:
    """A turn of a user message with an assistant's behind it, and so on, a minute apart."""
    start = at(when) if when else None
    messages = tuple(
        Message(
            ("user", "assistant")[i % 2],
            text,
            start + timedelta(minutes=i) if start else None,
            line=line + 4 * i,
            text_line=line + 4 * i + 2,
        )
        for i, text in enumerate(texts)
    )
    digits = start.strftime("%Y%m%dT%H%M%S") if start else f"part-{line}"
    return Turn(Ref(namespace, session, digits), messages, tuple(mentions), "turn", inferred)


def fact(key: str, start: str, end: str | None, text: str, kind: str = "preference") -> Fact:
    valid = TimeRange(at(start), at(end) if end else None)
    ref = Ref("", key, at(start).strftime("%Y%m%dT%H%M%S"), mark="@")
    return Fact(ref, key, kind, text, valid, 1.3, line=1, text_line=3)


def source(path: str, *records: Record, namespace: str = "", tags: Sequence[str] = ()) -> Source:
    digest = blake2b(repr((path.rpartition("/")[2], records, tags)).encode(), digest_size=16).hexdigest()
    return Source(path, digest, namespace, path, tuple(tags), records)


@dataclass(slots=True)
class Files:
    """A vault of the imagination: what a scan would list and what a read would give."""

    sources: dict[str, Source] = field(default_factory=dict)
    stamps: dict[str, str] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    reads: list[str] = field(default_factory=list)
    _touched: int = 0

    def put(self, made: Source) -> None:
        self.sources[made.path] = made
        self.touch(made.path)

    def touch(self, path: str) -> None:
        self._touched += 1
        self.stamps[path] = f"stamp {self._touched}"

    def remove(self, path: str) -> None:
        del self.sources[path], self.stamps[path]

    def read(self, path: str) -> Source:
        self.reads.append(path)
        if path in self.broken:
            raise Unreadable(f"{path} cannot be read: I/O error", "Check the disk.")
        return self.sources[path]

    def sync(self, index: Index, **options: object) -> SyncReport:
        self.reads.clear()
        return index.sync(self.stamps, self.read, **options)  # type: ignore[arg-type]


TIMES = Times("as now", resolve)


def opened(folder: Path, embedder: HashingEmbedder | None = EMBEDDER, vault: str = "vault") -> Index:
    return Index.open(folder, embedder, vault_id=vault, times=TIMES)


def content(snapshot: Snapshot) -> list[tuple[object, ...]]:
    """Every chunk with all that is known of it, in a form that does not depend on row numbers."""
    words = dict(snapshot.db.execute("SELECT id, text FROM term"))
    found = snapshot.passages(snapshot.rows(ALL))
    records = {record.id: record for record in snapshot.records(np.unique(found.record).tolist())}
    described = []
    for i, row in enumerate(found.rows.tolist()):
        record, chunk = records[int(found.record[i])], snapshot.chunk(row)
        tokens = found.tokens[found.offsets[i] : found.offsets[i + 1]].tolist()
        described.append(
            (
                (record.path, record.ord, record.ref, record.line, record.title, record.tags),
                (record.namespace, record.kind, record.key, record.at_ms, record.inferred),
                (record.valid_from, record.valid_to, record.importance, record.mentions),
                (chunk.message, chunk.role, chunk.lines, chunk.at_ms, chunk.text, float(found.asks[i])),
                tuple(words[token] for token in tokens),
            )
        )
    return sorted(described, key=repr)


def statistics(snapshot: Snapshot) -> dict[str, object]:
    """Totals and document frequencies of every namespace that holds anything."""
    terms = [text for (text,) in snapshot.db.execute("SELECT text FROM term ORDER BY text")]
    said: dict[str, object] = {"terms": terms}
    for label in snapshot.namespaces():
        among = frozenset({label})
        frequencies = snapshot.frequencies(terms, among)
        said[label] = (snapshot.totals(among), dict(zip(terms, frequencies, strict=True)))
    return said


def answers(snapshot: Snapshot, words: Sequence[str], filters: Sequence[Filter]) -> list[object]:
    """What words and vectors find under each filter, by place instead of row number."""
    said: list[object] = []
    for f in filters:
        said.append([sorted(places(snapshot, snapshot.find([word], f))) for word in words])
        for word in words:
            rows, cosines = snapshot.nearest(EMBEDDER.embed([word], as_query=True)[0], f, 1000)
            near = zip(places(snapshot, rows), cosines.tolist(), strict=True)
            said.append(sorted((place, round(cosine, 5)) for place, cosine in near))
    return said


def places(snapshot: Snapshot, rows: Sequence[int] | np.ndarray) -> list[tuple[str, str, int, int]]:
    """Path, ref, message and first line of chunks, in their order."""
    described = []
    for row in np.asarray(rows, np.int64).tolist():
        chunk = snapshot.chunk(row)
        (record,) = snapshot.records([chunk.record])
        described.append((record.path, record.ref, chunk.message, chunk.lines[0]))
    return described


def texts(snapshot: Snapshot, rows: np.ndarray) -> set[str]:
    return set(snapshot.texts(rows.tolist()))


def healed_state(folder: Path, files: Files) -> tuple[object, ...]:
    """All that the index in `folder` holds and answers once it agrees with `files`."""
    index = opened(folder)
    files.sync(index)
    assert index.embed().pending == 0
    with index.snapshot() as snapshot:
        state = content(snapshot), statistics(snapshot), answers(snapshot, ("apple",), [ALL])
    index.close()
    return state


# A small vault, what its index answers, and the same vault after an edit: what damage is measured by.

WORDS = ("apple", "pear")


def vault() -> Files:
    files = Files()
    for n in range(6):
        files.put(source(f"{n}.md", turn(f"2026-0{n + 1}-06", f"apple number{n}", "pear", session=f"s{n}")))
    return files


def state(index: Index) -> tuple[object, ...]:
    with index.snapshot() as snapshot:
        return content(snapshot), statistics(snapshot), answers(snapshot, WORDS, [ALL])


def edited() -> Files:
    files = vault()
    files.put(source("5.md", turn("2026-06-06", "edited", session="s5")))
    files.put(source("6.md", turn("2026-06-07", "new", session="s6")))
    return files


def healed(folder: Path, files: Files) -> tuple[Index, tuple[str, ...]]:
    index = opened(folder)
    report = files.sync(index)
    embedded = index.embed()
    assert embedded.pending == 0
    return index, (*report.warnings, *embedded.warnings)

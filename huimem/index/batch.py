"""One batch of sources → the catalog's tables, inside one transaction of the writer.

In: sources, read and cut beforehand. Out: rows of records and chunks, document frequencies and totals
that are exact after any sequence of edits. Records whose digest stands keep their rows.
"""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from huimem.errors import Problem
from huimem.index import catalog, cut
from huimem.index.filters import EARLIEST, LATEST, marks
from huimem.index.lexical import Posting
from huimem.index.packed import archive_of, original_of
from huimem.index.rows import milliseconds
from huimem.index.sources import CutRecord, CutSource, Held
from huimem.records import Fact, Source


def held(db: sqlite3.Connection, path: str) -> Held | None:
    """What the catalog holds under a path; None = nothing."""
    found = db.execute("SELECT id, digest FROM source WHERE path = ?", (path,)).fetchone()
    if found is None:
        return None
    records = db.execute("SELECT digest FROM record WHERE source = ? ORDER BY ord", found[:1])
    return Held(path, found[1], tuple(digest for (digest,) in records))


def stands(before: Held | None, source: Source) -> bool:
    """Whether the catalog holds a source as it is now.

    The same bytes may mean another time: a note without a date has that of its file.
    """
    if before is None or before.digest != source.digest:
        return False
    if not any(record.inferred for record in source.records):
        return True
    digests = (cut.digest(record, source.namespace, source.tags) for record in source.records)
    return before.records == tuple(digests)


def as_text(problems: Sequence[Problem]) -> str:
    """Problems as the catalog keeps them."""
    return json.dumps([(p.path, p.line, p.message, p.remedy) for p in problems])


def as_problems(text: str) -> list[Problem]:
    return [Problem(*parts) for parts in json.loads(text)]


@dataclass(slots=True)
class Batch:
    """The open transaction of one batch: `put`, `remove`, `restamp` in any order, then `finish`.

    `terms` is the vocabulary as far as it is known; it may be kept for the next batch.
    """

    db: sqlite3.Connection
    terms: dict[str, int]
    _ids: dict[tuple[str, str], int] = field(default_factory=dict)
    _frequencies: dict[int, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    _chunks: Counter[int] = field(default_factory=Counter)
    _tokens: Counter[int] = field(default_factory=Counter)
    _next: dict[str, int] = field(default_factory=dict)
    _new: dict[str, list[tuple[object, ...]]] = field(default_factory=lambda: defaultdict(list))
    _whole: bool = field(init=False)

    def __post_init__(self) -> None:
        """Whether `terms` holds every word, as in an index made from nothing: then none is looked up."""
        (any_term,) = self.db.execute("SELECT EXISTS(SELECT 1 FROM term)").fetchone()
        if self.terms:
            (count,) = self.db.execute("SELECT count(*) FROM term").fetchone()
            self._whole = count == len(self.terms)
        else:
            self._whole = not any_term

    def put(self, ready: CutSource) -> bool:
        """Store a source; False where what it was cut for is no longer what stands: nothing is stored.

        A file that moved keeps its number and the rows of its records.
        """
        source, before = ready.source, ready.held
        found = self._find(before.path if before else source.path)
        moved = before is not None and before.path != source.path
        if held(self.db, before.path if before else source.path) != before:
            return False
        if moved and self._find(source.path):
            return False
        id = found[0] if found else self._take("source", 1)
        namespace = self._id("namespace", "label", source.namespace)
        named = (source.digest, namespace, cut.sound(source.title), json.dumps(source.tags))
        self.db.execute(
            "INSERT OR REPLACE INTO source VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                id,
                source.path,
                ready.stamp,
                ready.racy,
                *named,
                as_text(source.problems),
                self._archive(source.path),
            ),
        )
        self._uncover(source.path)
        self._tag(id, source.tags)
        self._records(id, namespace, ready.records)
        return True

    def _find(self, path: str) -> tuple[int, str] | None:
        found = self.db.execute("SELECT id, digest FROM source WHERE path = ?", (path,)).fetchone()
        return (found[0], found[1]) if found else None

    def remove(self, path: str) -> bool:
        """Take a source and all that came from it out of the catalog; False where there is none."""
        self._uncover(path)
        found = self._find(path)
        if found is None:
            return False
        id = found[:1]
        old = self.db.execute("SELECT id FROM record WHERE source = ?", id)
        self._remove_records([record for (record,) in old.fetchall()])
        self.db.execute("DELETE FROM tagged WHERE source = ?", id)
        self.db.execute("DELETE FROM source WHERE id = ?", id)
        return True

    def move(self, old: str, new: str, digest: str) -> bool:
        """Give a source with these bytes another path, and nothing else; False where it is another one."""
        found = self._find(old)
        if found is None or found[1] != digest:
            return False
        if self._find(new):
            self.remove(new)
        self._uncover(new)
        self.db.execute(
            "UPDATE source SET path = ?, stamp = ?, racy = 0, archive = ? WHERE id = ?",
            (new, digest, self._archive(new), found[0]),
        )
        return True

    def cover(self, path: str, digest: str) -> None:
        """A packed file stands open with the same bytes: it has no rows of its own."""
        if self._find(path):
            self.remove(path)
        self.db.execute(
            "INSERT OR REPLACE INTO shadow VALUES (?, ?, ?, ?)",
            (path, original_of(path), self._archive(path), digest),
        )

    def read_archive(self, path: str, stamp: str, racy: bool) -> None:
        """All files of an archive are in as they are packed there."""
        number = self._number(path)
        self.db.execute("UPDATE archive SET stamp = ?, racy = ? WHERE id = ?", (stamp, racy, number))

    def lose_archive(self, path: str) -> None:
        """An archive is gone; what was packed in it is removed by itself."""
        self.db.execute("DELETE FROM archive WHERE path = ?", (path,))

    def _archive(self, path: str) -> int:
        """The number of the archive that a file is packed in; 0 for an open one."""
        archive = archive_of(path)
        return self._number(archive) if archive else 0

    def _number(self, archive: str) -> int:
        """The number of an archive, a new one where it is not known."""
        self.db.execute("INSERT OR IGNORE INTO archive VALUES (NULL, ?, '', 1)", (archive,))
        (id,) = self.db.execute("SELECT id FROM archive WHERE path = ?", (archive,)).fetchone()
        return int(id)

    def _uncover(self, path: str) -> None:
        self.db.execute("DELETE FROM shadow WHERE path = ?", (path,))

    def restamp(self, path: str, stamp: str, racy: bool, problems: str) -> None:
        """The file looks different and holds the same; `problems` as `as_text` writes them."""
        self.db.execute(
            "UPDATE source SET stamp = ?, racy = ?, problems = ? WHERE path = ?",
            (stamp, racy, problems, path),
        )

    def complain(self, path: str, problem: Problem) -> None:
        """Keep a problem with a file that cannot be read now; what was read of it before stays.

        A file that was never read gets a source without records, to be tried again each time.
        """
        if self._find(path):
            self.db.execute(
                "UPDATE source SET problems = ?, racy = 1 WHERE path = ?", (as_text([problem]), path)
            )
        else:
            source = (self._take("source", 1), path, "", 1, "", self._id("namespace", "label", ""))
            self.db.execute(
                "INSERT INTO source VALUES (?, ?, ?, ?, ?, ?, '', '[]', ?, ?)",
                (*source, as_text([problem]), self._archive(path)),
            )

    def finish(self) -> None:
        """Write what was gathered: new rows, counters, document frequencies and totals.

        Words that nothing holds any more are forgotten.
        """
        for table, rows in self._new.items():
            if rows:
                self.db.executemany(f"INSERT INTO {table} VALUES ({marks(len(rows[0]))})", rows)
        self.db.executemany(
            "UPDATE counter SET next = ? WHERE name = ?", [(n, name) for name, n in self._next.items()]
        )
        changed = [(n, t, m) for n, sums in self._frequencies.items() for t, m in sums.items() if m]
        self.db.executemany(
            "INSERT INTO df VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n", changed
        )
        fewer = [(n, t) for n, t, count in changed if count < 0]
        self.db.executemany("DELETE FROM df WHERE namespace = ? AND term = ? AND n <= 0", fewer)
        self._forget_terms({term for _, term in fewer})
        self.db.executemany(
            "INSERT INTO totals VALUES (?, ?, ?) ON CONFLICT DO UPDATE "
            "SET chunks = chunks + excluded.chunks, tokens = tokens + excluded.tokens",
            [(n, self._chunks[n], self._tokens[n]) for n in {*self._chunks, *self._tokens}],
        )

    def _tag(self, source: int, tags: Sequence[str]) -> None:
        self.db.execute("DELETE FROM tagged WHERE source = ?", (source,))
        self.db.executemany(
            "INSERT OR IGNORE INTO tagged VALUES (?, ?)",
            [(source, self._id("label", "text", tag)) for tag in tags],
        )

    def _records(self, source: int, namespace: int, ready: Sequence[CutRecord]) -> None:
        """Keep the rows of records whose digest stands, add the new ones, remove the rest."""
        held: dict[bytes, deque[tuple[int, int, int]]] = defaultdict(deque)
        for id, digest, *place in self.db.execute(
            "SELECT id, digest, ord, line FROM record WHERE source = ? ORDER BY ord", (source,)
        ):
            held[digest].append((id, *place))
        moved, new = [], []
        for ord, one in enumerate(ready):
            place = (ord, cut.first_line(one.record))
            if held[one.digest]:
                id, *before = held[one.digest].popleft()
                if tuple(before) != place:
                    moved.append((*place, id))
            else:
                new.append((place, one))
        self._remove_records([old[0] for left in held.values() for old in left])
        self.db.executemany("UPDATE record SET ord = ?, line = ? WHERE id = ?", moved)
        for id, (place, one) in enumerate(new, self._take("record", len(new))):
            self._add_record(id, source, namespace, place, one)

    def _add_record(
        self, id: int, source: int, namespace: int, place: tuple[int, int], ready: CutRecord
    ) -> None:
        record = ready.record
        kind = self._id("label", "text", record.kind)
        at_ms = milliseconds(record.at) if record.at else None
        fact = isinstance(record, Fact)
        held = cut.bounds(record.valid) if isinstance(record, Fact) else (None, None)
        key = cut.sound(record.key) if isinstance(record, Fact) and record.key else None
        importance = record.importance if isinstance(record, Fact) else 1.0
        named = (cut.sound(str(record.ref)), kind, fact, key, at_ms, record.inferred, *held, importance)
        self._new["record"].append((id, source, *place, *named, ready.digest))
        if not isinstance(record, Fact) and not record.inferred:
            spans = {_closed(cut.bounds(mention)) for mention in record.mentions}
            self._new["mention"].extend((id, *span) for span in spans)
        self._add_chunks(id, namespace, kind, place[1], ready)

    def _add_chunks(self, record: int, namespace: int, kind: int, line: int, ready: CutRecord) -> None:
        chunks, known = ready.chunks or (), self.terms
        inferred = ready.record.inferred
        new_chunks, new_passages = self._new["chunk"], self._new["passage"]
        for row, one in enumerate(chunks, self._take("chunk", len(chunks))):
            terms = array("I", [known.get(word) or self._term(word) for word in one.words.split()])
            whose = (row, record, one.message, self._id("label", "text", one.role), namespace, kind)
            lines = (one.lines[0] - line, one.lines[1] - line)
            nature = (self._id("label", "text", one.script), one.asks)
            new_chunks.append((*whose, one.at_ms, inferred, *lines, one.hash, *nature, terms.tobytes()))
            new_passages.append((row, one.said, one.lead, one.text))
            self._count(namespace, terms, 1)

    def _remove_records(self, ids: Sequence[int]) -> None:
        has_segments = self.db.execute("SELECT 1 FROM segment LIMIT 1").fetchone()
        for id in ids:
            found = self.db.execute(
                "SELECT row, namespace, tokens FROM chunk WHERE record = ?", (id,)
            ).fetchall()
            for _, namespace, tokens in found:
                self._count(namespace, array("I", tokens), -1)
            rows = [(row,) for row, _, _ in found]
            self.db.executemany("INSERT INTO gone_words VALUES (?)", rows)
            if has_segments:
                self.db.executemany("INSERT INTO gone_vectors VALUES (?)", rows)
            self.db.executemany("DELETE FROM passage WHERE row = ?", rows)
            for table, name in (("chunk", "record"), ("mention", "record"), ("record", "id")):
                self.db.execute(f"DELETE FROM {table} WHERE {name} = ?", (id,))

    def _count(self, namespace: int, terms: array[int], sign: int) -> None:
        frequencies = self._frequencies[namespace]
        (frequencies.update if sign > 0 else frequencies.subtract)(set(terms))
        self._chunks[namespace] += sign
        self._tokens[namespace] += sign * len(terms)

    def _term(self, word: str) -> int:
        """The number of a word that `terms` does not know; a new one is added."""
        lookup = "SELECT id FROM term WHERE text = ?"
        found = None if self._whole else self.db.execute(lookup, (word,)).fetchone()
        number: int = found[0] if found else self._take("term", 1)
        if not found:
            self._new["term"].append((number, word))
        self.terms[word] = number
        return number

    def _take(self, name: str, count: int) -> int:
        """Reserve `count` numbers; the first of them."""
        if name not in self._next:
            self._next[name] = catalog.take(self.db, name, 0)
        first = self._next[name]
        self._next[name] += count
        return first

    def _forget_terms(self, terms: Iterable[int]) -> None:
        spaces = [id for (id,) in self.db.execute("SELECT id FROM namespace")]
        for term in terms:
            used = any(
                self.db.execute("SELECT 1 FROM df WHERE namespace = ? AND term = ?", (n, term)).fetchone()
                for n in spaces
            )
            if not used:
                (text,) = self.db.execute("SELECT text FROM term WHERE id = ?", (term,)).fetchone()
                self.terms.pop(text, None)
                self.db.execute("DELETE FROM term WHERE id = ?", (term,))

    def _id(self, table: str, column: str, text: str) -> int:
        """The number of a namespace, kind, role or tag; a new one is added."""
        text = cut.sound(text)
        key = (table, text)
        if key not in self._ids:
            self.db.execute(f"INSERT OR IGNORE INTO {table} ({column}) VALUES (?)", (text,))
            found = self.db.execute(f"SELECT id FROM {table} WHERE {column} = ?", (text,))
            (self._ids[key],) = found.fetchone()
        return self._ids[key]


def _closed(span: tuple[int | None, int | None]) -> tuple[int, int]:
    return EARLIEST if span[0] is None else span[0], LATEST if span[1] is None else span[1]


def postings(db: sqlite3.Connection, first: int) -> Iterator[Posting]:
    """What the word index must hold of all chunks from row `first` on."""
    tags: dict[int, list[int]] = defaultdict(list)
    for source, tag in db.execute("SELECT source, tag FROM tagged"):
        tags[source].append(tag)
    mentions: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for record, *span in db.execute(
        "SELECT record, first_ms, last_ms FROM mention WHERE record >= "
        "(SELECT min(record) FROM chunk WHERE row >= ?)",
        (first,),
    ):
        mentions[record].append((span[0], span[1]))
    for row, record, namespace, kind, role, at_ms, inferred, tokens, source, fact, *valid in db.execute(
        "SELECT c.row, c.record, c.namespace, c.kind, c.role, c.at_ms, c.inferred, c.tokens, r.source, "
        "r.fact, r.valid_from, r.valid_to FROM chunk c JOIN record r ON r.id = c.record WHERE c.row >= ?",
        (first,),
    ):
        yield Posting(
            row,
            array("I", tokens),
            namespace,
            kind,
            role,
            tags.get(source, ()),
            None if inferred else at_ms,
            mentions.get(record, ()),
            _closed((valid[0], valid[1])) if fact else None,
        )

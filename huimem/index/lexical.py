"""The word index: tantivy finds the chunks that hold any of some terms, filters applied inside.

In: term ids, and a filter as numbers of the catalog. Out: chunks, the best by tantivy's own score
first. It only finds: ranking is done elsewhere from the catalog's statistics. Terms are indexed by
their ids, so no word of the vault stands in these files.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from huimem import files
from huimem.index.disk import refusals
from huimem.index.rows import UNDATED
from huimem.index.seal import WORDS, Damaged
from huimem.refusals import refused, trial

if TYPE_CHECKING:
    import numpy as np
    import tantivy
    from numpy.typing import NDArray

_HEAP = 64_000_000  # bytes; what one writing thread may hold before it writes a segment


@dataclass(frozen=True, slots=True)
class Posting:
    """One chunk as the word index holds it. `at_ms` None where no exact range may hold the chunk.

    `mentions` and `valid` are half-open milliseconds with their open sides at the ends of time;
    `valid` None for what is no fact. Everything else is numbers of the catalog.
    """

    row: int
    terms: Sequence[int]
    namespace: int
    kind: int
    role: int
    tags: Sequence[int]
    at_ms: int | None
    mentions: Sequence[tuple[int, int]] = ()
    valid: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """A filter in numbers of the catalog. None = all; an empty set lets nothing pass."""

    namespaces: frozenset[int] | None = None
    kinds: frozenset[int] | None = None
    roles: frozenset[int] | None = None
    tags: frozenset[int] | None = None
    spans: tuple[tuple[int, int], ...] = ()
    said_only: bool = False
    current_at: int | None = None
    held: bool = False


@dataclass(frozen=True, slots=True)
class Matches:
    """Chunks that hold words, the likeliest first: parallel arrays of rows, scores and times (or UNDATED).

    Scores say which of them is likelier, and nothing besides.
    """

    rows: NDArray[np.int64]
    scores: NDArray[np.float64]
    at_ms: NDArray[np.int64]

    @classmethod
    def of(
        cls, rows: Sequence[float | None], scores: Sequence[float], times: Sequence[float | None]
    ) -> Matches:
        """The same from lists, None for no time."""
        import numpy as np

        dated = [UNDATED if at is None else at for at in times]
        return cls(np.array(rows, np.int64), np.array(scores, np.float64), np.array(dated, np.int64))

    def only(self, which: NDArray[np.bool_] | NDArray[np.int64] | slice) -> Matches:
        """Those that a mask, places or a slice chooses."""
        return Matches(self.rows[which], self.scores[which], self.at_ms[which])


@dataclass(frozen=True, slots=True)
class Words:
    """One state of the word index, open for searching."""

    index: tantivy.Index
    searcher: tantivy.Searcher
    schema: tantivy.Schema

    @property
    def count(self) -> int:
        """How many chunks it holds."""
        return int(self.searcher.num_docs)

    def find(self, terms: Iterable[int], wanted: Wanted, limit: int, every: Iterable[int] = ()) -> Matches:
        """Chunks that hold one of `terms`, all of `every` and pass `wanted`.

        A record that speaks of several times may pass a range that lies between them; all other
        parts of the filter are exact.
        """
        with _guarded():
            query = _query(self.schema, list(terms), wanted, list(every))
            hits = self.searcher.search(query, limit, count=False).hits
            places = [address for _, address in hits]
            rows = self.searcher.fast_field_values("row", places) if hits else []
            times = self.searcher.fast_field_values("at", places) if hits else []
        return Matches.of(rows, [score for score, _ in hits], times)


def exists(folder: Path) -> bool:
    """Whether there is a word index under the state folder."""
    return os.path.isfile(folder / WORDS / "meta.json")


def open_words(folder: Path) -> Words:
    """The word index under the state folder as last committed. Raises `Damaged` where it cannot be."""
    import tantivy

    path = folder / WORDS
    with _guarded():
        if not exists(folder):
            raise Damaged(f"{WORDS} is missing")
        schema = _schema()
        index = tantivy.Index(schema, path=str(path), reuse=True)
        index.config_reader("manual")
        index.reload()
        return Words(index, index.searcher(), schema)


def reload(words: Words) -> Words:
    """The same index as last committed by any process."""
    with _guarded():
        words.index.reload()
        return Words(words.index, words.index.searcher(), words.schema)


def publish(folder: Path, add: Iterable[Posting], drop: Iterable[int], beyond: int | None) -> None:
    """Commit: first drop chunks `drop` and all rows from `beyond` on, then add. The caller holds the lock.

    Rows from `beyond` on are what a cut-off earlier run left behind; None leaves them. Raises `Damaged`
    where it cannot be done, `WriteFailed` where that is the disk's doing.
    """
    import tantivy

    path = folder / WORDS
    files.make_folder(path)
    with _told_from_refusals(path), _guarded():
        schema = _schema()
        index = tantivy.Index(schema, path=str(path), reuse=True)
        writer = index.writer(heap_size=_HEAP, num_threads=1)
        try:
            # Deleting by term does nothing to a number, and does not say so; deleting by query does.
            writer.delete_documents_by_query(tantivy.Query.term_set_query(schema, "row", list(drop)))
            if beyond is not None:
                unsigned = tantivy.FieldType.Unsigned
                writer.delete_documents_by_query(
                    tantivy.Query.range_query(schema, "row", unsigned, lower_bound=beyond)
                )
            for posting in add:
                writer.add_document(_document(posting))
            writer.commit()
            writer.wait_merging_threads()
        finally:
            del writer  # its lock goes with it, and an error would keep it for as long as it is looked at
    _make_private(path)


def remove(folder: Path) -> None:
    """Take the word index away. Raises `WriteFailed` where the disk refuses."""
    with refusals(folder / WORDS), suppress(FileNotFoundError):
        shutil.rmtree(folder / WORDS)


def _make_private(path: Path) -> None:
    """Tantivy writes with the mode of the process; what it wrote is for its owner alone."""
    with refusals(path), os.scandir(path) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                if entry.stat(follow_symlinks=False).st_mode & 0o077:
                    os.chmod(entry.path, 0o600, follow_symlinks=False)


@contextmanager
def _guarded() -> Iterator[None]:
    """Turn whatever tantivy says of broken files into `Damaged`; its panics are no Exceptions."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise Damaged(f"{WORDS}: {error}") from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise Damaged(f"{WORDS}: {error}") from error


@contextmanager
def _told_from_refusals(path: Path) -> Iterator[None]:
    """Writing threads of tantivy die of a full disk without saying so: then it is no damage."""
    try:
        yield
    except Damaged as damage:
        cause = trial(path)
        if cause is None:
            raise
        raise refused(path, cause) from damage


def _schema() -> tantivy.Schema:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("terms", tokenizer_name="whitespace", index_option="freq")
    builder.add_unsigned_field("row", indexed=True, fast=True)
    for name in ("namespace", "kind", "role", "tag"):
        builder.add_unsigned_field(name, indexed=True)
    for name in ("at", "first", "last", "holds_from", "holds_to"):
        builder.add_integer_field(name, fast=True)
    return builder.build()


def _document(posting: Posting) -> tantivy.Document:
    import tantivy

    document = tantivy.Document()
    document.add_text("terms", " ".join(map(str, posting.terms)))
    document.add_unsigned("row", posting.row)
    document.add_unsigned("namespace", posting.namespace)
    document.add_unsigned("kind", posting.kind)
    document.add_unsigned("role", posting.role)
    for tag in posting.tags:
        document.add_unsigned("tag", tag)
    if posting.at_ms is not None:
        document.add_integer("at", posting.at_ms)
    for first, last in posting.mentions:
        document.add_integer("first", first)
        document.add_integer("last", last)
    if posting.valid is not None:
        document.add_integer("holds_from", posting.valid[0])
        document.add_integer("holds_to", posting.valid[1])
    return document


def _query(schema: tantivy.Schema, terms: list[int], wanted: Wanted, every: list[int]) -> tantivy.Query:
    from tantivy import Occur, Query

    words = [(Occur.Should, Query.term_query(schema, "terms", str(term), "freq")) for term in terms]
    parts = [(Occur.Must, Query.boolean_query(words))]
    parts += [_must(Query.term_query(schema, "terms", str(term), "basic")) for term in every]
    for name, ids in (
        ("namespace", wanted.namespaces),
        ("kind", wanted.kinds),
        ("role", wanted.roles),
        ("tag", wanted.tags),
    ):
        if ids is not None:
            among = [(Occur.Should, Query.term_query(schema, name, id, "basic")) for id in sorted(ids)]
            parts.append(_must(Query.boolean_query(among) if among else Query.empty_query()))
    if wanted.spans:
        times = [(Occur.Should, query) for query in _times(schema, wanted)]
        parts.append(_must(Query.boolean_query(times)))
    if wanted.current_at is not None:
        then = [(Occur.MustNot, query) for query in _held(schema, wanted)]
        for query in _not_holding(schema, wanted.current_at):
            parts.append((Occur.MustNot, Query.boolean_query([(Occur.Must, query), *then])))
    return Query.boolean_query(parts)


def _must(query: tantivy.Query) -> tuple[tantivy.Occur, tantivy.Query]:
    """A filter: it decides and adds nothing to the score."""
    from tantivy import Occur, Query

    return Occur.Must, Query.const_score_query(query, 0.0)


def _times(schema: tantivy.Schema, wanted: Wanted) -> Iterator[tantivy.Query]:
    from tantivy import FieldType, Occur, Query

    whole = FieldType.Integer
    for start, end in wanted.spans:
        yield Query.range_query(schema, "at", whole, start, end, include_upper=False)
        if not wanted.said_only:
            before = Query.range_query(schema, "first", whole, upper_bound=end, include_upper=False)
            after = Query.range_query(schema, "last", whole, lower_bound=start, include_lower=False)
            yield Query.boolean_query([(Occur.Must, before), (Occur.Must, after)])
    yield from _held(schema, wanted)


def _held(schema: tantivy.Schema, wanted: Wanted) -> Iterator[tantivy.Query]:
    """Facts that held at some time in the ranges, where these are to pass."""
    from tantivy import FieldType, Occur, Query

    whole = FieldType.Integer
    for start, end in wanted.spans if wanted.held else ():
        begun = Query.range_query(schema, "holds_from", whole, upper_bound=end, include_upper=False)
        not_over = Query.range_query(schema, "holds_to", whole, lower_bound=start, include_lower=False)
        yield Query.boolean_query([(Occur.Must, begun), (Occur.Must, not_over)])


def _not_holding(schema: tantivy.Schema, instant: int) -> Iterator[tantivy.Query]:
    """Facts that do not hold at `instant`: they begin later, or have ended."""
    from tantivy import FieldType, Query

    whole = FieldType.Integer
    yield Query.range_query(schema, "holds_from", whole, lower_bound=instant, include_lower=False)
    yield Query.range_query(schema, "holds_to", whole, upper_bound=instant)

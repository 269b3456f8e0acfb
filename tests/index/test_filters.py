"""Filters: SQL, the word index and the vectors let the same chunks pass, and exactly those."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from huimem.errors import ConfigError
from huimem.index.embedding import said
from huimem.index.filters import A_WEEK, EARLIEST, LATEST, PART_OF_A_DAY, Filter
from huimem.index.index import Index
from huimem.index.rows import milliseconds
from huimem.index.snapshot import Snapshot
from huimem.index.tokens import query_terms
from huimem.records import Fact, Record, Source
from tests.index.made import EMBEDDER, Files, at, day, fact, opened, source, turn

VAULT = [
    source(
        "a.md",
        turn("2026-04-06 09:00", "index apple", "index pear", session="a"),
        turn("2026-04-07 23:59", "index plum", "late apple", session="a", mentions=[day("2026-04-06")]),
        tags=["fruit", "work"],
    ),
    source(
        "b.md",
        turn("2026-05-01", "index fig", session="b", mentions=[day("2026-06-01"), day("2026-03-20", 30)]),
        turn("2026-05-02", "apple pie", session="b", inferred=True, mentions=[day("2026-04-06")]),
        turn(None, "undated apple index", session="b", line=9),
    ),
    source("c.md", turn("2026-04-06", "alice apple", namespace="alice"), namespace="alice", tags=["work"]),
    source("d.md", turn("2026-04-06", "deep apple", namespace="alice/x"), namespace="alice/x"),
    source(
        "diet.md",
        fact("diet", "2026-04-01", "2026-05-01", "apple only"),
        fact("diet", "2026-05-01", None, "fish and apple"),
        fact("rule", "2026-04-10", None, "index first", kind="instruction"),
    ),
    source("long.md", turn("2026-04-20", "index apple. " * 120, session="long")),
]
WORDS = ("apple", "index", "fig")
TERMS = [term for word in WORDS for term in query_terms(word)]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    files = Files()
    for made in VAULT:
        files.put(made)
    index = opened(tmp_path_factory.mktemp("index") / "state")
    files.sync(index)
    index.embed()
    return index


@pytest.fixture(scope="module")
def snapshot(index: Index) -> Iterator[Snapshot]:
    with index.snapshot() as snapshot:
        yield snapshot


def passes(made: Source, record: Record, message: int, f: Filter) -> bool:
    """The filter's meaning, said in the plainest way."""
    said = record.messages[message]
    checks = [
        f.namespaces is None or made.namespace in f.namespaces,
        not f.kinds or record.kind in f.kinds,
        not f.roles or said.role in f.roles,
        not f.tags or not set(f.tags).isdisjoint(made.tags),
        not f.during
        or held_then(record, f)
        or any(in_time(record, said.at, span, f.said_only, f.longest) for span in f.spans),
    ]
    if isinstance(record, Fact) and f.current_at is not None and not held_then(record, f):
        first, last = validity(record)
        checks.append(first <= f.current_at < last)
    return all(checks)


def held_then(record: Record, f: Filter) -> bool:
    """Whether it is a fact that passes by having held at some time in one of the ranges.

    One that holds for ever passes by long ranges alone.
    """
    if not isinstance(record, Fact) or not f.held or f.said_only:
        return False
    first, last = validity(record)
    return any(
        first < end and last > start and (last != LATEST or end - start > f.longest) for start, end in f.spans
    )


def validity(record: Fact) -> tuple[int, int]:
    start, end = record.valid.start, record.valid.end
    return milliseconds(start) if start else EARLIEST, milliseconds(end) if end else LATEST


def in_time(record: Record, said: object, span: tuple[int, int], said_only: bool, longest: int) -> bool:
    if record.inferred:
        return False
    if said is not None and span[0] <= milliseconds(said) < span[1]:  # type: ignore[arg-type]
        return True
    mentions = () if isinstance(record, Fact) or said_only else record.mentions
    return any(
        speaks_of(milliseconds(one.start), milliseconds(one.end), *span, longest)  # type: ignore[arg-type]
        for one in mentions
    )


def speaks_of(first: int, last: int, start: int, end: int, longest: int) -> bool:
    """Whether a mention means the range: it meets it and is no longer than it, or than `longest`."""
    short = last - first <= max(
        longest, 0 if EARLIEST in (start, end) or LATEST in (start, end) else end - start
    )
    return first < end and last > start and (short or (start <= first and last <= end))


def expected(f: Filter, word: str | None = None) -> set[tuple[str, int]]:
    return {
        (str(record.ref), message)
        for made in VAULT
        for record in made.records
        for message, said in enumerate(record.messages)
        if passes(made, record, message, f) and (word is None or word in said.text)
    }


def named(snapshot: Snapshot, rows: np.ndarray) -> set[tuple[str, int]]:
    found = snapshot.passages(rows)
    refs = {record.id: record.ref for record in snapshot.records(np.unique(found.record).tolist())}
    pairs = zip(found.record.tolist(), found.message.tolist(), strict=True)
    return {(refs[record], message) for record, message in pairs}


APRIL, MAY, JUNE = (milliseconds(at(f"2026-{month}-01")) for month in ("04", "05", "06"))
INSTANTS = sorted({APRIL, MAY, JUNE, *(milliseconds(at(f"2026-04-{d:02}")) for d in (6, 7, 8, 10, 20, 21))})
HOUR = 3_600_000
BOUND = st.sampled_from(INSTANTS)
SPANS = st.one_of(
    st.lists(BOUND, min_size=2, max_size=2, unique=True).map(lambda pair: tuple(sorted(pair))),
    st.tuples(BOUND, st.integers(0, 22)).map(lambda at: (at[0] + at[1] * HOUR, at[0] + (at[1] + 2) * HOUR)),
    BOUND.map(lambda instant: (instant, None)),
    BOUND.map(lambda instant: (None, instant)),
)


def some(*values: str) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(values), max_size=2, unique=True).map(tuple)


FILTERS = st.builds(
    Filter,
    during=st.lists(SPANS, max_size=2).map(tuple),
    said_only=st.booleans(),
    namespaces=st.none() | st.frozensets(st.sampled_from(["", "alice", "alice/x", "nobody"])),
    kinds=some("turn", "preference", "instruction", "unheard-of"),
    roles=some("user", "assistant", "fact"),
    tags=some("fruit", "work", "no such tag"),
    current_at=st.none() | BOUND,
    longest=st.sampled_from([A_WEEK, PART_OF_A_DAY]),
    held=st.booleans(),
)


@given(FILTERS)
def test_every_way_to_filter_lets_the_same_chunks_pass(snapshot: Snapshot, f: Filter) -> None:
    rows = snapshot.rows(f)
    assert named(snapshot, rows) == expected(f)
    assert snapshot.passing(snapshot.rows(Filter(namespaces=None)), f).tolist() == rows.tolist()
    near, cosines = snapshot.nearest(EMBEDDER.embed(["apple"])[0], f, 1000)
    assert sorted(near.tolist()) == rows.tolist() and (np.diff(cosines) <= 0).all()
    assert snapshot.count(f) == len({ref for ref, _ in expected(f)})
    for word in WORDS:
        assert named(snapshot, snapshot.find(query_terms(word), f)) == expected(f, word)


@given(FILTERS, st.integers(1, 12))
def test_a_small_limit_takes_from_what_passes(snapshot: Snapshot, f: Filter, limit: int) -> None:
    passing = len(snapshot.rows(f))
    found = snapshot.find(TERMS, f, limit)
    near, cosines = snapshot.nearest(EMBEDDER.embed(["apple"])[0], f, limit)
    every, scores = snapshot.nearest(EMBEDDER.embed(["apple"])[0], f, 1000)
    matching = set().union(*(expected(f, word) for word in WORDS))
    assert named(snapshot, found) <= matching and len(found) <= limit
    assert len(near) == min(limit, passing)
    assert near.tolist() == every[:limit].tolist() and cosines.tolist() == scores[:limit].tolist()


@given(FILTERS)
def test_searching_without_the_word_index_finds_the_same(snapshot: Snapshot, f: Filter) -> None:
    bare = Snapshot(snapshot.db, None, lambda: None, lambda _: None)
    assert sorted(bare.find(TERMS, f)) == sorted(snapshot.find(TERMS, f))
    assert len(bare.nearest(EMBEDDER.embed(["apple"])[0], f)[0]) == 0


@given(st.lists(st.integers(-3, 60), max_size=12))
def test_passages_come_in_the_order_asked_for(snapshot: Snapshot, rows: list[int]) -> None:
    there = set(snapshot.rows(Filter(namespaces=None)).tolist())
    found = snapshot.passages(np.array(rows, np.int64))
    assert found.rows.tolist() == [row for row in rows if row in there]
    assert found.lengths.sum() == len(found.tokens) and len(found.roles) == len(found.rows)
    assert found.user.tolist() == [role == "user" for role in found.roles]


def test_cosines_are_the_products_with_the_rows_own_vectors(snapshot: Snapshot) -> None:
    rows = snapshot.rows(Filter(namespaces=None))
    query = EMBEDDER.embed(["apple index"])[0]
    near, scores = snapshot.nearest(query, Filter(namespaces=None), 1000)
    by_row = dict(zip(near.tolist(), scores.tolist(), strict=True))
    asked = np.concatenate((rows[::-1], [10**6]))
    expected_scores = [by_row[row] for row in rows[::-1].tolist()] + [0.0]
    assert snapshot.cosines(query, asked).tolist() == pytest.approx(expected_scores, abs=1e-6)
    exact = EMBEDDER.embed([said(snapshot.db, row) or "" for row in rows.tolist()]) @ query
    assert snapshot.cosines(query, rows).tolist() == pytest.approx(exact.tolist(), abs=2e-3)


def test_a_vector_of_another_dimension_is_refused_with_both_numbers(snapshot: Snapshot) -> None:
    for ask in (
        lambda v: snapshot.nearest(v, Filter()),
        lambda v: snapshot.cosines(v, snapshot.rows(Filter())),
    ):
        with pytest.raises(ConfigError, match=r"31 dimensions.*32"):
            ask(np.zeros(31, np.float32))


def test_a_vector_that_is_no_number_finds_nothing(snapshot: Snapshot) -> None:
    rows, scores = snapshot.nearest(np.full(32, np.nan, np.float32), Filter())
    assert len(rows) == len(scores) == 0


def test_unknown_and_empty_terms_find_nothing(snapshot: Snapshot) -> None:
    assert len(snapshot.find([], Filter())) == len(snapshot.find(["zebra", ""], Filter())) == 0
    assert snapshot.term_ids(["zebra"]) == [None] and snapshot.frequencies(["zebra"], None) == [0]


def test_frequencies_count_chunks_of_the_namespaces_asked(snapshot: Snapshot) -> None:
    root = frozenset({""})
    long_passages = len([1 for text in snapshot.texts(snapshot.rows(Filter())) if text.count("apple") > 2])
    assert snapshot.frequencies(["appl"], frozenset({"alice"})) == [1]
    assert snapshot.frequencies(["appl"], root) == [7 - 1 + long_passages - 1 + 1]
    assert snapshot.totals(frozenset({"alice"})) == (1, 2)
    assert snapshot.totals(None)[0] == len(snapshot.rows(Filter(namespaces=None)))


def test_neighbours_stay_in_their_source(snapshot: Snapshot) -> None:
    ids = {r.ref: r.id for r in snapshot.records(range(1, 20))}
    first, second = ids["a#20260406T090000"], ids["a#20260407T235900"]
    assert snapshot.beside(first, 2) == ((), (second,)) and snapshot.beside(second, 1) == ((first,), ())
    rows, _, places = snapshot.around([first], 5)
    assert set(snapshot.passages(rows).record.tolist()) == {first, second}
    assert dict(zip(snapshot.passages(rows).record.tolist(), places.tolist(), strict=True)) == {
        first: 0,
        second: 1,
    }


def test_rows_by_record_and_by_ref(snapshot: Snapshot) -> None:
    rows = snapshot.rows_of_refs(["a#20260406T090000", "no such ref"])
    assert snapshot.texts(rows) == ["index apple", "index pear"]
    assert snapshot.rows_of(snapshot.passages(rows).record.tolist()).tolist() == rows.tolist()


LABELS = [
    (None, {""}),
    ("", {""}),
    ("alice", {"alice"}),
    ("alice/**", {"alice", "alice/x"}),
    ("ali/**", {"ali"}),
    ("**", None),
]


@pytest.mark.parametrize(("asked", "labels"), LABELS)
def test_namespaces_match_by_whole_labels(index: Index, asked: str | None, labels: set[str] | None) -> None:
    assert index.labels(asked) == (None if labels is None else frozenset(labels))


def test_every_word_of_a_long_turn_is_indexed_on_its_own_line(tmp_path: Path) -> None:
    lines = [f"line{n} holds word{n} and some filler text to pass forty words soon." for n in range(200)]
    files = Files()
    files.put(source("a.md", turn("2026-04-06", "\n".join(lines))))
    index = opened(tmp_path / "state", None)
    files.sync(index)
    with index.snapshot() as snapshot:
        for n in (0, 57, 199):
            (row,) = snapshot.find([f"word{n}"], Filter()).tolist()
            first, last = snapshot.chunk(row).lines
            assert first <= 3 + n <= last and f"word{n} " in snapshot.texts([row])[0]

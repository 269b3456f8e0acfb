"""Which passages are judged, and that a score is what the whole session says it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from huimem.config import Ranking
from huimem.index.filters import Filter
from huimem.index.index import Index
from huimem.index.lexical import Matches
from huimem.index.rows import UNDATED
from huimem.index.snapshot import Snapshot
from huimem.recall import candidates
from huimem.recall.candidates import REACH, Judge, frequencies, weighed_terms
from huimem.recall.parts import Part
from huimem.recall.rank import NEAR, Terms
from huimem.recall.wanting import Wanting
from tests.index.made import ALL, Files, opened, source, turn

# A real index: chats of one-line turns, long turns, both mixed, turns that hold nothing to read, two
# files at the same places, and files of one turn.

NAMES = ("kettle", "ladder", "violin")


def line(n: int) -> str:
    return f"{NAMES[n % 3] if n % 5 == 0 else 'something'} number{n} was put away"


def essay(n: int, sentences: int) -> str:
    return " ".join(
        f"Sentence {at} of essay{n} tells at some length how the "
        f"{NAMES[(n + at) % 3] if at % 4 == 0 else 'old thing'} came into the attic and what it stood beside."
        for at in range(sentences)
    )


EMPTY = "<!-- nothing to read -->"


def shapes() -> dict[str, list[tuple[str, ...]]]:
    short = [(line(2 * n), line(2 * n + 1)) for n in range(30)]
    long = [(line(n), essay(n, 30)) for n in range(8)]
    mixed = [(line(n),) if n % 3 else (line(n), essay(n, 17)) for n in range(25)]
    holes = [(EMPTY,) if n % 2 else (line(n),) for n in range(40)]
    return {
        "short": short,
        "long": long,
        "mixed": mixed,
        "holes": holes,
        "one": [(line(5), line(6))],
        "essay": [(essay(3, 60),)],
        "twin": short[:12],
    }


@dataclass(frozen=True)
class Place:
    """A passage of the whole vault: its file, its place there among all passages, its words and speaker."""

    file: str
    at: int
    held: tuple[int, ...]
    user: bool
    asks: float


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    files = Files()
    for name, turns in shapes().items():
        records = [
            turn(f"2026-03-{1 + n // 24:02} {n % 24:02}:00", *texts, session=name, line=1 + 20 * n)
            for n, texts in enumerate(turns)
        ]
        files.put(source(f"{name}.md", *records))
    made = opened(tmp_path_factory.mktemp("candidates") / "state", None)
    files.sync(made)
    # Rewritten in the middle, so that rows no longer rise with places.
    again = [
        turn(f"2026-03-{1 + n // 24:02} {n % 24:02}:00", *texts, session="short", line=1 + 20 * n)
        for n, texts in enumerate([*shapes()["short"][:9], (line(90), line(95)), *shapes()["short"][10:]])
    ]
    files.put(source("short.md", *again))
    files.sync(made)
    yield made
    made.close()


@pytest.fixture(scope="module")
def snapshot(index: Index) -> Iterator[Snapshot]:
    with index.snapshot() as opened_snapshot:
        yield opened_snapshot


@pytest.fixture(scope="module")
def places(snapshot: Snapshot) -> dict[int, Place]:
    """Every passage by its row, by reading all files from beginning to end."""
    found = snapshot.passages(snapshot.rows(ALL))
    records = {one.id: one for one in snapshot.records(np.unique(found.record).tolist())}

    def order(at: int) -> tuple[str, int, int, int]:
        record = records[int(found.record[at])]
        return record.path, record.ord, int(found.message[at]), int(found.rows[at])

    placed: dict[int, Place] = {}
    counted: dict[str, int] = {}
    for at in sorted(range(len(found.rows)), key=order):
        path = records[int(found.record[at])].path
        held = tuple(found.tokens[found.offsets[at] : found.offsets[at + 1]].tolist())
        number = counted[path] = counted.get(path, -1) + 1
        placed[int(found.rows[at])] = Place(path, number, held, bool(found.user[at]), float(found.asks[at]))
    return placed


def test_the_vault_is_as_mixed_as_it_should_be(snapshot: Snapshot, places: dict[int, Place]) -> None:
    counts: dict[str, int] = {}
    for place in places.values():
        counts[place.file] = counts.get(place.file, 0) + 1
    assert counts["short.md"] == 60 and counts["one.md"] == 2 and counts["holes.md"] == 20
    assert counts["long.md"] > 8 * 5 and counts["essay.md"] > REACH
    (emptied,) = snapshot.db.execute(
        "SELECT count(*) FROM record WHERE id NOT IN (SELECT record FROM chunk)"
    ).fetchone()
    assert emptied == 20


RANKING = Ranking(
    k1=1.2,
    b=0.4,
    user_weight=1.7,
    words_weight=1.0,
    neighbour_weight=0.2,
    second_neighbour_weight=0.15,
    around_weight=0.5,
    half=0.5,
)
TERMS = ("kettl", "ladder", "attic", "number12", "nowhere")


def judge(snapshot: Snapshot, terms: tuple[str, ...] = TERMS) -> tuple[Judge, Terms]:
    part = Part(snapshot, ALL)
    (weighed,) = weighed_terms([part], Wanting(terms, (1.0,) * len(terms), {}))
    return Judge(part, weighed, RANKING, None, 10), weighed


def chosen(places: dict[int, Place]) -> st.SearchStrategy[list[int]]:
    return st.lists(st.sampled_from(sorted(places)), min_size=1, max_size=25, unique=True)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whoever_leads_has_the_right_neighbours(
    snapshot: Snapshot, places: dict[int, Place], data: st.DataObject
) -> None:
    rows = data.draw(chosen(places))
    pool = judge(snapshot)[0].judge(np.array(sorted(rows), np.int64)).pool
    seat_of = dict(zip(pool.rows.tolist(), pool.seat.tolist(), strict=True))
    assert len(seat_of) == len(pool.rows), "a passage was judged twice"
    assert (np.diff(pool.seat) > 0).all()
    row_at = {(place.file, place.at): row for row, place in places.items()}
    for row in rows:
        mine = places[row]
        for step in range(-REACH, REACH + 1):
            other = row_at.get((mine.file, mine.at + step))
            if other is not None:
                assert seat_of[other] - seat_of[row] == step
        strangers = [
            other
            for other, seat in seat_of.items()
            if abs(seat - seat_of[row]) <= REACH
            and (places[other].file != mine.file or abs(places[other].at - mine.at) > REACH)
        ]
        assert strangers == []


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_scores_are_those_of_the_whole_session(
    snapshot: Snapshot, places: dict[int, Place], data: st.DataObject
) -> None:
    rows = data.draw(chosen(places))
    judging, terms = judge(snapshot)
    judged = judging.judge(np.array(sorted(rows), np.int64))
    at_of = {row: at for at, row in enumerate(judged.pool.rows.tolist())}
    by_place = {(place.file, place.at): place for place in places.values()}
    for row in rows:
        mine, at = places[row], at_of[row]
        beside = {
            step: place
            for step in range(-NEAR, NEAR + 1)
            if (place := by_place.get((mine.file, mine.at + step))) is not None
        }
        assert judged.scores.words[at] == pytest.approx(words_of(mine, terms))
        lent = sum(
            share * words_of(beside[step], terms)
            for steps, share in (((-1, 1), 0.2), ((-2, 2), 0.15))
            for step in steps
            if step in beside
        )
        assert judged.scores.neighbours[at] == pytest.approx(lent)
        most = judged.scores.words[at] + judged.scores.meaning[at] + judged.scores.neighbours[at]
        around = min(0.5 * around_of(list(beside.values()), terms), most)
        assert judged.scores.around[at] == pytest.approx(around)
        assert judged.scores.meaning[at] == 0
        sums = judged.scores.words[at] + judged.scores.neighbours[at] + judged.scores.around[at]
        assert judged.relevance[at] == pytest.approx(sums / (sums + 0.5))


def words_of(place: Place, terms: Terms) -> float:
    """BM25 as it stands in the textbook (k1 1.2, b .4), as a share, with the weight of a user who tells."""
    damping = 1.2 * (1 - 0.4 + 0.4 * len(place.held) / terms.mean_length)
    total = 0.0
    for term, weight in zip(terms.ids, terms.weights, strict=True):
        count = place.held.count(term) if term is not None else 0
        total += weight * count * 2.2 / (count + damping)
    share = total / (2.2 * sum(terms.weights))
    mere_question = place.asks > 0.9 and len(place.held) < 12
    return share * (1.7 if place.user and not mere_question else 1.0)


def around_of(near: list[Place], terms: Terms) -> float:
    total = 0.0
    for term, weight in zip(terms.ids, terms.weights, strict=True):
        held = sum(term in place.held for place in near) if term is not None else 0
        total += weight * held / (held + 0.5)
    return total / sum(terms.weights)


def test_a_score_does_not_depend_on_who_else_is_judged(snapshot: Snapshot, places: dict[int, Place]) -> None:
    judging, _ = judge(snapshot)
    some = sorted(row for row, place in places.items() if place.file == "mixed.md")[:40:4]
    together = judging.judge(np.array(some, np.int64))
    for row in some:
        alone = judging.judge(np.array([row], np.int64))
        one, other = (float(j.relevance[j.pool.rows == row][0]) for j in (alone, together))
        assert one == pytest.approx(other)


def test_nothing_found_is_nothing_judged(snapshot: Snapshot) -> None:
    judged = judge(snapshot)[0].judge(np.zeros(0, np.int64))
    assert len(judged.pool.rows) == 0 and len(judged.relevance) == 0


def test_words_find_only_what_passes_the_filter(snapshot: Snapshot, places: dict[int, Place]) -> None:
    terms, ids = ("violin",), snapshot.term_ids(["violin"])
    wanting = Wanting(terms, (1.0,), {})
    assert set(judge(snapshot, terms)[0].found(wanting).tolist()) == {
        row for row, place in places.items() if ids[0] in place.held
    }
    asked = Part(snapshot, Filter(namespaces=None, roles=("assistant",)))
    found = Judge(asked, weighed_terms([asked], wanting)[0], RANKING, None, 10).found(wanting)
    assert set(found.tolist()) == {
        row for row, place in places.items() if ids[0] in place.held and not place.user
    }


# Hits asked for, the most that are found, passages judged: of more than that ten, or two for each hit.
BREADTHS = [(1, 30, 10), (5, 30, 10), (6, 30, 12), (15, 30, 30), (1_000, 30, 30), (1, 1_000, None)]


@pytest.mark.parametrize(("limit", "most", "expected"), BREADTHS)
def test_more_passages_are_judged_for_more_hits(
    snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch, limit: int, most: int, expected: int | None
) -> None:
    for name, value in (("FOR_A_HIT", 2), ("LEAST_BY_WORDS", 10), ("MOST_BY_WORDS", most)):
        monkeypatch.setattr(candidates, name, value)
    wanting = Wanting(("kettl",), (1.0,), {})
    asked = Part(snapshot, ALL)
    (every,) = frequencies([asked], wanting.terms)
    assert 30 < every < 1_000
    judging = Judge(asked, weighed_terms([asked], wanting)[0], RANKING, None, limit)
    assert len(judging.found(wanting)) == (every if expected is None else expected)


# Steps in milliseconds, matches as (row, score, time): the rows of the best two of each step
SPREAD = [
    ([(0, 10), (10, 20)], [(1, 9.0, 15), (2, 8.0, 15), (3, 7.0, 15), (4, 1.0, 5)], {1, 2, 4}),
    # a step holds its start and not its end; gaps between steps hold nothing
    ([(0, 10), (12, 20)], [(1, 9.0, 20), (2, 8.0, 12), (3, 7.0, 11), (4, 6.0, 10), (5, 5.0, 9)], {2, 5}),
    # of equally likely ones the latest, wherever they stand in the index
    ([(10, 20)], [(1, 5.0, 11), (2, 5.0, 13), (3, 5.0, 12), (4, 1.0, 19)], {2, 3}),
    ([(0, 10)], [(3, 5.0, 1), (1, 5.0, 1), (2, 5.0, 1)], {1, 2}),
    ([(0, 10)], [(1, 9.0, UNDATED)], set()),
    ([(10, 20), (0, 10)], [], set()),
]


@pytest.mark.parametrize(("steps", "found", "expected"), SPREAD)
def test_the_likeliest_of_every_step_are_judged(
    monkeypatch: pytest.MonkeyPatch,
    steps: list[tuple[int, int]],
    found: list[tuple[int, float, int]],
    expected: set[int],
) -> None:
    monkeypatch.setattr(candidates, "FOR_A_STEP", 2)
    rows, scores, times = ([one[at] for one in found] for at in range(3))
    matches = Matches.of(rows, scores, times)
    assert set(candidates.best_of_each(matches, steps).tolist()) == expected


@pytest.mark.parametrize(("count", "each"), [(1, 50), (10, 50), (16, 32), (104, 5), (1_200, 1)])
def test_of_many_steps_fewer_of_each_are_judged(count: int, each: int) -> None:
    steps = [(step, step + 1) for step in range(count)]
    matches = Matches.of(range(60), [1.0] * 60, [count - 1] * 60)
    assert len(candidates.best_of_each(matches, steps)) == each


def test_what_is_needed_must_stand_there(snapshot: Snapshot, places: dict[int, Place]) -> None:
    """The rarest word of each phrase in the record; which passage of it holds what is seen later."""
    kettle, number, attic = (snapshot.term_ids([term])[0] for term in ("kettl", "number5", "attic"))
    records = dict(zip(*map(np.ndarray.tolist, record_of(snapshot, places)), strict=True))

    def holding(term: int | None) -> set[int]:
        return {records[row] for row, place in places.items() if term in place.held}

    def found(*needed: tuple[str, ...]) -> set[int]:
        wanting = Wanting(("violin", "kettl"), (1.0, 1.0), {}, needed)
        rows = judge(snapshot, wanting.terms)[0].found(wanting).tolist()
        assert all({kettle, number, attic} & set(places[row].held) for row in rows)
        return {records[row] for row in rows}

    assert found(("kettl", "number5")) == holding(number)
    assert found(("kettl",), ("attic",)) == holding(kettle) & holding(attic)
    assert found(("kettl", "nowhere")) == set()
    assert holding(number) and holding(kettle) & holding(attic)


def record_of(snapshot: Snapshot, places: dict[int, Place]) -> tuple[np.ndarray, np.ndarray]:
    found = snapshot.passages(np.array(sorted(places), np.int64))
    return found.rows, found.record


# Weights


def test_words_are_weighed_by_how_far_they_are_trusted(snapshot: Snapshot) -> None:
    part = Part(snapshot, ALL)
    (whole,) = weighed_terms([part], Wanting(("kettl", "violin"), (1.0, 1.0), {}))
    (half,) = weighed_terms([part], Wanting(("kettl", "violin"), (1.0, 0.5), {}))
    assert half.weights == pytest.approx((whole.weights[0], whole.weights[1] / 2))


def test_what_is_hidden_does_not_count(snapshot: Snapshot, places: dict[int, Place]) -> None:
    hidden = replace(ALL, hidden=frozenset({("long.md", 0), ("mixed.md", 0), ("essay.md", 0)}))
    left = [place for place in places.values() if place.file in ("short.md", "holes.md", "one.md", "twin.md")]
    (kettle,) = snapshot.term_ids(["kettl"])
    part = Part(snapshot, hidden)
    assert frequencies([part], ["kettl", "attic"]) == [sum(kettle in place.held for place in left), 0]
    (weighed,) = weighed_terms([part], Wanting(("kettl",), (1.0,), {}))
    assert weighed.mean_length == pytest.approx(sum(len(place.held) for place in left) / len(left))


def test_two_parts_count_as_one(snapshot: Snapshot) -> None:
    one, both = Part(snapshot, ALL), [Part(snapshot, ALL), Part(snapshot, ALL)]
    (alone,) = frequencies([one], ["kettl"])
    assert frequencies(both, ["kettl"]) == [2 * alone]
    first, second = weighed_terms(both, Wanting(("kettl",), (1.0,), {}))
    assert first == second


def test_an_empty_index_weighs_nothing(tmp_path: Path) -> None:
    empty = opened(tmp_path / "state", None)
    with empty.snapshot() as nothing:
        (weighed,) = weighed_terms([Part(nothing, ALL)], Wanting(("a",), (1.0,), {}))
        assert weighed.ids == (None,) and weighed.mean_length == 1.0
        judging = Judge(Part(nothing, ALL), weighed, RANKING, None, 10)
        assert len(judging.found(Wanting(("a",), (1.0,), {}))) == 0
    empty.close()

"""A walk back through the weeks of a vault: what it counts, where it stops, how it goes on, what it costs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from huimem import Memory, Recall, UsageError, files
from huimem.index.seal import SYNC_LOCK
from huimem.recall import candidates
from huimem.recall.candidates import Judge
from huimem.recall.scan import finished
from huimem.records import Walked
from tests.recall.test_scan_steps import NOW, at, edges, span

# week of the vault below: what was said on its Wednesday, a minute apart
TALKS = {
    "2026-04-08": ["The lamp needs oil.", "The boat is late.", "Rain again."],
    "2026-04-01": ["A gull sat on the rail."],
    "2026-03-18": ["The harbour master painted the pier green.", "Bread for two."],
    "2026-02-11": ["The harbour master painted the pier red, long before."],
    "2025-05-07": ["The harbour master bought a brass bell."],
}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    root = tmp_path_factory.mktemp("vault")
    Memory.create(root, tz="Asia/Shanghai").close()
    with Memory.open(root, embedder="none") as made:
        for day, texts in TALKS.items():
            tell(made, f"talk-{day}", day, texts)
        tell(made, "elsewhere", "2026-04-09", ["The harbour master moved to the work shed."], "work")
        yield made


def tell(memory: Memory, session: str, day: str, texts: list[str], namespace: str | None = None) -> None:
    said = [
        {"role": "user", "content": text, "at": at(f"{day} 12:00") + timedelta(minutes=minute)}
        for minute, text in enumerate(texts)
    ]
    memory.record(said, session=session, title=day, namespace=namespace)


def scanned(memory: Memory, text: str, **keywords: Any) -> tuple[list[Walked], Recall]:
    steps: list[Walked] = []
    answer = finished(memory.scan(text, **{"now": NOW, **keywords}), steps.append)
    assert tuple(steps) == answer.scanned
    return steps, answer


def sessions(answer: Recall) -> set[str]:
    return {hit.ref.session for hit in answer.hits}


PIER = "What did the harbour master paint at the pier?"


def weeks_of(steps: list[Walked]) -> list[tuple[str, int]]:
    return [(f"{step.range.local()[0]:%m-%d}", step.turns) for step in steps]


def test_a_walk_counts_what_each_week_holds_and_stops_at_the_answer(memory: Memory) -> None:
    steps, answer = scanned(memory, PIER)
    counts = [("04-13", 0), ("04-06", 3), ("03-30", 1), ("03-23", 0), ("03-16", 2)]
    assert weeks_of(steps) == counts
    assert [step.best > 0 for step in steps] == [False, False, False, False, True]
    assert answer.hits[0].score == pytest.approx(steps[-1].best)
    assert [hit.ref.session for hit in answer.hits[:1]] == ["talk-2026-03-18"]
    assert not answer.exhausted and answer.cursor == at("2026-03-16")


def test_a_walk_goes_on_at_its_cursor(memory: Memory) -> None:
    first = scanned(memory, PIER)[1]
    steps, answer = scanned(memory, PIER, start=first.cursor)
    assert steps[0].range.end == first.cursor
    assert answer.hits[0].ref.session == "talk-2026-02-11"
    assert weeks_of(steps)[-1] == ("02-09", 1)
    assert not answer.exhausted and answer.cursor == at("2026-02-09")


def test_a_walk_that_comes_to_its_limit_is_exhausted_and_says_where_to_go_on(memory: Memory) -> None:
    steps, answer = scanned(memory, "brass bell", weeks=4)
    assert weeks_of(steps) == [("04-13", 0), ("04-06", 3), ("03-30", 1), ("03-23", 0)]
    assert (answer.hits, answer.exhausted, answer.cursor) == ((), True, at("2026-03-23"))
    steps, answer = scanned(memory, "brass bell", weeks=104)
    assert answer.hits[0].ref.session == "talk-2025-05-07"
    assert (answer.exhausted, answer.cursor) == (False, None)  # nothing is older
    steps, answer = scanned(memory, "zeppelin", weeks=104)
    assert (answer.hits, answer.exhausted, answer.cursor) == ((), True, None)
    assert (steps[-1].range.start, len(steps)) == (at("2025-05-05"), 50)


# start of a walk: the first day of its first two steps, and where the first ends
STARTS: list[tuple[Any, list[str]]] = [
    ("2026-03", ["2026-03-30", "2026-03-23", "2026-04-01"]),
    ("2026-W12", ["2026-03-16", "2026-03-09", "2026-03-23"]),
    ("last month", ["2026-03-30", "2026-03-23", "2026-04-01"]),
    ("上个月", ["2026-03-30", "2026-03-23", "2026-04-01"]),
    ("since March 2026", ["2026-04-13", "2026-04-06", "2026-04-15 10:30"]),  # an open end is the present
    (at("2026-03-20 18:00"), ["2026-03-16", "2026-03-09", "2026-03-20 18:00"]),
]


@pytest.mark.parametrize(("start", "steps"), STARTS)
def test_a_walk_begins_at_the_end_of_the_time_it_is_given(
    start: str | datetime, steps: list[str], memory: Memory
) -> None:
    found = [step.range for step in scanned(memory, "zeppelin of last year", start=start, weeks=2)[0]]
    assert edges(found) == steps


def test_the_time_that_a_question_names_is_walked_through(memory: Memory) -> None:
    steps, answer = scanned(memory, f"{PIER} In March 2026")
    assert weeks_of(steps) == [("03-30", 0), ("03-23", 0), ("03-16", 2)]
    steps, answer = scanned(memory, PIER, when="2026-02")
    assert [hit.ref.session for hit in answer.hits] == ["talk-2026-02-11"]


# the times that are named, and how: the days of the steps, and what they hold
TWICE: list[tuple[str, dict[str, Any], list[tuple[str, int]]]] = [
    (PIER, {"when": "2026-04-08, 2026-02-10..2026-02-12"}, [("04-08", 3), ("02-10", 1)]),
    (PIER, {"when": "2026-02-11 和 2026-04-01"}, [("04-01", 1), ("02-11", 1)]),
    (f"{PIER} On 11 February 2026 or on 8 April 2026?", {}, [("04-08", 3), ("02-11", 1)]),
    # with a day on either side
    (f"{PIER} Around 12 February 2026 or around 7 April 2026?", {}, [("04-06", 3), ("02-11", 1)]),
    (
        PIER,
        {"during": [span("2026-02-11", "2026-02-12"), span("2026-04-06", "2026-04-10")]},
        [("04-06", 3), ("02-11", 1)],
    ),
]


@pytest.mark.parametrize(("question", "keywords", "steps"), TWICE)
def test_a_walk_through_two_times_goes_through_these_alone(
    question: str, keywords: dict[str, Any], steps: list[tuple[str, int]], memory: Memory
) -> None:
    found, answer = scanned(memory, question, **keywords)
    assert weeks_of(found) == steps
    assert sessions(answer) == {"talk-2026-02-11"}  # and not that of March, between them
    assert answer.cursor == found[-1].range.start
    going_on = scanned(memory, PIER, start=answer.cursor, weeks=52)[1]
    assert sessions(going_on) == {"talk-2025-05-07"}


# questions that name a time, one of which what was said then answers only because it was said then
NAMED: list[tuple[str, dict[str, Any]]] = [
    (f"{PIER} In March 2026", {}),
    (PIER, {"when": "2026-02"}),
    (PIER, {"during": [span("2026-02-01", "2026-04-01")]}),
    ("Which zeppelin crossed the harbour for a master in March 2026?", {}),
    ("Which zeppelin crossed the harbour for a master around 18 March 2026?", {}),
]


@pytest.mark.parametrize(("question", "keywords"), NAMED)
def test_a_walk_through_a_named_time_judges_as_a_recall_in_it_does(
    question: str, keywords: dict[str, Any], memory: Memory
) -> None:
    asked = memory.recall(question, now=NOW, said_only=True, **keywords)
    walked = scanned(memory, question, enough=9.0, **keywords)[1]
    assert walked.hits == asked.hits != ()
    assert (walked.best, walked.floor) == (asked.best, asked.floor)
    assert {factor.note for hit in walked.hits for factor in hit.factors if factor.name == "time"} == {
        "said then"
    }


VAGUE = ["Which pier was painted recently?", "最近 harbour master painted the pier 是什么时候？"]


@pytest.mark.parametrize("question", VAGUE)
def test_vague_words_of_both_languages_walk_by_themselves(question: str, memory: Memory) -> None:
    answer = memory.recall(question, now=NOW)
    assert answer.vague and answer.scanned
    assert sessions(answer) == {"talk-2026-03-18"}  # and not that of February
    assert memory.recall(question, now=NOW, scan=False).scanned == ()
    assert sessions(memory.recall(question, now=NOW, scan=False)) >= {"talk-2026-03-18", "talk-2026-02-11"}


def test_without_vague_words_nothing_is_walked_unless_it_is_asked_for(memory: Memory) -> None:
    assert memory.recall(PIER, now=NOW).scanned == ()
    assert memory.recall(PIER, now=NOW, scan=True).scanned == tuple(scanned(memory, PIER)[0])


def test_beyond_a_vague_window_is_walked_only_while_nothing_was_found(memory: Memory) -> None:
    answer = memory.recall("Who bought the brass bell recently?", now=NOW, weeks=52)
    assert [hit.ref.session for hit in answer.hits] == ["talk-2025-05-07"]


def test_a_walk_stays_in_its_namespace_and_its_filters(memory: Memory) -> None:
    steps, answer = scanned(memory, "harbour master", namespace="work")
    assert weeks_of(steps) == [("04-13", 0), ("04-06", 1)]
    assert [hit.ref.namespace for hit in answer.hits] == ["work"]
    assert {hit.ref.namespace for hit in scanned(memory, "harbour master")[1].hits} == {""}
    assert scanned(memory, PIER, kinds=["note"])[1].exhausted
    assert scanned(memory, PIER, kinds=["note"])[0] == []  # no note has a time


def test_only_what_was_said_in_a_week_counts_for_it(memory: Memory) -> None:
    """What speaks of a time is found by its own time, so no record stands in two weeks."""
    tell(memory, "told", "2026-04-14", ["On 2026-03-18 a heron watched the harbour."])
    try:
        steps, answer = scanned(memory, "heron")
        assert weeks_of(steps) == [("04-13", 1)] and answer.hits[0].ref.session == "told"
    finally:
        (path,) = memory.vault.root.rglob("told.md")
        path.unlink()
        memory.sync()


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A talk of April, and what holds since days before and after it."""
    root = tmp_path_factory.mktemp("held")
    Memory.create(root, tz="Asia/Shanghai").close()
    with Memory.open(root, embedder="none") as made:
        tell(made, "talk", "2026-04-01", ["A gull sat on the rail.", "Bread for two."])
        made.remember("The heron nests in the reeds.", key="heron", kind="preference", at=at("2026-04-08"))
        made.remember("Feed the otter at noon.", key="otter", kind="instruction", at=at("2026-02-11"))
        made.remember(
            "The otter came from the lake.", key="lake", kind="fact", at=at("2025-11-05"), tags=["x"]
        )
        yield made


# what is asked, how: the steps that hold an answer, how many there are, whether anything older is left
HELD: list[tuple[str, dict[str, Any], str, int, str | None]] = [
    ("heron reeds", {}, "04-06", 2, "2026-04-06"),
    ("heron reeds", {"kinds": ["preference"]}, "04-06", 2, None),
    ("feed the otter", {"kinds": ["instruction"]}, "02-09", 10, None),
    # older than anything that was said
    ("otter lake", {"kinds": ["fact"], "weeks": 52}, "11-03", 24, None),
    ("from the lake", {"weeks": 52}, "11-03", 24, None),
    ("otter lake", {"tags": ["x"], "weeks": 52}, "11-03", 24, None),
]


@pytest.mark.parametrize(("question", "keywords", "week", "count", "cursor"), HELD)
def test_a_walk_comes_to_what_holds_since_a_day(
    question: str, keywords: dict[str, Any], week: str, count: int, cursor: str | None, held: Memory
) -> None:
    steps, answer = scanned(held, question, **keywords)
    assert (weeks_of(steps)[-1], len(steps)) == ((week, 0), count)  # nobody said it then
    assert len(answer.hits) == 1 and answer.hits[0].score == pytest.approx(steps[-1].best)
    assert (answer.exhausted, answer.cursor) == (False, cursor and at(cursor))
    assert {week for week, turns in weeks_of(steps) if turns} <= {"03-30"}


class Calls:
    """How often something is called; it is done all the same."""

    def __init__(self) -> None:
        self.count = 0

    def of(self, real: Any) -> Any:
        def counted(*given: Any, **named: Any) -> Any:
            self.count += 1
            return real(*given, **named)

        return counted


@pytest.mark.parametrize("weeks", [1, 104])
def test_all_weeks_are_judged_in_one_pass(
    weeks: int, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged, searched = Calls(), Calls()
    monkeypatch.setattr(Judge, "judge", judged.of(Judge.judge))
    monkeypatch.setattr(Judge, "found", searched.of(Judge.found))
    answer = finished(memory.scan("zeppelin harbour", now=NOW, weeks=weeks, enough=1.0))
    assert len(answer.scanned) == (1 if weeks == 1 else 50)
    assert (judged.count, searched.count) == (1, 1)


def test_a_longer_walk_finds_what_a_shorter_one_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many short texts of old weeks are likelier by words alone than the long ones of the last week."""
    smaller = {"MOST_BY_WORDS": 20, "LEAST_BY_WORDS": 10, "FOR_A_HIT": 1, "LEADERS": 5, "MORE_LEADERS": 1}
    for name, value in smaller.items():
        monkeypatch.setattr(candidates, name, value)
    harbour = " while we walked along the harbour and looked at the boats until it began to rain again"
    Memory.create(tmp_path, tz="Asia/Shanghai").close()
    with Memory.open(tmp_path, embedder="none") as made:
        for week in range(10):
            day = f"{NOW - timedelta(weeks=week):%Y-%m-%d}"
            texts = [f"The accountant wrote{harbour}."] * 3 if week == 0 else [f"accountant {week}."] * 6
            tell(made, f"talk-{week}", day, texts)
        short = scanned(made, "accountant", now=NOW + timedelta(hours=9), weeks=1)[1]
        long = scanned(made, "accountant", now=NOW + timedelta(hours=9), weeks=10)[1]
    assert [(step.turns, pytest.approx(step.best)) for step in long.scanned] == [(3, short.scanned[0].best)]
    assert [hit.ref for hit in long.hits] == [hit.ref for hit in short.hits] and long.hits


def test_a_walk_sees_what_the_index_does_not_hold_yet(memory: Memory) -> None:
    fresh = memory.vault.root / "sessions/2026-W13/heron.md"
    fresh.parent.mkdir(parents=True, exist_ok=True)
    fresh.write_text("## User · 2026-03-25 09:00:00\n\nA heron took the eel.\n", encoding="utf-8")
    try:
        with files.lock(memory.vault.state / SYNC_LOCK):
            steps, answer = scanned(memory, "heron eel")
            assert memory.index.counts().sources == len(TALKS) + 1
        assert weeks_of(steps) == [("04-13", 0), ("04-06", 3), ("03-30", 1), ("03-23", 1)]
        assert answer.hits[0].path == "sessions/2026-W13/heron.md"
    finally:
        fresh.unlink()
        memory.sync()


def test_a_walk_that_is_left_behind_harms_nothing(memory: Memory) -> None:
    going = memory.scan(PIER, now=NOW)
    assert next(going).turns == 0
    going.close()
    assert scanned(memory, PIER)[1].hits


def test_a_walk_that_is_ended_answers_from_what_it_came_to(memory: Memory) -> None:
    going = memory.scan("harbour lamp", now=NOW, enough=1.0)
    next(going)
    assert next(going).turns == 3
    with pytest.raises(StopIteration) as end:
        going.send(True)
    answer: Recall = end.value.value
    assert sessions(answer) == {"talk-2026-04-08"}
    assert (len(answer.scanned), answer.exhausted, answer.cursor) == (2, False, at("2026-04-06"))


def test_a_walk_that_finds_nothing_near_enough_tells_which_week_came_nearest(memory: Memory) -> None:
    steps, answer = scanned(memory, "Which zeppelin crossed the harbour for a master?", enough=0.0, weeks=104)
    assert (answer.hits, answer.exhausted, answer.cursor) == ((), True, None)
    assert 0 < answer.best < answer.floor
    nearest = max(steps, key=lambda step: step.best)
    assert weeks_of([nearest]) == [("03-16", 2)]
    harbour = ("03-16", "02-09", "05-05")
    assert [step.best > 0 for step in steps] == [week in harbour for week, _ in weeks_of(steps)]


def test_a_walk_that_begins_before_all_that_was_said_names_the_nearest_day(memory: Memory) -> None:
    for keywords in ({"start": "2001"}, {"when": "2001"}, {"start": at("2025-05-05")}):
        steps, answer = scanned(memory, PIER, **keywords)
        assert (steps, answer.hits, answer.exhausted, answer.cursor) == ([], (), True, None)
        assert [one.local()[0] for one in answer.nearest] == [at("2025-05-07")]
    assert scanned(memory, PIER, start="2025-05")[1].nearest == ()


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"start": "bananas"}, "names no time"),
    ({"start": "2026-03", "when": "2026-02"}, "named twice"),
    ({"start": datetime(2026, 3, 1)}, "start needs a zone"),
    ({"weeks": 0}, "cannot go 0 weeks"),
    ({"weeks": 10**7}, "cannot go 10,000,000 weeks"),
]


@pytest.mark.parametrize(("keywords", "says"), REFUSED)
def test_a_walk_that_cannot_be_is_refused_before_its_first_step(
    keywords: dict[str, Any], says: str, memory: Memory
) -> None:
    with pytest.raises(UsageError, match=says):
        memory.scan(PIER, now=NOW, **keywords)


def test_as_many_weeks_as_no_calendar_has_are_everything(memory: Memory) -> None:
    assert scanned(memory, "zeppelin", weeks=5_200)[0][-1].range.start == at("2025-05-05")
    assert memory.recall("zeppelin recently", now=NOW, weeks=5_200).exhausted


def test_an_empty_vault_is_walked_in_no_step(tmp_path: Path) -> None:
    Memory.create(tmp_path, tz="Asia/Shanghai").close()
    with Memory.open(tmp_path, embedder="none") as empty:
        steps, answer = scanned(empty, "anything")
    assert (steps, answer.exhausted, answer.cursor) == ([], True, None)

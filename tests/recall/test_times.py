"""Time in a question: said then or spoken of, lists of a time, ranges that would hide everything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from huimem import Memory, Recall, TimeRange, overview
from huimem.recall.query import Keywords, Options, make
from huimem.records import Reading, Resolution

ZONE = ZoneInfo("Asia/Shanghai")
NOW = datetime(2026, 5, 20, 10, 0, tzinfo=ZONE)

# session: when it began, then what the user said, a minute apart
TALKS: dict[str, tuple[str, ...]] = {
    "songs": ("2026-04-28 09:00", "Old songs of the nineties, which ones?", "Another old song, please."),
    "kiln": ("2026-05-01 10:00", "The kiln is warm.", "Firing takes nine hours.", "Cool it slowly."),
    "glaze": ("2026-05-01 18:00", "A glaze for the kiln?"),
    "report": ("2026-05-02 09:00", "Two bowls cracked in the kiln on 2026-05-01.", "What a pity."),
    "market": ("2026-05-06 08:00", "Market stall booked: 2026-05-30, bring bowls."),
    "late": ("2026-05-18 21:00", "A lamp for the kiln room."),
}


def day(text: str, days: int = 1) -> TimeRange:
    return TimeRange.days_from(datetime.fromisoformat(text), days, ZONE)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    root = tmp_path_factory.mktemp("vault")
    Memory.create(root, tz="Asia/Shanghai").close()
    with Memory.open(root, embedder="none") as made:
        for name, (first, *texts) in TALKS.items():
            at = datetime.fromisoformat(first).replace(tzinfo=ZONE)
            said = [
                {"role": "user", "content": text, "at": at + timedelta(minutes=n)}
                for n, text in enumerate(texts)
            ]
            made.record(said, session=name, title=f"about {name}")
        (root / "untimed.md").write_text(
            "# Untimed\n\nThe kiln stood here on 2026-05-01.\n", encoding="utf-8"
        )
        yield made


def found(memory: Memory, question: str, **keywords: Any) -> list[str]:
    return [hit.ref.session for hit in memory.recall(question, now=NOW, **keywords).hits]


def times(answer: Recall) -> dict[str, tuple[float, str]]:
    """The time factor of each hit, by session."""
    return {
        hit.ref.session: (factor.value, factor.note)
        for hit in answer.hits
        for factor in hit.factors
        if factor.name == "time"
    }


def test_what_speaks_of_a_day_passes_beside_what_was_said_then_and_a_little_lower(memory: Memory) -> None:
    answer = memory.recall("kiln 2026-05-01", now=NOW)
    assert times(answer) == {
        "kiln": (1.0, "said then"),
        "glaze": (1.0, "said then"),
        "report": (0.9, "speaks of it"),
    }
    for hit in answer.hits:
        relevance, time = hit.factors
        assert hit.score == pytest.approx(relevance.value * time.value)


def test_said_alone_leaves_out_what_only_speaks_of_it(memory: Memory) -> None:
    assert set(found(memory, "kiln 2026-05-01", said_only=True)) == {"kiln", "glaze"}


def test_the_weight_of_speaking_is_a_setting(memory: Memory) -> None:
    with Memory.open(memory.vault.root, embedder="none", **{"ranking.speaks_of": 0.5}) as other:
        assert times(other.recall("kiln 2026-05-01", now=NOW))["report"] == (0.5, "speaks of it")


def test_guessed_times_lie_in_no_range_and_speak_of_none(memory: Memory) -> None:
    assert "untimed" in found(memory, "kiln stood", limit=20)
    assert "untimed" not in found(memory, "kiln stood 2026-05-01", limit=20)


def test_a_list_of_records_holds_what_was_said_then(memory: Memory) -> None:
    listed = overview.listed(memory, now=NOW, when="2026-05-01")
    assert {one.title for one in listed} == {"about kiln", "about glaze"}


LISTS = [
    # a question of time and frame: its sessions with their turns in that time
    ("2026-05-01", [("kiln", 3), ("glaze", 1), ("report", 1)]),
    ("what happened on 2026-05-01?", [("kiln", 3), ("glaze", 1), ("report", 1)]),
    ("what did we talk about on 2026-05-01?", [("kiln", 3), ("glaze", 1)]),
    ("2026-05-01聊了什么", [("kiln", 3), ("glaze", 1)]),
    ("2026-05-01 發生了什麼事", [("kiln", 3), ("glaze", 1), ("report", 1)]),
    ("what did we discuss 2026-05-01..2026-05-02", [("kiln", 3), ("glaze", 1), ("report", 2)]),
    ("what is on 2026-05-30", [("market", 1)]),
    ("what did we say about 2026-05-30?", [("market", 1)]),  # nothing was said on a day to come
]


@pytest.mark.parametrize(("question", "sessions"), LISTS)
def test_time_without_content_lists_its_sessions_in_order(
    question: str, sessions: list[tuple[str, int]], memory: Memory
) -> None:
    answer = memory.recall(question, now=NOW)
    assert [(hit.ref.session, hit.records) for hit in answer.hits] == sessions
    assert answer.sessions == len(sessions) and answer.nearest == ()
    assert [hit.title for hit in answer.hits] == [f"about {name}" for name, _ in sessions]


def test_a_limit_keeps_the_first_sessions_and_says_how_many_there_are(memory: Memory) -> None:
    answer = memory.recall("2026-04 to 2026-05", limit=2, now=NOW)
    assert ([hit.ref.session for hit in answer.hits], answer.sessions) == (["songs", "kiln"], 6)


def test_a_frame_with_a_time_given_beside_it_lists_too(memory: Memory) -> None:
    assert found(memory, "what did we talk about?", when="2026-05-02") == ["report"]
    assert found(memory, "what did we talk about last week?", when="2026-05-02") == ["report"]
    assert found(memory, "我们聊了什么", during=(day("2026-05-02"),)) == ["report"]


def test_content_is_searched_for_within_the_time(memory: Memory) -> None:
    answer = memory.recall("what did we decide on 2026-05-01", now=NOW)
    assert (answer.query.terms, answer.sessions) == (("decid",), 0)
    assert answer.hits == ()


EMPTY = [
    ("what did we talk about on 2026-05-04?", ["2026-05-02", "2026-05-06"]),
    ("2026-04-01", ["2026-04-28"]),
    ("what happened on 2026-05-19", ["2026-05-18"]),
    ("2026-05-03 and 2026-05-04", ["2026-05-02", "2026-05-06"]),
    ("what happened in 1999-05", ["2026-04-28"]),
]


@pytest.mark.parametrize(("question", "days"), EMPTY)
def test_an_empty_time_names_the_nearest_days_that_hold_something(
    question: str, days: list[str], memory: Memory
) -> None:
    answer = memory.recall(question, now=NOW)
    assert (answer.hits, answer.sessions, answer.nearest) == ((), 0, tuple(map(day, days)))


def test_a_session_that_grew_is_one_entry_before_and_after_it_is_taken_in(tmp_path: Path) -> None:
    Memory.create(tmp_path / "v", tz="Asia/Shanghai").close()
    with Memory.open(tmp_path / "v", embedder="hashing") as memory:
        first = {"role": "user", "content": "The kiln is warm.", "at": "2026-05-01T10:00:00"}
        memory.record([first], session="kiln")
        memory.sync()
        more = {"role": "user", "content": "It cools, see 2026-04-30.", "at": "2026-05-01T11:00:00"}
        memory.record([first, more], session="kiln")

        def asked() -> list[list[tuple[str, int, list[tuple[float, str]]]]]:
            return [
                [(str(hit.ref), hit.records, [(f.value, f.note) for f in hit.factors]) for hit in answer.hits]
                for question in ("2026-05-01", "2026-04-30", "what did we say 2026-05-01")
                for answer in [memory.recall(question, now=NOW)]
            ]

        beside = asked()
        memory.sync()
        assert asked() == beside
        assert [[records for _, records, _ in one] for one in beside] == [[2], [1], [2]]


UNUSED = [
    ("old songs 1990-01-01..1999-12-31", "songs", "nothing here is as old as “1990-01-01..1999-12-31”"),
    ("old songs of 2026-03", "songs", "nothing here is as old as “2026-03”"),
    ("bowls cracked 2026-07-01", "report", "nothing speaks of “2026-07-01” yet"),
]


@pytest.mark.parametrize(("question", "first", "why"), UNUSED)
def test_a_range_in_which_nothing_can_lie_is_no_filter_and_the_answer_says_so(
    question: str, first: str, why: str, memory: Memory
) -> None:
    answer = memory.recall(question, now=NOW)
    assert answer.hits[0].ref.session == first
    assert answer.warnings == (f"{why}; searched without it",)
    assert answer.readings and answer.query.during == answer.query.named == ()
    assert times(answer) == {}


def test_the_words_of_a_range_that_is_not_used_are_searched_for(memory: Memory) -> None:
    query = memory.recall("nineties 2026-03-17 kiln 1999-12-31", now=NOW).query
    assert query.text == "nineties 2026-03-17 kiln 1999-12-31"
    assert query.terms == ("nineti", "2026", "kiln")  # of the others nothing here was ever said
    assert "2026" not in memory.recall("songs of 2026-04-28", now=NOW).query.text
    assert memory.recall("bowls 2026-07-01", now=NOW).query.terms == ("bowl",)


def test_words_that_mean_another_time_each_day_are_not_searched_for(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def resolve(text: str, now: datetime) -> Resolution | None:
        before = TimeRange.days_from(now - timedelta(days=300), 1, ZONE)
        return reads("another time", reading(before))(text, now)

    monkeypatch.setattr(memory, "resolve", resolve)
    answer = memory.recall("old songs another time", now=NOW)
    assert answer.query.terms == ("old", "song")  # though one of them says “Another”
    assert answer.warnings == ("nothing here is as old as “another time”; searched without it",)


def test_a_range_that_reaches_the_first_day_only_by_its_margin_is_used(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = reads("about then", reading(day("2026-04-27"), fuzzy=True))
    monkeypatch.setattr(memory, "resolve", about)
    answer = memory.recall("old songs about then", now=NOW)
    assert (answer.warnings, set(times(answer).values())) == ((), {(0.9, "said about then")})


def test_of_several_ranges_the_useful_ones_stay(memory: Memory) -> None:
    answer = memory.recall("kiln 1999-12-31 or 2026-05-18", now=NOW)
    assert (answer.query.during, [hit.ref.session for hit in answer.hits]) == ((day("2026-05-18"),), ["late"])


def test_nothing_is_said_in_the_future_whatever_speaks_of_it(memory: Memory) -> None:
    (warning,) = memory.recall("bowls 2026-05-30", now=NOW, said_only=True).warnings
    assert warning == "nothing can have been said in “2026-05-30” yet; searched without it"


def test_what_speaks_of_the_future_answers_for_it(memory: Memory) -> None:
    assert found(memory, "bowls 2026-05-30") == ["market"]
    assert times(memory.recall("bowls 2026-05-30", now=NOW)) == {"market": (0.9, "speaks of it")}


@pytest.mark.parametrize("keywords", [{"when": "2026-03"}, {"during": (day("2026-03-01", 31),)}])
def test_a_time_given_beside_the_question_is_a_demand(keywords: Keywords, memory: Memory) -> None:
    answer = memory.recall("old songs", now=NOW, **keywords)
    assert (answer.hits, answer.warnings, answer.nearest) == ((), (), (day("2026-04-28"),))


def test_the_oldest_time_is_that_of_the_namespace_asked(memory: Memory, tmp_path: Path) -> None:
    Memory.create(tmp_path / "v", tz="Asia/Shanghai").close()
    with Memory.open(tmp_path / "v", embedder="none") as made:
        for namespace, at in ((None, "2026-05-01T10:00:00"), ("old", "2024-05-01T10:00:00")):
            made.record([{"role": "user", "content": "The kiln.", "at": at}], namespace=namespace)
        facts = tmp_path / "v" / "facts"
        facts.mkdir()
        (facts / "birth.md").write_text(
            "---\nhuimem: 1\nkey: birth\n---\n\n## 1990-05-01 →\n\nBorn.\n", "utf-8"
        )
        assert len(found(made, "kiln 2024-05")) == 1
        assert len(found(made, "kiln 2024-05", namespace="**")) == 1
        assert made.recall("kiln 2024-05", now=NOW).warnings != ()
        assert made.recall("kiln 2024-05", now=NOW, namespace="**").warnings == ()
        assert made.recall("kiln 2024-06", now=NOW, namespace="old").hits == ()


def test_where_nothing_has_a_known_time_no_range_of_a_question_narrows_it(tmp_path: Path) -> None:
    Memory.create(tmp_path / "v", tz="UTC").close()
    (tmp_path / "v" / "kiln.md").write_text("# Kiln\n\nThe kiln is warm.\n", encoding="utf-8")
    with Memory.open(tmp_path / "v", embedder="none") as made:
        answer = made.recall("warm kiln 2026-05-01", now=NOW)
    assert [hit.ref.session for hit in answer.hits] == ["kiln"]
    assert answer.warnings == (
        "nothing here has a known time, so “2026-05-01” cannot narrow it; searched without it",
    )


# Time words of any language: a reading made by hand stands for the resolver's.


def reads(words: str, resolution: Resolution) -> Any:
    """How a resolver would read a text that holds `words`, which all readings of `resolution` stand for."""

    def resolve(text: str, now: datetime) -> Resolution | None:
        at = text.find(words)
        if at < 0:
            return None
        place = (at, at + len(words))
        readings = tuple(replace(reading, span=place) for reading in resolution.readings)
        return replace(resolution, readings=readings, vague_spans=(place,) if resolution.vague else ())

    return resolve


def reading(span: TimeRange, grain: str = "day", *, fuzzy: bool = False) -> Resolution:
    return Resolution((Reading(span, grain, (0, 0), fuzzy, False, ""),))


MARGINS = [
    (day("2026-05-01"), "day", day("2026-04-30", 3)),
    (day("2026-05-04", 7), "week", day("2026-04-27", 21)),
    (day("2026-05-01", 2), "day", day("2026-04-30", 4)),
    (day("2026-05-01", 10), "month", day("2026-04-21", 30)),  # never more than its own length
    (TimeRange(day("2026-05-01").start, None, ZONE), "day", TimeRange(day("2026-04-30").start, None, ZONE)),
]


@pytest.mark.parametrize(("span", "grain", "during"), MARGINS)
def test_about_a_time_lets_one_unit_more_pass(span: TimeRange, grain: str, during: TimeRange) -> None:
    about = reads("about then", reading(span, grain, fuzzy=True))
    query = make("kiln about then", Options(), NOW, about).query
    assert (query.named, query.during) == ((span,), (during,))
    listing = make("what did we say about then", Options(), NOW, about).query
    assert (listing.text, listing.during) == ("", (span,))
    exact = make("kiln about then", Options(), NOW, reads("about then", reading(span, grain))).query
    assert exact.during == (span,)


def test_what_lies_in_the_margin_counts_as_said_about_then(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = reads("大概五月二号", reading(day("2026-05-02"), fuzzy=True))
    monkeypatch.setattr(memory, "resolve", about)
    assert times(memory.recall("大概五月二号 kiln", now=NOW)) == {
        "kiln": (0.9, "said about then"),
        "glaze": (0.9, "said about then"),
        "report": (1.0, "said then"),
    }


WINDOW = TimeRange(day("2026-05-01").start, day("2026-05-20").end, ZONE)
VAGUE = [
    (WINDOW, ["late", "market", "report"], 5),
    (None, ["late", "market", "report"], 7),
]


@pytest.mark.parametrize(("window", "first", "count"), VAGUE)
def test_vague_words_alone_list_the_newest_sessions(
    window: TimeRange | None, first: list[str], count: int, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "resolve", reads("最近", Resolution(vague=True, window=window)))
    answer = memory.recall("我们最近聊了什么", limit=3, now=NOW, kinds=("turn", "note"))
    known = [hit.ref.session for hit in answer.hits if not hit.record.inferred]
    assert known[: len(first)] == first[: len(known)]
    assert (answer.sessions, answer.vague, answer.query.during) == (count, True, ())


def test_vague_words_are_not_searched_for_and_filter_nothing(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        memory, "resolve", reads("recently", Resolution(vague=True, window=day("2026-05-18")))
    )
    answer = memory.recall("which songs recently", now=NOW)
    assert {hit.ref.session for hit in answer.hits} == {"songs"}
    assert (answer.query.terms, answer.vague) == (("song",), True)
    assert times(answer) == {}


def test_a_time_phrase_may_have_little_words_around_it(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "resolve", reads("2026-05-02", reading(day("2026-05-02"))))
    assert set(found(memory, "kiln", when="on 2026-05-02")) == {"report"}


def test_four_figures_alone_are_a_year_where_a_time_is_asked_for(memory: Memory) -> None:
    answer = memory.recall("kiln", when="2026", now=NOW)
    assert answer.resolution is not None
    (one,) = answer.resolution.readings
    assert (one.grain, one.span) == ("year", (0, 4))
    assert one.range.contains(NOW)
    assert memory.recall("kiln 2026", now=NOW).resolution is None


@pytest.mark.parametrize("question", ["kiln last week", "kiln recently", "上周 kiln", "kiln of 1998-06"])
def test_a_time_given_beside_the_question_takes_the_place_of_its_own(question: str, memory: Memory) -> None:
    query = memory.recall(question, when="2026-05-01", now=NOW).query
    # What is the same on any day may be what is asked about.
    assert (query.terms == ("kiln",)) is ("1998" not in question)
    assert query.named == (day("2026-05-01"),)


def test_a_list_of_a_vague_time_is_of_its_window(memory: Memory) -> None:
    assert [one.title for one in overview.listed(memory, now=NOW, when="the other day")] == ["about late"]
    assert len(overview.listed(memory, now=NOW, when="long ago", limit=50)) == 11
    answer = memory.recall("what did we talk about just now?", now=NOW)
    assert (answer.hits, answer.nearest) == ((), (day("2026-05-18"),))


def test_a_limit_leaves_out_what_only_speaks_of_the_time_first(memory: Memory) -> None:
    assert found(memory, "2026-05-10 to 2026-05-30") == ["market", "late"]
    assert found(memory, "2026-05-10 to 2026-05-30", limit=1) == ["late"]


def test_lists_of_different_times_are_different_answers(memory: Memory) -> None:
    first, second, third = (memory.recall(f"2026-05-0{n}", now=NOW).id for n in (1, 2, 1))
    assert first == third != second

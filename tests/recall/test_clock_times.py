"""A clock time in a question: of what was said then, of what speaks of it, or of what it is about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from huimem import Memory
from huimem.recall.periods import names_a_clock
from huimem.recall.query import Keywords
from huimem.when import resolve

NOW = datetime(2026, 5, 20, 10, 0, tzinfo=ZoneInfo("Asia/Shanghai"))

# the night before NOW at 20:18: what is said in the vault beside the train → what is found first, warnings
AT_A_CLOCK = [
    ("On 2026-05-19 the kiln gets bricks for the train shed.", "train", 1),
    ("The week of 2026-05-18 belongs to the train shed.", "train", 1),
    ("Bricks for the train shed come on 2026-05-19 at 20:18.", "other", 0),
    ("Bricks for the train shed come on the evening of 2026-05-19.", "other", 0),
    ("Bricks for the train shed come in the night of 2026-05-19.", "other", 0),
]
# the train leaves at 20:18 → how it is asked for
CLOCKS = [
    "8 pm",
    "about 8 pm",
    "between 8 and 10 pm",
    "8:15 to 9:45 pm",
    "after 8 pm",
    "晚上8点左右",
    "20:18",
]
# what is said on 11 May, with a vague word or without, and questions for its clock time
CALLS = [
    "Call with Ana at 15:00. She has been busy recently.",
    "Call with Ana at 15:00.",
    "15:00给Ana打电话。她最近很忙。",
]


# day and text of each session, by name
Telling = Callable[[dict[str, tuple[str, str]]], Memory]


@pytest.fixture
def telling(tmp_path: Path) -> Iterator[Telling]:
    """A memory of sessions of one message each, said at five in the afternoon."""
    Memory.create(tmp_path / "v", tz="Asia/Shanghai").close()
    with Memory.open(tmp_path / "v", embedder="none") as made:

        def tell(sessions: dict[str, tuple[str, str]]) -> Memory:
            for name, (day, text) in sessions.items():
                made.record([{"role": "user", "content": text, "at": f"{day}T17:00:00"}], session=name)
            return made

        yield tell


def beside_the_train(text: str) -> dict[str, tuple[str, str]]:
    return {"train": ("2026-05-03", "The night train leaves at 20:18."), "other": ("2026-05-03", text)}


@pytest.mark.parametrize(("text", "first", "warnings"), AT_A_CLOCK)
@pytest.mark.parametrize("question", ["the 8:18 pm train", "8:18 pm的train"])
def test_who_speaks_of_a_day_speaks_of_no_clock_time_of_it(
    question: str, text: str, first: str, warnings: int, telling: Telling
) -> None:
    answer = telling(beside_the_train(text)).recall(question, now=NOW)
    assert (answer.hits[0].ref.session, len(answer.warnings)) == (first, warnings)
    for warning in answer.warnings:
        assert warning == "nothing was said or is told of at “8:18 pm”; searched without it"


@pytest.mark.parametrize("clock", CLOCKS)
def test_a_clock_time_of_what_is_looked_for_hides_it_not(clock: str, telling: Telling) -> None:
    memory = telling(beside_the_train("On 2026-05-19 the kiln gets bricks for the train shed."))
    assert memory.recall(f"the night train {clock}", now=NOW).hits[0].ref.session == "train"


@pytest.mark.parametrize("said", CALLS)
def test_who_tells_of_a_clock_time_means_that_of_the_day_whatever_else_is_vague(
    said: str, telling: Telling
) -> None:
    memory = telling({"old": ("2026-05-01", "Soup."), "call": ("2026-05-11", said)})
    for question in ("what happened on 2026-05-11 at 3 pm", "Ana 2026-05-11 15:00"):
        answer = memory.recall(question, now=NOW)
        assert [hit.ref.session for hit in answer.hits] == ["call"] and not answer.warnings


LISTS = [
    "最近晚上聊了什么",
    "what did we talk about recently in the evening",
    "what did we say the other day at 3 pm",
]


NAMED: list[Keywords] = [
    {"when": "recently at 10 pm"},
    {"when": "最近晚上八点"},
    {"start": "recently at 10 pm"},
]


@pytest.mark.parametrize("question", LISTS)
def test_a_time_of_day_beside_vague_words_is_not_searched_for(question: str, telling: Telling) -> None:
    memory = telling({"soup": ("2026-05-19", "Soup.")})
    assert [hit.ref.session for hit in memory.recall(question, now=NOW).hits] == ["soup"]


@pytest.mark.parametrize("named", NAMED)
def test_a_time_of_day_beside_vague_words_is_a_time_that_can_be_named(
    named: Keywords, telling: Telling
) -> None:
    assert telling({"soup": ("2026-05-19", "Soup.")}).recall("soup", now=NOW, **named).hits


EVENING = datetime(2026, 5, 20, 19, 0, tzinfo=ZoneInfo("Asia/Shanghai"))
# asked on that evening, whether the time is set aside
COMING = [
    ("for tonight's restaurant, what can Maria not eat?", True),
    ("tonight’s dinner: what can Maria not eat?", True),
    ("what can Maria eat for this week", True),
    ("今晚的餐厅，Maria 不能吃什么", True),
    ("what did Maria say tonight?", False),
    ("yesterday's restaurant: what could Maria not eat?", False),
    ("今晚的聊天里 Maria 说了什么", False),
    ("今晚 Maria 说不能吃什么", False),
]


@pytest.mark.parametrize(("question", "aside"), COMING)
def test_what_is_of_a_time_that_is_not_over_was_not_said_then(
    question: str, aside: bool, telling: Telling
) -> None:
    memory = telling({"allergy": ("2026-05-03", "Maria 不能吃花生: she cannot eat peanuts.")})
    answer = memory.recall(question, now=EVENING)
    assert [hit.ref.session for hit in answer.hits] == ["allergy"] * aside
    assert any("yet; searched without it" in line for line in answer.warnings) == aside


def test_what_speaks_of_a_time_that_is_not_over_answers_for_it(telling: Telling) -> None:
    told = {
        "allergy": ("2026-05-03", "Maria cannot eat peanuts in a restaurant."),
        "plan": ("2026-05-19", "Tomorrow evening we take Maria to the restaurant by the lake."),
    }
    answer = telling(told).recall("tonight's restaurant with Maria", now=EVENING)
    assert ([hit.ref.session for hit in answer.hits], answer.warnings) == (["plan"], ())


# Relative to the moment of asking; nothing said there has to do with it.
RELATIVE = [
    "what did we say about the train in the last two hours",
    "what did we say about the train an hour ago",
    "the train of the last 30 minutes",
    "过去两个小时火车怎么了",
    "半小时前说的火车",
]
WORDY = "Two hours before the last race, 30 minutes of rest; 两个小时之前先休息半小时。"


@pytest.mark.parametrize("question", RELATIVE)
def test_a_stretch_before_now_stays_a_filter_and_its_words_are_never_searched_for(
    question: str, telling: Telling
) -> None:
    memory = telling({"train": ("2026-05-03", "The train, 火车, was late."), "race": ("2026-05-04", WORDY)})
    answer = memory.recall(question, now=NOW)
    assert (answer.hits, answer.warnings) == ((), ())
    assert len(answer.query.during) == 1 and set(answer.query.terms) <= {"train", "火车"}
    assert [one.local()[0].isoformat() for one in answer.nearest] == ["2026-05-04T00:00:00+08:00"]


@pytest.mark.parametrize("question", RELATIVE)
def test_what_was_said_in_it_answers(question: str, telling: Telling) -> None:
    memory = telling({"train": ("2026-05-20", "The train, 火车, was late."), "race": ("2026-05-04", WORDY)})
    now = datetime(2026, 5, 20, 17, 55, tzinfo=ZoneInfo("Asia/Shanghai"))
    now = now.replace(minute=30) if "30" in question or "半" in question else now
    assert [hit.ref.session for hit in memory.recall(question, now=now).hits] == ["train"]


@pytest.mark.parametrize("question", ["a train in the next two hours", "接下来两个小时的火车"])
def test_a_stretch_behind_now_is_set_aside_without_its_words(question: str, telling: Telling) -> None:
    memory = telling({"train": ("2026-05-03", "The train, 火车, was late."), "race": ("2026-05-04", WORDY)})
    answer = memory.recall(question, now=NOW)
    assert [hit.ref.session for hit in answer.hits] == ["train"]
    assert answer.query.during == () and set(answer.query.terms) <= {"train", "火车"}
    assert [line.split("“")[0] for line in answer.warnings] == ["nothing speaks of "]


MOVES = [
    ("the last two hours", True),
    ("an hour ago", True),
    ("half an hour ago", True),
    ("过去两个小时", True),
    ("this hour", True),
    ("8:18 pm", False),
    ("after 8 pm", False),
    ("before 8 am", False),
    ("since 8 pm", False),
    ("yesterday at 3 pm", False),
    ("2026-05-19 20:18", False),
    ("晚上8点左右", False),
]


@pytest.mark.parametrize("hour", [0, 10, 23])
@pytest.mark.parametrize(("phrase", "moves"), MOVES)
def test_a_clock_time_is_the_same_at_any_hour_of_asking(phrase: str, moves: bool, hour: int) -> None:
    now = NOW.replace(hour=hour, minute=40)
    found = resolve(phrase, now)
    assert found is not None
    (reading,) = found.readings
    assert names_a_clock(reading, phrase, now, resolve) is not moves


# what is said at five in the afternoon of 19 May of the evening to come → how that is asked for the next day
TO_COME = [
    ("Dinner with Lena at 8 pm.", "what was at 8 pm yesterday"),
    ("今晚八点和Lena吃饭。", "昨晚八点和谁吃饭"),
    ("晚上八点和Lena吃饭。", "昨天晚上八点和谁吃饭"),
    ("The workshop runs from 7 to 9 pm.", "the workshop at 8 pm yesterday"),
]


@pytest.mark.parametrize(("text", "question"), TO_COME)
def test_a_clock_time_that_is_told_of_is_still_to_come_that_day(
    text: str, question: str, telling: Telling
) -> None:
    memory = telling({"told": ("2026-05-19", text), "other": ("2026-05-18", "The gate needs oil.")})
    answer = memory.recall(question, now=NOW)
    assert [hit.ref.session for hit in answer.hits] == ["told"]
    assert not answer.warnings

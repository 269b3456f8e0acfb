"""A clock time in a question: of what was said then, of what speaks of it, or of what it is about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from huimem import Memory
from huimem.recall.query import Keywords

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

"""A piece of talk handed over as a question: what has to do with it is looked for, whenever that was."""

from __future__ import annotations

import pytest

from huimem import Memory
from tests.recall.made import NOW, told

TALKS = {
    "english": "Mia: The tram was late yesterday.\nOtto: Is it ever on time now?\nMia: The blue one is.",
    "chinese": "米亚：昨天电车又晚了。\n奥托：现在有准时的吗？\n米亚：蓝色的那辆电车准时。",
}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    talks = {"tram": "The blue tram, 蓝色电车, stops at the harbour.", "soup": "The soup was cold."}
    return told(tmp_path_factory.mktemp("pasted") / "vault", talks)


@pytest.mark.parametrize("talk", TALKS.values(), ids=TALKS)
def test_times_in_a_piece_of_talk_limit_nothing(memory: Memory, talk: str) -> None:
    answer = memory.recall(talk, now=NOW)
    assert answer.query.during == () and not answer.query.latest and not answer.scanned
    assert [hit.ref.session for hit in answer.hits][:1] == ["tram"]


@pytest.mark.parametrize("talk", TALKS.values(), ids=TALKS)
def test_the_same_in_a_line_is_a_question_about_that_time(memory: Memory, talk: str) -> None:
    assert memory.recall(talk.replace("\n", " "), now=NOW).query.during != ()


def test_a_time_that_is_demanded_limits_a_piece_of_talk_too(memory: Memory) -> None:
    assert memory.recall(TALKS["english"], now=NOW, when="yesterday").query.during != ()


def test_two_lines_are_a_question(memory: Memory) -> None:
    assert memory.recall("About the tram:\nwhat was said yesterday?", now=NOW).query.during != ()

"""What is left of a question without its time words: a frame, or something to search for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from huimem.recall.frames import LONGEST, asks_for_talk, is_frame

# The blanks stand for time words.
FRAMES = [
    "",
    " ?",
    "what did we talk about          ?",
    "What did we discuss on           ",
    "what happened           ",
    "what went on",
    "What was going on           ?",
    "what did I do           ",
    "What did you tell me            ?",
    "what have we said in           ?",
    "show me everything from           ",
    "Please give me a summary of our conversations in           .",
    "recap          ",
    "What did I work on           ?",
    "What's new           ?",
    "          : what did we chat about",
    "what did we talk about           ? Anything new?",
    "   聊了什么",
    "我们   说了啥",
    "我们  都聊了些什么？",
    "   的聊天记录",
    "   我们谈过哪些话题",
    "   發生了什麼事",
    "   我們討論了什麼",
    "总结一下   的对话",
    "   有什么",
    "我   做了什么呢",
    "what did we talk about    聊了什么",
    "do you remember what we talked about           ?",
    "A summary of          , please",
    "hey, remind me what we discussed          ",
    "which topics came up           ?",
    "what questions did I ask          ",
    "WHAT DID WE TALK ABOUT          ",
    "还记得   我们聊了什么吗",
    "   我问了你什么问题",
    "   有没有聊什么",
    "   说过的话",
    "what did I write down           ?",
    "what did I note           ",
    "which notes did we take           ?",
    "What did I jot down           ",
    "what was I writing           ",
    "   的笔记",
    "what was recorded           ",
    "   记了什么",
    "   我们商量了什么",
    "   两个人商量了些什么事",
    "   俩人聊了啥",
    "   我记下了哪些事",
    "   我记录了些什么",
    "   写了什么",
    "   写下的内容",
    "   記了什麼",
]
CONTENT = [
    "what did we decide           ?",
    "which index did we choose",
    "what did Mina say           ",
    "what did we say about Go           ",
    "what did IT tell us           ",
    "IT           ",
    "           GO?",
    "US           ",
    "   没有回答的邮件",
    "what did we talk about          , the kiln?",
    "soup",
    "E1042",
    "what did we say about 42",
    "what did I promise",
    "what did we plan for           ",
    "   决定了什么",
    "   和小明聊了什么",
    "   聊的小说",
    "   说好的报价是多少",
    "   房租交了吗",
    "   同事说了什么",
    "我们   讨论的合约",
    "что мы обсуждали",
    "what did we do " + "and do " * 40,
    "what did I write to Mina           ",
    "which record did I buy           ",
    "the record           ",
    "   写的代码",
    "   记的账",
]


@pytest.mark.parametrize("text", FRAMES)
def test_a_frame_holds_nothing_to_search_for(text: str) -> None:
    assert is_frame(text)


@pytest.mark.parametrize("word", ["看", "聊天记录", "提到", "有没有", "记录", "说"])
def test_a_long_run_of_frame_words_costs_no_more_than_its_length(word: str) -> None:
    run = word * (LONGEST // len(word) - 1)
    assert is_frame(run) and not is_frame(run + "狗")  # by trying all ways to cut it this would take years


@pytest.mark.parametrize("text", CONTENT)
def test_one_word_of_content_is_searched_for(text: str) -> None:
    assert not is_frame(text)


# Written by people who had not seen the words of frames: label, question with its time in <>.
LINES = (Path(__file__).parents[2] / "fixtures/recall/frames.tsv").read_text(encoding="utf-8").splitlines()
ASKED = [tuple(line.split("\t")) for line in LINES if not line.startswith("#")]


@pytest.mark.parametrize(("label", "question"), ASKED)
def test_what_people_ask_for_besides_a_time(label: str, question: str) -> None:
    assert is_frame(re.sub("<.*?>", lambda time: " " * len(time[0]), question)) is (label == "list")


def test_as_many_ask_for_a_topic_as_for_a_list() -> None:
    labels = [label for label, _ in ASKED]
    assert min(labels.count("list"), labels.count("topic")) >= 60 and len(ASKED) >= 130


TALK = [
    ("what did we talk about", True),
    ("what was said", True),
    ("聊了什么", True),
    ("我们說了啥", True),
    ("聊天记录", True),
    ("what did I note", True),
    ("what did I write down", True),
    ("记了什么", True),
    ("what happened", False),
    ("what did I do", False),
    ("发生了什么", False),
    ("还记得发生了什么吗", False),
    ("還記得做了什麼", False),
    ("", False),
]


@pytest.mark.parametrize(("text", "talk"), TALK)
def test_a_frame_says_whether_talk_is_asked_for(text: str, talk: bool) -> None:
    assert asks_for_talk(text) is talk

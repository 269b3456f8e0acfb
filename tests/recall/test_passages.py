"""Passages: files and hits in, a context and a budget → what a model reads, counted by hand.

A label such as `User · 2026-04-06 09:00: ` costs 44 quarters of a token, a letter one, a mark two, a
Chinese character or … four.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from huimem.recall.budget import tokens
from huimem.recall.passages import Filled, passages_of, shortfall
from huimem.recall.pieces import pieces
from huimem.records import Hit, Message, Record, Ref, Source, Turn
from huimem.vault.sources import source_of

ZONE = ZoneInfo("Asia/Shanghai")
CODE = "\n".join(f"step({number})" for number in range(100))
HALF = "Half an hour on foot, along the dyke and over the bridge."

# path: messages as (role, time, text), a new turn at each user message
TALKS = {
    "heron": [
        ("User", "09:00", "Where do the herons nest?"),
        ("Assistant", "09:00", "In the old alder."),
        ("User", "09:05", "How many eggs?"),
        ("Assistant", "09:05", "Three. They are blue. Both birds sit on them."),
        ("User", "09:10", "And when do they hatch?"),
        ("Assistant", "09:10", "In four weeks."),
        ("User", "09:20", "Who else lives there?"),
        ("Assistant", "09:20", "Two owls."),
    ],
    "copy": [
        ("User", "10:00", "Where do   the herons\nnest?"),
        ("Assistant", "10:00", "In the old alder."),
        ("User", "10:05", "How far is it from here to the old alder by the water?"),
        ("Assistant", "10:05", HALF),
    ],
    "again": [
        ("User", "11:00", "Yes?"),
        ("User", "11:05", "How far is it from here to the old alder by the water?"),
        ("Assistant", "11:05", HALF),
        ("User", "11:10", "And by boat?"),
        ("User", "11:15", "Yes?"),
    ],
    "namespaces/ann/sessions/heron": [
        ("User", "09:20", "Who else lives there?"),
        ("Assistant", "09:20", "Two owls."),
    ],
    "鹭": [
        ("User", "09:00", "鹭鸟在哪里筑巢？"),
        ("Assistant", "09:00", "在老桤木上。一共三只蛋。两只鸟轮流孵。"),
        ("User", "09:05", "几周孵出来？"),
        ("Assistant", "09:05", "四周。"),
    ],
    "list": [
        ("User", "09:00", "What to pack?"),
        ("Assistant", "09:00", "Pack these:\n\n1. The tent.\n2. The stove.\n3. The map."),
    ],
    "code": [("User", "09:00", f"Look:\n\n```python\n{CODE}\n```\n\nWhy is it slow?")],
    "short code": [("User", "09:00", "Look:\n\n```sh\nmake all\nmake test\n```\n\nIt fails. Why does it?")],
    "tool": [
        ("User", "09:00", "Is the lamp lit?"),
        ("Tool (lamp)", "09:00", "state: lit"),
        ("Assistant", "09:00", "It is lit. Nothing to do."),
    ],
    "hidden": [
        ("User", "09:00", "First line.\n<!-- nobody\nreads this -->\nThe key hangs left. ^key\nLast line."),
    ],
    "endless": [("User", "09:00", "we went on " * 40 + "then the fog came" + " and we went back" * 40)],
    "twice": [("User", "09:00", "Yes, do.\n\nNot yet.\n\nYes, do.")],
}  # fmt: skip


def source(path: str) -> Source:
    told = [
        f"## {role} · 2026-04-06 {at}:{n:02}\n\n{text}\n" for n, (role, at, text) in enumerate(TALKS[path])
    ]
    front = f"---\nhuimem: 1\nid: s{[*TALKS].index(path)}\ntitle: {path}\ntz: Asia/Shanghai\n---\n\n"
    return source_of((front + "\n".join(told)).encode(), f"{path}.md", zone=ZONE)


SOURCES = {one.path: one for one in map(source, TALKS)}


def hit(path: str, evidence: str, nth: int = 0) -> Hit:
    """The nth place of a file that holds these words."""
    file = SOURCES[f"{path}.md"]
    for record in file.records:
        for number, message in enumerate(record.messages):
            at = message.text.find(evidence)
            while at >= 0:
                if not nth:
                    line = message.text_line + message.text.count("\n", 0, at)
                    return hit_on(file, record, number, evidence, line)
                nth, at = nth - 1, message.text.find(evidence, at + 1)
    raise AssertionError(f"{path} does not say {evidence}")


def hit_on(file: Source, record: Record, message: int, evidence: str, line: int) -> Hit:
    return Hit(record.ref, record, file.path, line, file.title, file.tags, message, evidence, ())


ALDER = "User · 2026-04-06 09:00: Where do the herons nest?\n\nAssistant: In the old alder."
EGGS = "User · 2026-04-06 09:05: How many eggs?\n\nAssistant: Three. They are blue. Both birds sit on them."
HATCH = "User · 2026-04-06 09:10: And when do they hatch?\n\nAssistant: In four weeks."
OWLS = "User · 2026-04-06 09:20: Who else lives there?\n\nAssistant: Two owls."
COPY = "User · 2026-04-06 10:00:\nWhere do   the herons\nnest?\n\nAssistant: In the old alder."
BLUE = hit("heron", "They are blue.")
FAR = "User · 2026-04-06 10:05: How far is it from here to the old alder by the water?"
FAR += f"\n\nAssistant: {HALF}"


@dataclass(frozen=True)
class Case:
    name: str
    hits: Sequence[Hit]
    texts: Sequence[str]
    context: int = 0
    budget: int | None = None
    left_out: Sequence[int] = ()


CASES = [
    Case("a turn whole", [BLUE], [EGGS]),
    Case("neighbours in the order of the file", [BLUE], ["\n\n".join([ALDER, EGGS, HATCH])], context=1),
    Case(
        "neighbourhoods that touch are one passage",
        [hit("heron", "Two owls."), hit("heron", "In the old alder.")],
        ["\n\n".join([ALDER, EGGS, HATCH, OWLS])],
        context=1,
    ),
    Case(
        "neighbourhoods that overlap too, each turn once",
        [hit("heron", "In four weeks."), BLUE],
        ["\n\n".join([ALDER, EGGS, HATCH, OWLS])],
        context=1,
    ),
    Case("others are two, the better first", [hit("heron", "In four weeks."), hit("heron", "alder")], [
        HATCH, ALDER]),
    Case(
        "one after the other without neighbours",
        [hit("heron", "In four weeks."), BLUE],
        ["\n\n".join([EGGS, HATCH])],
    ),
    # 49 quarters for the label, 15 for the words, 12 for the marks, 2 for the empty line
    Case("the evidence first", [BLUE], ["…\n\nAssistant · 2026-04-06 09:05: …They are blue.…"], budget=20),
    Case("not even that", [BLUE], [], budget=19, left_out=[0]),
    Case(
        "then how its turn begins",
        [BLUE],
        ["User · 2026-04-06 09:05: How many eggs?\n\nAssistant: …They are blue.…"],
        budget=24,
    ),
    Case(
        "then what follows the evidence",
        [BLUE],
        ["User · 2026-04-06 09:05: How many eggs?\n\nAssistant: …They are blue. Both birds sit on them."],
        budget=30,
    ),
    Case("then what stands before it", [BLUE], [EGGS], budget=31),
    Case(
        "then the next turn from its beginning",
        [BLUE],
        [f"{EGGS}\n\nUser · 2026-04-06 09:10: And when do they hatch?\n\n…"],
        context=1,
        budget=50,
    ),
    Case("whole where it fits", [BLUE], [f"{EGGS}\n\n{HATCH}"], context=1, budget=55),
    Case(
        "then the turn before from its end",
        [BLUE],
        ["\n\n".join(["…\n\nAssistant · 2026-04-06 09:00: In the old alder.", EGGS, HATCH])],
        context=1,
        budget=74,
    ),
    Case("a turn between two that has no room leaves a mark",
        [hit("heron", "In the old alder."), hit("heron", "In four weeks.")],
        [f"{ALDER}\n\n…\n\n{HATCH}"],
        context=1,
        budget=52,
    ),
    Case(
        "the evidence of all comes before the rest of the first",
        [BLUE, hit("heron", "Two owls.")],
        [
            "…\n\nAssistant · 2026-04-06 09:05: …They are blue.…",
            "…\n\nAssistant · 2026-04-06 09:20: Two owls.",
        ],
        budget=37,
    ),
    Case("a smaller hit fits where a better one does not",
         [hit("copy", HALF), hit("heron", "Two owls.")], [OWLS], budget=23, left_out=[0]),
    Case("what was said twice is said once", [hit("copy", "alder"), hit("heron", "alder")], [COPY]),
    Case("but not in the memories of two",
         [hit("heron", "owls"), hit("namespaces/ann/sessions/heron", "owls")], [OWLS, OWLS]),
    Case(
        "a neighbour that was said in another passage is left out, a short one stays",
        [hit("copy", "Half an hour"), hit("again", "And by boat?")],
        [f"{COPY}\n\n{FAR}",
         "User · 2026-04-06 11:10: And by boat?\n\nUser · 2026-04-06 11:15: Yes?"],
        context=1,
    ),
    Case(
        "with what lies behind it",
        [hit("copy", "Half an hour"), hit("again", "And by boat?")],
        [f"{COPY}\n\n{FAR}",
         "User · 2026-04-06 11:00: Yes?\n\n…\n\n"
         "User · 2026-04-06 11:10: And by boat?\n\nUser · 2026-04-06 11:15: Yes?"],
        context=2,
    ),
    Case("中文：先放证据", [hit("鹭", "一共三只蛋。")], [
        "…\n\nAssistant · 2026-04-06 09:00: …一共三只蛋。…"], budget=22),
    Case("中文：再放问题", [hit("鹭", "一共三只蛋。")], [
        "User · 2026-04-06 09:00: 鹭鸟在哪里筑巢？\n\nAssistant: …一共三只蛋。…"], budget=31),
    Case("中文：整轮", [hit("鹭", "一共三只蛋。")], [
        "User · 2026-04-06 09:00: 鹭鸟在哪里筑巢？\n\nAssistant: 在老桤木上。一共三只蛋。两只鸟轮流孵。"],
        budget=42),
    Case("a number stays with its item", [hit("list", "2. The stove.")], [
        "…\n\nAssistant · 2026-04-06 09:00:\n…\n2. The stove.\n…"], budget=21),
    Case("then the question, then the items behind", [hit("list", "2. The stove.")], [
        "User · 2026-04-06 09:00: What to pack?\n\nAssistant:\n…\n2. The stove.\n3. The map."], budget=27),
    Case("a fence is closed and opened where code is left out", [hit("code", "step(50)")], [
        "User · 2026-04-06 09:00:\n…\n```python\n…\nstep(50)\n…\n```\n…"], budget=24),
    Case("inside a fence only the mark stands", [hit("code", "step(50)")], [
        "User · 2026-04-06 09:00:\nLook:\n\n```python\nstep(0)\n…\nstep(50)\n…\n```\n…"], budget=28),
    Case("a short fence is whole or not there", [hit("short code", "It fails.")], [
        "User · 2026-04-06 09:00:\n…\nIt fails. Why does it?"], budget=19),
    Case("what tools said comes last", [hit("tool", "It is lit.")], [
        "User · 2026-04-06 09:00: Is the lamp lit?\n\n…\n\nAssistant: It is lit. Nothing to do."], budget=27),
    Case("and does come", [hit("tool", "It is lit.")], [
        "User · 2026-04-06 09:00: Is the lamp lit?\n\nlamp: state: lit\n\n"
        "Assistant: It is lit. Nothing to do."], budget=31),
    Case("what nobody reads is not shown", [hit("hidden", "The key hangs left. ^key")], [
        "User · 2026-04-06 09:00:\nFirst line.\nThe key hangs left.\nLast line."]),
    Case("a text without a full stop is cut at its evidence", [hit("endless", "then the fog came")], [
        "User · 2026-04-06 09:00: …then the fog came…"], budget=18),
    Case("of equal words those on the hit's line", [hit("twice", "Yes, do.", 1)], [
        "User · 2026-04-06 09:00:\n…\nYes, do."], budget=15),
]  # fmt: skip


def filled(case: Case, budget: int | None) -> Filled:
    return passages_of(case.hits, SOURCES, case.context, budget)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_passages(case: Case) -> None:
    made = filled(case, case.budget)
    assert [one.text for one in made.passages] == list(case.texts)
    assert made.left_out == tuple(case.left_out)
    assert [one.cut for one in made.passages] == ["…" in text for text in case.texts]
    assert [one.tokens for one in made.passages] == [tokens(text) for text in case.texts]


TIGHT = [case for case in CASES if case.budget is not None and case.texts]


@pytest.mark.parametrize("case", TIGHT, ids=[case.name for case in TIGHT])
def test_every_token_of_these_budgets_is_needed(case: Case) -> None:
    assert case.budget is not None
    assert [one.text for one in filled(case, case.budget - 1).passages] != list(case.texts)


def test_a_passage_names_its_turns_its_hits_and_its_lines() -> None:
    (one,) = passages_of([hit("heron", "Two owls."), BLUE], SOURCES, 1).passages
    assert (one.path, one.title, one.hits) == ("heron.md", "heron", (0, 1))
    assert [str(ref) for ref in one.refs] == [str(record.ref) for record in SOURCES["heron.md"].records]
    assert one.lines == (8, 38)


LINES = [
    ("from the heading where a message is shown from its beginning", BLUE, 31, (16, 22)),
    ("from its own line otherwise", BLUE, 20, (22, 22)),
    ("a list item", hit("list", "2. The stove."), 21, (17, 17)),
    ("behind a comment", hit("hidden", "The key hangs left."), 19, (13, 13)),
]


@pytest.mark.parametrize(("case", "found", "budget", "lines"), LINES, ids=[row[0] for row in LINES])
def test_lines_are_those_of_what_is_shown(case: str, found: Hit, budget: int, lines: tuple[int, int]) -> None:
    (one,) = passages_of([found], SOURCES, 0, budget).passages
    assert one.lines == lines


def test_what_says_the_same_is_named() -> None:
    hits = [
        hit("copy", "Half an hour"),
        hit("heron", "owls"),
        hit("again", "And by boat?"),
        hit("copy", "alder"),
    ]
    hits.append(hit("heron", "In the old alder."))
    made = passages_of(hits, SOURCES, 1)
    assert [one.hits for one in made.passages] == [(0, 3), (1,), (2,)]
    also = [[str(ref) for ref in one.also] for one in made.passages]
    again, heron = SOURCES["again.md"].records, SOURCES["heron.md"].records
    assert also == [[str(heron[0].ref), str(again[1].ref)], [], []]


def test_the_reader_is_told_what_did_not_fit() -> None:
    hits = [BLUE, hit("endless", "then the fog came"), hit("heron", "In four weeks.")]
    made = passages_of(hits, SOURCES, 0, 19)
    assert shortfall(made, 3, 19) == "2 of 3 hits do not fit into 19 tokens; 54 hold the evidence of all"
    assert passages_of(hits, SOURCES, 0, 54).left_out == ()
    assert passages_of(hits, SOURCES, 0, 53).left_out != ()
    one = passages_of([BLUE], SOURCES, 0, 19)
    assert shortfall(one, 1, 19) == "1 of 1 hit does not fit into 19 tokens; 20 hold the evidence of all"
    assert shortfall(passages_of(hits, SOURCES, 0, 1_000), 3, 1_000) == ""


COSTS = [
    ("", 0), ("four", 1), ("fives", 2), ("3.14", 2), ("租房", 2), ("a租", 2), ("naïve", 2), ("🏠", 2),
    ("\ud800", 1),
]  # fmt: skip


@pytest.mark.parametrize(("text", "cost"), COSTS)
def test_tokens_are_estimated_by_sort_of_character(text: str, cost: int) -> None:
    assert tokens(text) == cost


@given(st.text(), st.text())
def test_joined_texts_cost_no_more_than_their_parts(one: str, other: str) -> None:
    assert tokens(one) <= tokens(one + other) <= tokens(one) + tokens(other)


PIECES = [
    ("One. Two! Three", ["One.", " Two!", " Three"]),
    ("一说完了。二在这里。", ["一说完了。", "二在这里。"]),
    ("## Plan\n\nGo north. Then east.", ["## Plan\n\nGo north.", " Then east."]),
    ("Pack:\n\n- a tent\n- a map\n", ["Pack:\n\n- a tent\n", "- a map\n"]),
    ("Run:\n\n```\na. b\nc\n```\n\nDone.", ["Run:\n\n```\na. b\nc\n```\n\n", "Done."]),
    ("\n\n  ", []),
]


@pytest.mark.parametrize(("text", "parts"), PIECES)
def test_a_text_may_be_cut_between_sentences_items_and_blocks(text: str, parts: list[str]) -> None:
    assert [text[start:end] for start, end in pieces(text)] == parts


@given(st.text(st.sampled_from("ab 。.!#-1`\n|"), max_size=300))
def test_pieces_tile_the_text(text: str) -> None:
    spans = pieces(text)
    assert [end for _, end in spans[:-1]] == [start for start, _ in spans[1:]]
    assert not text.strip() or (spans[0][0], spans[-1][1]) == (0, len(text))


TEXTS = st.one_of(
    st.text(st.sampled_from("ab 。.!#-1`\n字^<>"), min_size=1, max_size=120),
    st.sampled_from(
        ["Yes. ", "A much longer sentence stands here, and it says nothing. " * 3, "```\na\nb\n```\n" * 9]
    ),
)


@st.composite
def answers(draw: st.DrawFn) -> tuple[list[Hit], dict[str, Source]]:
    """Some hits in some conversations of one or two messages a turn."""
    files, hits, at = {}, [], datetime(2026, 4, 6, 9, tzinfo=ZONE)
    for number in range(draw(st.integers(1, 3))):
        records = []
        for place in range(draw(st.integers(1, 6))):
            said = draw(st.lists(TEXTS, min_size=1, max_size=2))
            roles = ("user", "assistant")
            messages = tuple(Message(r, text, at, None, 1, 3) for r, text in zip(roles, said, strict=False))
            records.append(Turn(Ref("", f"s{number}", f"{place}"), messages))
        path = f"{number}.md"
        files[path] = Source(path, "", "", "", (), tuple(records))
        for record in draw(st.lists(st.sampled_from(records), max_size=4, unique_by=lambda one: one.ref)):
            message = draw(st.integers(0, len(record.messages) - 1))
            text = record.messages[message].text
            evidence = text[draw(st.integers(0, len(text) - 1)) :][:40].strip()
            hits.append(hit_on(files[path], record, message, evidence, 3))
    return draw(st.permutations(hits)), files


@given(answers(), st.integers(0, 3), st.one_of(st.none(), st.integers(1, 150)))
def test_a_budget_is_never_passed_and_every_hit_is_accounted_for(
    given_: tuple[list[Hit], dict[str, Source]], context: int, budget: int | None
) -> None:
    made = passages_of(hits := given_[0], given_[1], context, budget)
    assert budget is None or sum(one.tokens for one in made.passages) <= budget
    assert all(one.tokens == tokens(one.text) and one.hits for one in made.passages)
    refs = [ref for one in made.passages for ref in one.refs]
    also = [ref for one in made.passages for ref in one.also]
    assert len(refs) == len(set(refs)) and not {*refs} & {*also}
    for place, one in enumerate(hits):
        inside = [passage for passage in made.passages if place in passage.hits]
        left = place in made.left_out  # a piece of it may stand there as a neighbour
        assert len(inside) + left + (not (inside or left) and one.ref in [*also, *refs]) == 1
    assert [one.hits[0] for one in made.passages] == sorted(one.hits[0] for one in made.passages)

"""A question that was answered again: the other answer stands with what it answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from huimem.importers.options import Options
from tests.importers.exporting import (
    BEGIN,
    Said,
    Source,
    Talk,
    bring,
    chatgpt_message,
    export,
    forget_ledger,
    only_session,
    outcome,
    talk,
    texts_in,
)
from tests.importers.told import ZONE

# One question, answered again when the next had been asked already.

ASKED = [
    Said("user", "Which tree?", 0, "q"),
    Said("assistant", "Plum, 李子。", 7, "a2"),
    Said("user", "And when?", 14, "n"),
    Said("assistant", "Spring.", 21, "b"),
]
OTHER = Said("assistant", "A quince: one by the wall.", 10, "a1")
PLUM, NEXT = "Plum, 李子。\n\n", "## User · 2026-04-06 09:14:37\n"
QUINCE = "## Assistant · 2026-04-06 09:14:33\n\nA quince: one by the wall.\n\n"


@pytest.mark.parametrize("source", ["chatgpt", "claude", "claude-code", "openai", "undated"])
@pytest.mark.parametrize("state", ["kept", "lost"])
def test_another_answer_stands_behind_the_first_one(
    source: Source, state: str, vault: Path, tmp_path: Path
) -> None:
    def given(*messages: Said) -> Path:
        return export(tmp_path / "in", source, [Talk(messages)])

    folder = source == "claude-code"
    given(*ASKED)
    where = tmp_path / "in" if folder else (tmp_path / "in").rename(tmp_path / "c.json")
    bring(vault, where)
    if state == "lost":
        forget_ledger(vault)
    given(ASKED[0], OTHER)
    where = where if folder else (tmp_path / "in").rename(where)
    assert outcome(bring(vault, where)) == {"updated": 1, "added": 1}
    wanted = [ASKED[0].text, ASKED[1].text, OTHER.text, ASKED[2].text, ASKED[3].text]
    assert texts_in(vault) == wanted
    assert outcome(bring(vault, where)) == {"unchanged": 1}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_it_comes_in_between_and_leaves_every_other_byte(end: str, vault: Path, tmp_path: Path) -> None:
    path = export(tmp_path / "c.json", "chatgpt", [Talk(ASKED)])
    bring(vault, path)
    file = only_session(vault)
    file.write_bytes(file.read_bytes().replace(b"\n", end.encode()))
    before = file.read_bytes()
    bring(vault, export(path, "chatgpt", [Talk([ASKED[0], OTHER])]))
    was, wanted = (text.replace("\n", end).encode() for text in (PLUM + NEXT, PLUM + QUINCE + NEXT))
    assert was in before and file.read_bytes() == before.replace(was, wanted)


def test_an_answer_whose_elder_was_deleted_stays_in_the_turn(vault: Path, tmp_path: Path) -> None:
    path = export(tmp_path / "c.json", "chatgpt", [Talk(ASKED)])
    bring(vault, path)
    file = only_session(vault)
    file.write_text(file.read_text().replace("## Assistant · 2026-04-06 09:14:30\n\nPlum, 李子。\n\n", ""))
    bring(vault, export(path, "chatgpt", [Talk([*ASKED[:2], OTHER])]))
    assert texts_in(vault) == [ASKED[0].text, OTHER.text, "And when?", "Spring."]


def test_answers_do_not_go_into_a_turn_that_was_written_by_hand(vault: Path, tmp_path: Path) -> None:
    path = export(tmp_path / "c.json", "chatgpt", [Talk(ASKED[:1])])
    bring(vault, path)
    with only_session(vault).open("a") as file:
        file.write("\n## User · 2026-05-01 10:00:00\n\nBy hand.\n")
    bring(vault, export(path, "chatgpt", [Talk(ASKED)]))
    assert texts_in(vault) == ["Which tree?", ASKED[1].text, "By hand.", "And when?", "Spring."]


def test_what_comes_between_two_answers_stands_between_them(vault: Path, tmp_path: Path) -> None:
    """Calls that were left out at first are put where a whole import has them."""
    path = tmp_path / "messages.json"
    at = 1_775_442_600
    calls = [{"id": "t1", "function": {"name": "look", "arguments": "{}"}}]
    given = [
        {"role": "user", "content": "What is here?", "created_at": at},
        {"role": "assistant", "content": "I look.", "tool_calls": calls, "created_at": at + 5},
        {"role": "tool", "tool_call_id": "t1", "content": "moss.txt", "created_at": at + 8},
        {"role": "assistant", "content": "Moss.", "created_at": at + 9},
        {"role": "user", "content": "Thanks", "created_at": at + 20},
    ]
    path.write_text(json.dumps({"id": "p", "messages": given}))
    for tools in ("none", "names"):
        bring(vault, path, options=Options(ZONE, tools=tools))
    wanted = ["What is here?", "I look.", "> [!tool]- look · ok · 3.0 s\n> moss.txt", "Moss.", "Thanks"]
    assert texts_in(vault) == wanted


def test_every_branch_comes_in_once_however_the_chat_goes_on(vault: Path, tmp_path: Path) -> None:
    """With all branches asked for: one switched to, then continued, then the other one continued."""
    asked, one, two = talk("Which animal?")[0], *(_answer(n) for n in (1, 2))
    path = tmp_path / "conversations.json"

    def comes(current: str, *more: tuple[str, str]) -> None:
        nodes = {"q": (None, asked), "a1": ("q", one), "a2": ("q", two)}
        for number, (parent, text) in enumerate(more):
            nodes[f"n{number}"] = (parent, Said("user", text, 900 + number, f"n{number}"))
        path.write_text(json.dumps([_tree(nodes, current)]), "utf-8")
        bring(vault, path, options=Options(ZONE, "all"))

    comes("a1")
    comes("a2")
    comes("n0", ("a2", "More of two."))
    comes("n1", ("a2", "More of two."), ("a1", "More of one."))
    texts = texts_in(vault)
    for text in ("Answer 1.", "Answer 2.", "More of two.", "More of one."):
        assert texts.count(text) == 1, text


def _answer(number: int) -> Said:
    return Said("assistant", f"Answer {number}.", 10 + number, f"a{number}")


def _tree(nodes: dict[str, tuple[str | None, Said]], current: str) -> object:
    mapping = {
        name: {"id": name, "parent": parent, "children": [], "message": chatgpt_message(said)}
        for name, (parent, said) in nodes.items()
    }
    begun = {"create_time": BEGIN.timestamp(), "title": "Animals", "conversation_id": "c-1"}
    return {**begun, "mapping": mapping, "current_node": current}

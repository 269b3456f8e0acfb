"""A conversation that comes again and has gone on: exactly what is new comes in, once, in its place."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from huimem.importers.options import Options
from tests.importers.exporting import (
    Said,
    Source,
    Talk,
    bring,
    chatgpt_message,
    export,
    forget_ledger,
    made_vault,
    only_session,
    outcome,
    said_in,
    sessions,
    talk,
    texts_in,
)
from tests.importers.told import ZONE
from tests.trees import tree

EVERY: tuple[Source, ...] = ("chatgpt", "claude", "claude-code", "openai", "undated")
DATE = 1_775_600_000


def written(folder: Path, source: Source, *talks: Talk, date: int = DATE) -> Path:
    """An export in a folder of its own, its files of one date."""
    shutil.rmtree(folder, ignore_errors=True)
    export(folder if source == "claude-code" else folder / "conversations.json", source, talks)
    for path in folder.iterdir():
        os.utime(path, (date, date))
    return folder


@pytest.mark.parametrize("source", EVERY)
@pytest.mark.parametrize("state", ["kept", "lost"])
def test_a_newer_export_adds_its_new_messages(
    source: Source, state: str, vault: Path, tmp_path: Path
) -> None:
    old = Talk(talk("One", "Two", "One", "Four"))
    bring(vault, written(tmp_path / "in", source, old))
    before = only_session(vault).read_bytes()
    if state == "lost":
        forget_ledger(vault)
    new = old.grown("One", "Six")
    report = bring(vault, written(tmp_path / "in", source, new))
    assert outcome(report) == {"updated": 1, "added": 2}
    assert only_session(vault).read_bytes().startswith(before)
    assert texts_in(vault) == ["One", "Two", "One", "Four", "One", "Six"]
    assert outcome(bring(vault, tmp_path / "in")) == {"unchanged": 1}


@pytest.mark.parametrize("source", EVERY)
def test_an_older_export_takes_nothing_back(source: Source, vault: Path, tmp_path: Path) -> None:
    old = Talk(talk("One", "Two"))
    written(tmp_path / "old", source, old)
    written(tmp_path / "new", source, old.grown("Three", "Four"))
    bring(vault, tmp_path / "old")
    bring(vault, tmp_path / "new")
    before = tree(vault)
    for each in ("old", "new", "old"):
        assert outcome(bring(vault, tmp_path / each)) == {"unchanged": 1}
    assert tree(vault) == before


# Any conversation, cut anywhere: what comes first and the whole afterwards make the file of the whole alone.

WORDS = st.text(st.sampled_from("ab \n#`>·–猫\\0"), max_size=12).map(lambda text: text.strip() or "so")
AFTER = st.integers(0, 3)
MESSAGES = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), WORDS, AFTER), min_size=1, max_size=8)


@pytest.mark.slow
@given(MESSAGES, st.integers(0, 8), st.sampled_from(EVERY), st.sampled_from(["lose", "", "###", "New chat"]))
@settings(max_examples=40)
def test_a_part_and_then_the_whole_are_the_whole(
    messages: list[tuple[str, str, int]], cut: int, source: Source, before: str
) -> None:
    """`before`: the title at first; or that what is remembered gets lost between."""
    at, said = 0, []
    for number, (role, text, step) in enumerate(messages):
        at += step
        said.append(Said(role if number else "user", text, at, f"m{number}"))
    whole, part = Talk(said), Talk(said[: min(max(cut, 1), len(said))])
    with TemporaryDirectory() as name:
        folder = Path(name)
        alone, twice = made_vault(folder / "alone"), made_vault(folder / "twice")
        if before != "lose":
            part = replace(part, title=before)
        bring(twice, written(folder / "part", source, part))
        if before == "lose":
            forget_ledger(twice)
        bring(twice, written(folder / "whole", source, whole))
        bring(alone, folder / "whole")
        assert only_session(twice).read_text() == only_session(alone).read_text()


# Claude Code, in the middle of its work.


def line(kind: str, number: int, content: object, after: int, message: str = "") -> dict[str, object]:
    said = Said(kind, "", after, "")
    return {
        "type": kind,
        "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}" if number else None,
        "sessionId": "s-1",
        "timestamp": said.at.isoformat(),
        "message": {"role": kind, "content": content, **({"id": message} if message else {})},
    }


def text(said: str) -> list[object]:
    return [{"type": "text", "text": said}]


def call(name: str) -> list[object]:
    return [{"type": "tool_use", "id": name, "name": "Bash", "input": {"command": "ls"}}]


def result(name: str, said: str) -> list[object]:
    return [{"type": "tool_result", "tool_use_id": name, "content": said}]


WORK = [
    line("user", 0, "What is here?", 0),
    line("assistant", 1, text("I look."), 5, "a"),
    line("assistant", 2, text("Around."), 5, "a"),
    line("assistant", 3, call("t1"), 5, "a"),
    line("user", 4, result("t1", "moss.txt"), 8),
    line("assistant", 5, text("And more."), 9, "a"),
    line("assistant", 6, call("t2"), 10, "b"),
    line("user", 7, result("t2", ""), 10),
    line("assistant", 8, text("One file: moss."), 15, "c"),
    line("user", 9, "Thanks", 20),
]
DONE = [
    ("user", "What is here?"),
    ("assistant", "I look.\n\nAround."),
    ("tool", "> [!tool]- Bash · ok · 3.0 s\n> moss.txt"),
    ("assistant", "And more."),
    ("tool", "> [!tool]- Bash · ok"),
    ("assistant", "One file: moss."),
    ("user", "Thanks"),
]


def lines(path: Path, found: Sequence[object]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in found))
    return path


@pytest.mark.parametrize("cut", range(1, len(WORK)))
def test_a_transcript_taken_in_the_middle_of_an_answer_is_completed_in_place(
    cut: int, vault: Path, tmp_path: Path
) -> None:
    bring(vault, lines(tmp_path / "s-1.jsonl", WORK[:cut]))
    report = bring(vault, lines(tmp_path / "s-1.jsonl", WORK))
    assert said_in(vault, only_session(vault)) == DONE
    assert report.edited == report.deleted == 0
    other = made_vault(tmp_path / "alone")
    bring(other, tmp_path / "s-1.jsonl")
    assert only_session(vault).read_bytes() == only_session(other).read_bytes()


def test_every_line_as_it_comes(vault: Path, tmp_path: Path) -> None:
    for cut in range(1, len(WORK) + 1):
        bring(vault, lines(tmp_path / "s-1.jsonl", WORK[:cut]))
    assert said_in(vault, only_session(vault)) == DONE


def test_an_older_copy_of_a_transcript_does_not_make_answers_shorter(vault: Path, tmp_path: Path) -> None:
    old, new = lines(tmp_path / "old.jsonl", WORK[:3]), lines(tmp_path / "new.jsonl", WORK)
    for path in (old, new, old, new):
        report = bring(vault, path)
        assert report.edited == 0
    assert outcome(report) == {"unchanged": 1}
    assert said_in(vault, only_session(vault)) == DONE
    bring(vault, old)
    assert said_in(vault, only_session(vault)) == DONE


def test_an_answer_that_was_edited_here_is_not_grown(vault: Path, tmp_path: Path) -> None:
    bring(vault, lines(tmp_path / "s-1.jsonl", WORK[:2]))
    path = only_session(vault)
    path.write_text(path.read_text().replace("I look.", "It looks."))
    report = bring(vault, lines(tmp_path / "s-1.jsonl", WORK))
    assert outcome(report) == {"updated": 1, "added": 5, "edited": 1}
    assert said_in(vault, path) == [DONE[0], ("assistant", "It looks."), *DONE[2:]]


def test_more_of_the_tools_comes_in_place_when_it_is_asked_for(vault: Path, tmp_path: Path) -> None:
    path = lines(tmp_path / "s-1.jsonl", WORK)
    bring(vault, path)
    report = bring(vault, path, options=Options(ZONE, tools="full"))
    assert outcome(report) == {"updated": 1, "grown": 2}
    assert [text.count("\n") for role, text in said_in(vault, only_session(vault)) if role == "tool"] == [
        3,
        1,
    ]


def test_a_message_that_grows_leaves_every_other_byte(vault: Path, tmp_path: Path) -> None:
    bring(vault, lines(tmp_path / "s-1.jsonl", [*WORK[:2], WORK[3]]))
    path = only_session(vault)
    mine = (
        path.read_bytes()
        .replace(b"tz: Asia", b"mine:   kept # so\ntz: Asia")
        .replace(b"here?\n", b"here?  \n\n\n")
    )
    path.write_bytes(mine.replace(b"\n", b"\r\n") + b"\r\n\r\nmore of it, by hand\r\n")
    before = path.read_bytes()
    bring(vault, lines(tmp_path / "s-1.jsonl", WORK[:5]))
    after = path.read_bytes()
    assert after == before.replace(b"I look.", b"I look.\r\n\r\nAround.")


# Branches.


def tree_of(*paths: str, current: str) -> dict[str, object]:
    """A ChatGPT conversation of these ways from the root, `u1 a1 u2`: messages said in that order."""
    nodes: dict[str, object] = {"root": {"message": None, "parent": None}}
    for path in paths:
        parent = "root"
        for name in path.split():
            role = {"u": "user", "a": "assistant"}[name[0]]
            after = 20 * int(name[1:]) + 10 * (role == "assistant")
            said = Said(role, f"text of {name}", after, name)
            nodes.setdefault(name, {"parent": parent, "message": chatgpt_message(said)})
            parent = name
    return {"conversation_id": "c-1", "title": "Ways", "mapping": nodes, "current_node": current}


def says(*names: str) -> list[str]:
    return [f"text of {name}" for name in names]


# Exports one after the other, each its ways and where it ends, and what the session then holds, in order.
BRANCHES = [
    ("u1 a1 u2 a2 > a2; u1 a1 u2 a2 | u1 a1 u3 a3 > a3", "u1 a1 u2 a2 u3 a3"),
    ("u1 a1 > a1; u1 a1 | u1 a2 > a2; u1 a1 | u1 a2 > a1", "u1 a1 a2"),
    ("u1 a1 > a1; u1 a1 | u2 a2 > a2", "u1 a1 u2 a2"),
    ("u1 a1 | u1 a2 > a2; u1 a1 | u1 a2 u3 a3 > a3; u1 a1 u4 a4 | u1 a2 u3 a3 > a4", "u1 a2 a1 u3 a3 u4 a4"),
    ("u1 a1 | u1 a2 u3 > u3; u1 a1 | u1 a2 u3 > a1", "u1 a2 a1 u3"),
    ("u1 a2 u3 a3 | u1 a4 > a3; u1 a2 u3 a3 | u1 a4 a5 u6 a6 > a6", "u1 a2 a4 a5 u3 a3 u6 a6"),
    ("u1 a2 u3 a4 > a4; u1 a2 u3 a4 | u1 a2 u3 a5 > a5", "u1 a2 u3 a4 a5"),
    ("u1 a1 u2 a2 > a2; u1 a1 u2 a2 | u1 a1 a3 u4 > u4", "u1 a1 a3 u2 a2 u4"),
]


@pytest.mark.parametrize(("exports", "wanted"), BRANCHES)
def test_another_branch_is_added_once_and_the_old_one_stays(
    exports: str, wanted: str, vault: Path, tmp_path: Path
) -> None:
    path = tmp_path / "conversations.json"
    for each in exports.split("; "):
        ways, current = each.split(" > ")
        path.write_text(json.dumps([tree_of(*ways.split(" | "), current=current)]))
        bring(vault, path)
    assert texts_in(vault) == says(*wanted.split())
    before = tree(vault)
    assert outcome(bring(vault, path)) == {"unchanged": 1} and tree(vault) == before


def test_all_branches_become_conversations_that_grow_by_themselves(vault: Path, tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    every = Options(ZONE, branch="all")
    path.write_text(json.dumps([tree_of("u1 a1", "u1 a2", current="a1")]))
    assert outcome(bring(vault, path, options=every)) == {"new": 2, "added": 4}
    path.write_text(json.dumps([tree_of("u1 a1 u2", "u1 a2", current="u2")]))
    assert outcome(bring(vault, path, options=every)) == {"updated": 1, "unchanged": 1, "added": 1}
    assert sorted(texts_in(vault)) == sorted(says("u1", "u1", "a1", "a2", "u2"))


# Lists without times.

LIST = Talk(talk("One", "Two", "Three", "Two"))


@pytest.mark.parametrize("state", ["kept", "lost"])
def test_an_undated_list_is_known_whatever_the_date_of_its_file(
    state: str, vault: Path, tmp_path: Path
) -> None:
    bring(vault, written(tmp_path / "in", "undated", LIST))
    before = tree(vault)
    for days in (1, 400, -400):
        if state == "lost":
            forget_ledger(vault)
        written(tmp_path / "in", "undated", LIST, date=DATE + days * 86_400)
        assert outcome(bring(vault, tmp_path / "in")) == {"unchanged": 1}
    assert tree(vault) == before


@pytest.mark.parametrize("state", ["kept", "lost"])
def test_an_undated_list_grows_after_edits(state: str, vault: Path, tmp_path: Path) -> None:
    bring(vault, written(tmp_path / "in", "undated", LIST))
    path = only_session(vault)
    path.write_text(path.read_text().replace("Three", "Three and a half"))
    if state == "lost":
        forget_ledger(vault)
    new = LIST.grown("Five", "Two")
    report = bring(vault, written(tmp_path / "in", "undated", new, date=DATE + 86_400))
    assert outcome(report) == {"updated": 1, "added": 2, "edited": 1}
    assert texts_in(vault) == ["One", "Two", "Three and a half", "Two", "Five", "Two"]


@pytest.mark.parametrize("state", ["kept", "lost"])
def test_a_list_that_gets_times_later_is_still_the_same(state: str, vault: Path, tmp_path: Path) -> None:
    bring(vault, written(tmp_path / "in", "undated", LIST))
    if state == "lost":
        forget_ledger(vault)
    report = bring(vault, written(tmp_path / "in", "openai", LIST.grown("Five")))
    assert (report.outcomes, report.added) == ({"updated": 1}, 1)
    assert texts_in(vault) == ["One", "Two", "Three", "Two", "Five"]


# The same conversation more than once in one import.


@pytest.mark.parametrize("dry", [False, True])
def test_one_import_grows_what_it_brought_itself(dry: bool, vault: Path, tmp_path: Path) -> None:
    old = Talk(talk("One", "Two"))
    grown = replace(old, messages=[*old.messages, Said("user", "Three", 99, "m9")])
    path = export(tmp_path / "conversations.json", "chatgpt", [old, grown, old])
    report = bring(vault, path, write=not dry)
    assert outcome(report) == {"new": 1, "updated": 1, "unchanged": 1, "added": 3}
    assert len(sessions(vault)) == (not dry)


def forked(folder: Path, *talks: Talk) -> Path:
    """Transcripts in which what the fork shares with the first stands under the first one's uuids."""
    written(folder, "claude-code", *talks)
    for path in folder.iterdir():
        path.write_text(path.read_text("utf-8").replace('"fork-m', '"first-m'), "utf-8")
        os.utime(path, (DATE, DATE))
    return folder


@pytest.mark.parametrize("newest", ["first", "fork"])
def test_a_fork_and_its_original_share_no_message_whichever_went_on(
    newest: str, vault: Path, tmp_path: Path
) -> None:
    """A resumed Claude Code session begins with the lines of another, which may be read after it."""
    first = Talk(talk("One", "Two"), id="first")
    fork = replace(first, id="fork").grown("Three", "Four")
    alone = tmp_path / "alone"
    bring(vault, forked(alone, first))
    bring(vault, forked(alone, fork))
    assert sorted(texts_in(vault)) == sorted(["One", "Two", "Three", "Four"])
    longer = {"first": first.grown("Five", first=7200), "fork": fork.grown("Six", first=9000)}[newest]
    for one in (longer, fork, first):
        bring(vault, forked(alone, one))
        wanted = ["One", "Two", "Three", "Four", "Five" if newest == "first" else "Six"]
        assert sorted(texts_in(vault)) == sorted(wanted)

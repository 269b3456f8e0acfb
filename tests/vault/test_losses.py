"""What an older copy saved over a session takes away is noticed, kept and told once; nothing else is."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from datetime import timedelta

import pytest

from huimem import checking
from huimem.errors import Problem
from huimem.records import Message
from huimem.vault.vault import Vault
from tests.vault.losing import (
    FRONT,
    LATER,
    MORE,
    PATH,
    command,
    found,
    kept,
    record_on,
    recorded,
    said_in,
    saved,
    seen,
)  # fmt: skip
from tests.vault.samples import HELLO, NOW, put


def without(text: str, *parts: str) -> str:
    for part in parts:
        assert part in text
        text = text.replace(part, "")
    return text


QUESTION = "## User · 2026-04-06 09:15:23\n\nWhy that?\n\n"
REPLY = "## Assistant · 2026-04-06 09:15:30\n\nIt is small.\n"

# What is done to the text when opened (old) or as it stands (now), and which texts are lost by it.
Edit = Callable[[str, str], str]
EDITS: dict[str, tuple[Edit, list[str]]] = {
    "nothing": (lambda old, now: now, []),
    "an old buffer saved": (lambda old, now: old, ["Why that?", "It is small."]),
    "an old buffer edited and saved": (
        lambda old, now: old.replace("HNSW.", "HNSW, I think."),
        ["Why that?", "It is small."],
    ),
    "a turn typed into an old buffer": (
        lambda old, now: old + "\n## User · 2026-04-06 10:00:00\n\nAnd now?\n",
        ["Why that?", "It is small."],
    ),
    "a turn deleted by hand": (lambda old, now: without(now, QUESTION, REPLY), ["Why that?", "It is small."]),
    "a question deleted by hand": (lambda old, now: without(now, QUESTION), ["Why that?"]),
    "a reply deleted by hand": (lambda old, now: without(now, REPLY), ["It is small."]),
    "all but the front matter deleted": (
        lambda old, now: FRONT,
        ["Which index?", "HNSW.", "Why that?", "It is small."],
    ),
    "a question edited": (lambda old, now: now.replace("Why that?", "Why this one?"), []),
    "a reply edited": (lambda old, now: now.replace("It is small.", "It is quick."), []),
    "a question at another time": (lambda old, now: now.replace("09:15:23", "09:15:20"), []),
    "a reply at another time": (lambda old, now: now.replace("09:15:30", "09:18:00"), []),
    "another speaker": (lambda old, now: now.replace("## Assistant", "## Tool"), []),
    "turns in another order": (lambda old, now: without(now, QUESTION + REPLY) + "\n" + QUESTION + REPLY, []),
    "the last turn before the first": (
        lambda old, now: without(now, QUESTION + REPLY).replace(
            "## User · 2026-04-06 09:14:23", QUESTION + REPLY + "\n## User · 2026-04-06 09:14:23"
        ),
        [],
    ),
    "a turn twice": (lambda old, now: now + "\n" + QUESTION + REPLY, []),
    "lines of another system": (lambda old, now: now.replace("\n", "\r\n"), []),
    "no id any more": (lambda old, now: now.replace("id: s\n", ""), []),
    "no id any more, and a question edited": (
        lambda old, now: now.replace("id: s\n", "").replace("Why that?", "Why this one?"),
        [],
    ),
    "an old buffer without an id": (
        lambda old, now: old.replace("id: s\n", ""),
        ["Why that?", "It is small."],
    ),
    "another id": (lambda old, now: old.replace("id: s\n", "id: t\n"), []),
    "front matter in which nothing can be read": (lambda old, now: now.replace("id: s\n", "id: [s\n"), []),
    "everything deleted": (lambda old, now: "", ["Which index?", "HNSW.", "Why that?", "It is small."]),
}


@pytest.mark.parametrize("name", EDITS)
def test_what_an_edit_takes_away_is_kept_word_for_word(name: str, vault: Vault) -> None:
    edit, lost = EDITS[name]
    text = edit(*recorded(vault))
    assert said_in(vault, saved(vault, text)) == lost
    assert (vault.root / PATH).read_text() == text.replace("\r\n", "\n"), "nothing is put back"


def test_a_loss_is_told_once(vault: Vault) -> None:
    old, _ = recorded(vault)
    assert saved(vault, old)
    assert seen(vault) is None and saved(vault, old + "\nMore.\n") is None
    assert seen(Vault.open(vault.root, vault.config)) is None


def test_what_came_back_and_is_lost_again_is_told_again(vault: Vault) -> None:
    old, now = recorded(vault)
    first = saved(vault, old)
    assert saved(vault, now) is None
    assert saved(vault, old) == first
    assert len(os.listdir(vault.state / "recovered")) == 1


def test_a_later_loss_of_the_same_session_has_a_file_of_its_own(vault: Vault) -> None:
    old, _ = recorded(vault)
    saved(vault, old)
    vault.record([Message("user", "Anew?", NOW + timedelta(hours=1))], session="s", now=LATER)
    lost = saved(vault, old)
    assert said_in(vault, lost) == ["Anew?"] and len(os.listdir(vault.state / "recovered")) == 2


def test_a_person_is_told_what_when_and_how_to_bring_it_back(vault: Vault) -> None:
    old, _ = recorded(vault)
    lost = saved(vault, old)
    assert lost == (
        f"2 messages recorded on 2026-04-08 are no longer in {PATH}: an editor may have saved an older copy. "
        f"They are kept in {kept(lost)}; `cat {kept(lost)} >> {PATH}` brings them back."
    )
    assert kept(lost).startswith(".huimem/recovered/s-")


def test_days_and_numbers_are_told_as_they_are(vault: Vault) -> None:
    record_on(NOW, vault, [MORE[0]])
    record_on(LATER, vault, [MORE[1]])
    told = str(saved(vault, FRONT))
    assert told.startswith("2 messages recorded between 2026-04-06 and 2026-04-08 are no longer")
    record_on(NOW, vault, [MORE[0]], "t")
    told = str(saved(vault, FRONT.replace("id: s", "id: t"), "sessions/2026-W15/t.md"))
    assert told.startswith("1 message recorded on 2026-04-06 is no longer") and told.endswith(
        "brings it back."
    )


@pytest.mark.parametrize("end", ["", "\n", "\n\n\n"], ids=["no line end", "a line end", "blank lines"])
def test_the_command_told_brings_everything_back(end: str, vault: Vault) -> None:
    old, _ = recorded(vault)
    before = [m.text for m in vault.session(PATH).messages]
    lost = saved(vault, old.rstrip("\n") + end)
    subprocess.run(command(lost), shell=True, cwd=vault.root, check=True)
    assert [m.text for m in vault.session(PATH).messages] == before
    assert seen(vault) is None and checking.problems(vault) == ()


@pytest.mark.parametrize("path", ["my 'own' talk.md", f"{'谈' * 80}.md"], ids=["blanks", "long"])
def test_any_path_can_be_brought_back(path: str, vault: Vault) -> None:
    old, _ = recorded(vault)
    (vault.root / PATH).rename(vault.root / path)
    lost = saved(vault, old, path)
    subprocess.run(command(lost), shell=True, cwd=vault.root, check=True)
    assert [m.text for m in vault.session(path).messages][2:] == ["Why that?", "It is small."]


# Where files lie.


def test_a_deleted_file_is_no_loss(vault: Vault) -> None:
    recorded(vault)
    source = vault.read(PATH)
    (vault.root / PATH).unlink()
    losses = vault.losses()
    losses.note(source)
    losses.finish()
    assert vault.untold() == () == checking.problems(vault)


def test_a_session_moved_and_renamed_is_looked_after_as_before(vault: Vault) -> None:
    old, now = recorded(vault)
    (vault.root / PATH).unlink()
    assert saved(vault, now, "mine/Index talk.md") is None
    assert said_in(vault, saved(vault, old, "mine/Index talk.md")) == ["Why that?", "It is small."]


def test_a_copy_made_by_hand_need_not_hold_what_came_later(vault: Vault) -> None:
    old, _ = recorded(vault)
    assert saved(vault, old, "a copy.md") is None
    assert said_in(vault, saved(vault, old)) == ["Why that?", "It is small."]


def test_another_file_that_holds_the_session_holds_its_turns(vault: Vault) -> None:
    old, now = recorded(vault)
    assert saved(vault, now, "a copy.md") is None
    assert saved(Vault.open(vault.root, vault.config), old) is None


def test_a_copy_may_come_before_a_file_that_is_not_called_by_its_id(vault: Vault) -> None:
    vault.record(HELLO, session="a/b", now=NOW)
    vault.record(HELLO, session="a b", now=NOW)
    path = "sessions/2026-W15/a-b-2.md"
    old = (vault.root / path).read_text()
    vault.record(MORE, session="a b", now=LATER)
    assert saved(Vault.open(vault.root, vault.config), old, "a copy.md") is None and saved(vault, old, path)


def test_another_session_in_the_old_place_holds_nothing_of_it(vault: Vault) -> None:
    old, now = recorded(vault)
    put(vault, PATH, now.replace("id: s", "id: t"))
    assert said_in(vault, saved(vault, old, "mine.md")) == ["Why that?", "It is small."]


def test_what_was_recorded_after_a_file_was_read_is_not_lost(vault: Vault) -> None:
    vault.record(HELLO, session="s", now=NOW)
    source = vault.read(PATH)
    vault.record(MORE, session="s", now=LATER)
    losses = vault.losses()
    losses.note(source)
    losses.finish()
    assert vault.untold() == () == checking.problems(vault)


def test_sessions_of_other_namespaces_are_others(vault: Vault) -> None:
    old, _ = recorded(vault)
    vault.record(HELLO, session="s", namespace="bob", now=NOW)
    assert seen(vault, f"namespaces/bob/{PATH}") is None
    assert saved(vault, old, f"namespaces/bob/{PATH}") is None
    assert seen(vault) is None


def test_without_a_journal_nothing_is_lost(vault: Vault) -> None:
    put(vault, PATH, FRONT + "\n" + QUESTION)
    assert seen(vault) is None and not vault.state.exists()


# What was said.


def test_a_text_said_twice_is_missed_when_it_is_there_once(vault: Vault) -> None:
    again = Message("user", "Which index?", NOW + timedelta(minutes=1))
    vault.record(HELLO, session="s", now=NOW)
    old = (vault.root / PATH).read_text()
    vault.record([again], session="s", now=LATER)
    assert seen(vault) is None
    assert said_in(vault, saved(vault, old)) == ["Which index?"]


def test_replies_of_one_second_are_told_apart(vault: Vault) -> None:
    asked = Message("user", "Both?", NOW)
    vault.record([asked, Message("assistant", "One.", NOW)], session="s", now=NOW)
    old = (vault.root / PATH).read_text()
    vault.record([Message("assistant", "Two.", NOW)], session="s", now=LATER)
    now = (vault.root / PATH).read_text()
    assert said_in(vault, saved(vault, old)) == ["Two."]
    assert said_in(vault, saved(vault, without(now, "## Assistant · 2026-04-06 09:14:23\n\nOne.\n\n"))) == [
        "One."
    ]


def test_a_reply_typed_into_an_old_buffer_is_no_edit_of_a_recorded_one(vault: Vault) -> None:
    vault.record([*HELLO, MORE[0]], session="s", now=NOW)
    old = (vault.root / PATH).read_text()
    vault.record([MORE[1]], session="s", now=LATER)
    typed = old + "\n## Assistant · 2026-04-06 10:00:00\n\nMine.\n"
    assert said_in(vault, saved(vault, typed)) == ["It is small."]


def test_between_people_each_message_is_looked_after(vault: Vault) -> None:
    vault.record([Message("person", "Hi Mel!", NOW, "Caroline")], session="s", now=NOW)
    old = (vault.root / PATH).read_text()
    vault.record([Message("person", "Hey!", NOW, "Melanie")], session="s", now=LATER)
    assert seen(vault) is None
    lost = saved(vault, old)
    assert b"\n###### Melanie" in (vault.root / kept(lost)).read_bytes()


@pytest.mark.parametrize("looked", [True, False])
def test_what_is_recorded_again_after_a_loss_is_there(looked: bool, vault: Vault) -> None:
    old, _ = recorded(vault)
    saved(vault, old)
    vault.record(MORE, session="s", now=LATER)
    assert not looked or (seen(vault) is None and checking.problems(vault) == ())
    assert said_in(vault, saved(vault, old)) == ["Why that?", "It is small."]


ODD = [
    "", "  indented\n\n", "## User · 2026-04-06 09:00:00\n\nnot a heading", "```\n## User\n", "a\r\nb\rc",
    "\ud800 half", "tail ^block", "<!-- comment", "---\nid: x\n---", "文字，没有空格", "a\x00b", "a\u2028b",
    "# Title",
]  # fmt: skip


@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize("text", ODD)
def test_no_text_is_missed_where_it_stands(text: str, role: str, vault: Vault) -> None:
    vault.record([*HELLO, Message(role, text, NOW + timedelta(minutes=1))], session="s", now=NOW)
    assert seen(vault) is None and not vault.warnings
    assert str(saved(vault, FRONT)).startswith("3 messages")


# What `doctor` says.


def test_a_loss_is_a_problem_until_it_is_settled(vault: Vault) -> None:
    old, now = recorded(vault)
    lost = saved(vault, old)
    why = (
        "2 messages recorded on 2026-04-08 are no longer in it: an editor may have saved an older copy",
        f"`cat {kept(lost)} >> {PATH}` brings them back; delete {kept(lost)} if that was meant",
    )
    assert found(vault) == [Problem(PATH, 0, *why)] == found(vault)
    put(vault, PATH, now)
    assert found(vault) == []
    put(vault, PATH, old)
    assert found(vault) == [Problem(PATH, 0, *why)]
    (vault.root / kept(lost)).unlink()
    assert found(vault) == [] and seen(vault) is None


def test_a_loss_that_nobody_has_looked_at_is_a_problem_too(vault: Vault) -> None:
    old, _ = recorded(vault)
    put(vault, PATH, old)
    assert len(found(vault)) == 1

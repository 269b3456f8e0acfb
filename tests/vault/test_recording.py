"""Recording into a vault: what is written, by many at once, and cut off at every step."""

from __future__ import annotations

import errno
import os
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from huimem import checking, files
from huimem.config import load
from huimem.errors import Conflict, HuimemError, Locked, NewerFormat, UsageError, WriteFailed
from huimem.records import Message, Ref
from huimem.vault.vault import Vault
from tests.cutting import die_at
from tests.processes import code_of, start
from tests.vault.samples import HELLO, NOW, PATH, WRITTEN, everything, put


def test_a_session_is_written_as_the_format_says(vault: Vault) -> None:
    refs = vault.record(HELLO, title="Index choice", now=NOW)
    assert [str(ref) for ref in refs] == ["chat_2026-04-06_091423#20260406T091423"]
    assert (vault.root / PATH).read_text(encoding="utf-8") == WRITTEN
    source = vault.read(PATH)
    assert (source.title, source.problems) == ("Index choice", ())
    assert [m.text for m in source.records[0].messages] == ["Which index?", "HNSW."]
    assert vault.find(refs[0]) == (PATH, vault.session(PATH), source.records[0])


def test_recording_again_changes_no_byte_and_gives_the_same_refs(vault: Vault) -> None:
    refs = vault.record(HELLO, title="Index choice", now=NOW)
    before = everything(vault), vault.stamp(PATH)
    again = vault.record(HELLO, session="chat_2026-04-06_091423", now=NOW + timedelta(days=3))
    assert again == refs and (everything(vault), vault.stamp(PATH)) == before


def test_a_grown_list_adds_what_is_new_and_keeps_every_byte(vault: Vault) -> None:
    vault.record(HELLO, title="Index choice", now=NOW)
    place = vault.root / PATH
    edited = (
        place.read_text()
        .replace("title: Index choice", "title:   'Index choice' # mine\nmood: good")
        .replace("\n", "\r\n")
    )
    place.write_bytes(edited.encode())
    more = (*HELLO, Message("user", "Why?", NOW + timedelta(minutes=1)))
    refs = vault.record(more, session="chat_2026-04-06_091423", now=NOW)
    assert [ref.at for ref in refs] == ["20260406T091423", "20260406T091523"]
    after = place.read_bytes()
    assert after.startswith(edited.encode())
    assert after[len(edited.encode()) :] == "\r\n## User · 2026-04-06 09:15:23\r\n\r\nWhy?\r\n".encode()


def test_nothing_to_record_is_nothing(vault: Vault) -> None:
    assert vault.record([], now=NOW) == () and os.listdir(vault.root) == ["huimem.toml"]
    with pytest.raises(UsageError, match="empty"):
        vault.record(HELLO, session=" ", now=NOW)


def test_two_sessions_of_one_second_are_two(vault: Vault) -> None:
    sessions = [vault.record(HELLO, now=NOW)[0].session for _ in range(3)]
    assert sessions == ["chat_2026-04-06_091423", "chat_2026-04-06_091423-2", "chat_2026-04-06_091423-3"]


def test_messages_without_a_time_are_said_now(vault: Vault) -> None:
    (ref,) = vault.record([Message("user", "hi"), Message("assistant", "hey")], session="s", now=NOW)
    assert vault.find(ref)[2].at == NOW


# An id that somebody gives, and the file it gets.
GIVEN_IDS = [
    ("thread-42", "thread-42.md"),
    ("Thread_42", "Thread_42.md"),
    ("a/b", "a-b.md"),
    ("../../x", "x.md"),
    ("CON", "con_.md"),
    ("x.tmp", "x-tmp.md"),
    ("~x", "x.md"),
    ("聊天", "聊天.md"),
    ("%2e%2e%2f", "2e-2e-2f.md"),
]


@pytest.mark.parametrize(("session", "name"), GIVEN_IDS)
def test_any_id_has_a_safe_file_and_is_found_again(session: str, name: str, vault: Vault) -> None:
    refs = vault.record(HELLO, session=session, now=NOW)
    assert list(vault.scan().files) == [f"sessions/2026-W15/{name}"]
    assert refs[0].session == session and Ref.parse(str(refs[0])) == refs[0]
    assert vault.record(HELLO, session=session, now=NOW) == refs
    assert len(vault.scan().files) == 1
    assert vault.find(refs[0])[2].ref == refs[0]


def test_ids_with_one_file_name_are_two_sessions(vault: Vault) -> None:
    for session in ("a/b", "a-b", "a b"):
        vault.record(HELLO, session=session, now=NOW)
    fresh = Vault.open(vault.root, vault.config)
    for session in ("a/b", "a-b", "a b"):
        fresh.record(HELLO, session=session, now=NOW)
    assert len(vault.scan().files) == 3 and not checking.problems(vault)


def test_a_session_moved_and_renamed_by_hand_is_still_that_session(vault: Vault) -> None:
    (ref,) = vault.record(HELLO, session="thread", now=NOW)
    place = vault.root / "sessions/2026-W15/thread.md"
    (vault.root / "mine").mkdir()
    place.rename(vault.root / "mine/Index talk.md")
    vault.record([Message("user", "more", NOW + timedelta(hours=1))], session="thread", now=NOW)
    assert list(vault.scan().files) == ["mine/Index talk.md"]
    (vault.root / "mine/Index talk.md").rename(vault.root / "mine/again.md")
    assert vault.find(ref)[0] == "mine/again.md"


def test_namespaces_are_trees_of_their_own(vault: Vault) -> None:
    put(vault, "namespaces/Alice/note.md", "# Hers\n")
    alice = vault.record(HELLO, session="s", namespace="Alice", now=NOW)
    work = vault.record(HELLO, session="s", namespace="bob/work", now=NOW)
    root = vault.record(HELLO, session="s", now=NOW)
    assert [str(r[0]) for r in (alice, work, root)] == [
        "%41lice/s#20260406T091423", "bob/work/s#20260406T091423", "s#20260406T091423",
    ]  # fmt: skip
    assert set(vault.scan().files) == {
        "namespaces/Alice/note.md",
        "namespaces/Alice/sessions/2026-W15/s.md",
        "namespaces/bob/namespaces/work/sessions/2026-W15/s.md",
        "sessions/2026-W15/s.md",
    }
    assert [vault.read(vault.find(r[0])[0]).namespace for r in (alice, work, root)] == [
        "%41lice",
        "bob/work",
        "",
    ]
    assert not checking.problems(vault)


def test_a_label_too_long_for_a_folder_is_kept_beside_it(vault: Vault) -> None:
    label = "数据" * 30
    vault.record(HELLO, session="s", namespace=label, now=NOW)
    vault.record(HELLO, session="s", namespace=label, now=NOW)
    (kept,) = vault.root.glob("namespaces/*/namespace.toml")
    assert label in kept.read_text(encoding="utf-8") and len(vault.scan().files) == 1


CAROLINE = Message("person", "Hi Mel!", NOW, "Caroline")
MELANIE = Message("person", "Hey!", NOW, "Melanie")


def test_between_people_every_message_is_a_turn(vault: Vault) -> None:
    refs = vault.record([CAROLINE, MELANIE], session="s", now=NOW)
    assert [ref.at for ref in refs] == ["20260406T091423", "20260406T091423001"]
    vault.record([Message("user", "Yo", NOW, "Dan")], session="s", now=NOW)
    session = vault.session("sessions/2026-W15/s.md")
    assert session.people and session.fields["participants"] == ("Caroline", "Melanie", "Dan")
    assert [(m.role, m.name) for m in session.messages][2] == ("person", "Dan")
    assert vault.record([CAROLINE, MELANIE], session="s", now=NOW) == refs


@pytest.mark.parametrize(("first", "second"), [(HELLO, (CAROLINE,)), ((CAROLINE,), HELLO)])
def test_the_two_sorts_are_never_mixed(
    first: tuple[Message, ...], second: tuple[Message, ...], vault: Vault
) -> None:
    vault.record(first, session="s", now=NOW)
    before = everything(vault)
    with pytest.raises(UsageError, match="of their own"):
        vault.record(second, session="s", now=NOW)
    assert everything(vault) == before


# Files that are read and never appended to, and the refusal.
READ_ONLY: list[tuple[str, type[HuimemError], str]] = [
    ("---\nhuimem: 2\nid: s\n---\n\n## User · 2026-04-06 09:14:23\n\nhi\n", NewerFormat, "newer"),
    ('<user timestamp="2026-04-06 09:14:23">\nhi\n</user>\n', UsageError, "form"),
    ("## User\n\nhi\n\n## Assistant\n\nhey\n", UsageError, "form"),
    ("---\nkind: preference\n---\n\n## 2026-04-06\n\nhi\n", UsageError, "facts"),
]


@pytest.mark.parametrize(("text", "error", "words"), READ_ONLY)
def test_what_is_not_ours_to_write(text: str, error: type[HuimemError], words: str, vault: Vault) -> None:
    put(vault, "sessions/2026-W15/s.md", text.replace("---\nkind", "---\nid: s\nkind"))
    before = everything(vault)
    session = "s" if "id: s" in before["sessions/2026-W15/s.md"].decode() else "sessions/2026-W15/s"
    with pytest.raises(error, match=words):
        vault.record(HELLO, session=session, now=NOW)
    assert everything(vault) == before


def test_a_note_can_become_a_conversation(vault: Vault) -> None:
    put(vault, "notes/index.md", "# Index\n\nThoughts.")
    vault.record(HELLO, session="notes/index", now=NOW)
    text = (vault.root / "notes/index.md").read_text()
    assert text.startswith("# Index\n\nThoughts.\n\n## User · 2026-04-06 09:14:23\n")
    assert [r.kind for r in vault.read("notes/index.md").records] == ["note", "turn"]


def test_an_edit_in_the_last_instant_is_kept_and_the_turn_too(vault: Vault) -> None:
    vault.record(HELLO, session="s", now=NOW)
    place = vault.root / "sessions/2026-W15/s.md"
    edits = iter([b"\nAn afterthought.\n", b"\nAnother.\n"])

    def edit(name: str) -> None:
        if name == "before publish" and (text := next(edits, None)):
            place.write_bytes(place.read_bytes() + text)

    files.watch_steps(edit)
    vault.record([Message("user", "more", NOW + timedelta(hours=1))], session="s", now=NOW)
    text = place.read_text()
    assert "An afterthought." in text and "Another." in text and text.endswith("more\n")


def test_an_endless_fight_ends_in_a_conflict(vault: Vault) -> None:
    vault.record(HELLO, session="s", now=NOW)
    place = vault.root / "sessions/2026-W15/s.md"
    files.watch_steps(
        lambda name: place.write_bytes(place.read_bytes() + b"x") if name == "before publish" else None
    )
    with pytest.raises(Conflict):
        vault.record([Message("user", "more", NOW)], session="s", now=NOW)
    assert b"more" not in place.read_bytes()


def test_four_processes_record_into_one_session(vault: Vault) -> None:
    def add(writer: int) -> None:
        for number in range(25):
            vault.record([Message("user", f"{writer}.{number}", NOW)], session="s", now=NOW)

    children = [start(lambda writer=writer: add(writer)) for writer in range(4)]
    assert [code_of(child) for child in children] == [0] * 4
    session = vault.session("sessions/2026-W15/s.md")
    said = [m.text for m in session.messages]
    assert sorted(said) == sorted(f"{writer}.{number}" for writer in range(4) for number in range(25))
    assert len({turn.ref for turn in session.turns}) == 100 and not session.problems


def test_while_one_adds_to_a_session_no_other_does(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    vault.record(HELLO, session="s", now=NOW)
    monkeypatch.setattr(files, "lock", partial(files.lock, timeout=0.05))
    refused = []

    def other() -> None:
        files.watch_steps(None)
        with pytest.raises(Locked, match=f"process {os.getppid()}"):
            vault.record([Message("user", "second", NOW)], session="s", now=NOW)

    def step(name: str) -> None:
        if len(refused) < 3:
            refused.append(code_of(start(other)) == 0)

    files.watch_steps(step)
    vault.record([Message("user", "first", NOW)], session="s", now=NOW)
    assert refused == [True] * 3
    assert [m.text for m in vault.session("sessions/2026-W15/s.md").messages][2:] == ["first"]


def test_four_processes_begin_sessions_in_one_second(vault: Vault) -> None:
    children = [start(lambda: [vault.record(HELLO, now=NOW) for _ in range(5)] and None) for _ in range(4)]
    assert [code_of(child) for child in children] == [0] * 4
    assert len(vault.scan().files) == 20 and not checking.problems(vault)


@pytest.mark.slow
@pytest.mark.parametrize("held", [(), HELLO], ids=["new", "grown"])
def test_recording_killed_at_any_step_leaves_old_or_new(held: tuple[Message, ...], tmp_path: Path) -> None:
    more = (*HELLO, Message("user", "more", NOW + timedelta(hours=1)))
    counts = set()
    for number in range(1, 100):
        vault = Vault.create(tmp_path / f"vault{number}", tz="Asia/Shanghai")
        vault.record(held, session="s", now=NOW)

        def dying(vault: Vault = vault, number: int = number) -> None:
            die_at(number)
            vault.record(more, session="s", now=NOW)

        code = code_of(start(dying))
        paths = list(vault.scan().files)
        counts.add(len(vault.session(paths[0]).messages) if paths else 0)
        assert len(paths) <= 1 and not checking.problems(vault)
        vault.record(more, session="s", now=NOW)
        assert len(vault.session("sessions/2026-W15/s.md").messages) == 3, "the next run completes"
        if code == 0:
            break
        assert code == 137
    assert counts == {len(held), 3} and number > 4


GO = Message("user", "A poem?", NOW)
BEGUN = Message("assistant", "Roses are", NOW + timedelta(seconds=7))
WHOLE = Message("assistant", "Roses are red,\nviolets blue.", NOW + timedelta(seconds=7))
THANKS = Message("user", "Thanks.", NOW + timedelta(minutes=1))
POEM = "sessions/2026-W15/s.md"


@pytest.mark.parametrize("ends", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_an_answer_that_grew_is_made_longer_in_its_place(ends: str, vault: Vault) -> None:
    refs = vault.record([GO, BEGUN], session="s", now=NOW)
    place = vault.root / POEM
    place.write_bytes(place.read_bytes().replace(b"\n", ends.encode()))
    before = place.read_bytes()
    assert vault.record([GO, WHOLE], session="s", now=NOW) == refs
    longer = before.replace(b"Roses are", f"Roses are red,{ends}violets blue.".encode())
    assert place.read_bytes() == longer
    assert vault.record([GO, WHOLE], session="s", now=NOW) == refs and place.read_bytes() == longer
    vault.record([GO, WHOLE, THANKS], session="s", now=NOW)
    assert [m.text for m in vault.session(POEM).messages] == ["A poem?", WHOLE.text, "Thanks."]
    assert place.read_bytes().startswith(longer)
    assert vault.record([GO, WHOLE], session="s", now=NOW) == refs and not checking.problems(vault)


def test_an_answer_grows_step_by_step_without_times_too(vault: Vault) -> None:
    text = WHOLE.text
    for cut in (3, 9, len(text)):
        said = [Message("user", "A poem?"), Message("assistant", text[:cut])]
        vault.record(said, session="s", now=NOW + timedelta(seconds=cut))
    assert [m.text for m in vault.session(POEM).messages] == ["A poem?", text]
    vault.record([*said, Message("user", "Thanks.")], session="s", now=NOW + timedelta(minutes=1))
    assert [m.text for m in vault.session(POEM).messages] == ["A poem?", text, "Thanks."]


# What somebody did to the file after "Roses are red" was recorded, each as they left it.
EDITS = [
    ("shorter", "Roses are red", "Roses"),
    ("its heading", "## Assistant ·", "##  Assistant -"),
    ("a note below", "Roses are red\n", "Roses are red\n\n\n"),
]


@pytest.mark.parametrize(("old", "new"), [edit[1:] for edit in EDITS], ids=[edit[0] for edit in EDITS])
def test_what_was_edited_by_hand_does_not_grow(old: str, new: str, vault: Vault) -> None:
    vault.record([GO, Message("assistant", "Roses are red", BEGUN.at)], session="s", now=NOW)
    place = vault.root / POEM
    edited = place.read_text().replace(old, new)
    place.write_text(edited)
    vault.record([GO, WHOLE], session="s", now=NOW)
    assert place.read_text().startswith(edited)
    assert [m.text for m in vault.session(POEM).messages][-1] == WHOLE.text


def test_what_is_not_known_to_be_as_it_was_recorded_does_not_grow(vault: Vault) -> None:
    vault.record([GO, BEGUN], session="s", now=NOW)
    (vault.state / "journal.db").unlink()
    vault.record([GO, WHOLE], session="s", now=NOW)
    assert [m.text for m in vault.session(POEM).messages] == ["A poem?", "Roses are", WHOLE.text]


def test_a_longer_answer_is_one_that_an_older_copy_can_lose(vault: Vault) -> None:
    vault.record([GO, BEGUN], session="s", now=NOW)
    vault.record([GO, WHOLE], session="s", now=NOW)
    place = vault.root / POEM
    place.write_text(place.read_text().split("## Assistant")[0])
    walk = vault.losses()
    (problem,) = walk.problems([vault.read(POEM)])
    kept = next((vault.state / "recovered").iterdir()).read_text()
    assert "no longer in" in problem.message and WHOLE.text in kept


@pytest.mark.parametrize("first", [True, False], ids=["with times first", "without first"])
def test_times_that_come_or_go_double_nothing(first: bool, vault: Vault) -> None:
    dated = [GO, WHOLE, THANKS]
    undated = [Message(m.role, m.text) for m in dated]
    lists = [dated, undated] if first else [undated, dated]
    refs = [vault.record(said, session="s", now=NOW + timedelta(hours=1)) for said in (*lists, *lists)]
    assert [m.text for m in vault.session(POEM).messages] == [m.text for m in dated]
    assert refs[1:] == refs[:1] * 3


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS])
def test_a_disk_that_refuses_leaves_everything(code: int, vault: Vault) -> None:
    vault.record(HELLO, session="s", now=NOW)
    before = everything(vault)

    def refuse(name: str) -> None:
        raise OSError(code, os.strerror(code))

    files.watch_steps(refuse)
    with pytest.raises(WriteFailed, match=os.strerror(code)):
        vault.record([Message("user", "more", NOW)], session="s", now=NOW)
    assert everything(vault) == before


def test_a_session_locked_elsewhere_says_by_whom(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    vault.record(HELLO, session="s", now=NOW)
    (held,) = (vault.state / "locks").iterdir()
    quick = files.lock
    monkeypatch.setattr(files, "lock", lambda path: quick(path, timeout=0.05))
    with quick(held), pytest.raises(Locked, match=str(os.getpid())):
        vault.record([Message("user", "more", NOW)], session="s", now=NOW)


def test_the_vault_zone_decides_the_week(tmp_path: Path) -> None:
    late = datetime(2026, 4, 5, 20, 0, tzinfo=UTC)  # Monday in Shanghai, still Sunday in New York
    for tz, week in (("Asia/Shanghai", "2026-W15"), ("America/New_York", "2026-W14")):
        vault = Vault.create(tmp_path / week, tz=tz)
        vault.record([Message("user", "hi", late)], now=late)
        assert next(iter(vault.scan().files)).split("/")[1] == week
        assert load(vault.root).timezone == tz

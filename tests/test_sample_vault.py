"""The sample vault teaches the format, so each promise it makes is held here, by the real reader."""

from __future__ import annotations

import re
import tomllib
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from huimem import checking
from huimem.config import load
from huimem.records import Ref, Session
from huimem.vault import facts, markdown, notes
from huimem.vault.layout import namespace_of, week_folder
from huimem.vault.vault import Vault

VAULT = Path(__file__).parents[1] / "vault"
ZONE = ZoneInfo(tomllib.loads((VAULT / "huimem.toml").read_text("utf-8"))["timezone"])
WEEKS = [f"2026-W{week:02}" for week in range(1, 17)]
FILES = sorted(
    path.relative_to(VAULT).as_posix() for path in VAULT.rglob("*.md") if ".huimem" not in path.parts
)
UNTIMED = "inbox/generators-on-the-train.md"
TAG_FORM = "sessions/2026-W02/chat_2026-01-07_201500.md"
HAND_WRITTEN = "sessions/2026-W06/chat_2026-02-04_201000.md"
TIDIED = "sessions/2026-W09/chat_2026-02-27_103000.md"
PEOPLE = "sessions/2026-W10/chat_2026-03-07_160211.md"
ESCAPES = "sessions/2026-W11/chat_2026-03-13_213044.md"
CRLF = "sessions/2026-W12/chat_2026-03-21_150412.md"
DECISION = "sessions/2026-W15/chat_2026-04-08_230512.md"


def read(path: str) -> bytes:
    return (VAULT / path).read_bytes()


def sort_of(path: str) -> str:
    """What a file is; the feedback log goes by its place."""
    return "feedback" if path.startswith("feedback/") else markdown.sort_of(read(path), path)


@cache
def session(path: str) -> Session:
    return markdown.parse(read(path), path, zone=ZONE, namespace=namespace_of(path))


def note(path: str) -> Session:
    return notes.parse_note(read(path), path, zone=ZONE, modified=datetime(2026, 4, 1, tzinfo=UTC))


SESSIONS = [path for path in FILES if sort_of(path) == "session"]
DATED = [path for path in SESSIONS if path != UNTIMED]
NOTES = [path for path in FILES if sort_of(path) == "note"]
FACTS = [path for path in FILES if sort_of(path) == "facts"]


@pytest.mark.parametrize("path", SESSIONS)
def test_a_session_is_read_without_a_problem_and_written_back_as_it_was(path: str) -> None:
    assert session(path).problems == ()
    assert session(path).turns
    assert markdown.render(session(path)) == read(path)


@pytest.mark.parametrize("path", FACTS)
def test_a_fact_file_is_read_without_a_problem_and_written_back_as_it_was(path: str) -> None:
    found = facts.parse_facts(read(path), path, zone=ZONE)
    assert found.problems == ()
    assert found.versions
    assert facts.render(found) == read(path)


@pytest.mark.parametrize("path", NOTES)
def test_a_note_is_read_without_a_problem_and_written_back_as_it_was(path: str) -> None:
    assert note(path).problems == ()
    assert len(note(path).turns) >= 2
    assert markdown.render(note(path)) == read(path)


@pytest.mark.parametrize("path", DATED)
def test_a_session_lies_where_its_first_heading_says(path: str) -> None:
    times = [message.at for message in session(path).messages if message.role != "note" and message.at]
    assert len(times) == sum(message.role != "note" for message in session(path).messages)
    assert times == sorted(set(times))
    assert Path(path).parent.name == week_folder(times[0], ZONE)
    assert Path(path).stem == times[0].astimezone(ZONE).strftime("chat_%Y-%m-%d_%H%M%S")


@pytest.mark.parametrize("path", [path for path in DATED if path != TAG_FORM])
def test_front_matter_says_what_the_file_shows(path: str) -> None:
    found = session(path)
    assert found.fields["huimem"] == "1"
    assert found.id == found.fields["id"] == Path(path).stem
    assert found.fields["tz"] == "Asia/Shanghai"
    assert found.fields["aliases"]
    first = found.messages[0].at
    assert first and found.fields["created"] == first.astimezone(ZONE).strftime("%Y-%m-%dT%H:%M:%S")
    assert f"\n# {found.title}\n" in read(path).decode("utf-8-sig").replace("\r\n", "\n")


def test_the_vault_as_a_whole_is_sound() -> None:
    whole = Vault.open(VAULT, load(VAULT, environ={}))
    listed = whole.scan()
    assert checking.problems(whole) == ()
    assert set(FILES) - set(listed.files) <= {path for path in FILES if path.startswith("feedback/")}


def test_sixteen_weeks_hold_a_life_in_two_languages() -> None:
    own = [path for path in DATED if path.startswith("sessions/")]
    assert len(own) >= 38
    assert sorted({Path(path).parent.name for path in own}) == WEEKS
    shares = [_chinese_share(session(path)) for path in own]
    assert sum(share > 0.5 for share in shares) >= 15
    assert sum(share < 0.05 for share in shares) >= 12


def _chinese_share(found: Session) -> float:
    text = "".join(message.text for message in found.messages)
    letters: list[str] = re.findall(r"[A-Za-z\u4e00-\u9fff]", text)
    return sum(letter >= "\u4e00" for letter in letters) / len(letters)


def test_long_answers_end_in_their_conclusion() -> None:
    answers = [m.text for path in SESSIONS for m in session(path).messages if m.role == "assistant"]
    chinese = [
        text for text in answers if len(re.findall(r"[\u4e00-\u9fff]", text)) >= 1300 and len(text) >= 1500
    ]
    english = [text for text in answers if len(re.findall(r"[A-Za-z']+", text)) >= 600]
    assert len(chinese) >= 2
    assert len(english) >= 2
    for text in chinese + english:
        last = text.rstrip().rsplit("\n\n", 1)[1]
        assert re.search("结论|把秤读一遍|conclusion|Where that leaves you", last)


def test_the_decision_of_8_april_stands_where_the_demo_asks_for_it() -> None:
    found = session(DECISION)
    [said] = [message for message in found.messages if "就这么定" in message.text]
    assert found.title == "向量索引怎么选"
    assert said.role == "user"
    assert said.text.startswith("好，就这么定：分段 fp16，IVF 留给冷月份。")
    assert said.at and said.at.astimezone(ZONE).strftime("%Y-%m-%d %H:%M") == "2026-04-08 23:58"


SHOWN = [  # file, what it shows of the format, as it stands in the bytes
    ("sessions/2026-W08/chat_2026-02-18_153320.md", "a byte order mark", rb"\A\xef\xbb\xbf---\n"),
    (CRLF, "Windows line ends", rb"\A---\r\n"),
    (TAG_FORM, "the older tag form", rb'(?m)^<user timestamp="2026-01-07 20:15:00">$'),
    (TAG_FORM, "a hand-written line between tags", "</assistant>\n\n这一段是我后来手写的".encode()),
    (HAND_WRITTEN, "a heading without seconds", "(?m)^## 我 · 2026-02-04 20:10$".encode()),
    (HAND_WRITTEN, "a heading without a date", "(?m)^## 助手 20:12$".encode()),
    (HAND_WRITTEN, "keys of the owner's", "(?m)^来源: ".encode()),
    (TIDIED, "a dash for the middle dot", "(?m)^## User — 2026-02-27 10:30$".encode()),
    (TIDIED, "a callout in the preface", rb"(?m)^> \[!warning\]"),
    (TIDIED, "a comment", rb"(?m)^<!-- the line was 41 dashes"),
    (PEOPLE, "two people", "(?m)^###### Marta · 2026-03-07 16:03:02$".encode()),
    (ESCAPES, "an escaped heading", rb"(?m)^\\## User "),
    (ESCAPES, "a heading inside a fence", rb"(?m)^# This heading is inside a fence$"),
    (ESCAPES, "a fence nobody closes", rb"```python\ndef unfinished\(\n\n## Assistant"),
    (DECISION, "a block id", rb"(?m) \^index-decision$"),
    (DECISION, "an embed", rb"!\[\[latency-one-month\.svg\]\]"),
    ("sessions/2026-W16/chat_2026-04-14_224009.md", "folded tool traffic", rb"(?m)^> \[!tool\]- grep .* ok "),
    ("notes/厨房换算.md", "a note without front matter", rb"\A# "),
    ("facts/diet.md", "attributes of a fact", rb"(?m)^<!-- importance=1\.2 source=user from=chat_"),
    ("huimem.toml", "settings with comments", rb"(?m)^# "),
    (".gitignore", "that the index is derived", rb"(?m)^\.huimem/$"),
]


@pytest.mark.parametrize(("path", "what", "pattern"), SHOWN, ids=[what for _, what, _ in SHOWN])
def test_the_vault_shows(path: str, what: str, pattern: bytes) -> None:
    assert re.search(pattern, read(path)), what


READ_AS = [  # file, roles in order, wall clock of each message
    (HAND_WRITTEN, "user assistant user assistant user assistant", "20:10 20:12 20:19 20:21 20:40 20:42"),
    (TIDIED, "user assistant user assistant", "10:30 10:31 10:44 10:45"),
    (TAG_FORM, "user assistant user assistant", "20:15 20:15 20:31 20:32"),
    (CRLF, "user assistant user assistant", "15:04 15:05 15:30 15:31"),
    (ESCAPES, "user assistant user assistant user", "21:30 21:31 21:42 21:43 21:44"),
]


@pytest.mark.parametrize(("path", "roles", "times"), READ_AS, ids=[row[0] for row in READ_AS])
def test_odd_files_are_read_as_they_are_meant(path: str, roles: str, times: str) -> None:
    messages = [message for message in session(path).messages if message.role != "note"]
    assert [message.role for message in messages] == roles.split()
    assert [f"{message.at.astimezone(ZONE):%H:%M}" for message in messages if message.at] == times.split()


def test_an_escaped_heading_is_text_again() -> None:
    assert "\n## User · 2026-03-13 21:30:44\n" in session(ESCAPES).messages[1].text


def test_people_speak_in_turns_of_their_own() -> None:
    found = session(PEOPLE)
    assert found.people
    assert {message.name for message in found.messages} == {"周宁", "Marta"}
    assert len(found.turns) == len(found.messages) == 11


def test_an_untimed_chat_is_read_in_place() -> None:
    found = session(UNTIMED)
    assert [message.role for message in found.messages] == ["user", "assistant", "user", "assistant"]
    assert len(found.turns) == 2
    assert all(turn.inferred for turn in found.turns)


def test_the_work_namespace_has_conversations_of_its_own() -> None:
    work = [path for path in SESSIONS if namespace_of(path) == "work"]
    assert len(work) == 3
    assert all(turn.ref.namespace == "work" for path in work for turn in session(path).turns)


def test_the_diet_changed_once_and_left_no_gap() -> None:
    before, after = facts.timeline(
        facts.parse_facts(read("facts/diet.md"), "facts/diet.md", zone=ZONE).versions
    )
    assert before.valid.end == after.valid.start
    assert after.valid.end is None


def test_whatever_is_cited_exists() -> None:
    refs = {str(turn.ref) for path in SESSIONS for turn in session(path).turns}
    text = "\n".join(read(path).decode() for path in FILES if sort_of(path) in ("facts", "feedback"))
    cited = re.findall(r"\bchat_[\d_-]+#\w+", text)
    assert len(cited) >= 6
    assert [ref for ref in cited if str(Ref.parse(ref)) not in refs] == []


def test_wikilinks_lead_somewhere() -> None:
    names = {Path(path).stem for path in FILES} | {path.name for path in (VAULT / "attachments").iterdir()}
    text = "\n".join(read(path).decode() for path in FILES)
    links = re.findall(r"\[\[([^\]#|]+)", text)
    assert len(links) >= 5
    assert [link for link in links if link not in names] == []

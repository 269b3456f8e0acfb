"""Plain notes in parts, prefaces as notes, and what is left out of the index."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from huimem.markup import readable, searchable
from huimem.vault.markdown import parse, render
from huimem.vault.notes import parse_note, records, slug_of

ZONE = ZoneInfo("Asia/Shanghai")
CHANGED = datetime(2026, 5, 1, 8, tzinfo=ZONE)


# A note → the slugs of its records.
PARTS = [
    ("one line", ["preface"]),
    ("", []),
    ("# T", ["preface"]),
    ("# T\n\ntext", ["preface"]),
    ("# T\n\n## A\n\n## B", ["a", "b"]),
    ("# T\n\nintro\n\n## A\n\n### A1\n\n## B", ["preface", "a", "b"]),
    ("# A\n\n## A1\n\n# B", ["a", "b"]),
    ("### A\n\n### B\n\n#### C", ["a", "b"]),
    ("## A\n\n# T\n\n## B", ["a", "b"]),
    ("intro\n\n## Preface\n\nx", ["preface", "preface~2"]),
    ("## 午饭\n\n## 午饭\n\n## 🙂", ["午饭", "午饭~2", "part"]),
    ("```\n## not\n```\n\n## A", ["preface", "a"]),
    ("#hashtag\n\n####### seven\n\n## A", ["preface", "a"]),
    ("<!-- only a comment -->\n\n## A", ["a"]),
]


@pytest.mark.parametrize(("text", "slugs"), PARTS, ids=[text for text, _ in PARTS])
def test_a_note_is_cut_at_its_top_level(text: str, slugs: list[str]) -> None:
    session = parse_note(text.encode(), "x/y.md", zone=ZONE)
    assert [str(turn.ref) for turn in records(session)] == [f"x%2Fy#{slug}" for slug in slugs]
    assert {turn.kind for turn in records(session)} <= {"note"}
    assert render(session) == text.encode()


def test_every_word_of_a_note_is_in_a_part() -> None:
    text = "# T\n\nintro one\n\n## A ^id\n\ntwo\n\n### B\n\nthree\n\n```\n## four\n```\n"
    session = parse_note(text.encode(), "x.md", zone=ZONE)
    joined = "\n".join(turn.text for turn in records(session))
    assert all(word in joined for word in ("intro one", "A", "two", "B", "three", "## four"))


# Path and front matter → date, and whether it is a guess.
DATES = [
    ("2026-04-06.md", "", "2026-04-06T00:00:00+08:00", False),
    ("daily/2026-04-06 Monday.md", "", "2026-04-06T00:00:00+08:00", False),
    ("20260406.md", "", "2026-04-06T00:00:00+08:00", False),
    ("2026_04_06.md", "", "2026-04-06T00:00:00+08:00", False),
    ("2026-04-06/plan.md", "", "2026-05-01T08:00:00+08:00", True),
    ("2026-13-45.md", "", "2026-05-01T08:00:00+08:00", True),
    ("x.md", "created: 2026-04-07 10:00", "2026-04-07T10:00:00+08:00", False),
    ("x.md", "date: 2026-04-07", "2026-04-07T00:00:00+08:00", False),
    ("2026-04-06.md", "date: 2026-04-07", "2026-04-07T00:00:00+08:00", False),
    ("x.md", "date: soon", "2026-05-01T08:00:00+08:00", True),
    ("x.md", "date: 2026-04-07\ntz: Europe/Berlin", "2026-04-07T00:00:00+02:00", False),
]


@pytest.mark.parametrize(("path", "fields", "date", "guess"), DATES)
def test_a_note_is_dated_by_front_matter_name_or_file(path: str, fields: str, date: str, guess: bool) -> None:
    data = f"---\n{fields}\n---\n\ntext\n\n## A\n".encode()
    parts = records(parse_note(data, path, zone=ZONE, modified=CHANGED))
    at = datetime.fromisoformat(date)
    assert [(part.at, part.inferred) for part in parts] == [(at, guess), (at, guess)]


def test_a_note_has_its_own_name_inside_a_namespace() -> None:
    path = "namespaces/alice/namespaces/work/notes/x.md"
    session = parse_note(b"hi", path, zone=ZONE, namespace="alice/work")
    assert str(records(session)[0].ref) == "alice/work/notes%2Fx#preface"


HEADING = "## User · 2026-04-06 09:14:23\n\nhi\n"

# A session's preface → the text of its note part, None where there is none, and its line.
PREFACES = [
    ("# Title\n\n", None, 0),
    ("---\ntitle: Title\n---\n\n# Title\n\n", None, 0),
    ("# Title\n\nSee [[Plan]].\n\n", "See [[Plan]].", 3),
    ("above\n\n# Title\n\nbelow\n\n", "above\n\n\n\nbelow", 1),
    ("---\ntitle: Other\n---\n# Title\n\n", "# Title", 4),
    ("<!-- a comment -->\n", None, 0),
    ("%% obsidian %%\n", "%% obsidian %%", 1),
]


@pytest.mark.parametrize(("preface", "text", "line"), PREFACES, ids=[preface for preface, _, _ in PREFACES])
def test_a_preface_is_a_note_beyond_the_title(preface: str, text: str | None, line: int) -> None:
    session = parse(f"{preface}{HEADING}".encode(), "x.md", zone=ZONE)
    notes = [turn for turn in records(session) if turn.kind == "note"]
    expected = [("x#preface", text, line)] if text else []
    assert [(str(note.ref), note.text, note.messages[0].line) for note in notes] == expected
    assert [turn for turn in records(session) if turn.kind == "turn"] == list(session.turns)


# Text → the same with what is not indexed marked by dots.
INDEXED = [
    ("trade on Wednesdays. ^trade-rule", "trade on Wednesdays. ..........."),
    ("a ^one\nb ^two  \n^three\n", "a ....\nb ....  \n......\n"),
    ("2^10 and x ^ y", "2^10 and x ^ y"),
    ("mid ^id sentence", "mid ^id sentence"),
    ("a <!-- b\nc --> d", "a ......\n..... d"),
    ("a <!-- never closed", "a <!-- never closed"),
    ("```\n<!-- code -->\nx ^y\n```\n<!-- out -->", "```\n<!-- code -->\nx ^y\n```\n............"),
    ("<!-- one --> x <!-- two -->", "............ x ............"),
    ("中文 ^块", "中文 ^块"),
]


@pytest.mark.parametrize(("text", "shown"), INDEXED, ids=[text for text, _ in INDEXED])
def test_block_ids_and_comments_are_blank_to_the_index(text: str, shown: str) -> None:
    pairs = zip(shown, text, strict=True)
    expected = "".join(" " if mark == "." and was != "." else was for mark, was in pairs)
    assert searchable(text) == expected


# Text with the place meant at |  → the same as people are shown it, the place still marked.
SHOWN = [
    ("trade on |Wednesdays. ^trade-rule", "trade on |Wednesdays."),
    ("^one\n|b ^two  \nc", "|b  \nc"),
    ("a <!-- b\nc --> |d", "a |d"),
    ("one\n\n<!-- why -->\n\n|two", "one\n\n|two"),
    ("one\r\n<!-- why -->\r\n|two", "one\r\n|two"),
    ("a <!-- in|side --> b", "a| b"),
    ("```\n    <!-- code -->\n|x ^y\n```", "```\n    <!-- code -->\n|x ^y\n```"),
    ("|<!-- all there is -->", "|"),
    ("a <!-- 1 --> <!-- 2 -->|", "a|"),
]


@pytest.mark.parametrize(("text", "shown"), SHOWN, ids=[text for text, _ in SHOWN])
def test_block_ids_and_comments_are_not_shown(text: str, shown: str) -> None:
    whole, (place,) = readable(text.replace("|", ""), text.index("|"))
    assert f"{whole[:place]}|{whole[place:]}" == shown


SLUGS = [
    ("Hello, World!", "hello-world"),
    ("获取 数据", "获取-数据"),
    ("[[Note|Shown]] & more", "shown-more"),
    ("v1.10 (beta)", "v1-10-beta"),
    ("Closed ##", "closed"),
    ("🙂", "part"),
]


@pytest.mark.parametrize(("heading", "slug"), SLUGS)
def test_a_slug_is_letters_and_digits(heading: str, slug: str) -> None:
    assert slug_of(heading) == slug

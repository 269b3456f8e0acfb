"""Front matter: what is read, what is left alone, what one change changes."""

from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from huimem.vault import front, front_yaml
from huimem.vault.front import render_front, set_field, split_front

Fields = dict[str, front.Value]

# YAML as written → the fields, all of them strings as they stand there.
READ = [
    ("title: Hello", {"title": "Hello"}),
    ("country: no\nver: 1.10\nid: 00012", {"country": "no", "ver": "1.10", "id": "00012"}),
    ("t: 12:30\nphone: +8210", {"t": "12:30", "phone": "+8210"}),
    ("created: 2026-04-06T09:14:23", {"created": "2026-04-06T09:14:23"}),
    ("a: null\nb: ~\nc:\nd: true", {"a": "null", "b": "~", "c": "", "d": "true"}),
    ("date: 2025-13-45", {"date": "2025-13-45"}),
    ("tags: [stocks, 'a b', \"c, d\"]", {"tags": ("stocks", "a b", "c, d")}),
    ("tags: []", {"tags": ()}),
    ("tags:\n  - stocks\n  - 选股\nid: x", {"tags": ("stocks", "选股"), "id": "x"}),
    ("tags:\n- a\n# between\n\n- b", {"tags": ("a", "b")}),
    ("tags: a, b", {"tags": "a, b"}),
    ('title: "a: b # c"', {"title": "a: b # c"}),
    ("title: 'it''s'", {"title": "it's"}),
    (r'title: "tab\tand \u4e2d"', {"title": "tab\tand 中"}),
    ("title: x # a comment", {"title": "x"}),
    ("url: https://example.org/a#b", {"url": "https://example.org/a#b"}),
    ("text: |\n  one\n  two", {"text": "one\ntwo\n"}),
    ("long: one\n  two", {"long": "one two"}),
    ("up: [[Note]]", {"up": "[[Note]]"}),
    ("who: {name: Ann}", {"who": "{name: Ann}"}),
    ("{a: b, c: d}", {"a": "b", "c": "d"}),
    ("标题: 你好", {"标题": "你好"}),
    ("two words: x", {"two words": "x"}),
    ("# only a comment", {}),
    ("", {}),
]

# Broken blocks → the fields that can still be read, and the line of the problem.
BROKEN = [
    ("id: x\ntitle: a: b", {"id": "x", "title": "a: b"}, 3),
    ("id: x\nlink: *x*", {"id": "x", "link": "*x*"}, 3),
    ("id: x\nid: y\nt: z", {"id": "x", "t": "z"}, 3),
    ("id: x\nlist:\n  - a\n - b", {"id": "x", "list": ("a", "b")}, 5),
    ("id: x\n\tindented: y", {"id": "x"}, 3),
    ("id: x\nbad: !!python/name:os.system", {"id": "x", "bad": "!!python/name:os.system"}, 3),
    ("id: x\nbad: !own 1", {"id": "x", "bad": "!own 1"}, 3),
    ("id: x\na: &b c\nd: *b", {"id": "x", "a": "&b c", "d": "*b"}, 3),
    ("id: x\nopen: [a", {"id": "x", "open": "[a"}, 4),
    ("id: x\nquote: 'a", {"id": "x", "quote": "'a"}, 4),
]

# Text between rules that was never meant as front matter stays text.
TEXT = [
    "Just prose.",
    "- a\n- b",
    "one\ntwo\n\nthree",
    "> quoted",
    "1. first\n2. second",
    "https://example.org",
]


def file_of(block: str, end: str = "\n") -> bytes:
    lines = ["---", *block.split("\n"), "---", "", "body", ""] if block else ["---", "---", "", "body", ""]
    return end.join(lines).encode()


@pytest.mark.parametrize("mark", [b"", front.BOM])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(("block", "fields"), READ, ids=[block for block, _ in READ])
def test_fields_are_read_as_strings(block: str, fields: Fields, end: str, mark: bytes) -> None:
    data = mark + file_of(block, end)
    read, body = split_front(data, "x.md")
    assert (dict(read.fields), read.problems) == (fields, ())
    assert list(read.fields) == list(fields)
    assert read.raw + body == data
    assert body == f"{end}body{end}".encode()
    assert read.body_line == read.raw.count(b"\n") + 1


@pytest.mark.parametrize(("block", "fields", "line"), BROKEN, ids=[block for block, _, _ in BROKEN])
def test_a_broken_line_costs_that_line_only(block: str, fields: Fields, line: int) -> None:
    data = file_of(block)
    read, body = split_front(data, "x.md")
    assert dict(read.fields) == fields
    assert [problem.line for problem in read.problems] == [line]
    assert body == b"\nbody\n"


@pytest.mark.parametrize("block", TEXT)
def test_text_between_rules_is_body(block: str) -> None:
    data = file_of(block)
    read, body = split_front(data, "x.md")
    assert (read.raw, dict(read.fields), body) == (b"", {}, data)
    assert [problem.line for problem in read.problems] == [1]


# Files whose first `---` opens no block → fields, problem lines; all of it is body.
OPEN = [
    ("---\n\nprose\n", {}, []),
    ("---", {}, []),
    ("----\na: b\n---\n", {}, []),
    (" ---\na: b\n---\n", {}, []),
    ("---\nid: x\ntags:\n  - a\n\n# Title\n\ntext\n", {"id": "x", "tags": ("a",)}, [1]),
    ("---\nid: x\n\n## User · 2026-04-06 09:14:23\n\na rule:\n\n---\n", {"id": "x"}, [1]),
    ("---\nid: x\n\n## User\n\nhi\n\n---\n", {"id": "x"}, [1]),
    ("---\nid: x\n<user timestamp='2026-04-06'>\nhi\n</user>\n---\n", {"id": "x"}, [1]),
    ("huimem: 1\nid: x\n---\n\ntext\n", {}, [1]),
    ("id: not ours\n\nSetext heading\n---\n", {}, []),
]


@pytest.mark.parametrize(("text", "fields", "lines"), OPEN, ids=[text for text, _, _ in OPEN])
def test_what_is_not_closed_is_body(text: str, fields: Fields, lines: list[int]) -> None:
    read, body = split_front(text.encode(), "x.md")
    assert (read.raw, body) == (b"", text.encode())
    assert dict(read.fields) == fields
    assert [problem.line for problem in read.problems] == lines


def test_a_block_may_end_with_dots() -> None:
    read, body = split_front(b"---\nid: x\n...\nbody", "x.md")
    assert (dict(read.fields), body) == ({"id": "x"}, b"body")


def test_a_giant_block_is_read_line_by_line() -> None:
    data = file_of("id: x\nnotes: >\n" + "  word\n" * 20_000)
    read, _ = split_front(data, "x.md")
    assert read.fields["id"] == "x"
    assert [problem.line for problem in read.problems] == [1]


BLOCK = """\
---
# mine
title: "Old"   # keep me
tags:
  - a
  - b
flow: [p, q] # and me
empty:
n: 1.10
text: |
  one
  two
---
"""

# What is set in BLOCK → the lines of it that are replaced, and by what.
SET = [
    ("title", "New", 'title: "Old"   # keep me', "title: New   # keep me"),
    ("title", "a: b", 'title: "Old"   # keep me', 'title: "a: b"   # keep me'),
    ("title", "no", 'title: "Old"   # keep me', 'title: "no"   # keep me'),
    ("n", "1.20", "n: 1.10", 'n: "1.20"'),
    ("empty", "x", "empty:", "empty: x"),
    ("empty", ("x", "y, z"), "empty:", 'empty: [x, "y, z"]'),
    ("flow", ("p", "q", "r"), "flow: [p, q] # and me", "flow: [p, q, r] # and me"),
    ("flow", "x", "flow: [p, q] # and me", "flow: x # and me"),
    ("tags", ("a", "c: d"), "  - a\n  - b", '  - a\n  - "c: d"'),
    ("tags", (), "tags:\n  - a\n  - b", "tags: []"),
    ("tags", "one", "tags:\n  - a\n  - b", "tags: one"),
    ("text", "short", "text: |\n  one\n  two", "text: short"),
    ("created", "2026-04-06T09:14:23", "  two\n", "  two\ncreated: 2026-04-06T09:14:23\n"),
    ("participants", ("Ann", "李雷"), "  two\n", "  two\nparticipants:\n  - Ann\n  - 李雷\n"),
]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(("name", "value", "old", "new"), SET, ids=[f"{n}={v}" for n, v, _, _ in SET])
def test_setting_a_field_changes_its_lines_only(
    name: str, value: front.Value, old: str, new: str, end: str
) -> None:
    before = BLOCK.replace("\n", end).encode()
    after = BLOCK.replace(old, new, 1).replace("\n", end).encode()
    assert set_field(before, name, value) == after


@pytest.mark.parametrize("raw", [b"", front.BOM])
def test_setting_a_field_of_a_file_without_front_matter_makes_one(raw: bytes) -> None:
    assert set_field(raw, "id", "x") == raw + b"---\nid: x\n---\n"


@pytest.mark.parametrize("block", [block for block, _, _ in BROKEN if "id: y" not in block])
def test_a_block_that_cannot_be_parsed_is_never_rewritten(block: str) -> None:
    with pytest.raises(ValueError, match="front matter"):
        set_field(f"---\n{block}\n---\n".encode(), "title", "New")


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        (b"---\na: 1\na: 2\n---\n", "a"),
        (b"---\n{a: b}\n---\n", "c"),
        (b"---\na: \xff\n---\n", "b"),
        (b"text", "a"),
    ],
)
def test_what_cannot_be_changed_safely_is_refused(raw: bytes, name: str) -> None:
    with pytest.raises(ValueError):
        set_field(raw, name, "x")


ODD_WORDS = """no ~ 1.10 0x1F 2026-04-06 [x] ' " | > &a *a !x % @ ` ? : --- ... = <<"""
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    [*ODD_WORDS.split(), "", " x ", "a: b", "a #b", "- a", "a\nb", "\x85", "\u2028", "\ufeff"]
)
KEYS = WORDS.filter(lambda word: word != "" and word.strip() == word)
VALUES = WORDS | st.lists(WORDS, max_size=3).map(tuple)
FIELDS = st.dictionaries(KEYS, VALUES, min_size=1, max_size=4)


@given(FIELDS)
@settings(deadline=None)
def test_written_fields_read_back_equal(fields: Fields) -> None:
    raw = render_front(fields)
    read, body = split_front(raw + b"\nbody", "x.md")
    assert (dict(read.fields), read.problems, read.raw, body) == (fields, (), raw, b"\nbody")


@given(FIELDS, KEYS, VALUES)
@example({"name": "\xa0"}, "name", "")
@example({"name": ("tea", "\u3000")}, "name", "茶")
@settings(deadline=None)
def test_a_set_field_reads_back_and_the_others_stay(fields: Fields, name: str, value: front.Value) -> None:
    changed, _ = split_front(set_field(render_front(fields), name, value), "x.md")
    assert dict(changed.fields) == {**fields, name: value}
    assert list(changed.fields) == list({**fields, name: value})


ODD_PIECES = """a c: [ ] # : | 中 - ? 1 é { & * ! % ' \""""
PIECES = st.sampled_from(
    [*ODD_PIECES.split(), "b: ", "- ", "  - ", " ", ", ", " #", "x y", "\t", "\ufeff", "\x7f"]
)
BLOCKS = st.lists(st.lists(PIECES, max_size=5).map("".join), max_size=5).map("\n".join)


@given(BLOCKS)
@settings(max_examples=300, deadline=None)
def test_the_short_way_reads_what_yaml_reads(block: str) -> None:
    plain = front._plain_fields(block)
    if plain is not None:
        fields, repeated = plain
        by_yaml, problems = front_yaml.yaml_fields(block, "")
        assert fields == by_yaml
        assert [line for line, _ in repeated] == [problem.line for problem in problems]


@given(st.binary(max_size=60) | BLOCKS.map(lambda block: file_of(block)))
@settings(max_examples=100, deadline=None)
def test_front_and_body_are_the_file(data: bytes) -> None:
    read, body = split_front(data, "x.md")
    assert read.raw + body == data


def test_plain_front_matter_needs_no_yaml() -> None:
    block = dedent("""\
        huimem: 1
        id: chat_2026-04-06_091423
        title: 获取今日龙虎榜数据
        aliases: [获取今日龙虎榜数据]
        created: 2026-04-06T09:14:23
        tags:
          - stocks
        """)
    assert front._plain_fields(block) is not None

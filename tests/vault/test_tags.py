"""The older tag form: single lines and small files, and what is read from them."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from huimem.errors import UsageError
from huimem.records import Message
from huimem.vault.markdown import append, parse, render, sort_of

ZONE = ZoneInfo("Asia/Shanghai")


def said(text: str, name: str = "chat_x.md") -> list[tuple[str, str | None, str]]:
    """Role, wall clock and text of each message."""
    session = parse(text.encode(), name, zone=ZONE)
    return [(m.role, f"{m.at:%Y-%m-%d %H:%M:%S}" if m.at else None, m.text) for m in session.messages]


# One opening tag → the time it says.
TIMES = [
    ('<user timestamp="2026-04-06 09:14:23">', "2026-04-06 09:14:23"),
    ("<user timestamp='2026-04-06 09:14:23'>", "2026-04-06 09:14:23"),
    ("<user timestamp=2026-04-06T09:14:23>", "2026-04-06 09:14:23"),
    ('<USER id="1" timestamp="2026-04-06T09:14">', "2026-04-06 09:14:00"),
    ('<user timestamp="2026-04-06 09:14:23" mood="it\'s fine">', "2026-04-06 09:14:23"),
    ('  <user   timestamp = "2026-04-06"  >', "2026-04-06 00:00:00"),
    ('<user timestamp="2026-04-06T01:14:23Z">', "2026-04-06 01:14:23"),
    ('<user timestamp="yesterday">', None),
    ('<user timestamp="2026-02-30 09:14:23">', None),
    ("<user>", None),
]


@pytest.mark.parametrize(("tag", "time"), TIMES, ids=[tag for tag, _ in TIMES])
def test_attributes_come_in_any_order_and_quoting(tag: str, time: str | None) -> None:
    assert said(f"{tag}\nhello\n</user>\n") == [("user", time, "hello")]


# Lines that are no tag, whatever they look like: the message around them keeps them.
NO_TAGS = [
    'see <user timestamp="2026-04-06 10:00:00">',
    '<user timestamp="2026-04-06 10:00:00"> and more',
    '<user timestamp="2026-04-06 10:00:00">inner</user> rest',
    "what does </user> mean?",
    "<userland>",
    "<user timestamp='unclosed>",
    "```\n<user timestamp='2026-04-06 10:00:00'>\n</user>\n```",
    "</assistant>",
    "user 2026-04-06 09:14:23 said so",
]


@pytest.mark.parametrize("line", NO_TAGS)
def test_a_tag_stands_alone_on_its_line(line: str) -> None:
    text = f'<user timestamp="2026-04-06 09:14:23">\nbefore\n{line}\nafter\n</user>\n'
    assert said(text) == [("user", "2026-04-06 09:14:23", f"before\n{line}\nafter")]


def test_a_missing_close_ends_at_the_next_opening_and_leaves_its_anchor_out() -> None:
    text = (
        "<user timestamp=2026-04-06>\none\n\n[id:aaaaaa]\n<assistant timestamp=2026-04-06>\ntwo\n</assistant>"
    )
    assert [words for _, _, words in said(text)] == ["one", "two"]
    problems = parse(text.encode(), "x.md", zone=ZONE).problems
    assert [(p.line, p.message) for p in problems] == [(1, "<user> is never closed: it ends at the next one")]


def test_every_call_of_one_second_is_kept() -> None:
    call = """<tool_call name="t{}" timestamp="2026-04-06 09:14:23" params='{{"q":"it's {}"}}' />\n"""
    text = "".join(call.format(n, n) for n in range(5))
    session = parse(text.encode(), "task_2026-04-06.md", zone=ZONE)
    assert [(m.name, m.text) for m in session.messages] == [
        (f"t{n}", f'{{"q":"it\'s {n}"}}') for n in range(5)
    ]


def test_a_prompt_belongs_to_the_section_right_above_it() -> None:
    prompt = "## {}\n\n<system timestamp='2026-04-06 0{}:00:00'>\n{}\n</system>\n\n"
    text = prompt.format("init", 1, "a") + "A remark.\n\n" + prompt.format("config-change", 2, "b")
    session = parse(text.encode(), "system_2026-04-06.md", zone=ZONE)
    assert [(m.role, m.name, m.text) for m in session.messages] == [
        ("system", "init", "a"),
        ("system", "config-change", "b"),
        ("note", None, "A remark."),
    ]


def test_front_matter_may_stand_below_the_comments() -> None:
    text = (
        "<!-- topic: 晨会 -->\n<!-- created_at: 2026-04-06 09:00:00 -->\n"
        "---\nparticipants: [user, assistant]\ntags: ['daily']\n---\n"
        "<user timestamp='2026-04-06'>\nhi\n</user>\n"
    )
    session = parse(text.encode(), "x.md", zone=ZONE)
    assert session.title == "晨会"
    assert session.fields["tags"] == ("daily",)
    assert session.fields["created"] == "2026-04-06 09:00:00"
    assert not session.people
    assert session.preface.strip() == ""
    assert render(session) == text.encode()


def test_tags_are_text_in_a_file_of_ours() -> None:
    tags = "<user timestamp='2026-04-06'>\nhi\n</user>\n"
    text = f"---\nhuimem: 1\n---\n{tags}\n## User · 2026-04-06 09:00:00\n\nyes\n"
    assert said(text) == [("user", "2026-04-06 09:00:00", "yes")]


def test_a_full_heading_counts_in_a_tag_file_too() -> None:
    text = "<user timestamp='2026-04-06'>\nhi\n\n## Assistant · 2026-04-06 09:00:00\n\nyes\n"
    assert said(text) == [("user", "2026-04-06 00:00:00", "hi"), ("assistant", "2026-04-06 09:00:00", "yes")]


# Files that only speak of tags → notes.
MENTIONS = [
    "Write it like this:\n\n<user>\nhello\n</user>\n",
    "```\n<user timestamp='2026-04-06 09:14:23'>\n</user>\n```\n",
    "In a line: <user timestamp='2026-04-06 09:14:23'> x\n",
]


@pytest.mark.parametrize("text", MENTIONS)
def test_a_mention_makes_no_session(text: str) -> None:
    assert sort_of(text.encode(), "about-tags.md") == "note"


@pytest.mark.parametrize(
    "text",
    [
        "<user timestamp='2026-04-06'>\nhi\n</user>\n",
        "**You:** hi\n\n**ChatGPT:** yes\n",
        "user 2026-04-06 09:14:23\nhi\n",
    ],
)
def test_other_forms_are_not_appended_to(text: str) -> None:
    session = parse(text.encode(), "chat_x.md", zone=ZONE)
    with pytest.raises(UsageError, match="older or foreign form"):
        append(session, [Message("user", "more", session.messages[0].at)])

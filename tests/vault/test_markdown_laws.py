"""What holds for every file and every session, whatever is in it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from pathlib import Path
from time import process_time
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from huimem.markup import searchable
from huimem.records import Message, Session
from huimem.vault.headings import escape, read_heading, unescape
from huimem.vault.markdown import append, group, new_session, normal, parse, render, settle, sort_of
from huimem.vault.notes import parse_note, records

ZONES = [ZoneInfo("Asia/Shanghai"), ZoneInfo("Europe/Berlin"), ZoneInfo("America/St_Johns"), ZoneInfo("UTC")]
SAMPLES = sorted((Path(__file__).parents[2] / "fixtures" / "markdown").glob("*.md"))

# Lines that look like something to one reader or another.
HOSTILE = [
    "## User · 2026-04-06 09:14:23",
    "## Assistant (Claude) · 2026-04-06 09:14:30.123 +02:00",
    "###### Caroline · 2026-04-06 09:14:23",
    "## User · 2026-02-30 09:14:23",
    "## 用户 9：15",
    "## User - 25:00",
    "## Anybody, 09:14",
    "## User",
    "#### You:",
    "**Human:** hello",
    "**AI:**",
    "\\## User · 2026-04-06 09:14:23",
    "\\\\###### Caroline 09:14",
    "# Title",
    "---",
    "...",
    "huimem: 1",
    "id: x",
    "tz: Europe/Berlin",
    "participants: [Caroline, 'Bo']",
    "participants:",
    "  - Caroline",
    "title: a: b",
    "tags: [[link]]",
    "x: &a *a",
    "y: !!python/object:os.system 1",
    "```",
    "```python",
    "````",
    "~~~",
    "   ~~~~ x",
    '<user timestamp="2026-04-06 09:14:23">',
    "</user>",
    "<ASSISTANT timestamp='2026-04-06'>",
    "</assistant>",
    '<assistant timestamp="x">whole</assistant>',
    '<tool_call name=a params=\'{"q":"it\'s"}\' />',
    "<tool_result>",
    "[id:a3f2k7]",
    "user 2026-04-06 09:14:23",
    "<!-- topic: a --> b -->",
    "<!-- created_at: 2026-04-06 -->",
    "<!--",
    "-->",
    "text ^block-id",
    "> ## User · 2026-04-06 09:14:23",
    "",
    " ",
    "\t",
    "\u3000",
    "\ufeff",
    "\x00",
    "a\x85b\u2028c\x0cd\re",
    "\\",
    "中文 text 🙂",
]
LINES = st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(exclude_characters="\n"), max_size=12))
TEXTS = st.lists(LINES, max_size=8).map("\n".join)
RAW_LINES = LINES.map(lambda line: line.encode("utf-8", "surrogatepass")) | st.binary(max_size=6)
FILES = st.one_of(
    st.binary(max_size=80),
    st.builds(
        lambda mark, lines, end: mark + end.join(lines),
        st.sampled_from([b"", b"\xef\xbb\xbf"]),
        st.lists(RAW_LINES, max_size=25),
        st.sampled_from([b"\n", b"\r\n", b"\r"]),
    ),
)
PATHS = st.sampled_from(["x.md", "sessions/2026-W15/chat_2026-04-06_091423.md", "facts/x.md"])
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@given(FILES, PATHS, st.sampled_from(ZONES))
@settings(max_examples=250, deadline=None)
def test_a_file_renders_to_its_own_bytes(data: bytes, path: str, zone: ZoneInfo) -> None:
    session = parse(data, path, zone=zone)
    note = parse_note(data, path, zone=zone)
    assert render(session) == data
    assert render(note) == data
    assert sort_of(data, path) in ("session", "facts", "note")
    for read in (session, note):
        for record in records(read):
            for message in record.messages:
                assert message.text == normal(message.text)
                assert 1 <= message.line <= message.text_line <= data.count(b"\n") + 1


@given(st.lists(RAW_LINES, max_size=25), st.sampled_from(ZONES))
@settings(max_examples=100, deadline=None)
def test_lines_of_a_text_are_where_the_message_says(lines: list[bytes], zone: ZoneInfo) -> None:
    data = b"huimem\n\n## User \xc2\xb7 2026-04-06 09:14:23\n" + b"\n".join(lines)
    in_file = data.decode("utf-8", "replace").split("\n")
    for message in parse(data, "x.md", zone=zone).messages:
        for offset, line in enumerate(message.text.split("\n") if message.text else []):
            there = in_file[message.text_line - 1 + offset].rstrip("\r")
            assert there in (line, f"\\{line}")


@given(TEXTS)
def test_normal_form_is_normal(text: str) -> None:
    once = normal(text)
    assert normal(once) == once
    assert "\r\n" not in once
    assert not any("\ud800" <= c <= "\udfff" for c in once)
    lines = once.split("\n")
    assert once == "" or (lines[0].strip() and lines[-1].strip())


@given(TEXTS)
def test_escaping_hides_every_heading_and_is_undone(text: str) -> None:
    written = escape(text)
    assert unescape(written) == text
    assert not any(read_heading(line) for line in written.split("\n"))


@given(TEXTS)
def test_what_is_indexed_keeps_its_place(text: str) -> None:
    shown = searchable(text)
    assert len(shown) == len(text)
    assert all(a in (b, " ") for a, b in zip(shown, text, strict=True))


def instants(zone: tzinfo) -> st.SearchStrategy[datetime]:
    """Times as sessions keep them, many at once, some in the hours that a clock change doubles or skips."""
    days = [datetime(2026, 4, 6, 9, 14, 23), datetime(2026, 10, 25, 0, 30), datetime(2026, 3, 29, 0, 30)]
    steps = [timedelta(minutes=30 * n) for n in range(9)] + [timedelta(milliseconds=n) for n in (1, 2, 999)]
    places = st.sampled_from([day + step for day in days for step in steps])
    offsets = st.sampled_from([timezone(timedelta(minutes=minutes)) for minutes in (-720, -210, 0, 60, 345)])
    home = places.map(lambda at: settle(at.replace(tzinfo=UTC), zone))
    return home | st.builds(lambda at, offset: at.replace(tzinfo=offset), places, offsets)


ROLES = [
    (role, name) for role in ("user", "assistant", "system", "tool") for name in (None, "Claude", "a) (b")
]
PEOPLE = [("person", name) for name in ("Caroline", "Bo (work)", "Claude", "李雷", "# · 10:30")]
FIELD_VALUES = st.sampled_from(["no", "1.10", "00012", "12:30", "[x]", "a\nb", "", (), ("a: b", "选股", "")])
FIELDS = st.dictionaries(
    st.sampled_from(["source", "model", "tags", "备注", "a b"]), FIELD_VALUES, max_size=3
)
IDS = st.sampled_from(["chat_2026-04-06_091423", "no", "1.10", "对话", "a: b"])


def spoken(zone: tzinfo, people: bool) -> st.SearchStrategy[list[Message]]:
    """Messages in normal form."""
    said = st.builds(
        lambda who, text, at: Message(who[0], normal(text), at, who[1]),
        st.sampled_from(PEOPLE if people else ROLES),
        TEXTS,
        instants(zone),
    )
    return st.lists(said, min_size=1, max_size=5)


def begun(zone: tzinfo, people: bool) -> st.SearchStrategy[Session]:
    """Sessions without turns."""
    return st.builds(
        lambda id, title, created, namespace, fields: new_session(
            id=id,
            title=title,
            zone=zone,
            created=created,
            namespace=namespace,
            people=people,
            fields=fields | {"participants": ("Caroline", "Claude")} if people else fields,
        ),
        IDS,
        NAMES,
        instants(zone),
        st.sampled_from(["", "alice"]),
        FIELDS,
    )


def sessions() -> st.SearchStrategy[tuple[Session, list[Message]]]:
    """An empty session, and messages for it."""
    return st.one_of(
        st.tuples(begun(zone, people), spoken(zone, people)) for zone in ZONES for people in (False, True)
    )


@given(sessions())
@settings(max_examples=120, deadline=None)
def test_a_session_made_of_fields_reads_back_equal(made: tuple[Session, list[Message]]) -> None:
    empty, messages = made
    turns = group(messages, people=empty.people, session_id=empty.id, namespace=empty.namespace)
    session = replace(empty, front=b"", preface_raw=b"", turns=turns)
    again = parse(render(session), "sessions/x.md", zone=UTC, namespace=empty.namespace)
    assert again == session


@given(sessions(), st.booleans(), st.integers(0, 3))
@settings(max_examples=120, deadline=None)
def test_appending_keeps_what_was_there_and_reads_back_equal(
    made: tuple[Session, list[Message]], windows: bool, cut: int
) -> None:
    empty, messages = made
    first = render(append(empty, messages[:1]))
    before = first.replace(b"\r", b"").replace(b"\n", b"\r\n") if windows else first
    before = before[: len(before) - cut] if before[len(before) - cut :].strip() == b"" else before
    session = parse(before, "x.md", zone=UTC, namespace=empty.namespace)
    grown = append(session, messages)
    after = render(grown)
    assert after.startswith(before)
    assert not windows or after.count(b"\n") == after.count(b"\r\n")
    again = parse(after, "x.md", zone=UTC, namespace=empty.namespace)
    assert again == grown
    assert [(m.line, m.text_line, m.raw) for m in again.messages] == [
        (m.line, m.text_line, m.raw) for m in grown.messages
    ]
    assert all(turn.ref.tie == 1 for turn in again.turns)
    assert len(again.messages) == 1 + len(messages)


def who(message: Message) -> str | None:
    return message.name if message.role == "person" else message.role


def healthy(path: Path) -> bool:
    """A session without problems in one of the forms that say times."""
    data = path.read_bytes()
    if sort_of(data, path.name) != "session" or path.stem.startswith("untimed"):
        return False
    return not parse(data, path.name, zone=ZONES[0]).problems


@pytest.mark.parametrize("sample", [path for path in SAMPLES if healthy(path)], ids=lambda path: path.stem)
def test_a_lost_line_loses_no_other_message_unnoticed(sample: Path) -> None:
    data = sample.read_bytes()
    whole = parse(data, sample.name, zone=ZONES[0])
    lines = data.split(b"\n")
    for index in range(len(lines)):
        left = b"\n".join(lines[:index] + lines[index + 1 :])
        reader = parse if sort_of(left, sample.name) == "session" else parse_note
        read = reader(left, sample.name, zone=ZONES[0])
        named = {problem.line for problem in read.problems}
        for place, message in enumerate(whole.messages):
            end = whole.messages[place + 1].line if place + 1 < len(whole.messages) else len(lines) + 1
            if message.line <= index + 1 < end or message.role == "note":
                continue
            there = any(who(m) == who(message) and m.text.startswith(message.text) for m in read.messages)
            now_at = message.line - (message.line > index + 1)
            assert there or now_at in named, f"without line {index + 1}: {lines[index]!r}"


MANY = 60_000
HUGE = {
    "one line": b"x" * 2_000_000,
    "hashes": b"#" * 2_000_000,
    "blanks": b" " * 2_000_000,
    "carriage returns": b"\r" * 2_000_000,
    "a heading without end": b"## " + b" -" * 1_000_000,
    "backslashes": b"\\" * 1_000_000 + b"## User 09:14",
    "short headings": b"## User 09:14\n" * 10_000,
    "unknown speakers": b"## Nobody 09:14\n" * 10_000,
    "fences": b"```a\n" * MANY + b"## User 09:14\n## User \xc2\xb7 2026-01-01 00:00:00\n",
    "fences of every length": b"\n".join(b"`" * n for n in range(1500, 3, -1)) + b"\n## User 09:14\n",
    "open tags": b"<user timestamp='1'>\n" * 10_000,
    "quotes": b"<user a='" + b"' '" * 500_000 + b"\n",
    "comments": b"<!--" * 400_000,
    "block ids": b" ^a" * 500_000,
    "quotation": b">" * 200_000 + b"[" * 200_000,
    "deep front matter": b"---\na: " + b"[" * 30_000 + b"\n---\n",
    "long front matter": b"---\n" + b"a: [\n" * MANY + b"---\n",
    "anchored front matter": b"---\na: &a [x]\n" + b"b: [*a, *a]\n" * 5_000 + b"---\n",
}


@pytest.mark.parametrize("name", HUGE)
def test_hostile_size_takes_linear_time(name: str) -> None:
    data = HUGE[name]
    begin = process_time()
    assert render(parse(data, "x.md", zone=UTC)) == data
    assert render(parse_note(data, "x.md", zone=UTC)) == data
    searchable(data.decode())
    assert process_time() - begin < 6  # a quadratic step takes minutes


@pytest.mark.slow
def test_ten_thousand_turns_are_read_in_a_moment() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    messages = [
        Message(("user", "assistant")[n % 2], f"line {n}\n\n```\n代码\n```\nlast", at + timedelta(seconds=n))
        for n in range(20_000)
    ]
    session = append(new_session(id="long", title="Long", zone=ZONES[0], created=at), messages)
    data = render(session)
    begin = process_time()
    assert parse(data, "long.md", zone=UTC) == session
    assert process_time() - begin < 2

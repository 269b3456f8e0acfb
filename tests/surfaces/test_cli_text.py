"""Text on its way to a terminal: made harmless, wrapped by columns, cut at sentences, dated, placed."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from huimem.records import TimeRange
from huimem.surfaces.cli.look import Look, clipped, columns, looking, wrapped
from huimem.surfaces.cli.visible import visible, visible_json, visible_line
from huimem.surfaces.excerpt import excerpt

SHANGHAI = ZoneInfo("Asia/Shanghai")
NOW = datetime(2026, 4, 15, 10, 30, tzinfo=SHANGHAI)

STEERING = [
    ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
    ("\x1b]52;c;aGk=\x07", r"\x1b]52;c;aGk=\x07"),
    ("\x9b2J", r"\x9b2J"),
    ("a\rb", r"a\x0db"),
    ("\u202egpj.exe\u202c", r"\u202egpj.exe\u202c"),
    ("\u2066hidden\u2069", r"\u2066hidden\u2069"),
    ("null\x00byte", r"null\x00byte"),
    ("lone \udcff half", r"lone \udcff half"),
    ("no\u200bwidth\ufeff\u2060\xad", r"no\u200bwidth\ufeff\u2060\xad"),
    ("a\U000e0069\U000e007fb", r"a\U000e0069\U000e007fb"),
    ("a\tb\nc", "a\tb\nc"),
    ("好，👩‍👩‍👧 café", "好，👩‍👩‍👧 café"),
]


@pytest.mark.parametrize(("text", "shown"), STEERING)
def test_what_steers_a_terminal_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text())
def test_visible_text_holds_no_control_and_can_be_encoded(text: str) -> None:
    shown = visible(text)
    assert all(c in "\n\t" or c.isprintable() or not ("\x00" <= c <= "\x9f") for c in shown)
    assert "\n" not in visible_line(text)
    shown.encode()


@given(st.text(), st.text())
def test_json_stays_the_same_document_and_valid_utf8(key: str, value: str) -> None:
    document = {key: [value]}
    text = visible_json(json.dumps(document, ensure_ascii=False, indent=2))
    assert json.loads(text.encode()) == document
    assert not any("\x7f" <= c <= "\x9f" or "\u202a" <= c <= "\u202e" for c in text)


WRAPPED = [
    ("the quick brown fox", 10, ["the quick", "brown fox"]),
    ("到前五只，换手率达到", 10, ["到前五只，", "换手率达到"]),
    ("到前五只个，换手率", 10, ["到前五只", "个，换手率"]),
    (" béb」。，」引", 10, ["", "béb」。，", "」引"]),
    ("它是一张「异常", 10, ["它是一张", "「异常"]),
    ("x" * 25, 10, ["x" * 10, "x" * 10, "x" * 5]),
    ("two\nlines", 10, ["two", "lines"]),
    ("", 10, [""]),
]


@pytest.mark.parametrize(("text", "width", "lines"), WRAPPED)
def test_lines_break_at_blanks_and_between_wide_characters(text: str, width: int, lines: list[str]) -> None:
    assert list(wrapped(text, width)) == lines


@given(st.text(alphabet="ab ，。「」好索引é\n"), st.integers(8, 30))
def test_wrapping_fits_and_loses_nothing_but_blanks(text: str, width: int) -> None:
    lines = list(wrapped(text, width))
    assert all(columns(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


@given(st.text(alphabet="ab好é"), st.integers(2, 12))
def test_clipped_text_fits(text: str, width: int) -> None:
    cut = clipped(text, width)
    assert columns(cut) <= width
    assert cut == text or (cut.endswith("…") and text.startswith(cut[:-1]))


LONG = "One is first. Two follows it. Three holds the proof! Four comes after. Five ends."

EXCERPTS = [
    ("whole where it fits", LONG, "proof", 200, LONG),
    ("sentences around the evidence", LONG, "the proof", 45, "…Three holds the proof! Four comes after.…"),
    (
        "grows to both sides",
        LONG,
        "the proof",
        60,
        "…Two follows it. Three holds the proof! Four comes after.…",
    ),
    ("evidence at the start", LONG, "One", 40, "One is first. Two follows it.…"),
    ("evidence at the end", LONG, "Five", 40, "…Four comes after. Five ends."),
    ("evidence that is not in it", LONG, "absent", 40, "One is first. Two follows it.…"),
    ("Chinese sentences", "一说完了。二在这里。三也在。四结束。", "二在", 12, "…二在这里。三也在。…"),
    ("one endless word", "x" * 50, "x", 12, "x" * 10 + "…"),
]


@pytest.mark.parametrize(
    ("case", "text", "evidence", "limit", "cut"), EXCERPTS, ids=[row[0] for row in EXCERPTS]
)
def test_an_excerpt_is_whole_sentences_around_its_evidence(
    case: str, text: str, evidence: str, limit: int, cut: str
) -> None:
    assert excerpt(text, evidence, limit) == cut


@given(st.text(alphabet="ab .。\n!x", max_size=300), st.integers(20, 120), st.data())
def test_an_excerpt_keeps_the_limit_and_begins_its_evidence(
    text: str, limit: int, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text)))
    evidence = text[start : start + 10].strip()
    cut = excerpt(text, evidence, limit)
    assert len(cut) <= limit
    assert evidence in cut or evidence not in text


MOMENTS = [
    (datetime(2026, 4, 8, 15, 58, tzinfo=UTC), "Wed 8 Apr 23:58"),
    (datetime(2025, 12, 31, 16, 0, tzinfo=UTC), "Thu 1 Jan 00:00"),
    (datetime(2025, 12, 31, 15, 59, tzinfo=UTC), "Wed 31 Dec 2025 23:59"),
    (None, "undated"),
]


@pytest.mark.parametrize(("at", "shown"), MOMENTS)
def test_a_moment_is_shown_in_the_askers_zone_with_its_year_where_it_is_another(
    at: datetime | None, shown: str
) -> None:
    assert Look(SHANGHAI, NOW).moment(at) == shown


def _day(month: int, day: int, hour: int = 0) -> datetime:
    return datetime(2026, month, day, hour, tzinfo=SHANGHAI)


SPANS = [
    (_day(4, 8), _day(4, 9), "Wed 8 Apr"),
    (_day(4, 6), _day(4, 13), "Mon 6 Apr to Sun 12 Apr"),
    (_day(4, 8, 12), _day(4, 8, 18), "Wed 8 Apr 12:00 to 18:00"),
    (_day(4, 8), None, "from Wed 8 Apr on"),
    (None, _day(4, 8), "before Wed 8 Apr"),
    (None, None, "any time"),
]


@pytest.mark.parametrize(("start", "end", "shown"), SPANS)
def test_a_range_is_shown_with_its_last_day_inside(
    start: datetime | None, end: datetime | None, shown: str
) -> None:
    assert Look(SHANGHAI, NOW).span(TimeRange(start, end, SHANGHAI)) == shown


def test_a_place_starts_from_the_working_folder_where_the_file_lies_below_it() -> None:
    below = Look(SHANGHAI, NOW, root=Path("/home/me/notes"), here=Path("/home/me"))
    beside = Look(SHANGHAI, NOW, root=Path("/srv/notes"), here=Path("/home/me"))
    assert below.place("sessions/a b.md", 12) == "notes/sessions/a b.md:12"
    assert beside.place("x.md") == "/srv/notes/x.md"
    assert below.place("evil\x1b[2J.md") == "notes/evil\\x1b[2J.md"


COLOURS = [({}, False), ({"FORCE_COLOR": "1"}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]


@pytest.mark.parametrize(("environ", "colour"), COLOURS)
def test_no_colours_off_a_terminal_unless_forced(environ: dict[str, str], colour: bool) -> None:
    assert looking(SHANGHAI, NOW, environ=environ).colour is colour

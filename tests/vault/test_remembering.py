"""Remembering a fact: files before and after, to the byte; what is refused; what is read back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from huimem.errors import UsageError
from huimem.records import TimeRange
from huimem.vault.facts import new_file, parse_facts, render, timeline
from huimem.vault.remembering import remembered
from huimem.vault.text import normal
from huimem.vault.vault import Vault
from tests.vault.facts_told import DIET, NOTES, SHANGHAI, asked, on, remember
from tests.vault.samples import NOW, everything, put

MAY = TimeRange(on("2026-05-01"), None)
WEEK = TimeRange(on("2026-05-04"), on("2026-05-11"))
FROM = "chat_2026-04-06_091423#20260406T091423"

# A file, its bytes before, what is remembered, its bytes after, the ref.
Row = tuple[str, str | None, dict[str, Any], str, str]
ADDED: dict[str, Row] = {
    "a new key": (
        "facts/diet.md", None, {"text": "Eats fish.", "key": "Diet"},
        "---\nhuimem: 1\nkey: Diet\nkind: fact\n---\n\n## 2026-04-06 09:14:23 →\n\nEats fish.\n",
        "Diet@20260406T091423",
    ),
    "all that can be said of it": (
        "facts/meal-plan.md", None,
        {"text": "No nuts.", "key": "Meal plan", "kind": "Instruction", "valid": WEEK, "importance": 1.2,
         "source": "user", "sources": [FROM], "tags": ["#food", "home work"]},
        "---\nhuimem: 1\nkey: Meal plan\nkind: instruction\ntags:\n  - food\n  - home work\n---\n\n"
        "## 2026-05-04 00:00:00 → 2026-05-11 00:00:00\n"
        f'<!-- importance=1.2 source=user from={FROM} -->\n\nNo nuts.\n',
        "Meal%20plan@20260504T000000",
    ),
    "a known key": (
        "facts/diet.md", DIET, {"text": "Eats fish.", "key": "DIET"},
        f"{DIET}\n## 2026-04-06 09:14:23 →\n\nEats fish.\n", "diet@20260406T091423",
    ),
    "a kind of its own": (
        "facts/diet.md", DIET, {"text": "Order no peanuts.", "key": "diet", "kind": "instruction"},
        f"{DIET}\n## instruction · 2026-04-06 09:14:23 →\n\nOrder no peanuts.\n", "diet@20260406T091423",
    ),
    "the same second": (
        "facts/diet.md", DIET, {"text": "Eats fish.", "key": "diet", "at": on("2026-04-01", "08:00")},
        f"{DIET}\n## 2026-04-01 08:00:00.001 →\n\nEats fish.\n", "diet@20260401T080000001",
    ),
    "an earlier time": (
        "facts/diet.md", DIET, {"text": "Ate all.", "key": "diet", "at": on("2026-01-01", "10:00:00.7")},
        f"{DIET}\n## 2026-01-01 10:00:00 →\n\nAte all.\n", "diet@20260101T100000",
    ),
    "a time to come": (
        "facts/diet.md", DIET, {"text": "Vegetarian.", "key": "diet", "valid": MAY},
        f"{DIET}\n## 2026-05-01 00:00:00 →\n\nVegetarian.\n", "diet@20260501T000000",
    ),
    "another weight": (
        "facts/diet.md", DIET, {"text": "Vegetarian.", "key": "diet", "importance": 2},
        f"{DIET}\n## 2026-04-06 09:14:23 →\n<!-- importance=2.0 -->\n\nVegetarian.\n", "diet@20260406T091423",
    ),
    "a file of any name": (
        "Health/what I eat.md", DIET.replace("diet", "Kost & Logis"),
        {"text": "Eats.", "key": "kost & logis"},
        DIET.replace("diet", "Kost & Logis") + "\n## 2026-04-06 09:14:23 →\n\nEats.\n",
        "Kost%20%26%20Logis@20260406T091423",
    ),
    "BOM, CRLF, no last line end": (
        "facts/diet.md", "\ufeff" + DIET.replace("\n", "\r\n").rstrip(),
        {"text": "Eats fish.\n## 2026-01-01\nAnd rice.", "key": "diet"},
        "\ufeff" + DIET.replace("\n", "\r\n")
        + "\r\n## 2026-04-06 09:14:23 →\r\n\r\nEats fish.\r\n\\## 2026-01-01\r\nAnd rice.\r\n",
        "diet@20260406T091423",
    ),
    "hand-written front matter": (
        "facts/diet.md", "---\nmood:  good # mine\ntags: [a]\ntags: [b]\nkey: 'diet'\n---\nWhy.\n",
        {"text": "Eats fish.", "key": "diet"},
        "---\nmood:  good # mine\ntags: [a]\ntags: [b]\nkey: 'diet'\n---\nWhy.\n"
        "\n## 2026-04-06 09:14:23 →\n\nEats fish.\n", "diet@20260406T091423",
    ),
    "one tag more": (
        "facts/diet.md", DIET.replace("kind:", "tags: [food] # mine\nkind:"),
        {"text": "Vegetarian.", "key": "diet", "tags": ["health", "food"]},
        DIET.replace("kind:", "tags: [food, health] # mine\nkind:"), "diet@20260401T080000",
    ),
    "a new note": (
        "facts/notes_2026-W15.md", None, {"text": " \nRent goes up.\n\n"}, NOTES,
        "notes_2026-W15@20260406T091423",
    ),
    "one more note": (
        "facts/notes_2026-W15.md", NOTES,
        {"text": "Half marathon.", "kind": "episode", "at": on("2026-04-12")},
        f"{NOTES}\n## episode · 2026-04-12 00:00:00\n\nHalf marathon.\n", "notes_2026-W15@20260412T000000",
    ),
    "two notes of a second": (
        "facts/notes_2026-W15.md", NOTES, {"text": "Another."},
        f"{NOTES}\n## note · 2026-04-06 09:14:23.001\n\nAnother.\n", "notes_2026-W15@20260406T091423001",
    ),
    "a note that ends": (
        "facts/notes_2026-W19.md", None, {"text": "On call.", "valid": WEEK},
        "---\nhuimem: 1\nkind: note\n---\n"
        "\n## note · 2026-05-04 00:00:00 → 2026-05-11 00:00:00\n\nOn call.\n",
        "notes_2026-W19@20260504T000000",
    ),
    "a note of another kind": (
        "facts/notes_2026-W15.md", NOTES, {"text": "Rent goes up.", "kind": "fact"},
        f"{NOTES}\n## fact · 2026-04-06 09:14:23.001\n\nRent goes up.\n",
        "notes_2026-W15@20260406T091423001",
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", ADDED.values(), ids=ADDED)
def test_a_section_is_added_and_every_other_byte_stays(row: Row, vault: Vault) -> None:
    path, before, said, after, ref = row
    if before is not None:
        put(vault, path, before)
    assert remember(vault, **said) == ref
    assert everything(vault).keys() == {"huimem.toml", path}
    assert (vault.root / path).read_bytes().decode() == after
    assert ref in {str(record.ref) for record in vault.read(path).records}
    assert remember(vault, **said) == ref  # said again it changes nothing
    assert (vault.root / path).read_bytes().decode() == after


# A file, and what it says already, with the ref of where it does.
SAID: dict[str, tuple[str, dict[str, Any], str]] = {
    "the text": ("facts/diet.md", {"text": "Vegetarian.", "key": "diet"}, "diet@20260401T080000"),
    "in another form": (
        "facts/diet.md", {"text": "\nVegetarian.\r\n", "key": " DIET "}, "diet@20260401T080000",
    ),
    "with its kind and the weight of that": (
        "facts/diet.md", {"text": "Vegetarian.", "key": "diet", "kind": "preference", "importance": 1.3},
        "diet@20260401T080000",
    ),
    "since then": (
        "facts/diet.md", {"text": "Vegetarian.", "key": "diet",
                          "valid": TimeRange(on("2026-04-01", "08:00"), None)}, "diet@20260401T080000",
    ),
    "a note": (
        "facts/notes_2026-W15.md", {"text": "Rent goes up.", "at": on("2026-04-08")},
        "notes_2026-W15@20260406T091423",
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", SAID.values(), ids=SAID)
def test_what_holds_already_changes_no_byte(row: tuple[str, dict[str, Any], str], vault: Vault) -> None:
    path, said, ref = row
    put(vault, path, DIET if "key" in said else NOTES)
    before = everything(vault), vault.stamp(path)
    assert remember(vault, **said) == ref
    assert (everything(vault), vault.stamp(path)) == before


def test_what_held_before_and_is_said_again_holds_again(vault: Vault) -> None:
    """Also within one second, where the last that was said counts."""
    refs = [remember(vault, text, key="diet") for text in ("Fish.", "Meat.", "Fish.", "Fish.")]
    fractions = ["", "001", "002", "002"]
    assert refs == [f"diet@20260406T091423{fraction}" for fraction in fractions]
    assert [fact.text for fact in facts_of(vault, "facts/diet.md", NOW + timedelta(seconds=1))] == ["Fish."]


def facts_of(vault: Vault, path: str, at: datetime) -> list[Any]:
    return [fact for fact in vault.read(path).records if fact.valid.contains(at)]


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"text": " \n"}, "nothing to remember"),
    ({"text": "x", "key": " "}, "key is empty"),
    ({"text": "x", "key": "a\nb"}, "line break"),
    ({"text": "x", "key": "a\x00b"}, "control character"),
    ({"text": "x", "key": "k" * 201}, "201 characters"),
    ({"text": "x", "kind": "two words"}, "not one word"),
    ({"text": "x", "kind": ""}, "not one word"),
    ({"text": "x", "kind": "2nd"}, "not one word"),
    ({"text": "x", "kind": "a\n## b"}, "not one word"),
    ({"text": "x", "kind": "k" * 61}, "not one word"),
    ({"text": "x", "importance": float("nan")}, "importance"),
    ({"text": "x", "importance": -1}, "importance"),
    ({"text": "x", "importance": True}, "importance"),
    ({"text": "x", "sources": ["yesterday"]}, "not a ref"),
    ({"text": "x", "tags": ["food"]}, "Give it a key"),
    ({"text": "x", "at": datetime(2, 1, 1, tzinfo=UTC)}, "years 3 to 9997"),
    ({"text": "x", "valid": TimeRange(None, datetime(9999, 1, 1, tzinfo=UTC))}, "years 3 to 9997"),
    ({"text": "x", "valid": TimeRange(None, on("2026-04-01"))}, "end before it begins"),
]


@pytest.mark.parametrize(("said", "words"), REFUSED)
def test_what_could_not_be_read_back_is_refused(said: dict[str, Any], words: str, vault: Vault) -> None:
    before = everything(vault)
    with pytest.raises(UsageError, match=words) as refused:
        remember(vault, **said)
    assert refused.value.hint and everything(vault) == before


def test_lone_surrogates_are_written_as_what_they_are_read_as(vault: Vault) -> None:
    remember(vault, "no \udcff text", key="k\udcff", source="\ud800", sources=["\ud800#1"])
    (fact,) = vault.read("facts/k.md").records
    assert (fact.text, fact.key, fact.source) == ("no \ufffd text", "k\ufffd", "\ufffd")


# --- laws ----------------------------------------------------------------------------------------

ODD = [
    "## 2026-04-06",
    "\\## note · 2026-04-06 →",
    "<!-- a=b -->",
    "---",
    "```",
    "# x",
    "a\rb",
    "\u2028",
    "你好",
    "",
]
TEXTS = st.lists(st.sampled_from(ODD) | st.text(max_size=12), min_size=1, max_size=4).map("\n".join)
TEXTS = TEXTS.filter(lambda text: bool(normal(text)))
DAYS = st.integers(0, 6).map(lambda day: NOW + timedelta(days=day))
ENDS = st.integers(1, 3).map(lambda days: timedelta(days=days))
GIVEN = st.builds(
    lambda text, at, length, kind, weight, source: {
        "text": text,
        "at": at,
        "valid": TimeRange(at, at + length) if length else None,
        "kind": kind,
        "importance": weight,
        "source": source,
    },
    TEXTS,
    DAYS,
    st.none() | ENDS,
    st.sampled_from([None, "fact", "想法", "x-y"]),
    st.none() | st.floats(0, 9),
    st.none() | st.text(max_size=8),
)


CUT = ("is cut there", "kept as it is")  # an end that came too late, and NUL bytes: faults that stay


@settings(max_examples=60)
@given(st.lists(GIVEN, min_size=1, max_size=5), st.sampled_from(["diet", "Ähre: #1", None]), st.booleans())
def test_what_is_remembered_is_read_back(facts: list[dict[str, Any]], key: str | None, crlf: bool) -> None:
    """Every byte before stays, each ref leads to its text, and of a key at most one version ever holds."""
    made = new_file(id="f", key=key, kind="fact" if key else "note", zone=SHANGHAI)
    data = render(made).replace(b"\n", b"\r\n") if crlf else render(made)
    for said in facts:
        file = parse_facts(data, "facts/f.md", zone=SHANGHAI)
        grown, ref = remembered(file, asked(**said, key=key))
        after = render(grown)
        assert after.startswith(data)
        read = parse_facts(after, "facts/f.md", zone=SHANGHAI)
        assert read.versions == grown.versions
        assert not [fault for fault in read.problems if not fault.message.endswith(CUT)]
        (fact,) = [fact for fact in timeline(read.versions, file="f") if fact.ref == ref]
        assert fact.text == normal(said["text"])
        assert said["importance"] in (None, fact.importance)
        assert remembered(read, asked(**said, key=key)) == (read, ref)
        data = after
    held = timeline(parse_facts(data, "facts/f.md", zone=SHANGHAI).versions, file="f")
    for hour in range(0, 24 * 12, 6):
        now = [fact for fact in held if fact.valid.contains(NOW + timedelta(hours=hour))]
        assert key is None or len(now) <= 1

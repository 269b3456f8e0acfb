"""What somebody called a note, a talk or a fact finds it, though its text never says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from huimem import Memory
from huimem.index.cut import chunks
from huimem.locks import lock
from huimem.records import Message, Ref, Turn
from tests.recall.made import NOW

CAR, TRIP, WIFI = "notes/Car insurance.md", "sessions/2026-W14/trip.md", "facts/wifi.md"
FILES = {
    CAR: "Renewed with Acme, 340 euros a year.\n",
    "notes/里斯本旅行.md": "酒店订在阿尔法玛，四晚。\n",
    "notes/plan.md": "---\ntitle: Garden plan\n---\n# Spring\n\nSow the peas.\n\n"
    "# Autumn\n\nPlant the bulbs.\n",
    "notes/2026-04-02.md": "Swam a mile.\n",
    TRIP: """---
huimem: 1
id: trip
title: Weekend in Porto
created: 2026-04-03T10:00:00+02:00
---

# Weekend in Porto

## user 2026-04-03 10:00:00

Which hotel shall we take, the one by the river or the cheap one?

## assistant 2026-04-03 10:00:20

The one by the river.

## user 2026-04-03 10:02:00

Fine, book it.
""",
    WIFI: "---\nhuimem: 1\nkey: home.wifi-password\n---\n\n## 2026-01-03 →\n\nTulip-42\n",
    "sessions/2026-W14/noted.md": """---
huimem: 1
id: noted
title: Otters of the delta
created: 2026-04-04T10:00:00+02:00
---

Looked at once more in May.

## user 2026-04-04 10:00:00

How long do they live?

## assistant 2026-04-04 10:00:20

Some ten years.
""",
    "facts/boiler.md": "---\nhuimem: 1\nkey: boiler\ntitle: Heating\n---\n\n"
    "## 2026-01-03 → 2026-02-01\n\nServiced by Otto.\n\n## 2026-02-01 →\n\nServiced by Mina.\n",
    "notes/party.md": "---\naliases: [art, fete day]\n---\n# Party planning\n\nBring chalk.\n",
    "notes/nothing.md": "---\naliases: null\n---\n# Blank page\n\nNothing yet.\n",
    "notes/Greenhouse.md": "---\naliases: [Glass hut]\n---\n# Repairs\n\nOne pane was replaced.\n",
}
FOUND = [
    ("car insurance", CAR),
    ("how much is the insurance of the car", CAR),
    ("里斯本旅行", "notes/里斯本旅行.md"),
    ("garden plan", "notes/plan.md"),
    ("garden plan for autumn", "notes/plan.md"),
    ("weekend in Porto", TRIP),
    ('"weekend in Porto"', TRIP),
    ("hotel in Porto", TRIP),
    ("wifi password", WIFI),
    ("heating", "facts/boiler.md"),
    ("otters delta", "sessions/2026-W14/noted.md"),
    ("boiler service", "facts/boiler.md"),
    ('"wifi password"', WIFI),
    ('"home.wifi-password"', WIFI),
    ("glass hut", "notes/Greenhouse.md"),
    ('"glass hut" pane', "notes/Greenhouse.md"),
    ("art", "notes/party.md"),  # its letters stand in "party"
    ('"art"', "notes/party.md"),
    ("fete", "notes/party.md"),
]
# What runs on from a name to the next one, or to the text under it.
NO_PHRASES = [
    '"heating boiler"',
    '"weekend in Porto which hotel"',
    '"repairs glass hut"',
    '"wifi password tulip"',
    '"null"',  # which no alias is
]


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    Memory.create(root, tz="Europe/Berlin").close()
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def memory(vault: Path) -> Iterator[Memory]:
    with Memory.open(vault, embedder="none", background=False) as opened:
        yield opened


def paths(memory: Memory, question: str) -> list[str]:
    return [hit.path for hit in memory.recall(question, now=NOW).hits]


@pytest.mark.parametrize(("question", "path"), FOUND)
def test_what_is_called_so_is_found_first(memory: Memory, question: str, path: str) -> None:
    assert paths(memory, question)[:1] == [path]


@pytest.mark.parametrize("question", NO_PHRASES)
def test_no_phrase_goes_on_from_a_name(memory: Memory, question: str) -> None:
    assert paths(memory, question) == []


def test_the_part_of_a_note_that_a_question_names_comes_first_under_its_title(memory: Memory) -> None:
    assert memory.recall("garden plan for autumn", now=NOW).hits[0].evidence.endswith("Plant the bulbs.")


def test_a_title_shows_the_text_that_stands_under_it(memory: Memory) -> None:
    (hit, *_) = memory.recall("Porto", now=NOW).hits
    assert hit.title == "Weekend in Porto"
    assert hit.evidence.startswith("Which hotel")
    assert "Porto" in hit.factors[0].note


@pytest.mark.parametrize("question", ["otters", '"otters of the delta"'])
def test_a_title_stands_over_the_first_turn_whatever_was_noted_above_it(
    memory: Memory, question: str
) -> None:
    (hit, *_) = memory.recall(question, now=NOW, kinds=["turn"]).hits
    assert hit.evidence == "How long do they live?"


def test_only_what_holds_now_answers_to_its_key(memory: Memory) -> None:
    assert [hit.evidence for hit in memory.recall("boiler", now=NOW).hits] == ["Serviced by Mina."]


@pytest.mark.parametrize(("shut_out", "left"), [("-lisbon", True), ("-porto", False)])
def test_what_stands_under_an_excluded_title_is_left_out(memory: Memory, shut_out: str, left: bool) -> None:
    found = memory.recall(f"the cheap hotel by the river {shut_out}", now=NOW).hits
    assert any(hit.evidence.startswith("Which hotel") for hit in found) == left


def test_a_note_is_found_by_its_new_name_and_no_more_by_its_old_one(memory: Memory, vault: Path) -> None:
    assert paths(memory, "car insurance") == [CAR]
    (vault / CAR).rename(vault / "notes/Boat papers.md")
    assert paths(memory, "boat papers") == ["notes/Boat papers.md"]
    assert paths(memory, "car insurance") == []


@pytest.mark.parametrize("indexed", [True, False])
def test_a_talk_is_found_by_its_new_title_and_no_more_by_its_old_one(
    memory: Memory, vault: Path, indexed: bool
) -> None:
    """Whether the index holds the edit, or it lies beside it while another process writes."""
    assert paths(memory, "Porto")[:1] == [TRIP]
    (vault / TRIP).write_text(FILES[TRIP].replace("Weekend in Porto", "Braga by train"), encoding="utf-8")
    if indexed:
        memory.sync()
        assert paths(memory, "braga train")[:1] == [TRIP]
        assert paths(memory, "Porto") == []
    else:
        with lock(memory.index.folder / "index.lock"), lock(memory.index.folder / "sync.lock"):
            assert paths(memory, "braga train")[:1] == [TRIP]
            assert paths(memory, "Porto") == []


def turn(text: str, called: str) -> Turn:
    return Turn(Ref("", "s", "20260403"), (Message("user", text, NOW),), called=called)


LONG = "We went through the whole of the contract once more, clause by clause, and found nothing odd in it."
# text, what it is called → what finds it besides its own words
CALLED = [
    ("Tulip-42", "wifi password", ["wifi password"]),
    (LONG, " Lease of\tthe flat", ["Lease of the flat"]),
    (LONG, "We went through the whole of the contract on…", []),  # its first words, cut off
    (LONG, "The whole contract", []),
    (LONG, "Lease of the flat <!-- the old one --> ^lease1", ["Lease of the flat"]),
    (LONG, "", []),
    ("订了四晚", "里斯本旅行", ["里斯本旅行"]),
    ("x", "y" * 5_000, ["y" * 200]),
]


@pytest.mark.parametrize(("text", "called", "besides"), CALLED)
def test_what_finds_a_passage_besides_its_own_words(text: str, called: str, besides: list[str]) -> None:
    *others, first = chunks(turn(text, called))
    assert (first.said, first.role) == (text, "user")
    assert [(one.said, one.text, one.lines, one.role) for one in others] == [
        (title, text, first.lines, "title") for title in besides
    ]


def test_a_title_stands_over_the_first_passage_alone() -> None:
    said = [chunk.said for chunk in chunks(turn("\n\n".join([LONG] * 9), "Lease of the flat"))]
    assert said.count("Lease of the flat") == 1
    assert said[0] == "Lease of the flat"
    assert len(said) > 3


def test_under_one_title_different_things_are_no_repeats(memory: Memory) -> None:
    for day, text in ((5, "The boiler leaks."), (6, "Otto is on leave."), (7, "We hired Mina.")):
        said = {"role": "user", "content": text, "at": f"2026-04-0{day}T09:00:00"}
        memory.record([said], title="Weekly sync", session=f"sync-{day}")
    hits = memory.recall("weekly sync", now=NOW).hits
    assert len(hits) == 3
    assert not any(factor.name == "repeats" for hit in hits for factor in hit.factors)


def test_what_a_tool_said_stands_under_no_title(memory: Memory, vault: Path) -> None:
    text = FILES[TRIP].replace("## user 2026-04-03 10:00:00", "## tool 2026-04-03 10:00:00")
    (vault / TRIP).write_text(text, encoding="utf-8")
    (hit, *_) = memory.recall("Porto", now=NOW).hits
    assert hit.evidence == "The one by the river."


def test_a_long_note_stands_under_its_title_once(memory: Memory, vault: Path) -> None:
    parts = "".join(f"# Entry {number}\n\nWatered the beds.\n\n" for number in range(40))
    (vault / "notes/diary.md").write_text(f"---\ntitle: Pomona log\n---\n{parts}", encoding="utf-8")
    hits = memory.recall("pomona log", now=NOW, limit=40).hits
    assert hits[0].path == "notes/diary.md"
    assert sum("Entry" in hit.evidence and hit.factors[0].parts["words"] > 0 for hit in hits) == 1

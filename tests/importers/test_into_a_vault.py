"""An import into a vault: the very bytes of a session, everything read back, nothing twice."""

from __future__ import annotations

import io
import json
import os
import shutil
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from huimem.config import load
from huimem.importers.documents import documents
from huimem.importers.options import Options, Skipped
from huimem.importers.registry import importers
from huimem.records import Conversation
from huimem.vault.intake import Intake
from huimem.vault.ledger import Ledger
from huimem.vault.roles import clean_name
from huimem.vault.text import normal
from huimem.vault.vault import Vault
from tests.importers.exporting import (
    NOW,
    Source,
    Talk,
    bring,
    export,
    forget_ledger,
    made_vault,
    only_session,
    outcome,
    sessions,
    talk,
    texts_in,
)
from tests.importers.told import DATED, ZONE, cases, expected, options_of, placed, zipped
from tests.trees import tree

TWO = Talk(talk("I only trade on Wednesdays.", "Noted: 只在周三。"))
SOURCES: tuple[Source, ...] = ("chatgpt", "claude", "claude-code", "openai")

WRITTEN = """\
---
huimem: 1
id: chat_2026-04-06_091423
title: Trading days
aliases:
  - Trading days
created: 2026-04-06T09:14:23
tz: Asia/Shanghai
source: chatgpt
source_id: c-1
model: gpt-5
---

# Trading days

## User · 2026-04-06 09:14:23

I only trade on Wednesdays.

## Assistant · 2026-04-06 09:14:30

Noted: 只在周三。
"""

UNDATED = """\
---
huimem: 1
id: chat_2026-04-08_080000
title: Trading days
aliases:
  - Trading days
created: 2026-04-08T08:00:00
tz: Asia/Shanghai
times: inferred
source: openai
source_id: c-1
---

# Trading days

## User · 2026-04-08 08:00:00

I only trade on Wednesdays.

## Assistant · 2026-04-08 08:00:00

Noted: 只在周三。

## User · 2026-04-08 08:00:00.001

And never before ten.
"""


def test_a_new_session_has_these_bytes(vault: Path, tmp_path: Path) -> None:
    report = bring(vault, export(tmp_path / "conversations.json", "chatgpt", [TWO]))
    assert outcome(report) == {"new": 1, "added": 2}
    assert only_session(vault) == vault / "sessions/2026-W15/chat_2026-04-06_091423.md"
    assert only_session(vault).read_bytes() == WRITTEN.encode()
    assert only_session(vault).stat().st_mode & 0o777 == 0o600


def test_a_session_without_times_is_dated_by_its_file_and_says_so(vault: Path, tmp_path: Path) -> None:
    long = Talk(talk("I only trade on Wednesdays.", "Noted: 只在周三。", "And never before ten."))
    path = export(tmp_path / "messages.json", "undated", [long])
    os.utime(path, (datetime(2026, 4, 8, tzinfo=UTC).timestamp(),) * 2)
    assert bring(vault, path).inferred == 1
    assert only_session(vault).read_bytes() == UNDATED.encode()


@pytest.mark.slow
@pytest.mark.parametrize("source", ["chatgpt", "claude", "claude-code", "openai", "huimemory"])
def test_what_the_fixtures_hold_reads_back_from_the_vault(source: str, tmp_path: Path, vault: Path) -> None:
    """Each in a namespace of its own; one that comes up twice holds what both tell, and is left aside."""
    held = Vault.open(vault, load(vault))
    taken: dict[str, list[Conversation]] = {}
    for number, case in enumerate(cases(source)):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        found = [*_conversations(source, placed(source, case, folder), options_of(expected(source, case)))]
        ids = [each.id for each in found]
        taken[f"case{number}"] = [each for each in found if ids.count(each.id) == 1]
    with Ledger(held.prepare("locks").parent) as ledger:
        for namespace, once in taken.items():
            intake = Intake(held, namespace, ledger, NOW)
            for each in once:
                path = intake.take(each, b"").path
                intake.settle()
                assert _read(held, path) == _told(each), each.id
    before = tree(vault)
    shutil.rmtree(vault / ".huimem")
    with Ledger(held.prepare("locks").parent) as ledger:
        for namespace, once in taken.items():
            intake = Intake(held, namespace, ledger, NOW)
            assert {intake.take(each, b"").what for each in once} <= {"unchanged"}
    assert tree(vault) == before


def _conversations(source: str, path: Path, options: Options) -> list[Conversation]:
    (importer,) = importers(source)
    read = [
        each
        for document in documents(path, DATED)
        if not isinstance(document, Skipped) and (path.is_file() or importer.claims(document.glance()))
        for each in importer.read(document, options)
    ]
    return [each for each in read if isinstance(each, Conversation)]


def _told(conversation: Conversation) -> list[tuple[str, str, int, str]]:
    return [
        (
            "person" if m.role == "user" and m.name else m.role,
            clean_name(m.name),
            int(m.at.timestamp()) if m.at else 0,
            normal(m.text),
        )
        for m in conversation.messages
    ]


def _read(vault: Vault, path: str) -> list[tuple[str, str, int, str]]:
    return [
        (m.role, m.name or "", int(m.at.timestamp() // 1) if m.at else 0, m.text)
        for m in vault.session(path).messages
    ]


# Nothing twice.

MANY = [
    Talk(talk(f"First words of {n}", f"An answer, {n}", first=n * 1000), f"c-{n}", f"Talk {n}")
    for n in range(5)
]


def _moved(root: Path) -> None:
    (root / "Trips").mkdir()
    for number, path in enumerate(sessions(root)):
        path.rename(root / "Trips" / f"trip {number}.md")


def _swapped(root: Path) -> None:
    """Two files have exchanged their names."""
    one, other, *_ = sessions(root)
    aside = root / "aside"
    one.rename(aside)
    other.rename(one)
    aside.rename(other)


def _in_another_zone(root: Path) -> None:
    made_vault(root, "America/New_York")


def _without_state(root: Path) -> None:
    shutil.rmtree(root / ".huimem")


def _damaged_ledger(root: Path) -> None:
    (root / ".huimem/imports.db").write_bytes(b"SQLite format 3\x00" + b"\xff" * 5000)


BETWEEN: dict[str, tuple[Callable[[Path], None], ...]] = {
    "nothing": (),
    "no state": (_without_state,),
    "damaged ledger": (_damaged_ledger,),
    "moved": (_moved,),
    "moved, no state": (_moved, _without_state),
    "swapped": (_swapped,),
    "other zone": (_in_another_zone,),
    "other zone, no state": (_in_another_zone, _without_state),
}


@pytest.mark.parametrize(
    ("source", "between"),
    [*((source, name) for source in ("claude-code", "undated") for name in BETWEEN),
     *((source, "other zone, no state") for source in ("chatgpt", "claude", "openai"))],
)  # fmt: skip
def test_an_export_that_comes_again_changes_no_byte(
    source: Source, between: str, vault: Path, tmp_path: Path
) -> None:
    path = export(tmp_path / "export", source, MANY)
    path = path if path.is_dir() else path.rename(tmp_path / "conversations.json")
    assert outcome(bring(vault, path)) == {"new": 5, "added": 10}
    for step in BETWEEN[between]:
        step(vault)
    before = tree(vault)
    for _ in range(2):
        assert outcome(bring(vault, path)) == {"unchanged": 5}
        assert tree(vault) == before


@pytest.mark.parametrize("source", SOURCES)
def test_a_conversation_whose_file_changed_places_grows_in_its_own(
    source: Source, vault: Path, tmp_path: Path
) -> None:
    bring(
        vault,
        export(tmp_path / "old", source, MANY)
        if source == "claude-code"
        else export(tmp_path / "old/conversations.json", source, MANY),
    )
    _swapped(vault)
    grown = [each.grown(f"More of {each.id}") for each in MANY]
    new = tmp_path / "new" if source == "claude-code" else tmp_path / "new/conversations.json"
    assert outcome(bring(vault, export(new, source, grown))) == {"updated": 5, "added": 5}
    for path in sessions(vault):
        text = path.read_text(encoding="utf-8")
        (id,) = {each.id for each in MANY if f"source_id: {each.id}\n" in text}
        assert text.endswith(f"\nMore of {id}\n")


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("state", ["kept", "lost"])
def test_the_same_content_comes_in_once_from_file_folder_zip_and_stdin(
    source: Source, state: str, vault: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    export(folder if source == "claude-code" else folder / "conversations.json", source, MANY[:1])
    (file,) = folder.iterdir()
    packed = zipped(folder, tmp_path / "export.zip")
    assert outcome(bring(vault, file)) == {"new": 1, "added": 2}
    before = tree(vault)
    for way in (folder, packed, Path("-")):
        if state == "lost":
            forget_ledger(vault)
        report = bring(vault, way, stdin=io.BytesIO(file.read_bytes()))
        assert outcome(report) == {"unchanged": 1}, way
    assert tree(vault) == before


@pytest.mark.parametrize("source", ["openai", "claude-code"])
def test_a_conversation_without_an_id_is_named_by_its_file_wherever_that_lies(
    source: str, vault: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    file = folder / "a chat v1.2.jsonl"
    if source == "openai":
        lines = [{"role": m.role, "content": m.text} for m in TWO.messages]
    else:
        lines = [{**line, "sessionId": None} for line in TWO.written("claude-code")]  # type: ignore[attr-defined]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    packed = zipped(folder, tmp_path / "export.zip")
    assert outcome(bring(vault, file)) == {"new": 1, "added": 2}
    assert (
        "source_id: " in only_session(vault).read_text() and "a chat v1.2" in only_session(vault).read_text()
    )
    for way in (folder, packed):
        assert outcome(bring(vault, way)) == {"unchanged": 1}, way


def test_a_list_that_was_downloaded_twice_is_one_conversation(vault: Path, tmp_path: Path) -> None:
    lines = [{"role": m.role, "content": m.text} for m in talk("Hello there", "Hello", "More", "Yes")]
    (tmp_path / "in").mkdir()
    (tmp_path / "in/chat.json").write_text(json.dumps(lines[:2]))
    (tmp_path / "in/chat (1).json").write_text(json.dumps(lines))
    for name, date in (("chat.json", 1000), ("chat (1).json", 2000)):
        os.utime(tmp_path / "in" / name, (1_775_000_000 + date,) * 2)
    assert outcome(bring(vault, tmp_path / "in")) == {"new": 1, "updated": 1, "added": 4}
    assert texts_in(vault) == ["Hello there", "Hello", "More", "Yes"]
    assert outcome(bring(vault, tmp_path / "in"))["unchanged"] == 2


def test_two_lists_of_one_name_in_two_folders_are_two_conversations(vault: Path, tmp_path: Path) -> None:
    for folder, answer in (("a", "Blue."), ("b", "Green.")):
        (tmp_path / "in" / folder).mkdir(parents=True)
        given = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": answer}]
        (tmp_path / "in" / folder / "chat.json").write_text(json.dumps(given))
    assert outcome(bring(vault, tmp_path / "in")) == {"new": 2, "added": 4}
    assert sorted(texts_in(vault)) == ["Blue.", "Green.", "Hi", "Hi"]
    assert outcome(bring(vault, tmp_path / "in")) == {"unchanged": 2}


def test_conversations_that_began_in_one_second_are_kept_apart(vault: Path, tmp_path: Path) -> None:
    twins = [Talk(talk(f"Hello {n}"), f"c-{n}", f"Twin {n}") for n in range(3)]
    path = export(tmp_path / "conversations.json", "chatgpt", twins)
    bring(vault, path)
    assert [p.stem for p in sessions(vault)] == [f"chat_2026-04-06_091423{end}" for end in ("-2", "-3", "")]
    _moved(vault)
    forget_ledger(vault)
    bring(vault, export(path, "chatgpt", [*twins, Talk(talk("Hello 3"), "c-3", "Twin 3")]))
    ids = [line for p in sessions(vault) for line in p.read_text().split("\n") if line.startswith("id: ")]
    assert len(set(ids)) == 4  # a moved session keeps its id, so no other may have it


def test_a_folder_inside_the_vault_is_not_brought_in_again(vault: Path) -> None:
    old = vault / "sessions/2026-W15/chat_20260406_091423.md"
    old.parent.mkdir(parents=True)
    old.write_text('<user timestamp="2026-04-06 09:14:23">\nHello\n</user>\n', encoding="utf-8")
    before = tree(vault)
    for source in (vault, vault / "sessions", old):
        report = bring(vault, source)
        assert [skip.reason for _, skip in report.skipped] == ["a file of this vault already"]
    assert tree(vault) == before


# What is left out.


def test_a_session_of_a_newer_format_is_told_of_and_left(vault: Path, tmp_path: Path) -> None:
    (vault / "sessions").mkdir()
    newer = WRITTEN.replace("huimem: 1", "huimem: 2")
    (vault / "sessions/newer.md").write_text(newer, encoding="utf-8")
    before = tree(vault)
    report = bring(vault, export(tmp_path / "c.json", "chatgpt", [TWO.grown("More")]))
    assert outcome(report) == {"skipped": 1} and tree(vault) == before
    ((document, skipped),) = report.skipped
    assert (document, skipped.place) == ("c.json", "c-1")
    assert skipped.reason == "sessions/newer.md was written by a newer huimem"
    assert outcome(bring(vault, tmp_path / "c.json")) == {"skipped": 1}


def test_a_conversation_too_large_to_read_again_is_skipped(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huimem.files.LIMIT", 3000)
    large = Talk(talk("x" * 4000), "large")
    report = bring(vault, export(tmp_path / "c.json", "chatgpt", [large, TWO]))
    assert outcome(report) == {"new": 1, "added": 2, "skipped": 1}
    assert "over" in report.skipped[0][1].reason and len(sessions(vault)) == 1
    report = bring(vault, export(tmp_path / "c.json", "chatgpt", [TWO.grown("y" * 4000)]))
    assert outcome(report) == {"skipped": 1} and only_session(vault).read_bytes() == WRITTEN.encode()


def test_a_zip_whose_members_stand_at_its_top_is_read(vault: Path, tmp_path: Path) -> None:
    packed = tmp_path / "old.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(
            "chat_20260406_091423.md", '<user timestamp="2026-04-06 09:14:23">\nHello\n</user>\n'
        )
    assert outcome(bring(vault, packed)) == {"new": 1, "added": 1}
    assert "source_id: chat_20260406_091423" in only_session(vault).read_text()


def test_the_zone_of_fixtures_is_that_of_the_vault_made_here(vault: Path) -> None:
    assert Vault.open(vault, load(vault)).zone == ZONE

"""A conversation that got another title at its source: its session follows, unless its owner named it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from huimem.config import load
from huimem.importers.bringing import Report, bring_in
from huimem.importers.options import Options
from huimem.vault.intake import Intake
from huimem.vault.ledger import Ledger
from huimem.vault.vault import Vault
from tests.importers.exporting import (
    NOW,
    Source,
    Talk,
    export,
    forget_ledger,
    made_vault,
    only_session,
    outcome,
    talk,
)
from tests.trees import tree

Huimem = Callable[..., tuple[int, str, str]]
DATE = 1_775_600_000
FERNS = Talk(talk("Watering ferns", "Once a week."), title="New chat")
RENAMED = replace(FERNS, title="Ferns, and when to water them")


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HUIMEM_EMBEDDER", "none")
    return made_vault(tmp_path / "vault")


def bring(root: Path, path: Path, *, write: bool = True) -> tuple[Report, int]:
    """An import, and how many sessions it renamed."""
    vault = Vault.open(root, load(root))
    with Ledger(vault.prepare("locks").parent, keep=write) as ledger:
        intake = Intake(vault, "", ledger, NOW, write)
        report = bring_in(path, intake, Options(vault.zone))
        return report, report.renamed


def took(root: Path, path: Path, *talks: Talk, source: Source = "chatgpt") -> tuple[dict[str, int], int]:
    export(path, source, talks)
    os.utime(path, (DATE, DATE))
    report, renamed = bring(root, path)
    return outcome(report), renamed


def named(root: Path) -> list[str]:
    """The lines of a session that say its title."""
    lines = only_session(root).read_bytes().decode().replace("\r\n", "\n").split("\n")
    return [line for line in lines if line.startswith(("title:", "  - ", "# "))]


TITLES = [
    ("Ferns 蕨类", "Ferns 蕨类"),
    ("C#", "C#"),
    ("yes", '"yes"'),
    ("2026", '"2026"'),
    ("- a: b # c", '"- a: b # c"'),
    ("\"quoted\" \\ and 'quoted'", '"\\"quoted\\" \\\\ and \'quoted\'"'),
    ("[a, {b}]", '"[a, {b}]"'),
    ("🌿 &anchor *alias", "🌿 &anchor *alias"),
    ("# Heading #", '"# Heading #"'),
    ("###", '"###"'),
    ("two\n lines\tand more", "two lines and more"),
]


@pytest.mark.parametrize(("title", "written"), TITLES)
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_all_three_follow_and_no_other_byte_does(
    title: str, written: str, end: bytes, vault: Path, tmp_path: Path
) -> None:
    path = tmp_path / "c.json"
    took(vault, path, FERNS)
    file = only_session(vault)
    mine = file.read_bytes().replace(b"title: New chat", b"mine: kept # so\ntitle: New chat  # its name")
    mine = mine.replace(b"# New chat\n", b"A word before.\n\n# New chat\n\nAnd one behind: New chat.\n")
    file.write_bytes(mine.replace(b"\n", end))
    before = file.read_bytes()
    assert took(vault, path, replace(FERNS, title=title)) == ({"updated": 1}, 1)
    shown = " ".join(title.split())
    wanted = before.replace(b"title: New chat", f"title: {written}".encode())
    wanted = wanted.replace(b"  - New chat", f"  - {written}".encode())
    wanted = wanted.replace(b"\n# New chat", f"\n# {shown}".encode())
    assert file.read_bytes() == wanted
    whole = tree(vault)
    assert took(vault, path, replace(FERNS, title=title)) == ({"unchanged": 1}, 0) and tree(vault) == whole
    assert took(vault, path, RENAMED) == ({"updated": 1}, 1)  # what was written reads back as it was
    assert Vault.open(vault, load(vault)).session(file.relative_to(vault).as_posix()).title == RENAMED.title


NAMES = st.text(min_size=1, max_size=12).filter(str.strip)


@pytest.mark.slow
@given(NAMES, NAMES)
@settings(max_examples=60)
def test_one_title_and_then_another_make_the_file_of_the_second_alone(first: str, second: str) -> None:
    with TemporaryDirectory() as name:
        path, alone, twice = Path(name) / "c.json", *(made_vault(Path(name) / each) for each in "ab")
        took(twice, path, replace(FERNS, title=first))
        took(twice, path, replace(FERNS, title=second))
        took(alone, path, replace(FERNS, title=second))
        assert tree(twice) == tree(alone)


# Who named it.

OWN = {
    "title": ("title: New chat\n", "title: Green things\n"),
    "alias": ("  - New chat\n", "  - Green things\n"),
    "another alias": ("  - New chat\n", "  - New chat\n  - Green things\n"),
    "heading": ("# New chat\n", "# Green things\n"),
    "no heading": ("# New chat\n", ""),
    "no alias": ("aliases:\n  - New chat\n", ""),
    "all": ("New chat", "Green things"),
}


@pytest.mark.parametrize("case", OWN)
def test_what_its_owner_called_it_stays(case: str, vault: Path, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    took(vault, path, FERNS)
    file = only_session(vault)
    text = file.read_text()
    file.write_text(text.replace(*OWN[case]))
    before = file.read_bytes()
    assert before != text.encode()
    assert took(vault, path, RENAMED) == ({"unchanged": 1}, 0)
    assert file.read_bytes() == before
    grown = replace(RENAMED.grown("And moss?"), title="Ferns and moss")
    assert took(vault, path, grown) == ({"updated": 1, "added": 1}, 0)
    assert file.read_bytes().startswith(before)


def test_without_the_ledger_no_title_changes(vault: Path, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    took(vault, path, FERNS)
    before = tree(vault)
    forget_ledger(vault)
    for _ in range(2):
        assert took(vault, path, RENAMED) == ({"unchanged": 1}, 0) and tree(vault) == before
    assert took(vault, path, replace(FERNS, title="Once more")) == ({"unchanged": 1}, 0)
    assert tree(vault) == before


def test_a_title_that_is_that_of_the_source_is_followed_from_then_on(vault: Path, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    took(vault, path, FERNS)
    forget_ledger(vault)
    assert took(vault, path, FERNS) == ({"unchanged": 1}, 0)
    assert took(vault, path, RENAMED) == ({"updated": 1}, 1)


def test_front_matter_that_cannot_be_changed_keeps_its_title_and_grows(vault: Path, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    took(vault, path, FERNS)
    file = only_session(vault)
    file.write_text(file.read_text().replace("tz: Asia", "title: New chat\ntz: Asia"))
    before = file.read_bytes()
    assert took(vault, path, RENAMED.grown("And moss?")) == ({"updated": 1, "added": 1}, 0)
    assert file.read_bytes().startswith(before)


# Which title is the newer one.


def test_an_older_export_takes_no_title_back(vault: Path, tmp_path: Path) -> None:
    path, newer = tmp_path / "c.json", RENAMED.grown("And moss?", "No.")
    took(vault, path, FERNS)
    assert took(vault, path, newer) == ({"updated": 1, "added": 2}, 1)
    before = tree(vault)
    for each in (FERNS, newer, replace(FERNS, title="Earlier still"), newer):
        assert took(vault, path, each) == ({"unchanged": 1}, 0) and tree(vault) == before


def test_two_exports_in_one_folder_come_to_rest(vault: Path, tmp_path: Path) -> None:
    export(tmp_path / "in/a/conversations.json", "chatgpt", [FERNS])
    export(tmp_path / "in/b/conversations.json", "chatgpt", [RENAMED])
    assert bring(vault, tmp_path / "in")[1] == 1
    before = tree(vault)
    report, renamed = bring(vault, tmp_path / "in")
    assert (outcome(report), renamed) == ({"unchanged": 2}, 0) and tree(vault) == before
    assert named(vault)[0] == f"title: {RENAMED.title}"


# Titles made of the first words.


def transcript(path: Path, *titles: str) -> Path:
    """Claude Code lines of a session, and what it came to be called."""
    lines = Talk(talk("Watering ferns", "Once a week."), "s-1").written("claude-code")
    assert isinstance(lines, list)
    lines += [{"type": "ai-title", "sessionId": "s-1", "aiTitle": title} for title in titles]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_a_title_that_comes_later_replaces_first_words_and_not_the_reverse(
    vault: Path, tmp_path: Path
) -> None:
    path = tmp_path / "s-1.jsonl"
    bring(vault, transcript(path))
    assert named(vault) == ["title: Watering ferns", "  - Watering ferns", "# Watering ferns"]
    report, renamed = bring(vault, transcript(path, "Ferns"))
    assert (outcome(report), renamed) == ({"updated": 1}, 1)
    assert named(vault) == ["title: Ferns", "  - Ferns", "# Ferns"]
    for titles, count in (((), 0), (("Ferns", "Moss"), 1), (("Ferns",), 0)):
        assert bring(vault, transcript(path, *titles))[1] == count
    assert named(vault) == ["title: Moss", "  - Moss", "# Moss"]
    other = made_vault(tmp_path / "alone")
    bring(other, transcript(path, "Ferns", "Moss"))
    assert only_session(other).read_bytes() == only_session(vault).read_bytes()


def test_a_session_that_had_no_words_for_a_title_gets_one(vault: Path, tmp_path: Path) -> None:
    path, wordless = tmp_path / "c.json", Talk(talk("###", "Yes?"), title="")
    took(vault, path, wordless)
    assert named(vault) == ["title: chat_2026-04-06_091423", "# chat_2026-04-06_091423"]
    assert took(vault, path, replace(wordless, title="Ferns")) == ({"updated": 1}, 1)
    assert named(vault) == ["title: Ferns", "  - Ferns", "# Ferns"]
    other = made_vault(tmp_path / "alone")
    took(other, path, replace(wordless, title="Ferns"))
    assert only_session(other).read_bytes() == only_session(vault).read_bytes()


def test_a_conversation_that_lost_its_title_keeps_it_here(vault: Path, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    took(vault, path, FERNS)
    assert took(vault, path, replace(FERNS, title="")) == ({"unchanged": 1}, 0)
    assert named(vault)[0] == "title: New chat"


@pytest.mark.parametrize("dry", [False, True])
def test_one_import_may_bring_several_titles(dry: bool, vault: Path, tmp_path: Path) -> None:
    third = replace(FERNS, title="Ferns")
    path = export(tmp_path / "c.json", "chatgpt", [FERNS, RENAMED, FERNS, RENAMED, third])
    report, renamed = bring(vault, path, write=not dry)
    assert (outcome(report), renamed) == ({"new": 1, "updated": 2, "unchanged": 2, "added": 2}, 2)


# Grown and renamed in one go, foretold, and told.


@pytest.mark.parametrize("source", ["chatgpt", "claude", "openai", "undated"])
def test_renamed_and_grown_is_the_same_as_whole(source: Source, vault: Path, tmp_path: Path) -> None:
    path, new = tmp_path / "c.json", replace(FERNS.grown("And moss?", "Never."), title="Ferns: 蕨类 & moss")
    other = made_vault(tmp_path / "alone")
    took(vault, path, FERNS, source=source)
    assert took(vault, path, new, source=source) == ({"updated": 1, "added": 2}, 1)
    took(other, path, new, source=source)
    assert only_session(vault).read_bytes() == only_session(other).read_bytes()


def test_the_command_foretells_and_tells_it(vault: Path, huimem: Huimem, tmp_path: Path) -> None:
    path, moss = tmp_path / "c.json", Talk(talk("Moss", first=900), "c-2", "Moss")
    took(vault, path, FERNS, moss)
    export(path, "chatgpt", [RENAMED, moss.grown("Lichen"), replace(RENAMED, title="Ferns")])
    before = tree(vault)
    words = ("import", str(path), "--vault", str(vault))
    dry = json.loads(huimem(*words, "--dry-run", "--json")[1])
    told = huimem(*words, "--dry-run")[1].split("\n")[0]
    assert told == "3 conversations (chatgpt): 3 would be updated (2 renamed)" and tree(vault) == before
    done = json.loads(huimem(*words, "--json")[1])
    assert (dry["renamed"], dry["updated"], dry["unchanged"]) == (2, 3, 0)
    assert {**dry, "dry_run": False, "weeks": 1, "warnings": done["warnings"]} == done
    first = sorted((vault / "sessions").rglob("*.md"))[0]
    assert first.read_text().count("Ferns\n") == 3 and "New chat" not in first.read_text()
    again = json.loads(huimem(*words, "--json")[1])
    assert (again["renamed"], again["unchanged"]) == (0, 3)
    assert huimem("recall", "Ferns", "--vault", str(vault))[1].count("· Ferns ·") >= 1

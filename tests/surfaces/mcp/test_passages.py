"""A budget through the SDK's own client: whole turns in quotation inside so many tokens, no excerpts."""

from __future__ import annotations

from typing import Any

HNSW = "chat_2026-04-08_101502#20260408T101502"
LATER = "chat_2026-04-08_101502#20260408T102000"
TURN = [
    "> User · 2026-04-08 10:15: HNSW or IVF for the shard index? Memory is tight.",
    ">",
    "> Assistant: We choose HNSW for the shard index; IVF stays as the fallback for cold months.",
]


def test_a_budget_gives_whole_turns_in_quotation(agent: Any) -> None:
    text, data = agent.ask("recall_memory", query="HNSW shard index", k=1, budget=200)
    lines = text.split("\n")
    at = lines.index(f"1. [{HNSW}] sessions/2026-W15/chat_2026-04-08_101502.md:8-14")
    assert lines[at + 1 : at + 5] == ["> # Which index for the shards", *TURN]
    assert lines[at + 5].startswith("why: relevance ")
    (passage,), (hit,) = data["passages"], data["hits"]
    assert passage["hits"] == [0] and passage["refs"] == [HNSW] and passage["tokens"] <= 200
    assert passage["text"] == "\n".join(line.removeprefix(">").removeprefix(" ") for line in TURN)
    assert hit["ref"] == HNSW and "text" not in hit


def test_neighbours_fill_what_is_left(agent: Any) -> None:
    _, data = agent.ask("recall_memory", query="HNSW shard index", k=1, budget=200, context_turns=1)
    assert [one["refs"] for one in data["passages"]] == [[HNSW, LATER]]


def test_what_does_not_fit_is_said(agent: Any) -> None:
    text, data = agent.ask("recall_memory", query="HNSW shard index", k=1, max_tokens=3)
    assert data["passages"] == [] and len(data["hits"]) == 1
    assert "1 of 1 hit does not fit into 3 tokens" in text


def test_without_a_budget_there_are_excerpts(agent: Any) -> None:
    _, data = agent.ask("recall_memory", query="HNSW shard index", k=1)
    assert "passages" not in data and data["hits"][0]["text"]

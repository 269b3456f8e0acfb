"""Conversations saved before they were whole, and messages that cannot be saved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any


def test_an_answer_saved_before_it_was_whole_is_made_longer(
    own_vault: Path, connect: Callable[..., Any]
) -> None:
    def talk(answer: str, **more: str) -> list[dict[str, str]]:
        return [{"role": "user", "content": "A poem?"}, {"role": "assistant", "content": answer, **more}]

    with connect(own_vault) as agent:
        for session, more in (("plain", {}), ("timed", {"created_at": "2026-04-14T09:00:10"})):
            given = {"session_id": session, "title": "Poem"}
            _, made = agent.ask("save_conversation", messages=talk("Roses are", **more), **given)
            whole = talk("Roses are red, violets blue", **more)
            _, longer = agent.ask("save_conversation", messages=whole, **given)
            assert (longer["turns_added"], longer["turns_skipped"]) == (1, 0)
            assert longer["refs"] == made["refs"]
            _, again = agent.ask(
                "save_conversation", messages=talk(f"{whole[1]['content']} ", **more), **given
            )
            assert (again["turns_added"], again["turns_skipped"]) == (0, 1)
            text = (own_vault / made["path"]).read_text(encoding="utf-8")
            assert text.count("Roses are") == 1
            assert text.endswith("\n\nRoses are red, violets blue\n")


# Messages of which the second cannot be saved.
WITHOUT_CONTENT = [
    {"role": "assistant"},
    {"role": "user", "content": None},
    {"role": "user", "tool_calls": []},
]


def test_a_message_without_content_is_refused_by_its_number(
    own_vault: Path, connect: Callable[..., Any]
) -> None:
    call = {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "search"}}]}
    with connect(own_vault) as agent:
        for empty in WITHOUT_CONTENT:
            messages = [{"role": "user", "content": "hi"}, empty]
            said = agent.refused("save_conversation", session_id="s", messages=messages)
            assert said.startswith("message 2 has no content")
        assert not list(own_vault.rglob("s.md"))
        assert agent.ask("save_conversation", session_id="s", messages=[call])[1]["turns_added"] == 1

"""What models send as arguments: other names, other types, mistakes; and what they are told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from huimem.errors import UsageError
from huimem.surfaces.mcp import arguments
from huimem.surfaces.mcp.tools import TOOLS

PARAMETERS = {tool.name: tool.parameters for tool in TOOLS}
MESSAGE = {"role": "user", "content": "hello"}
SAVED: dict[str, Any] = {"messages": [MESSAGE], "session_id": "s"}

# tool, what is sent, the parameter it is for, the value it is read as
TAKEN: list[tuple[str, dict[str, Any], str, object]] = [
    ("recall_memory", {"query": "index"}, "query", "index"),
    ("recall_memory", {"q": "index"}, "query", "index"),
    ("recall_memory", {"text": "index"}, "query", "index"),
    ("recall_memory", {"keywords": ["shard", "index"]}, "query", "shard index"),
    ("recall_memory", {"keywords": "shard index"}, "query", "shard index"),
    ("recall_memory", {"query": 2026}, "query", "2026"),
    ("recall_memory", {"limit": 3}, "k", 3),
    ("recall_memory", {"top_k": "3"}, "k", 3),
    ("recall_memory", {"k": 3.0}, "k", 3),
    ("recall_memory", {"k": None}, "k", 5),
    ("recall_memory", {}, "k", 5),
    ("recall_memory", {"time": "上周三"}, "when", "上周三"),
    ("recall_memory", {"timeframe": "last week"}, "when", "last week"),
    ("recall_memory", {"time_range": "2026-W14"}, "when", "2026-W14"),
    ("recall_memory", {"context_window": 2}, "context_turns", 2),
    ("recall_memory", {"kinds": "turn"}, "kinds", ("turn",)),
    ("recall_memory", {"kind": ["turn", "note"]}, "kinds", ("turn", "note")),
    ("recall_memory", {"tags": '["a", "b"]'}, "tags", ("a", "b")),
    ("recall_memory", {"roles": []}, "roles", ()),
    ("recall_memory", {"detail": "FULL"}, "detail", "full"),
    ("recall", {"q": "index", "when": "2026"}, "when", "2026"),
    ("recall_by_id", {"memory_id": "a#1"}, "id", "a#1"),
    ("recall_by_id", {"turn_id": "a#1"}, "id", "a#1"),
    ("recall_by_id", {"path": "a.md:3"}, "id", "a.md:3"),
    ("recall_by_id", {"ref": "a#1"}, "id", "a#1"),
    ("recall_by_id", {"id": "a#1"}, "context_turns", 2),
    ("scan_weeks", {"q": "x", "when": "last month"}, "start", "last month"),
    ("scan_weeks", {"query": "x", "stop_at": "0.4"}, "stop_at", 0.4),
    ("list_memories", {"k": 7}, "limit", 7),
    ("save_conversation", {**SAVED, "messages": MESSAGE}, "messages", [MESSAGE]),
    ("save_conversation", {**SAVED, "messages": json.dumps([MESSAGE])}, "messages", [MESSAGE]),
    ("save_conversation", {"messages": [MESSAGE], "conversation_id": "s"}, "session_id", "s"),
]  # fmt: skip

# tool, what is sent, what the refusal says
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("recall_memory", {"qury": "x"}, "unknown argument `qury`: did you mean `query`?"),
    ("recall_memory", {"timefram": "x"}, "unknown argument `timefram`: did you mean `when`?"),
    ("recall_memory", {"zzz": 1}, "unknown argument `zzz`\nIt takes `query`, `when`, `k`"),
    ("recall_by_id", {"idd": "a#1"}, "unknown argument `idd`: did you mean `id`?"),
    ("scan_weeks", {"query": "x", "max_week": 3}, "did you mean `max_weeks`?"),
    ("list_memories", {"query": "x"}, "unknown argument `query`"),
    ("save_conversation", {**SAVED, "sesion_id": "s"}, "did you mean `session_id`?"),
    ("recall_memory", {"query": "x", "q": "y"}, "`query` and `q` are the same argument"),
    ("recall_memory", {"limit": 3, "top_k": 3}, "`limit` and `top_k` are the same argument"),
    ("recall_memory", {"k": 0}, "`k` is the number 0, and must be a whole number from 1 to 50"),
    ("recall_memory", {"limit": 51}, "`limit` is the number 51, and must be a whole number from 1 to 50"),
    ("recall_memory", {"k": 2.5}, "`k` is the number 2.5, and must be a whole number"),
    ("recall_memory", {"k": "many"}, "`k` is a text, and must be a whole number"),
    ("recall_memory", {"k": True}, "`k` is true or false, and must be a whole number"),
    ("recall_memory", {"k": float("inf")}, "`k` is the number inf, and must be a whole number"),
    ("recall_memory", {"k": [3]}, "`k` is a list, and must be a whole number"),
    ("recall_memory", {"query": {"text": "x"}}, "`query` is an object, and must be a text"),
    ("recall_memory", {"when": ["a", 2]}, "`when` is a list, and must be a text"),
    ("recall_memory", {"kinds": 3}, "`kinds` is the number 3, and must be a list of texts"),
    ("recall_memory", {"kinds": ["a", 3]}, "`kinds` is a list, and must be a list of texts"),
    ("recall_memory", {"detail": "long"}, '`detail` is a text, and must be "snippet" or "full"'),
    ("recall_by_id", {}, "`id` is missing\nIt must be a text."),
    ("recall_by_id", {"id": None}, "`id` is missing"),
    ("recall_by_id", {"id": "a#1", "max_chars": 0}, "whole number from 1 to 100,000"),
    ("recall_by_id", {"id": "a#1", "offset": -1}, "`offset` is the number -1"),
    ("scan_weeks", {}, "`query` is missing"),
    ("scan_weeks", {"query": "x", "stop_at": 2}, "the number 2, and must be a number from 0 to 1"),
    ("save_conversation", {"session_id": "s"}, "`messages` is missing"),
    ("save_conversation", {**SAVED, "messages": []}, "`messages` is a list, and must be a list of {"),
    ("save_conversation", {**SAVED, "messages": ["hello"]}, "`messages` is a list, and must be a list of {"),
    ("save_conversation", {**SAVED, "messages": "hello"}, "`messages` is a text, and must be a list of {"),
    ("save_conversation", {"messages": [MESSAGE]}, "`session_id` is missing"),
]  # fmt: skip

# The same for values that only the vault can judge.
NOT_THERE: list[tuple[str, dict[str, Any], str]] = [
    ("recall_memory", {"when": "banana"}, "“banana” names no time that can be read\nTry \"last Wednesday\""),
    ("recall_memory", {"since": "banana"}, "names no time that can be read"),
    ("recall_memory", {"when": "2026", "since": "2026"}, "ask for a time twice"),
    ("recall_memory", {"since": "2026-04-05", "until": "2026-04-01"}, "`since` lies after `until`"),
    ("recall_by_id", {"id": "chat_2020-01-01_000000#20200101T000000"}, "no record chat_2020-01-01_"),
    ("recall_by_id", {"id": "no ref"}, "the vault holds no file and no record 'no ref'"),
    ("recall_by_id", {"id": ""}, "the vault holds no file and no record"),
    ("recall_by_id", {"path": "a\0.md"}, "the vault holds no file and no record"),
    ("recall_by_id", {"path": "/etc/passwd"}, "the vault holds no file and no record"),
    ("recall_by_id", {"path": ".huimem/seal.json"}, "the vault holds no file and no record"),
    ("recall_by_id", {"path": "sessions/none.md:3"}, "recall_memory and list_memories give refs"),
    ("recall_by_id", {"path": "../outside.md"}, "recall_memory and list_memories give refs"),
    ("recall_by_id", {"path": "huimem.toml"}, "recall_memory and list_memories give refs"),
    ("recall_by_id", {"id": "diet@20260402T090000", "offset": 500}, "lies past the end: 17 characters"),
    ("scan_weeks", {"query": " "}, "`query` is empty"),
    ("scan_weeks", {"query": "x", "cursor": "5"}, "`cursor` is none that scan_weeks gave"),
    ("scan_weeks", {"query": "x", "start": "banana"}, "names no time that can be read"),
    ("list_memories", {"cursor": "9" * 30}, "`cursor` is none that list_memories gave"),
    ("list_memories", {"cursor": "2026-W01"}, "`cursor` is none that list_memories gave"),
    ("save_conversation", {**SAVED, "messages": [{"content": "x"}]}, "message 1 has no role"),
    ("save_conversation", {**SAVED, "messages": [{**MESSAGE, "created_at": "soon"}]}, "a time that cannot"),
    ("save_conversation", {**SAVED, "session_id": " "}, "`session_id` is empty"),
    ("save_conversation", {**SAVED, "namespace": "work/**"}, "names many namespaces"),
    ("recal_memory", {"query": "x"}, "there is no tool `recal_memory`: did you mean `recall_memory`?"),
]  # fmt: skip


def short(row: tuple[Any, ...]) -> str:
    return f"{row[0]} {str(row[1])[:40]}"


@pytest.mark.parametrize(("tool", "given", "name", "value"), TAKEN, ids=map(short, TAKEN))
def test_an_argument_is_read_as_it_is_meant(
    tool: str, given: dict[str, Any], name: str, value: object
) -> None:
    values = arguments.read(PARAMETERS[tool], given)
    assert values[name] == value
    assert type(values[name]) is type(value)


@pytest.mark.parametrize(("tool", "given", "said"), REFUSED, ids=map(short, REFUSED))
def test_an_argument_that_does_not_fit_is_named(tool: str, given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as refusal:
        arguments.read(PARAMETERS[tool], given)
    assert said in str(refusal.value)
    assert refusal.value.hint


def test_a_refusal_does_not_repeat_a_text() -> None:
    with pytest.raises(UsageError) as refusal:
        arguments.read(PARAMETERS["recall_memory"], {"k": "what somebody said in confidence"})
    assert "confidence" not in str(refusal.value)


@pytest.mark.parametrize(
    ("tool", "given", "said"), [*REFUSED[:8], *NOT_THERE], ids=map(short, [*REFUSED[:8], *NOT_THERE])
)
def test_the_client_is_told_with_a_remedy(agent: Any, tool: str, given: dict[str, Any], said: str) -> None:
    text = agent.refused(tool, **given)
    assert said in text
    assert "\n" in text  # the remedy stands on a line of its own


SYNONYMS = [
    row for row in TAKEN if row[0] in ("recall_memory", "recall") and row[2] in ("query", "k", "when")
]


@pytest.mark.parametrize(("tool", "given", "name", "value"), SYNONYMS, ids=map(short, SYNONYMS))
def test_the_server_takes_other_names(
    agent: Any, tool: str, given: dict[str, Any], name: str, value: object
) -> None:
    shown = agent.ask("recall_memory", **{"query": given.get("q", ""), name: value} if value != 5 else {})
    assert agent.ask(tool, **given)[0] == shown[0]


def test_no_other_name_stands_in_a_schema(agent: Any) -> None:
    for tool in agent.portal.call(agent.client.list_tools).tools:
        parameters = PARAMETERS[tool.name]
        assert set(tool.input_schema["properties"]) == {one.name for one in parameters if not one.hidden}


def test_no_two_parameters_of_a_tool_share_a_name() -> None:
    for tool in TOOLS:
        names = [name for one in tool.parameters for name in (one.name, *one.synonyms)]
        assert len(names) == len(set(names)), tool.name

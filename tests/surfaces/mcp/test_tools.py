"""Every tool through the SDK's own client: what it answers, as text and as data, each enough by itself."""

from __future__ import annotations

import json
from math import ceil
from typing import Any

import pytest

NOTE = "Quoted from stored conversations"
HNSW = "chat_2026-04-08_101502#20260408T101502"
LATER = "chat_2026-04-08_101502#20260408T102000"
LEASE = "chat_2026-04-01_083000#20260401T083000"
LETTER = "chat_2026-02-04_090000#20260204T090000"
SHARDS = "sessions/2026-W15/chat_2026-04-08_101502.md"
NAMES = ["recall_memory", "recall", "recall_by_id", "scan_weeks", "list_memories", "save_conversation"]


def listed(agent: Any) -> list[dict[str, Any]]:
    tools = agent.portal.call(agent.client.list_tools).tools
    return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]


def test_the_server_greets_with_its_name_and_what_it_is_for(agent: Any) -> None:
    assert agent.client.server_info.name == "huimem"
    assert "recall_memory" in agent.client.instructions
    assert len(agent.client.instructions.split()) <= 120


def test_these_tools_are_there_with_annotations(agent: Any) -> None:
    tools = {tool["name"]: tool for tool in listed(agent)}
    assert list(tools) == NAMES
    for name, tool in tools.items():
        hints = dict(tool["annotations"])
        assert hints.pop("title")
        assert hints == {
            "readOnlyHint": name != "save_conversation",
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        }
        assert 1 <= tool["description"].count(". ") + 1 <= 3
    large = {name for name, tool in tools.items() if "anthropic/maxResultSizeChars" in tool.get("_meta", {})}
    assert large == {"recall_by_id", "scan_weeks"}


def test_all_schemas_together_cost_little(agent: Any) -> None:
    whole = json.dumps(listed(agent), ensure_ascii=False, separators=(",", ":"))
    assert ceil(len(whole) / 4) <= 2_000


def test_recall_says_how_the_time_was_read_then_where_then_what(agent: Any) -> None:
    text, data = agent.ask("recall_memory", query="which index did we choose last Wednesday?", k=1)
    lines = text.split("\n")
    assert lines[0].startswith(
        "1 hit of 2 records in that time · last Wednesday = Wed 8 Apr 2026 (Asia/Shanghai)"
    )
    assert lines[0].endswith("index fresh")
    assert lines[1].startswith(NOTE)
    place = f"Wed 2026-04-08 10:16 · assistant · {SHARDS}:14"
    assert lines[3] == f"1. [{HNSW}] {place}"
    assert lines[4] == "> # Which index for the shards"
    assert lines[5] == "> We choose HNSW for the shard index; IVF stays as the fallback for cold months."
    assert lines[6].startswith("why: relevance ")
    (hit,) = data["hits"]
    assert (hit["ref"], hit["path"], hit["line"], hit["role"]) == (HNSW, SHARDS, 14, "assistant")
    assert hit["when"] == "2026-04-08T10:16:30+08:00"
    assert hit["text"] == "We choose HNSW for the shard index; IVF stays as the fallback for cold months."
    assert data["note"].startswith(NOTE)
    (span,) = data["time"]["ranges"]
    assert (span["start"], span["end"]) == ("2026-04-08T00:00:00+08:00", "2026-04-09T00:00:00+08:00")
    assert data["index"]["fresh"] is True
    assert data["summary"] == lines[0]


def test_the_alias_answers_the_same(agent: Any) -> None:
    whole = agent.ask("recall_memory", query="shard index", k=2)
    short = agent.ask("recall", query="shard index", k=2)
    assert whole[0] == short[0]
    assert {**whole[1], "recall_id": ""} == {**short[1], "recall_id": ""}


def test_words_of_any_script_come_back_whole(agent: Any) -> None:
    text, data = agent.ask("recall", query="押金四千元")
    assert (data["hits"][0]["ref"], data["hits"][0]["title"]) == (LEASE, "租房合同")
    assert data["hits"][0]["text"] == "租房合同六月三十日到期，押金四千元。🏠"
    assert "> 租房合同六月三十日到期，押金四千元。🏠" in text.split("\n")


TIMES = [
    ({"when": "上周三"}, HNSW),
    ({"when": "2026-W14"}, LEASE),
    ({"when": "2026-04-01..2026-04-05"}, LEASE),
    ({"since": "2026-04-07"}, HNSW),
    ({"since": "2026-03-30", "until": "2026-04-05"}, LEASE),
    ({"since": "2026-04-08T10:00", "until": "2026-04-08T10:16"}, HNSW),
    ({"until": "2026-02-10"}, LETTER),
]


@pytest.mark.parametrize(("time", "ref"), TIMES, ids=[str(time) for time, _ in TIMES])
def test_a_time_alone_gives_its_sessions(agent: Any, time: dict[str, str], ref: str) -> None:
    assert ref in [hit["ref"] for hit in agent.ask("recall_memory", **time)[1]["hits"]]


def test_neighbours_come_where_they_are_asked_for(agent: Any) -> None:
    text, data = agent.ask("recall_memory", query="fallback for cold months", context_turns=1, k=1)
    assert "before" not in data["hits"][0]
    assert "Remind me to measure it" in data["hits"][0]["after"][0]
    assert "after:\n> Good. Remind me to measure it" in text


def test_nothing_found_is_an_answer_with_a_next_step(agent: Any) -> None:
    text, data = agent.ask("recall_memory", query="zeppelin quokka")
    assert data["hits"] == []
    assert "list_memories" in data["hint"]
    assert data["hint"] in text


def test_an_empty_day_names_the_nearest_ones(agent: Any) -> None:
    _, data = agent.ask("recall_memory", when="2026-04-05")
    assert data["hits"] == []
    assert "2026-04-08" in data["hint"]


def test_no_question_at_all_is_told_what_to_ask(agent: Any) -> None:
    _, data = agent.ask("recall_memory")
    assert data["hits"] == []
    assert "`query`" in data["hint"]


def test_an_excerpt_says_that_it_is_one_and_the_whole_is_a_call_away(agent: Any) -> None:
    _, data = agent.ask("recall_memory", query="lighthouse keeper lamp")
    letter = next(hit for hit in data["hits"] if hit["ref"] == LETTER)
    assert len(letter["text"]) <= 800
    assert letter["truncated"] is True
    _, whole = agent.ask("recall_by_id", id=letter["ref"], max_chars=100_000)
    assert whole["messages"][1]["text"] == " ".join(["Dear keeper, the lamp is kept."] * 1_000)


def test_full_texts_on_request(agent: Any) -> None:
    _, data = agent.ask("recall_memory", query="which index for the shards?", detail="full", k=1)
    (hit,) = data["hits"]
    assert hit["text"].startswith("HNSW or IVF for the shard index? Memory is tight.")
    assert hit["text"].endswith("IVF stays as the fallback for cold months.")
    assert hit["truncated"] is False
    assert "hint" not in data


# The question, how many hits and neighbours, and how much of the long letter comes at least.
FULL = [
    ("lighthouse keeper lamp", 1, 0, 19_000),
    ("lighthouse keeper shard index", 3, 1, 2_000),
    ("lighthouse keeper shard index", 50, 10, 500),
]


@pytest.mark.parametrize(("query", "k", "neighbours", "least"), FULL)
def test_full_texts_are_cut_where_they_would_fill_everything(
    agent: Any, query: str, k: int, neighbours: int, least: int
) -> None:
    question = {"query": query, "k": k, "context_turns": neighbours}
    text, data = agent.ask("recall_memory", detail="full", **question)
    texts = [
        one for hit in data["hits"] for one in (hit["text"], *hit.get("before", ()), *hit.get("after", ()))
    ]
    assert sum(map(len, texts)) <= 20_000
    (letter,) = (hit for hit in data["hits"] if hit["ref"] == LETTER)
    assert letter["truncated"] is True
    assert least <= len(letter["text"])
    assert letter["text"].endswith("Dear keeper, the lamp is kept.…")
    assert "recall_by_id" in data["hint"] and data["hint"] in text
    assert len(text) <= 30_000


def test_a_namespace_is_seen_only_when_it_is_named(agent: Any) -> None:
    assert agent.ask("recall", query="budget trip")[1]["hits"] == []
    _, data = agent.ask("recall", query="budget trip", namespace="work")
    assert [hit["ref"] for hit in data["hits"]] == ["work/chat_2026-04-09_140000#20260409T140000"]
    assert data["hits"][0]["namespace"] == "work"


def test_a_ref_gives_the_exact_words_and_the_neighbours(agent: Any) -> None:
    text, data = agent.ask("recall_by_id", id=HNSW)
    assert [message["role"] for message in data["messages"]] == ["user", "assistant"]
    assert data["messages"][0]["text"] == "HNSW or IVF for the shard index? Memory is tight."
    assert (data["path"], data["line"], data["title"]) == (SHARDS, 8, "Which index for the shards")
    assert [other["ref"] for other in data["after"]] == [LATER]
    assert "> HNSW or IVF for the shard index? Memory is tight." in text.split("\n")
    assert f"after: [{LATER}] Wed 2026-04-08 10:20" in text.split("\n")
    assert "after" not in agent.ask("recall_by_id", id=HNSW, context_turns=0)[1]


def test_a_place_gives_the_record_that_holds_the_line(agent: Any) -> None:
    for place in (f"{SHARDS}:12", f"{SHARDS}:14"):
        assert agent.ask("recall_by_id", path=place)[1]["ref"] == HNSW


def test_a_path_gives_the_whole_file(agent: Any) -> None:
    text, data = agent.ask("recall_by_id", path=SHARDS)
    assert (data["kind"], len(data["messages"])) == ("file", 4)
    assert "> I noted it." in text.split("\n")


def test_a_fact_tells_how_long_it_holds(agent: Any) -> None:
    _, data = agent.ask("recall_by_id", id="diet@20260402T090000")
    assert (data["kind"], data["key"]) == ("preference", "diet")
    assert data["valid"]["end"] is None
    assert data["messages"][0]["text"] == "No peanuts, ever."


def test_pages_of_a_long_text_join_to_the_whole(agent: Any) -> None:
    pieces: dict[str, str] = {"user": "", "assistant": ""}
    offset, pages = 0, 0
    while offset is not None:
        _, data = agent.ask("recall_by_id", id=LETTER, max_chars=9_000, offset=offset)
        for message in data["messages"]:
            pieces[message["role"]] += message["text"]
        offset, pages = data.get("next_offset"), pages + 1
    assert pieces["user"] == "Please write the letter to the lighthouse keeper."
    assert pieces["assistant"] == " ".join(["Dear keeper, the lamp is kept."] * 1_000)
    assert pages == 4


def test_a_list_is_newest_first_and_goes_on_by_its_cursor(agent: Any) -> None:
    seen, cursor = [], None
    while True:
        text, data = agent.ask("list_memories", limit=2, cursor=cursor)
        seen += [item["when"] for item in data["items"]]
        assert all(f"[{item['ref']}]" in text for item in data["items"])
        cursor = data.get("next_cursor")
        if cursor is None:
            break
    assert len(seen) == data["total"] == 6
    assert seen == sorted(seen, reverse=True)
    assert seen[0] == "2026-04-08T10:20:00+08:00"


def test_a_list_by_filter_oldest_first(agent: Any) -> None:
    _, data = agent.ask("list_memories", order="oldest", since="2026-03-30", roles=["user"])
    assert [item["ref"] for item in data["items"]] == [LEASE, HNSW, LATER]
    _, data = agent.ask("list_memories", kinds=["preference"])
    assert [item["ref"] for item in data["items"]] == ["diet@20260402T090000"]
    text, data = agent.ask("list_memories", when="2026-01")
    assert (data["items"], data["total"]) == ([], 0)
    assert data["hint"] in text


def test_a_scan_walks_back_until_a_week_answers(agent: Any) -> None:
    told: list[tuple[float, str]] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        told.append((done, message or ""))

    result = agent.call("scan_weeks", {"query": "租房合同押金", "stop_at": 0.3}, progress)
    data = result.structured_content
    assert data["found_in"] == "2026-W14"
    assert [week["week"] for week in data["weeks"]] == ["2026-W16", "2026-W15", "2026-W14"]
    assert data["hits"][0]["ref"] == LEASE
    assert [done for done, _ in told] == [1, 2, 3]
    assert [words for _, words in told][:2] == ["2026-W16: 0 turns", "2026-W15: 2 turns"]
    assert told[2][1].startswith("2026-W14: 1 turn, best 0.")


def test_a_scan_goes_on_where_it_stopped(agent: Any) -> None:
    text, first = agent.ask("scan_weeks", query="lighthouse keeper", max_weeks=4, stop_at=0.3)
    assert [week["week"] for week in first["weeks"]] == ["2026-W16", "2026-W15", "2026-W14", "2026-W13"]
    assert (first["hits"], first["next_cursor"]) == ([], "2026-W12")
    assert "2026-W12" in first["hint"] and first["hint"] in text
    _, second = agent.ask("scan_weeks", query="lighthouse keeper", cursor=first["next_cursor"], stop_at=0.3)
    assert second["weeks"][0]["week"] == "2026-W12"
    assert second["found_in"] == "2026-W06"
    assert "next_cursor" not in second


def test_a_scan_begins_where_it_is_told(agent: Any) -> None:
    _, data = agent.ask("scan_weeks", query="shard index", start="last month")
    assert data["weeks"][0]["week"] == "2026-W14"  # the week in which March ends
    assert "found_in" not in data


def test_a_scan_that_begins_before_everything_names_the_nearest_day(agent: Any) -> None:
    text, data = agent.ask("scan_weeks", query="shard index", start="2001")
    assert (data["weeks"], data["hits"]) == ([], [])
    assert data["hint"] == "Nothing is so old. The nearest day that holds something: 2026-02-04."
    assert data["hint"] in text


def test_a_week_without_hits_is_never_the_one_that_was_found(agent: Any) -> None:
    text, data = agent.ask("scan_weeks", query="zeppelin quokka", stop_at=0, max_weeks=3)
    assert "found_in" not in data
    assert [week["week"] for week in data["weeks"]] == ["2026-W16", "2026-W15", "2026-W14"]
    assert text.startswith("3 weeks walked back · nothing found")
    _, data = agent.ask("scan_weeks", query="押金四千元", stop_at=0)
    assert (data["found_in"], data["hits"][0]["ref"]) == ("2026-W14", LEASE)


def test_a_vague_time_is_walked_back_through_and_the_answer_says_so(agent: Any) -> None:
    text, data = agent.ask("recall_memory", query="租房合同最近怎么说", k=1)
    assert data["hits"][0]["ref"] == LEASE
    assert "looked back over 3 weeks, 3 turns; stopped at 2026-W14, Mon 30 Mar – Sun 5 Apr" in data["summary"]
    assert text.startswith(data["summary"])


# what is asked: what the hint holds
HINTS = [
    # an exact time without an answer: what else its words may mean, and the walk
    ({"query": "租房合同", "when": "last Tuesday"}, ["`when` 2026-04-14 (yesterday)", "scan_weeks"]),
    ({"query": "租房合同", "when": "2026-04-08"}, ["other words, scan_weeks, or list_memories"]),
    # what is near does not hold the phrase, or holds what is shut out
    ({"query": 'shard index "HNSW for ever"'}, ["must hold the quoted words", "without quotation marks"]),
    ({"query": "fallback for cold months -HNSW -remind"}, ["nothing that -words shut out. Ask without"]),
    ({"when": "last Tuesday"}, ["2026-04-08. Or try `when` 2026-04-14 (yesterday)."]),
]


@pytest.mark.parametrize(("asked", "hints"), HINTS)
def test_an_answer_without_hits_says_what_to_try(agent: Any, asked: dict[str, Any], hints: list[str]) -> None:
    text, data = agent.ask("recall_memory", **asked)
    assert data["hits"] == []
    assert all(hint in data["hint"] for hint in hints) and data["hint"] in text


def test_the_resources_and_the_prompt(agent: Any) -> None:
    client, call = agent.client, agent.portal.call
    assert [str(one.uri) for one in call(client.list_resources).resources] == [
        "memory://status",
        "memory://recent",
    ]
    (status,) = call(client.read_resource, "memory://status").contents
    assert json.loads(status.text)["records"] == 7
    (recent,) = call(client.read_resource, "memory://recent").contents
    assert LATER in recent.text
    (prompt,) = call(client.list_prompts).prompts
    assert [(one.name, one.required) for one in prompt.arguments] == [("topic", True), ("when", False)]

    async def get() -> Any:
        return await client.get_prompt("recall_about", {"topic": "租房", "when": "last month"})

    (message,) = call(get).messages
    assert '"租房"' in message.content.text and '"last month"' in message.content.text

"""A server's life beside its client: how it begins and ends, what it writes, what it sees meanwhile."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from huimem import Memory
from huimem.surfaces.mcp.wire import mended

ROOT = Path(__file__).parents[3]
NOW = "2026-04-15T10:30+08:00"
GREETING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "pipes", "version": "1"},
    },
}
SOON = 2.0  # seconds in which a server ends
HNSW = "chat_2026-04-08_101502#20260408T101502"

NOISY = """
import os, subprocess
import numpy as np
print("noise on import")

class Noisy:
    name, dim = "noisy", 4
    def embed(self, texts, *, as_query=False):
        print("noise in Python")
        os.write(1, b"noise in C\\n")
        subprocess.run(["echo", "noise of a child"])
        return np.ones((len(texts), 4), np.float32) / 2
"""


def called(number: int, tool: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


@contextmanager
def piped(vault: Path, *options: str, **more: str) -> Iterator[subprocess.Popen[bytes]]:
    """The server with plain pipes, for what a client of the SDK would hide."""
    home = vault.parent / "home"
    home.mkdir(exist_ok=True)
    given = {
        "HOME": str(home),
        "PYTHONPATH": str(ROOT),
        "HUIMEM_EMBEDDER": "none",
        "PATH": os.environ["PATH"],
    }
    words = [sys.executable, "-m", "huimem", "mcp", "serve", "--vault", str(vault), "--now", NOW, *options]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, env=given | more) as child:
        try:
            yield child
        finally:
            child.kill()


def lines_of(*messages: dict[str, Any]) -> bytes:
    return "".join(f"{json.dumps(message, ensure_ascii=False)}\n" for message in messages).encode()


def write(child: subprocess.Popen[bytes], lines: bytes) -> None:
    assert child.stdin is not None
    child.stdin.write(lines)
    child.stdin.flush()


def say(child: subprocess.Popen[bytes], *messages: dict[str, Any]) -> None:
    write(child, lines_of(*messages))


def hear(child: subprocess.Popen[bytes]) -> dict[str, Any]:
    assert child.stdout is not None
    heard: dict[str, Any] = json.loads(child.stdout.readline())
    return heard


@pytest.mark.slow
def test_questions_before_the_end_of_input_are_answered(own_vault: Path) -> None:
    with piped(own_vault) as child:
        for asked in (GREETING, called(2, "recall", query="index")):  # after which the vault is open
            say(child, asked)
            hear(child)
        out, err = child.communicate(lines_of(called(3, "recall", query="押金四千元")), timeout=30)
    (answer,) = map(json.loads, out.decode().splitlines())
    assert answer["result"]["structuredContent"]["hits"][0]["title"] == "租房合同"
    assert (child.returncode, err) == (0, b"")


@pytest.mark.slow
def test_it_ends_with_its_input(own_vault: Path) -> None:
    with piped(own_vault) as child:
        say(child, GREETING)
        hear(child)
        say(child, called(2, "recall", query="index"))
        hear(child)
        assert child.stdin is not None
        child.stdin.close()
        start = time.monotonic()
        assert child.wait(30) == 0
        assert time.monotonic() - start <= SOON


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_a_signal_ends_it(own_vault: Path, number: signal.Signals) -> None:
    with piped(own_vault) as child:
        say(child, GREETING)
        hear(child)
        start = time.monotonic()
        child.send_signal(number)
        assert child.wait(30) == 128 + number
        assert time.monotonic() - start <= SOON
        assert child.stderr is not None
        assert child.stderr.read() == b""


def test_lines_that_are_no_message_stop_nothing_and_the_end_may_come_at_once(own_vault: Path) -> None:
    with piped(own_vault) as child:
        out, err = child.communicate(b'\n\xff\xfe no json\n{"jsonrpc": "2.0"}\n[]\n', timeout=30)
    assert (child.returncode, out, err) == (0, b"", b"")


# What stands in a question as JSON, and what is asked then.
HALVES = [
    (r"x \ud83d", "x \ufffd"),
    (r"x \uDE00 y", "x \ufffd y"),
    (r"\ud83d\ud83d\ude00", "\ufffd😀"),
    (r"\ude00\ud83d", "\ufffd\ufffd"),
    (r"\uD83D\uDE00", "😀"),
    (r"\\ud83d", r"\ud83d"),
    (r"\\\ud83d \"\u4e09", '\\\ufffd "三'),
]


@pytest.mark.parametrize(("written", "meant"), HALVES)
def test_halves_of_characters_are_mended(written: str, meant: str) -> None:
    assert json.loads(mended(f'{{"q": "{written}"}}')) == {"q": meant}


@pytest.mark.slow
def test_requests_with_halves_of_characters_are_answered(own_vault: Path) -> None:
    saved = called(
        3, "save_conversation", session_id="s", messages=[{"role": "user", "content": "a kite HALF"}]
    )
    asked = lines_of(GREETING, called(2, "recall", query="kite HALF"), saved)
    with piped(own_vault) as child:
        write(child, asked.replace(b"HALF", rb"\ud83d"))
        heard = [hear(child) for _ in range(3)]
        out, err = child.communicate(timeout=30)
    answers = {answer["id"]: answer["result"] for answer in heard}
    assert sorted(answers) == [1, 2, 3] and not answers[2].get("isError")
    assert answers[3]["structuredContent"]["turns_added"] == 1
    assert next(own_vault.rglob("s.md")).read_text(encoding="utf-8").endswith("a kite \ufffd\n")
    assert (out, err) == (b"", b"")


# Lines that ask for an answer and are no request, and under which id they are refused.
REFUSED = [
    ('{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": []}', 7),
    ('{"jsonrpc": "2.0", "id": "a", "method": 5}', "a"),
    ('{"jsonrpc": "2.0", "id": 7}', 7),
    ('{"id": 7, "method": "ping"}', 7),
    ('{"jsonrpc": "2.0", "id": [7], "method": "ping"}', None),
]
PASSED_OVER = ["no json", "[]", '{"jsonrpc": "2.0"}', '{"id": 7, "result": {}, "jsonrpc": "1.0"}', '{"x": 1}']


def test_what_is_no_request_and_waits_for_an_answer_is_refused(own_vault: Path) -> None:
    lines = [*PASSED_OVER, *(line for line, _ in REFUSED)]
    with piped(own_vault) as child:
        broken = "\n".join([*lines, ""]).encode()
        write(child, lines_of(GREETING) + broken + lines_of(called(9, "no_such_tool")))
        answers = [hear(child) for _ in range(len(REFUSED) + 2)]
        out, err = child.communicate(timeout=30)
    refused = [answer for answer in answers if "error" in answer]
    assert [answer["id"] for answer in refused] == [id for _, id in REFUSED]
    assert {answer["error"]["code"] for answer in refused} == {-32600}
    assert sorted(answer["id"] for answer in answers if "result" in answer) == [1, 9]
    assert (out, err) == (b"", b"")


@pytest.mark.slow
def test_nothing_but_messages_is_on_its_output(own_vault: Path) -> None:
    """Also where an embedder, a library in C and a child of its own print."""
    package = own_vault.parent / "package"
    (package / "noisy-1.dist-info").mkdir(parents=True)
    (package / "noisy.py").write_text(NOISY, encoding="utf-8")
    (package / "noisy-1.dist-info/METADATA").write_text("Name: noisy\nVersion: 1\n", encoding="utf-8")
    entry = "[huimem.embedders]\nnoisy = noisy:Noisy\n"
    (package / "noisy-1.dist-info/entry_points.txt").write_text(entry, encoding="utf-8")
    paths = os.pathsep.join([str(ROOT), str(package)])
    messages = [
        GREETING,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        called(
            3, "save_conversation", session_id="s", messages=[{"role": "user", "content": "a saffron kite"}]
        ),
        called(4, "recall", query="nothing", qury="x"),
        called(5, "no_such_tool"),
    ]
    with piped(own_vault, PYTHONPATH=paths, HUIMEM_EMBEDDER="noisy") as child:
        say(child, *messages)
        heard = [hear(child) for _ in range(5)]
        engine, number = "words", 5
        while engine != "words+meaning":  # until vectors were made, and one for a question
            number += 1
            say(child, called(number, "recall", query="saffron kite"))
            heard.append(hear(child))
            engine = heard[-1]["result"]["structuredContent"]["index"]["engine"]
        out, err = child.communicate(timeout=30)
    assert out == b""
    assert sorted(message["id"] for message in heard) == list(range(1, number + 1))
    for noise in (b"noise on import", b"noise in Python", b"noise in C", b"noise of a child"):
        assert noise in err


@pytest.mark.slow
def test_a_client_that_reads_nothing_does_not_keep_it(own_vault: Path) -> None:
    """The pipe to it is full: the server still ends when its input does."""
    with piped(own_vault) as child:
        many = (
            called(number, "recall_by_id", id="chat_2026-02-04_090000#20260204T090000", max_chars=100_000)
            for number in range(2, 8)
        )
        say(child, GREETING, *many)
        hear(child)
        hear(child)
        assert child.stdin is not None
        child.stdin.close()
        start = time.monotonic()
        child.wait(30)
        assert time.monotonic() - start <= SOON


@pytest.mark.slow
def test_a_vault_that_is_missing_or_broken_is_told_by_every_tool_until_it_is_there(
    tmp_path: Path, connect: Callable[..., Any]
) -> None:
    missing = tmp_path / "nowhere"
    saved = {"session_id": "s", "messages": [{"role": "user", "content": "x"}]}
    with connect(missing) as agent:
        assert len(agent.portal.call(agent.client.list_tools).tools) == 6
        for tool, arguments in [
            *(("recall_memory", {"query": "x"}), ("recall", {"query": "x"}), ("recall_by_id", {"id": "a#1"})),
            *(("scan_weeks", {"query": "x"}), ("list_memories", {}), ("save_conversation", saved)),
        ]:
            text = agent.refused(tool, **arguments)
            assert f"{missing} is not a folder" in text
            assert "huimem init" in text
        missing.mkdir()
        (missing / "huimem.toml").write_text("timezone = ", encoding="utf-8")
        text = agent.refused("recall", query="x")
        assert "is not valid TOML" in text and "Correct it" in text
        (missing / "huimem.toml").unlink()
        Memory.create(missing, tz="UTC").close()
        assert agent.ask("save_conversation", **saved)[1]["turns_added"] == 1


@pytest.mark.slow
def test_read_only_offers_no_tool_that_writes(own_vault: Path, connect: Callable[..., Any]) -> None:
    """Here in the newest form of the protocol, which knows no greeting."""
    with connect(own_vault, "--read-only", mode="2026-07-28") as agent:
        assert agent.ask("recall", query="shard index")[1]["hits"][0]["ref"] == HNSW
        names = [tool.name for tool in agent.portal.call(agent.client.list_tools).tools]
        assert names == ["recall_memory", "recall", "recall_by_id", "scan_weeks", "list_memories"]
        said = agent.refused("save_conversation", session_id="s", messages=[{"role": "user", "content": "x"}])
    assert "there is no tool `save_conversation`" in said
    assert not list(own_vault.rglob("s.md"))


@pytest.mark.slow
def test_what_is_saved_is_recalled_and_saved_once(own_vault: Path, connect: Callable[..., Any]) -> None:
    first = {
        "role": "user",
        "content": "The saffron kite flew over 港口.",
        "created_at": "2026-04-14T09:00:00",
    }
    talk = [first, {"role": "assistant", "content": "How high?", "created_at": "2026-04-14T09:00:10"}]
    with connect(own_vault) as agent:
        _, made = agent.ask("save_conversation", messages=talk, session_id="kites/1", title="Kites")
        assert (made["turns_added"], made["turns_skipped"]) == (1, 0)
        assert made["refs"] == ["kites%2F1#20260414T090000"]
        _, found = agent.ask("recall", query="saffron kite")
        assert [hit["ref"] for hit in found["hits"]] == made["refs"]
        assert found["hits"][0]["path"] == made["path"]
        file = own_vault / made["path"]
        before = file.read_bytes()
        _, again = agent.ask("save_conversation", messages=talk, session_id="kites/1")
        assert (again["turns_added"], again["turns_skipped"], again["refs"]) == (0, 1, made["refs"])
        assert file.read_bytes() == before
        reply = {"role": "assistant", "content": "And how far?", "created_at": "2026-04-14T09:00:20"}
        talk.append(reply)
        _, longer = agent.ask("save_conversation", messages=talk, session_id="kites/1")
        assert (longer["turns_added"], longer["turns_skipped"]) == (1, 0)
        more = [*talk, {"role": "user", "content": "Very high.", "created_at": "2026-04-14T09:01:00"}]
        text, grown = agent.ask("save_conversation", messages=more, session_id="kites/1")
        assert (grown["turns_added"], grown["turns_skipped"]) == (1, 1)
        assert text.startswith(f"1 turn added or continued, 1 known already · {made['path']}")
        file.rename(file.with_name("renamed by hand.md"))
        agent.ask("recall", query="kite")  # so that the index knows of it
        _, moved = agent.ask("save_conversation", messages=more, session_id="kites/1")
        assert (moved["turns_added"], moved["turns_skipped"]) == (0, 2)
        assert moved["path"].endswith("renamed by hand.md")


@pytest.mark.slow
def test_the_namespace_of_the_server_is_that_of_its_tools(
    own_vault: Path, connect: Callable[..., Any]
) -> None:
    with connect(own_vault, "--namespace", "work") as agent:
        _, found = agent.ask("recall", query="budget trip")
        assert [hit["namespace"] for hit in found["hits"]] == ["work"]
        assert agent.ask("list_memories")[1]["total"] == 1
        saved = {"session_id": "s", "messages": [{"role": "user", "content": "x"}]}
        assert agent.ask("save_conversation", **saved)[1]["path"].startswith("namespaces/work/")
        assert (
            agent.ask("recall_by_id", id="chat_2026-04-09_140000#20260409T140000")[1]["namespace"] == "work"
        )


@pytest.mark.slow
def test_a_file_edited_a_moment_ago_is_seen(own_vault: Path, connect: Callable[..., Any]) -> None:
    file = next(own_vault.rglob("chat_2026-04-08_101502.md"))
    with connect(own_vault) as agent:
        assert agent.ask("recall", query="obsidian otter")[1]["hits"] == []
        text = file.read_text(encoding="utf-8").replace("We choose HNSW", "The obsidian otter says HNSW")
        file.write_text(text, encoding="utf-8")
        assert agent.ask("recall", query="obsidian otter")[1]["hits"][0]["ref"] == HNSW


@pytest.mark.slow
def test_two_servers_share_a_vault(own_vault: Path, connect: Callable[..., Any]) -> None:
    with connect(own_vault) as one, connect(own_vault) as other:
        saved = {"session_id": "s", "messages": [{"role": "user", "content": "a cinnamon compass"}]}
        ref = one.ask("save_conversation", **saved)[1]["refs"][0]
        assert other.ask("recall", query="cinnamon compass")[1]["hits"][0]["ref"] == ref
        assert one.ask("recall", query="cinnamon compass")[1]["hits"][0]["ref"] == ref


@pytest.mark.slow
def test_eight_calls_at_once_all_answer(own_vault: Path, connect: Callable[..., Any]) -> None:
    def save(number: int) -> dict[str, Any]:
        said = {"role": "user", "content": f"jar number {number} holds nutmeg"}
        return agent.ask("save_conversation", session_id=f"jar-{number}", messages=[said])[1]  # type: ignore[no-any-return]

    with connect(own_vault) as agent, ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(agent.ask, "recall", query="shard index", k=1) for _ in range(4)]
        saved = [pool.submit(save, number) for number in range(4)]
        assert {one.result()[1]["hits"][0]["ref"] for one in asked} == {HNSW}
        assert [one.result()["turns_added"] for one in saved] == [1] * 4
        _, found = agent.ask("list_memories", since="2026-04-15")
    assert found["total"] == 4


@pytest.mark.parametrize(("closed", "name"), [("<&-", "input"), (">&-", "output")])
def test_without_pipes_it_says_so(own_vault: Path, closed: str, name: str) -> None:
    words = f'exec "{sys.executable}" -m huimem mcp serve --vault "{own_vault}" {closed}'
    done = subprocess.run(
        ["sh", "-c", words], capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert done.returncode == 2
    assert f"standard {name} is closed" in done.stderr.decode()

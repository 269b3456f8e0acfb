"""A server is started, greeted, asked for its tools and ended: servers that work and servers that do not."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from huimem.surfaces.clients.trial import Trial, try_out

SERVER = """
import json, os, sys
def say(**message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
print("starting", file=sys.stderr, flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    method, number = asked.get("method"), asked.get("id")
    if method == "initialize":
        say(method="notifications/message", params={})
        say(id=99, method="ping")
        say(id=number, result={"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}})
    elif method == "tools/list":
        @TOOLS
"""
TWO_PAGES = """if asked["params"].get("cursor") == "b":
            say(id=number, result={"tools": [{"name": "three"}]})
        else:
            say(id=number, result={"tools": [{"name": "one"}, {"name": "two"}], "nextCursor": "b"})"""
SLOW = ("-c", "import sys, time; print('warming up', file=sys.stderr, flush=True); time.sleep(60)")


def tried(*words: str, limit: float = 20.0, **env: str) -> Trial:
    return try_out((sys.executable, *words), {**os.environ, **env}, limit=limit)


def server(answer: str) -> tuple[str, str]:
    return "-c", SERVER.replace("@TOOLS", answer)


def test_a_server_that_answers_is_counted_and_timed() -> None:
    trial = tried(*server(TWO_PAGES))
    assert (trial.tools, trial.error) == (3, "")
    assert 0 < trial.seconds < 20


FAULTY = [
    ("no tools", server('say(id=number, result={"tools": []})'), "it offers no tools", "starting"),
    ("no list", server("say(id=number, result={})"), "holds no list of tools", "starting"),
    ("an error", server('say(id=number, error={"code": 1})'), "answers tools/list with an error", "starting"),
    ("dies", server("print('out of luck', file=sys.stderr); sys.exit(7)"), "(exit code 7)", "out of luck"),
    ("chatty", ("-c", "print('Hello!', flush=True); input()"), "something that is no JSON-RPC", ""),
    ("a list", ("-c", "print('[]', flush=True); input()"), "something that is no JSON-RPC", ""),
    ("no module", ("-m", "no_such_module_of_ours"), "it ended without an answer to init", "No module named"),
]


@pytest.mark.parametrize(
    ("words", "error", "last"), [row[1:] for row in FAULTY], ids=[row[0] for row in FAULTY]
)
def test_a_server_that_fails_says_why(words: tuple[str, ...], error: str, last: str) -> None:
    trial = tried(*words)
    assert error in trial.error
    assert last in trial.last
    assert bool(trial.last) == bool(last)


@pytest.mark.slow
def test_a_server_that_never_answers_is_given_up_and_ended(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    words = f"import os; open({str(note)!r}, 'w').write(str(os.getpid())); {SLOW[1]}"
    trial = tried("-c", words, limit=1.5)
    assert trial.error == "it does not answer initialize in time"
    assert trial.last == "warming up"
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)


def test_a_program_that_is_not_there_cannot_be_started(tmp_path: Path) -> None:
    trial = try_out((str(tmp_path / "huimem"), "mcp", "serve"), {})
    assert trial == Trial(error="it cannot be started: No such file or directory")


def test_a_server_gets_the_given_variables_and_no_others() -> None:
    seen = server('say(id=number, result={"tools": [1] * len(os.environ.get("MARK", ""))})')
    assert tried(*seen, MARK="abcd").tools == 4
    assert try_out((sys.executable, *seen), {"OTHER": "x"}).error == "it offers no tools"

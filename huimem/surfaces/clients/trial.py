"""A command line of an MCP server → whether it answers: started, greeted, asked for its tools, ended.

Only the standard library, so that what is tested is the server and not a client of ours.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

LIMIT = 20.0  # seconds until the tools must be listed
ENDING = 3.0  # seconds to end in, once input is closed
HURRY = 0.2  # the same, where the server has failed already
PROTOCOL = "2025-06-18"


@dataclass(frozen=True, slots=True)
class Trial:
    """How it went: number of tools, seconds until they were listed; `error` is "" where all is well.

    `last` is the last line that the server wrote on standard error.
    """

    tools: int = 0
    seconds: float = 0.0
    error: str = ""
    last: str = ""


class _Failed(Exception):
    """The server did not do what was asked."""


def try_out(
    argv: Sequence[str], env: Mapping[str, str], cwd: str | None = None, *, limit: float = LIMIT
) -> Trial:
    """Start a server and have it list its tools. Raises nothing; the server is gone on return."""
    begun = time.monotonic()
    try:
        child = subprocess.Popen(
            list(argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(env),
            cwd=cwd,
            start_new_session=True,
        )
    except (OSError, ValueError) as refusal:
        return Trial(error=f"it cannot be started: {getattr(refusal, 'strerror', None) or refusal}")
    talk = _Talk(child, begun + limit)
    error, tools = "", 0
    try:
        tools = talk.tools()
        error = "" if tools else "it offers no tools"
    except _Failed as failure:
        error = str(failure)
    finally:
        seconds = time.monotonic() - begun
        talk.end(HURRY if error else ENDING)
    return Trial(tools, seconds, error, talk.last())


class _Talk:
    """A running server, its lines as they come, and the time by which it must have answered."""

    def __init__(self, child: subprocess.Popen[bytes], deadline: float) -> None:
        self._child, self._deadline = child, deadline
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._said: deque[bytes] = deque(maxlen=20)
        assert child.stdout is not None and child.stderr is not None
        self._threads = [
            threading.Thread(target=_pour, args=(child.stdout, self._lines.put), daemon=True),
            threading.Thread(target=_pour, args=(child.stderr, self._keep), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def tools(self) -> int:
        """Greet the server and count its tools, page by page. Raises `_Failed`."""
        about = {"name": "huimem mcp install", "version": "1"}
        self._ask(1, "initialize", {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": about})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        count, number, cursor = 0, 2, None
        while number == 2 or cursor:
            result = self._ask(number, "tools/list", {"cursor": cursor} if cursor else {})
            listed = result.get("tools")
            if not isinstance(listed, list):
                raise _Failed("its answer to tools/list holds no list of tools")
            count, number, cursor = count + len(listed), number + 1, result.get("nextCursor")
        return count

    def end(self, patience: float) -> None:
        """Let the server end at the end of its input; end it where it does not."""
        child = self._child
        with suppress(OSError):
            if child.stdin:
                child.stdin.close()
        for number, seconds in (("SIGTERM", patience), ("SIGKILL", 1.0)):
            with suppress(subprocess.TimeoutExpired):
                child.wait(seconds)
                break
            _signal(child, number)
        child.wait()
        _signal(child, "SIGKILL")  # what the server started and left behind
        for thread in self._threads:
            thread.join(1.0)
        for stream, thread in zip((child.stdout, child.stderr), self._threads, strict=True):
            if stream and not thread.is_alive():
                stream.close()

    def last(self) -> str:
        lines = [line.decode("utf-8", "replace").strip() for line in self._said]
        return next((line for line in reversed(lines) if line), "")

    def _keep(self, line: bytes | None) -> None:
        if line is not None:
            self._said.append(line)

    def _send(self, message: Mapping[str, object]) -> None:
        assert self._child.stdin is not None
        with suppress(OSError):  # what ended is noticed where its answer is waited for
            self._child.stdin.write(json.dumps(message).encode() + b"\n")
            self._child.stdin.flush()

    def _ask(self, number: int, method: str, params: Mapping[str, object]) -> Mapping[str, object]:
        """Send a request and wait for its answer; what else comes in between is let pass."""
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        while True:
            message = self._message(method)
            if message.get("method") == "ping" and "id" in message:
                self._send({"jsonrpc": "2.0", "id": message["id"], "result": {}})
            if "method" in message or message.get("id") != number:
                continue
            result = message.get("result")
            if not isinstance(result, dict):
                raise _Failed(f"it answers {method} with an error")
            return result

    def _message(self, method: str) -> Mapping[str, object]:
        try:
            line = self._lines.get(timeout=max(0.0, self._deadline - time.monotonic()))
        except queue.Empty:
            raise _Failed(f"it does not answer {method} in time") from None
        if line is None:
            with suppress(subprocess.TimeoutExpired):
                self._child.wait(ENDING)
            raise _Failed(f"it ended without an answer to {method} (exit code {self._child.returncode})")
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        if not isinstance(message, dict):
            raise _Failed("it writes something that is no JSON-RPC on standard output")
        return message


def _pour(stream: IO[bytes], into: Callable[[bytes | None], object]) -> None:
    """Hand on each line of a stream, and None at its end."""
    with suppress(OSError, ValueError):
        for line in stream:
            into(line)
    into(None)


def _signal(child: subprocess.Popen[bytes], name: str) -> None:
    """End a process and all that it started; where there are no groups, the process."""
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(child.pid, getattr(signal, name))
        elif child.poll() is None:
            child.terminate() if name == "SIGTERM" else child.kill()

"""Standard input and output → the two ends of a client's pipe, and nothing else ever on them.

In: the process's descriptors. Out: lines as they come, and a place for lines to go. Whatever else prints,
a library in C too, lands on standard error.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Self

import anyio.to_thread
import mcp_types as types

from huimem.errors import UsageError

SETTLING = 0.8  # seconds in which questions that were asked before the end of input are still answered
# An escape in JSON: a whole pair, half of one, or any other.
_PAIR, _HALF = r"\\u[dD][89aAbB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}", r"\\u[dD][89a-fA-F][\da-fA-F]{2}"
_ESCAPE = re.compile(rf"{_PAIR}|(?P<half>{_HALF})|\\.")


@dataclass(frozen=True, slots=True)
class Wire:
    """Descriptors of the client's pipe, which no other part of the process knows."""

    incoming: int
    outgoing: int


def claimed() -> Wire:
    """Take standard input and output for the protocol alone. Raises `UsageError` where one is closed."""
    for name, descriptor in (("input", 0), ("output", 1)):
        if not _is_open(descriptor):
            hint = "A client starts this command and speaks to it through pipes."
            raise UsageError(f"standard {name} is closed", hint)
    if not _is_open(2):  # else a copy would land there and be taken for standard error
        os.dup2(os.open(os.devnull, os.O_RDWR), 2)
    wire = Wire(os.dup(0), os.dup(1))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return wire


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    # Python itself leaves a stream out where its descriptor was closed, and opens other files there.
    return (sys.stdin, sys.stdout, sys.stderr)[descriptor] is not None


@dataclass(slots=True)
class Open:
    """The requests that came in and have no answer yet."""

    asked: set[str] = field(default_factory=set)
    answered: asyncio.Event = field(default_factory=asyncio.Event)

    def heard(self, line: str) -> None:
        """Note a line of the client's."""
        match _parsed(line):
            case {"method": "notifications/cancelled", "params": {"requestId": id}}:
                self._settle(id)
            case {"method": str(), "id": id}:
                self.asked.add(repr(id))

    def said(self, line: str) -> None:
        """Note a line of ours."""
        match _parsed(line):
            case {"method": str()}:
                return
            case {"id": id}:
                self._settle(id)

    def _settle(self, id: object) -> None:
        self.asked.discard(repr(id))
        self.answered.set()

    async def settled(self) -> None:
        """Wait until every request has its answer, at most `SETTLING` seconds."""
        with anyio.move_on_after(SETTLING):
            while self.asked:
                self.answered.clear()
                await self.answered.wait()


def _parsed(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def mended(line: str) -> str:
    """A line of JSON without escaped halves of characters, which no UTF-8 can hold: each becomes U+FFFD."""
    if "\\ud" not in line and "\\uD" not in line:
        return line
    return _ESCAPE.sub(lambda found: r"\ufffd" if found["half"] else found[0], line)


def refusal(line: str) -> str | None:
    """The error that answers a request which the SDK cannot read, and would pass over without a word.

    None where it can read the line, and where the line asks for no answer.
    """
    message: object = None
    with suppress(ValueError):
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    if message is not None and not isinstance(message, types.JSONRPCNotification):
        return None
    asked = _parsed(line)
    if not isinstance(asked, dict) or "id" not in asked or not asked.keys().isdisjoint(("result", "error")):
        return None
    given = asked["id"]
    known = isinstance(given, str | int) and not isinstance(given, bool)
    error = {"code": types.INVALID_REQUEST, "message": "this is no request of JSON-RPC 2.0"}
    return json.dumps({"jsonrpc": "2.0", "id": given if known else None, "error": error}) + "\n"


class Lines:
    """What the client sends, for `async for`; it ends when the pipe does and what was asked is answered.

    What nobody can read and yet waits for an answer is refused by `sink`.

    A thread reads that nothing has to wait for: it may stand in the middle of a read when all ends. It calls
    `ended` at the end of the pipe.
    """

    def __init__(self, descriptor: int, requests: Open, sink: Sink, ended: Callable[[], object]) -> None:
        self._descriptor, self._requests, self._sink, self._ended = descriptor, requests, sink, ended
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, name="huimem-lines", daemon=True).start()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        while (line := await self._queue.get()) is not None:
            line = mended(line)
            refused = refusal(line)
            if refused is None:
                self._requests.heard(line)
                return line
            await self._sink.write(refused)
        await self._requests.settled()
        raise StopAsyncIteration

    def _read(self) -> None:
        with suppress(RuntimeError):  # the loop has ended
            with suppress(OSError), os.fdopen(self._descriptor, "rb", closefd=False) as pipe:
                for line in pipe:
                    self._loop.call_soon_threadsafe(self._queue.put_nowait, line.decode("utf-8", "replace"))
            self._loop.call_soon_threadsafe(self._queue.put_nowait, None)
        self._ended()


class Sink:
    """Where lines for the client go; a client that reads nothing holds up nothing but its own lines."""

    def __init__(self, descriptor: int, requests: Open) -> None:
        self._descriptor, self._requests = descriptor, requests
        self._one_at_a_time = anyio.Lock()

    async def write(self, line: str) -> None:
        """Send a whole line. Raises `BrokenPipeError` where nobody reads any more."""
        data = line.encode("utf-8", "replace")
        async with self._one_at_a_time:
            await anyio.to_thread.run_sync(self._send, data, abandon_on_cancel=True)
        self._requests.said(line)

    async def flush(self) -> None:
        """Nothing is kept back."""

    def _send(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[os.write(self._descriptor, left) :]

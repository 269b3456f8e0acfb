"""The MCP server of one client: requests → tools, in threads, on the SDK's protocol machinery.

In: the client's pipe and how the vault is opened. Out: an exit code, when the pipe or the process ends.
The SDK takes half a second to load; this module is imported when it is needed, and loads no search.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from huimem import __version__
from huimem.errors import HuimemError, UsageError, unexpected
from huimem.surfaces.mcp import arguments, offers
from huimem.surfaces.mcp.answers import Answer, homely, sendable, with_homely_warnings
from huimem.surfaces.mcp.resident import Resident
from huimem.surfaces.mcp.tools import INSTRUCTIONS, Tool, offered
from huimem.surfaces.mcp.wire import Lines, Open, Sink, Wire

if TYPE_CHECKING:
    from huimem.memory import Memory
    from huimem.surfaces.mcp.desk import Desk
    from huimem.surfaces.mcp.patient import Patient

AT_ONCE = 8  # calls that run beside each other; more wait
TELLING = 1.0  # seconds that a call waits for a client to read how it goes
CLOSING = 0.6  # seconds for what goes on in the background to end by itself
LAST = 1.6  # seconds after the end of input, or a signal, when the process ends whatever holds it up
_SIZE = "anthropic/maxResultSizeChars"

Context = ServerRequestContext[dict[str, Any], Any]
Report = Callable[[float, float | None, str], None]


@dataclass(frozen=True, slots=True)
class Serving:
    """What one server serves: how its vault is opened, its namespace, what it may do.

    `present` gives the moment of each question.
    """

    opened: Callable[[], Patient]
    present: Callable[[Memory], datetime]
    namespace: str | None = None
    read_only: bool = False


def serve(serving: Serving, wire: Wire) -> int:
    """Serve until the client's pipe ends (0) or a signal asks for it (128 and its number)."""
    _speak_briefly()
    resident = Resident(serving.opened)
    code = 0
    try:
        code = anyio.run(partial(_serve, made(serving, resident), wire))
    except* OSError:  # the client is gone, and so is the pipe to it
        pass
    ended = resident.close(CLOSING)
    _leave(code, at_once=not ended)
    return code


async def _serve(server: Server[dict[str, Any]], wire: Wire) -> int:
    requests = Open()
    sink = Sink(wire.outgoing, requests)
    lines = Lines(wire.incoming, requests, sink, partial(_leave_soon, 0))
    ended = 0
    async with anyio.create_task_group() as tasks:

        async def until_signal() -> None:
            nonlocal ended
            with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
                async for number in signals:
                    ended = 128 + number
                    _leave_soon(ended)
                    tasks.cancel_scope.cancel()

        if sys.platform != "win32":
            tasks.start_soon(until_signal)
        ends = cast("tuple[anyio.AsyncFile[str], anyio.AsyncFile[str]]", (lines, sink))
        async with stdio_server(*ends) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
        tasks.cancel_scope.cancel()
    return ended


def _leave(code: int, *, at_once: bool) -> None:
    """End the process here and now where threads would hold it up: they only wait, or can be cut off."""
    main = threading.main_thread()
    if at_once or any(not thread.daemon for thread in threading.enumerate() if thread is not main):
        _end(code)


def _leave_soon(code: int) -> None:
    """End the process after `LAST` seconds if it is still there: a client may not read what is sent to it."""
    last = threading.Timer(LAST, _end, (code,))
    last.daemon = True
    last.start()


def _end(code: int) -> None:
    with suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(code)


def made(serving: Serving, resident: Resident) -> Server[dict[str, Any]]:
    """The SDK's server with our tools; the vault is opened once the first request has its answer."""
    tools = offered(read_only=serving.read_only)
    limit = anyio.CapacityLimiter(AT_ONCE)

    async def list_tools(_: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[described(tool) for tool in tools.values()])

    async def call_tool(context: Context, asked: types.CallToolRequestParams) -> types.CallToolResult:
        tool = tools.get(asked.name)
        if tool is None:
            return _refused(_no_tool(asked.name, tools))
        work = partial(_called, serving, resident, tool, asked.arguments or {}, _report(context))
        return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=limit)

    async def read_resource(
        context: Context, asked: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        work = partial(_read, serving, resident, str(asked.uri), _report(context))
        return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=limit)

    async def begin(ctx: Context, call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        if ctx.request_id is not None:
            resident.start()
        return result

    server: Server[dict[str, Any]] = Server(
        "huimem",
        title="huimem",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=_list_resources,
        on_read_resource=read_resource,
        on_list_prompts=_list_prompts,
        on_get_prompt=_get_prompt,
    )
    server.middleware.append(begin)
    return server


def described(tool: Tool) -> types.Tool:
    """A tool as the protocol lists it."""
    return types.Tool(
        name=tool.name,
        description=tool.about,
        input_schema=arguments.input_schema(tool.parameters),
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=not tool.writes,
            destructive_hint=False,
            idempotent_hint=True,
            open_world_hint=False,
        ),
        _meta={_SIZE: tool.size} if tool.size else None,
    )


def _report(context: Context) -> Report:
    """Tell the client from a thread how a call goes; nothing where it did not ask for that."""
    send = context.session.report_progress

    async def tell(done: float, total: float | None, message: str) -> None:
        with anyio.move_on_after(TELLING):
            await send(done, total, message)

    def report(done: float, total: float | None, message: str) -> None:
        anyio.from_thread.run(tell, done, total, message)

    return report


def _called(
    serving: Serving,
    resident: Resident,
    tool: Tool,
    given: dict[str, Any],
    report: Report,
) -> types.CallToolResult:
    """Carry out one call; every error becomes words that say what to do."""
    places: tuple[Path, ...] = ()
    try:
        values = arguments.read(tool.parameters, given)
        with nullcontext(resident.memory()) if tool.writes else resident.question() as memory:
            places = memory.vault.root, memory.vault.state
            module, _, function = tool.run.partition(":")
            run = getattr(import_module(f"huimem.surfaces.mcp.{module}"), function)
            answer: Answer = run(_desk(serving, resident, memory, report), values)
            answer = with_homely_warnings(answer, places)
    except HuimemError as error:
        return _refused(HuimemError(homely(error.message, places), homely(error.hint, places)))
    except OSError as error:
        return _refused(
            HuimemError(error.strerror or type(error).__name__, "Check the disk; `huimem doctor`.")
        )
    except Exception as error:
        hint = "This is a bug in huimem. Other questions may still be answered."
        return _refused(HuimemError(unexpected(error), hint))
    text = answer.text.encode("utf-8", "replace").decode()
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)], structured_content=sendable(answer.document)
    )


def _desk(serving: Serving, resident: Resident, memory: Memory, report: Report) -> Desk:
    desk: Desk = import_module("huimem.surfaces.mcp.desk").Desk(
        memory, serving.namespace, serving.present(memory), resident.indexing(), report
    )
    return desk


def _read(serving: Serving, resident: Resident, uri: str, report: Report) -> types.ReadResourceResult:
    """Show one resource; errors are those of the protocol, which has no other for it."""
    places: tuple[Path, ...] = ()
    try:
        page = offers.page_at(uri)
        with resident.question() as memory:
            places = memory.vault.root, memory.vault.state
            text = page.shown(_desk(serving, resident, memory, report))
    except HuimemError as error:
        raise MCPError(code=types.INVALID_PARAMS, message=homely(str(error), places)) from None
    contents = types.TextResourceContents(
        uri=uri, mime_type=page.form, text=text.encode("utf-8", "replace").decode()
    )
    return types.ReadResourceResult(contents=[contents])


async def _list_resources(_: Context, __: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
    return types.ListResourcesResult(
        resources=[
            types.Resource(uri=page.uri, name=page.name, description=page.about, mime_type=page.form)
            for page in offers.PAGES
        ]
    )


async def _list_prompts(_: Context, __: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
    needed = [types.PromptArgument(name=name, required=must) for name, must in offers.ASKED_FOR.items()]
    prompt = types.Prompt(name=offers.RECALL_ABOUT, description=offers.ABOUT, arguments=needed)
    return types.ListPromptsResult(prompts=[prompt])


async def _get_prompt(_: Context, asked: types.GetPromptRequestParams) -> types.GetPromptResult:
    if asked.name != offers.RECALL_ABOUT:
        raise MCPError(code=types.INVALID_PARAMS, message=f"there is no prompt {asked.name[:40]}")
    try:
        text = offers.recall_about(asked.arguments or {})
    except HuimemError as error:
        raise MCPError(code=types.INVALID_PARAMS, message=str(error)) from None
    said = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.GetPromptResult(description=offers.ABOUT, messages=[said])


def _refused(error: HuimemError) -> types.CallToolResult:
    """An error for the model to read: what is wrong, and on the next line what to do."""
    text = str(error).encode("utf-8", "replace").decode()
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)


def _no_tool(name: str, tools: dict[str, Tool]) -> UsageError:
    near = get_close_matches(name, tools, n=1)
    asked = f": did you mean `{near[0]}`?" if near else ""
    return UsageError(f"there is no tool `{name[:40]}`{asked}", f"There are {', '.join(tools)}.")


class Brief(logging.Formatter):
    """One line a record, and of an error its type and place: its text could hold what somebody said."""

    def format(self, record: logging.LogRecord) -> str:
        error = record.exc_info[1] if record.exc_info else None
        what = unexpected(error) if isinstance(error, Exception) else record.levelname.lower()
        return f"huimem: {record.name}: {what} ({record.filename}:{record.lineno})"


def _speak_briefly() -> None:
    """Let libraries log on standard error, without what was said."""
    shown = logging.StreamHandler(sys.stderr)
    shown.setFormatter(Brief())
    logging.basicConfig(handlers=[shown], level=logging.WARNING, force=True)

"""`huimem mcp serve`: the vault for one agent, which starts this command and speaks through its pipes."""

from __future__ import annotations

import gc
import sys
from datetime import datetime
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import click

from huimem.config import asking_zone
from huimem.errors import MissingExtra
from huimem.surfaces.cli.options import Shared, Verb, present

SDK, MAJOR = "mcp", 2
EXAMPLES = """\
huimem mcp serve --vault ~/Notes/AI
huimem mcp serve --vault ~/Notes/AI --namespace work --read-only
claude mcp add huimem -- huimem mcp serve --vault ~/Notes/AI"""


@click.command(cls=Verb, epilog=EXAMPLES)
@click.option("--read-only", is_flag=True, help="Offer no tool that writes.")
@click.pass_obj
def serve(shared: Shared, read_only: bool) -> int:
    """Serve one client over standard input and output.

    Clients start this command themselves; it ends when they do. The vault is opened, and what is new taken
    in, while the client is already answered. --namespace is that of tools that name none.
    """
    _require_sdk()
    if sys.stdin is not None and sys.stdin.isatty():
        shared.say("A client starts this command and speaks MCP to it through pipes. Ctrl-C ends it.")
    wire = import_module("huimem.surfaces.mcp.wire").claimed()
    server = _loaded()

    def opened() -> Any:
        memory = import_module("huimem.surfaces.mcp.patient").Patient.open(shared.vault)
        memory.zone = asking_zone(memory.config, shared.tz)
        return memory

    def moment(memory: Any) -> datetime:
        return present(shared.now, memory.zone)

    return int(server.serve(server.Serving(opened, moment, shared.namespace, read_only), wire))


def _require_sdk() -> None:
    """Raises `MissingExtra` where the SDK is not installed, or is of another kind."""
    install = "Install it: pip install 'huimem[mcp]'"
    try:
        found = version(SDK)
    except PackageNotFoundError:
        raise MissingExtra("the MCP server needs the package mcp", install) from None
    if int(found.partition(".")[0]) != MAJOR:
        raise MissingExtra(f"the MCP server needs the package mcp in version 2, not {found}", install)


def _loaded() -> Any:
    """The server's module. Its libraries make so many objects that looking for garbage among them is slow."""
    gc.disable()
    try:
        return import_module("huimem.surfaces.mcp.server")
    finally:
        gc.freeze()
        gc.enable()

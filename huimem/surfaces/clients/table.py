"""The table of MCP clients: a client and a machine → the file that it reads its servers from.

Pure: platform, environment, home and working folder are given, so that every machine's paths can be
worked out on any other. Paths keep the flavour of the folders they are given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath

from huimem.errors import UsageError

USER, PROJECT = "user", "project"
SCOPES = (USER, PROJECT)
Exists = Callable[[PurePath], bool]

# Claude Desktop for Windows comes as a package whose %APPDATA% the system redirects to this folder.
_PACKAGE = "Claude_pzs8sxrjxfjjc"

# Folders of environments that uvx makes for one run and clears away again.
_CACHES = frozenset({"archive-v0", "environments-v2", "builds-v0"})


@dataclass(frozen=True, slots=True)
class Client:
    """One client. `section` holds its servers by name; `typed`: an entry says that it is a command.

    `relaxed`: it reads JSON with comments and trailing commas. `todo`: what makes it see a new entry.
    `project`: its file in a project's folder, "" where it has no such scope.
    """

    id: str
    title: str
    section: str
    project: str
    todo: str
    typed: bool = False
    relaxed: bool = False
    toml: bool = False


@dataclass(frozen=True, slots=True)
class Machine:
    """What paths depend on. `platform` as in `sys.platform`."""

    platform: str
    environ: Mapping[str, str]
    home: PurePath
    cwd: PurePath

    def named(self, variable: str) -> PurePath | None:
        """The folder that a variable names; None where it is unset or empty."""
        value = self.environ.get(variable)
        return self.cwd / value if value else None


@dataclass(frozen=True, slots=True)
class Place:
    """A settings file, and what is there where the client was ever started."""

    path: PurePath
    signs: tuple[PurePath, ...]


CLIENTS = {
    client.id: client
    for client in (
        Client(
            "claude-code",
            "Claude Code",
            "mcpServers",
            ".mcp.json",
            "in Claude Code, started anew: /mcp",
            typed=True,
        ),
        Client(
            "claude-desktop", "Claude Desktop", "mcpServers", "", "quit Claude Desktop and start it again"
        ),
        Client(
            "cursor",
            "Cursor",
            "mcpServers",
            ".cursor/mcp.json",
            "restart Cursor; Settings, MCP lists the server",
            typed=True,
            relaxed=True,
        ),
        Client(
            "codex",
            "Codex",
            "mcp_servers",
            ".codex/config.toml",
            "in Codex, started anew: /mcp",
            toml=True,
        ),
        Client(
            "vscode",
            "VS Code",
            "servers",
            ".vscode/mcp.json",
            'in VS Code: command "MCP: List Servers", then start the server',
            typed=True,
            relaxed=True,
        ),
    )
}


def settings_place(client: Client, scope: str, machine: Machine, exists: Exists) -> Place:
    """Where `client` reads its servers. `exists` is asked only where a client has two candidates.

    Raises `UsageError` for a scope that the client has not.
    """
    if scope == USER:
        return _USER_PLACES[client.id](machine, exists)
    if not client.project:
        raise UsageError(
            f"{client.title} has no settings of a project",
            "Leave --scope out: it reads one file a user.",
        )
    path = machine.cwd.joinpath(*client.project.split("/"))
    return Place(path, ())


def _claude_code(machine: Machine, exists: Exists) -> Place:
    chosen = machine.named("CLAUDE_CONFIG_DIR")
    if chosen:
        return Place(chosen / ".claude.json", (chosen,))
    path = machine.home / ".claude.json"
    return Place(path, (path, machine.home / ".claude"))


def _claude_desktop(machine: Machine, exists: Exists) -> Place:
    name = "claude_desktop_config.json"
    if machine.platform == "win32":
        local = machine.named("LOCALAPPDATA") or machine.home / "AppData" / "Local"
        package = local / "Packages" / _PACKAGE
        if exists(package):
            return Place(package / "LocalCache" / "Roaming" / "Claude" / name, (package,))
    folder = _application_data(machine) / "Claude"
    return Place(folder / name, (folder,))


def _cursor(machine: Machine, exists: Exists) -> Place:
    folder = machine.home / ".cursor"
    return Place(folder / "mcp.json", (folder,))


def _codex(machine: Machine, exists: Exists) -> Place:
    folder = machine.named("CODEX_HOME") or machine.home / ".codex"
    return Place(folder / "config.toml", (folder,))


def _vscode(machine: Machine, exists: Exists) -> Place:
    portable = machine.named("VSCODE_PORTABLE")
    folder = portable / "user-data" if portable else _application_data(machine) / "Code"
    return Place(folder / "User" / "mcp.json", (folder,))


def _application_data(machine: Machine) -> PurePath:
    """Where programs keep their settings on this platform."""
    if machine.platform == "win32":
        return machine.named("APPDATA") or machine.home / "AppData" / "Roaming"
    if machine.platform == "darwin":
        return machine.home / "Library" / "Application Support"
    return machine.named("XDG_CONFIG_HOME") or machine.home / ".config"


_USER_PLACES: Mapping[str, Callable[[Machine, Exists], Place]] = {
    "claude-code": _claude_code,
    "claude-desktop": _claude_desktop,
    "cursor": _cursor,
    "codex": _codex,
    "vscode": _vscode,
}


def launcher(executable: PurePath, platform: str, exists: Exists) -> tuple[str, ...]:
    """The words that start huimem from anywhere: its script beside the interpreter, else that with -m."""
    folder = executable.parent
    windows = platform == "win32"
    scripts = (folder / "huimem.exe", folder / "Scripts" / "huimem.exe") if windows else (folder / "huimem",)
    found = next((script for script in scripts if exists(script)), None)
    return (str(found),) if found else (str(executable), "-m", "huimem")


def fleeting(command: str) -> bool:
    """Whether a program lies where a tool keeps environments for one run: it will be gone some day."""
    return not _CACHES.isdisjoint(re.split(r"[/\\]", command))

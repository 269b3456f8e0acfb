"""Where each client keeps its settings on each system, and what starts huimem there."""

from __future__ import annotations

from pathlib import PurePath, PurePosixPath, PureWindowsPath

import pytest

from huimem.errors import UsageError
from huimem.surfaces.clients.table import CLIENTS, Machine, fleeting, launcher, settings_place

PACKAGE = r"C:\Users\Ana\AppData\Local\Packages\Claude_pzs8sxrjxfjjc"
NOWHERE: frozenset[str] = frozenset()


def machine(platform: str, **environ: str) -> Machine:
    if platform == "win32":
        home, cwd = PureWindowsPath(r"C:\Users\Ana"), PureWindowsPath(r"D:\my code")
        return Machine(platform, environ, home, cwd)
    home = PurePosixPath("/Users/ana" if platform == "darwin" else "/home/ana")
    return Machine(platform, environ, home, PurePosixPath("/srv/代码"))


USER = [
    ("claude-code", "linux", {}, "/home/ana/.claude.json"),
    ("claude-code", "darwin", {}, "/Users/ana/.claude.json"),
    ("claude-code", "win32", {}, r"C:\Users\Ana\.claude.json"),
    ("claude-code", "linux", {"CLAUDE_CONFIG_DIR": "/opt/c"}, "/opt/c/.claude.json"),
    ("claude-code", "linux", {"CLAUDE_CONFIG_DIR": "c"}, "/srv/代码/c/.claude.json"),
    ("claude-code", "linux", {"CLAUDE_CONFIG_DIR": ""}, "/home/ana/.claude.json"),
    ("claude-desktop", "linux", {}, "/home/ana/.config/Claude/claude_desktop_config.json"),
    ("claude-desktop", "linux", {"XDG_CONFIG_HOME": "/x"}, "/x/Claude/claude_desktop_config.json"),
    (
        "claude-desktop",
        "darwin",
        {"XDG_CONFIG_HOME": "/x"},
        "/Users/ana/Library/Application Support/Claude/claude_desktop_config.json",
    ),
    ("claude-desktop", "win32", {"APPDATA": r"E:\Roam"}, r"E:\Roam\Claude\claude_desktop_config.json"),
    (
        "claude-desktop",
        "win32",
        {},
        r"C:\Users\Ana\AppData\Roaming\Claude\claude_desktop_config.json",
    ),
    ("cursor", "linux", {}, "/home/ana/.cursor/mcp.json"),
    ("cursor", "darwin", {}, "/Users/ana/.cursor/mcp.json"),
    ("cursor", "win32", {}, r"C:\Users\Ana\.cursor\mcp.json"),
    ("codex", "linux", {}, "/home/ana/.codex/config.toml"),
    ("codex", "darwin", {"CODEX_HOME": "/opt/codex"}, "/opt/codex/config.toml"),
    ("codex", "win32", {}, r"C:\Users\Ana\.codex\config.toml"),
    ("vscode", "linux", {}, "/home/ana/.config/Code/User/mcp.json"),
    ("vscode", "darwin", {}, "/Users/ana/Library/Application Support/Code/User/mcp.json"),
    ("vscode", "win32", {"APPDATA": r"E:\Roam"}, r"E:\Roam\Code\User\mcp.json"),
    ("vscode", "linux", {"VSCODE_PORTABLE": "/usb"}, "/usb/user-data/User/mcp.json"),
]


@pytest.mark.parametrize(("client", "platform", "environ", "path"), USER)
def test_a_users_settings_are_there(client: str, platform: str, environ: dict[str, str], path: str) -> None:
    place = settings_place(CLIENTS[client], "user", machine(platform, **environ), lambda path: False)
    assert str(place.path) == path
    assert place.signs
    assert place.path.is_relative_to(place.signs[-1]) or client == "claude-code"


def test_every_client_has_a_row_for_every_system() -> None:
    assert {(client, platform) for client, platform, _, _ in USER} == {
        (client, platform) for client in CLIENTS for platform in ("linux", "darwin", "win32")
    }


PROJECT = [
    ("claude-code", "linux", "/srv/代码/.mcp.json"),
    ("cursor", "linux", "/srv/代码/.cursor/mcp.json"),
    ("codex", "darwin", "/srv/代码/.codex/config.toml"),
    ("vscode", "linux", "/srv/代码/.vscode/mcp.json"),
    ("vscode", "win32", r"D:\my code\.vscode\mcp.json"),
]


@pytest.mark.parametrize(("client", "platform", "path"), PROJECT)
def test_a_projects_settings_are_in_its_folder(client: str, platform: str, path: str) -> None:
    place = settings_place(CLIENTS[client], "project", machine(platform), lambda path: False)
    assert str(place.path) == path


def test_claude_desktop_has_none_of_a_project() -> None:
    with pytest.raises(UsageError, match="Claude Desktop has no settings of a project"):
        settings_place(CLIENTS["claude-desktop"], "project", machine("linux"), lambda path: False)


@pytest.mark.parametrize(
    ("environ", "package"),
    [({}, PACKAGE), ({"LOCALAPPDATA": r"F:\Local"}, r"F:\Local\Packages\Claude_pzs8sxrjxfjjc")],
)
def test_a_packaged_claude_desktop_reads_the_file_in_its_package(
    environ: dict[str, str], package: str
) -> None:
    here = machine("win32", APPDATA=r"E:\Roam", **environ)
    place = settings_place(CLIENTS["claude-desktop"], "user", here, lambda path: str(path) == package)
    assert str(place.path) == package + r"\LocalCache\Roaming\Claude\claude_desktop_config.json"


LAUNCHERS: list[tuple[PurePath, str, frozenset[str], tuple[str, ...]]] = [
    (PurePosixPath("/v e/bin/python3"), "linux", frozenset({"/v e/bin/huimem"}), ("/v e/bin/huimem",)),
    (PurePosixPath("/v/bin/python3"), "darwin", NOWHERE, ("/v/bin/python3", "-m", "huimem")),
    (
        PureWindowsPath(r"C:\v\Scripts\python.exe"),
        "win32",
        frozenset({r"C:\v\Scripts\huimem.exe"}),
        (r"C:\v\Scripts\huimem.exe",),
    ),
    (
        PureWindowsPath(r"C:\Python\python.exe"),
        "win32",
        frozenset({r"C:\Python\Scripts\huimem.exe"}),
        (r"C:\Python\Scripts\huimem.exe",),
    ),
    (
        PureWindowsPath(r"C:\Python\python.exe"),
        "win32",
        frozenset({r"C:\Python\huimem"}),
        (r"C:\Python\python.exe", "-m", "huimem"),
    ),
]


@pytest.mark.parametrize(("python", "platform", "files", "words"), LAUNCHERS)
def test_huimem_is_started_by_an_absolute_path(
    python: PurePath, platform: str, files: frozenset[str], words: tuple[str, ...]
) -> None:
    assert launcher(python, platform, lambda path: str(path) in files) == words


@pytest.mark.parametrize(
    ("command", "is_fleeting"),
    [
        ("/home/ana/.cache/uv/archive-v0/x7f/bin/huimem", True),
        (r"C:\Users\Ana\AppData\Local\uv\cache\archive-v0\x7f\Scripts\huimem.exe", True),
        ("/home/ana/.local/share/uv/tools/huimem/bin/huimem", False),
        ("/home/ana/archive-v0.md/bin/huimem", False),
    ],
)
def test_a_program_in_a_cache_is_known(command: str, is_fleeting: bool) -> None:
    assert fleeting(command) == is_fleeting

"""What is shown of a change and said about it; above all what is not shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from huimem.surfaces.clients.entry import change, diff, ours
from huimem.surfaces.clients.plan import plan, snippet
from huimem.surfaces.clients.table import CLIENTS

FIXTURES = Path(__file__).parents[3] / "fixtures" / "clients"
ARGV = ("/opt/huimem", "mcp", "serve", "--vault", '/home/ana/a "b" 笔记')
WINDOWS = (r"C:\v e\huimem.exe", "mcp", "serve", "--vault", r"D:\笔记")

NEW_JSON = """\
--- /dev/null
+++ /home/ana/.cursor/mcp.json
@@ mcpServers @@
+"huimem": {
+  "type": "stdio",
+  "command": "/opt/huimem",
+  "args": ["mcp", "serve", "--vault", "/home/ana/a \\"b\\" 笔记"]
+}"""
NEW_TOML = """\
--- /dev/null
+++ c.toml
@@ mcp_servers @@
+[mcp_servers.huimem]
+command = "/opt/huimem"
+args = ["mcp", "serve", "--vault", "/home/ana/a \\"b\\" 笔记"]
+startup_timeout_sec = 30"""
OLD = b"""\
{"mcpServers": {
  "other": {"command": "x", "env": {"KEY": "s3cret"}},
  "huimem": {"command": "/old", "args": ["mcp", "serve"], "env": {"KEY": "s3cret"}, "url": "https://s3cret"}
}}"""
CHANGED = """\
--- d.json
+++ d.json
@@ mcpServers @@
 "huimem": {
-  "command": "/old",
-  "args": ["mcp", "serve"],
-  "env": …,
-  "url": …
+  "command": "/opt/huimem",
+  "args": ["mcp", "serve", "--vault", "/home/ana/a \\"b\\" 笔记"],
+  "env": …
 }"""


@pytest.mark.parametrize(
    ("client", "path", "before", "shown"),
    [
        ("cursor", "/home/ana/.cursor/mcp.json", None, NEW_JSON),
        ("codex", "c.toml", None, NEW_TOML),
        ("claude-desktop", "d.json", OLD, CHANGED),
    ],
)
def test_a_diff_shows_the_entry_and_where_it_goes(
    client: str, path: str, before: bytes | None, shown: str
) -> None:
    assert plan(CLIENTS[client], "huimem", ARGV, path, before).diff == shown


@pytest.mark.parametrize(
    "case", sorted(FIXTURES.glob("*/*.before.*")), ids=lambda case: f"{case.parent.name}/{case.name}"
)
def test_no_value_of_the_users_own_is_shown(case: Path) -> None:
    done = plan(CLIENTS[case.parent.name], "huimem", ARGV, "settings", case.read_bytes())
    said = "\n".join((done.diff, *done.notes))
    for own in ("s3cret", "zebra", "npx", "local", "theme", "dark", "tui"):
        assert own not in said


def test_arguments_of_another_program_are_not_shown() -> None:
    old = b'{"mcpServers": {"huimem": {"command": "npx", "args": ["remote", "--header", "s3cret"]}}}'
    done = plan(CLIENTS["cursor"], "huimem", ARGV, "x", old)
    assert "s3cret" not in done.diff
    assert '-  "args": …' in done.diff


NOTES: list[tuple[str, bytes, list[str]]] = [
    ("cursor", b"{}", []),
    ("cursor", b"{} // mine", []),
    ("vscode", b'{"servers": {"a": 1,},}', []),
    ("claude-desktop", b"\n{} // mine", ["line 2 holds a comment or a trailing comma: Claude Desktop may"]),
    ("claude-code", b'{"a": [1,]}', ["line 1 holds a comment or a trailing comma: Claude Code may refuse"]),
    (
        "cursor",
        b'{"mcpServers": {},\n"mcpServers": {}}',
        ['"mcpServers" stands more than once; the last, in l'],
    ),
    ("cursor", b'{"mcpServers": {"huimem": {},\n\n"huimem": {}}}', ['"huimem" stands more than once; the l']),
    ("cursor", b'{"mcpServers": {"huimem": {"url": "x"}}}', ['"huimem" was another server before']),
    ("cursor", b'{"mcpServers": {"huimem": {"command": "x"}}}', ['"huimem" was another server before']),
    ("cursor", b'{"mcpServers": {"huimem": {"args": ["mcp", "serve"], "command": "x"}}}', []),
    ("cursor", b'{"mcpServers": {"huimem": {"disabled": true}}}', ['"huimem" is switched off in these']),
    ("codex", b"[mcp_servers.huimem]\nenabled = false\n", ['"huimem" is switched off in these settings']),
    ("codex", b"# c\n", []),
]


@pytest.mark.parametrize(("client", "before", "notes"), NOTES)
def test_what_the_user_should_know_is_said(client: str, before: bytes, notes: list[str]) -> None:
    said = plan(CLIENTS[client], "huimem", ARGV, "x", before).notes
    assert len(said) == len(notes)
    assert all(one.startswith(start) for one, start in zip(said, notes, strict=True))


SNIPPETS = [
    (
        "claude-desktop",
        WINDOWS,
        """\
{
  "mcpServers": {
    "huimem": {
      "command": "C:\\\\v e\\\\huimem.exe",
      "args": ["mcp", "serve", "--vault", "D:\\\\笔记"]
    }
  }
}""",
    ),
    (
        "vscode",
        ARGV,
        """\
{
  "servers": {
    "huimem": {
      "type": "stdio",
      "command": "/opt/huimem",
      "args": ["mcp", "serve", "--vault", "/home/ana/a \\"b\\" 笔记"]
    }
  }
}""",
    ),
    (
        "codex",
        WINDOWS,
        """\
[mcp_servers.huimem]
command = "C:\\\\v e\\\\huimem.exe"
args = ["mcp", "serve", "--vault", "D:\\\\笔记"]
startup_timeout_sec = 30""",
    ),
]


@pytest.mark.parametrize(("client", "argv", "text"), SNIPPETS, ids=[row[0] for row in SNIPPETS])
def test_a_snippet_is_what_a_file_of_its_own_would_hold(
    client: str, argv: tuple[str, ...], text: str
) -> None:
    assert snippet(CLIENTS[client], "huimem", argv) == text
    assert plan(CLIENTS[client], "huimem", argv, "x", None).after.decode() == text + "\n"


def test_what_an_entry_needs_no_more_is_not_changed() -> None:
    entry = {"type": "stdio", "command": "/opt/huimem", "args": [*ARGV[1:]], "env": {"A": "1"}}
    asked = change(CLIENTS["cursor"], ARGV, entry)
    assert (dict(asked.put), asked.drop) == ({}, ())


@pytest.mark.parametrize(
    ("args", "is_ours"),
    [
        (["mcp", "serve"], True),
        (["-m", "huimem", "mcp", "serve", "--vault", "x"], True),
        (["serve", "mcp"], False),
        (["mcp"], False),
        ("mcp serve", False),
        (None, False),
    ],
)
def test_an_entry_of_ours_is_known_by_what_it_starts(args: object, is_ours: bool) -> None:
    assert ours({"args": args}) == is_ours


def test_nothing_changed_is_no_diff() -> None:
    assert diff(["a"], ["a"], ("x", "x", "s")) == ""

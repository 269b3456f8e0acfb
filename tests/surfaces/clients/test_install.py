"""`huimem mcp install` and `config` as they are typed: what they write, try and print."""

from __future__ import annotations

import json
import os
import stat
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

from huimem import files
from huimem.surfaces.cli import mcp_install
from tests.surfaces.clients.settings import OTHER, Asked, Run, backups, entry


def test_a_server_is_entered_kept_tried_and_told_of(
    mcp: Run,
    home: Path,
    marigold_vault: Path,
    fake_server: Asked,
) -> None:
    path = home / ".cursor/mcp.json"
    path.write_text(OTHER, encoding="utf-8")
    path.chmod(0o640)
    code, out, err = mcp(
        "install", "--client", "cursor", "--now", "2026-04-15T10:30:05", "--tz", "Asia/Shanghai"
    )
    assert code == 0
    assert path.read_text(encoding="utf-8").startswith(OTHER.removesuffix("\n  }\n}\n") + ",\n")
    args = entry(path)["args"]
    assert isinstance(args, list)
    assert args[-6:] == ["mcp", "serve", "--vault", str(marigold_vault), "--tz", "Asia/Shanghai"]
    assert os.path.isabs(str(entry(path)["command"]))
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    [backup] = backups(home / ".cursor")
    assert backup.read_text(encoding="utf-8") == OTHER
    lines = out.splitlines()
    assert lines[:3] == [f"settings: {path}", f"backup: {backup}", f"--- {path}"]
    assert lines[-1].startswith("self-test: 6 tools, ")
    assert err.splitlines() == ["Next: restart Cursor; Settings, MCP lists the server"]
    assert "s3cret" not in out + err
    [(argv, _, cwd)] = fake_server
    assert argv == (entry(path)["command"], *args)
    assert cwd == str(home)


def test_a_second_time_nothing_is_written(mcp: Run, home: Path) -> None:
    path = home / ".cursor/mcp.json"
    mcp("install", "--client", "cursor", "--no-test")
    before, stamp = path.read_bytes(), files.stamp(path)
    code, out, _ = mcp("install", "--client", "cursor", "--no-test")
    assert (code, out) == (0, f"settings: {path} (already set up)\n")
    assert (path.read_bytes(), files.stamp(path)) == (before, stamp)
    assert backups(home / ".cursor") == []


def test_a_dry_run_shows_all_and_writes_nothing(mcp: Run, home: Path) -> None:
    code, out, err = mcp("install", "--client", "codex", "--dry-run")
    assert code == 0
    assert out.splitlines()[:4] == [
        f"settings: {home / '.codex/config.toml'} (nothing written)",
        "--- /dev/null",
        f"+++ {home / '.codex/config.toml'}",
        "@@ mcp_servers @@",
    ]
    assert "+[mcp_servers.huimem]" in out
    assert err == "note: Codex was not seen on this machine\n"
    assert not (home / ".codex").exists()


CLIENTS = [
    ("claude-code", "user", ".claude.json"),
    ("cursor", "user", ".cursor/mcp.json"),
    ("codex", "user", ".codex/config.toml"),
    ("claude-code", "project", ".mcp.json"),
    ("cursor", "project", ".cursor/mcp.json"),
    ("codex", "project", ".codex/config.toml"),
    ("vscode", "project", ".vscode/mcp.json"),
]


@pytest.mark.parametrize(("client", "scope", "path"), CLIENTS)
def test_folder_and_file_are_made_where_there_are_none(
    mcp: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, client: str, scope: str, path: str
) -> None:
    project = tmp_path / "a project"
    project.mkdir()
    monkeypatch.chdir(project)
    words = ("--scope", scope, "--vault", str(tmp_path / "vault"), "--no-test")
    code, _, err = mcp("install", "--client", client, *words)
    file = (home if scope == "user" else project) / path
    text = file.read_text(encoding="utf-8")
    held = tomllib.loads(text) if path.endswith("toml") else json.loads(text)
    [servers] = held.values()
    assert code == 0
    assert servers["huimem"]["args"][-2:] == ["--vault", str(tmp_path / "vault")]
    assert ("not seen on this machine" in err) == (scope == "user" and client != "cursor")
    assert ("paths of this machine" in err) == (scope == "project")


def test_name_namespace_and_read_only_are_taken_over(mcp: Run, home: Path) -> None:
    words = ("--name", "diary", "--namespace", "项目 A", "--read-only", "--no-test")
    assert mcp("install", "--client", "cursor", *words)[0] == 0
    args = entry(home / ".cursor/mcp.json", "diary")["args"]
    assert isinstance(args, list)
    assert args[-3:] == ["--namespace", "项目 A", "--read-only"]


def test_a_vault_with_a_difficult_name_is_entered_as_it_is(mcp: Run, home: Path, tmp_path: Path) -> None:
    vault = tmp_path / 'it\'s "my" 笔记 \\ vault'
    vault.mkdir()
    (vault / "huimem.toml").touch()
    for client in ("cursor", "codex"):
        assert mcp("install", "--client", client, "--vault", str(vault), "--no-test")[0] == 0
    codex = tomllib.loads((home / ".codex/config.toml").read_text(encoding="utf-8"))
    assert entry(home / ".cursor/mcp.json")["args"][-1] == str(vault)  # type: ignore[index]
    assert codex["mcp_servers"]["huimem"]["args"][-1] == str(vault)


def test_a_vault_named_by_a_relative_path_is_entered_by_an_absolute_one(
    mcp: Run, home: Path, marigold_vault: Path
) -> None:
    mcp("install", "--client", "cursor", "--vault", "../vault", "--no-test")
    assert entry(home / ".cursor/mcp.json")["args"][-1] == str(marigold_vault)  # type: ignore[index]


# The self-test.


def test_a_failing_self_test_leaves_the_entry_and_says_so(
    mcp: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = (sys.executable, "-c", "import sys; sys.exit('no luck')", "mcp", "serve")
    monkeypatch.setattr(mcp_install, "server_argv", lambda shared, read_only: broken)
    code, out, err = mcp("install", "--client", "cursor")
    assert code == 1
    assert out.endswith("\nself-test: failed\n")
    assert "it ended without an answer to initialize (exit code 1); it said: no luck" in err
    assert "hint: The entry stays written. See what this says, and install again: " in err
    assert "Next:" not in err
    assert entry(home / ".cursor/mcp.json")["args"] == [*broken[1:]]
    code, out, err = mcp("install", "--client", "cursor", "--json")
    document = json.loads(out)
    assert (code, err, document["written"], document["self_test"]["ok"]) == (1, "", False, False)
    assert "it said: no luck" in document["self_test"]["error"]


def test_the_self_test_sees_what_the_client_will_see(
    mcp: Run,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    fake_server: Asked,
) -> None:
    """Variables of the entry, but none of huimem from this shell, and no placeholder of the client."""
    monkeypatch.setenv("HUIMEM_EMBEDDER", "none")
    monkeypatch.setenv("HUIMEM_CONFIG", str(home / "mine.toml"))
    (home / "mine.toml").touch()
    env = {"OWN": "1", "KEY": "${input:key}", "HUIMEM_CONFIG": "/other.toml"}
    text = json.dumps({"mcpServers": {"huimem": {"env": env, "cwd": str(home / ".cursor")}}})
    (home / ".cursor/mcp.json").write_text(text, encoding="utf-8")
    code, _, err = mcp("install", "--client", "cursor")
    [(_, seen, cwd)] = fake_server
    assert code == 0
    assert (seen["OWN"], seen["HUIMEM_CONFIG"], cwd) == ("1", "/other.toml", str(home / ".cursor"))
    assert "HUIMEM_EMBEDDER" not in seen
    assert "KEY" not in seen
    assert "note: HUIMEM_CONFIG, HUIMEM_EMBEDDER: set here, maybe not where the client runs" in err


@pytest.mark.slow
@pytest.mark.skipif(find_spec("huimem.surfaces.cli.mcp") is None, reason="there is no server to start yet")
def test_the_real_server_answers_as_it_was_entered(mcp: Run, home: Path, marigold_vault: Path) -> None:
    (home / "none.toml").write_text('embedder = "none"\n', encoding="utf-8")
    env = {"HUIMEM_CONFIG": str(home / "none.toml")}
    text = json.dumps({"mcpServers": {"huimem": {"env": env}}})
    (home / ".cursor/mcp.json").write_text(text, encoding="utf-8")
    code, out, err = mcp("install", "--client", "cursor", "--json")
    document = json.loads(out)
    assert (code, document["self_test"]["error"], err) == (0, None, "")
    assert document["self_test"]["tools"] >= 5
    code, out, _ = mcp("install", "--client", "cursor", "--json", "--read-only")
    assert json.loads(out)["self_test"]["tools"] == document["self_test"]["tools"] - 1


# For programs, and without writing.


def test_what_was_done_is_a_document(
    mcp: Run,
    home: Path,
    marigold_vault: Path,
    fake_server: Asked,
) -> None:
    path = home / ".cursor/mcp.json"
    path.write_text(OTHER, encoding="utf-8")
    code, out, err = mcp("install", "--client", "cursor", "--json")
    document = json.loads(out)
    [backup] = backups(path.parent)
    trial = document.pop("self_test")
    assert (code, err) == (0, "")
    assert document.pop("diff").startswith(f"--- {path}\n+++ {path}\n@@ mcpServers @@\n")
    assert document.pop("command")[-4:] == ["mcp", "serve", "--vault", str(marigold_vault)]
    assert document == {
        "client": "cursor",
        "scope": "user",
        "name": "huimem",
        "path": str(path),
        "target": str(path),
        "changes": True,
        "written": True,
        "backup": str(backup),
        "notes": [],
        "next": "restart Cursor; Settings, MCP lists the server",
    }
    assert {**trial, "seconds": 0} == {"ok": True, "tools": 6, "seconds": 0, "error": None, "hint": None}


def test_a_snippet_alone_is_on_standard_output(mcp: Run, home: Path, marigold_vault: Path) -> None:
    code, out, err = mcp("config", "--client", "claude-code")
    held = json.loads(out)["mcpServers"]["huimem"]
    assert code == 0
    assert held["args"][-4:] == ["mcp", "serve", "--vault", str(marigold_vault)]
    first, second = err.splitlines()
    assert first == f"This goes into {home / '.claude.json'}; or run:"
    assert second.startswith("  claude mcp add --scope user huimem -- /")
    assert not (home / ".claude.json").exists()


ADDED = [
    ("codex", "user", "codex mcp add huimem -- "),
    ("claude-code", "project", "claude mcp add --scope project huimem -- "),
    ("codex", "project", ""),
    ("cursor", "user", ""),
]


@pytest.mark.parametrize(("client", "scope", "line"), ADDED)
def test_the_clients_own_command_is_named_where_it_has_one(
    mcp: Run, home: Path, client: str, scope: str, line: str
) -> None:
    _, out, _ = mcp("config", "--client", client, "--scope", scope, "--json")
    document = json.loads(out)
    assert document["add"].startswith(line)
    assert bool(document["add"]) == bool(line)
    assert document["command"][0] in document["snippet"]


def test_the_command_is_quoted_for_a_shell(mcp: Run, home: Path, tmp_path: Path) -> None:
    vault = tmp_path / "my 笔记"
    vault.mkdir()
    (vault / "huimem.toml").touch()
    _, _, err = mcp("config", "--client", "claude-code", "--vault", str(vault))
    assert err.rstrip().endswith(f"mcp serve --vault '{vault}'")

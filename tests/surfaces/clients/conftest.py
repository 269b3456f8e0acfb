"""For the tests of `huimem mcp install`: a way to carry it out, a home, and a server that always answers."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import pytest

from huimem.surfaces.cli import mcp_install
from huimem.surfaces.cli.main import failed
from huimem.surfaces.cli.options import Shared
from huimem.surfaces.clients import trial as trials
from tests.surfaces.clients.settings import Asked, Run

COMMANDS = {"install": mcp_install.install, "config": mcp_install.config}
FAKE = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        result = {"tools": [1, 2, 3, 4, 5, 6]}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


@pytest.fixture
def mcp(capsys: pytest.CaptureFixture[str]) -> Run:
    """Carries out `huimem mcp …`: exit code, standard output, standard error."""

    def carry_out(*words: str) -> tuple[int, str, str]:
        verb, *rest = words
        capsys.readouterr()
        try:
            with COMMANDS[verb].make_context(verb, rest, obj=Shared()) as context:
                code = int(COMMANDS[verb].invoke(context))
        except click.exceptions.Exit as done:
            code = done.exit_code
        except Exception as error:
            code = failed(error, as_json="--json" in rest, trace=False)
        said = capsys.readouterr()
        return code, said.out, said.err

    return carry_out


@pytest.fixture
def home(own_home: Path, marigold_vault: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home where Cursor was started before; commands start in a vault, with no variable of huimem set."""
    monkeypatch.delenv("HUIMEM_EMBEDDER")
    (own_home / ".cursor").mkdir()
    return own_home


@pytest.fixture
def fake_server(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """A server of six tools is started in place of each that is to be tried; the list of what was asked."""
    asked: Asked = []

    def try_fake(argv: list[str], env: dict[str, str], cwd: str | None = None) -> trials.Trial:
        asked.append((tuple(argv), env, cwd))
        return trials.try_out((sys.executable, "-c", FAKE), env, cwd)

    monkeypatch.setattr(mcp_install, "try_out", try_fake)
    return asked

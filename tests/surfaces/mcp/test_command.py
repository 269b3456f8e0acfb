"""The command around the server: what it needs, and that asking for help loads none of it."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import click
import pytest

from huimem.surfaces.cli import mcp, mcp_serve
from huimem.surfaces.mcp.server import Brief

ROOT = Path(__file__).parents[3]
Run = Callable[..., tuple[int, str, str]]


def missing(_: str) -> str:
    raise PackageNotFoundError


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (missing, "needs the package mcp\n"),
        (lambda _: "1.28.0", "needs the package mcp in version 2, not 1.28.0"),
    ],
)
def test_without_the_sdk_it_says_how_to_get_it(
    found: Callable[[str], str], said: str, monkeypatch: pytest.MonkeyPatch, huimem: Run
) -> None:
    monkeypatch.setattr(mcp_serve, "version", found)
    code, out, err = huimem("mcp", "serve")
    assert (code, out) == (3, "")
    assert said in err and "pip install 'huimem[mcp]'" in err


@pytest.mark.parametrize("name", mcp.VERBS)
def test_every_verb_of_the_table_is_there(name: str) -> None:
    command = mcp.command.get_command(click.Context(mcp.command), name)
    assert command is not None
    assert command.name == name
    assert command.get_short_help_str(limit=200) == mcp.VERBS[name].about


@pytest.mark.parametrize("words", [["--help"], ["mcp", "--help"], ["mcp", "serve", "--help"]])
def test_help_loads_neither_the_sdk_nor_the_search(words: list[str]) -> None:
    program = (
        "import sys\nfrom huimem.surfaces.cli.main import run\n"
        f"assert run({words!r}) == 0\n"
        "print(sorted({'mcp', 'anyio', 'pydantic', 'numpy', 'faiss', 'tantivy', 'asyncio'} & {*sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines()[-1] == "[]", done.stdout + done.stderr


def test_logs_name_the_place_and_nothing_that_was_said() -> None:
    record = logging.LogRecord("mcp.x", logging.WARNING, "/a/b.py", 3, "got %r", ("in confidence",), None)
    assert Brief().format(record) == "huimem: mcp.x: warning (b.py:3)"
    error = ValueError("in confidence")
    record.exc_info = (ValueError, error, None)
    assert "confidence" not in Brief().format(record)
    assert "ValueError" in Brief().format(record)

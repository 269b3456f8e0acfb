"""Exports of every source, with each of its traps → the conversations that were in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.importers.told import agree, cases, expected, options_of, placed, told

SOURCES = ("chatgpt", "claude", "claude-code", "openai", "huimemory")
CASES = [(source, case) for source in SOURCES for case in cases(source)]


@pytest.mark.parametrize(("source", "case"), CASES, ids=[f"{source}-{case}" for source, case in CASES])
def test_an_export_becomes_the_conversations_in_it(source: str, case: str, tmp_path: Path) -> None:
    wanted = expected(source, case)
    options = options_of(wanted)
    if wanted[0].startswith("options:"):
        wanted = wanted[1:]
    found = [*told(source, placed(source, case, tmp_path), options)]
    assert agree(found, wanted), "\n".join(["", *found, "---- wanted", *wanted])

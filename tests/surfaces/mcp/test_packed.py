"""Packed months over MCP: each ref and each path that leads there gives the words, and no other path does."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from huimem.surfaces.cli.main import run
from tests.surfaces.mcp.conftest import connected, write_vault

PLACE = "sessions/2026-W15/chat_2026-04-08_101502.md"
PACKED = f"archive/2026-04.tar.zst/{PLACE}"
REF = "chat_2026-04-08_101502#20260408T101502"
WORK = "namespaces/work/archive/2026-04.tar.zst/sessions/2026-W15/chat_2026-04-09_140000.md"
BACK = "sessions/2026-W06/chat_2026-02-04_090000.md"


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """An agent of a vault of which all months are packed, and one is back."""
    root = write_vault(tmp_path_factory.mktemp("mcp") / "vault")
    (root / "private.md").write_text("the heron sleeps at dawn\n", encoding="utf-8")
    (root / ".huimemignore").write_text("private.md\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HUIMEM_EMBEDDER", "none")
        assert run(["archive", "--vault", str(root), "--now", "2026-09-01T12:00"]) == 0
        assert run(["unarchive", "2026-02", "--vault", str(root)]) == 0
    assert not (root / PLACE).exists() and (root / BACK).exists()
    with connected(root) as agent:
        yield agent


# What is asked for, the path of what comes, a word of it.
PLACES = [
    (REF, PACKED, "Memory is tight"),
    (f"{PACKED}:12", PACKED, "Memory is tight"),
    (f"{PLACE}:12", PACKED, "Memory is tight"),
    (PACKED, PACKED, "I noted it"),
    (PLACE, PACKED, "I noted it"),
    (f"{WORK}:8", WORK, "nine hundred"),
    (WORK, WORK, "nine hundred"),
    (f"archive/2026-02.tar.zst/{BACK}", BACK, "lighthouse keeper"),
    (f"archive/2026-02.tar.zst/{BACK}:9", BACK, "lighthouse keeper"),
]


@pytest.mark.parametrize(("asked", "path", "word"), PLACES)
def test_a_ref_and_a_path_lead_to_it_where_it_lies_and_where_it_lay(
    agent: Any, asked: str, path: str, word: str
) -> None:
    text, data = agent.ask("recall_by_id", id=asked)
    assert data["path"] == path and word in text


@pytest.mark.parametrize(
    "path",
    [
        "archive/2026-04.tar.zst/private.md",
        "archive/2026-04.tar.zst/../../private.md",
        "archive/2026-04.tar.zst/sessions/2026-W15/none.md",
        "archive/2026-05.tar.zst/private.md",
        "archive/2026-04.tar.zst",
        "archive/2026-04.md",
        "private.md",
        "x\0.md",
    ],
)
def test_no_other_path_gives_anything(agent: Any, path: str) -> None:
    for asked in (path, f"{path}:1"):
        said = agent.refused("recall_by_id", id=asked)
        assert said.startswith("the vault holds no file and no record") and "heron" not in said


@pytest.mark.slow
def test_an_archive_that_is_damaged_is_named(tmp_path: Path) -> None:
    root = write_vault(tmp_path / "vault")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HUIMEM_EMBEDDER", "none")
        run(["archive", "--vault", str(root), "--now", "2026-09-01T12:00"])
    archive = root / "archive/2026-04.tar.zst"
    archive.write_bytes(archive.read_bytes()[:-1])
    with connected(root) as agent:
        said = agent.refused("recall_by_id", id=PACKED)
        assert "2026-04.tar.zst" in said and "cut off" in said
        assert "in the files that can be read" in agent.refused("recall_by_id", id=REF)


def test_what_nobody_has_used_for_long_is_deleted_at_the_start(tmp_path: Path) -> None:
    """Nothing is asked: what is unpacked for a question cleans up by itself."""
    root = write_vault(tmp_path / "vault")
    entry = root / ".huimem/unpacked" / sha256(b"unused").hexdigest()
    entry.parent.mkdir(parents=True)
    entry.write_bytes(b"unused")
    os.utime(entry, (1_700_000_000, 1_700_000_000))
    with connected(root):
        end = time.monotonic() + 20
        while entry.exists() and time.monotonic() < end:
            time.sleep(0.02)
        assert not entry.exists()

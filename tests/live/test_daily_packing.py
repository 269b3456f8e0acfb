"""The real `huimem watch` with `archive.auto`: it packs once a day, and every answer stays what it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from huimem import Memory
from tests.live.places import eventually, huimem
from tests.live.watched import Watched
from tests.vault.months_told import ALL_MARCH, NOW, tell, told_in

pytestmark = pytest.mark.slow

WORDS = {"HUIMEM_EMBEDDER": "none"}


@pytest.fixture
def vault(root: Path) -> Path:
    """A vault of two cold months that asks for it."""
    told_in(root)
    (root / "huimem.toml").write_text('timezone = "UTC"\n[archive]\nauto = true\n', encoding="utf-8")
    return root


def packings(watched: Watched) -> list[dict[str, int]]:
    """What each packing that it told of has put where."""
    told = [document["packed"] for document in watched.documents if document["packed"]]
    return [{one["path"]: one["files"] for one in packed["archives"]} for packed in told]


def answers(root: Path) -> list[list[tuple[str, float, str]]]:
    with Memory.open(root, embedder="none") as memory:
        asked = [
            memory.recall(words, namespace="**", now=NOW).hits for words in ("marigold", "金盏花", "in March")
        ]
    return [[(str(hit.ref), hit.score, hit.evidence) for hit in hits] for hits in asked]


def test_a_watcher_packs_once_a_day_and_not_again_when_it_is_started_again(vault: Path) -> None:
    before = answers(vault)
    with Watched(vault, "--now", "2026-09-01T12:00", **WORDS) as watched:
        everything = {path: len(names) for path, names in ALL_MARCH.items()}
        eventually(lambda: packings(watched), [everything])
        second = huimem(vault, "watch", "--now", "2026-09-02T12:00", **WORDS)
        assert second.returncode == 5
    assert answers(vault) == before and not watched.warnings
    with Memory.open(vault, embedder="none") as memory:
        tell(memory.vault, "found", "2026-04-20")
    with Watched(vault, "--now", "2026-09-02T11:59", **WORDS) as watched:
        (vault / "nut.md").write_text("The hazelnut.\n", encoding="utf-8")
        eventually(lambda: len(watched.documents) > 1, True)
        assert packings(watched) == []
    with Watched(vault, "--now", "2026-09-02T12:00", **WORDS) as watched:
        eventually(lambda: packings(watched), [{"archive/2026-04.tar.zst": 1}])
    status = json.loads(huimem(vault, "status", "--json", **WORDS).stdout)
    assert status["archiving"] == {"auto": True, "last": "2026-09-02T12:00:00+00:00"} and status["fresh"]
    assert huimem(vault, "check", "--read-data", **WORDS).returncode == 0

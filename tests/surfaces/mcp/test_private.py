"""What lies beside the vault's own notes is shown by no tool, whatever it is asked by."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from huimem import Memory
from tests.surfaces.mcp.conftest import connected

SECRET = "the heron sleeps at dawn"
COPY = "AI/open.sync-conflict-20260401-101500-ABCDEFG.md"
PRIVATE = ["Private/diary.md", "AI/ignored/diary.md", COPY, "AI/link.md"]


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """An agent of a vault that is a part of a folder of notes."""
    root: Path = tmp_path_factory.mktemp("mcp") / "obs"
    Memory.create(root, tz="Asia/Shanghai", include=["AI/**"]).close()
    (root / ".huimemignore").write_text("AI/ignored/\n", encoding="utf-8")
    for path in ("AI/open.md", *PRIVATE[:3]):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        text = "anyone may read this" if path == "AI/open.md" else SECRET
        (root / path).write_text(f"{text}\n\n## Talk\n\nabout {text}\n", encoding="utf-8")
    (root / "AI/link.md").symlink_to(root / "Private/diary.md")
    with connected(root) as agent:
        yield agent


def refs_of(path: str) -> list[str]:
    name = path.removesuffix(".md").replace("/", "%2F")
    return [f"{name}#preface", f"{name}#talk", f"{path.removesuffix('.md')}#talk"]


def test_a_note_of_the_vault_is_shown(narrow: Any) -> None:
    for id in ("AI/open.md", "AI/open.md:1", *refs_of("AI/open.md")):
        assert "anyone may read this" in narrow.ask("recall_by_id", id=id)[0]


@pytest.mark.parametrize("path", PRIVATE)
def test_any_other_is_as_if_it_were_not_there(narrow: Any, path: str) -> None:
    unknown = "AI/nowhere.md"
    pairs = [(path, unknown), (f"{path}:1", f"{unknown}:1"), (f"./{path}", f"./{unknown}")]
    for id, other in [*pairs, *zip(refs_of(path), refs_of(unknown), strict=True)]:
        said = narrow.refused("recall_by_id", id=id)
        assert SECRET not in said
        expected = narrow.refused("recall_by_id", id=other)
        names = [name.removesuffix(".md") for name in (path, unknown)]
        for name, stem in ((names[0], "NOTE"), (names[1], "NOTE")):
            said, expected = (
                text.replace(name, stem).replace(name.replace("/", "%2F"), stem) for text in (said, expected)
            )
        assert said == expected
    assert narrow.refused("recall_by_id", id=path).startswith("the vault holds no file")

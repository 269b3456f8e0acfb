"""What one verb prints, another takes: every ref and place leads back to its record, and none is missing."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator

import pytest

from huimem import Memory, overview
from huimem.recall.listing import Listed
from huimem.resources import demo_vault
from huimem.surfaces.cli.finding import find
from huimem.surfaces.cli.main import run

EVERY = ("user", "assistant", "system", "tool", "person", "note", "fact")


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """The sample vault."""
    root = tmp_path_factory.mktemp("sample") / "vault"
    shutil.copytree(demo_vault(), root, ignore=shutil.ignore_patterns(".huimem"))
    with Memory.open(root, embedder="none") as memory:
        yield memory


@pytest.fixture(scope="module")
def rows(memory: Memory) -> tuple[Listed, ...]:
    return overview.listed(memory, namespace="**", roles=EVERY, include_superseded=True, limit=1_000)


def test_a_list_holds_every_record_of_every_file_once(memory: Memory, rows: tuple[Listed, ...]) -> None:
    files = {path: len(memory.vault.read(path).records) for path in memory.vault.scan().files}
    assert Counter(row.path for row in rows) == Counter(files)
    assert len({row.ref for row in rows}) == len(rows) > 100
    dated = [row.at for row in rows if row.at]
    assert dated == sorted(dated, reverse=True)


def test_every_ref_and_every_place_leads_to_its_record(memory: Memory, rows: tuple[Listed, ...]) -> None:
    for row in rows:
        for words in (row.ref, f"{row.path}:{row.line}"):
            found = find(memory.vault, words)
            assert (str(found.record.ref), found.source.path) == (row.ref, row.path)


def test_the_weeks_hold_every_turn(memory: Memory, rows: tuple[Listed, ...]) -> None:
    weeks = overview.weeks(memory, namespace="**")
    assert sum(week.turns for week in weeks) == sum(row.kind == "turn" for row in rows)
    for week in weeks:
        inside = [row for row in rows if row.kind == "turn" and row.at and week.range.contains(row.at)]
        assert (len(inside), len({row.path for row in inside})) == (week.turns, week.sessions)


QUESTIONS = ["which index did we choose?", "租房 合同", "2026-04-08", "index"]


@pytest.mark.slow
@pytest.mark.parametrize("question", QUESTIONS)
def test_what_recall_names_show_shows(
    question: str, memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    there = ["--vault", str(memory.vault.root), "--json"]
    assert run(["recall", question, "--namespace", "**", *there]) == 0
    hits = json.loads(capsys.readouterr().out)["hits"]
    assert hits
    for hit in hits:
        for words in (hit["ref"], f"{hit['path']}:{hit['line']}"):
            assert run(["show", words, *there]) == 0
            shown = json.loads(capsys.readouterr().out)
            same = ("ref", "path", "title", "namespace", "kind", "inferred")
            assert [shown[name] for name in same] == [hit[name] for name in same]
            assert hit["role"] in [message["role"] for message in shown["messages"]]
            lines = (memory.vault.root / hit["path"]).read_text(encoding="utf-8").split("\n")
            assert lines[hit["line"] - 1].strip() in "\n".join(m["text"] for m in shown["messages"])

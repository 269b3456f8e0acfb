"""Memory itself: what its verbs take and promise beyond what the command line shows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from huimem import Memory, UsageError, overview
from huimem.locks import lock
from huimem.recall.query import Keywords
from huimem.surfaces.cli.finding import find

SAID = ({"role": "user", "content": "The walrus waves.", "at": "2026-04-06T10:00:00"},)


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    monkeypatch.setenv("HUIMEM_EMBEDDER", "hashing")
    with Memory.create(tmp_path / "vault", tz="Asia/Shanghai") as memory:
        yield memory


# A namespace as somebody names it, how refs and JSON have it.
NAMES = [
    ("Åsa@x.org", "%c3%85sa%40x%2eorg"),
    ("项目 A", "%e9%a1%b9%e7%9b%ae%20%41"),
    ("alice", "alice"),
    ("Alice", "%41lice"),
    ("a.b/C d", "a%2eb/%43%20d"),
    ("con", "%63on"),
    ("long" * 40, f"{'long' * 15}lon~02ac1b78e8d21ef9"),
    ("no\udcfftext", "no%ef%bf%bdtext"),
]


def test_a_namespace_is_asked_as_it_was_recorded_written_out_or_encoded(memory: Memory) -> None:
    for name, encoded in NAMES:
        (ref,) = memory.record(SAID, namespace=name)
        assert ref.namespace == encoded
        for written in (f"{name}/{ref.session}#{ref.at}", str(ref)):
            assert find(memory.vault, written).record.ref == ref
        assert find(memory.vault, f"{ref.session}#{ref.at}", name).record.ref == ref
    for name, encoded in NAMES:
        for asked in (name, encoded, f"{name}/**"):
            hits = memory.recall("walrus", namespace=asked, limit=50).hits
            assert [hit.ref.namespace for hit in hits] == [encoded]
            assert [one.namespace for one in overview.listed(memory, namespace=asked)] == [encoded]
        assert [week.turns for week in overview.weeks(memory, namespace=name)] == [1]
    assert len(memory.recall("walrus", namespace="**", limit=50).hits) == len(NAMES)
    assert memory.recall("walrus").hits == ()
    assert memory.recall("walrus", namespace="nobody").hits == ()
    with pytest.raises(UsageError, match="label is empty"):
        memory.recall("walrus", namespace="a//b")


FILTERS = [
    # keywords, whether they let the turn pass
    ({"roles": ("User",)}, True),
    ({"roles": ("用户",)}, True),
    ({"roles": ("human", "tool")}, True),
    ({"roles": ("AI",)}, False),
    ({"kinds": ("Turn",)}, True),
    ({"kinds": ("note",)}, False),
    ({"tags": ("sea",)}, True),
    ({"tags": ("#sea",)}, True),
    ({"tags": ("land",)}, False),
]


@pytest.mark.parametrize(("keywords", "passes"), FILTERS, ids=[str(row[0]) for row in FILTERS])
def test_filters_are_named_as_in_files(keywords: Keywords, passes: bool, memory: Memory) -> None:
    text = "---\ntags: [sea]\n---\n\n## User · 2026-04-06 10:00:00\n\nThe walrus waves.\n"
    (memory.vault.root / "sea.md").write_text(text, encoding="utf-8")
    assert bool(memory.recall("walrus", **keywords).hits) is passes
    assert bool(overview.listed(memory, **keywords)) is passes


def test_a_recall_tells_how_catching_up_with_the_files_goes(memory: Memory) -> None:
    for number in range(40):
        (memory.vault.root / f"{number}.md").write_text("walrus", encoding="utf-8")
    told: list[tuple[str, int, int]] = []
    assert len(memory.recall("walrus", limit=50, progress=lambda *step: told.append(step)).hits) == 40
    assert told[-1] == ("words", 40, 40)
    told.clear()
    memory.recall("walrus", progress=lambda *step: told.append(step))
    assert [step for step in told if step[1] != step[2]] == []


def test_a_question_does_not_wait_for_whoever_holds_the_index(memory: Memory) -> None:
    memory.record(SAID)
    memory.sync(vectors=False)
    for name in ("index.lock", "sync.lock"):
        with lock(memory.index.folder / name):
            begun = time.monotonic()
            (memory.vault.root / f"{name}.md").write_text("Another walrus.", encoding="utf-8")
            answer = memory.recall("walrus")
            assert f"{name}.md" in [hit.path for hit in answer.hits]
            assert (answer.freshness.fresh, answer.freshness.pending, answer.warnings) == (True, 0, ())
            assert time.monotonic() - begun < 3
    assert len(memory.recall("walrus").hits) == 3


def test_what_is_beside_the_index_is_listed_counted_and_filtered_like_the_rest(memory: Memory) -> None:
    memory.record(SAID)
    memory.sync(vectors=False)
    with lock(memory.index.folder / "sync.lock"):
        memory.record(SAID, namespace="alice/work")
        said = [{**SAID[0], "content": "The walrus sleeps.", "at": "2026-04-14T10:00:00"}]
        memory.record(said, session="second")
        assert len(memory.recall("walrus", namespace="alice/**").hits) == 1
        assert [hit.ref.session for hit in memory.recall("walrus", when="2026-W16").hits] == ["second"]
        assert [hit.ref.session for hit in memory.recall("2026-W16").hits] == ["second"]
        assert overview.listed(memory)[0].ref.startswith("second#")
        assert [week.turns for week in overview.weeks(memory)] == [1, 1]
        next(memory.vault.root.glob("sessions/2026-W15/*.md")).unlink()
        assert [hit.ref.session for hit in memory.recall("walrus").hits] == ["second"]
        assert [week.turns for week in overview.weeks(memory)] == [1]


def test_answers_are_the_same_before_and_after_new_files_are_taken_in(memory: Memory) -> None:
    for number, text in enumerate(("The walrus waves.", "A seal and a walrus.", "Nobody was there.")):
        memory.record([{**SAID[0], "content": text}], session=f"s{number}")
        memory.sync(vectors=False)
    with lock(memory.index.folder / "sync.lock"):
        memory.record([{**SAID[0], "content": "Walrus, walrus, seal."}], session="new")
        beside = [(hit.ref, round(hit.score, 9)) for hit in memory.recall("walrus seal").hits]
    memory.sync(vectors=False)
    assert beside == [(hit.ref, round(hit.score, 9)) for hit in memory.recall("walrus seal").hits]
    assert len(beside) == 3


def test_an_index_of_nothing_answers_by_words(memory: Memory) -> None:
    assert overview.status(memory).engine == "words"
    assert memory.recall("walrus").freshness.engine == "words"
    memory.record(SAID)
    memory.linger(10)
    assert memory.recall("walrus").freshness.engine == "words+meaning"
    assert overview.status(memory).engine == "words+meaning"


def test_a_list_says_which_times_are_guessed(memory: Memory) -> None:
    memory.record(SAID)
    (memory.vault.root / "undated.md").write_text("A walrus.", encoding="utf-8")
    assert {one.path: one.inferred for one in overview.listed(memory) if "undated" in one.path} == {
        "undated.md": True
    }
    assert [one.inferred for one in overview.listed(memory, kinds=("turn",))] == [False]


def test_a_turn_added_to_a_session_answers_beside_the_turns_before_it(memory: Memory) -> None:
    memory.record(SAID, session="long")
    memory.sync(vectors=False)
    with lock(memory.index.folder / "sync.lock"):
        memory.record(
            [{**SAID[0], "content": "The walrus dives.", "at": "2026-04-06T10:05:00"}], session="long"
        )
        found = memory.recall("walrus", limit=9).hits
    lines = next(memory.vault.root.glob("sessions/*/long.md")).read_text(encoding="utf-8").splitlines()
    assert {hit.evidence for hit in found} == {"The walrus waves.", "The walrus dives."}
    assert len(found) == 2 and all(lines[hit.line - 1] == hit.evidence for hit in found)


def test_the_first_day_of_the_week_reaches_questions_and_what_is_taken_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[tuple[str, str]] = []

    def resolve(text: str, now: datetime, *, week_start: str) -> None:
        read.append((text, week_start))

    monkeypatch.setattr("huimem.memory.resolve", resolve)
    monkeypatch.setattr("huimem.upkeep.resolve_spoken", resolve)
    monkeypatch.setenv("HUIMEM_EMBEDDER", "none")
    with Memory.create(tmp_path / "vault", tz="UTC") as memory:
        memory.record(SAID)
        memory.recall("walrus")
    assert set(read) == {("walrus", "monday"), ("The walrus waves.", "monday")}
    read.clear()
    with Memory.open(tmp_path / "vault", week_start="sunday") as memory:
        told = memory.recall("waves").warnings
    assert set(read) == {("waves", "sunday"), ("The walrus waves.", "sunday")}
    assert told == ("the index is rebuilt from the files: its times were read by other rules",)


def test_a_vault_in_another_zone_holds_other_times(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    Memory.create(root, tz="Asia/Shanghai").close()
    (root / "2026-05-02.md").write_text("# Bowls\n\nTwo cracked.\n", encoding="utf-8")

    def days(zone: str) -> list[str]:
        (root / "huimem.toml").write_text(f'timezone = "{zone}"\n', encoding="utf-8")
        with Memory.open(root, embedder="none") as memory:
            return [f"{hit.at:%Y-%m-%d %Z}" for hit in memory.recall("cracked 2026-05-02").hits if hit.at]

    assert days("Asia/Shanghai") == ["2026-05-02 CST"]
    assert days("Pacific/Auckland") == ["2026-05-02 NZST"]
    assert days("America/New_York") == ["2026-05-02 EDT"]

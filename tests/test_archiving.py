"""Packed months and questions: every answer stays, whatever is packed, cut off or asked meanwhile."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from huimem import Memory
from tests.cutting import die_at
from tests.processes import code_of, start
from tests.vault.months_told import bytes_of

NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
FLOWERS = ("marigold", "tulip", "larkspur", "金盏花", "郁金香", "aster")
QUESTIONS = ("marigold", "金盏花在哪", "what stands by the gate", "in March, which flower", "water the aster")


def made(root: Path, embedder: str = "hashing") -> Memory:
    """Eleven sessions of two namespaces from March to August, some of several turns; all in the index."""
    Memory.create(root, tz="UTC").close()
    memory = Memory.open(root, embedder=embedder, background=False)
    for number in range(11):
        day = datetime(2026, 3 + number % 6, 2 + number, 10, tzinfo=UTC)
        flower = FLOWERS[number % len(FLOWERS)]
        said = [
            {"role": role, "content": text, "at": day + timedelta(minutes=at)}
            for turn in range(1 + number % 3)
            for at, (role, text) in enumerate(
                [
                    ("user", f"The {flower} number{number} stands by the gate, place {turn}."),
                    ("assistant", f"{flower}要浇水。I wrote down place {turn}."),
                ],
                10 * turn,
            )
        ]
        memory.record(
            said, session=f"s{number}", title=f"About {flower}", namespace="team" * (number % 4 == 3)
        )
    memory.sync()
    return memory


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return made(tmp_path / "vault")


def answers(memory: Memory) -> list[list[tuple[str, float, str]]]:
    """Refs, scores and evidence of all hits of some questions."""
    found = []
    for question in QUESTIONS:
        hits = memory.recall(question, namespace="**", now=NOW, limit=20).hits
        found.append([(str(hit.ref), round(hit.score, 9), hit.evidence) for hit in hits])
    return found


def stored(memory: Memory) -> list[tuple[object, ...]]:
    """Every row of the catalog that says something of a text, but for paths."""
    with closing(sqlite3.connect(memory.vault.state / "catalog.db")) as db:
        rows = db.execute("SELECT row, record, message, at_ms, line_first, hash FROM chunk ORDER BY row")
        return rows.fetchall() + db.execute("SELECT id, ref, line FROM record ORDER BY id").fetchall()


# Answers


def test_packing_changes_no_answer_and_nothing_in_the_index_but_paths(memory: Memory) -> None:
    """K5."""
    before, rows = answers(memory), stored(memory)
    done = memory.archive(now=NOW)
    assert [one.place.archive for one in done] == [
        "archive/2026-03.tar.zst",
        "archive/2026-04.tar.zst",
        "archive/2026-05.tar.zst",
        "namespaces/team/archive/2026-04.tar.zst",
    ]
    assert answers(memory) == before and stored(memory) == rows
    paths = {hit.path for hit in memory.recall("marigold", namespace="**", now=NOW).hits}
    assert any(path.startswith("archive/2026-03.tar.zst/sessions/") for path in paths)


@pytest.mark.slow
def test_putting_a_month_back_changes_no_answer_either(memory: Memory) -> None:
    before, rows = answers(memory), stored(memory)
    memory.archive(now=NOW)
    assert memory.unarchive("2026-03").files == 2
    assert memory.unarchive("2026-04", namespace="team").files == 1
    assert answers(memory) == before and stored(memory) == rows
    assert not memory.sync().report.changed


def test_an_index_made_anew_from_archives_answers_alike(memory: Memory) -> None:
    before = answers(memory)
    memory.archive(now=NOW)
    memory.close()
    shutil.rmtree(memory.vault.state)
    with Memory.open(memory.vault.root, embedder="hashing", background=False) as anew:
        anew.sync()
        assert answers(anew) == before


@pytest.mark.slow
@pytest.mark.parametrize("hours", [72, 0])
def test_answers_are_the_same_with_a_cold_a_warm_and_no_cache(memory: Memory, hours: int) -> None:
    """K5."""
    before = answers(memory)
    memory.archive(now=NOW)
    memory.close()
    settings = {"embedder": "hashing", "background": False, "archive.cache_ttl_hours": hours}
    with Memory.open(memory.vault.root, **settings) as again:
        assert answers(again) == before
        kept = again.vault.state / "unpacked"
        assert (len(list(kept.iterdir())) if kept.is_dir() else 0) == (6 if hours else 0)
    with Memory.open(memory.vault.root, **settings) as warm:
        assert answers(warm) == before
        shutil.rmtree(kept, ignore_errors=True)
        assert answers(warm) == before


def test_a_damaged_archive_is_named_and_the_rest_answers(memory: Memory) -> None:
    """F1, R11."""
    memory.archive(now=NOW)
    path = memory.vault.root / "archive/2026-03.tar.zst"
    data = bytearray(path.read_bytes())
    data[200] ^= 4
    path.write_bytes(bytes(data))
    found = memory.recall("tulip gate", namespace="**", now=NOW, limit=20)
    assert found.hits and all("2026-03.tar" not in hit.path for hit in found.hits)
    assert any("archive/2026-03.tar.zst" in line for line in found.warnings)


def test_an_archive_that_is_gone_is_no_answer(memory: Memory) -> None:
    memory.archive(now=NOW)
    (memory.vault.root / "archive/2026-03.tar.zst").unlink()
    memory.sync()
    assert all(hit.path.find("2026-03.tar") < 0 for hit in memory.recall("marigold", now=NOW, limit=20).hits)


def test_a_late_copy_is_found_beside_the_packed_one(memory: Memory) -> None:
    """K7."""
    memory.archive(now=NOW)
    place = memory.vault.root / "sessions/2026-W10/s0.md"
    place.parent.mkdir(exist_ok=True)
    place.write_text(
        "---\nid: s0\n---\n\n## User · 2026-03-02 11:00:00\n\nThe fuchsia came late.\n", encoding="utf-8"
    )
    found = memory.recall("fuchsia", now=NOW)
    assert [hit.path for hit in found.hits][:1] == ["sessions/2026-W10/s0.md"]
    found = memory.recall("marigold number0", now=NOW)
    assert found.hits[0].path == "archive/2026-03.tar.zst/sessions/2026-W10/s0.md"
    memory.archive(now=NOW)
    assert memory.recall("fuchsia", now=NOW).hits[0].path.startswith("archive/2026-03.tar.zst/")


def test_an_equal_copy_is_found_once(memory: Memory) -> None:
    """K7: another device brings a packed file again, as it is in the archive."""
    path = memory.vault.root / "sessions/2026-W10/s0.md"
    data = path.read_bytes()
    expected = turns(memory)
    memory.archive(now=NOW)
    (memory.vault.root / "elsewhere").mkdir()
    (memory.vault.root / "elsewhere/s0.md").write_bytes(data)
    assert turns(memory) == expected


# Steps


def turns(memory: Memory) -> Counter[str]:
    """How often each turn is found."""
    found = memory.recall("stands by the gate place", namespace="**", now=NOW, limit=60)
    return Counter(str(hit.ref) for hit in found.hits)


def cut_off(root: Path, number: int, work: str) -> int:
    """Do `work` in a process that is killed at its step `number`; its exit code."""

    def dying() -> None:
        with Memory.open(root, embedder="hashing", background=False) as memory:
            die_at(number)
            memory.archive(now=NOW) if work == "archive" else memory.unarchive("2026-03")

    return code_of(start(dying))


STRIDE = 97  # steps; all of them are tried where no index is beside, in faults/test_every_step.py


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("work", ["archive", "unarchive"])
def test_killed_at_any_step_every_turn_is_there_once_and_the_next_run_completes(
    tmp_path: Path, work: str
) -> None:
    """D6, D8, D5."""
    with made(tmp_path / "vault") as memory:
        before, all_turns = bytes_of(memory.vault), turns(memory)
        if work == "unarchive":
            memory.archive(now=NOW)
    for number in range(1, 10_000, STRIDE):
        root = tmp_path / "copy"
        shutil.copytree(tmp_path / "vault", root, symlinks=True)
        code = cut_off(root, number, work)
        with Memory.open(root, embedder="hashing", background=False) as memory:
            assert bytes_of(memory.vault) == before, number
            assert turns(memory) == all_turns, number
            memory.archive(now=NOW)
            assert bytes_of(memory.vault) == before and turns(memory) == all_turns, number
            assert len(memory.vault.scan().archives) == 4
        shutil.rmtree(root)
        if code == 0:
            break
        assert code == 137
    assert number > 40


@pytest.mark.slow
def test_a_question_meanwhile_finds_every_turn_once(memory: Memory) -> None:
    """C8: questions from another thread while months are packed and put back."""
    expected, faults, ended = turns(memory), [], threading.Event()

    def asking() -> None:
        with Memory.open(memory.vault.root, embedder="hashing", background=False) as other:
            while not ended.is_set():
                if (found := turns(other)) != expected:
                    faults.append((found - expected, expected - found))

    asker = threading.Thread(target=asking)
    asker.start()
    for _ in range(2):
        memory.archive(now=NOW)
        for month, namespace in (("2026-03", ""), ("2026-04", ""), ("2026-04", "team")):
            memory.unarchive(month, namespace=namespace)
    ended.set()
    asker.join()
    assert not faults

"""What was forgotten is nowhere: not in files, archives, the index, vectors, caches, journal or copies.

Every text of these vaults holds a word of its own, which is then looked for in every byte of the vault and
its state, packed or not.
"""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from huimem import Memory
from huimem.errors import NotFound, UsageError
from huimem.index import texts
from huimem.vault import pack
from tests.cutting import die_at
from tests.processes import code_of, start

NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
SESSIONS = ("s0", "s1", "team/s2", "s3")


def word(session: int, turn: int) -> str:
    return f"secretword{session}x{turn}金盏花"


def made(root: Path) -> Memory:
    """Four sessions of three turns, in March, April and August, one of them of a team; a fact and a note."""
    Memory.create(root, tz="UTC").close()
    (root / "facts").mkdir()
    (root / "facts/likes.md").write_text(
        "---\nkey: likes\nkind: preference\n---\n\n## 2026-03-01 → 2026-05-01\n\nfactword-one\n\n"
        "## 2026-05-01 →\n\nfactword-two\n",
        encoding="utf-8",
    )
    (root / "garden.md").write_text("# Garden\n\n## Beds\n\nnoteword-beds\n\n## Paths\n\nnoteword-paths\n")
    memory = Memory.open(root, embedder="hashing", background=False)
    for number, name in enumerate(SESSIONS):
        owner, _, session = name.rpartition("/")
        day = datetime(2026, (3, 4, 4, 8)[number], 3, 10, tzinfo=UTC)
        said = [
            {"role": role, "content": f"{role} {word(number, turn)} said", "at": day + timedelta(hours=turn)}
            for turn in range(3)
            for role in ("user", "assistant")
        ]
        memory.record(said, session=session, namespace=owner)
    memory.sync()
    return memory


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return made(tmp_path / "vault")


def ref(number: int, turn: int) -> str:
    month = ("03", "04", "04", "08")[number]
    return f"{SESSIONS[number]}#2026{month}03T{10 + turn}0000"


def unpacked_bytes(memory: Memory) -> bytes:
    """Every byte below the vault, and what its archives and its catalog hold packed."""
    memory.close()
    found = []
    for path in sorted(memory.vault.root.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            found.append(data)
            if path.name.endswith(".tar.zst"):
                found.append(zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True).read())
    with closing(sqlite3.connect(memory.vault.state / "catalog.db")) as db:
        for said, text in db.execute("SELECT said, text FROM passage"):
            found += [texts.unpack(one).encode() for one in (said, text) if one is not None]
        found += [term.encode() for (term,) in db.execute("SELECT text FROM term")]
    return b"\n".join(found)


def stands(memory: Memory, text: str) -> bool:
    held = unpacked_bytes(memory)
    return any(each.encode() in held for each in (text, text.rstrip("金盏花")))


@pytest.mark.parametrize("packed", [False, True])
def test_a_turn_is_nowhere_and_the_others_stay(memory: Memory, packed: bool) -> None:
    if packed:
        memory.archive(now=NOW)
        memory.recall(word(0, 1), now=NOW)  # into the cache of unpacked files
    done = memory.forget(ref(0, 1), now=NOW)
    assert done.refs == (ref(0, 1),) and not done.left and not done.warnings
    assert {looked.place for looked in done.looked} >= {"files", "archives", "vectors", "journal"}
    assert not stands(memory, word(0, 1))
    assert all(stands(memory, word(0, turn)) for turn in (0, 2))
    with Memory.open(memory.vault.root, embedder="hashing", background=False) as again:
        assert all(str(hit.ref) != ref(0, 1) for hit in again.recall(word(0, 1), now=NOW).hits)
        assert str(again.recall(word(0, 2), now=NOW).hits[0].ref) == ref(0, 2)


@pytest.mark.parametrize("packed", [False, True])
def test_a_session_is_nowhere_with_its_file_and_its_title(memory: Memory, packed: bool) -> None:
    if packed:
        memory.archive(now=NOW)
    done = memory.forget("s0", now=NOW)
    assert len(done.refs) == 3 and not done.left
    assert not any(stands(memory, word(0, turn)) for turn in range(3))
    assert all(stands(memory, word(1, turn)) for turn in range(3))
    assert (
        not list(memory.vault.root.rglob("s0.md")) and not (memory.vault.root / "archive/2026-03.md").exists()
    )


def test_a_title_made_of_forgotten_words_goes_too(memory: Memory) -> None:
    path = memory.vault.root / "sessions/2026-W10/s0.md"
    assert f"title: user {word(0, 0)}" in path.read_text()
    memory.forget(ref(0, 0), now=NOW)
    assert "title: s0\n" in path.read_text()
    assert not stands(memory, word(0, 0))


@pytest.mark.parametrize("packed", [False, True])
def test_a_namespace_is_nowhere(memory: Memory, packed: bool) -> None:
    if packed:
        memory.archive(now=NOW)
    done = memory.forget(namespace="team", now=NOW)
    assert len(done.refs) == 3
    assert not any(stands(memory, word(2, turn)) for turn in range(3))
    assert all(stands(memory, word(number, 0)) for number in (0, 1, 3))


def test_a_version_of_a_fact_and_a_whole_key(memory: Memory) -> None:
    memory.forget("likes@20260301T000000", now=NOW)
    assert not stands(memory, "factword-one") and stands(memory, "factword-two")
    memory.forget(key="Likes", now=NOW)
    assert not stands(memory, "factword-two")
    assert not (memory.vault.root / "facts/likes.md").exists()


def test_a_part_of_a_note(memory: Memory) -> None:
    memory.forget("garden#beds", now=NOW)
    assert (memory.vault.root / "garden.md").read_text() == "# Garden\n\n## Paths\n\nnoteword-paths\n"
    assert not stands(memory, "noteword-beds")


def test_recovered_copies_lose_it_and_keep_the_rest(memory: Memory) -> None:
    path = memory.vault.root / "sessions/2026-W10/s0.md"
    path.write_text(path.read_text().split("## User · 2026-03-03 11")[0])  # an old buffer is saved
    memory.sync()
    kept = memory.vault.state / "recovered"
    assert any(word(0, 1) in one.read_text() for one in kept.iterdir())
    at = datetime(2026, 3, 3, 11, tzinfo=UTC)
    said = [
        {"role": role, "content": f"{role} {word(0, 1)} said", "at": at} for role in ("user", "assistant")
    ]
    memory.record(said, session="s0")
    memory.forget(ref(0, 1), now=NOW)
    assert not stands(memory, word(0, 1))
    assert any(word(0, 2) in one.read_text() for one in kept.iterdir())


def test_where_the_words_stand_elsewhere_is_said(memory: Memory) -> None:
    (memory.vault.root / "copy.md").write_text(f"I wrote down: user {word(0, 0)} said\n")
    done = memory.forget(ref(0, 0), now=NOW)
    assert done.left == ("copy.md",)


def test_dry_tells_and_changes_nothing(memory: Memory) -> None:
    before = {path: path.read_bytes() for path in memory.vault.root.rglob("*.md")}
    done = memory.forget("s0", ref(1, 1), dry=True, now=NOW)
    assert done.dry and len(done.refs) == 4 and len(done.files) == 2
    assert {path: path.read_bytes() for path in memory.vault.root.rglob("*.md")} == before


def test_a_line_says_which_refs_and_no_word_of_them(memory: Memory) -> None:
    memory.forget(ref(0, 1), now=NOW)
    line = (memory.vault.root / "feedback/feedback_2026-W36.md").read_text()
    assert line == f"- 2026-09-01 12:00:00 forgot {ref(0, 1)}\n"


def test_what_never_was_there_is_said_and_what_was_forgotten_is_nothing(memory: Memory) -> None:
    with pytest.raises(NotFound, match="no record s0#20200101T000000"):
        memory.forget("s0#20200101T000000", now=NOW)
    with pytest.raises(NotFound, match="no session nobody"):
        memory.forget("nobody", now=NOW)
    with pytest.raises(UsageError):
        memory.forget(now=NOW)
    memory.forget("s0", now=NOW)
    assert memory.forget("s0", now=NOW).refs == ()
    assert memory.forget(ref(0, 1), now=NOW).refs == ()


@pytest.mark.slow
@settings(max_examples=5, deadline=None)
@given(st.sets(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=6), st.booleans())
def test_any_turns_are_nowhere_and_all_others_stay(
    tmp_path_factory: pytest.TempPathFactory, gone: set[tuple[int, int]], packed: bool
) -> None:
    root = tmp_path_factory.mktemp("vault") / "vault"
    memory = made(root)
    if packed:
        memory.archive(now=NOW, keep=0)
    memory.forget(*(ref(*one) for one in sorted(gone)), now=NOW)
    held = unpacked_bytes(memory)
    for number in range(4):
        for turn in range(3):
            assert (word(number, turn).encode() in held) == ((number, turn) not in gone)
    for path in root.rglob("*.tar.zst"):
        assert list(pack.contents(path.read_bytes()))
    shutil.rmtree(root)


def cut_off(root: Path, number: int, *what: str) -> int:
    """Forget in a process that is killed at its step `number`; its exit code."""

    def dying() -> None:
        with Memory.open(root, embedder="hashing", background=False) as memory:
            die_at(number)
            memory.forget(*what, now=NOW)

    return code_of(start(dying))


STRIDE = 37  # steps; all of them are tried where no index is beside, in faults/test_every_step.py


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("what", ["s0", ref(1, 1)])
def test_killed_at_any_step_the_others_stay_and_the_next_run_completes(tmp_path: Path, what: str) -> None:
    """I7, D6."""
    with made(tmp_path / "vault") as memory:
        memory.archive(now=NOW)
    gone = {(0, turn) for turn in range(3)} if what == "s0" else {(1, 1)}
    for number in range(1, 10_000, STRIDE):
        root = tmp_path / "copy"
        shutil.copytree(tmp_path / "vault", root, symlinks=True)
        code = cut_off(root, number, what)
        memory = Memory.open(root, embedder="hashing", background=False)
        memory.forget(what, now=NOW)
        held = unpacked_bytes(memory)
        for one in ((session, turn) for session in range(4) for turn in range(3)):
            assert (word(*one).encode() in held) == (one not in gone), (number, one)
        shutil.rmtree(root)
        if code == 0:
            break
        assert code == 137
    assert number > 40

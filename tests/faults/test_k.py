"""Group K of the faults: what other computers and people do to files whose month is packed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from huimem import Memory, checking
from huimem.vault.journal import MANY

SAID = datetime(2024, 3, 4, 9, tzinfo=UTC)
NOW = datetime(2025, 1, 1, tzinfo=UTC)


def said(session: int, first: int, last: int) -> list[dict[str, object]]:
    """Messages of a session, each with a word of its own."""
    return [
        {"role": "user", "content": f"larkspur{session}x{n}", "at": SAID + timedelta(hours=n)}
        for n in range(first, last)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, MANY + 2])
def test_an_older_copy_beside_a_packed_session_has_lost_nothing(count: int, tmp_path: Path) -> None:
    """K7: a sync program brings it back, of one session or of a whole month; the archive holds the rest."""
    Memory.create(tmp_path / "vault", tz="UTC").close()
    with Memory.open(tmp_path / "vault", embedder="none", background=False) as memory:
        for number in range(count):
            memory.record(said(number, 0, 2), session=f"s{number}")
        older = {path: path.read_bytes() for path in memory.vault.root.glob("sessions/*/*.md")}
        for number in range(count):
            memory.record(said(number, 2, 4), session=f"s{number}")
        memory.sync()
        (done,) = memory.archive(now=NOW)
        assert done.files == count == len(older)
        for path, data in older.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        assert memory.sync().warnings == () == memory.vault.untold()
        found = checking.problems(memory.vault)
        assert len(found) == count and all(
            "has the same id as archive/2024-03" in one.message for one in found
        )
        for number in (0, count - 1):
            hits = [hit for hit in memory.recall(f"larkspur{number}x3", limit=1).hits]
            assert f"larkspur{number}x3" in hits[0].evidence
        assert not (memory.vault.state / "recovered").exists()


def test_what_stands_in_no_copy_is_lost_all_the_same(tmp_path: Path) -> None:
    """K7: recorded to the packed session, which lies open again by that, and then written over."""
    Memory.create(tmp_path / "vault", tz="UTC").close()
    with Memory.open(tmp_path / "vault", embedder="none", background=False) as memory:
        memory.record(said(0, 0, 2), session="s")
        (path,) = memory.vault.root.glob("sessions/*/s.md")
        older = path.read_bytes()
        memory.archive(now=NOW)
        memory.record(said(0, 2, 3), session="s")
        path.write_bytes(older)
        (line,) = memory.sync().warnings
        assert line.startswith("1 message recorded on ") and "no longer in sessions/2024-W10/s.md" in line

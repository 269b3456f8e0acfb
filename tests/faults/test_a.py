"""Group A of the faults: what editors and sync programs leave in the place of a file."""

from __future__ import annotations

from pathlib import Path

from huimem import Memory


def test_a_file_that_is_only_in_the_cloud_is_not_deleted(tmp_path: Path) -> None:
    """A14: iCloud takes `garden.md` away and leaves `.garden.md.icloud`."""
    root = tmp_path / "vault"
    Memory.create(root, tz="UTC").close()
    place = root / "garden.md"
    place.write_text("The larkspur stands by the gate.\n", encoding="utf-8")
    with Memory.open(root, embedder="none", background=False) as memory:
        memory.sync()
        place.rename(root / ".garden.md.icloud")
        synced = memory.sync()
        assert synced.report.removed == 0
        assert any("garden.md: is kept in iCloud" in line for line in synced.unread)
        assert memory.index.counts().sources == 1
        (root / ".garden.md.icloud").rename(place)
        assert [hit.path for hit in memory.recall("larkspur").hits] == ["garden.md"]
        place.unlink()
        memory.sync()
        assert memory.index.counts().sources == 0

"""What stands in the state folder in place of what we put there is taken away, made anew and said."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.index.made import Files, healed, opened, source, state, turn, vault

FILES = ("catalog.db", "catalog.db-wal", "catalog.db-shm", "seal.json", "embeddings.db", "index.lock")


def a_folder(path: Path, elsewhere: Path) -> None:
    (path / "below").mkdir(parents=True)


def a_file(path: Path, elsewhere: Path) -> None:
    path.write_bytes(b"no folder")


def a_symlink(path: Path, elsewhere: Path) -> None:
    path.symlink_to(elsewhere)


# What stands in a place of the state folder instead of what belongs there, and what is said of it.
WRONG_KINDS = [
    *((name, a_folder, f"{name} in the state folder was no file") for name in FILES),
    *((name, a_symlink, f"{name} in the state folder was no file") for name in FILES),
    *((name, a_file, f"{name} in the state folder was no folder") for name in ("words", "vectors")),
    *((name, a_symlink, f"{name} in the state folder was no folder") for name in ("words", "vectors")),
    ("words/meta.json", a_folder, "the word index was damaged and is rebuilt"),
    ("words/*.idx", a_folder, "the word index was damaged and is rebuilt"),
    ("vectors/*.faiss", a_folder, "1 vector files were damaged"),
]


@pytest.mark.parametrize(
    ("kind", "make", "says"), WRONG_KINDS, ids=[f"{row[0]} {row[1].__name__}" for row in WRONG_KINDS]
)
def test_what_is_of_the_wrong_kind_is_made_anew_and_said(
    kind: str,
    make: Callable[[Path, Path], None],
    says: str,
    pristine: tuple[Path, tuple[object, ...]],
    tmp_path: Path,
) -> None:
    folder, elsewhere = tmp_path / "state", tmp_path / "elsewhere"
    shutil.copytree(pristine[0], folder)
    elsewhere.mkdir()
    (elsewhere / "theirs").write_bytes(b"not ours")
    victim = sorted(folder.glob(kind))[0] if "*" in kind else folder / kind
    if victim.exists():
        shutil.rmtree(victim) if victim.is_dir() else victim.unlink()
    make(victim, elsewhere)
    index, warnings = healed(folder, vault())
    assert any(line.startswith(says) for line in warnings) and state(index) == pristine[1]
    index.close()
    index, warnings = healed(folder, vault())
    assert not warnings and state(index) == pristine[1]
    assert [path.name for path in elsewhere.iterdir()] == ["theirs"]


def test_a_missing_index_is_told_from_one_that_was_never_filled(tmp_path: Path) -> None:
    def said(folder: str, *paths: str) -> tuple[str, ...]:
        index, files = opened(tmp_path / folder), Files()
        for path in paths:
            files.put(source(path, turn("2026-04-06", "apple", session=path)))
        warnings = files.sync(index).warnings
        index.close()
        return warnings

    assert said("filled", "a.md", "b.md") == ("there was no index: built from 2 files",)
    assert said("filled", "a.md", "b.md", "c.md") == ()
    assert said("new") == () and said("new", "a.md") == ()

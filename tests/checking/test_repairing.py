"""What is derived and damaged is made again and named; what is its owner's keeps every byte."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from huimem import Memory
from huimem.repairing import Mended, repair
from huimem.vault.vault import Vault
from tests.checking.checked import MARCH, check, flipped

STATE = ".huimem"


def spoil(path: Path) -> None:
    """A disk that gives back another bit: size and times stay."""
    before = path.stat()
    path.write_bytes(flipped(path.read_bytes(), before.st_size // 2))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def only(folder: Path, pattern: str) -> Path:
    return sorted(folder.glob(pattern))[0]


DAMAGE: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "the list is gone": (
        lambda root: (root / "archive/2026-03.md").unlink(),
        "archive/2026-03.md",
        "written",
    ),
    "the manifest's copy was changed": (
        lambda root: (root / "archive/2026-03.json").write_text("{}"),
        "archive/2026-03.json",
        "written again from its archive",
    ),
    "a bit of the catalog": (lambda root: spoil(root / STATE / "catalog.db"), STATE, "rebuilt"),
    "a bit of the words": (lambda root: spoil(only(root / STATE / "words", "*.store")), STATE, "word"),
    "a bit of the vectors": (lambda root: spoil(only(root / STATE / "vectors", "*")), STATE, "vectors"),
    "an unpacked file": (
        lambda root: spoil(only(root / STATE / "unpacked", "*")),
        f"{STATE}/unpacked/",
        "deleted",
    ),
    "no index": (lambda root: (root / STATE / "catalog.db").unlink(), STATE, "built"),
}


def mend(vault: Vault) -> tuple[Mended, ...]:
    with Memory.open(vault.root, embedder="hashing", background=False) as memory:
        done = repair(memory.vault, memory.index)
        memory.index.embed()
        return done


def owners(vault: Vault) -> dict[str, bytes]:
    """Every file that is not derived."""
    found = (path for path in vault.root.rglob("*") if path.is_file())
    return {
        str(path.relative_to(vault.root)): path.read_bytes()
        for path in found
        if STATE not in path.parts and not (path.parent.name == "archive" and path.suffix in (".md", ".json"))
    }


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGE)
def test_what_is_derived_is_made_again_and_named(damage: str, own_vault: Vault) -> None:
    with Memory.open(own_vault.root, embedder="hashing", background=False) as memory:
        assert memory.vault.read(f"{MARCH}/sessions/2026-W10/first.md", keep=True).records
    assert not check(own_vault).damaged
    before = owners(own_vault)
    spoiled, path, said = DAMAGE[damage]
    spoiled(own_vault.root)
    assert damage == "no index" or check(own_vault).damaged or check(own_vault).problems
    done = mend(own_vault)
    assert any(one.path.startswith(path) and said in one.what for one in done), done
    checked = check(own_vault)
    assert not checked.damaged and not checked.problems and not checked.pending
    assert owners(own_vault) == before
    assert mend(own_vault) == ()


def test_a_damaged_archive_is_its_owners_and_stays(own_vault: Vault) -> None:
    archive = own_vault.root / MARCH
    spoil(archive)
    held = archive.read_bytes()
    mend(own_vault)
    assert archive.read_bytes() == held
    assert any(problem.path == MARCH for problem in check(own_vault).damaged)

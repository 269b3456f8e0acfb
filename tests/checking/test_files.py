"""A check finds what is wrong, names it with a remedy that works, and changes nothing.

Each test changes something in a vault, and puts it back or has one of its own.
"""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from huimem import Memory, checking, overview
from huimem.checking import Checked
from huimem.months import Archived
from huimem.repairing import repair
from huimem.vault.vault import Vault
from tests.checking.checked import MARCH, NOW, TEAM, Change, check, flipped, holding, tell, told

# Nothing is wrong.


@pytest.mark.parametrize("read_data", [False, True])
def test_a_whole_vault_is_clean(read_data: bool, vault: Vault) -> None:
    assert check(vault, read_data=read_data) == Checked(2, 3, 4, 6, 0)


def everything(root: Path) -> dict[str, tuple[int, bytes]]:
    """Every file with its time, the state folder's too, but for what readers and writers agree by."""
    found = {}
    for path in sorted(root.rglob("*")):
        if path.is_file() and not path.name.endswith(("-shm", ".lock")):
            data = path.read_bytes()
            if data or not path.name.endswith("-wal"):
                found[str(path)] = path.stat().st_mtime_ns, data
    return found


@pytest.mark.parametrize("damaged", [False, True])
def test_a_check_changes_nothing(damaged: bool, own_vault: Vault) -> None:
    if damaged:
        for pattern in ("archive/*.zst", ".huimem/words/*.idx", ".huimem/vectors/*", ".huimem/catalog.db"):
            victim = next(own_vault.root.glob(pattern))
            victim.write_bytes(flipped(victim.read_bytes(), victim.stat().st_size // 2))
    before = everything(own_vault.root)
    assert bool(check(own_vault).damaged) == damaged
    assert everything(own_vault.root) == before


@pytest.mark.slow
def test_an_index_that_has_seen_much_is_clean(own_vault: Vault) -> None:
    """Edits, moves, a deletion, another packing: what is checked follows each of them."""
    root = own_vault.root
    with Memory.open(root, embedder="hashing", background=False) as memory:
        tell(memory, "late", "2026-08-31")
        tell(memory, "gone", "2026-07-01")
        memory.sync()
        garden = root / "facts/garden.md"
        garden.write_text(garden.read_text(encoding="utf-8").replace("Roses", "Tulips"), encoding="utf-8")
        next(root.glob("sessions/*/gone.md")).unlink()
        late = next(root.glob("sessions/*/late.md"))
        late.rename(root / "moved.md")
        memory.sync(vectors=False)
        assert check(own_vault).damaged == ()
        memory.unarchive("2026-04")
        memory.sync()
        tell(memory, "first", "2026-06-01")
        memory.archive(now=NOW, keep=0)
        memory.sync()
    assert check(own_vault) == Checked(2, 3, 4, 6, 0)


def test_a_vault_without_an_index_has_none(tmp_path: Path) -> None:
    vault = Vault.create(tmp_path / "vault", tz="UTC")
    assert check(vault) == Checked(0, 0, 0, None, 0)
    assert not vault.state.exists()


def test_what_the_index_does_not_know_yet_is_no_fault(own_vault: Vault) -> None:
    (own_vault.root / "new.md").write_text("A note.\n", encoding="utf-8")
    next(own_vault.root.glob("sessions/*/late.md")).unlink()
    found = check(own_vault)
    assert (found.pending, told(found)) == (2, set())


def test_an_index_of_another_place_is_none(own_vault: Vault, tmp_path: Path) -> None:
    """A copy of a vault brings an index along that the next command replaces."""
    shutil.copytree(own_vault.root, tmp_path / "copy")
    found = checking.check(Vault.open(tmp_path / "copy", own_vault.config), read_data=True)
    assert (found.indexed, told(found)) == (None, set())


# Archives.

# What becomes of which file; what is found, and whether that is damage; whether it takes --read-data.
ARCHIVES: list[tuple[str, str, Change, set[tuple[str, bool]], bool]] = [
    ("one bit of the guide", MARCH, lambda data: flipped(data, 20), {(MARCH, True)}, False),
    ("one bit of the manifest", MARCH, lambda data: flipped(data, 200), {(MARCH, True)}, False),
    ("one bit of a file", MARCH, lambda data: flipped(data, len(data) - 200), {(MARCH, True)}, True),
    ("cut off", MARCH, lambda data: data[:-1], {(MARCH, True)}, False),
    ("emptied", MARCH, lambda data: b"", {(MARCH, True)}, False),
    ("something added", TEAM, lambda data: data + b"\0", {(TEAM, True)}, False),
    ("gone", MARCH, lambda data: None, {(MARCH, True), ("facts/garden.md", False)}, False),
    (
        "no copy of the manifest",
        "archive/2026-03.json",
        lambda data: None,
        {("archive/2026-03.json", False)},
        False,
    ),
    (
        "another manifest",
        "archive/2026-03.json",
        lambda data: data + b" ",
        {("archive/2026-03.json", False)},
        False,
    ),
    ("no list", "archive/2026-03.md", lambda data: None, {("archive/2026-03.md", False)}, False),
    (
        "another list",
        "archive/2026-03.md",
        lambda data: data + b"- mine\n",
        {("archive/2026-03.md", False)},
        False,
    ),
]


@pytest.mark.parametrize(
    ("path", "change", "found", "deep"), [row[1:] for row in ARCHIVES], ids=[row[0] for row in ARCHIVES]
)
def test_what_is_wrong_with_an_archive_is_found(
    path: str, change: Change, found: set[tuple[str, bool]], deep: bool, vault: Vault
) -> None:
    with holding(vault.root / path, change((vault.root / path).read_bytes())):
        assert told(check(vault)) == found
        assert told(check(vault, read_data=False)) == (set() if deep else found)
    assert told(check(vault)) == set()


def test_of_a_damaged_archive_it_is_told_how_much_of_it_is_left(vault: Vault) -> None:
    path = vault.root / MARCH
    with holding(path, flipped(path.read_bytes(), path.stat().st_size - 200)):
        (damage,) = check(vault).damaged
    assert damage.message.endswith("0 of 2 files in it can still be read")


def test_every_flip_of_an_archive_is_found(vault: Vault) -> None:
    path, chance = vault.root / MARCH, random.Random(7)
    data = path.read_bytes()
    for at in chance.sample(range(len(data)), 60):
        with holding(path, flipped(data, at, chance.randrange(8)), keep_time=True):
            assert (MARCH, True) in told(check(vault)), at


def test_the_archive_of_another_month_is_none(vault: Vault) -> None:
    with holding(vault.root / MARCH, (vault.root / "archive/2026-04.tar.zst").read_bytes()):
        (damage,) = check(vault).damaged
    assert damage.path == MARCH and "it is the archive of 2026-04" in damage.message


def test_an_archive_whose_files_were_all_unpacked_by_hand_is_no_loss(own_vault: Vault) -> None:
    """Its manifest and its list lie about, and nothing else is wrong."""
    with Memory.open(own_vault.root, embedder="none") as memory:
        copies = {path: path.read_bytes() for path in own_vault.root.glob("archive/2026-04.[jm]*")}
        memory.unarchive("2026-04")
        for path, data in copies.items():
            path.write_bytes(data)
    assert told(check(own_vault)) == {("archive/2026-04.json", False)}
    (own_vault.root / "archive/2026-04.json").unlink()
    assert told(check(own_vault)) == {("archive/2026-04.md", False)}
    next(own_vault.root.glob("sessions/*/spring.md")).unlink()
    (own_vault.root / "archive/2026-04.json").write_bytes(copies[own_vault.root / "archive/2026-04.json"])
    assert told(check(own_vault)) == {("archive/2026-04.tar.zst", True)}


# A name in an archive's folder; what is in it: an archive, a list, or something of others.
NAMES = [
    ("2026-03.sync-conflict-20260901-120000-ABCDEFG.tar.zst", MARCH, "sync program"),
    ("2026-03 (conflicted copy 2026-09-01).tar.zst", MARCH, "sync program"),
    ("old.tar.zst", MARCH, "without the name of a month"),
    ("2026-13.tar.zst", MARCH, "without the name of a month"),
    ("backup.tar.zst", None, ""),
    ("2025-01.json", None, ""),
    ("2025-01.md", None, ""),
    ("notes.txt", None, ""),
]


@pytest.mark.parametrize(("name", "of", "said"), NAMES)
def test_what_lies_beside_archives(name: str, of: str | None, said: str, vault: Vault) -> None:
    """Ours is told of; what others keep there is none of our business."""
    data = (vault.root / of).read_bytes() if of else b"# 2025-01\n\nmine\n"
    with holding(vault.root / "archive" / name, data):
        found = check(vault)
    assert [problem.path for problem in found.problems] == ([f"archive/{name}"] if said else [])
    assert all(said in problem.message for problem in found.problems) and not found.damaged


def test_the_remedy_for_what_lies_beside_an_archive_works(own_vault: Vault) -> None:
    (own_vault.root / "namespaces/team/archive/2026-03.md").write_text("mine\n", encoding="utf-8")
    (problem,) = check(own_vault).problems
    assert problem.remedy == "huimem doctor --fix writes it again."
    with Memory.open(own_vault.root, embedder="hashing") as memory:
        (mended,) = repair(memory.vault, memory.index)
    assert mended.path == problem.path
    assert told(check(own_vault)) == set()


def test_a_month_that_is_just_being_packed_is_looked_at_once_more(
    own_vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = own_vault.root / "archive/2026-03.json"
    data = path.read_bytes()
    path.unlink()
    monkeypatch.setattr(checking.time, "sleep", lambda seconds: path.write_bytes(data))
    assert told(check(own_vault)) == set()


# Files.


def copied(vault: Vault, name: str, change: Change) -> Path:
    """A packed session as it was, changed, where it lay."""
    place = Archived("", "2026-03", f"sessions/{name}")
    data = change(vault.archives.read(place)[0])
    path = vault.root / place.original
    path.parent.mkdir(exist_ok=True)
    assert data is not None
    path.write_bytes(data)
    return path


def test_a_session_that_is_packed_and_stands_open_with_another_text_is_told(own_vault: Vault) -> None:
    path = copied(own_vault, "2026-W10/first.md", lambda data: data.replace(b"By the door", b"By the gate"))
    (problem,) = check(own_vault).problems
    assert problem.path == str(path.relative_to(own_vault.root))
    assert f"{MARCH}/sessions/2026-W10/first.md" in problem.message
    assert "huimem unarchive 2026-03 brings" in problem.remedy
    path.write_bytes(path.read_bytes().replace(b"By the gate", b"By the door"))
    assert told(check(own_vault)) == set(), "it is being packed, or was put back by hand"


def test_a_session_that_is_packed_twice_is_told(own_vault: Vault) -> None:
    copied(own_vault, "2026-W10/first.md", lambda data: data.replace(b"By the door", b"By the gate"))
    with Memory.open(own_vault.root, embedder="none") as memory:
        memory.archive(now=NOW)
    (problem,) = check(own_vault).problems
    assert problem.path.startswith(f"{MARCH}/sessions/2026-W10/first") and "same id" in problem.message


def test_facts_may_cite_what_is_packed(own_vault: Vault) -> None:
    """Nothing is told of them until they cite what is nowhere; doctor agrees."""
    garden = own_vault.root / "facts/garden.md"
    with Memory.open(own_vault.root, embedder="none") as memory:
        assert overview.problems(memory) == ()
        text = garden.read_text(encoding="utf-8").replace("first#20260302", "first#20260303")
        garden.write_text(text, encoding="utf-8")
        (said,) = overview.problems(memory)
    assert check(own_vault).problems == (said,) and "first#20260303T100000" in said.message


def test_doctor_tells_of_an_archive_that_cannot_be_read(own_vault: Vault) -> None:
    (own_vault.root / TEAM).write_bytes(b"nothing of ours")
    with Memory.open(own_vault.root, embedder="none") as memory:
        said = overview.problems(memory)
        status = overview.status(memory)
    assert TEAM in [problem.path for problem in said]
    assert (status.packed, status.archives) == (3, 3)


FAULTS = [
    ("sessions/2026-W35/late.sync-conflict-20260901-120000-ABCDEFG.md", b"## User\n\nhi\n", "sync program"),
    ("sessions/2026-W35/zeros.md", bytes(400), "NUL"),
    (
        "sessions/2026-W35/twin.md",
        b"---\nid: late\n---\n\n## User \xc2\xb7 2026-08-30 10:00:00\n\nhi\n",
        "same id",
    ),
]


@pytest.mark.parametrize(("path", "data", "said"), FAULTS)
def test_faults_of_open_files_are_told(path: str, data: bytes, said: str, vault: Vault) -> None:
    with holding(vault.root / path, data):
        found = check(vault)
    assert [problem.path for problem in found.problems] == [path] and not found.damaged
    assert said in found.problems[0].message

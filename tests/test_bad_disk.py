"""A disk that refuses, a state folder that is not as it was left: said, survived, no file of the user's lost.

In: a small vault whose one good note speaks of a marigold, and what is done to the files around it. Out:
what the command line prints, with which exit code.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from tests.processes import no_file_beyond, obeying_modes, on_a_small_disk
from tests.trees import tree

Huimem = Callable[..., tuple[int, str, str]]
ROOT = Path(__file__).parent.parent
GOOD = "## User · 2026-04-06 09:00:00\n\nThe marigold is by the door.\n"
LARKSPUR = "## User · 2026-04-06 10:00:00\n\nlarkspur\n"
MISSING = "there was no index: built from {}"


@pytest.fixture
def vault(marigold_vault: Path) -> Path:
    return marigold_vault


# Modes, obeyed.


@pytest.fixture
def obedient(vault: Path, huimem: Huimem) -> Iterator[Huimem]:
    """Carries out command lines as somebody who may do no more than modes say."""
    vault.parent.joinpath("cache").mkdir()

    def carry_out(*words: str) -> tuple[int, str, str]:
        with obeying_modes():
            return huimem(*words)

    yield carry_out
    for folder, _, names in os.walk(vault):
        for path in (Path(folder), *(Path(folder, name) for name in names)):
            path.chmod(0o700)


def test_an_unreadable_file_is_named_in_every_answer_it_may_miss(vault: Path, obedient: Huimem) -> None:
    assert obedient("sync")[0] == 0
    bad = vault / "sessions/bad.md"
    bad.write_text(LARKSPUR, encoding="utf-8")
    bad.chmod(0)
    why = "sessions/bad.md: cannot be read: Permission denied – No permission: check the owner"

    code, out, err = obedient("recall", "marigold")
    assert code == 0 and "sessions/good.md:3" in out and "1 file not in the index yet" in out
    assert err.startswith(f"warning: {why}")
    code, out, _ = obedient("recall", "larkspur", "--json")
    answer = json.loads(out)
    assert code == 1 and answer["hits"] == []
    assert answer["index"]["fresh"] is False and answer["index"]["pending"] == 1
    assert [line[: len(why)] for line in answer["warnings"]] == [why]

    code, out, _ = obedient("doctor")
    assert code == 1 and "fail  sessions/bad.md  cannot be read: Permission denied" in out
    assert "→ No permission: check the owner and mode" in out
    assert "1 file behind" in obedient("status")[1]
    for words in (("show", "sessions/bad.md:1"), ("fmt", "sessions/bad.md")):
        code, _, err = obedient(*words)
        assert code == 3 and "bad.md cannot be read: Permission denied" in err
    code, _, err = obedient("show", "sessions%2Fbad#20260406T100000")
    assert code == 1 and "in the files that can be read" in err and "bad.md cannot be read" in err

    bad.chmod(0o600)
    assert obedient("recall", "larkspur")[0] == 0


def test_a_folder_that_became_unreadable_is_not_taken_for_deleted(vault: Path, obedient: Huimem) -> None:
    (vault / "more").mkdir()
    (vault / "more/note.md").write_text("# Larkspur\n\nlarkspur\n", encoding="utf-8")
    assert obedient("recall", "larkspur")[0] == 0
    (vault / "more").chmod(0)
    code, _, err = obedient("recall", "marigold")
    assert code == 0 and err.startswith("warning: more/: cannot be read: Permission denied – Check its owner")
    assert "more/note.md" in obedient("list")[1]
    code, _, err = obedient("show", "more%2Fnote#preface")
    assert code == 3 and "more/note.md cannot be read: Permission denied" in err
    (vault / "more").chmod(0o700)
    assert obedient("recall", "larkspur")[0] == 0


def test_a_read_only_vault_answers_from_a_state_folder_of_its_own(
    vault: Path, obedient: Huimem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(vault.parent / "cache"))
    before = tree(vault)
    for path in [*vault.rglob("*"), vault]:
        path.chmod(0o500 if path.is_dir() else 0o400)
    code, out, err = obedient("recall", "marigold")
    assert (code, err) == (0, f"warning: {MISSING.format('1 file')}\n") and "good.md:3" in out
    state = json.loads(obedient("status", "--json")[1])["state"]
    assert not Path(state).is_relative_to(vault) and (Path(state) / "catalog.db").is_file()
    for words in (("record", "--role", "user"), ("init", "."), ("init", "below")):
        code, _, err = obedient(*words)
        assert code == 3 and "cannot be written: Permission denied\nhint: No permission: check" in err
    assert tree(vault) == before


# A disk that takes no more.

WRITES = [
    ("record", "--session", "s", "--role", "user", "--at", "2026-04-06T11:00"),
    ("record", "--session", "good", "--role", "user", "--at", "2026-04-06T11:00"),
    ("fmt", "sessions/short.md"),
]


@pytest.mark.parametrize("words", WRITES, ids=lambda words: " ".join(words[:3]))
def test_a_write_that_the_disk_refuses_leaves_what_was_there(
    words: tuple[str, ...], vault: Path, huimem: Huimem
) -> None:
    much = "word " * 40_000
    (vault / "sessions/good.md").write_text(f"---\nid: good\n---\n\n{GOOD}", encoding="utf-8")
    (vault / "sessions/short.md").write_text(f"## User 2026-04-06 10:00\n\n{much}", encoding="utf-8")
    assert huimem("status")[0] == 0
    before = tree(vault)
    with no_file_beyond(100_000):
        code, out, err = huimem(*words, given=much)
    assert (code, out) == (3, "")
    assert ".md cannot be written: File too large\nhint: The file would pass the size limit" in err
    assert tree(vault) == before  # no temp file either
    assert huimem(*words, given=much)[0] == 0


def refuse_all_writes(state: Path) -> AbstractContextManager[None]:
    return no_file_beyond(4096)


def modes(name: str, mode: int) -> Callable[[Path], AbstractContextManager[None]]:
    """Something in the state folder has a mode that allows too little, and modes are obeyed."""

    @contextmanager
    def refuse(state: Path) -> Iterator[None]:
        (state / name).chmod(mode)
        with obeying_modes():
            yield
        (state / name).chmod(0o700)

    return refuse


# How the index cannot be written; the file that is named, the system's word and the remedy. It is said after
# the answer, which is read from the file itself.
REFUSALS = {
    "no file may grow": (refuse_all_writes, "catalog.db cannot be written: File too large – The file"),
    "catalog": (
        modes("catalog.db", 0o400),
        "catalog.db cannot be written: Permission denied – No perm",
    ),
    "words": (
        modes("words", 0o500),
        "words cannot be written: Permission denied – No permission: check",
    ),
    "vectors": (modes("vectors", 0o500), "faiss cannot be written: Permission denied – No permission"),
    "cache": (
        modes("embeddings.db", 0o400),
        "embeddings.db cannot be written: Permission denied – No",
    ),
    "lock": (
        modes("index.lock", 0o400),
        "index.lock cannot be made: Permission denied – The state fol",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", REFUSALS)
def test_an_index_that_cannot_be_written_still_answers(
    case: str, vault: Path, huimem: Huimem, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse, says = REFUSALS[case]
    monkeypatch.setenv("HUIMEM_EMBEDDER", "hashing")
    assert huimem("sync")[0] == 0
    (vault / "sessions/late.md").write_text(LARKSPUR, encoding="utf-8")
    before = tree(vault)
    with refuse(vault / ".huimem"):
        for word, place in (("marigold", "sessions/good.md:3"), ("larkspur", "sessions/late.md:3")):
            code, out, err = huimem(
                "recall", word
            )  # a write that failed leaves the index as usable as it was
            assert code == 0 and place in out and says in err, err
            assert err.startswith("warning: ") and str(vault) in err and err.count("\n") == 1
        answer = json.loads(huimem("recall", "marigold", "--json")[1])
        assert (answer["index"]["pending"], answer["index"]["fresh"]) == (0, True)
        assert answer["warnings"] == []  # it has seen everything
        code, out, err = huimem("sync")
        assert code == 3 and says.replace(" – ", "\nhint: ") in err
    assert tree(vault) == before
    code, out, err = huimem("recall", "larkspur")
    assert (code, err) == (0, "") and "sessions/late.md:3" in out and "index fresh" in out
    assert "vectors   2 of 2" in huimem("status")[1]


FULL_LATER = """
set -e
mkdir notes && printf 'The marigold is by the door.' > notes/good.md && touch huimem.toml
"$@" sync -q
printf 'larkspur' > notes/late.md
head -c 100m /dev/zero > filler 2>/dev/null || true
"$@" recall marigold || echo "[$?]"
"$@" recall larkspur || echo "[$?]"
"$@" sync || echo "[$?]"
rm filler
"$@" recall larkspur -q || echo "[$?]"
"""


@pytest.mark.slow
def test_a_disk_that_fills_up_later_leaves_what_is_indexed(vault: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = on_a_small_disk(vault, FULL_LATER, [sys.executable, "-m", "huimem"], env)
    if done is None:
        pytest.skip("this system gives nobody a small disk of their own")
    marks = [done.stdout.index(mark) for mark in ("notes/good.md:1", "notes/late.md:1", "[3]")]
    assert marks == sorted(marks) and done.stdout.count("1 hit · index fresh") == 2
    assert done.stdout.rindex("notes/late.md:1") > marks[-1] and done.stdout.count("[") == 1
    why = "cannot be written: No space left on device"
    assert f"{why} – The disk is full: free some space" in done.stderr
    assert f"{why}\nhint: The disk is full: free some space" in done.stderr


FULL = """
set -e
mkdir notes && printf 'The marigold is by the door.' > notes/good.md && touch huimem.toml
head -c 100m /dev/zero > filler 2>/dev/null || true
"$@" recall marigold || echo "[$?]"
echo 'some words' | "$@" record --role user --session s || echo "[$?]"
rm filler
"$@" recall marigold -q || echo "[$?]"
find . -name '*.md' -exec cat {} +
"""


@pytest.mark.slow
def test_a_full_disk_is_said_and_forgotten_once_there_is_room(vault: Path) -> None:
    done = on_a_small_disk(
        vault, FULL, [sys.executable, "-m", "huimem"], {**os.environ, "PYTHONPATH": str(ROOT)}
    )
    if done is None:
        pytest.skip("this system gives nobody a small disk of their own")
    out = done.stdout + done.stderr
    assert out.count("cannot be written: No space left on device") == 2
    assert out.count("hint: The disk is full: free some space and try again.") == 2
    assert done.stdout.count("[3]") == 2 and "notes/good.md:1" in done.stdout
    assert done.stdout.endswith("The marigold is by the door.")  # and no half session


# The state folder.


def scribble(state: Path) -> None:
    for path in state.rglob("*"):
        if path.is_file():
            path.write_bytes(b"scribbled")


BEGUN_ANEW = "the index is rebuilt from the files"
DAMAGE = [
    ("its catalog deleted", lambda state: (state / "catalog.db").unlink(), BEGUN_ANEW),
    ("its catalog scribbled", lambda state: (state / "catalog.db").write_bytes(b"x"), BEGUN_ANEW),
    ("all of it scribbled", scribble, BEGUN_ANEW),
    ("its words deleted", lambda state: shutil.rmtree(state / "words"), "the word index was damaged"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("damage", "says"), [row[1:] for row in DAMAGE], ids=[row[0] for row in DAMAGE])
def test_a_damaged_state_folder_rebuilds_itself_and_says_so(
    damage: Callable[[Path], object], says: str, vault: Path, huimem: Huimem
) -> None:
    _, answer, _ = huimem("recall", "marigold")
    before = tree(vault)
    damage(vault / ".huimem")
    code, out, err = huimem("recall", "marigold")
    assert (code, out) == (0, answer) and err.startswith(f"warning: {says}")
    assert huimem("recall", "marigold")[2] == ""  # said once
    damage(vault / ".huimem")
    assert says in str(json.loads(huimem("recall", "marigold", "--json")[1])["warnings"])
    assert tree(vault) == before


def test_a_deleted_state_folder_comes_back(vault: Path, huimem: Huimem) -> None:
    (vault / "sessions/more.md").write_text(LARKSPUR, encoding="utf-8")
    said = f"warning: {MISSING.format('2 files')}\n"
    for words in (("recall", "marigold"), ("sync",)):
        code, answer, _ = huimem("recall", "marigold")
        shutil.rmtree(vault / ".huimem")
        assert huimem(*words)[2] == said
        assert huimem("recall", "marigold") == (code, answer, "")  # said once
        shutil.rmtree(vault / ".huimem")
        assert MISSING.format("2 files") in huimem(*words, "--json")[1]


def test_a_new_vault_misses_no_index(tmp_path: Path, huimem: Huimem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUIMEM_EMBEDDER", "none")
    monkeypatch.chdir(tmp_path)
    assert huimem("init", ".")[0] == 0
    assert huimem("record", "--role", "user", "--title", "Hello", given="hello")[0] == 0
    code, _, err = huimem("recall", "hello")
    assert (code, err) == (0, "")


WRONG_KINDS = ["catalog.db", "seal.json", "index.lock", "words", "vectors", "embeddings.db"]


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG_KINDS)
def test_what_is_of_the_wrong_kind_in_the_state_folder_is_made_anew(
    name: str, vault: Path, huimem: Huimem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HUIMEM_EMBEDDER", "hashing")
    huimem("sync")
    answer = huimem("recall", "marigold")[1]
    place = vault / ".huimem" / name
    if place.is_dir():
        shutil.rmtree(place)
        place.write_bytes(b"no folder")
    else:
        place.unlink()
        (place / "below").mkdir(parents=True)
    code, out, err = huimem("recall", "marigold")
    assert code == 0 and "sessions/good.md:3" in out
    assert err.startswith(f"warning: {name} in the state folder was no ")
    assert huimem("recall", "marigold") == (0, answer, "")


ODD_STATE = [
    ("a file", lambda state: state.write_bytes(b""), "is a file, not a folder", "Move it away"),
    ("a symlink", lambda state: state.symlink_to("/etc"), "is a symlink", "Remove it"),
]


@pytest.mark.parametrize(("make", "says", "remedy"), [row[1:] for row in ODD_STATE], ids=["file", "symlink"])
def test_a_state_folder_that_is_none_is_refused(
    make: Callable[[Path], object], says: str, remedy: str, vault: Path, huimem: Huimem
) -> None:
    make(vault / ".huimem")
    before = tree(vault)
    code, _, err = huimem("recall", "marigold")
    assert code == 3 and says in err and remedy in err
    assert tree(vault) == before

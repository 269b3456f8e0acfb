"""Group F of the faults: state that lies, front matter of any kind, sessions with one id."""

from __future__ import annotations

import os
import pickle
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from huimem import Memory, checking
from huimem.config import load
from huimem.index.embedding import said
from huimem.records import Message
from huimem.vault.front import set_field, split_front
from huimem.vault.vault import Vault
from tests.index.made import ALL, EMBEDDER, Files, edited, healed, opened, state, vault
from tests.trees import tree
from tests.vault.samples import HELLO, NOW, put

Huimem = Callable[..., tuple[int, str, str]]

# State of other bytes, or of another moment.


@pytest.fixture(scope="module")
def generations(
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, tuple[Path, Files, tuple[object, ...]]]:
    """Two states of one index, each with its files and what it answers: before an edit, and after."""
    above = tmp_path_factory.mktemp("generations")
    index, _ = healed(above / "before", vault())
    before = above / "before", vault(), state(index)
    index.close()
    shutil.copytree(above / "before", above / "after")
    index, _ = healed(above / "after", edited())
    after = above / "after", edited(), state(index)
    index.close()
    return {"before": before, "after": after}


@pytest.mark.parametrize("place", [0.02, 0.6])
def test_a_flipped_bit_that_changed_no_time_is_found_by_a_full_sync(
    place: float, generations: dict[str, tuple[Path, Files, tuple[object, ...]]], tmp_path: Path
) -> None:
    """F9: the checksum of a vector file finds what FAISS loads without a word; the vectors are made again."""
    folder, files, answered = generations["before"]
    shutil.copytree(folder, tmp_path / "state")
    victim = sorted((tmp_path / "state/vectors").glob("*.faiss"))[0]
    was, data = victim.stat(), bytearray(victim.read_bytes())
    data[int(len(data) * place)] ^= 0x04
    with open(victim, "r+b") as file:
        file.write(data)
    os.utime(victim, ns=(was.st_atime_ns, was.st_mtime_ns))
    index = opened(tmp_path / "state")
    (warning,) = files.sync(index, full=True).warnings
    assert warning.startswith("1 vector files were damaged")
    assert index.embed().pending == 0 and state(index) == answered
    index.close()


FLOWERS = ("marigold", "tulip", "aster")


@pytest.fixture(scope="module")
def garden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault of three sessions, indexed with vectors."""
    root = tmp_path_factory.mktemp("garden") / "vault"
    Memory.create(root, tz="UTC").close()
    with Memory.open(root, embedder="hashing", background=False) as memory:
        for flower in FLOWERS:
            memory.record([{"role": "user", "content": f"The {flower} blooms by the door."}], session=flower)
        memory.sync()
    return root


# A file of each sort, by place and by what is flipped there: shares of its length.
ROTTEN = [
    (part, place)
    for part in ("catalog.db", "embeddings.db", "words/meta.json", "words/*.idx", "words/*.term", "vectors/*")
    for place in (0.0, 0.3, 0.97)
]


@pytest.mark.slow
@pytest.mark.parametrize(("part", "place"), ROTTEN)
def test_the_first_answer_of_a_memory_comes_from_no_rotten_file(
    part: str, place: float, garden: Path, tmp_path: Path
) -> None:
    """F9: what a disk changed while nobody had the index open is mended first, and the answer says so."""
    root = tmp_path / "vault"
    shutil.copytree(garden, root)
    with Memory.open(root, embedder="hashing", background=False) as memory:  # at home in its new place
        memory.sync()
    victim = sorted((root / ".huimem").glob(part))[0]
    was, data = victim.stat(), bytearray(victim.read_bytes())
    data[int(len(data) * place)] ^= 0x04
    victim.write_bytes(data)
    os.utime(victim, ns=(was.st_atime_ns, was.st_mtime_ns))
    with Memory.open(root, embedder="hashing") as memory:
        first = memory.recall("marigold")
        assert [hit.ref.session for hit in first.hits][:1] == ["marigold"]
        assert any("damaged" in line or "the disk has changed" in line for line in first.warnings)
        memory.linger(10)
        assert memory.recall("tulip").warnings == () and memory.index.coverage() == (3, 3)
        assert checking.check(memory.vault, read_data=True).damaged == ()


QUESTION = EMBEDDER.embed(["apple number3"])[0]
PARTS = ("catalog.db", "words", "vectors", "seal.json", "embeddings.db")
# Where it is said, too: newer vectors beside an older catalog are only too many.
LOST = {(of, part) for of in ("before", "after") for part in PARTS[:4]} - {("after", "vectors")}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("of", ["before", "after"])
def test_parts_of_two_generations_are_never_taken_for_one(
    part: str, of: str, generations: dict[str, tuple[Path, Files, tuple[object, ...]]], tmp_path: Path
) -> None:
    """F11: a part that was put back from a backup: no answer mixes, and in the end all is as from scratch."""
    other = generations[of][0]
    folder, files, answered = generations["after" if of == "before" else "before"]
    shutil.copytree(folder, tmp_path / "state")
    for name in (part, f"{part}-wal", f"{part}-shm"):
        place = tmp_path / "state" / name
        shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
        if (other / name).exists():
            copy = shutil.copytree if (other / name).is_dir() else shutil.copy2
            copy(other / name, place)
    index = opened(tmp_path / "state")
    with index.snapshot() as snapshot:
        rows = set(snapshot.rows(ALL).tolist())
        assert set(snapshot.find(["appl"], ALL).tolist()) <= rows
        near, cosines = snapshot.nearest(QUESTION, ALL)
        assert set(near.tolist()) <= rows
        own = [said(snapshot.db, row) or "" for row in near.tolist()]
        right = EMBEDDER.embed(own) @ QUESTION if own else cosines
        assert cosines == pytest.approx(right, abs=2e-3), "each row has the vector of its own text"
    warnings = files.sync(index).warnings
    assert index.embed().pending == 0 and state(index) == answered
    assert bool(warnings) == ((of, part) in LOST)
    index.close()


class Bomb:
    """Whoever unpickles it makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return os.mkdir, (str(self.path),)


def test_nothing_in_the_state_folder_is_unpickled(
    marigold_vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F13: a vault of a stranger may bring a state folder along."""
    monkeypatch.setenv("HUIMEM_EMBEDDER", "hashing")
    with Memory.open(marigold_vault) as memory:
        memory.record([{"role": "user", "content": "The walrus waves."}], session="s")
        memory.sync()
    bomb = pickle.dumps(Bomb(tmp_path / "unpickled"))
    with pytest.raises(FileExistsError):  # it works
        (tmp_path / "unpickled").mkdir()
        pickle.loads(bomb)
    (tmp_path / "unpickled").rmdir()
    for path in [*(marigold_vault / ".huimem").rglob("*")]:
        if path.is_file():
            path.write_bytes(bomb)
    for name in ("index.pkl", "words/meta.pkl", "vectors/old.faiss", "vectors/meta.npy", "watch.json"):
        (marigold_vault / ".huimem" / name).write_bytes(bomb)
    with Memory.open(marigold_vault) as memory:
        assert memory.recall("marigold").hits and memory.sync(full=True)
        memory.record([{"role": "user", "content": "The walrus dives."}], session="s")
        assert checking.problems(memory.vault) == ()
    assert not (tmp_path / "unpickled").exists()


# Front matter.

# Blocks that somebody may have written, and the line of what `doctor` says of each (0: nothing).
BLOCKS: dict[str, tuple[str, int]] = {
    "not closed": ("---\ntitle: x\n", 1),
    "empty": ("---\n---\n", 0),
    "a list": ("---\n- a\n- b\n---\n", 1),
    "a scalar": ("---\nwords\n---\n", 1),
    "a tab": ("---\na:\n\tb: c\n---\n", 3),
    "colons": ("---\ntitle: a: b\n---\n", 2),
    "a link": ("---\nup: [[link]]\n---\n", 0),
    "a star": ("---\nup: *x*\n---\n", 2),
    "a key twice": ("---\na: 1\na: 2\n---\n", 3),
    "a Python object": ("---\na: !!python/object/apply:os.mkdir ['unpickled']\n---\n", 2),
    "a tag": ("---\na: !own x\n---\n", 2),
    "a NUL": ("---\na: \0\n---\n", 1),
    "a date": ("---\ncreated: 2025-13-45\n---\n", 2),
    "aliases": ("---\na: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n---\n", 2),
    "nested deep": ("---\na: " + "[" * 500 + "\n---\n", 3),
    "a brace": ("---\n{a: b\n---\n", 3),
    "a quote": ("---\na: 'b\n---\n", 3),
    "a rule": ("---\n\nprose\n\n---\n", 1),
    "behind a BOM": ("\ufeff---\na: [\n---\n", 3),
    "with CRLF": ("---\r\na: [\r\n---\r\n", 3),
}


def test_front_matter_of_any_kind_costs_itself_and_nothing_else(
    marigold_vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F14: every file stays byte for byte, its body is found, `doctor` has file and line, others go on."""
    paths = {name: f"{name}.md" for name in BLOCKS}
    for number, (name, (block, _)) in enumerate(BLOCKS.items()):
        body = f"\n## User · 2026-04-06 09:00:{number:02}\n\nlarkspur number{number}\n"
        (marigold_vault / paths[name]).write_bytes((block + body).encode())
    before = tree(marigold_vault)
    with Memory.open(marigold_vault) as memory:
        assert [hit.path for hit in memory.recall("marigold").hits] == ["sessions/good.md"]
        assert {hit.path for hit in memory.recall("larkspur", limit=99).hits} == {*paths.values()}
        lines = {problem.path: problem.line for problem in checking.problems(memory.vault) if problem.remedy}
        assert {name: lines.get(path, 0) for name, path in paths.items()} == {
            name: line for name, (_, line) in BLOCKS.items()
        }
        for number, path in enumerate(paths.values()):
            session = path.removesuffix(".md")
            memory.record([{"role": "user", "content": f"more {number}"}], session=session)
    for path in paths.values():  # what was said later follows; the block is never rewritten
        assert tree(marigold_vault)[path] != before[path]
    for number, (name, (block, _)) in enumerate(BLOCKS.items()):
        assert (marigold_vault / paths[name]).read_bytes().startswith(block.encode()), number
    assert not (marigold_vault / "unpickled").exists()


REFUSED = [
    name for name, (_, line) in BLOCKS.items() if line and name not in ("a date", "not closed", "a rule")
]


@pytest.mark.parametrize("name", REFUSED)
def test_a_block_that_is_not_understood_is_never_changed(name: str) -> None:
    """F14, F19: a field is set in a block that can be read, and in no other."""
    block = BLOCKS[name][0].encode()
    front, _ = split_front(block + b"\nbody\n", "x.md")
    with pytest.raises(ValueError):
        set_field(front.raw or block, "a", "new")


# Ids.

COPIES = ("a copy.md", "sessions/2026-W15/s 2.md", "sessions/2026-W16/s.md")


def test_a_doubled_id_is_reported_and_what_is_recorded_goes_to_one_file_always(tmp_path: Path) -> None:
    """F20: no file is written over, and no process chooses another one than the one before it."""
    made = Vault.create(tmp_path / "vault", tz="Asia/Shanghai")
    made.record(HELLO, session="s", now=NOW)
    original = (made.root / "sessions/2026-W15/s.md").read_bytes()
    for path in COPIES:
        put(made, path, original)
    for number in range(3):
        more = Message("user", f"more {number}", NOW + timedelta(hours=number + 1))
        fresh = Vault.open(made.root, load(made.root))
        fresh.record([more], session="s", now=NOW)
    texts = {path: (made.root / path).read_bytes() for path in (*COPIES, "sessions/2026-W15/s.md")}
    (grown,) = [path for path, text in texts.items() if text != original]
    assert texts[grown].startswith(original) and texts[grown].count(b"more ") == 3
    told = [problem for problem in checking.problems(made) if "has the same id as" in problem.message]
    assert len(told) == 3 and all(problem.remedy for problem in told)


IDS = ["Talk", "talk", "TALK", "Tálk"]


def test_ids_that_differ_in_case_alone_are_sessions_of_their_own(tmp_path: Path) -> None:
    """F20: each is found again by its own id, by other processes too; a missing id is that of its path."""
    made = Vault.create(tmp_path / "vault", tz="UTC")
    refs = {id: made.record([Message("user", f"I am {id}", NOW)], session=id, now=NOW)[0] for id in IDS}
    put(made, "notes/no id.md", "## User · 2026-04-06 09:00:00\n\nI am nobody\n")
    fresh = Vault.open(made.root, load(made.root))
    for id, ref in refs.items():
        path, _, turn = fresh.find(ref)
        assert (ref.session, turn.messages[0].text) == (id, f"I am {id}")
        fresh.record([Message("user", "again", NOW + timedelta(hours=1))], session=id, now=NOW)
        assert len(made.session(path).messages) == 2
    assert len(made.scan().files) == len(IDS) + 1
    assert (
        fresh.record([Message("user", "again", NOW)], session="notes/no id", now=NOW)[0].session
        == "notes/no id"
    )


@pytest.mark.parametrize(
    ("block", "line"),
    [
        (b"---\nid: s\ntitle: caf\xe9\n---\n", 3),
        (b"---\r\ntitle: caf\xe9\r\nid: s\r\n---\r\n", 2),
        (b"\xef\xbb\xbf---\nid: s\nmine: [\xff, x]\n---\n", 3),
        ("---\nid: s\n# 草稿\n---\n".encode().replace("稿".encode(), b"\xe8\x8d"), 3),
    ],
)
def test_bytes_that_are_no_text_in_front_matter_are_named(
    block: bytes, line: int, marigold_vault: Path, huimem: Huimem
) -> None:
    """F14: with their line, and kept when the session grows."""
    place = marigold_vault / "odd.md"
    place.write_bytes(block + b"\n## User \xc2\xb7 2026-04-06 09:00:00\n\nThe larkspur.\n")
    code, out, _ = huimem("doctor")
    assert (
        code == 1 and f"fail  odd.md:{line}  not UTF-8 from here on: shown with U+FFFD, kept as it is" in out
    )
    assert "odd.md:" in huimem("recall", "larkspur")[1]
    with Memory.open(marigold_vault) as memory:
        memory.record([{"role": "user", "content": "More."}], session="s")
    assert place.read_bytes().startswith(block)

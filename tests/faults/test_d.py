"""Group D of the faults: a crash or a power cut at any step.

A process that is killed loses nothing of what the system has taken; a power cut loses what was not synced.
So what is synced, and when, is looked at here.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from huimem import Memory, checking, files
from huimem.vault.vault import Vault
from tests.cutting import cut_at, die_at
from tests.importers.exporting import Talk, bring, export, made_vault, talk
from tests.index.made import healed, opened, state, vault
from tests.processes import code_of, start
from tests.vault.samples import HELLO, NOW, PATH, everything, put

OLD, NEW = b"old\n", b"new\n"
Seen = list[tuple[int, object]]


@contextmanager
def synced(look: Callable[[], object]) -> Iterator[Seen]:
    """Inodes of what is synced meanwhile, each with what `look` sees at that moment."""
    seen: Seen = []
    sync = os.fsync

    def watched(descriptor: int) -> None:
        seen.append((os.fstat(descriptor).st_ino, look()))
        sync(descriptor)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", watched)
        yield seen


def content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


WRITES: dict[str, tuple[Callable[[Path], None], bytes | None, bytes | None]] = {
    "create": (lambda path: files.create(path, NEW), None, NEW),
    "replace": (lambda path: files.replace(path, NEW, OLD), OLD, NEW),
    "remove": (lambda path: files.remove(path), OLD, None),
}


@pytest.mark.parametrize("name", WRITES)
def test_bytes_are_on_the_disk_before_their_name_and_the_name_before_a_write_returns(
    name: str, tmp_path: Path
) -> None:
    """D14: after a power cut a name leads to old or new bytes, never to none or to NULs."""
    write, before, after = WRITES[name]
    path = tmp_path / "note.md"
    if before is not None:
        path.write_bytes(before)
    with synced(lambda: content(path)) as seen:
        write(path)
    assert content(path) == after
    if after is not None:
        assert (path.stat().st_ino, before) in seen, "the new bytes, while the old ones had the name"
    assert (tmp_path.stat().st_ino, after) in seen, "the folder, once the name leads to the new bytes"


def test_a_new_folder_is_on_the_disk_before_anything_is_put_into_it(tmp_path: Path) -> None:
    """D14: a power cut takes no folder away with the file that was acknowledged in it."""
    folder = tmp_path / "a/b"
    with synced(lambda: sorted(path.name for path in tmp_path.rglob("*"))) as seen:
        files.make_folder(folder)
    assert (tmp_path.stat().st_ino, ["a"]) in seen and (folder.parent.stat().st_ino, ["a", "b"]) in seen


SAID = ({"role": "user", "content": "The walrus waves.", "at": "2026-04-06T09:00:00"},)


def test_what_is_acknowledged_is_on_the_disk_with_every_folder_above_it(tmp_path: Path) -> None:
    """D4: `record` returns once the file would survive a power cut; its index may come later."""
    with Memory.create(tmp_path / "vault", tz="UTC") as memory:
        root = memory.vault.root
        for number in range(2):  # a new session, and one that grows
            with synced(lambda: content(next(root.rglob("s.md"), root))) as seen:
                memory.record(
                    [{**SAID[0], "at": f"2026-04-06T09:00:0{number}", "content": f"walrus {number}"}],
                    session="s",
                )
            (path,) = root.glob("sessions/*/s.md")
            inodes = [inode for inode, _ in seen]
            assert path.stat().st_ino in inodes
            assert (path.parent.stat().st_ino, path.read_bytes()) in seen
            assert number or {root.stat().st_ino, path.parent.parent.stat().st_ino} <= {*inodes}


def test_what_an_import_brought_is_on_the_disk(tmp_path: Path) -> None:
    """D4: the same of a whole import, new conversations and grown ones."""
    root = made_vault(tmp_path / "vault")
    said = Talk(talk("Hello", "Hi"))
    for talks in ([said], [said.grown("More")]):
        source = export(tmp_path / "c.json", "chatgpt", talks)
        with synced(lambda: None) as seen:
            bring(root, source)
        (path,) = root.glob("sessions/*/*.md")
        assert {path.stat().st_ino, path.parent.stat().st_ino} <= {inode for inode, _ in seen}


# What another program, or an older disk, may leave of a session after a power cut.
LEFT: dict[str, Callable[[bytes], bytes]] = {
    "NULs": lambda data: bytes(len(data)),
    "nothing": lambda data: b"",
}


@pytest.mark.parametrize("left", LEFT)
def test_a_session_of_which_nothing_was_left_is_named_and_not_written_over(
    left: str, vault_of_two: Vault
) -> None:
    """D14: it is no empty conversation: what was recorded is kept, `doctor` says so, others go on."""
    path = vault_of_two.root / "sessions/2026-W15/s.md"
    path.write_bytes(LEFT[left](path.read_bytes()))
    ruined = path.read_bytes()
    with Memory.open(vault_of_two.root, embedder="none") as memory:
        assert memory.recall("HNSW").hits == ()
        assert [hit.path for hit in memory.recall("larkspur").hits] == ["other.md"]
        said = [(problem.path, problem.message) for problem in checking.problems(memory.vault)]
        assert ("sessions/2026-W15/s.md", True) in [(at, "no longer in it" in words) for at, words in said]
        assert any("a NUL byte" in words for _, words in said) == (left == "NULs")
        memory.record([{"role": "user", "content": "a seal"}], session="s")
        assert path.read_bytes() == ruined and len(memory.recall("seal").hits) == 1
    (kept,) = (vault_of_two.state / "recovered").iterdir()
    assert "HNSW." in kept.read_text(encoding="utf-8")


@pytest.fixture
def vault_of_two(tmp_path: Path) -> Vault:
    """A session and a note."""
    made = Vault.create(tmp_path / "vault", tz="Asia/Shanghai")
    made.record(HELLO, session="s", now=NOW)
    put(made, "other.md", "The larkspur is blue.\n")
    return made


OLDER = '<user timestamp="2026-04-06 09:14:23">\nWhich index?\n</user>\n'


@pytest.mark.slow
def test_an_upgrade_of_a_file_killed_at_any_step_leaves_the_old_form_or_the_new(tmp_path: Path) -> None:
    """D11: both are read, and the next run completes it."""
    kinds: set[bytes] = set()
    for number in range(1, 100):
        made = Vault.create(tmp_path / f"vault{number}", tz="UTC")
        place = put(made, PATH, OLDER)

        def dying(made: Vault = made, number: int = number) -> None:
            die_at(number)
            made.fmt(PATH, upgrade=True)

        code = code_of(start(dying))
        kinds.add(place.read_bytes())
        assert [m.text for m in made.session(PATH).messages] == ["Which index?"]
        assert [*everything(made)] == ["huimem.toml", PATH] or any(
            files.leftover(path.name) for path in place.parent.iterdir()
        )
        made.fmt(PATH, upgrade=True)
        assert place.read_bytes().startswith(b"---\n")
        assert any(path.read_bytes() == OLDER.encode() for path in (made.state / "backups").iterdir())
        if code == 0:
            break
        assert code == 137
    assert len(kinds) == 2 and number > 8


@pytest.mark.slow
def test_an_index_of_another_version_is_rebuilt_though_that_is_cut_off_at_any_step(tmp_path: Path) -> None:
    """D11: derived data is not migrated but made anew from the files, however often that is begun."""
    index, _ = healed(tmp_path / "old", vault())
    answered = state(index)
    with index._writing(1.0) as db:
        db.execute("UPDATE meta SET value = '0' WHERE name = 'schema'")
    index.close()

    def rebuild(folder: Path) -> None:
        index = opened(folder)
        try:
            vault().sync(index)
            index.embed()
        finally:
            index.close()

    for step in range(1, 200, 3):
        folder = tmp_path / f"{step}"
        shutil.copytree(tmp_path / "old", folder)
        finished = cut_at(step, lambda folder=folder: rebuild(folder))  # type: ignore[misc]
        index, _ = healed(folder, vault())
        assert state(index) == answered, step
        index.close()
        if finished:
            break
    assert finished and step > 30

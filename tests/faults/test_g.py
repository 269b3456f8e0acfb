"""Group G of the faults: hostile and odd files, in every verb that could follow them out of the vault."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from huimem import Memory, checking
from huimem.errors import HuimemError
from huimem.records import Message
from huimem.vault.vault import Vault
from tests.trees import tree
from tests.vault.samples import HELLO, NOW, everything

Huimem = Callable[..., tuple[int, str, str]]
MORE = Message("user", "A foxglove?", NOW + timedelta(hours=1))
SESSION = "sessions/2026-W15/s.md"

# Bytes that are no UTF-8, in the place of a word of a session.
NO_TEXT = {
    "latin": b"caf\xe9",
    "a cut character": b"\xe4\xbd",
    "UTF-16": "HNSW".encode("utf-16"),
}


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    made = Vault.create(tmp_path / "vault", tz="Asia/Shanghai")
    made.record(HELLO, session="s", now=NOW)
    return made


@pytest.mark.parametrize("name", NO_TEXT)
def test_bytes_that_are_no_text_stay_when_a_session_grows_and_the_rest_is_found(
    name: str, vault: Vault
) -> None:
    """G6: indexed with a stand-in, never written back changed."""
    place = vault.root / SESSION
    edited = place.read_bytes().replace(b"HNSW.", b"HNSW " + NO_TEXT[name] + b" larkspur")
    place.write_bytes(edited)
    with Memory.open(vault.root, embedder="none") as memory:
        assert [hit.path for hit in memory.recall("larkspur").hits] == [SESSION]
        memory.record([MORE], session="s")
        assert "larkspur" in memory.recall("larkspur").hits[0].evidence
        assert "foxglove" in memory.recall("foxglove").hits[0].evidence
    assert place.read_bytes() == edited + "\n## User · 2026-04-06 10:14:23\n\nA foxglove?\n".encode()
    assert any("not UTF-8" in problem.message and problem.line for problem in checking.problems(vault))
    vault.fmt(SESSION)
    assert NO_TEXT[name] in place.read_bytes()


SECRET = "## User · 2026-04-06 09:00:00\n\nThe larkspur is secret.\n"


@pytest.fixture
def outside(vault: Vault) -> Path:
    """A folder beside the vault, to which its week of sessions has become a symlink."""
    folder = vault.root.parent / "outside"
    folder.mkdir()
    for name in ("s.md", "other.md"):
        (folder / name).write_text(f"---\nid: {name[:-3]}\n---\n\n{SECRET}", encoding="utf-8")
    week = vault.root / "sessions/2026-W15"
    week.rename(vault.root.parent / "the week")
    week.symlink_to(folder)
    return folder


# What is asked of the vault; what it answers may be a refusal.
VERBS: dict[str, Callable[[Memory], object]] = {
    "record to a session there": lambda memory: memory.record([MORE], session="s"),
    "record to another one there": lambda memory: memory.record([MORE], session="other"),
    "record a new session": lambda memory: memory.record(HELLO),
    "record to a new id": lambda memory: memory.record(HELLO, session="new"),
    "recall": lambda memory: memory.recall("larkspur"),
    "sync": lambda memory: memory.sync(full=True),
    "sync of that folder": lambda memory: memory.sync(["sessions/2026-W15"]),
    "fmt": lambda memory: memory.vault.fmt("sessions/2026-W15/s.md", upgrade=True),
    "problems": lambda memory: checking.problems(memory.vault),
    "rescue": lambda memory: memory.vault.rescue(),
}


def test_a_week_that_is_a_symlink_leads_no_verb_out_of_the_vault(vault: Vault, outside: Path) -> None:
    """G13: nothing there is read, indexed, written or deleted; what cannot be done is refused by name."""
    (outside / ".huimem-999999-00ff.tmp").write_text("left by a writer that died", encoding="utf-8")
    before = tree(outside)
    with Memory.open(vault.root, embedder="none") as memory:
        for verb, carry_out in VERBS.items():
            try:
                answer = carry_out(memory)
            except HuimemError as refused:
                assert "symlink" in str(refused).lower() and "2026-W15" in str(refused) and refused.hint, verb
            else:
                assert "secret" not in repr(answer), verb
            assert tree(outside) == before, verb
        assert memory.recall("larkspur").hits == ()
    told = [(problem.path, problem.message) for problem in checking.problems(vault)]
    assert ("sessions/2026-W15", "is a symlink and is not followed") in told
    assert (vault.root / "sessions/2026-W15").is_symlink()


INDEX_FOLDERS = ("words", "vectors")


@pytest.mark.parametrize("name", INDEX_FOLDERS)
def test_a_folder_of_the_index_that_is_a_symlink_costs_nobody_a_file(
    name: str, marigold_vault: Path, tmp_path: Path, huimem: Huimem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """G13: a vault of a stranger may bring a state folder along, and files there are swept."""
    monkeypatch.setenv("HUIMEM_EMBEDDER", "hashing")
    assert huimem("sync")[0] == 0
    precious = tmp_path / "documents"
    (precious / "deeper").mkdir(parents=True)
    for path in ("letter.txt", "old.faiss", "meta.json", "deeper/x.idx"):
        (precious / path).write_text("mine", encoding="utf-8")
    before = tree(precious)
    place = marigold_vault / ".huimem" / name
    place.rename(tmp_path / "aside")
    place.symlink_to(precious)
    for words in (("recall", "marigold"), ("sync", "--full"), ("recall", "marigold")):
        assert huimem(*words)[0] == 0
        assert tree(precious) == before
    assert not place.is_symlink() and place.is_dir()


def test_no_name_that_is_given_leads_out_of_the_week(tmp_path: Path) -> None:
    """G1: the file lies in the folder of its week, compared by components: a sibling is not inside."""
    root = tmp_path / "vault"
    (tmp_path / "vault_extra").mkdir()
    names = [
        "../../x", "/etc/x", "a/b", "..", ".", "~", "a\0b", "a\nb", "-rf", "C:\\x", "a:b", "CON", "nul.md",
        "x.", "x ", "\u202ex", "%2e%2e%2f", "../../../vault_extra/x", f"{root}_extra/x", "sessions/../../x",
    ]  # fmt: skip
    made = Vault.create(root, tz="Asia/Shanghai")
    for name in names:
        made.record([Message("user", f"hi {name}", NOW)], session=name, now=NOW)
    made.record(HELLO, title=names[0], now=NOW)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["vault", "vault_extra"]
    assert not [*(tmp_path / "vault_extra").iterdir()]
    listed = made.scan().files
    assert len(listed) == len(names) + 1
    for path in listed:
        assert path.split("/")[:-1] == ["sessions", "2026-W15"]
    everything = [path for path in root.rglob("*.md") if ".huimem" not in path.parts]
    assert len(everything) == len(listed), "each is found again by a scan"


def test_a_note_moved_behind_a_symlink_while_it_is_known_is_neither_shown_nor_kept(
    marigold_vault: Path, tmp_path: Path, huimem: Huimem
) -> None:
    """G13: what was indexed before the link came is gone from answers, as the file is from the vault."""
    note = marigold_vault / "note.md"
    note.write_text("The larkspur is blue.\n", encoding="utf-8")
    assert huimem("recall", "larkspur")[0] == 0
    os.rename(note, tmp_path / "note.md")
    note.symlink_to(tmp_path / "note.md")
    assert huimem("recall", "larkspur")[0] == 1
    assert huimem("show", "note.md:1")[0] != 0


@pytest.mark.parametrize("name", ["locks", "recovered", "backups", "unpacked", "probe"])
def test_a_folder_of_the_state_that_is_a_symlink_is_not_followed(
    name: str, vault: Vault, tmp_path: Path, huimem: Huimem
) -> None:
    """G13: a vault from elsewhere may bring one, to have what is said written somewhere else."""
    outside = tmp_path / "outside"
    outside.mkdir()
    shutil.rmtree(vault.state / name, ignore_errors=True)
    (vault.state / name).symlink_to(outside)
    before = everything(vault)
    huimem("record", "--session", "s", "--vault", str(vault.root))
    place = vault.root / SESSION
    place.write_bytes(place.read_bytes()[:60])
    huimem("sync", "--vault", str(vault.root))
    huimem("fmt", "--vault", str(vault.root), str(place))
    assert list(outside.iterdir()) == []
    assert before.keys() <= everything(vault).keys()


@pytest.mark.parametrize(("first", "second"), [("Talk", "talk"), ("talk", "Talk"), ("Straße", "STRASSE")])
def test_names_that_differ_by_case_alone_are_names_of_two_files_on_every_disk(
    first: str, second: str, vault: Vault
) -> None:
    """G4."""
    for session in (first, second):
        vault.record([Message("user", f"from {session}", NOW)], session=session, now=NOW)
    names = sorted(path.name for path in (vault.root / "sessions/2026-W15").glob("*.md"))
    assert len({name.casefold() for name in names}) == len(names) == 3
    for session in (first, second):
        (path,) = (path for path in vault.scan().files if vault.id_of(path) == ("", session))
        assert [m.text for m in vault.session(path).messages] == [f"from {session}"]

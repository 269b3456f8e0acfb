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


@pytest.mark.slow
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


# Names of folders on the way to a vault, which a shell, a terminal, SQLite, Git or a URL could take for
# something else.
NAMES = {
    "of shells": """it's "my" `notes` $HOME ${x} $(x)/ a  b \t/-rf/[a]*{b}!/a\\b\\""",
    "of terminals": "two\nlines\r\n/a\x1b[31mb\x07",
    "of programs": "100%20?mode=ro#x&y/2024-03.tar.zst/.notes/笔记/Cafe\u0301/" + "n" * 200,
}
EVERY_VERB = [
    ("record", "--role", "user", "--session", "s", "--at", "2024-03-04T09:00"),
    ("sync",),
    ("recall", "larkspur"),
    ("status",),
    ("archive",),
    ("recall", "larkspur", "--json"),
    ("show", "s#20240304T090000"),
    ("list",),
    ("check", "--read-data"),
    ("unarchive", "2024-03"),
    ("doctor",),
]


def works(huimem: Huimem, vault: str) -> None:
    """Carry out every verb in a new vault; what they print stays on its lines."""
    for words in EVERY_VERB:
        code, out, err = huimem(words[0], "--vault", vault, *words[1:], given="The larkspur is blue.")
        assert code == 0, (words, err)
        assert "\x1b" not in out + err and "\r" not in out + err
        if words[0] == "recall":
            assert "larkspur is blue" in out
    assert huimem("forget", "--vault", vault, "s", "--yes")[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_vault_may_have_any_name(
    name: str, tmp_path: Path, huimem: Huimem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """G19: whatever the path means elsewhere, it is a path; the state folder beside it likewise."""
    monkeypatch.setenv("HUIMEM_EMBEDDER", "hashing:32")
    vault = tmp_path / NAMES[name]
    assert huimem("init", str(vault))[0] == 0
    works(huimem, str(vault))
    shutil.rmtree(vault)
    assert huimem("init", str(vault))[0] == 0
    monkeypatch.setenv("HUIMEM_STATE", str(tmp_path / f"{NAMES[name]} state"))
    works(huimem, str(vault))


@pytest.mark.slow
def test_a_vault_may_be_a_home_lie_in_another_or_behind_a_link(
    tmp_path: Path, own_home: Path, huimem: Huimem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """G19: the one that is named is the one that is meant."""
    monkeypatch.setenv("HUIMEM_EMBEDDER", "none")
    inner = own_home / "notes/inner"
    (tmp_path / "other").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "other")
    for place in (own_home, inner, tmp_path / "link"):
        assert huimem("init", str(place))[0] == 0
        works(huimem, str(place))
    assert not list(own_home.glob("sessions/*/*.md")), "forgotten in the vault in which it was"


def of_bytes(count: int, above: Path) -> Path:
    """A folder whose path has so many bytes; made from folder to folder, since no call takes more."""
    here = os.getcwd()
    os.chdir(above)
    left = count - len(os.fsencode(above))
    try:
        while left > 0:
            name = "d" * (left - 1 if left <= 200 else min(150, left - 50))
            os.mkdir(name)
            os.chdir(name)
            left -= len(name) + 1
            above /= name
    finally:
        os.chdir(here)
    assert len(os.fsencode(above)) == count
    return above


@pytest.mark.skipif(os.name != "posix", reason="other limits")
@pytest.mark.parametrize("count", [460, pytest.param(1_000, marks=pytest.mark.slow), 3_000])
def test_a_path_that_is_too_long_for_sqlite_needs_a_state_folder_elsewhere(
    count: int, tmp_path: Path, huimem: Huimem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """G19: it is refused with that remedy, and the remedy is one."""
    monkeypatch.setenv("HUIMEM_EMBEDDER", "hashing:32")
    vault = of_bytes(count, tmp_path)
    (vault / "note.md").write_text("The tulip is red.\n", encoding="utf-8")
    for words in EVERY_VERB:
        code, _, err = huimem(words[0], "--vault", str(vault), *words[1:])
        assert code == 3 and "its path has more than 460 bytes" in err + _
        assert "`state_dir` in your own config, or HUIMEM_STATE, to a folder with a shorter path" in err + _
    assert os.listdir(vault) == ["note.md"]
    monkeypatch.setenv("HUIMEM_STATE", str(tmp_path / "state"))
    works(huimem, str(vault))


@pytest.mark.skipif(os.name != "posix", reason="other limits")
def test_the_longest_path_that_is_not_refused_has_room_for_every_file_of_the_state(
    tmp_path: Path, huimem: Huimem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """G19: catalog, vectors, journal and their temp files."""
    monkeypatch.setenv("HUIMEM_EMBEDDER", "hashing:32")
    vault = of_bytes(460 - len("/.huimem"), tmp_path)
    assert huimem("init", str(vault))[0] == 0
    works(huimem, str(vault))


REFUSED = {
    "no UTF-8": (lambda above: above / os.fsdecode(b"n\xffotes"), "is not valid UTF-8", "Rename the folder"),
    "4,000 bytes": (
        lambda above: of_bytes(4_000, above),
        "has 4,000 bytes: files below it could get no names",
        "Move the vault to a folder whose path has at most 3,800",
    ),
    "4,090 bytes": (lambda above: of_bytes(4_090, above), "has 4,090 bytes", "Move the vault to a folder"),
}


@pytest.mark.skipif(os.name != "posix", reason="other limits")
@pytest.mark.parametrize("name", REFUSED)
def test_a_path_at_which_no_vault_can_lie_is_refused_with_the_remedy(
    name: str, tmp_path: Path, huimem: Huimem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """G19: by every verb, in words that any terminal and JSON can show, and nothing is written."""
    made, says, remedy = REFUSED[name]
    vault = made(tmp_path)
    if name == "no UTF-8":
        vault.mkdir()
        (vault / "note.md").write_text("The tulip is red.\n", encoding="utf-8")
    before = tree(tmp_path)
    for words in EVERY_VERB:
        code, out, err = huimem(words[0], "--vault", str(vault), *words[1:])
        assert code == 3 and says in out + err and remedy in out + err, words
    if name != "4,090 bytes":  # the system itself refuses to look whether one is there
        code, _, err = huimem("init", str(vault))
        assert code == 3 and says in err and remedy in err
    assert tree(tmp_path) == before

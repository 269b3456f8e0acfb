"""Group I of the faults: what others on this computer can see."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from huimem import Memory
from huimem.config import load, state_folder
from huimem.errors import UsageError
from tests.importers.exporting import Talk, export, talk

Huimem = Callable[..., tuple[int, str, str]]
CHAT = "## User 2026-04-06 9:14\n\nA short heading.\n"


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="modes")
def test_nobody_else_can_read_what_any_verb_has_made(
    tmp_path: Path, own_home: Path, huimem: Huimem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I1: folders 0700 and files 0600 though the mask allows all: notes, index, vectors, journal, backups."""
    source = str(export(tmp_path / "c.json", "chatgpt", [Talk(talk("Hello", "Hi"))]))
    monkeypatch.setenv("HUIMEM_EMBEDDER", "hashing")
    before = os.umask(0)
    try:
        vault = tmp_path / "vault"
        assert huimem("init", str(vault), "--tz", "UTC")[0] == 0
        monkeypatch.chdir(vault)
        for words in (
            ("record", "--session", "s", "--role", "user", "--at", "2026-04-06T09:00"),
            ("record", "--session", "s", "--role", "user", "--at", "2026-04-06T10:00", "--namespace", "ann"),
            ("import", source),
            ("sync",),
            ("recall", "hello"),
            ("status",),
            ("doctor",),
        ):
            assert huimem(*words)[0] == 0, words
        (stale,) = vault.glob("sessions/2026-W15/s.md")
        stale.write_bytes(stale.read_bytes().split(b"## User")[0])  # so that something is recovered
        with Memory.open(vault) as memory:
            rounds = memory.watch()
            next(rounds)
            rounds.close()
            chat = vault / "chat.md"
            chat.write_text(CHAT, encoding="utf-8")
            chat.chmod(0o600)
            assert memory.vault.fmt("chat.md")
    finally:
        os.umask(before)
    made = [path for path in (vault, *vault.rglob("*"), *own_home.rglob("*")) if not path.is_symlink()]
    names = {path.name for path in made}
    assert {"recovered", "backups", "locks", "words", "vectors", "journal.db", "imports.db"} <= names
    shown = {
        str(path.relative_to(tmp_path)): oct(stat.S_IMODE(path.stat().st_mode))
        for path in made
        if path.stat().st_mode & 0o077 and not path.name.startswith(".tantivy")  # empty, in a closed folder
    }
    assert shown == {}


root = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0, reason="root alone can give a file to another user"
)


def somebody_elses(path: Path) -> None:
    os.chown(path, 4_242, 4_242, follow_symlinks=False)


def in_the_vault(vault: Path) -> tuple[Path, Path]:
    """Where the state of a vault lies, and what stands there."""
    return vault / ".huimem", vault / ".huimem"


def in_shared_temp(vault: Path) -> tuple[Path, Path]:
    """A folder that another user made in a place where everybody can, before anybody asked for it."""
    (temp := vault.parent / "temp").mkdir()
    temp.chmod(0o1777)
    os.environ["HUIMEM_STATE"] = str(temp)
    made = state_folder(vault, load(vault))
    return made, made


def behind_a_link(vault: Path) -> tuple[Path, Path]:
    """A symlink that another user made there, to a folder of ours."""
    made, _ = in_shared_temp(vault)
    (ours := vault.parent / "ours").mkdir()
    made.symlink_to(ours)
    return made, ours


@root
@pytest.mark.parametrize("placed", [in_the_vault, in_shared_temp, behind_a_link])
def test_a_state_folder_that_another_user_made_is_neither_used_nor_read(
    placed: Callable[[Path], tuple[Path, Path]],
    marigold_vault: Path,
    huimem: Huimem,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """I3: whoever writes the index says what the answers are. Every verb is refused, with the remedy."""
    monkeypatch.setenv("HUIMEM_STATE", "")
    state, folder = placed(marigold_vault)
    folder.mkdir(exist_ok=True)
    (folder / "catalog.db").write_bytes(b"theirs")
    somebody_elses(state)
    for words in (("recall", "marigold"), ("sync",), ("status",), ("doctor",), ("record", "--role", "user")):
        code, out, err = huimem(*words)
        assert (code, out) == (3, "")
        assert f"{state} belongs to another user (uid " in err and "`state_dir`" in err
    assert [path.name for path in folder.iterdir()] == ["catalog.db"]
    assert (folder / "catalog.db").read_bytes() == b"theirs"


@root
def test_the_owner_of_a_vault_may_have_made_its_state(marigold_vault: Path, huimem: Huimem) -> None:
    """I3: as where a container mounts somebody's vault."""
    assert huimem("sync")[0] == 0
    for path in (marigold_vault, marigold_vault / ".huimem"):
        somebody_elses(path)
    code, out, _ = huimem("recall", "marigold")
    assert code == 0 and "marigold" in out.lower()


# What is open to others, its mode, and what is said of it; nothing is said of what only a group may change.
MODES = [
    pytest.param(".", 0o777, "everybody on this computer", "chmod o-w", id="vault"),
    pytest.param(".huimem", 0o777, "everybody on this computer", "chmod go-w", id="state"),
    pytest.param(".huimem", 0o1777, "everybody on this computer", "chmod go-w", id="state, sticky"),
    pytest.param(".huimem", 0o770, "its group", "chmod go-w", id="state of a group"),
    pytest.param(".", 0o1777, "", "", id="vault, sticky"),
    pytest.param(".", 0o775, "", "", id="vault of a group"),
]


@pytest.mark.skipif(os.name != "posix", reason="modes")
@pytest.mark.parametrize(("folder", "mode", "others", "remedy"), MODES)
def test_a_folder_that_others_can_change_is_told_of(
    folder: str, mode: int, others: str, remedy: str, marigold_vault: Path, huimem: Huimem
) -> None:
    """I3: once by the first question after it came to be so, and by every doctor; the answers come."""
    assert huimem("sync")[0] == 0
    place = marigold_vault / folder
    place.chmod(mode)
    said = f"{folder}: can be changed by {others}, and so can the answers – {remedy} {place.resolve()}"
    first, second = huimem("recall", "marigold"), huimem("recall", "marigold")
    assert first[:2] == second[:2] and first[0] == 0 and second[2].count("can be changed") == 0
    assert (f"warning: {said}" in first[2]) == bool(others) == ("can be changed" in first[2])
    code, out, _ = huimem("doctor")
    assert (code, out.count("can be changed")) == (bool(others), bool(others))
    place.chmod(0o700)
    assert huimem("doctor")[0] == 0


def test_what_was_packed_shown_and_put_back_is_forgotten_in_the_cache_too(
    marigold_vault: Path, huimem: Huimem
) -> None:
    """I7: an unpacked file outlives its archive by a day, and nothing in it outlives its record."""
    said = ("record", "--session", "s", "--role", "user", "--at", "2024-03-04T09:00")
    assert huimem(*said, given="The larkspur grows behind the shed.")[0] == 0
    for words in (("archive",), ("show", "s#20240304T090000"), ("unarchive", "2024-03")):
        assert huimem(*words)[0] == 0, words
    assert len(list((marigold_vault / ".huimem/unpacked").iterdir())) == 1
    code, out, _ = huimem("forget", "s", "--yes")
    assert code == 0 and "still said" not in out
    held = [path for path in marigold_vault.rglob("*") if path.is_file() and b"larkspur" in path.read_bytes()]
    assert held == []


WORDS = ("The larkspur grows behind the shed.", "The tulip by the gate.", "The iris by the pond.")


def conversation(*numbers: int) -> list[dict[str, str]]:
    """Questions and answers of these numbers, an hour apart."""
    return [
        {"role": role, "content": f"{WORDS[n]} {role}", "at": f"2026-04-06T{10 + n}:00:0{second}"}
        for n in numbers
        for second, role in enumerate(("user", "assistant"))
    ]


@pytest.mark.parametrize("namespace", ["", "ann"])
def test_what_was_forgotten_stays_out_when_the_whole_conversation_is_recorded_again(
    namespace: str, tmp_path: Path
) -> None:
    """I7: programs send all they have each time. What is new comes in, and it is said what does not."""
    Memory.create(tmp_path / "vault", tz="UTC").close()
    with Memory.open(tmp_path / "vault", embedder="none", background=False) as memory:
        given = {"session": "s", "namespace": namespace}
        first, second = memory.record(conversation(0, 1), **given)
        memory.forget(str(first))
        refs = memory.record(conversation(0, 1, 2), **given)
        assert refs[0] == second and len(refs) == 2
        assert memory.vault.warnings == ("2 messages were forgotten in session s and stay out",)
        held = [path.read_text(encoding="utf-8") for path in memory.vault.root.rglob("s.md")]
        assert len(held) == 1 and "larkspur" not in held[0] and "iris" in held[0]
        with pytest.raises(UsageError, match="2 messages were forgotten in session s") as refused:
            memory.record(conversation(0), **given)
        assert "another session" in refused.value.hint and "restored" in refused.value.hint
        assert memory.record(conversation(1), **given) == (second,) and memory.vault.warnings == ()
        (other,) = memory.record(conversation(0), session="t", namespace=namespace)
        assert memory.vault.find(other)


def test_a_session_forgotten_whole_stays_out_until_it_is_restored(tmp_path: Path) -> None:
    """I7: its id begins no new file; in another namespace, or said at another time, it is another one."""
    Memory.create(tmp_path / "vault", tz="UTC").close()
    with Memory.open(tmp_path / "vault", embedder="none", background=False) as memory:
        refs = memory.record(conversation(0, 1), session="s")
        memory.forget("s")
        with pytest.raises(UsageError, match="4 messages were forgotten"):
            memory.record(conversation(0, 1), session="s")
        assert list(memory.vault.root.rglob("s.md")) == []
        (later,) = memory.record(conversation(2), session="s")
        assert memory.record(conversation(0), session="s", namespace="ann")
        (log,) = memory.vault.root.glob("feedback/*.md")
        log.write_text(
            log.read_text(encoding="utf-8") + f"- 2099-01-01 10:00:00 restored {refs[0]}\n", encoding="utf-8"
        )
        assert memory.record(conversation(0, 1, 2), session="s") == (later, refs[0])

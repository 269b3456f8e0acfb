"""A vault on a real disk: made, adopted, read; nothing odd in it stops anything."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from huimem import checking, files
from huimem.config import Config
from huimem.errors import NotFound, VaultError, WriteFailed
from huimem.records import Fact, Ref
from huimem.vault.vault import Vault
from tests.processes import code_of, start, unprivileged
from tests.vault.samples import HELLO, NOW, everything, put


def test_a_new_vault_is_one_file(tmp_path: Path) -> None:
    vault = Vault.create(tmp_path / "a/b", tz="Asia/Shanghai", include=("AI/**", '"x"'))
    assert os.listdir(vault.root) == ["huimem.toml"]
    assert (vault.config.timezone, vault.config.include) == ("Asia/Shanghai", ("AI/**", '"x"'))
    assert stat.S_IMODE(vault.root.stat().st_mode) == 0o700


def test_adopting_a_folder_moves_and_overwrites_nothing(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/a.md").write_text("# A note\n\nof mine")
    (tmp_path / "notes/huimem.toml").write_text('timezone = "Europe/Berlin"\n')
    before = everything(Vault.open(tmp_path / "notes", Config()))
    vault = Vault.create(tmp_path / "notes", tz="Asia/Shanghai")
    assert everything(vault) == before and vault.config.timezone == "Europe/Berlin"


def test_no_vault_where_a_file_stands(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    with pytest.raises(VaultError, match="is a file"):
        Vault.create(tmp_path / "x")
    with pytest.raises(VaultError, match="not a folder"):
        Vault.open(tmp_path / "nowhere", Config())


def test_a_read_only_vault_is_read_and_says_why_it_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    with unprivileged() as folder:
        monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        vault = Vault.create(folder / "vault", tz="Asia/Shanghai")
        put(vault, "note.md", "# A note\n\nof mine\n")
        (folder / "vault").chmod(0o500)
        vault = Vault.open(folder / "vault", vault.config)
        assert folder / "cache" in vault.state.parents
        assert [r.text for r in vault.read("note.md").records] == ["of mine"]
        with pytest.raises(WriteFailed, match="denied"):
            vault.record(HELLO, now=NOW)


def test_an_unreadable_file_is_a_problem_and_not_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    with unprivileged() as folder:
        monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
        vault = Vault.create(folder / "vault")
        put(vault, "open.md", "# open\n")
        put(vault, "closed.md", "# closed\n").chmod(0)
        with pytest.raises(files.Unreadable) as caught:
            vault.read("closed.md")
        assert not caught.value.gone
        assert [p.path for p in checking.problems(vault)] == ["closed.md"]
        assert set(vault.scan().files) == {"open.md", "closed.md"}


ODD_FILES: dict[str, bytes] = {
    "empty.md": b"",
    "nul.md": b"# a\x00b\n\n\x00\n",
    "latin.md": b"caf\xe9\n",
    "only-nul.md": b"\x00" * 5000,
    "line.md": b"x" * 1_000_000,
    "front.md": b"---\ntitle: [unclosed\n---\n\nbody\n",
    "huge-front.md": b"---\n" + b"".join(b"key%d: v\n" % n for n in range(7000)) + b"---\n\nbody\n",
    "rule.md": b"---\n\nnot front matter\n\n---\n",
    "bom.md": b"\xef\xbb\xbf---\r\nid: b\r\n---\r\n\r\n## User \xc2\xb7 2026-04-06 09:14:23\r\n\r\nhi\r\n",
    "facts/odd.md": b"\xff\xfe",
    "conflict.md": b"## User \xc2\xb7 2026-04-06 09:14:23\n\n<<<<<<< HEAD\nhi\n=======\nho\n>>>>>>> x\n",
}


def test_odd_files_are_read_and_stay_as_they_are(vault: Vault) -> None:
    for path, data in ODD_FILES.items():
        put(vault, path, data)
    before = everything(vault)
    for path in ODD_FILES:
        assert vault.read(path).path == path
    checking.problems(vault)
    assert everything(vault) == before


def test_a_file_too_large_is_a_problem(vault: Vault) -> None:
    with open(vault.root / "big.md", "wb") as file:
        file.truncate(files.LIMIT + 1)
    (problem,) = checking.problems(vault)
    assert "too large" in problem.message and problem.remedy


def test_records_of_a_fact_file(vault: Vault) -> None:
    put(
        vault,
        "facts/diet.md",
        "---\nkey: diet\ntags: food\n---\n\n# Diet\n\nWhy we ask.\n\n## 2026-04-06 →\n\nNo nuts.\n",
    )
    source = vault.read("facts/diet.md")
    assert [(type(r).__name__, str(r.ref), r.messages[0].line) for r in source.records] == [
        ("Fact", "diet@20260406T000000", 10),
        ("Turn", "diet#preface", 8),
    ]
    assert (source.title, source.tags) == ("Diet", ("food",))
    assert isinstance(source.records[0], Fact) and source.records[0].text == "No nuts."


def test_clashes_are_told_and_nothing_is_decided(vault: Vault) -> None:
    vault.record(HELLO, session="s", now=NOW)
    put(vault, "copy.md", (vault.root / "sessions/2026-W15/s.md").read_bytes())
    put(vault, "facts/diet.md", "---\nkey: diet\n---\n\n## 2026-04-06\n\nA.\n")
    put(vault, "facts/other.md", "---\nkey: DIET\n---\n\n## 2026-04-07\n\nB.\n")
    put(vault, "cafe\u0301.md", "# one\n")
    put(vault, "Caf\u00e9.md", "# two\n")
    assert [(p.path, p.message) for p in checking.problems(vault)] == [
        ("cafe\u0301.md", "differs from Caf\u00e9.md only in case or accents"),
        ("facts/other.md", "holds a key that facts/diet.md holds too"),
        ("sessions/2026-W15/s.md", "has the same id as copy.md"),
    ]


def test_what_is_not_there_is_not_found(vault: Vault) -> None:
    (ref,) = vault.record(HELLO, session="s", now=NOW)
    for wrong in (
        Ref("", "s", "20260406T091424"),
        Ref("", "nobody", ref.at),
        Ref("alice", "s", ref.at),
        Ref("", "../../etc/passwd", "x"),
    ):
        with pytest.raises(NotFound):
            vault.find(wrong)
    with pytest.raises(files.Unreadable) as caught:
        vault.read("sessions/2026-W15/none.md")
    assert caught.value.gone


@pytest.mark.parametrize("path", ["../secret.md", "link/secret.md", "secret-link.md"])
def test_nothing_outside_is_read(path: str, vault: Vault) -> None:
    (vault.root.parent / "secret.md").write_text("secret")
    (vault.root / "link").symlink_to(vault.root.parent)
    (vault.root / "secret-link.md").symlink_to(vault.root.parent / "secret.md")
    with pytest.raises(files.Unreadable):
        vault.read(path)


def test_modes_under_an_open_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        vault = Vault.create(tmp_path / "vault")
        vault.record(HELLO, session="s", namespace="alice", now=NOW)
        vault.record(HELLO, session="s", namespace="alice", now=NOW)
        open_ones = [p for p in (tmp_path / "vault").rglob("*") if p.stat().st_mode & 0o077]
        assert not open_ones
    finally:
        os.umask(before)


def test_state_is_marked_as_derived(vault: Vault) -> None:
    vault.record(HELLO, session="s", now=NOW)
    assert (
        (vault.state / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55")
    )
    assert (vault.state / ".gitignore").read_text() == "*\n"
    assert (vault.state / ".sync-exclude.lst").read_text() == "*\n"  # Nextcloud and ownCloud


@pytest.mark.skipif(not hasattr(os, "getxattr"), reason="no marks on files")
def test_new_state_is_marked_for_dropbox_and_old_state_is_not(vault: Vault) -> None:
    """What Dropbox is told to leave out it deletes elsewhere: that must not befall what it has copied."""
    vault.root.joinpath("trial").mkdir()
    try:
        os.setxattr(vault.root / "trial", "user.trial", b"1")
    except OSError:
        pytest.skip("this disk keeps no marks")
    vault.record(HELLO, session="s", now=NOW)
    assert os.getxattr(vault.state, "user.com.dropbox.ignored") == b"1"
    os.removexattr(vault.state, "user.com.dropbox.ignored")
    (vault.state / ".gitignore").unlink()
    files.make_derived_folder(vault.state)
    assert os.listxattr(vault.state) == [] and (vault.state / ".gitignore").exists()


def test_a_vault_whose_disk_is_gone_is_not_an_empty_one(vault: Vault) -> None:
    put(vault, "note.md", "# note\n")
    vault.root.rename(vault.root.with_name("moved"))
    vault.root.mkdir()
    with pytest.raises(VaultError, match=r"huimem\.toml is gone"):
        vault.scan()


def test_what_a_dead_writer_left_is_moved_and_not_thrown_away(vault: Vault) -> None:
    child = start(lambda: None)
    code_of(child)
    put(vault, f"week/.huimem-{child}-00ff.tmp", "half a word")
    put(vault, f"week/.huimem-{os.getpid()}-00ff.tmp", "still being written")
    assert vault.rescue() == (f"week/.huimem-{child}-00ff.tmp",)
    assert [path.read_text() for path in (vault.state / "recovered").iterdir()] == ["half a word"]
    assert os.listdir(vault.root / "week") == [f".huimem-{os.getpid()}-00ff.tmp"]
    assert vault.rescue() == ()


def test_a_fact_that_cites_what_is_gone_is_named_with_its_line(vault: Vault) -> None:
    (ref,) = vault.record(HELLO, session="s", now=NOW)
    (inside,) = vault.record(HELLO, session="s", namespace="alice", now=NOW)
    for folder, cited in (("", f"{ref},gone#1,https://a.b/#c"), ("namespaces/alice/", f"{ref},{inside}")):
        text = f"---\nkey: diet\n---\n\n## 2026-04-06\n<!-- from={cited} -->\n\nNo nuts.\n"
        put(vault, f"{folder}facts/diet.md", text)
    (problem,) = checking.problems(vault)
    assert (problem.path, problem.line) == ("facts/diet.md", 5)
    assert problem.message == "cites gone#1, which is not in the vault" and problem.remedy

"""Old months on the command line: what goes, what stays, what is shown of it, and the way back."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from huimem import Memory, files, locks, overview
from huimem.errors import NotFound
from huimem.months import archived
from huimem.resources import demo_vault
from huimem.surfaces.cli.finding import find
from huimem.surfaces.cli.main import run
from tests.trees import tree

THEN = ("--now", "2026-04-15T10:30", "--keep", "0")
EVERY = ("user", "assistant", "system", "tool", "person", "note", "fact")


@pytest.fixture(autouse=True)
def words_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUIMEM_EMBEDDER", "none")


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    shutil.copytree(demo_vault(), root, ignore=shutil.ignore_patterns(".huimem"))
    return root


def document(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> dict[str, object]:
    """What a command line prints with --json."""
    capsys.readouterr()
    assert run([*map(str, words), "--json"]) == code
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def test_a_dry_run_changes_nothing_and_says_what_then_happens(
    sample: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tree(sample)
    planned = document(capsys, "archive", "--vault", sample, *THEN, "--dry-run")
    assert tree(sample) == before and not (sample / ".huimem").exists()
    paths = {one["path"] for archive in planned["archives"] for one in archive["members"]}
    done = document(capsys, "archive", "--vault", sample, *THEN)
    assert set(before) - set(tree(sample)) == paths and len(paths) == 36
    assert [(one["path"], one["files"]) for one in done["archives"]] == [
        (one["path"], one["files"]) for one in planned["archives"]
    ]
    assert {link["link"] for link in planned["links"]} == {
        "[[chat_2026-03-11_222703]]",
        "[[chat_2026-01-24_091012]]",
    }


@pytest.mark.slow
def test_all_comes_back_byte_for_byte(sample: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = tree(sample)
    done = document(capsys, "archive", "--vault", sample, *THEN)
    for one in done["archives"]:
        words = ["--namespace", one["namespace"]] if one["namespace"] else []
        back = document(capsys, "unarchive", one["month"], *words, "--vault", sample)
        assert (back["path"], back["files"]) == (one["path"], one["files"])
    assert tree(sample) == before


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """The sample vault with its old months packed."""
    root = tmp_path_factory.mktemp("packed") / "vault"
    shutil.copytree(demo_vault(), root, ignore=shutil.ignore_patterns(".huimem"))
    assert run(["archive", "--vault", str(root), *THEN]) == 0
    with Memory.open(root, embedder="none") as memory:
        yield memory


@pytest.mark.slow
def test_every_ref_and_every_place_leads_to_its_record(packed: Memory) -> None:
    """The place where it is packed, and the one where it lay before."""
    rows = overview.listed(packed, namespace="**", roles=EVERY, include_superseded=True, limit=1_000)
    inside = [row for row in rows if archived(row.path)]
    assert len(inside) > 50 and len({row.path for row in inside}) == 36
    for row in inside:
        place = archived(row.path)
        assert place is not None
        for words in (row.ref, f"{row.path}:{row.line}", f"{place.original}:{row.line}"):
            found = find(packed.vault, words)
            assert (str(found.record.ref), found.source.path, found.link) == (row.ref, row.path, "")


def test_a_place_may_be_typed_from_any_folder(packed: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    path = "archive/2026-01.tar.zst/sessions/2026-W05/chat_2026-01-31_162044.md"
    for here, typed in (
        (packed.vault.root.parent, f"vault/{path}:9"),
        (packed.vault.root / "notes", f"../{path}"),
        (Path("/"), str(packed.vault.root / path)),
    ):
        monkeypatch.chdir(here)
        assert find(packed.vault, typed).source.path == path
    with pytest.raises(NotFound):
        find(packed.vault, "archive/2026-01.tar.zst/sessions/2026-W05/chat_none.md:9")


def test_weeks_and_numbers_are_those_of_before(
    packed: Memory, sample: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = packed.vault.root
    verbs = [["weeks"], ["weeks", "--namespace", "**"]]
    for words in verbs:
        before, after = (document(capsys, *words, "--vault", where) for where in (sample, root))
        assert before == after
    run(["sync", "--vault", str(sample)])
    before, after = (document(capsys, "status", "--vault", where) for where in (sample, root))
    for name in ("sources", "records", "passages", "fresh", "problems"):
        assert before[name] == after[name]
    assert after["packed"] == {"files": 36, "archives": 6}
    assert document(capsys, "doctor", "--vault", root)["problems"] == []


def test_a_session_that_somebody_writes_to_is_packed_and_stays(
    sample: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = "sessions/2026-W01/chat_2025-12-30_211403.md"
    with Memory.open(sample) as memory:
        vault = memory.vault
    with files.lock(vault.session_lock_path(*vault.id_of(path))):
        done = document(capsys, "archive", "--vault", sample, *THEN, "--month", "2025-12")
    assert [(one["path"], one["remedy"]) for one in done["kept"]] == [
        (path, "The next run packs it as it is then.")
    ]
    assert (sample / path).exists() and done["archives"][0]["files"] == 0
    assert run(["archive", "--vault", str(sample), *THEN, "--month", "2025-12"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 1 and said[0].endswith("archive/2025-12.tar.zst  1 file, 3.3 KiB")
    assert not (sample / path).exists()


def test_who_else_packs_is_named(
    sample: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "lock", partial(locks.lock, timeout=0.05))
    assert run(["archive", "--vault", str(sample), *THEN, "--month", "2025-12"]) == 0
    (lock,) = (sample / ".huimem/locks").glob("month-*")
    with files.lock(lock):
        for words in (["unarchive", "2025-12"], ["show", "chat_2025-12-30_211403#20251230T211403"]):
            assert run([*words, "--vault", str(sample)]) == (5 if words[0] == "unarchive" else 0)
    assert "is locked by" in capsys.readouterr().err


@pytest.mark.slow
def test_what_cannot_be_read_is_named_and_nothing_is_lost(
    sample: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["archive", "--vault", str(sample), *THEN])
    archive = sample / "archive/2025-12.tar.zst"
    archive.write_bytes(archive.read_bytes()[:-1])
    before = tree(sample)
    for words, code in (
        (["show", "chat_2025-12-30_211403#20251230T211403"], 1),
        (["unarchive", "2025-12"], 3),
        (["list", "--when", "2026-01"], 0),
    ):
        capsys.readouterr()
        assert run([*words, "--vault", str(sample)]) == code
        assert code == 0 or "2025-12.tar.zst cannot be read: it is cut off" in capsys.readouterr().err
    assert tree(sample) == before

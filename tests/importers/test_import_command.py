"""`huimem import`, as it is typed: what it tells, what it leaves alone, with which exit code."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from huimem.importers.bringing import Report
from huimem.importers.options import Skipped
from huimem.surfaces.cli.importing import SHOWN, lines
from tests.importers.exporting import (
    Talk,
    export,
    forget_ledger,
    made_vault,
    only_session,
    sessions,
    talk,
    texts_in,
)
from tests.trees import tree

Huimem = Callable[..., tuple[int, str, str]]
MARIGOLD = Talk(talk("The marigold is by the door.", "万寿菊在门边。"), title="Marigolds at home")
PLUM = Talk(talk("Where is the plum tree?", "Behind it.", first=86_400), "c-2", "Plum trees")


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = made_vault(tmp_path / "vault")
    monkeypatch.setenv("HUIMEM_EMBEDDER", "none")
    monkeypatch.chdir(root)
    return root


def all_of(root: Path) -> dict[str, tuple[int, bytes]]:
    """Every file of a folder, the state folder with it: mode and bytes."""
    return {
        path.relative_to(root).as_posix(): (path.stat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in sorted(root.rglob("*"))
    }


def found(out: str) -> dict[str, object]:
    document = json.loads(out)
    assert isinstance(document, dict)
    return {key: value for key, value in document.items() if value}


def test_a_dry_run_changes_no_byte_and_foretells_the_counts(
    vault: Path, huimem: Huimem, tmp_path: Path
) -> None:
    source = str(export(tmp_path / "c.json", "chatgpt", [MARIGOLD, PLUM, MARIGOLD.grown("More"), MARIGOLD]))
    before = all_of(tmp_path)
    code, out, _ = huimem("import", source, "--dry-run", "--json")
    foretold = found(out)
    assert all_of(tmp_path) == before and code == 0
    assert foretold.pop("dry_run") is True
    code, out, _ = huimem("import", source, "--json")
    assert code == 0 and foretold == {**found(out), "weeks": foretold.get("weeks")}
    export(tmp_path / "c.json", "chatgpt", [MARIGOLD.grown("More", "And more"), PLUM])
    before = all_of(tmp_path)
    foretold = found(huimem("import", source, "--dry-run", "--json")[1])
    assert all_of(tmp_path) == before
    assert foretold.pop("dry_run") is True and foretold == found(huimem("import", source, "--json")[1])
    assert foretold["messages"] == {"added": 1, "grown": 0, "edited": 0, "deleted": 0, "forgotten": 0}


def test_a_dry_run_reads_a_damaged_ledger_and_leaves_it(vault: Path, huimem: Huimem, tmp_path: Path) -> None:
    source = str(export(tmp_path / "c.json", "chatgpt", [MARIGOLD]))
    huimem("import", source)
    (vault / ".huimem/imports.db").write_bytes(b"no database")
    before = all_of(tmp_path)
    code, out, _ = huimem("import", source, "--dry-run")
    assert code == 0 and "1 unchanged" in out and all_of(tmp_path) == before


SINCE = [
    ("2026-04-06", 2),
    ("2026-04-07", 1),
    ("2026-04-08", 0),
    ("2026-04-07T09:14:30+08:00", 1),
    ("2026-04-07 09:14:31", 0),
    ("last week", 2),
    ("last Tuesday", 1),
    ("yesterday", 0),
    ("上周二", 1),
]


@pytest.mark.parametrize(("since", "count"), SINCE)
def test_only_what_went_on_after_a_time(
    since: str, count: int, vault: Path, huimem: Huimem, tmp_path: Path
) -> None:
    source = str(export(tmp_path / "c.json", "chatgpt", [MARIGOLD, PLUM]))
    now = "2026-04-15T10:30+08:00"
    code, out, _ = huimem("import", source, "--since", since, "--now", now, "--json")
    assert (len(sessions(vault)), code) == (count, 0 if count else 1)
    assert json.loads(out)["before_since"] == 2 - count
    again = json.loads(huimem("import", source, "--since", since, "--now", now, "--json")[1])
    assert (again["unchanged"], again["before_since"]) == (count, 2 - count)


def test_a_namespace_is_a_vault_of_its_own(vault: Path, huimem: Huimem, tmp_path: Path) -> None:
    source = str(export(tmp_path / "c.json", "chatgpt", [MARIGOLD]))
    for namespace in ("", "alice", "Alice/项目 A", "alice"):
        words = ("--namespace", namespace) if namespace else ()
        assert huimem("import", source, *words)[0] == 0
    assert len(sessions(vault)) == 3 and len(sessions(vault / "namespaces/alice")) == 1
    assert (
        "namespaces/alice/sessions/2026-W15/chat_2026-04-06_091423.md"
        in huimem("recall", "marigold", "--namespace", "alice")[1]
    )
    (vault / "namespaces/alice").rename(vault / "namespaces/bob")
    assert huimem("import", source, "--namespace", "bob")[0] == 0
    assert len(sessions(vault / "namespaces/bob")) == 1  # no copy of what was moved along


def test_codes_tell_what_happened(vault: Path, huimem: Huimem, tmp_path: Path) -> None:
    source = export(tmp_path / "c.json", "chatgpt", [MARIGOLD])
    (tmp_path / "empty").mkdir()
    (tmp_path / "words.json").write_text('"words"')
    codes = {
        ("import", str(source)): 0,
        ("import", str(tmp_path / "empty")): 1,
        ("import", str(tmp_path / "words.json")): 1,
        ("import", str(tmp_path / "words.json"), "--from", "claude"): 1,
        ("import", str(tmp_path / "gone")): 2,
        ("import", str(source), "--from", "nobody"): 2,
        ("import", str(source), "--branch", "some"): 2,
        ("import", str(source), "--tools", "some"): 2,
        ("import", str(source), "--since", "whenever"): 2,
        ("import", str(source), "--namespace", "alice/**"): 2,
        ("import",): 2,
    }
    assert {words: huimem(*words)[0] for words in codes} == codes


def test_closed_input_is_said(vault: Path, huimem: Huimem, monkeypatch: pytest.MonkeyPatch) -> None:
    from huimem.surfaces.cli.main import run

    monkeypatch.setattr(sys, "stdin", None)
    assert run(["import", "-"]) == 2


def test_input_in_a_pipe_is_found_again_when_it_has_grown(vault: Path, huimem: Huimem) -> None:
    given = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]
    for count, what in ((1, "1 new"), (1, "1 unchanged"), (2, "1 updated")):
        code, out, _ = huimem("import", "-", "--from", "openai", given=json.dumps(given[:count]))
        assert code == 0 and what in out
    assert texts_in(vault) == ["Hello", "Hi"]


# Privacy.


def test_nothing_that_was_said_leaves_the_session(vault: Path, huimem: Huimem, tmp_path: Path) -> None:
    broken = {"conversation_id": "c-3", "title": ["Secret marigold"], "mapping": {"a": "secret marigold"}}
    value = [MARIGOLD.written("chatgpt"), PLUM.written("chatgpt"), broken, "a secret marigold"]
    (tmp_path / "c.json").write_text(json.dumps(value) + '{"marigold": ')
    code, out, err = huimem("import", str(tmp_path / "c.json"), "--verbose")
    assert code == 0
    for told in (out, err):
        assert "marigold" not in told.lower() and "plum" not in told.lower() and "万寿菊" not in told
    ledger = vault / ".huimem/imports.db"
    assert stat.S_IMODE(ledger.stat().st_mode) == 0o600
    data = ledger.read_bytes()
    for said in ("marigold", "Marigold", "万寿菊", "plum", "Behind"):
        assert said.encode() not in data
    for path in (vault / ".huimem/locks").iterdir():
        assert b"marigold" not in path.read_bytes() and str(tmp_path).encode() not in path.read_bytes()


@pytest.mark.skipif(os.name != "posix", reason="modes")
def test_files_are_private_whatever_the_mask(vault: Path, huimem: Huimem, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        huimem("import", str(export(tmp_path / "c.json", "chatgpt", [MARIGOLD])))
    finally:
        os.umask(before)
    made = [
        path
        for path in (vault / "sessions", *(vault / "sessions").rglob("*"), *(vault / ".huimem").rglob("*"))
    ]
    assert [path for path in made if path.stat().st_mode & 0o077] == []


# What is told.


def test_a_report_tells_every_count() -> None:
    report = Report(
        conversations={"chatgpt": 1203, "claude": 1},
        outcomes={"new": 1000, "updated": 100, "unchanged": 100, "deleted": 3, "forgotten": 1},
        added=2500,
        grown=1,
        edited=2,
        deleted=3,
        forgotten=4,
        left_out={"thinking": 5, "sidechain": 6, "other branch": 7, "hidden": 8},
        inferred=9,
        early=10,
        documents=3,
        weeks=11,
        skipped=(("a.json", Skipped("item 3", "no messages")), ("b.jsonl", Skipped("line 7", "no JSON"))),
    )
    assert [*lines(replace(report, renamed=12), Path("x"), dry=False)] == [
        "1,204 conversations (chatgpt, claude): 1,000 new, 100 updated (12 renamed), 100 unchanged, "
        "3 deleted here since (--again brings them back), 1 forgotten, 10 before --since, 1 skipped",
        "2,500 messages and 1 message grown in 11 weeks",
        "2 messages differ here from the export: left as they are",
        "3 messages deleted here: left out",
        "4 messages forgotten: left out",
        "9 conversations without times: dated by guess, marked `times: inferred`",
        "left out: 8 hidden, 7 on other branches (--branch all), 6 of sub-agents, 5 thoughts",
        "skipped a.json: item 3: no messages",
        "skipped b.jsonl: line 7: no JSON",
    ]


def test_many_reasons_are_counted(vault: Path, huimem: Huimem, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(json.dumps([MARIGOLD.written("chatgpt"), *range(50)]))
    out = huimem("import", str(tmp_path / "c.json"))[1]
    assert out.count("skipped c.json: item") == SHOWN and f"… and {50 - SHOWN} more: --json lists all" in out
    document = json.loads(huimem("import", str(tmp_path / "c.json"), "--json")[1])
    assert len(document["skipped"]) == 50


def test_progress_is_told_while_a_large_export_is_read(vault: Path, huimem: Huimem, tmp_path: Path) -> None:
    large = [Talk(talk("word " * 100_000), f"c-{n}", f"Talk {n}") for n in range(5)]
    source = str(export(tmp_path / "c.json", "chatgpt", large))
    err = huimem("import", source)[2]
    assert "import, kB 40 %: 1,024 of 2,4" in err and "import, kB 80 %: " in err
    assert "import, kB 100 %: " in err
    assert "%" not in huimem("import", source, "--quiet")[2]


def test_the_title_and_the_edit_of_a_session_survive_by_command(
    vault: Path, huimem: Huimem, tmp_path: Path
) -> None:
    source = str(export(tmp_path / "c.json", "chatgpt", [MARIGOLD]))
    huimem("import", source)
    path = only_session(vault)
    path.write_text(path.read_text().replace("by the door", "by the gate"))
    forget_ledger(vault)
    edited = tree(vault)
    code, out, _ = huimem("import", source)
    assert (
        code == 0
        and "1 message differs here from the export: left as it is\n" in out
        and tree(vault) == edited
    )


def test_what_came_in_is_found_and_doctor_has_nothing_to_say(
    vault: Path, huimem: Huimem, tmp_path: Path
) -> None:
    huimem("import", str(export(tmp_path / "c.json", "chatgpt", [MARIGOLD, PLUM])))
    huimem("import", str(export(tmp_path / "c.json", "chatgpt", [MARIGOLD.grown("More of it"), PLUM])))
    assert "sessions/2026-W15/chat_2026-04-06_091423.md" in huimem("recall", "万寿菊")[1]
    out = huimem("doctor")[1]
    assert "fail" not in out and "no longer in" not in out

"""Facts into the files of a vault: which file, names that are taken, edits and processes meanwhile."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from huimem import checking, files
from huimem.errors import Conflict, HuimemError, NewerFormat, VaultError
from huimem.vault.keeping import Keeping
from huimem.vault.vault import Vault
from tests.processes import code_of, start
from tests.vault.facts_told import DIET, asked, on, remember
from tests.vault.samples import everything, put


def test_names_that_are_taken(vault: Vault) -> None:
    """Keys of one slug, a file of facts without a key, one that differs only in case: each stays."""
    put(vault, "facts/Plan.md", "A note of mine.\n")
    refs = [remember(vault, "Yes.", key=key) for key in ("a/b", "a b", "A-B", "plan", "notes_2026-W15")]
    refs.append(remember(vault, "Rent goes up."))
    assert sorted(vault.scan().files) == [
        "facts/Plan.md", "facts/a-b-2.md", "facts/a-b-3.md", "facts/a-b.md", "facts/notes_2026-W15-2.md",
        "facts/notes_2026-w15.md", "facts/plan-2.md",
    ]  # fmt: skip
    assert refs[-1] == "notes_2026-W15-2@20260406T091423" and not checking.problems(vault)
    assert [remember(vault, "Yes.", key=key) for key in ("a/b", "a b", "A-B", "plan")] == refs[:4]
    assert remember(vault, "Rent goes up.") == refs[-1]


def test_a_key_of_two_files_goes_on_in_the_first(vault: Vault) -> None:
    put(vault, "facts/diet.md", DIET)
    put(vault, "a.md", DIET.replace("2026-04-01 08:00:00", "2026-04-02").replace("Veg", "Not veg"))
    assert remember(vault, "Not vegetarian.", key="diet") == "diet@20260402T000000"
    before = everything(vault)
    assert remember(vault, "Fish.", on("2026-04-01", "08:00"), key="diet") == "diet@20260401T080000001"
    assert everything(vault)["facts/diet.md"] == before["facts/diet.md"]
    assert everything(vault)["a.md"].startswith(before["a.md"])


def test_namespaces_are_trees_of_their_own(vault: Vault) -> None:
    put(vault, "namespaces/Alice/note.md", "# Hers\n")
    refs = [remember(vault, name or "all", key="diet", namespace=name) for name in ("", "Alice", "bob/work")]
    assert refs == [f"{owner}diet@20260406T091423" for owner in ("", "%41lice/", "bob/work/")]
    assert set(vault.scan().files) == {
        "facts/diet.md", "namespaces/Alice/facts/diet.md", "namespaces/Alice/note.md",
        "namespaces/bob/namespaces/work/facts/diet.md",
    }  # fmt: skip
    remember(vault, "x", namespace="数据" * 30)
    (kept,) = vault.root.glob("namespaces/*/namespace.toml")
    assert "数据" * 30 in kept.read_text(encoding="utf-8")


def test_a_version_that_was_forgotten_gives_its_ref_to_no_other(vault: Vault) -> None:
    put(vault, "feedback/feedback_2026-W15.md", "- 2026-04-06 10:00:00 forgot Diet@20260406T091423\n")
    put(vault, "feedback/feedback_2026-W16.md", "- 2026-04-14 10:00:00 forgot s#20260406T091423\n")
    assert remember(vault, "Fish.", key="diet") == "diet@20260406T091423001"
    assert remember(vault, "Fish.", key="s") == "s@20260406T091423"


def test_an_hour_that_comes_twice_gives_two_refs(tmp_path: Path) -> None:
    vault = Vault.create(tmp_path / "berlin", tz="Europe/Berlin")
    first = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)  # 02:30 of summer, and an hour later 02:30 of winter
    refs = [
        str(Keeping(vault).remember(asked(text, at, key="clock", zone=vault.zone)))
        for text, at in (("Summer.", first), ("Winter.", first + timedelta(hours=1)))
    ]
    assert refs == ["clock@20261025T023000", "clock@20261025T023000001"]
    records = vault.read("facts/clock.md").records
    assert [str(record.ref) for record in records] == refs
    assert [record.valid.start for record in records] == [first, first + timedelta(hours=1, milliseconds=1)]


# Files that are read and never written, and the refusal: front matter at fault, a newer form.
READ_ONLY: list[tuple[str, str, type[HuimemError], str]] = [
    (
        "facts/diet.md",
        "---\nkey: diet\nmood: a: b\n---\n\n## 2026-01-01\n\nx\n",
        VaultError,
        r"facts/diet.md:3: ",
    ),
    ("facts/diet.md", "---\nkey: diet\n\n## 2026-01-01\n\nx\n", VaultError, r"facts/diet.md:1: .*not closed"),
    ("facts/diet.md", "---\nkey: diet\nkey: other\n---\n", VaultError, r"facts/diet.md:3: .*twice"),
    ("facts/diet.md", "huimem: 1\nkey: diet\n---\n", VaultError, r"facts/diet.md:1: "),
    ("facts/diet.md", "---\nhuimem: 2\nkey: diet\n---\n", NewerFormat, "newer"),
    ("facts/notes_2026-W15.md", "---\nkind: note\na: b: c\n---\n", VaultError, r"notes_2026-W15.md:3: "),
]


@pytest.mark.parametrize(("path", "text", "error", "words"), READ_ONLY)
def test_a_file_at_fault_is_never_rewritten(
    path: str, text: str, error: type[HuimemError], words: str, vault: Vault
) -> None:
    put(vault, path, text)
    before = everything(vault)
    with pytest.raises(error, match=words) as refused:
        remember(vault, "Eats fish.", key="diet" if "diet" in path else None)
    assert refused.value.hint and everything(vault) == before


def test_what_the_vault_leaves_out_is_not_written(vault: Vault) -> None:
    put(vault, ".huimemignore", "facts/\n")
    with pytest.raises(VaultError, match="no part of the vault"):
        remember(vault, "Eats fish.", key="diet")
    assert not (vault.root / "facts").exists()


def test_an_edit_in_the_last_instant_is_kept_and_the_fact_too(vault: Vault) -> None:
    place = put(vault, "facts/diet.md", DIET)
    edits = iter(["\nAn afterthought.\n", "\nAnother.\n"])

    def edit(name: str) -> None:
        if name == "before publish" and (text := next(edits, None)):
            place.write_text(place.read_text() + text)

    files.watch_steps(edit)
    remember(vault, "Eats fish.", key="diet")
    assert place.read_text().startswith(f"{DIET}\nAn afterthought.\n\nAnother.\n")
    assert place.read_text().endswith("\nEats fish.\n")


def test_an_endless_fight_ends_in_a_conflict(vault: Vault) -> None:
    place = put(vault, "facts/diet.md", DIET)
    files.watch_steps(
        lambda name: place.write_text(place.read_text() + "x") if name == "before publish" else None
    )
    with pytest.raises(Conflict):
        remember(vault, "Eats fish.", key="diet")
    assert "fish" not in place.read_text()


def test_a_file_renamed_between_two_facts_is_found_by_its_key(vault: Vault) -> None:
    keeping = Keeping(vault)
    keeping.remember(asked("One.", key="diet"))
    (vault.root / "facts/diet.md").rename(vault.root / "mine.md")
    keeping.remember(asked("Two.", key="diet"))
    put(vault, "mine.md", (vault.root / "mine.md").read_text().replace("key: diet", "key: food"))
    keeping.remember(asked("Three.", key="diet"))
    assert sorted(vault.scan().files) == ["facts/diet.md", "mine.md"]
    assert [fact.text for fact in vault.read("mine.md").records] == ["One.", "Two."]


@pytest.mark.parametrize(("key", "path"), [("diet", "facts/diet.md"), (None, "facts/notes_2026-W15.md")])
def test_two_processes_remember_at_once_and_all_of_it_arrives(
    key: str | None, path: str, vault: Vault
) -> None:
    def add(writer: int) -> None:
        keeping = Keeping(vault)
        for number in range(20):
            keeping.remember(asked(f"{writer}.{number}", key=key))

    children = [start(lambda writer=writer: add(writer)) for writer in range(2)]
    assert [code_of(child) for child in children] == [0, 0]
    assert list(vault.scan().files) == [path]
    source = vault.read(path)
    assert sorted(fact.text for fact in source.records) == sorted(
        f"{writer}.{number}" for writer in range(2) for number in range(20)
    )
    assert len({fact.ref for fact in source.records}) == 40 and not source.problems

"""Packing months and putting them back: what goes, what stays, and that all is as it was."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from huimem.errors import NotFound
from huimem.months import Archived
from huimem.records import Message
from huimem.vault.archive import restore, restore_month
from huimem.vault.cold import Plan, plan
from huimem.vault.vault import Vault
from tests.vault.months_told import ALL_MARCH, MARCH, NOW, bytes_of, packed, tell, told_in


@pytest.fixture
def told(tmp_path: Path) -> Vault:
    return told_in(tmp_path / "vault")


# What goes


def names(planned: Plan) -> dict[str, list[str]]:
    return {place.archive: [Path(one.path).stem for one in cold] for place, cold in planned.months.items()}


def test_a_month_goes_when_all_that_was_said_in_its_sessions_is_old_enough(told: Vault) -> None:
    assert names(plan(told, NOW)) == ALL_MARCH


@pytest.mark.parametrize(
    ("keep", "months"),
    [
        (0, ["2026-03", "2026-04", "2026-03"]),
        (4, ["2026-03", "2026-04", "2026-03"]),
        (5, ["2026-03", "2026-03"]),
        (6, []),
    ],
)
def test_so_many_months_stay_open(told: Vault, keep: int, months: list[str]) -> None:
    """`late` was begun in March and goes on in August: with nothing kept it goes into March."""
    found = plan(told, NOW, keep=keep)
    assert [place.month for place in found.months] == months
    assert ("late" in str(names(found))) == (keep == 0)


def test_one_month_alone(told: Vault) -> None:
    assert names(plan(told, NOW, month="2026-04")) == {"archive/2026-04.tar.zst": ["spring"]}


def test_a_clock_of_long_ago_packs_nothing_and_no_date_of_the_disk_makes_anything_old(told: Vault) -> None:
    """H4."""
    for path in told.scan().files:
        os.utime(told.root / path, (0, 0))
    assert not plan(told, datetime(1970, 1, 1, tzinfo=UTC)).months
    assert names(plan(told, NOW)) == ALL_MARCH


def test_a_session_of_the_future_stays(told: Vault) -> None:
    """H4."""
    tell(told, "mistaken", "2026-03-02", "2099-01-01")
    assert "mistaken" not in str(names(plan(told, NOW, keep=0)))


def test_what_is_no_session_stays(told: Vault) -> None:
    """K2."""
    week = told.root / "sessions/2026-W10"
    others = {
        "sessions/2026-W10/sketch.png": b"\x89PNG",
        "sessions/2026-W10/plan.canvas": b"{}",
        "sessions/2026-W10/thoughts.md": b"# Thoughts\n\nno conversation\n",
        "sessions/2026-W10/.hidden.md": b"## User \xc2\xb7 2026-03-02 10:00:00\n\nhi\n",
        "facts/garden.md": b"---\nkind: fact\n---\n\n## likes\n\nmarigolds\n",
        "archive/notes.txt": b"mine",
    }
    for name, data in others.items():
        (told.root / name).parent.mkdir(exist_ok=True, parents=True)
        (told.root / name).write_bytes(data)
    (week / "folder").mkdir()
    packed(told)
    assert {name: (told.root / name).read_bytes() for name in others} == others
    assert (week / "folder").is_dir()


def test_a_file_with_faults_stays_and_is_named(told: Vault) -> None:
    """K1."""
    bad = told.root / "sessions/2026-W10/first.md"
    bad.write_text(bad.read_text().replace("title:", "title: a: b: [\nx:", 1))
    found = plan(told, NOW)
    assert names(found)["archive/2026-03.tar.zst"] == ["second"]
    assert [problem.path for problem in found.kept] == ["sessions/2026-W10/first.md"]
    assert "is not packed" in found.kept[0].message


# A session with a fault, the month that is to be packed, and whether the fault is in the way.
IN_THE_WAY = [
    ("first", None, True),
    ("first", "2026-03", True),
    ("first", "2026-04", False),
    ("spring", "2026-04", True),
    ("spring", "2026-03", False),
    ("late", None, False),
    ("today", None, False),
]


@pytest.mark.parametrize(("name", "month", "named"), IN_THE_WAY)
def test_a_fault_is_named_where_the_file_would_be_packed_without_it(
    told: Vault, name: str, month: str | None, named: bool
) -> None:
    (bad,) = (told.root / "sessions").glob(f"*/{name}.md")
    bad.write_text(bad.read_text() + "\n## User · 2026-02-30 10:00:00\n\nwhen?\n")
    found = plan(told, NOW, month=month)
    assert [Path(problem.path).stem for problem in found.kept] == [name] * named
    assert name not in str(names(found))


def test_a_file_that_cannot_be_read_stays_and_is_named(told: Vault) -> None:
    """K1, E10."""
    place = told.root / "sessions/2026-W10/first.md"
    place.unlink()
    place.mkdir()
    assert names(plan(told, NOW))["archive/2026-03.tar.zst"] == ["second"]
    assert place.is_dir()


# Packing and restoring


def test_packed_and_put_back_all_is_as_it_was(told: Vault) -> None:
    """K10."""
    first = told.root / "sessions/2026-W10/first.md"
    first.chmod(0o640)
    os.utime(first, ns=(1_700_000_000_123_456_789,) * 2)
    before = {
        path: (data, (told.root / path).stat().st_mode, (told.root / path).stat().st_mtime_ns)
        for path, data in bytes_of(told).items()
    }
    done = packed(told)
    assert [(one.place.archive, one.files) for one in done] == [
        (path, len(n)) for path, n in ALL_MARCH.items()
    ]
    assert all(one.size and not one.kept for one in done)
    assert not (told.root / "sessions/2026-W12").exists()
    assert set(told.scan().archives) == set(ALL_MARCH)
    for one in done:
        restore_month(told, one.place)
    assert not told.scan().archives and not list((told.root / "archive").iterdir())
    after = {
        path: (data, (told.root / path).stat().st_mode, (told.root / path).stat().st_mtime_ns)
        for path, data in bytes_of(told).items()
    }
    assert after == before


def test_a_list_and_a_manifest_lie_beside_it(told: Vault) -> None:
    packed(told)
    listed = (told.root / "archive/2026-03.md").read_text(encoding="utf-8")
    assert "- 2026-03-02 · About first · `first#20260302T100000`\n" in listed
    assert "- 2026-03-20 · About second · `second#20260320T100000`\n" in listed
    manifest = (told.root / "archive/2026-03.json").read_text(encoding="utf-8")
    assert '"name": "sessions/2026-W10/first.md"' in manifest and '"sha256"' in manifest


def test_all_that_it_makes_is_private(told: Vault) -> None:
    """I1."""
    before = os.umask(0)
    try:
        packed(told)
    finally:
        os.umask(before)
    made = [told.root / "archive", *(told.root / "archive").iterdir()]
    assert {oct(path.stat().st_mode & 0o077) for path in made} == {"0o0"} and len(made) == 7


def test_packing_again_changes_nothing(told: Vault) -> None:
    """K8."""
    packed(told)
    before = {path.name: path.read_bytes() for path in (told.root / "archive").iterdir()}
    assert packed(told) == ()
    assert {path.name: path.read_bytes() for path in (told.root / "archive").iterdir()} == before


def test_a_packed_file_is_read_as_it_was(told: Vault) -> None:
    before = told.read("sessions/2026-W10/first.md")
    packed(told)
    after = told.read("archive/2026-03.tar.zst/sessions/2026-W10/first.md")
    assert (after.records, after.digest, after.title) == (before.records, before.digest, before.title)
    ref = before.records[0].ref
    assert told.find(ref)[0] == "archive/2026-03.tar.zst/sessions/2026-W10/first.md"
    assert told.id_of("archive/2026-03.tar.zst/sessions/2026-W10/first.md") == ("", "first")


def test_one_file_is_put_back_and_leaves_its_archive(told: Vault) -> None:
    before = bytes_of(told)
    packed(told)
    assert (
        restore(told, Archived("", "2026-03", "sessions/2026-W10/first.md")) == "sessions/2026-W10/first.md"
    )
    assert [m.id for m in told.archives.manifest(MARCH).members] == ["second"]
    assert bytes_of(told) == before
    restore(told, Archived("", "2026-03", "sessions/2026-W12/second.md"))
    assert not (told.root / MARCH.archive).exists() and bytes_of(told) == before


def test_what_is_recorded_to_a_packed_session_goes_on_in_its_file(told: Vault) -> None:
    before = (told.root / "sessions/2026-W10/first.md").read_bytes()
    packed(told)
    more = Message("user", "And the tulips?", NOW)
    told.record([more], session="first", now=NOW)
    after = (told.root / "sessions/2026-W10/first.md").read_bytes()
    assert after.startswith(before) and b"And the tulips?" in after[len(before) :]
    assert [m.id for m in told.archives.manifest(MARCH).members] == ["second"]


def test_what_was_recorded_before_is_recorded_once_also_when_it_is_packed(told: Vault) -> None:
    packed(told)
    before = bytes_of(told)
    said = told.session("archive/2026-03.tar.zst/sessions/2026-W10/first.md").messages
    told.record(said, session="first", now=NOW)
    assert bytes_of(told) == before and not (told.root / "sessions/2026-W10/first.md").exists()


def test_there_is_no_such_month(told: Vault) -> None:
    with pytest.raises(NotFound, match=r"archive/2020-01\.tar\.zst"):
        restore_month(told, Archived("", "2020-01"))


def test_the_list_of_a_namespace_says_how_its_files_come_back(told: Vault) -> None:
    packed(told)
    for folder, line in (("", "2026-03"), ("namespaces/team/", "2026-03 --namespace team")):
        said = (told.root / folder / "archive/2026-03.md").read_text(encoding="utf-8")
        assert f"`huimem unarchive {line}` puts the files back." in said.splitlines()

"""Names that are safe on every disk, and a listing that sees what it should and nothing else."""

from __future__ import annotations

import os
import socket
import time
import unicodedata
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from huimem.errors import UsageError, VaultError
from huimem.files import stamp
from huimem.vault import layout
from huimem.vault.listing import scan
from tests.processes import code_of, start, unprivileged

SHANGHAI = ZoneInfo("Asia/Shanghai")

WEEKS = [
    ("2026-04-06T09:14:23+08:00", "2026-W15"),  # a Monday
    ("2026-04-05T23:59:59+08:00", "2026-W14"),  # the Sunday before
    ("2026-04-05T16:30:00+00:00", "2026-W15"),  # the same Monday, said in UTC
    ("2027-01-01T00:00:00+08:00", "2026-W53"),  # the week belongs to the year of its Thursday
    ("2024-12-30T00:00:00+08:00", "2025-W01"),
]


@pytest.mark.parametrize(("at", "week"), WEEKS)
def test_week_folder(at: str, week: str) -> None:
    assert layout.week_folder(datetime.fromisoformat(at), SHANGHAI) == week


def test_session_names_of_one_second() -> None:
    at, taken = datetime(2026, 4, 6, 1, 14, 23, tzinfo=UTC), set[str]()
    for expected in ("chat_2026-04-06_091423", "chat_2026-04-06_091423-2", "chat_2026-04-06_091423-3"):
        name = layout.session_name(at, SHANGHAI, taken.__contains__)
        assert name == expected
        taken.add(name)


SLUGS = [
    ("diet", "diet"),
    ("Diet", "diet"),
    ("Trade rules (2026)", "trade-rules-2026"),
    ("获取今日龙虎榜", "获取今日龙虎榜"),
    ("a/b", "a-b"),
    ("a\\b", "a-b"),
    ("../../x", "x"),
    ("/etc/x", "etc-x"),
    ("C:\\x", "c-x"),
    ("x.", "x"),
    ("x ", "x"),
    ("-rf", "rf"),
    ("a\0b", "a-b"),
    ("a\nb", "a-b"),
    ("%2e%2e%2f", "2e-2e-2f"),
    ("\u202eabc", "abc"),
    ("CON", "con_"),
    ("nul", "nul_"),
    ("com1", "com1_"),
    ("LPT³", "lpt³_"),
    ("nul.md", "nul-md"),
    ("Straße", "strasse"),
    ("e\u0301", "é"),
    ("हिन्दी", "हिन्दी"),
]


@pytest.mark.parametrize(("text", "name"), SLUGS)
def test_slug(text: str, name: str) -> None:
    assert layout.slug(text) == name


NAMELESS = ["", "..", ".", "~", "🙂", "???", "\u202e"]
LONG = ["x" * 300, "한" * 90, unicodedata.normalize("NFD", "한" * 90), "🙂a" * 100, "é" * 100]


def test_slugs_that_would_be_empty_or_too_long_stay_apart() -> None:
    names = [layout.slug(text) for text in [*NAMELESS, *LONG, *(text + "!" for text in LONG)]]
    assert len(set(names)) == len(names) - 2, "NFC and NFD of one text, with and without !, are one key"
    assert all(0 < len(name.encode()) <= 120 for name in names)


@given(st.text())
def test_a_slug_is_always_a_plain_name(text: str) -> None:
    name = layout.slug(text)
    assert 0 < len(name.encode()) <= 121
    assert layout.inside(name) and "/" not in name
    assert not layout.ignored(f"{name}.md")
    assert name == unicodedata.normalize("NFC", name)
    assert layout.slug(name) in (name, f"{name}_") or len(name) > 100


LABELS = [
    ("alice", "alice"),
    ("my_agent-2", "my_agent-2"),
    ("Alice", "%41lice"),
    ("Alice Müller", "%41lice%20%4d%c3%bcller"),
    ("con", "%63on"),
    ("..", "%2e%2e"),
    ("a/b", "a%2fb"),
    ("100%", "100%25"),
    ("~", "%7e"),
]


@pytest.mark.parametrize(("label", "name"), LABELS)
def test_namespace_labels(label: str, name: str) -> None:
    assert layout.encode_namespace(label) == name
    assert layout.decode_namespace(name) == label


@given(st.text(min_size=1))
def test_any_label_is_a_safe_folder_and_comes_back(label: str) -> None:
    name = layout.encode_namespace(label)
    assert name.isascii() and name == name.lower() and len(name) <= 80
    assert layout.inside(name) and not layout.ignored(name)
    assert layout.namespace_text(name) == name
    assert "~" in name or layout.decode_namespace(name) == label


@given(st.text(min_size=81), st.text(min_size=81))
def test_long_labels_stay_apart(one: str, two: str) -> None:
    assert (layout.encode_namespace(one) == layout.encode_namespace(two)) == (one == two)


NAMESPACES = [
    ("", ""),
    ("alice", "namespaces/alice"),
    ("alice/work", "namespaces/alice/namespaces/work"),
    ("Alice/work", "namespaces/%41lice/namespaces/work"),
]


@pytest.mark.parametrize(("text", "folder"), NAMESPACES)
def test_namespaces_and_folders(text: str, folder: str) -> None:
    assert layout.namespace_folder(text) == folder
    path = f"{folder}/facts/diet.md" if folder else "facts/diet.md"
    assert layout.split_namespace(path) == (layout.namespace_text(text), "facts/diet.md")


@pytest.mark.parametrize("text", ["/", "alice/", "/alice", "a//b"])
def test_empty_labels_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="empty"):
        layout.namespace_text(text)


def test_paths_that_only_look_like_namespaces() -> None:
    assert layout.namespace_of("namespaces/x.md") == ""
    assert layout.namespace_of("notes/namespaces/x/y.md") == ""
    assert layout.namespace_of("namespaces/Alice/x.md") == "%41lice", "a folder that a person made"


INSIDE = [
    ("sessions/2026-W15/chat.md", True),
    ("读书.md", True),
    ("../x", False),
    ("a/../../x", False),
    ("/etc/passwd", False),
    ("", False),
    (".", False),
    (".git/config", False),
    ("a/.hidden", False),
    ("C:/x", False),
    ("a\\..\\x", False),
    ("a\0b", False),
]


@pytest.mark.parametrize(("path", "expected"), INSIDE)
def test_inside(path: str, expected: bool) -> None:
    assert layout.inside(path) is expected


# Files of a vault: what the scan makes of each ("listed", "silent", or words of its problem).
CASES = [
    ("note.md", "listed"),
    ("NOTE2.MD", "listed"),
    ("sessions/2026-W15/chat_2026-04-06_091423.md", "listed"),
    ("sessions/2026-W15/summary_2026-04-06_091423.md", "listed"),
    ("facts/diet.md", "listed"),
    ("namespaces/alice/facts/diet.md", "listed"),
    ("namespaces/alice/namespaces/work/sessions/2026-W15/chat.md", "listed"),
    ("a b/读书 (2).md", "listed"),
    ("Archive/old.md", "listed"),
    ("archive/how-we-archive.md", "listed"),
    ("feedback/what-people-said.md", "listed"),
    ("archive/2025-12.md", "silent"),
    ("namespaces/alice/archive/2025-12.md", "silent"),
    ("feedback/feedback_2026-W15_laptop.md", "silent"),
    ("feedback/feedback_2026-W15_laptop.sync-conflict-20260406-091423-ABCDEF1.md", "silent"),
    ("picture.png", "silent"),
    ("board.canvas", "silent"),
    (".hidden.md", "silent"),
    (".git/HEAD.md", "silent"),
    (".huimem/catalog.md", "silent"),
    (".obsidian/plugins/x.md", "silent"),
    (".trash/x.md", "silent"),
    ("#note.md#", "silent"),
    ("#note.md", "silent"),
    ("note.md~", "silent"),
    ("~note.md", "silent"),
    ("~syncthing~note.md.tmp", "silent"),
    ("note.md.part", "silent"),
    ("note.md.swp", "silent"),
    ("4913", "silent"),
    ("note.sync-conflict-20260406-091423-ABCDEF1.md", "changed on two machines"),
    ("note (conflicted copy 2026-04-06).md", "changed on two machines"),
    ("note (NAS's Conflicted Copy 2026-04-06).md", "changed on two machines"),
    ("note 2.md", "listed"),
]


def test_scan(tmp_path: Path) -> None:
    for path, _ in CASES:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(b"x")
    found = scan(tmp_path)
    words = {problem.path: problem.message for problem in found.problems}
    for path, expected in CASES:
        seen = "listed" if path in found.files else words.pop(path, "silent")
        assert expected in seen, path
    assert not words and not found.unreadable and not found.leftovers
    assert all(found.files[path] == stamp(tmp_path / path) for path in found.files)


def test_what_is_no_regular_file_is_reported_and_never_opened(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.md").write_text("secret")
    os.mkfifo(vault / "fifo.md")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(vault / "socket.md"))
    (vault / "link.md").symlink_to(tmp_path / "outside/secret.md")
    (vault / "folder").symlink_to(tmp_path / "outside")
    (vault / "loop").symlink_to(".")
    (vault / "dangling.md").symlink_to("nowhere")
    (vault / ".#note.md").symlink_to("user@host.1234:5678")
    (vault / "folder.md").mkdir()
    (vault / "folder.md/inner.md").touch()
    found = scan(vault)
    assert list(found.files) == ["folder.md/inner.md"]
    assert {problem.path for problem in found.problems} == {
        "fifo.md", "socket.md", "link.md", "folder", "loop", "dangling.md",
    }  # fmt: skip
    assert len(found.problems) == 6 and all(problem.remedy for problem in found.problems)


def test_a_name_that_is_not_utf8_is_reported_in_words_that_can_be_printed(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.md")).touch()
    (problem,) = scan(tmp_path).problems
    assert problem.path == "caf\\xe9.md"
    str(problem).encode()


def test_what_may_not_be_looked_at_is_never_taken_for_deleted() -> None:
    with unprivileged() as vault:
        (vault / "closed").mkdir()
        (vault / "closed/note.md").touch()
        (vault / "open.md").touch()
        (vault / "closed").chmod(0)
        found = scan(vault)
        (vault / "closed").chmod(0o700)
    assert list(found.files) == ["open.md"]
    assert found.unreadable == ("closed/",)
    assert "cannot be read" in found.problems[0].message


def test_a_missing_vault_is_not_an_empty_one(tmp_path: Path) -> None:
    with pytest.raises(VaultError, match="cannot be listed"):
        scan(tmp_path / "gone")


def test_temp_files_of_dead_writers_are_told(tmp_path: Path) -> None:
    child = start(lambda: None)
    code_of(child)
    (tmp_path / "week").mkdir()
    for pid in (child, os.getpid()):
        (tmp_path / f"week/.huimem-{pid}-00ff.tmp").touch()
    assert scan(tmp_path).leftovers == (f"week/.huimem-{child}-00ff.tmp",)


# .huimemignore, include, and what is left of the files below.
TREE = [
    "AI/a.md",
    "AI/deep/b.md",
    "Journal/c.md",
    "Journal/d/e.md",
    "f.md",
    "sessions/2026-W15/g.md",
    "facts/h.md",
]
FILTERS = [
    ("", [], TREE),
    ("", ["AI/**"], ["AI/a.md", "AI/deep/b.md", "facts/h.md", "sessions/2026-W15/g.md"]),
    ("", ["/f.md", "Journal/*.md"], ["Journal/c.md", "f.md", "facts/h.md", "sessions/2026-W15/g.md"]),
    ("Journal/\n# a comment\n\nb.md", [], ["AI/a.md", "f.md", "facts/h.md", "sessions/2026-W15/g.md"]),
    ("*.md\n!f.md", [], ["f.md"]),
    ("deep/", ["AI/**"], ["AI/a.md", "facts/h.md", "sessions/2026-W15/g.md"]),
    ("sessions/", ["AI/**"], ["AI/a.md", "AI/deep/b.md", "facts/h.md"]),
]


@pytest.mark.parametrize(("ignore", "include", "left"), FILTERS)
def test_filters(ignore: str, include: list[str], left: list[str], tmp_path: Path) -> None:
    for path in TREE:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    if ignore:
        (tmp_path / ".huimemignore").write_text(ignore)
    assert sorted(scan(tmp_path, include).files) == sorted(left)
    rule = layout.Filter.of(tmp_path, include)
    assert sorted(p for p in TREE if rule.takes(p)) == sorted(left), "the same rule for whoever watches"


def test_many_files_are_listed_quickly(tmp_path: Path) -> None:
    for week in range(20):
        folder = tmp_path / f"sessions/2026-W{week:02}"
        folder.mkdir(parents=True)
        for number in range(100):
            (folder / f"chat_2026-01-01_{number:06}.md").touch()
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        assert len(scan(tmp_path).files) == 2000
        best = min(best, time.perf_counter() - start)
    assert best < 0.1, "about 0.015 s on an idle machine"

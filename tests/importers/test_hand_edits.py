"""What the owner of a vault changed, deleted or forgot stays so, whatever an export says again."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.importers.exporting import (
    Source,
    Talk,
    bring,
    export,
    forget_ledger,
    made_vault,
    only_session,
    outcome,
    sessions,
    talk,
    texts_in,
)
from tests.trees import tree

OLD = Talk(talk("One", "Two", "Three", "Four"))
NEW = OLD.grown("Five", "Six")
HAND = "\n## User · 2026-05-01 10:00:00\n\nWritten by hand.\n"


@pytest.fixture(params=["kept", "lost"])
def lose(request: pytest.FixtureRequest) -> Callable[[Path], None]:
    """What becomes of the state folder between two imports."""
    return (lambda root: None) if request.param == "kept" else (lambda root: shutil.rmtree(root / ".huimem"))


@dataclass(frozen=True)
class Edit:
    """What is put in place of what in the session's file, and what then differs from the export."""

    old: str
    new: str
    edited: int = 0
    source: Source = "chatgpt"


def turned(text: str) -> str:
    """The last two turns have changed places."""
    head, *turns = re.split(r"(?=^## User)", text, flags=re.MULTILINE)
    return head + "\n\n".join(turn.strip("\n") for turn in reversed(turns)) + "\n"


EDITS = {
    "text": Edit("Two\n", "Two, or rather 2\n", 1),
    "text of the last": Edit("Four\n", "Four, or rather 4\n", 1),
    "text, emptied": Edit("Two\n", "\n", 1),
    "text, to that of another": Edit("Two\n", "Four\n", 1),
    "time": Edit("Assistant · 2026-04-06 09:14:30", "Assistant · 2026-04-06 09:15:00", 1),
    "time of the first": Edit("User · 2026-04-06 09:14:23", "User · 2026-04-06 09:00:00", 1),
    "time of the last": Edit("Assistant · 2026-04-06 09:14:44", "Assistant · 2026-04-06 09:59:00", 1),
    "speaker": Edit("## Assistant · 2026-04-06 09:14:30", "## Assistant (Claude) · 2026-04-06 09:14:30", 1),
    "speaker of the last": Edit("## Assistant · 2026-04-06 09:14:44", "## System · 2026-04-06 09:14:44", 1),
    "title": Edit("Trading days", "Which days I trade"),
    "keys": Edit("source: chatgpt\n", "mine: yes\nsource: chatgpt\nrating: 5\n"),
    "blank lines": Edit("## User", "\n\n\n## User"),
    "short heading": Edit("## User · 2026-04-06 09:14:37", "## User 09:14:37"),
    "preface": Edit("# Trading days\n", "# Trading days\n\nA remark on all of it. [[link]]\n"),
    "undated text": Edit("Two\n", "Two, or rather 2\n", 1, "undated"),
    "undated speaker": Edit("## Assistant · ", "## Assistant (Claude) · ", 2, "undated"),
}


@pytest.mark.parametrize("case", EDITS)
def test_an_edit_stays_and_what_is_new_comes_in(
    case: str, vault: Path, tmp_path: Path, lose: Callable[[Path], None]
) -> None:
    edit = EDITS[case]
    bring(vault, export(tmp_path / "conversations.json", edit.source, [OLD]))
    path = only_session(vault)
    text = path.read_text()
    assert edit.old in text
    path.write_text(text.replace(edit.old, edit.new))
    edited = path.read_bytes()
    lose(vault)
    report = bring(vault, export(tmp_path / "conversations.json", edit.source, [NEW]))
    wanted = {"updated": 1, "added": 2, "edited": edit.edited}
    assert outcome(report) == {name: count for name, count in wanted.items() if count}
    assert path.read_bytes().startswith(edited.rstrip(b"\n"))
    assert texts_in(vault)[-2:] == ["Five", "Six"]
    assert outcome(bring(vault, tmp_path / "conversations.json")) == {"unchanged": 1}


@pytest.mark.parametrize("source", ["chatgpt", "undated"])
def test_a_turn_written_by_hand_stays_where_it_is(
    source: Source, vault: Path, tmp_path: Path, lose: Callable[[Path], None]
) -> None:
    bring(vault, export(tmp_path / "conversations.json", source, [OLD]))
    path = only_session(vault)
    with path.open("a") as file:
        file.write(HAND)
    lose(vault)
    report = bring(vault, export(tmp_path / "conversations.json", source, [NEW]))
    assert outcome(report) == {"updated": 1, "added": 2}
    assert texts_in(vault) == ["One", "Two", "Three", "Four", "Written by hand.", "Five", "Six"]


def test_turns_in_another_order_stay_so(vault: Path, tmp_path: Path, lose: Callable[[Path], None]) -> None:
    bring(vault, export(tmp_path / "conversations.json", "chatgpt", [OLD]))
    path = only_session(vault)
    path.write_text(turned(path.read_text()))
    lose(vault)
    report = bring(vault, export(tmp_path / "conversations.json", "chatgpt", [NEW]))
    assert outcome(report) == {"updated": 1, "added": 2}
    assert texts_in(vault) == ["Three", "Four", "One", "Two", "Five", "Six"]


def test_a_file_with_windows_line_ends_keeps_them(
    vault: Path, tmp_path: Path, lose: Callable[[Path], None]
) -> None:
    bring(vault, export(tmp_path / "conversations.json", "chatgpt", [OLD]))
    path = only_session(vault)
    before = path.read_bytes().replace(b"\n", b"\r\n")
    path.write_bytes(before)
    lose(vault)
    report = bring(vault, export(tmp_path / "conversations.json", "chatgpt", [NEW]))
    assert outcome(report) == {"updated": 1, "added": 2}
    after = path.read_bytes()
    assert after.startswith(before) and b"\n" not in after.replace(b"\r\n", b"")


def test_a_file_that_no_longer_says_where_it_came_from_is_known_by_the_ledger(
    vault: Path, tmp_path: Path
) -> None:
    bring(vault, export(tmp_path / "conversations.json", "chatgpt", [OLD]))
    path = only_session(vault)
    path.write_text(re.sub(r"source.*\n", "", path.read_text()))
    report = bring(vault, export(tmp_path / "conversations.json", "chatgpt", [NEW]))
    assert outcome(report) == {"updated": 1, "added": 2} and len(sessions(vault)) == 1


def test_an_unreadable_session_is_not_brought_in_a_second_time(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lose: Callable[[Path], None]
) -> None:
    bring(vault, export(tmp_path / "conversations.json", "chatgpt", [OLD]))
    path = only_session(vault)
    path.write_bytes(path.read_bytes() + b"x" * 5000)
    before = tree(vault)
    lose(vault)
    export(tmp_path / "conversations.json", "chatgpt", [NEW])
    with monkeypatch.context() as patch:
        patch.setattr("huimem.files.read.__kwdefaults__", {"limit": 4000, "within": None})
        report = bring(vault, tmp_path / "conversations.json")
    assert outcome(report) == {"skipped": 1} and "too large" in report.skipped[0][1].reason
    assert tree(vault) == before


# Deleted.

TAKEN_OUT = {
    "the second": (r"## Assistant · 2026-04-06 09:14:30\n\nTwo\n\n", ["One", "Three", "Four"]),
    "the first": (r"## User · 2026-04-06 09:14:23\n\nOne\n\n", ["Two", "Three", "Four"]),
    "a turn": (r"## User · 2026-04-06 09:14:23(?s:.*)Two\n\n", ["Three", "Four"]),
    "the last": (r"\n## Assistant · 2026-04-06 09:14:44\n\nFour\n", ["One", "Two", "Three"]),
    "all": (r"## User(?s:.*)", []),
}


@pytest.mark.parametrize("case", TAKEN_OUT)
@pytest.mark.parametrize("source", ["chatgpt", "undated"])
def test_what_was_deleted_stays_deleted_until_it_is_asked_for(
    case: str, source: Source, vault: Path, tmp_path: Path
) -> None:
    bring(vault, export(tmp_path / "conversations.json", source, [OLD]))
    path = only_session(vault)
    out, rest = TAKEN_OUT[case]
    if source == "undated":
        out = re.sub(r"2026-[0-9: -]*", lambda match: r"[0-9.: -]*", out)
    path.write_text(re.sub(out, "", path.read_text()))
    before = path.read_bytes()
    assert texts_in(vault) == rest
    assert outcome(bring(vault, tmp_path / "conversations.json")) == {"unchanged": 1}
    assert path.read_bytes() == before
    report = bring(vault, export(tmp_path / "conversations.json", source, [NEW]))
    assert outcome(report) == {"updated": 1, "added": 2, "gone": 4 - len(rest)}
    assert texts_in(vault) == [*rest, "Five", "Six"]
    report = bring(vault, tmp_path / "conversations.json", again=True)
    assert outcome(report) == {"updated": 1, "added": 4 - len(rest)}
    assert texts_in(vault) == ["One", "Two", "Three", "Four", "Five", "Six"]
    assert outcome(bring(vault, tmp_path / "conversations.json")) == {"unchanged": 1}


@pytest.mark.parametrize("case", ["the second", "the first", "a turn"])
def test_without_the_ledger_what_was_deleted_before_the_end_stays_deleted(
    case: str, vault: Path, tmp_path: Path
) -> None:
    bring(vault, export(tmp_path / "conversations.json", "chatgpt", [OLD]))
    path = only_session(vault)
    out, rest = TAKEN_OUT[case]
    path.write_text(re.sub(out, "", path.read_text()))
    forget_ledger(vault)
    report = bring(vault, export(tmp_path / "conversations.json", "chatgpt", [NEW]))
    assert outcome(report) == {"updated": 1, "added": 2, "gone": 4 - len(rest)}
    assert texts_in(vault) == [*rest, "Five", "Six"]


def test_a_deleted_file_stays_deleted_until_it_is_asked_for(vault: Path, tmp_path: Path) -> None:
    path = export(tmp_path / "conversations.json", "chatgpt", [OLD])
    bring(vault, path)
    before = tree(vault)
    only_session(vault).unlink()
    for each in (OLD, NEW, NEW):
        assert outcome(bring(vault, export(path, "chatgpt", [each]))) == {"deleted": 1}
        assert sessions(vault) == []
    export(path, "chatgpt", [OLD])
    assert outcome(bring(vault, path, again=True)) == {"new": 1, "added": 4}
    assert tree(vault) == before
    assert outcome(bring(vault, path)) == {"unchanged": 1}


# Forgotten.

SESSION = "chat_2026-04-06_091423"
FIRST, SECOND = f"{SESSION}#20260406T091423", f"{SESSION}#20260406T091437"


def feedback(root: Path, *lines: str, namespace: str = "") -> None:
    folder = root / "namespaces" / namespace / "feedback" if namespace else root / "feedback"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "feedback_2026-W15_laptop.md").open("a") as file:
        file.writelines(f"- {line}\n" for line in lines)


def drop(path: Path, pattern: str) -> None:
    """Do to a session what forgetting does."""
    text = re.sub(pattern, "", path.read_text())
    if "## " in text:
        path.write_text(text)
    else:
        path.unlink()


TURN_ONE, TURN_TWO = TAKEN_OUT["a turn"][0], r"\n## User · 2026-04-06 09:14:37(?s:.*)"


@pytest.mark.parametrize(
    ("ref", "pattern", "rest"),
    [(FIRST, TURN_ONE, ["Three", "Four"]), (SECOND, TURN_TWO, ["One", "Two"])],
    ids=["first", "last"],
)
def test_a_forgotten_turn_stays_out_until_it_is_restored(
    ref: str, pattern: str, rest: list[str], vault: Path, tmp_path: Path, lose: Callable[[Path], None]
) -> None:
    path = export(tmp_path / "conversations.json", "chatgpt", [OLD])
    bring(vault, path)
    feedback(vault, f"2026-05-01 10:00:00 forgot {ref}")
    drop(only_session(vault), pattern)
    lose(vault)
    assert outcome(bring(vault, path)).get("unchanged") == 1
    assert texts_in(vault) == rest
    report = bring(vault, export(path, "chatgpt", [NEW]))
    assert outcome(report) == {"updated": 1, "added": 2, "out": 2}
    assert texts_in(vault) == [*rest, "Five", "Six"]
    lose(vault)
    feedback(vault, f"2026-05-02 10:00:00 restored {ref}")
    assert outcome(bring(vault, path)) == {"updated": 1, "added": 2}
    assert texts_in(vault) == ["One", "Two", "Three", "Four", "Five", "Six"]
    assert outcome(bring(vault, path)) == {"unchanged": 1}


def test_what_was_restored_and_then_deleted_by_hand_stays_deleted(vault: Path, tmp_path: Path) -> None:
    path = export(tmp_path / "conversations.json", "chatgpt", [OLD])
    bring(vault, path)
    drop(only_session(vault), TURN_ONE)
    feedback(vault, f"2026-05-01 10:00:00 forgot {FIRST}", f"2026-05-02 10:00:00 restored {FIRST}")
    assert outcome(bring(vault, path)) == {"updated": 1, "added": 2}
    drop(only_session(vault), TURN_ONE)
    assert outcome(bring(vault, path)) == {"unchanged": 1, "gone": 2}
    assert texts_in(vault) == ["Three", "Four"]


@pytest.mark.parametrize("namespace", ["", "alice"])
def test_a_conversation_forgotten_whole_stays_out_until_it_is_restored(
    namespace: str, vault: Path, tmp_path: Path, lose: Callable[[Path], None]
) -> None:
    path = export(tmp_path / "conversations.json", "chatgpt", [OLD])
    bring(vault, path, namespace=namespace)
    before = tree(vault)
    owner = f"{namespace}/" if namespace else ""
    lines = [f"2026-05-01 10:00:00 forgot {owner}{ref}" for ref in (FIRST, SECOND)]
    feedback(vault, *lines, namespace=namespace)
    only_session(vault).unlink()
    lose(vault)
    for again in (False, True):
        report = bring(vault, path, namespace=namespace, again=again)
        assert outcome(report) in ({"forgotten": 1}, {"deleted": 1}), again
    assert sessions(vault) == []
    feedback(
        vault,
        *(line.replace("forgot", "restored").replace("01", "02") for line in lines),
        namespace=namespace,
    )
    bring(vault, path, namespace=namespace, again=True)
    shutil.rmtree(only_session(vault).parents[2] / "feedback")
    assert tree(vault) == before


def test_forgotten_in_one_namespace_is_not_forgotten_in_another(vault: Path, tmp_path: Path) -> None:
    path = export(tmp_path / "conversations.json", "chatgpt", [OLD])
    feedback(
        vault, *(f"2026-05-01 10:00:00 forgot alice/{ref}" for ref in (FIRST, SECOND)), namespace="alice"
    )
    assert outcome(bring(vault, path, namespace="alice")) == {"forgotten": 1}
    assert outcome(bring(vault, path, namespace="bob")) == {"new": 1, "added": 4}
    assert outcome(bring(vault, path)) == {"new": 1, "added": 4}
    assert outcome(bring(vault, path, namespace="bob")) == {"unchanged": 1}


def test_a_forgotten_turn_is_known_in_the_zone_of_its_session(vault: Path, tmp_path: Path) -> None:
    path = export(tmp_path / "conversations.json", "chatgpt", [OLD])
    bring(vault, path)
    feedback(vault, f"2026-05-01 10:00:00 forgot {SECOND}")
    drop(only_session(vault), TURN_TWO)
    made_vault(vault, "America/New_York")
    forget_ledger(vault)
    assert outcome(bring(vault, path)) == {"unchanged": 1, "out": 2}
    assert texts_in(vault) == ["One", "Two"]


TWINS = [Talk(talk(f"Hello {n}", f"Answer {n}"), f"c-{n}") for n in range(2)]
TWIN_REFS = [f"{SESSION}#20260406T091423", f"{SESSION}-2#20260406T091423"]


@pytest.mark.parametrize("gone", [(0,), (1,), (0, 1)])
def test_of_two_that_began_in_one_second_the_forgotten_stay_out(
    gone: tuple[int, ...], vault: Path, tmp_path: Path, lose: Callable[[Path], None]
) -> None:
    path = export(tmp_path / "conversations.json", "chatgpt", TWINS)
    bring(vault, path)
    files = sorted(sessions(vault), key=lambda each: len(each.name))
    for number in gone:
        feedback(vault, f"2026-05-01 10:00:00 forgot {TWIN_REFS[number]}")
        files[number].unlink()
    rest = texts_in(vault)
    lose(vault)
    bring(vault, path)
    assert texts_in(vault) == rest
    third = Talk(talk("Hello 2", "Answer 2"), "c-2")
    bring(vault, export(path, "chatgpt", [*TWINS, third]))
    assert sorted(texts_in(vault)) == sorted([*rest, "Answer 2", "Hello 2"])


@pytest.mark.parametrize(
    "line",
    [
        "2026-05-01 10:00:00 forgot",
        "2026-05-01T10:00:00+08:00 forgot",
        "2026-05-01 10:00:00.250 +0800 forgot",
    ],
)
def test_the_log_is_read_in_every_way_it_may_be_written(line: str, vault: Path, tmp_path: Path) -> None:
    feedback(vault, f"2026-04-01 10:00:00 restored {FIRST}", f"{line} {FIRST}\r", f"{line} {SECOND}")
    report = bring(vault, export(tmp_path / "conversations.json", "chatgpt", [OLD]))
    assert outcome(report) == {"forgotten": 1}

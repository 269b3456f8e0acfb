"""The table of mutants is whole and its runner believes only failures; and what no other test noticed.

Every row of the table's has a mutant, each fits the code as it is, and its tests are there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from watchdog.events import FileCreatedEvent

from huimem import files, upkeep
from huimem.errors import Conflict
from huimem.index.sync import Listing
from huimem.vault import coverage
from tests.faults.test_b import STILL, Told
from tests.index.made import opened, state
from tests.index.made import vault as vault_of_dicts
from tests.mutants import ROOT, ROWS, Copy, Mutant, judged, main, read_mutants
from tests.promises import Promise, unproven
from tests.test_watching import watching, write
from tests.vault.watching_parts import Made

MUTANTS = read_mutants()


def test_every_row_has_a_mutant_and_none_is_of_another() -> None:
    assert {mutant.row for mutant in MUTANTS} == {*ROWS}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.row} {mutant.why}")
def test_a_mutant_fits_the_code_and_compiles(mutant: Mutant) -> None:
    assert mutant.file.startswith("huimem/") and mutant.why and mutant.tests
    compile(mutant.applied((ROOT / mutant.file).read_text(encoding="utf-8")), mutant.file, "exec")


def test_the_tests_of_mutants_are_there() -> None:
    assert [*unproven([Promise(0, mutant.row, mutant.why, mutant.tests) for mutant in MUTANTS])] == []


GUARD = "def guarded(n):\n    if n < 0:\n        return 0\n    return n\n"
MADE = Mutant("A1", "none below nothing", "guard.py", "if n < 0:", "if n < -9:", ("test_guard.py::test_low",))
# A text that does not stand there, one that stands there twice, and one that would stay as it is.
UNFIT = [replace(MADE, old="if n > 0:"), replace(MADE, old="return"), replace(MADE, new=MADE.old)]


@pytest.mark.parametrize("mutant", UNFIT)
def test_a_mutant_that_does_not_fit_is_refused(mutant: Mutant) -> None:
    with pytest.raises(ValueError, match=r"^A1: '.*' stands \d times in guard\.py$"):
        mutant.applied(GUARD)


def test_a_row_without_a_mutant_is_no_success(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["A1", "Z9"]) == 2 and capsys.readouterr().err == "no mutant of Z9\n"


# What becomes of the guard, and what is said of that.
JUDGED = [
    (MADE, "A1  caught "),
    (replace(MADE, tests=("test_guard.py::test_high",)), "A1  SURVIVED "),
    (replace(MADE, tests=("test_guard.py::test_none",)), "A1  NOT RUN "),
    (replace(MADE, new="if :"), "A1  NOT RUN "),
]


@pytest.mark.slow
def test_only_a_test_that_fails_catches_a_mutant(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "guard.py").write_text(GUARD, encoding="utf-8")
    (tmp_path / "test_guard.py").write_text(
        "from guard import guarded\n"
        "def test_low(): assert guarded(-1) == 0\n"
        "def test_high(): assert guarded(1) == 1\n",
        encoding="utf-8",
    )
    caught = judged([mutant for mutant, _ in JUDGED], [Copy(tmp_path)])
    assert caught == [words.endswith("caught ") for _, words in JUDGED]
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("A1  ")]
    assert len(lines) == len(JUDGED)
    assert all(line.startswith(words) for line, (_, words) in zip(lines, JUDGED, strict=True)), lines
    assert (tmp_path / "guard.py").read_text(encoding="utf-8") == GUARD


# Protections that mutants found no test for.


def test_a_file_that_is_gone_for_a_moment_keeps_its_rows(tmp_path: Path) -> None:
    """A1, A18: a listing that was made between the two halves of a save is not the last word."""
    notes, index = vault_of_dicts(), opened(tmp_path / "state")
    notes.sync(index)
    before = state(index)
    without = {path: stamp for path, stamp in notes.stamps.items() if path != "0.md"}
    report = index.sync(without, notes.read, again=lambda: Listing(notes.stamps))
    assert not report and state(index) == before
    index.close()


def test_what_happens_while_it_looks_is_looked_at_afterwards(
    outside_temp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B15: a look forgets the events before it, and none of those that come meanwhile."""
    monkeypatch.setattr(coverage, "watched", lambda: None)
    root, observer, sync = outside_temp / "vault", Told(), upkeep.sync
    (root / "notes").mkdir(parents=True)
    (root / "huimem.toml").write_text('timezone = "UTC"\n', encoding="utf-8")
    late = root / "notes/late.md"

    def looked(*given: object, **named: object) -> upkeep.Synced:
        did = sync(*given, **named)  # type: ignore[arg-type]
        if not late.exists():
            write(late, "hazelnut")
            observer.tell([FileCreatedEvent(str(late))])
        return did

    monkeypatch.setattr(upkeep, "sync", looked)
    with watching(root, STILL, observer=Made(lambda: observer)) as one:
        assert one.counts() == (1, 0, 0) and one.found("hazelnut")


@pytest.fixture
def _nobody_watches() -> Iterator[None]:
    yield
    files.watch_steps(None)


@pytest.mark.usefixtures("_nobody_watches")
def test_an_edit_between_the_last_look_and_a_deletion_stands(tmp_path: Path) -> None:
    """D6, K3: of a file that is deleted for being packed."""
    path = tmp_path / "note.md"
    path.write_bytes(b"packed")
    files.watch_steps(lambda name: path.write_bytes(b"edited") and None if name == "before remove" else None)
    with pytest.raises(Conflict):
        files.take_away(path, b"packed")
    assert path.read_bytes() == b"edited"

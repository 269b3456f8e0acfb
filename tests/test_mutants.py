"""The table of mutants is whole, and its runner believes only failures.

Every row of the table's has a mutant, each fits the code as it is, and its tests are there.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.mutants import ROOT, ROWS, Copy, Mutant, judged, main, read_mutants
from tests.promises import Promise, unproven

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

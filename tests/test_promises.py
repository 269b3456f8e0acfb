"""The table of promises holds, and the ledger that guards it notices what it should."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.promises import ROOT, Promise, read_promises, unkept, unproven


def test_every_promise_names_proofs_that_exist() -> None:
    assert [*unproven(read_promises())] == []


NO_TABLE = [
    ("", ":1:"),
    ("promise\tissue\tproofs\n", ":1:"),
    ("issue\tpromise\tproofs\n2\tit works\n", ":2:"),
    ("issue\tpromise\tproofs\n2\tit works\ta::b\tmore\n", ":2:"),
    ("issue\tpromise\tproofs\n\n2\tit works\ta::b,\n", ":3:"),
    ("issue\tpromise\tproofs\n2\t \ta::b\n", ":2:"),
]


@pytest.mark.parametrize(("text", "place"), NO_TABLE)
def test_a_malformed_table_is_refused_with_its_line(text: str, place: str, tmp_path: Path) -> None:
    (tmp_path / "promises.tsv").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=f"promises.tsv{place}"):
        read_promises(tmp_path / "promises.tsv")


PROOFS = [
    ("tests/test_a.py::test_one", True),
    ("tests/test_a.py::test_one[x-1]", True),
    ("tests/test_a.py::TestAll::test_two", True),
    ("tests/test_a.py::test_two", False),
    ("tests/test_a.py", False),
    ("tests/test_b.py::test_one", False),
    ("benchmark:recall p50", True),
    ("benchmark:recall p99", False),
]


@pytest.mark.parametrize(("proof", "there"), PROOFS)
def test_a_proof_must_be_there(proof: str, there: bool, tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text(
        "def test_one(): ...\nclass TestAll:\n    def test_two(self): ...\n", encoding="utf-8"
    )
    (tmp_path / "RESULTS.md").write_text("| recall p50 | 12 ms |\n", encoding="utf-8")
    faults = [*unproven([Promise(2, "2", "it works", (proof,))], tmp_path, tmp_path / "RESULTS.md")]
    assert bool(faults) is not there


OUTCOMES = [
    # what became of the tests of one promise, how many faults that makes
    ({"t.py::test_x": "passed"}, 0),
    ({"t.py::test_x": "failed"}, 0),
    ({"t.py::test_x": "deselected"}, 0),
    ({"t.py::test_x": "skipped"}, 1),
    ({"t.py::test_x": "not run"}, 1),
    ({"t.py::test_x[a]": "passed", "t.py::test_x[b]": "skipped"}, 1),
    ({"t.py::test_xy": "passed"}, 1),
    ({}, 1),
]


@pytest.mark.parametrize(("outcomes", "faults"), OUTCOMES)
def test_a_whole_run_must_keep_its_promises(outcomes: dict[str, str], faults: int) -> None:
    assert len([*unkept([Promise(2, "2", "it works", ("t.py::test_x",))], outcomes)]) == faults


RUNS = [
    # arguments, what pytest's exit code must be
    ((), 1),
    pytest.param(("-n", "2"), 1, marks=pytest.mark.slow),
    pytest.param(("-n", "2", "-m", "not skipped"), 0, marks=pytest.mark.slow),
    (("-k", "test_kept"), 0),
    pytest.param(("test_it.py",), 0, marks=pytest.mark.slow),
    pytest.param(("-m", "not skipped"), 0, marks=pytest.mark.slow),
]


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "code"), RUNS)
def test_a_skipped_proof_fails_a_whole_run_only(
    arguments: tuple[str, ...], code: int, tmp_path: Path
) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = skipped\n", encoding="utf-8")
    (tmp_path / "conftest.py").write_text(
        "from pathlib import Path\nfrom tests.promises import Ledger\n"
        "def pytest_configure(config):\n"
        "    config.pluginmanager.register(Ledger(Path(__file__).with_name('promises.tsv')))\n",
        encoding="utf-8",
    )
    (tmp_path / "test_it.py").write_text(
        "import pytest\ndef test_kept(): pass\n"
        "@pytest.mark.skipped\n@pytest.mark.skip\ndef test_skipped(): pass\n",
        encoding="utf-8",
    )
    (tmp_path / "promises.tsv").write_text(
        "issue\tpromise\tproofs\n2\tit works\ttest_it.py::test_kept,test_it.py::test_skipped\n",
        encoding="utf-8",
    )
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert run.returncode == code, run.stdout + run.stderr
    assert ("test_it.py::test_skipped was skipped" in run.stdout) is (code == 1)

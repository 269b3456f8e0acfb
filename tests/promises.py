"""Promises and their proofs: a table of what huimem says it does, each row naming the tests that show it.

In: `promises.tsv` (`issue`, `promise`, `proofs` between tabs; proofs are test ids
`tests/x.py::test_y` or `benchmark:name` between commas) and what became of each test in a run.
Out: the promises that this run has not kept.
"""

from __future__ import annotations

import ast
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
TABLE = Path(__file__).with_name("promises.tsv")
RESULTS = Path(__file__).parent / "benchmarks" / "RESULTS.md"
HEADER = ("issue", "promise", "proofs")
BENCHMARK = "benchmark:"

# What may become of a collected test; a failure is the run's own business.
PASSED, FAILED, SKIPPED, DESELECTED, NOT_RUN = "passed", "failed", "skipped", "deselected", "not run"
COLLECTED = "huimem collected"  # what a worker tells, by this name


@dataclass(frozen=True, slots=True)
class Promise:
    """One row; `line` is 1-based."""

    line: int
    issue: str
    text: str
    proofs: tuple[str, ...]

    @property
    def tests(self) -> tuple[str, ...]:
        return tuple(proof for proof in self.proofs if not proof.startswith(BENCHMARK))

    @property
    def benchmarks(self) -> tuple[str, ...]:
        return tuple(proof.removeprefix(BENCHMARK) for proof in self.proofs if proof.startswith(BENCHMARK))


def read_promises(table: Path = TABLE) -> tuple[Promise, ...]:
    """The rows of a table. Raises ValueError naming the line that is none."""
    lines = table.read_text(encoding="utf-8").splitlines()
    if not lines or tuple(lines[0].split("\t")) != HEADER:
        raise ValueError(f"{table.name}:1: the header must be {' '.join(HEADER)}, between tabs")
    rows = ((at, line.split("\t")) for at, line in enumerate(lines[1:], start=2) if line.strip())
    return tuple(_promise(table, at, cells) for at, cells in rows)


def _promise(table: Path, line: int, cells: Sequence[str]) -> Promise:
    proofs = tuple(proof.strip() for proof in cells[-1].split(",")) if len(cells) == len(HEADER) else ()
    if not proofs or not all((*proofs, *map(str.strip, cells))):
        raise ValueError(f"{table.name}:{line}: a row holds {', '.join(HEADER)}, between tabs, none empty")
    return Promise(line, cells[0].strip(), cells[1].strip(), proofs)


def unproven(promises: Sequence[Promise], root: Path = ROOT, results: Path = RESULTS) -> Iterator[str]:
    """Proofs that are not there: no such test in its file, no such benchmark among the results."""
    measured = results.read_text(encoding="utf-8") if results.exists() else ""
    for promise in promises:
        for test in promise.tests:
            if not _defined(root, test):
                yield f"{TABLE.name}:{promise.line}: there is no test {test}"
        for name in promise.benchmarks:
            if name not in measured:
                yield f"{TABLE.name}:{promise.line}: {results.name} has no benchmark {name}"


def _defined(root: Path, test: str) -> bool:
    """Is there a function, in a class or not, of a test's name? Read from the source, without a run."""
    file, *names = test.partition("[")[0].split("::")
    if not names or not (root / file).is_file():
        return False
    body = _parsed((root / file).read_text(encoding="utf-8"))
    for name in names:
        found = [node for node in body if getattr(node, "name", None) == name]
        if not found:
            return False
        body = getattr(found[0], "body", ())
    return True


@lru_cache(512)
def _parsed(source: str) -> Sequence[ast.AST]:
    return ast.parse(source).body


def unkept(promises: Sequence[Promise], outcomes: Mapping[str, str]) -> Iterator[str]:
    """Promises that a whole run does not keep, given the outcome of every test by its full id.

    A test that the markers of this run leave out is owed to the run that takes it in.
    """
    for promise in promises:
        for test in promise.tests:
            found = {id: outcome for id, outcome in outcomes.items() if test in (id, id.partition("[")[0])}
            if not found:
                yield f"{TABLE.name}:{promise.line}: {test} was not collected"
            for id, outcome in found.items():
                if outcome in (SKIPPED, NOT_RUN):
                    yield f"{TABLE.name}:{promise.line}: {id} was {outcome}"


class Ledger:
    """The part of pytest that writes down what became of each test and judges a whole run by it.

    A run is whole when it was given no path, no `-k` and nothing else that leaves tests out but
    markers, and went to its end. Where a run has workers, they tell what they collected and only the
    one who hands out the tests judges.
    """

    def __init__(self, table: Path = TABLE) -> None:
        self._table = table
        self._outcomes: dict[str, str] = {}
        self._unkept: list[str] = []

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Generator[None, Any, Any]:
        collected = [item.nodeid for item in items]
        result = yield
        kept = {item.nodeid for item in items}
        self._outcomes = {id: NOT_RUN if id in kept else DESELECTED for id in collected}
        return result

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        for id, outcome in getattr(node, "workeroutput", {}).get(COLLECTED, {}).items():
            self._outcomes.setdefault(id, outcome)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        before = self._outcomes.get(report.nodeid)
        if report.failed or before == FAILED:
            self._outcomes[report.nodeid] = FAILED
        elif report.skipped:
            self._outcomes[report.nodeid] = SKIPPED
        elif report.when == "call":
            self._outcomes[report.nodeid] = PASSED

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        told = getattr(session.config, "workeroutput", None)
        if told is not None:
            unrun = (NOT_RUN, DESELECTED)
            told[COLLECTED] = {id: outcome for id, outcome in self._outcomes.items() if outcome in unrun}
            return
        if _whole(session):
            self._unkept = [*unkept(read_promises(self._table), self._outcomes)]
        if self._unkept and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._unkept:
            terminalreporter.section("promises not kept", red=True)
            for line in self._unkept:
                terminalreporter.line(line)


def _whole(session: pytest.Session) -> bool:
    option = session.config.option
    narrowed = option.keyword or option.deselect or option.ignore or option.ignore_glob or option.collectonly
    given = session.config.args_source is pytest.Config.ArgsSource.ARGS
    return not (given or narrowed or getattr(option, "lf", False) or session.shouldstop or session.shouldfail)

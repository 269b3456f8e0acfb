"""For every test: a home of its own. For every run: a ledger of the promises that it keeps."""

from __future__ import annotations

import io
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings

from huimem.surfaces.cli.main import run
from tests.promises import Ledger

GOOD = "## User · 2026-04-06 09:00:00\n\nThe marigold is by the door.\n"

settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--no-skips", action="store_true", help="a skipped test fails: every tool must be there")


def pytest_configure(config: pytest.Config) -> None:
    _hear_signals()
    config.pluginmanager.register(Ledger(), "promises")
    if config.getoption("--no-skips"):
        config.pluginmanager.register(NoSkips(), "no-skips")


def _hear_signals() -> None:
    """A shell has what it starts in the background ignore these, and so do all processes from there on."""
    for name, action in (("SIGINT", signal.default_int_handler), ("SIGHUP", signal.SIG_DFL)):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, action)


class NoSkips:
    """A test or a module that skips itself is a failure that says why it did."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if report.skipped and not hasattr(report, "wasxfail"):
            report.outcome = "failed"
            report.longrepr = f"{item.nodeid} was skipped: {call.excinfo.value if call.excinfo else ''}"
        return report

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        if report.skipped:
            report.outcome = "failed"
            report.longrepr = f"{collector.nodeid} was skipped: {report.longrepr}"
        return report


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Names of home folders to be. They lie together: pytest lists the folder above for each it makes."""
    above = tmp_path_factory.mktemp("homes")
    return (above / str(number) for number in count())


@pytest.fixture(autouse=True)
def own_home(homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder without settings, so that no test reads or writes those of whoever runs it."""
    home = next(homes)
    home.mkdir()
    for name in [name for name in os.environ if name.startswith(("HUIMEM_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    return home


@pytest.fixture
def outside_temp() -> Iterator[Path]:
    """An empty folder that lies not below the temp folder, where editors and systems do some things else."""
    above = "/var/tmp" if os.path.isdir("/var/tmp") else None
    with tempfile.TemporaryDirectory(prefix="huimem-", dir=above) as folder:
        yield Path(folder).resolve()


@pytest.fixture
def marigold_vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault of one good session; words alone answer, and commands start inside it."""
    root = tmp_path / "vault"
    (root / "sessions").mkdir(parents=True)
    (root / "huimem.toml").write_text('timezone = "UTC"\n', encoding="utf-8")
    (root / "sessions/good.md").write_text(GOOD, encoding="utf-8")
    monkeypatch.setenv("HUIMEM_EMBEDDER", "none")
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def huimem(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, str, str]]:
    """Carries out a command line: exit code, standard output, standard error."""

    def carry_out(*words: str, given: str = "words") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
        capsys.readouterr()
        code = run(words)
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return code, said.out, said.err

    return carry_out

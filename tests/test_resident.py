"""A Memory that stays open: shared by threads, inherited by forks, opened and closed again and again."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from huimem import Memory, UsageError, background, files, forking, overview
from huimem.errors import Forked, HuimemError
from huimem.heartbeat import seen
from huimem.index import readers, vectors
from huimem.index.vectors import Cache
from huimem.index.view import MOST_MASKS
from huimem.locks import lock
from tests.processes import code_of, start

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

DAY = 86_400 * 10**9


def said(word: str) -> list[dict[str, object]]:
    return [{"role": "user", "content": f"{word} was said."}]


def found(memory: Memory, word: str) -> list[str]:
    """The sessions in which a word stands."""
    return [hit.ref.session for hit in memory.recall(word, limit=50).hits if word in hit.evidence]


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    monkeypatch.setenv("HUIMEM_EMBEDDER", "hashing:16")
    with Memory.create(tmp_path / "vault", tz="UTC") as memory:
        memory.record(said("marigold"), session="first")
        assert found(memory, "marigold") == ["first"]
        yield memory


def in_fork(action: Callable[[], object]) -> int:
    """Carry something out in a fork, which is given ten seconds; its exit code."""

    def carry_out() -> None:
        signal.alarm(10)
        action()

    return code_of(start(carry_out))


VERBS: dict[str, Callable[[Memory], object]] = {
    "record": lambda memory: memory.record(said("walrus")),
    "recall": lambda memory: memory.recall("marigold"),
    "sync": lambda memory: memory.sync(),
    "watch": lambda memory: next(memory.watch()),
    "linger": lambda memory: memory.linger(0),
    "listed": lambda memory: overview.listed(memory),
    "weeks": lambda memory: overview.weeks(memory),
    "status": lambda memory: overview.status(memory),
    "snapshot": lambda memory: memory.index.snapshot(),
    "ahead": lambda memory: memory.index.ahead("marigold"),
    "embed": lambda memory: memory.index.embed(),
    "purge": lambda memory: memory.index.purge(),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_fork_is_refused_every_verb_and_told_what_to_do(verb: str, memory: Memory) -> None:
    def ask() -> None:
        with pytest.raises(Forked, match=r"its fork \d+\n.*Memory\.open\(path\)"):
            VERBS[verb](memory)

    before = sorted(memory.vault.root.rglob("*.md"))
    assert in_fork(ask) == 0
    assert sorted(memory.vault.root.rglob("*.md")) == before
    assert found(memory, "marigold") == ["first"]


def test_a_fork_opens_the_vault_anew_and_both_go_on(memory: Memory) -> None:
    def open_anew() -> None:
        with Memory.open(memory.vault.root) as own:
            own.record(said("walrus"), session="child")
            assert (found(own, "walrus"), found(own, "marigold")) == (["child"], ["first"])

    for _ in range(3):
        assert in_fork(open_anew) == 0
    assert found(memory, "walrus") == ["child"]
    memory.record(said("tulip"), session="later")
    assert found(memory, "tulip") == ["later"]


ENDS: dict[str, Callable[[Memory, Iterator[object]], object]] = {
    "closes the watch": lambda memory, rounds: rounds.close(),  # type: ignore[attr-defined]
    "asks the watch for more": lambda memory, rounds: next(rounds),
    "closes the memory": lambda memory, rounds: memory.close(),
    "leaves the memory": lambda memory, rounds: memory.__exit__(None, None, None),
}


@pytest.mark.slow
@pytest.mark.parametrize("end", ENDS)
def test_whatever_a_fork_does_with_what_it_inherits_its_parent_goes_on(end: str, memory: Memory) -> None:
    state = memory.vault.state
    memory.linger(10)
    rounds = memory.watch()
    next(rounds)

    def misuse() -> None:
        try:
            ENDS[end](memory, rounds)
        except Forked:
            pass
        else:
            assert end != "asks the watch for more"

    assert in_fork(misuse) == 0
    watcher = seen(state, now=time.time())
    assert watcher is not None and watcher.standing is not None and not watcher.stuck
    (memory.vault.root / "new.md").write_text("A tulip.\n", encoding="utf-8")
    assert any(round.did and round.did.report.added for round in rounds)
    rounds.close()
    assert seen(state, now=time.time()) is None


def test_a_fork_holds_no_lock_when_its_parent_has_gone(tmp_path: Path) -> None:
    """Locks of files belong to all copies of a descriptor, and a fork has one of each."""
    path, (told, tell) = tmp_path / "x.lock", os.pipe()

    def hold_and_fork() -> None:
        with lock(path):
            os.write(tell, b"%d " % start(lambda: time.sleep(20)))
            os.kill(os.getpid(), signal.SIGKILL)

    assert code_of(start(hold_and_fork)) == -signal.SIGKILL
    child = int(os.read(told, 20))
    try:
        with lock(path, timeout=1):
            os.kill(child, 0)
    finally:
        os.kill(child, signal.SIGKILL)


def test_a_fork_that_leaves_a_block_releases_no_lock_of_its_parent(tmp_path: Path) -> None:
    with ExitStack() as held:
        held.enter_context(lock(tmp_path / "x.lock"))
        assert in_fork(held.close) == 0
        with pytest.raises(HuimemError, match=f"process {os.getpid()}"), lock(tmp_path / "x.lock", timeout=0):
            pass


@pytest.mark.skipif(not os.path.exists("/proc/locks"), reason="this system does not list its locks")
def test_a_reader_in_a_fork_locks_the_catalog_for_itself(memory: Memory) -> None:
    """SQLite would take the parent's connections for the fork's own, and believe the lock to be there."""

    def read() -> None:
        with Memory.open(memory.vault.root, embedder="none") as own, own.index.snapshot():
            assert locked(own.index.folder / "catalog.db")

    with memory.index.snapshot():
        assert locked(memory.index.folder / "catalog.db")
        assert in_fork(read) == 0
        assert locked(memory.index.folder / "catalog.db")


def locked(path: Path) -> bool:
    """Whether this process has a lock on a file, by the system's own list."""
    mine = f" {os.getpid()} ", f":{os.stat(path).st_ino} "
    lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    return any(all(part in line for part in mine) for line in lines)


def test_a_fork_waits_for_threads_that_are_at_work(tmp_path: Path) -> None:
    inside, order = threading.Event(), []

    def work() -> None:
        with forking.undivided():
            inside.set()
            time.sleep(0.2)
            order.append("worked")

    thread = threading.Thread(target=work)
    thread.start()
    inside.wait()
    child = start(lambda: None)
    order.append("forked")
    assert (code_of(child), order) == (0, ["worked", "forked"])
    thread.join()


def test_a_fork_does_not_wait_for_a_thread_that_waits_itself(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as pool, lock(tmp_path / "x.lock"):

        def wait() -> None:
            with forking.undivided(), lock(tmp_path / "x.lock", timeout=5):
                pass

        waiting = pool.submit(wait)
        time.sleep(0.05)
        begun = time.monotonic()
        assert in_fork(lambda: None) == 0
        assert time.monotonic() - begun < 2
        assert not waiting.done()


def test_a_fork_has_no_file_open_that_its_parent_was_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be another program that has the file open for writing, which a write waits for."""
    path, writing = tmp_path / "x.md", threading.Event()

    def linger(step: str) -> None:
        if step == "after write":
            writing.set()
            time.sleep(0.2)

    monkeypatch.setattr(files, "on_step", linger)
    thread = threading.Thread(target=files.create, args=(path, b"old"))
    thread.start()
    writing.wait()
    child = start(lambda: time.sleep(20))
    thread.join()
    begun = time.monotonic()
    try:
        files.replace(path, b"new", b"old")
    finally:
        os.kill(child, signal.SIGKILL)
        code_of(child)
    assert path.read_bytes() == b"new" and time.monotonic() - begun < files.PATIENCE


def test_a_fork_made_in_the_middle_of_something_opens_nothing(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forking, "LONGEST_WAIT", 0.05)
    inside, ended = threading.Event(), threading.Event()

    def hang() -> None:
        with forking.undivided():
            inside.set()
            ended.wait(10)

    def open_anew() -> None:
        with pytest.raises(Forked, match="at work in a memory"):
            Memory.open(memory.vault.root)

    thread = threading.Thread(target=hang)
    thread.start()
    inside.wait()
    try:
        assert in_fork(open_anew) == 0
    finally:
        ended.set()
        thread.join()
    assert found(memory, "marigold") == ["first"]


def test_a_memory_is_not_sent_to_another_process(memory: Memory) -> None:
    with pytest.raises(UsageError, match=r"Memory\.open\(path\)"):
        pickle.dumps(memory)
    with pytest.raises(UsageError, match="another process"):
        multiprocessing.get_context("spawn").Process(target=print, args=(memory,)).start()


def test_threads_share_a_memory_and_each_finds_what_it_was_told_was_kept(memory: Memory) -> None:
    def live(who: int) -> None:
        for number in range(3):
            word = f"thread{who}x{number}"
            memory.record(said(word), session=f"s{who % 2}")
            assert found(memory, word) == [f"s{who % 2}"]
            assert overview.listed(memory, limit=3)

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(live, who) for who in range(4)]:
            done.result(timeout=30)


def test_a_memory_that_is_closed_under_threads_answers_or_says_why_not(memory: Memory) -> None:
    closed, answers = threading.Event(), []

    def ask() -> None:
        for _ in range(200):
            try:
                answers.append(found(memory, "marigold"))
            except HuimemError:
                answers.append(["first"])
            if closed.is_set():
                return

    with ThreadPoolExecutor(3) as pool:
        asking = [pool.submit(ask) for _ in range(3)]
        time.sleep(0.1)
        memory.close()
        closed.set()
        for each in asking:
            each.result(timeout=20)
    assert answers and all(answer == ["first"] for answer in answers)
    assert open_catalogs(memory) == 0


def open_catalogs(memory: Memory) -> int:
    """How many descriptors of the catalog this process has (Linux; elsewhere 0)."""
    count = 0
    for name in os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else ():
        try:
            count += os.readlink(f"/proc/self/fd/{name}").startswith(str(memory.index.folder / "catalog.db"))
        except OSError:
            continue
    return count


def test_few_connections_are_kept_however_many_were_needed_at_once(memory: Memory) -> None:
    with ExitStack() as stack:
        for _ in range(12):
            stack.enter_context(memory.index.snapshot())
        assert open_catalogs(memory) >= 12 or not os.path.isdir("/proc/self/fd")
    assert len(memory.index._readers._idle) == readers.MOST_IDLE
    memory.close()
    assert open_catalogs(memory) == 0


def test_filters_of_many_namespaces_leave_few_masks_behind(memory: Memory) -> None:
    memory.sync()
    with memory.index.snapshot() as snapshot:
        view = snapshot.vectors()
        assert view is not None
        for number in range(100):
            assert not view.among(namespace=frozenset({1000 + number})).any()
            assert len(view._masks) <= MOST_MASKS


def test_a_vector_that_no_passage_has_goes_after_its_days_and_not_before(tmp_path: Path) -> None:
    cache = Cache(tmp_path, "e")
    cache.put({b"used": b"1234", b"gone": b"5678", b"back": b"9abc"})
    kept = vectors.KEPT.days * DAY

    def forget(*hashes: bytes, now: int) -> tuple[int, set[bytes]]:
        count = cache.forget_unused(hashes, ["e"], now)
        return count, set(cache.get([b"used", b"gone", b"back"], None))

    everything = {b"used", b"gone", b"back"}
    assert forget(b"used", now=DAY) == (0, everything)
    assert forget(b"used", b"back", now=2 * DAY) == (0, everything)
    assert forget(b"used", now=DAY + kept - 1) == (0, everything)
    assert forget(b"used", now=DAY + kept) == (1, {b"used", b"back"})
    assert forget(b"used", now=DAY + 2 * kept) == (1, {b"used"})
    assert forget(now=DAY + 3 * kept) == (0, {b"used"})


def test_a_clock_that_was_ahead_keeps_no_vector_for_ever(tmp_path: Path) -> None:
    cache = Cache(tmp_path, "e")
    cache.put({b"gone": b"5678"})
    assert [cache.forget_unused([], ["e"], now) for now in (1000 * DAY, DAY, 16 * DAY)] == [0, 0, 1]


def test_text_that_is_gone_leaves_the_cache_of_vectors_by_and_by(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.sync()
    next(memory.vault.root.glob("sessions/*/first.md")).unlink()
    memory.sync()
    assert memory.index.forget_unused() == 0
    monkeypatch.setattr(vectors, "KEPT", vectors.timedelta(0))
    assert memory.index.forget_unused() > 0


def test_the_background_clears_out_what_was_made_for_text_that_is_gone(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "CLEAR_FIRST", 0.0)
    monkeypatch.setattr(background, "CLEAR_EVERY", 0.0)
    monkeypatch.setattr(vectors, "KEPT", vectors.timedelta(0))
    with Memory.open(memory.vault.root) as own:
        next(own.vault.root.glob("sessions/*/first.md")).unlink()
        own.record(said("walrus"), session="second")
        assert found(own, "walrus") == ["second"]
        own.linger(10)
        with closing(sqlite3.connect(own.index.folder / "embeddings.db")) as db:
            assert (
                db.execute("SELECT count(*) FROM vector").fetchone() == (1,) == (own.index.counts().chunks,)
            )

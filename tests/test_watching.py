"""A vault under change → rounds: what each look took in, what went wrong, and that none of it is the end."""

from __future__ import annotations

import errno
import json
import os
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from huimem import Memory, heartbeat, upkeep
from huimem.errors import Locked, VaultError, WriteFailed
from huimem.locks import lock
from huimem.vault import coverage
from huimem.watching import Pace, Round, rounds
from tests.vault.watching_parts import Deaf, Made, refusing

SOON = Pace(
    quiet=0.02, burst=0.1, beat=0.02, settle=0.05, answer=0.1, poll=0.05, backoff=0.1, wait=0.2, lease=0.05
)


@pytest.fixture
def root(outside_temp: Path) -> Path:
    root = outside_temp / "vault"
    (root / "notes").mkdir(parents=True)
    (root / "huimem.toml").write_text('timezone = "UTC"\n', encoding="utf-8")
    write(root / "notes/first.md", "walnut")
    return root


def write(path: Path, word: str) -> None:
    path.write_text(f"The {word} is here.\n", encoding="utf-8")


class Rounds:
    """A watching in the hands of a test: rounds are taken until one is as wanted."""

    def __init__(self, memory: Memory, running: Generator[Round, None, None], stop: threading.Event) -> None:
        self.memory, self.running, self.stop = memory, running, stop
        self.taken: list[Round] = []

    def until(self, wanted: Callable[[Round], object], seconds: float = 5.0) -> Round:
        """The next round that is as wanted; fails when none comes in time."""
        clock = threading.Timer(seconds, self.stop.set)
        clock.start()
        try:
            for one in self.running:
                self.taken.append(one)
                if wanted(one):
                    return one
        finally:
            clock.cancel()
        raise AssertionError(f"no such round: {self.taken}")

    def counts(self) -> tuple[int, int, int]:
        """What the next look that changes something has added, changed and removed."""
        did = self.until(lambda one: one.did and one.did.report).did
        assert did is not None
        return did.report.added, did.report.changed, did.report.removed

    def warning(self, words: str) -> Round:
        return self.until(lambda one: words in " ".join(one.warnings))

    def found(self, word: str) -> list[str]:
        with self.memory.index.snapshot() as snapshot:
            rows = [row for (row,) in snapshot.db.execute("SELECT row FROM chunk")]
            return [text for text in snapshot.texts(rows) if word in text]


@contextmanager
def watching(
    root: Path, pace: Pace = SOON, embedder: str = "none", observer: Callable[[], object] | None = None
) -> Iterator[Rounds]:
    stop = threading.Event()
    with Memory.open(root, embedder=embedder) as memory:
        running = rounds(memory.vault, memory.index, stop=stop, pace=pace, observer=observer)  # type: ignore[arg-type]
        try:
            yield Rounds(memory, running, stop)
        finally:
            running.close()


def seen(root: Path) -> heartbeat.Watcher | None:
    return heartbeat.seen(root / ".huimem", now=time.time())


def test_the_first_round_finds_what_changed_while_nobody_watched(root: Path) -> None:
    with watching(root) as one:
        first = one.until(lambda one: True)
        assert first.did is not None and first.did.report.added == 1
        assert (first.mode, first.files, first.vectors) == ("events", 1, None)


def test_each_change_is_a_round_and_no_change_is_none(root: Path) -> None:
    with watching(root) as one:
        assert one.counts() == (1, 0, 0)
        write(root / "notes/second.md", "hazelnut")
        assert one.counts() == (1, 0, 0)
        write(root / "notes/second.md", "chestnut")
        assert one.counts() == (0, 1, 0)
        assert one.found("chestnut") and not one.found("hazelnut")
        with pytest.raises(AssertionError, match="no such round"):
            (root / "notes/picture.png").write_bytes(b"x")
            one.until(lambda _: True, seconds=0.3)


def test_it_ends_when_it_is_told_to_and_leaves_nothing(root: Path) -> None:
    threads = threading.active_count()
    with watching(root, embedder="hashing") as one:
        one.until(lambda _: True)
        assert seen(root) is not None
        one.stop.set()
        assert list(one.running) == []
    assert threading.active_count() == threads
    assert seen(root) is None and not (root / ".huimem/watch.json").exists()


def test_closing_the_generator_ends_it_too(root: Path) -> None:
    threads = threading.active_count()
    with watching(root, embedder="hashing") as one:
        one.until(lambda _: True)
    assert threading.active_count() == threads and seen(root) is None


def test_there_is_one_watcher_at_a_time(root: Path) -> None:
    with watching(root) as one:
        one.until(lambda _: True)
        with watching(root) as other, pytest.raises(Locked, match=f"process {os.getpid()}"):
            other.until(lambda _: True)
        write(root / "notes/second.md", "hazelnut")
        assert one.counts() == (1, 0, 0)


def test_vectors_follow_and_are_counted(root: Path) -> None:
    with watching(root, embedder="hashing") as one:
        done = one.until(lambda one: one.vectors and one.vectors.done == 2)
        assert done.vectors is not None and done.vectors.total == 2
        write(root / "notes/second.md", "hazelnut")
        one.until(lambda one: one.vectors and one.vectors.done == 4)
        assert one.memory.index.coverage() == (4, 4)


def test_no_vectors_are_made_where_none_are_wanted(root: Path) -> None:
    with Memory.open(root, embedder="hashing") as memory:
        running = rounds(memory.vault, memory.index, vectors=False, pace=SOON)
        assert next(running).vectors is None
        time.sleep(0.1)
        assert memory.index.coverage() == (0, 2)
        running.close()


def test_others_are_told_how_it_goes(root: Path) -> None:
    with watching(root, embedder="hashing") as one:
        one.until(lambda one: one.vectors and one.vectors.done == 2)
        write(root / "notes/second.md", "hazelnut")
        one.until(lambda one: one.vectors and one.vectors.done == 4)
        told = wait_for(lambda: json.loads((root / ".huimem/watch.json").read_text())["done"] == 4)
        watcher = seen(root)
        assert told and watcher is not None and watcher.standing is not None
        assert (watcher.standing.mode, watcher.standing.total) == ("events", 4)
        assert watcher.looked is not None and watcher.event is not None and watcher.looked < watcher.event + 5


def wait_for(look: Callable[[], bool], seconds: float = 3.0) -> bool:
    end = time.monotonic() + seconds
    while not look() and time.monotonic() < end:
        time.sleep(0.01)
    return look()


# what a look raises, what is said of it
FAULTS = [
    (Locked("index.lock is locked by process 7", "Wait."), "index.lock is locked by process 7 – Wait."),
    (WriteFailed("catalog.db cannot be written: full"), "catalog.db cannot be written: full"),
    (VaultError("the vault cannot be listed"), "the vault cannot be listed"),
    (ValueError("what was said"), "unexpected ValueError at test_watching.py:"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "words"), FAULTS)
def test_a_look_that_fails_is_said_once_and_taken_again(
    fault: Exception, words: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look, tries = upkeep.sync, []

    def fail_at_first(*given: object, **named: object) -> object:
        tries.append(1)
        if len(tries) <= 6:
            raise fault
        return look(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(upkeep, "sync", fail_at_first)
    with watching(root, embedder="hashing") as one:
        assert one.warning(words).did is None
        assert one.counts() == (1, 0, 0)
        assert "what was said" not in str(one.taken)
        assert sum(words in " ".join(each.warnings) for each in one.taken) == 1
        one.until(lambda one: one.vectors and one.vectors.done == 2)


@pytest.mark.slow
def test_another_process_in_the_way_is_neither_a_warning_nor_deafness(root: Path) -> None:
    taken = threading.Event()

    def hold() -> None:
        with lock(root / ".huimem/sync.lock"):
            taken.set()
            time.sleep(0.6)

    with watching(root) as one:
        one.counts()
        for word in ("chestnut", "almond", "cashew"):
            taken.clear()
            other = threading.Thread(target=hold)
            other.start()
            taken.wait()
            write(root / "notes/first.md", word)
            assert one.counts() == (0, 1, 0) and one.found(word)
            other.join()
        assert {each.mode for each in one.taken} == {"events"}
        assert not [line for each in one.taken[1:] for line in each.warnings]


def test_a_look_that_wants_another_gets_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    look = upkeep.sync

    times: list[float] = []

    def sync(*given: object, **named: object) -> upkeep.Synced:
        times.append(time.monotonic())
        did = look(*given, **named)  # type: ignore[arg-type]
        return replace(did, unread=(f"look {len(times)}",), look_again=0.1)

    monkeypatch.setattr(upkeep, "sync", sync)
    with watching(root) as one:
        one.warning("look 3")
    assert 0.1 <= times[2] - times[1] < 1


def test_a_file_that_cannot_be_read_is_named_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "notes/large.md").write_bytes(b"x" * ((64 << 20) + 1))
    with watching(root) as one:
        assert one.warning("notes/large.md").mode == "events"
        write(root / "notes/second.md", "hazelnut")
        one.counts()
        assert sum("large.md" in " ".join(each.warnings) for each in one.taken) == 1


def test_a_root_that_goes_removes_nothing_and_is_found_again(root: Path) -> None:
    with watching(root) as one:
        one.until(lambda _: True)
        root.rename(root.parent / "elsewhere")
        assert one.warning("not there").mode == "waiting"
        with pytest.raises(AssertionError):
            one.until(lambda _: False, seconds=0.3)
    assert not root.exists()


def test_a_root_that_comes_back_is_looked_at(root: Path) -> None:
    with watching(root, embedder="hashing") as one:
        one.until(lambda one: one.vectors and one.vectors.done == 2)
        root.rename(root.parent / "elsewhere")
        one.warning("not there")
        write(root.parent / "elsewhere/notes/second.md", "hazelnut")
        (root.parent / "elsewhere").rename(root)
        assert one.counts() == (1, 0, 0)
        one.until(lambda one: one.vectors and one.vectors.done == 4)


def test_an_empty_folder_in_place_of_the_vault_changes_nothing(root: Path) -> None:
    with watching(root, embedder="hashing") as one:
        one.until(lambda one: one.vectors and one.vectors.done == 2)
        root.rename(root.parent / "elsewhere")
        root.mkdir()
        one.warning("huimem.toml is gone")
        assert [*root.iterdir()] == []
        root.rmdir()
        (root.parent / "elsewhere").rename(root)
        write(root / "notes/second.md", "hazelnut")
        assert one.counts() == (1, 0, 0)


def test_a_deleted_state_folder_is_made_again(root: Path) -> None:
    with watching(root) as one:
        one.until(lambda _: True)
        (root / ".huimem").rename(root.parent / "state")
        write(root / "notes/second.md", "hazelnut")
        assert one.counts() == (2, 0, 0)
        write(root / "notes/third.md", "chestnut")
        assert one.counts() == (1, 0, 0)
        assert wait_for(lambda: seen(root) is not None)


def test_without_watches_it_polls_and_says_which_limit(root: Path) -> None:
    with watching(root, observer=refusing(errno.ENOSPC)) as one:
        assert one.warning("fs.inotify.max_user_watches").mode == "polling"
        write(root / "notes/second.md", "hazelnut")
        assert one.counts() == (1, 0, 0)
        assert sum(bool(each.warnings and "inotify" in str(each.warnings)) for each in one.taken) == 1


def test_a_deaf_observer_misses_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "watched", lambda: None)
    with watching(root, observer=Made(Deaf, Deaf)) as one:
        one.warning("events do not arrive: looking every second")
        write(root / "notes/second.md", "hazelnut")
        assert one.counts() == (1, 0, 0)


@pytest.mark.slow
def test_two_hundred_saves_in_two_seconds_are_few_looks_and_the_last_one_wins(root: Path) -> None:
    with watching(root, Pace()) as one:
        one.until(lambda _: True)

        def save() -> None:
            for number in range(200):
                write(root / "notes/first.md", f"acorn{number}x")
                time.sleep(0.01)

        writer = threading.Thread(target=save)
        writer.start()
        while not one.found("acorn199x"):
            one.counts()
        writer.join()
        assert 1 <= len(one.taken) - 1 <= 4

"""Several readers and writers at once: whole states only, and one index in the end."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from tests.index.made import (
    ALL,
    EMBEDDER,
    Files,
    answers,
    content,
    healed_state,
    opened,
    source,
    statistics,
    turn,
)

ROUNDS = 12


def write(files: Files, round: int) -> None:
    """Both files say the same number: a reader that sees two numbers saw half an update."""
    for name in ("a", "b"):
        files.put(source(f"{name}.md", turn("2026-04-06", f"shared number{round}", session=name)))


@pytest.mark.slow
def test_readers_see_one_state_while_a_writer_publishes(tmp_path: Path) -> None:
    files, writer = Files(), opened(tmp_path / "state")
    write(files, 0)
    files.sync(writer)
    writer.embed()
    reader, finished, faults = opened(tmp_path / "state"), threading.Event(), []
    vector = EMBEDDER.embed(["shared number1"])[0]

    def look() -> None:
        while not finished.is_set():
            try:
                with reader.snapshot() as snapshot:
                    rows = snapshot.rows(ALL).tolist()
                    texts = set(snapshot.texts(rows))
                    assert len(rows) == 2 and len(texts) == 1, texts
                    assert sorted(snapshot.find(["share"], ALL).tolist()) == rows
                    near, _ = snapshot.nearest(vector, ALL)
                    assert set(near.tolist()) <= set(rows)
                    assert snapshot.frequencies(["share"], None) == [2]
                    words = len(snapshot.passages(snapshot.rows(ALL)).tokens)
                    assert snapshot.totals(None) == (2, words)
            except BaseException as fault:
                faults.append(fault)
                return

    readers = [threading.Thread(target=look) for _ in range(2)]
    for thread in readers:
        thread.start()
    try:
        for round in range(1, ROUNDS):
            write(files, round)
            files.sync(writer)
            writer.embed()
    finally:
        finished.set()
        for thread in readers:
            thread.join()
    assert not faults, faults[0]


def test_an_old_snapshot_keeps_its_state(tmp_path: Path) -> None:
    files, index = Files(), opened(tmp_path / "state")
    write(files, 0)
    files.sync(index)
    index.embed()
    with index.snapshot() as old:
        for round in range(1, 4):
            write(files, round)
            files.sync(index)
            index.embed()
        assert set(old.texts(old.rows(ALL))) == {"shared number0"}
        assert len(old.find(["number0"], ALL)) == 2
        assert len(old.nearest(EMBEDDER.embed(["shared"])[0], ALL)[0]) == 2
    with index.snapshot() as new:
        assert set(new.texts(new.rows(ALL))) == {"shared number3"}


def test_two_writers_make_one_index(tmp_path: Path) -> None:
    """Both bring in the same files at once, each with its own changes in between."""
    everything, faults = Files(), []
    for n in range(30):
        everything.put(source(f"{n:02}.md", turn("2026-04-06", f"apple number{n}", session=f"s{n}")))

    def work() -> None:
        try:
            index = opened(tmp_path / "state")
            for _ in range(3):
                everything.sync(index)
                index.embed()
            index.close()
        except BaseException as fault:
            faults.append(fault)

    writers = [threading.Thread(target=work) for _ in range(2)]
    for thread in writers:
        thread.start()
    for thread in writers:
        thread.join()
    assert not faults, faults[0]
    assert healed_state(tmp_path / "state", everything) == healed_state(tmp_path / "scratch", everything)


WRITER = """
import sys
from pathlib import Path
from tests.index.made import Files, opened, source, turn
index, files = opened(Path(sys.argv[1])), Files()
for n in range(1000):
    for name in range(4):
        files.put(source(f"{name}.md", turn("2026-04-06", f"apple number{n}", session=f"s{name}")))
    files.sync(index)
    index.embed()
    print(n, flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [1, 3])
def test_a_writer_that_is_killed_leaves_an_index_that_readers_and_the_next_writer_can_use(
    rounds: int, tmp_path: Path
) -> None:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", WRITER, str(tmp_path / "state")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=root) as process:
        assert process.stdout is not None
        for _ in range(rounds):
            process.stdout.readline()
        reader = opened(tmp_path / "state")
        with reader.snapshot() as snapshot:
            assert len(snapshot.find(["appl"], ALL)) == 4
        process.kill()
    with reader.snapshot() as snapshot:
        assert len(snapshot.find(["appl"], ALL)) == 4 == len(snapshot.rows(ALL))
    files = Files()
    files.put(source("9.md", turn("2026-04-06", "apple pie")))
    assert healed_state(tmp_path / "state", files) == healed_state(tmp_path / "scratch", files)


def test_vectors_appear_by_and_by_newest_first(tmp_path: Path) -> None:
    files, index = Files(), opened(tmp_path / "state")
    for n in range(70):
        files.put(
            source(
                f"{n:02}.md", turn(f"2026-0{1 + n % 6}-{1 + n % 27:02}", f"note number{n}", session=f"s{n}")
            )
        )
    files.sync(index)
    first = index.embed(seconds=0)
    assert first.embedded == 8 and first.pending == 62 == len(index.pending())
    with index.snapshot() as snapshot:
        pending = snapshot.passages(index.pending()).at_ms
        done = snapshot.passages(np.setdiff1d(snapshot.rows(ALL), index.pending())).at_ms
    assert done.min() >= pending.max()
    assert index.embed(rows=index.pending()[:3]).embedded == 3
    assert index.embed().pending == 0 and index.counts().vectors == 70


def test_content_is_the_same_however_it_was_cut_into_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huimem.index import sync

    files = Files()
    for n in range(7):
        files.put(source(f"{n}.md", turn("2026-04-06", "apple pear", f"number{n}", session=f"s{n}")))
    whole = healed_state(tmp_path / "whole", files)
    monkeypatch.setattr(sync, "MOST_SOURCES", 2)
    steps: list[tuple[int, int]] = []
    index = opened(tmp_path / "pieces")
    files.sync(index, progress=lambda done, total: steps.append((done, total)))
    index.embed()
    assert steps == [(2, 7), (4, 7), (6, 7), (7, 7)]
    with index.snapshot() as snapshot:
        parts = (content(snapshot), statistics(snapshot), answers(snapshot, ("apple",), [ALL]))
    assert parts == whole

"""Many processes share one vault: every acknowledged word arrives once, nobody waits for ever, nothing rots.

They are real processes: speakers, searchers, watchers, commands; some are stopped or killed.
"""

from __future__ import annotations

import random
import re
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from huimem.index.seal import LOCK
from tests.index.made import ALL
from tests.live.children import HOLD, KILL, PUBLISH, SEARCH, SPEAK, child, ended_well
from tests.live.indexed import equals_scratch, looking
from tests.live.places import huimem
from tests.live.watched import Watched

pytestmark = [pytest.mark.slow, pytest.mark.timeout(150)]


@pytest.fixture
def marigold(root: Path) -> Path:
    """A vault with a note that nobody touches."""
    (root / "marigold.md").write_text("The marigold is by the door.\n", encoding="utf-8")
    assert huimem(root, "sync").returncode == 0
    return root


def said_in(root: Path, session: str) -> list[str]:
    """The words that speakers left in a session's file, in its order."""
    (path,) = (root / "sessions").glob(f"*/{session}.md")
    return re.findall(r"^(\S+) was said\.$", path.read_text(encoding="utf-8"), re.M)


@pytest.mark.parametrize(("speakers", "turns", "watching"), [(4, 50, False), (8, 25, True)])
def test_turns_of_many_processes_arrive_whole_once_and_in_order(
    speakers: int, turns: int, watching: bool, marigold: Path
) -> None:
    with ExitStack() as stack:
        if watching:
            stack.enter_context(Watched(marigold))
        searcher = stack.enter_context(child(SEARCH, marigold, str(marigold), HUIMEM_EMBEDDER="none"))
        names = [f"speaker{number}" for number in range(speakers)]
        speaking = [
            stack.enter_context(child(SPEAK, marigold, str(marigold), "s", name, str(turns)))
            for name in names
        ]
        for process in speaking:
            assert process.stdin
            process.stdin.write("\n")
            process.stdin.flush()
        for process in speaking:
            ended_well(process)
        assert int(ended_well(searcher)) > 0
        said = said_in(marigold, "s")
        for name in names:
            assert [word for word in said if word.startswith(name)] == [
                f"{name}x{n:03}" for n in range(turns)
            ]
        assert len(said) == speakers * turns
        if not watching:
            huimem(marigold, "sync")
        equals_scratch(marigold)
    assert "\n0 problems\n" in huimem(marigold, "doctor").stdout


def test_sessions_begun_in_one_second_under_one_title_are_all_there(root: Path) -> None:
    words = ("record", "--title", "Same", "--at", "2026-04-06T09:00", "--role", "user")
    with ThreadPoolExecutor() as pool:
        done = [*pool.map(lambda number: huimem(root, *words, given=f"Creator {number}."), range(4))]
    texts = [path.read_text(encoding="utf-8") for path in (root / "sessions/2026-W15").iterdir()]
    assert len({each.stdout for each in done}) == len(texts) == 4
    assert sorted(re.findall(r"Creator \d", " ".join(texts))) == [f"Creator {number}" for number in range(4)]


def test_a_program_that_still_has_a_session_open_loses_nothing_and_no_turn(marigold: Path) -> None:
    """It writes to the file that it opened, while a turn is recorded to that session."""
    record = ("record", "--role", "user", "--session", "s")
    huimem(marigold, *record, given="Before: tangerine.")
    (path,) = (marigold / "sessions").glob("*/s.md")
    with ThreadPoolExecutor() as pool, open(path, "r+b") as file:
        text = file.read()
        recorded = pool.submit(huimem, marigold, *record, given="Meanwhile.")
        time.sleep(0.8)
        file.seek(text.rindex(b"tangerine"))
        file.write(b"zucchini!")
        file.close()
        assert recorded.result().returncode == 0
    after = path.read_text(encoding="utf-8")
    assert "Before: zucchini!" in after and "Meanwhile." in after


def test_a_killed_lock_holder_locks_nobody_out(marigold: Path) -> None:
    with child(HOLD, marigold, str(marigold / ".huimem" / LOCK)) as holder:
        holder.kill()
        holder.wait()
        (marigold / "new.md").write_text("A hazelnut.\n", encoding="utf-8")
        start = time.monotonic()
        assert huimem(marigold, "sync").returncode == 0
        assert time.monotonic() - start < 5
    equals_scratch(marigold)


def test_lock_holders_that_hang_are_named_and_answers_go_on(marigold: Path) -> None:
    """The index and one session are held by processes that stand still; other sessions are not."""
    record = ("record", "--role", "user", "--session")
    huimem(marigold, *record, "s", given="One.")
    (lock,) = (marigold / ".huimem/locks").glob("session-*.lock")
    with ThreadPoolExecutor() as pool, ExitStack() as stack:
        held = (marigold / ".huimem" / LOCK, lock)
        holders = [stack.enter_context(child(HOLD, marigold, str(path))) for path in held]
        for holder in holders:
            holder.send_signal(signal.SIGSTOP)
        (marigold / "new.md").write_text("A hazelnut.\n", encoding="utf-8")
        refused = [
            pool.submit(huimem, marigold, "sync"),
            pool.submit(huimem, marigold, *record, "s", given="Two."),
        ]
        start = time.monotonic()
        old, new = huimem(marigold, "recall", "marigold"), huimem(marigold, "recall", "hazelnut")
        assert time.monotonic() - start < 8
        assert (old.returncode, new.returncode) == (0, 0)
        assert "marigold.md" in old.stdout and "new.md" in new.stdout
        assert huimem(marigold, *record, "t", given="Other.").returncode == 0
        for waiting, holder in zip(refused, holders, strict=True):
            assert waiting.result().returncode == 5
            assert f"process {holder.pid} (-c)" in waiting.result().stderr
    assert huimem(marigold, *record, "s", given="Two.").returncode == 0
    assert huimem(marigold, "sync").returncode == 0


def test_a_hundred_generations_are_published_under_searchers(marigold: Path) -> None:
    looks = set()
    with (
        child(SEARCH, marigold, str(marigold)) as searcher,
        child(PUBLISH, marigold, str(marigold), "100", HUIMEM_EMBEDDER="hashing") as publisher,
    ):
        while publisher.poll() is None:
            with looking(marigold) as snapshot:
                said = snapshot.texts(snapshot.find(["share"], ALL).tolist())
            assert said[:1] == said[1:]
            time.sleep(0.005)
            looks.update(said)
        ended_well(publisher)
        assert int(ended_well(searcher)) > 0
    assert len(looks) > 20


def test_writers_killed_at_any_moment_leave_nothing_to_clean_up(marigold: Path) -> None:
    chance = random.Random(20260406)
    with (
        Watched(marigold),
        child(SEARCH, marigold, str(marigold), HUIMEM_EMBEDDER="none") as searcher,
        child(KILL, marigold, str(marigold)) as killer,
    ):
        turns = "".join(f"{run:02} {chance.uniform(0.1, 5):.2f}\n" for run in range(40))
        assert len(ended_well(killer, turns).split()) == 40
        assert int(ended_well(searcher)) > 0
        (path,) = (marigold / "sessions").glob("*/killed.md")
        held = path.read_text(encoding="utf-8").splitlines()
        kept = (marigold.parent / "acknowledged").read_text().split()
        assert len(kept) > 40 and {*kept} <= {*held}
        assert all(held.count(word) == 1 for word in kept)
        equals_scratch(marigold)
    assert "\n0 problems\n" in huimem(marigold, "doctor").stdout


def test_rebuilding_recording_and_deleting_at_once_end_in_one_index(marigold: Path) -> None:
    for number in range(30):
        (marigold / f"note{number}.md").write_text(f"A walnut{number}.\n", encoding="utf-8")
    with (
        Watched(marigold),
        child(SPEAK, marigold, str(marigold), "s", "speaker", "40") as speaker,
        child(PUBLISH, marigold, str(marigold), "20", HUIMEM_EMBEDDER="hashing") as publisher,
    ):
        assert speaker.stdin
        speaker.stdin.write("\n")
        speaker.stdin.flush()
        for number in range(30):
            (marigold / f"note{number}.md").unlink()
            if number % 10 == 0:
                assert huimem(marigold, "sync", "--full").returncode == 0
        ended_well(speaker)
        ended_well(publisher)
        equals_scratch(marigold)

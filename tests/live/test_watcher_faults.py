"""What goes wrong around a watcher, and what it does then: nothing is missed, nothing is taken for deleted.

Each test has a vault and a watcher of its own. Nobody asks a question unless the test says so.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from huimem import Memory
from tests.live.indexed import embedded, equals_scratch, found, has_its_vectors, passages
from tests.live.places import HUIMEM, environment, eventually, huimem, tool
from tests.live.watched import Watched

pytestmark = pytest.mark.slow

QUEUE = Path("/proc/sys/fs/inotify/max_queued_events")
LIMITED = 'echo "$2" > "/proc/sys/user/$1" && shift 2 && exec "$@"'


def write(root: Path, path: str, word: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(f"The {word} is here.\n", encoding="utf-8")


def furnish(root: Path, count: int, folder: str = "notes") -> None:
    for number in range(count):
        write(root, f"{folder}/{number}.md", f"walnut{number}")


def knows(root: Path, word: str, *paths: str, seconds: float = 15.0) -> None:
    """Wait until the index holds a word in these notes and no others."""
    eventually(lambda: found(root, word), [(path, 1) for path in paths], seconds)


def fill_the_queue(folder: Path) -> None:
    """More events than the system keeps for a process that does not read them."""
    here, there = folder / "here", folder / "there"
    here.write_text("", encoding="utf-8")
    for _ in range(int(QUEUE.read_text()) // 2 + 500):
        here.rename(there)
        there.rename(here)


def test_a_queue_that_overflowed_loses_nothing_and_is_named(root: Path) -> None:
    furnish(root, 20)
    with Watched(root) as watched:
        watched.pause()
        fill_the_queue(root / "notes")
        for number in range(200):
            write(root, "notes/temp", f"hazelnut{number}")
            (root / "notes/temp").replace(root / f"notes/late{number}.md")
        (root / "notes/7.md").unlink()
        write(root, "notes/8.md", "changed")
        watched.resume()
        equals_scratch(root)
        knows(root, "hazelnut199", "notes/late199.md")
        eventually(lambda: "dropped events" in watched.text, True)
        write(root, "notes/9.md", "pecan")
        knows(root, "pecan", "notes/9.md", seconds=6)


def test_a_folder_made_while_the_queue_overflowed_is_watched(root: Path) -> None:
    furnish(root, 5)
    with Watched(root) as watched:
        watched.pause()
        fill_the_queue(root / "notes")
        for number in range(5):
            write(root, f"notes/made{number}/n.md", f"chestnut{number}")
        watched.resume()
        for number in range(5):
            knows(root, f"chestnut{number}", f"notes/made{number}/n.md")
        for number in range(5):
            write(root, f"notes/made{number}/n.md", f"pecan{number}")
            knows(root, f"pecan{number}", f"notes/made{number}/n.md", seconds=6)


def test_three_thousand_saves_while_the_watcher_stands_still(root: Path) -> None:
    furnish(root, 5)
    with Watched(root, HUIMEM_EMBEDDER="none") as watched:
        watched.pause()
        for number in range(3_000):
            write(root, f"notes/{number % 4}/temp", f"hazelnut{number}")
            (root / f"notes/{number % 4}/temp").replace(root / f"notes/{number % 4}/{number}.md")
        watched.resume()
        knows(root, "hazelnut2999", "notes/3/2999.md", seconds=30)
        equals_scratch(root)


def limited(name: str, value: int) -> tuple[str, ...]:
    """The words before a command that give it a limit of its own; skips where that is not allowed."""
    words = (tool("unshare"), "-Ur", "sh", "-c", LIMITED, "sh", name, str(value))
    if subprocess.run([*words, "true"], capture_output=True).returncode:
        pytest.skip("this system lets nobody set limits of their own")
    return words


LIMITS = [("max_inotify_watches", 50), ("max_inotify_instances", 0)]


@pytest.mark.parametrize(("name", "value"), LIMITS)
def test_a_limit_of_the_system_is_named_and_looking_goes_on_without_events(
    name: str, value: int, root: Path
) -> None:
    for number in range(100):
        write(root, f"weeks/{number}/n.md", f"walnut{number}")
    with Watched(root, before=limited(name, value)) as watched:
        eventually(lambda: name.removeprefix("max_inotify_") in watched.text, True)
        assert name.replace("max_inotify_", "max_user_") in watched.text and "polling" in watched.text
        for number in (0, 49, 50, 99):
            write(root, f"weeks/{number}/n.md", f"hazelnut{number}")
        for number in (0, 49, 50, 99):
            knows(root, f"hazelnut{number}", f"weeks/{number}/n.md")
        watcher = watch_of(root)
        assert watcher and watcher["mode"] == "polling"


def test_a_limit_reached_later_is_noticed(root: Path) -> None:
    for number in range(20):
        write(root, f"weeks/{number}/n.md", f"walnut{number}")
    with Watched(root, before=limited("max_inotify_watches", 40)) as watched:
        for number in range(20, 60):
            write(root, f"weeks/{number}/n.md", f"walnut{number}")
        knows(root, "walnut59", "weeks/59/n.md")
        eventually(lambda: "max_user_watches" in watched.text, True)
        for number in range(20, 60):
            write(root, f"weeks/{number}/n.md", f"hazelnut{number}")
        for number in range(20, 60):
            knows(root, f"hazelnut{number}", f"weeks/{number}/n.md")


def replaced_by_nothing(root: Path) -> None:
    """The vault is only gone, as when its disk is unmounted."""


def replaced_by_an_empty_folder(root: Path) -> None:
    root.mkdir()


def replaced_by_another_vault(root: Path) -> None:
    root.mkdir()
    (root / "huimem.toml").write_text('timezone = "UTC"\n', encoding="utf-8")


REPLACED = [
    ("inside", replaced_by_nothing),
    ("inside", replaced_by_an_empty_folder),
    ("outside", replaced_by_an_empty_folder),
    ("outside", replaced_by_another_vault),
]


@pytest.mark.parametrize(("state", "replace"), REPLACED)
def test_a_root_that_goes_is_not_a_vault_whose_notes_were_deleted(
    state: str, replace: Callable[[Path], None], root: Path
) -> None:
    outside = {"HUIMEM_STATE": str(root.parent / "state")} if state == "outside" else {}
    furnish(root, 70)
    with Watched(root, **outside) as watched:
        (folder,) = (root.parent / "state").iterdir() if outside else (root / ".huimem",)
        before, said = passages(root, folder), len(watched.documents)
        root.rename(root.parent / "elsewhere")
        replace(root)
        eventually(lambda: len(watched.documents) > said, True)
        time.sleep(2.5)
        assert not any(root.glob("*.md")) and (
            replace != replaced_by_an_empty_folder or not any(root.iterdir())
        )
        shutil.rmtree(root, ignore_errors=True)
        (root.parent / "elsewhere").rename(root)
        write(root, "notes/7.md", "hazelnut")
        eventually(lambda: "The hazelnut is here." in passages(root, folder).values(), True)
        kept = passages(root, folder).items() & before.items()
        assert len(kept) == 69, "all but the changed one were never dropped"
        write(root, "notes/8.md", "chestnut")
        eventually(lambda: "The chestnut is here." in passages(root, folder).values(), True, seconds=5)


def test_most_notes_gone_at_once_are_held_back_and_said_and_believed_in_the_end(root: Path) -> None:
    furnish(root, 90, "many")
    write(root, "few.md", "chestnut")
    huimem(root, "sync")
    with Watched(root) as watched:
        before, count = passages(root), embedded(root)
        (root / "many").rename(root.parent / "many")
        eventually(lambda: any("90" in warning for warning in watched.warnings), True)
        time.sleep(1)
        (root.parent / "many").rename(root / "many")
        write(root, "few.md", "hazelnut")
        knows(root, "hazelnut", "few.md")
        assert len(passages(root).items() & before.items()) == 90
        assert embedded(root) == count + 1
        shutil.rmtree(root / "many")
        eventually(lambda: len(passages(root)), 1, seconds=20)


def test_its_own_writes_wake_it_once(root: Path) -> None:
    furnish(root, 5)
    with Watched(root) as watched:
        has_its_vectors(root)
        count = len(watched.documents)
        huimem(root, "record", "--session", "s", "--role", "user", given="The hazelnut.")
        eventually(lambda: len(found(root, "hazelnut")), 1)
        has_its_vectors(root)
        time.sleep(3)
        assert len(watched.documents) - count <= 3


def test_files_written_while_it_starts_are_found(root: Path) -> None:
    furnish(root, 200)
    finished, numbers = threading.Event(), []

    def go_on() -> None:
        while not finished.is_set():
            numbers.append(len(numbers))
            write(root, f"folder{numbers[-1] % 50}/{numbers[-1]}.md", f"hazelnut{numbers[-1]}")
            time.sleep(0.003)

    writer = threading.Thread(target=go_on)
    writer.start()
    try:
        with Watched(root):
            time.sleep(0.3)
            finished.set()
            writer.join()
            last = numbers[-1]
            knows(root, f"hazelnut{last}", f"folder{last % 50}/{last}.md")
            equals_scratch(root)
    finally:
        finished.set()
        writer.join()


def test_what_changed_while_it_was_off_is_found_at_its_start(root: Path) -> None:
    furnish(root, 10)
    with Watched(root):
        knows(root, "walnut9", "notes/9.md")
    write(root, "notes/3.md", "hazelnut")
    write(root, "notes/new.md", "chestnut")
    (root / "notes/4.md").unlink()
    (root / "notes/5.md").rename(root / "moved.md")
    with Watched(root):
        knows(root, "hazelnut", "notes/3.md")
        knows(root, "walnut5", "moved.md")
        equals_scratch(root)


def test_a_second_watcher_is_told_who_the_first_is(root: Path) -> None:
    furnish(root, 3)
    with Watched(root) as watched:
        second = huimem(root, "watch")
        assert second.returncode == 5
        assert str(watched.pid) in second.stderr
        write(root, "notes/1.md", "hazelnut")
        knows(root, "hazelnut", "notes/1.md")
    assert watch_of(root) is None and not (root / ".huimem/watch.json").exists()
    with Watched(root):
        knows(root, "hazelnut", "notes/1.md")


def watch_of(root: Path) -> dict[str, object] | None:
    """What `huimem status` says of the watcher."""
    watcher: dict[str, object] | None = json.loads(huimem(root, "status", "--json").stdout)["watcher"]
    return watcher


ENDS = [(signal.SIGTERM, 143), (signal.SIGHUP, 129)]


@pytest.mark.parametrize(("asked", "code"), ENDS)
def test_a_watcher_ends_as_it_is_asked_to(asked: signal.Signals, code: int, root: Path) -> None:
    furnish(root, 3)
    with Watched(root) as watched:
        watched.process.send_signal(asked)
        assert watched.process.wait(10) == code
        assert watched.said == []
    assert watch_of(root) is None and not (root / ".huimem/watch.json").exists()


def test_a_watcher_whose_reader_has_gone_ends(root: Path) -> None:
    furnish(root, 3)
    command = [*HUIMEM, "watch", "--vault", str(root)]
    with subprocess.Popen(
        command, env=environment(root), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout and process.stderr
        assert process.stdout.readline()
        process.stdout.close()
        write(root, "notes/2.md", "chestnut")
        assert process.wait(10) == 141
        assert b"Traceback" not in process.stderr.read()
    assert watch_of(root) is None


def test_links_in_circles_and_out_of_the_vault_are_not_followed(root: Path) -> None:
    furnish(root, 3)
    write(root.parent, "outside/n.md", "walnut1")
    (root / "notes/loop").symlink_to(".")
    (root / "loop").symlink_to(root)
    (root / "everything").symlink_to("/")
    (root / "notes/outside").symlink_to(root.parent / "outside")
    with Watched(root) as watched:
        (root / "notes/later").symlink_to("/")
        write(root, "notes/2.md", "hazelnut")
        knows(root, "hazelnut", "notes/2.md")
        assert found(root, "walnut1") == [("notes/1.md", 1)]
        open_watches = 0
        for file in Path(f"/proc/{watched.pid}/fdinfo").iterdir():
            with suppress(FileNotFoundError):  # closed meanwhile
                open_watches += sum(line.startswith("inotify") for line in file.read_text().splitlines())
        assert open_watches < 20
    told = [line.split()[1] for line in huimem(root, "doctor").stdout.splitlines() if "is a symlink" in line]
    wanted = ("everything", "loop", "notes/later", "notes/loop", "notes/outside")
    assert sorted(told) == [str(root / name) for name in wanted]


def test_a_pipe_named_like_a_note_is_not_waited_for(root: Path) -> None:
    furnish(root, 3)
    os.mkfifo(root / "notes/x.md")
    with Watched(root):
        os.mkfifo(root / "notes/later.md")
        write(root, "notes/2.md", "hazelnut")
        knows(root, "hazelnut", "notes/2.md")
    assert "later.md" in huimem(root, "doctor").stdout


def test_a_killed_watcher_leaves_nothing_to_clean_up(root: Path) -> None:
    furnish(root, 3)
    for number in range(3):
        with Watched(root) as watched:
            write(root, "notes/2.md", f"hazelnut{number}")
            watched.kill()
        assert watch_of(root) is None
    start = time.monotonic()
    with Watched(root):
        assert time.monotonic() - start < 5
        knows(root, "hazelnut2", "notes/2.md")
        equals_scratch(root)


def test_a_watcher_that_hangs_is_called_stuck_and_answers_stay_fresh(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    furnish(root, 3)
    monkeypatch.setenv("HUIMEM_EMBEDDER", "none")
    with Watched(root) as watched:
        watched.pause()
        write(root, "notes/2.md", "hazelnut")
        with Memory.open(root) as memory:
            answer = memory.recall("hazelnut")
        assert [hit.path for hit in answer.hits] == ["notes/2.md"] and answer.freshness.fresh
        eventually(lambda: "stuck" in huimem(root, "status").stdout, True)
        assert str(watched.pid) in huimem(root, "status").stdout
        watched.resume()
        eventually(lambda: "running" in huimem(root, "status").stdout, True)


def test_a_bad_note_stops_nothing(root: Path) -> None:
    """Bytes that are no text, no front matter's end, nothing but NUL, and a folder that refuses."""
    furnish(root, 3)
    with Watched(root) as watched:
        for name, data in {
            "bytes": b"\xff\xfe\x00\x80", "front": b"---\ntitle: [\n", "nul": b"\0" * 5000, "empty": b"",
        }.items():  # fmt: skip
            (root / f"notes/{name}.md").write_bytes(data)
        write(root, "notes/2.md", "hazelnut")
        knows(root, "hazelnut", "notes/2.md")
        assert watched.process.poll() is None

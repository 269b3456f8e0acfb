"""Group E of the faults: a disk that reports errors, at the moments at which one is easily overheard."""

from __future__ import annotations

import errno
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from huimem import Memory, files, heartbeat, locks
from huimem.errors import WriteFailed
from tests.processes import on_a_small_disk

PACKAGE = Path(__file__).parents[2] / "huimem"
OLD, NEW = b"old\n", b"new\n" * 5000
EIO = OSError(errno.EIO, os.strerror(errno.EIO))
Huimem = Callable[..., tuple[int, str, str]]

WRITES: dict[str, Callable[[Path], None]] = {
    "create": lambda path: files.create(path.with_name("new.md"), NEW),
    "replace": lambda path: files.replace(path, NEW, OLD),
}


@contextmanager
def failing(name: str, when: Callable[..., bool]) -> Iterator[list[int]]:
    """The system's call `os.NAME` reports an error where `when` says so; descriptors on which it did."""
    real, failed = getattr(os, name), list[int]()

    def call(*given: Any, **more: Any) -> Any:
        found = when(*given, **more)
        if found and name != "close":
            failed.append(1)
            raise EIO
        done = real(*given, **more)
        if found:  # a descriptor is closed whatever the system says of it
            failed.append(1)
            raise EIO
        return done

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, name, call)
        yield failed


def a_temp(descriptor: int) -> bool:
    """Whether a descriptor is that of a temp file."""
    try:
        return files.TEMP.fullmatch(os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}"))) is not None
    except OSError:
        return False


LAST_CALLS = [
    # the call that reports what the write did not
    pytest.param("fsync", id="fsync"),
    pytest.param("close", id="close"),
]


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="this system does not tell what is open")
@pytest.mark.parametrize("call", LAST_CALLS)
@pytest.mark.parametrize("name", WRITES)
def test_an_error_that_comes_with_the_last_call_is_a_failed_write(
    name: str, call: str, tmp_path: Path
) -> None:
    """E3, E11: it is not overheard, what stood there stands, and the next try writes everything anew."""
    path = tmp_path / "note.md"
    path.write_bytes(OLD)
    with failing(call, a_temp) as failed:
        with pytest.raises(WriteFailed, match="Input/output error") as refused:
            WRITES[name](path)
        assert len(failed) == 1, "it is not tried again on the same file"
        assert refused.value.hint
    assert os.listdir(tmp_path) == ["note.md"] and path.read_bytes() == OLD
    WRITES[name](path)
    assert NEW in [each.read_bytes() for each in tmp_path.iterdir()]


def test_a_folder_that_cannot_be_synced_is_a_failed_write(tmp_path: Path) -> None:
    """E11: what is published and may be lost by a power cut is not called written."""
    path = tmp_path / "note.md"
    path.write_bytes(OLD)
    with (
        failing("fsync", lambda descriptor: os.path.isdir(f"/dev/fd/{descriptor}")),
        pytest.raises(WriteFailed, match="Input/output error"),
    ):
        files.replace(path, NEW, OLD)
    assert path.read_bytes() in (OLD, NEW) and os.listdir(tmp_path) == ["note.md"]


# What writes bytes, or gives a file its name; the formatter is that of the command line's help.
WRITING = re.compile(
    r"""\bopen\([^()]*["'][rbt]*[wax+][wbt+]*["']|(?<!formatter)\.write_(?:bytes|text)\("""
    r"""|\bos\.(?:write|pwrite|truncate|ftruncate|replace|rename|link)\(|\bO_(?:WRONLY|RDWR|CREAT)\b"""
)
# Where that may stand: the writer itself, locks, the catalog (SQLite writes it), and pipes.
WRITERS = {"files.py", "descriptors.py", "locks.py", "index/catalog.py"}
PIPES = {"index/worker.py", "surfaces/mcp/wire.py", "surfaces/cli/main.py"}


def test_files_are_written_in_one_place() -> None:
    """E3: one function writes, with flush, sync and close; nothing is written past it."""
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if WRITING.search(path.read_text(encoding="utf-8"))
    }
    assert {"files.py", "locks.py", *PIPES} <= found <= WRITERS | PIPES


def stands_for(place: str | int | os.PathLike[str]) -> str:
    """The path of a descriptor; any other path as it is."""
    return os.readlink(f"/proc/self/fd/{place}") if isinstance(place, int) else os.fspath(place)


UNREAD = [
    # the system's call that fails, and whether it is that of the bad file or folder
    pytest.param(
        "open", lambda path, *_, **__: os.path.basename(path) == "bad.md", "notes/bad.md", id="file"
    ),
    pytest.param("open", lambda path, *_, **__: str(path).endswith("/notes"), "notes/", id="folder"),
    pytest.param("scandir", lambda place: stands_for(place).endswith("notes"), "notes/", id="listing"),
]


@pytest.mark.parametrize(("call", "when", "place"), UNREAD)
def test_what_the_disk_cannot_read_is_reported_and_stays_in_the_index(
    call: str, when: Callable[..., bool], place: str, marigold_vault: Path, huimem: Huimem
) -> None:
    """E10: an error of the disk is no deletion, whether of a file or of the folder that lists it."""
    bad = marigold_vault / "notes/bad.md"
    bad.parent.mkdir()
    bad.write_text("The larkspur is blue.\n", encoding="utf-8")
    assert huimem("sync")[0] == 0
    bad.write_text("The larkspur is blue, and the tulip red.\n", encoding="utf-8")
    with failing(call, when):
        code, out, err = huimem("recall", "marigold")
        assert code == 0 and "sessions/good.md:3" in out
        assert err.startswith(f"warning: {place}: cannot be read: Input/output error")
        code, out, _ = huimem("sync", "--full", "--json")
        assert '"removed": 0' in out
        code, out, _ = huimem("doctor")
        assert code == 1 and f"fail  {place.rstrip('/')}  cannot be read: Input/output error" in out
    with Memory.open(marigold_vault) as memory, memory.index.snapshot() as snapshot:
        assert any("larkspur" in text for text in snapshot.texts([row for (row,) in snapshot.db.execute(
            "SELECT row FROM chunk"
        )]))  # fmt: skip
    assert huimem("recall", "tulip")[0] == 0


def no_status(patch: pytest.MonkeyPatch) -> None:
    """The disk takes no watch.json."""
    jot = files.jot

    def refuse(path: Path, data: bytes, **more: Any) -> None:
        if path.name == heartbeat.FILE:
            raise WriteFailed(f"{path} cannot be written: No space left on device")
        jot(path, data, **more)

    patch.setattr(files, "jot", refuse)


def no_lock_text(patch: pytest.MonkeyPatch) -> None:
    """The disk takes no word of who holds a lock."""

    def refuse(*_: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    patch.setattr(locks.os, "pwrite", refuse)


@pytest.mark.parametrize("refuse", [no_status, no_lock_text])
def test_a_watcher_goes_on_where_it_cannot_say_how_it_is(
    refuse: Callable[[pytest.MonkeyPatch], None],
    marigold_vault: Path,
    huimem: Huimem,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """E12: what it writes for others to read is no reason to stop; and status tells of it all the same."""
    refuse(monkeypatch)
    with Memory.open(marigold_vault, embedder="none", background=False) as memory:
        rounds = memory.watch()
        next(rounds)
        (marigold_vault / "late.md").write_text("The larkspur is blue.\n", encoding="utf-8")
        while memory.index.counts().sources != 2:
            next(rounds)
        code, out, _ = huimem("status")
        rounds.close()
    assert code == 0
    assert ("running, but it cannot say how it is: is the disk full?" in out) == (refuse is no_status)
    assert (f"running (process {os.getpid()}" in out) == (refuse is no_lock_text)
    assert huimem("recall", "larkspur")[0] == 0


# On a disk of its own that has room for 80 files: what each verb says when all but `left` are there, in a
# vault before its first sync and after it.
NO_INODES = """
import contextlib, io, itertools, json, os, shutil, sys
from huimem.surfaces.cli.main import run

def told(*words):
    out, err = (io.TextIOWrapper(io.BytesIO(), write_through=True) for _ in range(2))
    sys.stdin = io.TextIOWrapper(io.BytesIO(b"some words"))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(words)
    return code, out.buffer.getvalue().decode(), err.buffer.getvalue().decode()

RECORD = ("record", "--role", "user", "--session", "s")
print("ready")
for synced, left in itertools.product((False, True), range(12)):
    os.mkdir("vault")
    os.chdir("vault")
    open("huimem.toml", "w").close()
    with open("good.md", "w") as note:
        note.write("The marigold is by the door.")
    synced and told("sync")
    with contextlib.suppress(OSError):
        for number in range(80):
            os.close(os.open(f"filler{number}", os.O_CREAT))
    for count in range(number - left, number):
        os.remove(f"filler{count}")
    full = [told("recall", "marigold"), told(*RECORD), told("sync")]
    torn = [n for _, _, names in os.walk(".") for n in names if n.startswith(".huimem-")]
    for name in os.listdir():
        name.startswith("filler") and os.remove(name)
    room = [told("sync"), told("recall", "marigold"), told(*RECORD), told("recall", "words")]
    print(json.dumps([synced, left, full, torn, room]))
    os.chdir("..")
    shutil.rmtree("vault")
"""
NO_ROOM = (
    ": No space left on device\nhint: The disk has no room for another file, however small (df -i): "
    "delete some and try again.\n"
)


@pytest.mark.slow
def test_a_disk_that_takes_no_more_files_refuses_with_the_remedy(tmp_path: Path, own_home: Path) -> None:
    """E7: space is left, and inodes are not. Nothing torn stays, and all goes on once there is room."""
    env = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), "HUIMEM_EMBEDDER": "none"}
    words = [sys.executable, "-c", NO_INODES]
    done = on_a_small_disk(tmp_path, '"$@"', words, env, "size=16m,nr_inodes=80")
    if done is None:
        pytest.skip("this system gives nobody a small disk of their own")
    rows = [json.loads(line) for line in done.stdout.splitlines()[1:]]
    assert len(rows) == 24 and done.stderr == ""
    refused = set()
    for synced, left, full, torn, room in rows:
        for verb, (code, out, err) in zip(("recall", "record", "sync"), full, strict=True):
            if code:
                assert (code, out) == (3, "") and err.endswith(NO_ROOM), (synced, left, err)
                refused.add((verb, synced))
            elif verb == "recall":
                assert "good.md:1" in out
        assert torn == []
        assert [code for code, _, _ in room] == [0, 0, 0, 0], (synced, left, room)
        assert "good.md:1" in room[1][1] and "sessions/" in room[3][1]
    assert refused >= {("recall", False), ("record", False), ("sync", False), ("record", True)}
    assert ("recall", True) not in refused, "what is indexed answers"

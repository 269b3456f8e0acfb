"""Group E of the faults: a disk that reports errors, at the moments at which one is easily overheard."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from huimem import Memory, files
from huimem.errors import WriteFailed

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


UNREAD = [
    # the system's call that fails, and whether it is that of the bad file or folder
    pytest.param(
        "open", lambda path, *_, **__: os.path.basename(path) == "bad.md", "notes/bad.md", id="file"
    ),
    pytest.param("scandir", lambda path: str(path).endswith("notes/"), "notes/", id="folder"),
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

"""Writes are whole or absent, reads never hang or lie, locks name their holder."""

from __future__ import annotations

import errno
import os
import re
import resource
import socket
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from huimem import files
from huimem.errors import Conflict, WriteFailed
from huimem.files import Stamp, Unreadable
from tests.processes import code_of, start

OLD, NEW = b"old\n", b"new \xe4\xbd\xa0\xe5\xa5\xbd\n" * 3000

# Every write there is, as a change of `note.md` in a folder: what it does, and what stood there before.
WRITES: dict[str, tuple[Callable[[Path], None], bytes | None]] = {
    "create": (lambda path: files.create(path, NEW), None),
    "replace": (lambda path: files.replace(path, NEW, OLD), OLD),
    "remove": (lambda path: files.remove(path), OLD),
}
AFTER = {"create": NEW, "replace": NEW, "remove": None}


@pytest.fixture(autouse=True)
def _nobody_watches() -> Iterator[None]:
    yield
    files.watch_steps(None)


def prepared(folder: Path, before: bytes | None) -> Path:
    for old in folder.iterdir():
        old.unlink()
    path = folder / "note.md"
    if before is not None:
        path.write_bytes(before)
    return path


def content(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def at_step(number: int, act: Callable[[], None]) -> list[str]:
    """Act at the step of that number, counted from 1; returns the steps seen, as they come."""
    seen: list[str] = []

    def watch(name: str) -> None:
        seen.append(name)
        if len(seen) == number:
            act()

    files.watch_steps(watch)
    return seen


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITES)
def test_killed_at_any_step_leaves_old_or_new(name: str, tmp_path: Path) -> None:
    write, before = WRITES[name]
    states = set()
    for number in range(1, 100):
        path = prepared(tmp_path, before)

        def dying(path: Path = path, number: int = number) -> None:
            at_step(number, lambda: os._exit(137))
            write(path)

        code = code_of(start(dying))
        assert content(path) in (before, AFTER[name])
        others = [n for n in os.listdir(tmp_path) if n != "note.md"]
        assert all(files.leftover(n) for n in others), "a dead writer's temp file is known as one"
        states.add(content(path))
        if code == 0:
            break
        assert code == 137
        write_again(name, path)
        assert content(path) == AFTER[name], "the next run completes"
    assert number > 2
    assert states == {before, AFTER[name]}


def write_again(name: str, path: Path) -> None:
    if content(path) != AFTER[name]:
        WRITES[name][0](path)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT, errno.EACCES])
@pytest.mark.parametrize("name", WRITES)
def test_refused_at_any_step_leaves_old_or_new_and_no_temp(name: str, code: int, tmp_path: Path) -> None:
    write, before = WRITES[name]

    def refuse() -> None:
        raise OSError(code, os.strerror(code))

    for number in range(1, 100):
        path = prepared(tmp_path, before)
        seen = at_step(number, refuse)
        try:
            write(path)
        except WriteFailed as error:
            assert "note.md" in error.message and error.hint
            assert content(path) == (AFTER[name] if published(seen) else before)
            assert set(os.listdir(tmp_path)) <= {"note.md"}
        else:
            break
    assert content(path) == AFTER[name]
    assert number > 2


def published(seen: list[str]) -> bool:
    """Whether the last of these steps comes after the change is visible."""
    return any(name in ("after publish", "after exchange", "after remove") for name in seen)


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    before = len(os.listdir("/dev/fd"))
    test_refused_at_any_step_leaves_old_or_new_and_no_temp("replace", errno.EIO, tmp_path)
    files.watch_steps(None)
    with pytest.raises(Unreadable):
        files.read(tmp_path / "none.md")
    with files.lock(tmp_path / "l"):
        pass
    assert len(os.listdir("/dev/fd")) == before


@contextmanager
def limited(kind: int, value: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (value, hard))
    try:
        yield
    finally:
        resource.setrlimit(kind, (soft, hard))


def test_a_size_limit_of_the_system_leaves_the_old_file(tmp_path: Path) -> None:
    path = prepared(tmp_path, OLD)
    with limited(resource.RLIMIT_FSIZE, 1000), pytest.raises(WriteFailed, match="limit"):
        files.replace(path, NEW, OLD)
    assert content(path) == OLD
    assert os.listdir(tmp_path) == ["note.md"]


def test_too_many_open_files_is_said(tmp_path: Path) -> None:
    path = prepared(tmp_path, OLD)
    with limited(resource.RLIMIT_NOFILE, 0):
        with pytest.raises(Unreadable, match="ulimit"):
            files.read(path)
        with pytest.raises(WriteFailed, match="ulimit"):
            files.replace(path, NEW, OLD)
    assert content(path) == OLD


def edited_in_place(path: Path) -> None:
    path.write_bytes(b"edited by hand")


def edited_by_rename(path: Path) -> None:
    other = path.with_name("editor")
    other.write_bytes(b"edited by hand")
    other.rename(path)


@pytest.mark.parametrize("edit", [edited_in_place, edited_by_rename])
@pytest.mark.parametrize("moment", ["before temp", "after write", "after sync", "before publish"])
def test_an_edit_that_comes_in_meanwhile_stands(
    edit: Callable[[Path], None], moment: str, tmp_path: Path
) -> None:
    path = prepared(tmp_path, OLD)
    files.watch_steps(lambda name: edit(path) if name == moment else None)
    with pytest.raises(Conflict):
        files.replace(path, NEW, OLD)
    assert content(path) == b"edited by hand"
    assert os.listdir(tmp_path) == ["note.md"]


def test_of_two_edits_in_the_last_instant_both_are_kept(tmp_path: Path) -> None:
    path = prepared(tmp_path, OLD)
    edits = {"before publish": b"first", "after exchange": b"second"}
    files.watch_steps(lambda name: path.write_bytes(edits[name]) and None if name in edits else None)
    with pytest.raises(Conflict):
        files.replace(path, NEW, OLD)
    copies = [p for p in tmp_path.iterdir() if ".sync-conflict-" in p.name]
    assert content(path) == b"first" and [copy.read_bytes() for copy in copies] == [b"second"]
    assert len(os.listdir(tmp_path)) == 2


def test_a_deletion_that_comes_in_meanwhile_stands(tmp_path: Path) -> None:
    path = prepared(tmp_path, OLD)
    files.watch_steps(lambda name: path.unlink() if name == "after sync" else None)
    with pytest.raises(Conflict):
        files.replace(path, NEW, OLD)
    assert os.listdir(tmp_path) == []


def test_an_edit_between_the_last_look_and_a_deletion_stands(tmp_path: Path) -> None:
    """D6, K3: of a file that is deleted for being packed."""
    path = prepared(tmp_path, OLD)
    files.watch_steps(lambda name: edited_in_place(path) if name == "before remove" else None)
    with pytest.raises(Conflict):
        files.take_away(path, OLD)
    assert content(path) == b"edited by hand"


def test_a_new_file_never_overwrites(tmp_path: Path) -> None:
    path = prepared(tmp_path, None)
    files.watch_steps(lambda name: path.write_bytes(OLD) if name == "before publish" else None)
    with pytest.raises(Conflict):
        files.create(path, NEW)
    assert content(path) == OLD
    assert os.listdir(tmp_path) == ["note.md"]


@pytest.mark.skipif(sys.platform != "linux", reason="leases are Linux's")
def test_a_program_that_still_writes_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = prepared(tmp_path, OLD)
    monkeypatch.setattr(files, "PATIENCE", 0.05)
    with open(path, "r+b") as editor:
        with pytest.raises(Conflict, match="open for writing"):
            files.replace(path, NEW, OLD)
        editor.write(b"late")
    assert content(path) == b"late"
    monkeypatch.setattr(files, "PATIENCE", 5.0)
    with open(path, "rb"):  # readers are nobody's trouble
        files.replace(path, NEW, b"late")
    assert content(path) == NEW


def test_modes(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        files.make_folder(tmp_path / "a/b")
        path = tmp_path / "a/b/note.md"
        files.create(path, OLD)
        with files.lock(tmp_path / "state/locks/x.lock"):
            pass
        modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in tmp_path.rglob("*")}
        assert modes == {
            "a": 0o700, "b": 0o700, "note.md": 0o600, "state": 0o700, "locks": 0o700, "x.lock": 0o600,
        }  # fmt: skip
        path.chmod(0o640)
        files.replace(path, NEW, OLD)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
    finally:
        os.umask(before)


def test_what_is_jotted_down_is_whole_replaces_anything_and_makes_no_folder(tmp_path: Path) -> None:
    path = prepared(tmp_path, OLD)
    seen = at_step(0, lambda: None)
    files.jot(path, NEW)
    assert content(path) == NEW and os.listdir(tmp_path) == ["note.md"]
    assert "before folder sync" not in seen
    with pytest.raises(WriteFailed, match=re.escape("gone/note.md")):
        files.jot(tmp_path / "gone/note.md", NEW)
    assert not (tmp_path / "gone").exists()


def test_a_hard_link_elsewhere_keeps_the_old_bytes(tmp_path: Path) -> None:
    path = prepared(tmp_path, OLD)
    os.link(path, tmp_path / "outside")
    files.replace(path, NEW, OLD)
    assert content(tmp_path / "outside") == OLD


def test_a_symlink_is_neither_read_nor_written(tmp_path: Path) -> None:
    target = tmp_path / "target.md"
    target.write_bytes(OLD)
    link = tmp_path / "link.md"
    link.symlink_to(target)
    with pytest.raises(Unreadable, match="symlink"):
        files.read(link)
    with pytest.raises((Conflict, WriteFailed)):
        files.replace(link, NEW, OLD)
    with pytest.raises(Conflict):
        files.create(link, NEW)
    assert link.is_symlink() and content(target) == OLD


def test_nothing_leaves_the_vault_through_a_folder_that_became_a_symlink(tmp_path: Path) -> None:
    vault, outside = tmp_path / "vault", tmp_path / "outside"
    (vault / "week").mkdir(parents=True)
    outside.mkdir()
    (outside / "note.md").write_bytes(OLD)

    def swap(name: str) -> None:
        if name == "before temp" and not (vault / "week").is_symlink():
            (vault / "week").rename(vault / "moved")
            (vault / "week").symlink_to(outside)

    files.watch_steps(swap)
    files.create(vault / "week/new.md", NEW, within=vault)
    files.watch_steps(None)
    assert os.listdir(outside) == ["note.md"]
    assert content(vault / "moved/new.md") == NEW, "the write went to the folder that was opened"
    with pytest.raises(Unreadable, match="symlink"):
        files.read(vault / "week/note.md", within=vault)
    with pytest.raises(WriteFailed):
        files.replace(vault / "week/note.md", NEW, OLD, within=vault)
    with pytest.raises(WriteFailed):
        files.remove(vault / "week/note.md", within=vault)
    with pytest.raises(WriteFailed):
        files.make_folder(vault / "week/deeper", within=vault)
    assert content(outside / "note.md") == OLD and os.listdir(outside) == ["note.md"]


@pytest.mark.parametrize("path", ["../note.md", "week/../../note.md", ".."])
def test_dots_do_not_lead_out(path: str, tmp_path: Path) -> None:
    (tmp_path / "vault/week").mkdir(parents=True)
    (tmp_path / "note.md").write_bytes(OLD)
    with pytest.raises(Unreadable):
        files.read(tmp_path / "vault" / path, within=tmp_path / "vault")


def fifo(path: Path) -> None:
    os.mkfifo(path)


def bound_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.fspath(path))


@pytest.mark.parametrize("make", [fifo, bound_socket, Path.mkdir])
def test_only_regular_files_are_opened(make: Callable[[Path], None], tmp_path: Path) -> None:
    path = tmp_path / "x.md"
    make(path)
    with pytest.raises(Unreadable, match="regular file") as caught:
        files.read(path)
    assert not caught.value.gone


def test_gone_and_too_large_are_told_apart(tmp_path: Path) -> None:
    path = prepared(tmp_path, OLD)
    assert files.read(path) == (OLD, files.stamp(path))
    with pytest.raises(Unreadable, match="too large") as caught:
        files.read(path, limit=3)
    assert not caught.value.gone
    with pytest.raises(Unreadable) as caught:
        files.read(tmp_path / "none.md")
    assert caught.value.gone
    assert files.stamp(tmp_path / "none.md") is None


def test_a_read_waits_until_a_file_is_at_rest(tmp_path: Path) -> None:
    path = prepared(tmp_path, b"")
    stop = threading.Event()

    def write() -> None:
        with open(path, "r+b", buffering=0) as file:
            for number in range(10_000):
                file.seek(0)
                file.write(b"%06d" % number * 2000)
                if stop.is_set():
                    return

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(30):
            try:
                data, stamped = files.read(path)
            except Unreadable as busy:
                assert "changes while it is read" in busy.message
            else:
                assert len(data) == stamped.size
    finally:
        stop.set()
        writer.join()


def test_a_stamp_survives_its_text() -> None:
    one = Stamp(65024, 2154676, 0, 1796041300914234421, 1796041300914255952)
    assert Stamp.parse(str(one)) == one
    with pytest.raises(ValueError):
        Stamp.parse("1.2.3")


def test_leftovers_are_those_of_the_dead() -> None:
    child = start(lambda: None)
    code_of(child)
    assert files.leftover(f".huimem-{child}-00ff.tmp")
    assert not files.leftover(f".huimem-{os.getpid()}-00ff.tmp")
    assert not files.leftover(".huimem-notes.tmp")

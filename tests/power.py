"""What a process does to the files of a vault → everything that may be left of it after a power cut.

In: writes, names and syncs as they happen, recorded. Out: for a cut after any of them, the trees that a disk
may hold: what was synced is there; of what was not, a file's bytes may be missing, cut short or NULs, and a
name may be the old one or the new one. The state folder is left out, but for what it held at that moment.
"""

from __future__ import annotations

import os
import random
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from huimem import files
from huimem.renaming import EXCHANGE

STATE = ".huimem"
FOLDER = -1  # stands for a file's number where a name is that of a folder
NOBODY = 1 << 22 | 1  # beyond every process id: after a power cut no writer is alive
COMBINED = 4  # random combinations of what may be lost, tried at each cut

Tree = dict[str, bytes | None]  # path → bytes, None for a folder


@dataclass(frozen=True)
class Named:
    """Names in one folder that change together: path → number of a file, FOLDER, or None for no more."""

    folder: str
    changes: tuple[tuple[str, int | None], ...]


@dataclass(frozen=True)
class Written:
    """The bytes of a file are these now."""

    file: int
    data: bytes


@dataclass(frozen=True)
class Synced:
    """A file's bytes, or the names in a folder, are on the disk."""

    what: int | str


Operation = Named | Written | Synced


@dataclass
class Log:
    """Operations on the files below `root`, in their order, and what the state folder held after each.

    The disk may lie about syncing, of "files" or of "folders".
    """

    root: Path
    lies: str = ""
    operations: list[Operation] = field(default_factory=list)
    states: list[Tree] = field(default_factory=list)
    names: dict[str, int | None] = field(default_factory=dict)  # as they are now
    contents: dict[int, bytes] = field(default_factory=dict)
    first_names: dict[str, int | None] = field(default_factory=dict)
    first_contents: dict[int, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for path, data in tree_of(self.root).items():
            self.names[path] = FOLDER if data is None else len(self.contents)
            if data is not None:
                self.contents[len(self.contents)] = data
        self.first_names, self.first_contents = dict(self.names), dict(self.contents)
        self.states.append(tree_of(self.root / STATE, ""))

    def add(self, operation: Operation) -> None:
        if isinstance(operation, Named):
            for path, file in operation.changes:
                self.names[path] = file
        elif isinstance(operation, Written):
            self.contents[operation.file] = operation.data
        self.operations.append(operation)
        now = tree_of(self.root / STATE, "")
        self.states.append(self.states[-1] if now == self.states[-1] else now)

    def named(self, changes: dict[str, int | None]) -> None:
        """Take note of names that change together, all in one folder."""
        self.add(Named(str(PurePosixPath(next(iter(changes))).parent), tuple(changes.items())))

    def new_file(self) -> int:
        self.contents[len(self.contents)] = b""
        return len(self.contents) - 1

    def look(self, path: str) -> None:
        """Take note of what a file holds now."""
        file = self.names.get(path)
        if file is not None and file != FOLDER:
            data = (self.root / path).read_bytes()
            if data != self.contents[file]:
                self.add(Written(file, data))

    def below(self, path: str | Path, folder: int | None) -> str | None:
        """A path as it is named here; None for what is none of ours."""
        above = os.readlink(f"/proc/self/fd/{folder}") if folder is not None else os.getcwd()
        whole = os.path.normpath(os.path.join(above, os.fspath(path)))
        found = os.path.relpath(whole, self.root)
        return None if found.split("/")[0] in ("..", STATE) else found


def tree_of(root: Path, leave_out: str = STATE) -> Tree:
    """Everything below a folder, but for the state folder."""
    found: Tree = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if name.split("/")[0] != leave_out:
            with suppress(FileNotFoundError):  # another thread is at it, in the state folder
                found[name] = None if path.is_dir() else path.read_bytes()
    return found


# Recording


@contextmanager
def recorded(root: Path, *, lies: str = "") -> Iterator[Log]:
    """Record what this process does to files below `root`, on a disk that may lie."""
    log, alone = Log(root, lies), threading.RLock()
    with pytest.MonkeyPatch.context() as patch:
        for name, wrapped in _CALLS.items():
            patch.setattr(os, name, _recording(log, alone, getattr(os, name), wrapped))
        patch.setattr(files, "renamed", _recording(log, alone, files.renamed, _renamed))
        yield log
    assert _true(log) == tree_of(root), "something was not recorded"


def _recording(log: Log, alone: Any, real: Any, wrapped: Callable[..., Any]) -> Callable[..., Any]:
    """A call of the system that is done and recorded by one thread at a time."""

    def call(*given: Any, **more: Any) -> Any:
        with alone:
            return wrapped(log, real, *given, **more)

    return call


def _opened(log: Log, real: Any, path: Any, flags: int, mode: int = 0o777, **more: Any) -> int:
    descriptor: int = real(path, flags, mode, **more)
    place = log.below(path, more.get("dir_fd")) if flags & os.O_CREAT else None
    if place is not None and log.names.get(place) is None:
        log.named({place: log.new_file()})
    return descriptor


def _fsynced(log: Log, real: Any, descriptor: int) -> None:
    place = log.below(os.readlink(f"/proc/self/fd/{descriptor}"), None)
    if place is not None:
        log.look(place)
        file = log.names.get(place, FOLDER)
        synced = Synced(place if file is None or file == FOLDER else file)
        if log.lies != ("folders" if isinstance(synced.what, str) else "files"):
            log.add(synced)


def _linked(log: Log, real: Any, source: Any, target: Any, **more: Any) -> None:
    real(source, target, **more)
    here, there = log.below(source, more.get("src_dir_fd")), log.below(target, more.get("dst_dir_fd"))
    if here is not None and there is not None:
        log.look(here)
        log.named({there: log.names[here]})


def _moved(log: Log, real: Any, source: Any, target: Any, **more: Any) -> None:
    here, there = log.below(source, more.get("src_dir_fd")), log.below(target, more.get("dst_dir_fd"))
    if here is not None:
        log.look(here)
    real(source, target, **more)
    if here is not None and there is not None:
        log.named({here: None, there: log.names[here]})


def _removed(log: Log, real: Any, path: Any, **more: Any) -> None:
    place = log.below(path, more.get("dir_fd"))
    real(path, **more)
    if place is not None:
        log.named({place: None})


def _made(log: Log, real: Any, path: Any, mode: int = 0o777, **more: Any) -> None:
    real(path, mode, **more)
    if (place := log.below(path, more.get("dir_fd"))) is not None:
        log.named({place: FOLDER})


def _renamed(log: Log, real: Any, folder: int | None, source: str, target: str, flag: int) -> bool:
    here, there = log.below(source, folder), log.below(target, folder)
    if here is not None:
        log.look(here)
    done: bool = real(folder, source, target, flag)
    if done and here is not None and there is not None:
        displaced = log.names[there] if flag == EXCHANGE else None
        log.named({here: displaced, there: log.names[here]})
    return done


_CALLS: dict[str, Callable[..., Any]] = {
    "open": _opened,
    "fsync": _fsynced,
    "fdatasync": _fsynced,
    "link": _linked,
    "rename": _moved,
    "replace": _moved,
    "unlink": _removed,
    "remove": _removed,
    "rmdir": _removed,
    "mkdir": _made,
}

# What may be left


def left_by_cut(log: Log, cut: int, chance: random.Random) -> Iterator[Tree]:
    """The trees that a disk may hold when the power fails after the first `cut` operations; the first is the
    one in which nothing was lost."""
    done = log.operations[:cut]
    pending = [number for number in _names(done) if not _on_disk(done, number)]
    unsure = _unsynced(log, done)
    kept = [frozenset(pending)]
    kept += [frozenset(pending[:number]) for number in range(len(pending))]
    kept += [frozenset(pending) - {number} for number in pending]
    full = {file: versions[-1] for file, versions in unsure.items()}
    tried = [(names, full) for names in kept]
    tried += [(kept[0], full | {file: data}) for file, versions in unsure.items() for data in versions]
    for _ in range(COMBINED if pending or unsure else 0):
        some = frozenset(number for number in pending if chance.random() < 0.5)
        tried.append((some, {file: chance.choice(versions) for file, versions in unsure.items()}))
    seen: list[Tree] = []
    for names, contents in tried:
        tree = _tree(log, done, frozenset(pending) - names, contents)
        if tree not in seen:
            seen.append(tree)
            yield tree


def _true(log: Log) -> Tree:
    return _tree(log, log.operations, frozenset(), {})


def _names(done: Sequence[Operation]) -> list[int]:
    return [number for number, each in enumerate(done) if isinstance(each, Named)]


def _on_disk(done: Sequence[Operation], number: int) -> bool:
    """Whether the folder in which names changed was synced since."""
    changed = done[number]
    return isinstance(changed, Named) and Synced(changed.folder) in done[number:]


def _unsynced(log: Log, done: Sequence[Operation]) -> dict[int, list[bytes]]:
    """Files that were written to since they were synced, and what each may hold: the last is all of it."""
    safe, now = dict(log.first_contents), dict(log.first_contents)
    for each in done:
        if isinstance(each, Written):
            now[each.file] = each.data
        elif isinstance(each, Synced) and isinstance(each.what, int):
            safe[each.what] = now.get(each.what, b"")
    return {
        file: [safe.get(file, b""), b"", data[: len(data) // 2], bytes(len(data)), data]
        for file, data in now.items()
        if safe.get(file) != data
    }


def _tree(log: Log, done: Sequence[Operation], lost: frozenset[int], contents: dict[int, bytes]) -> Tree:
    """What stands where these changes of names were lost, and these files hold something else."""
    names, held = dict(log.first_names), dict(log.first_contents)
    for number, each in enumerate(done):
        if isinstance(each, Named) and number not in lost:
            names.update(each.changes)
        elif isinstance(each, Written):
            held[each.file] = each.data
    held.update(contents)
    found: Tree = {}
    for path, file in sorted(names.items()):
        above = str(PurePosixPath(path).parent)
        if file is not None and (above == "." or above in found):
            found[path] = None if file == FOLDER else held.get(file, b"")
    return found


def put_down(root: Path, tree: Tree, state: Tree) -> None:
    """Make a folder hold a tree and nothing else; temp files there are those of a writer that is gone."""
    shutil.rmtree(root, ignore_errors=True)
    for above, part in ((root, tree), (root / STATE, state)):
        above.mkdir(parents=True)
        for path, data in part.items():
            place = above / path.replace(f".huimem-{os.getpid()}-", f".huimem-{NOBODY}-")
            if data is None:
                place.mkdir()
            else:
                place.write_bytes(data)

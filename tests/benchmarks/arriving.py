"""Words of many new files: python -m tests.benchmarks.arriving --folder DIR [--megabytes 80] [--vault V]

Makes a vault of conversations, English and Chinese, and brings its words into an index made from nothing:
by one process alone, and with all that may help. Prints megabytes of text a second, the processor seconds
of all processes and the most memory that they held together.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from huimem import Memory
from huimem.files import Stamp
from huimem.index import crew

EVERY = 0.05  # seconds between two looks at the memory
NAMES = [
    *("lantern", "harbour", "kettle", "budget", "river", "garden", "index", "vector", "release", "battery"),
    *("violin", "marathon", "contract", "recipe", "orchard", "window", "ledger", "compiler", "bridge"),
]
SMALL = [
    "the",
    "of",
    "to",
    "and",
    "a",
    "in",
    "for",
    "with",
    "we",
    "it",
    "was",
    "then",
    "on",
    "is",
    "our",
    "this",
]
TIMES = [
    "yesterday",
    "last week",
    "on Friday",
    "in March",
    "two days ago",
    "at 5 pm",
    "tomorrow",
    "2024-05-06",
]
HAN = "今天我们讨论向量索引分段半精度冷月份租房合同膝盖步频钢琴练习交易记录数据库编译器借用检查灯笼港口预算"


def sentence(rng: random.Random) -> str:
    if rng.random() < 0.2:
        return "".join(rng.choices(HAN, k=rng.randrange(8, 30))) + "。"
    words = [rng.choice(NAMES if rng.random() < 0.5 else SMALL) for _ in range(rng.randrange(6, 22))]
    if rng.random() < 0.3:
        words.insert(rng.randrange(len(words)), rng.choice(TIMES))
    return f"{' '.join(words).capitalize()}. "


def session(rng: random.Random, number: int) -> str:
    """A conversation of some 15 kB, as a file holds it."""
    at = datetime(2021, 1, 1, tzinfo=UTC) + timedelta(hours=7 * number)
    lines = [f"---\nhuimem: 1\nid: chat_{number}\ntitle: Chat {number}\ntz: UTC\n---\n"]
    for turn in range(rng.randrange(4, 14)):
        for role, most in (("User", 4), ("Assistant", 22)):
            at += timedelta(seconds=rng.randrange(5, 200))
            said = "".join(sentence(rng) for _ in range(rng.randrange(1, most)))
            lines.append(f"## {role} · {at:%Y-%m-%d %H:%M:%S}\n\n{said} {turn}\n")
    return "\n".join(lines)


def made(root: Path, megabytes: float) -> None:
    """A vault of so much text."""
    rng, written, number = random.Random(5), 0, 0
    shutil.rmtree(root, ignore_errors=True)
    (root / "sessions").mkdir(parents=True)
    (root / "huimem.toml").write_text('timezone = "UTC"\n')
    while written < megabytes * 1e6:
        text = session(rng, number).encode()
        (root / "sessions" / f"chat_{number:06}.md").write_bytes(text)
        written, number = written + len(text), number + 1


def held() -> int:
    """Bytes of memory that this process and those it started hold together (Linux)."""
    total, mine = 0, os.getpid()
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if mine in (int(name), int(fields[1])):
            total += int(fields[21]) * resource.getpagesize()
    return total


@contextmanager
def watched(peak: list[int]) -> Iterator[None]:
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(EVERY):
            peak[0] = max(peak[0], held())

    thread = threading.Thread(target=watch)
    thread.start()
    yield
    ended.set()
    thread.join()


def processor_seconds() -> float:
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


def measure(name: str, root: Path) -> None:
    shutil.rmtree(root / ".huimem", ignore_errors=True)
    with Memory.open(root, embedder="none", background=False) as memory:
        stamps = memory.vault.scan().files.values()
        size = sum(stamp.size if isinstance(stamp, Stamp) else 0 for stamp in stamps)
        peak, used, start = [0], processor_seconds(), time.perf_counter()
        with watched(peak):
            memory.sync(vectors=False)
        spent = time.perf_counter() - start
        used = processor_seconds() - used
    rate = f"{size / 1e6:.1f} MB | {spent:.1f} s | {size / 1e6 / spent:.2f} MB/s"
    memory = f"{used:.1f} processor seconds | {peak[0] / 1e6:.0f} MB"
    print(f"| {name} | {len(stamps):,} files, {rate} | {memory} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--megabytes", type=float, default=80.0)
    parser.add_argument(
        "--vault", type=Path, help="a vault to measure in place of one made here; it is copied"
    )
    parser.add_argument("--only", choices=("alone", "helped"))
    options = parser.parse_args()
    root = options.folder / "arriving"
    if options.vault is not None:
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(options.vault, root, ignore=shutil.ignore_patterns(".huimem"))
    else:
        made(root, options.megabytes)
    if options.only != "alone":
        measure(f"with others, {crew._processors()} processors", root)
    if options.only != "helped":
        crew.LEAST_FILES = crew.LEAST_BYTES = 1 << 60
        measure("one process alone", root)


if __name__ == "__main__":
    main()

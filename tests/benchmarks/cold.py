"""Packed months: what packing costs, a packed text, and 36 archives beside a question.

`python -m tests.benchmarks.cold --folder ~/.cache/huimem-bench`. Made vaults, the embedder `none`; the disk's
cache is warm, huimem's own is cold or warm as named.
"""

from __future__ import annotations

import argparse
import random
import shutil
import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from huimem import Memory
from huimem.vault.archive import archive
from huimem.vault.cold import plan
from huimem.vault.vault import Vault

NOW = datetime(2026, 9, 1, tzinfo=UTC)
WORDS = (
    "garden",
    "index",
    "meeting",
    "shard",
    "piano",
    "rent",
    "房租",
    "索引",
    "会议",
    "钢琴",
    "kettle",
    "violin",
)


def text(number: int, words: int) -> str:
    draw = random.Random(number)
    return " ".join(f"{draw.choice(WORDS)}{draw.randrange(500)}" for _ in range(words))


def vault(root: Path, months: int, files: int, words: int) -> Vault:
    """A vault with so many sessions in each of some months before 2026."""
    shutil.rmtree(root, ignore_errors=True)
    made = Vault.create(root, tz="UTC")
    for month in range(months):
        for number in range(files):
            day = datetime(2025 - month // 12, 12 - month % 12, 1 + number % 28, tzinfo=UTC)
            at = day + timedelta(minutes=number)
            folder = root / f"sessions/{at:%G-W%V}"
            folder.mkdir(parents=True, exist_ok=True)
            name = f"chat_{at:%Y-%m-%d_%H%M%S}_{number}"
            said = text(month * files + number, words)
            head = (
                f"---\nhuimem: 1\nid: {name}\ntitle: Talk {number}\ncreated: {at:%Y-%m-%dT%H:%M:%S}\n---\n\n"
            )
            clock = f"{at:%Y-%m-%d %H:%M:%S}"
            body = f"## User · {clock}\n\n{said}\n\n## Assistant · {clock}\n\nyes\n"
            (folder / f"{name}.md").write_text(head + body, encoding="utf-8")
    return made


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def packing(folder: Path) -> None:
    """A month of 2,000 files: planned, packed and deleted; one text of it, cold and from the cache."""
    made = vault(folder / "month", 1, 2_000, 700)
    planned = plan(made, NOW)
    size = sum(one.member.size for files in planned.months.values() for one in files)
    took = seconds(lambda: plan(made, NOW))
    for place, files in planned.months.items():
        packed = seconds(lambda place=place, files=files: archive(made, place, files))  # type: ignore[misc]
    print(
        f"| a month of 2,000 files, {size / 1e6:.1f} MB | planned {took:.2f} s, "
        f"packed and deleted {packed:.2f} s |"
    )
    paths = [place.file(one.member.name) for place, files in planned.months.items() for one in files]
    cold, kept = [], []
    for path in random.Random(0).sample(paths, 40):
        cold.append(seconds(lambda p=path: Vault.open(made.root, made.config).read(p, keep=True)))  # type: ignore[misc]
        other = Vault.open(made.root, made.config)
        other.archives.manifest(next(iter(planned.months)))
        kept.append(seconds(lambda p=path, v=other: v.read(p, keep=True)))  # type: ignore[misc]
    print(f"| a text of it, cold process state | p50 {statistics.median(cold) * 1e3:.1f} ms |")
    print(f"| the same from the cache, manifest read before | p50 {statistics.median(kept) * 1e3:.1f} ms |")


def asking(folder: Path) -> None:
    """Questions with 36 months open and packed."""
    made = vault(folder / "years", 36, 40, 120)
    spent: dict[str, list[float]] = {}
    with Memory.open(made.root, embedder="none", background=False) as memory:
        memory.sync()
        time.sleep(2.5)
        for name in ("36 months open", "36 months packed"):
            memory.recall("garden meeting", now=NOW)
            questions = [text(number, 3) for number in range(60)]
            spent[name] = [seconds(lambda q=q: memory.recall(q, now=NOW)) for q in questions]  # type: ignore[misc]
            print(f"| a question, {name} | p50 {statistics.median(spent[name]) * 1e3:.1f} ms |")
            if name == "36 months open":
                took = seconds(lambda: memory.archive(now=NOW))
                print(f"| packing all 36 of them, 1,440 files | {took:.1f} s |")
                time.sleep(2.5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    options = parser.parse_args()
    packing(options.folder)
    asking(options.folder)


if __name__ == "__main__":
    main()

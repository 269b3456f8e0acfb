"""What an agent waits for: python -m tests.benchmarks.mcp recall|start --folder DIR [--set locomo|synthetic]

`recall` times round trips of recall_memory through the SDK's client, `start` the greeting on a vault of
5,000 files that no index knows. Each prints rows of the table in RESULTS.md.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from mcp import Client, StdioServerParameters

from huimem import Memory
from tests.benchmarks.corpora import label, public, synthetic
from tests.benchmarks.speed import percentiles

TURNS, FILES, STARTS = 6_000, 5_000, 11
# What is asked of the synthetic vault: words of both languages, with and without a time.
QUESTIONS = (
    *(
        "which module imports the function",
        "what did we say about exceptions last year",
        "class attribute names",
    ),
    *("我们上次说的问题是什么", "今天的工作时间", "经济发展", "the string format of numbers in March 2021"),
)
Asked = Sequence[tuple[str, str | None]]


def server(root: Path) -> StdioServerParameters:
    words = ["-m", "huimem", "mcp", "serve", "--vault", str(root)]
    return StdioServerParameters(command=sys.executable, args=words, cwd=Path.cwd())


def ready(name: str, folder: Path) -> tuple[Path, Asked]:
    """A vault that is indexed, vectors too, and what to ask it."""
    asked: Asked
    if name == "locomo":
        corpus = public("locomo", folder)
        root = corpus.root
        asked = [(str(g.query), label(i)) for i, c in enumerate(corpus.conversations) for g in c.golds[:30]]
    else:
        root = synthetic(TURNS, folder)
        asked = [(question, None) for question in QUESTIONS * 30]
    with Memory.open(root) as memory:
        memory.sync()
        print(memory.index.counts(), flush=True)
    return root, asked


async def recall(root: Path, asked: Asked) -> None:
    async with Client(server(root), mode="legacy") as client:
        for question, namespace in asked[:20]:
            await client.call_tool("recall_memory", {"query": question, "namespace": namespace})
        spent, sizes = [], []
        for question, namespace in asked:
            start = time.perf_counter()
            answer = await client.call_tool("recall_memory", {"query": question, "namespace": namespace})
            spent.append(time.perf_counter() - start)
            sizes.append(len(answer.content[0].text))  # type: ignore[union-attr]
        percentiles(f"recall_memory through a client, {len(asked)} questions", spent)
        print(f"| characters of an answer | median {statistics.median(sizes):,.0f} | most {max(sizes):,} |")


def files(root: Path) -> Path:
    """A vault of short sessions that no index knows."""
    shutil.rmtree(root, ignore_errors=True)
    for number in range(FILES):
        folder = root / "sessions" / f"2026-W{number % 50 + 1:02}"
        folder.mkdir(parents=True, exist_ok=True)
        text = f"## User · 2026-04-06 09:{number % 60:02}:00\n\nWhere is the marigold pot {number}?\n"
        (folder / f"chat_{number:05}.md").write_text(text, encoding="utf-8")
    (root / "huimem.toml").write_text('timezone = "UTC"\n', encoding="utf-8")
    return root


async def greetings(root: Path) -> list[float]:
    """Seconds from the start of a process to its answer to `initialize`, each on an unindexed vault."""
    spent = []
    for _ in range(STARTS):
        shutil.rmtree(root / ".huimem", ignore_errors=True)
        start = time.perf_counter()
        async with Client(server(root), mode="legacy"):
            spent.append(time.perf_counter() - start)
    return spent


async def first_answers(root: Path) -> Iterator[tuple[float, str]]:
    """When each answer came while the words were taken in, and what its first line says."""
    shutil.rmtree(root / ".huimem", ignore_errors=True)
    told = []
    async with Client(server(root), mode="legacy") as client:
        start, fresh = time.perf_counter(), False
        while not fresh:
            answer = await client.call_tool("recall_memory", {"query": "marigold pot 4711", "k": 1})
            fresh = answer.structured_content["index"]["fresh"]
            first = answer.content[0].text.split("\n")[0]  # type: ignore[union-attr]
            told.append((time.perf_counter() - start, first))
    return iter(told)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=("recall", "start"))
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--set", choices=("locomo", "synthetic"), default="synthetic")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.part == "recall":
        asyncio.run(recall(*ready(given.set, given.folder)))
        return
    root = files(given.folder / "unindexed")
    percentiles(f"initialize, {FILES:,} unindexed files, {STARTS} processes", asyncio.run(greetings(root)))
    for seconds, line in asyncio.run(first_answers(root)):
        print(f"| {seconds:.2f} s | {line} |", flush=True)


if __name__ == "__main__":
    main()

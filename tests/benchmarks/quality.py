"""Recall quality on public sets: python -m tests.benchmarks.quality locomo --folder ~/.cache/huimem-bench

Every question goes through `Memory.recall` with default settings, in the conversation's namespace.
A hit is a turn; its evidence message is ranked first, then the other messages of its turn after all
evidence messages.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from huimem import Memory
from tests.benchmarks.corpora import SETS, Corpus, label, public, scorer

DEPTH = 40  # hits asked for: more than any measured rank


def ranker(memory: Memory, corpus: Corpus):  # type: ignore[no-untyped-def]
    def rank(question, index: int) -> list[str]:  # type: ignore[no-untyped-def]
        found = memory.recall(str(question), namespace=label(index), limit=DEPTH, now=question.asked_at)
        first, rest = [], []
        for hit in found.hits:
            ids = [corpus.ids[label(index), hit.ref.session, message.at] for message in hit.record.messages]
            first.append(ids[hit.message])
            rest += ids
        return first + rest

    return rank


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", choices=sorted(SETS))
    parser.add_argument("--folder", type=Path, required=True, help="keeps vaults and vectors between runs")
    parser.add_argument("--embedder", default=None)
    parser.add_argument("--only", default=None, help="dev, test, or numbers")
    options = parser.parse_args()
    sets = scorer()
    corpus = public(options.set, options.folder)
    halves = {"dev": sets.LOCOMO_DEV, "test": sets.LOCOMO_TEST}
    only = options.only and (halves.get(options.only) or [int(n) for n in options.only.split(",")])
    with Memory.open(corpus.root, embedder=options.embedder) as memory:
        start = time.perf_counter()
        memory.sync(progress=lambda what, done, total: print(f"\r{what} {done}/{total}   ", end=""))
        print(f"\nsynced in {time.perf_counter() - start:.1f} s; {memory.index.counts()}")
        print(sets.format_report(sets.evaluate(ranker(memory, corpus), corpus.conversations, only=only)))


if __name__ == "__main__":
    main()

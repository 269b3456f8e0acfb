"""Recall quality on public sets: python -m tests.benchmarks.quality locomo --folder ~/.cache/huimem-bench

Every question goes through `Memory.recall` with default settings, in the conversation's namespace. A hit
is a turn; its evidence message is ranked first, then the other messages of its turn after all evidence
messages; of LongMemEval, sessions are ranked. The ranking was chosen on the halves called dev; the
intervals (95 %) are of two-stage bootstraps, over conversations and their questions.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from huimem import Memory
from tests.benchmarks.corpora import SETS, SHARED, Corpus, label, public, scorer

DEPTH = 40  # hits asked for: more than any measured rank
NO_FLOOR = {"ranking.floor": 0.0, "ranking.words_floor": 0.0}
COLUMNS = ("R@1", "hit@5", "R@5", "all@5", "R@10", "MRR", "shit@5", "sR@5", "sall@5")
HEADS = "| set | half | n | R@1 | any@5 | R@5 | all@5 | R@10 | MRR | sessions any / R / all @5 | nothing |"
DEV = {"locomo": (0, 2, 4, 6, 8), "beam": tuple(range(0, 20, 2))}
ROUNDS = 2_000


class Ranker:
    """Ranks a set's ids for its questions; counts the answers without a hit."""

    def __init__(self, memory: Memory, corpus: Corpus, history: Mapping[str, Sequence[str]]) -> None:
        self._memory = memory
        self._corpus = corpus
        self._history = history
        self.nothing: set[str] = set()

    def __call__(self, question: Any, index: int) -> list[str]:
        text, history = str(question), self._history.get(question.qid, ())
        if history:  # the scorer puts it before the question
            text = text.rsplit("\n", 1)[-1]
        found = self._memory.recall(
            text, namespace=label(index), limit=DEPTH, now=question.asked_at, history=history
        )
        if not found.hits:
            self.nothing.add(question.qid)
        first, rest = [], []
        for hit in found.hits:
            session = hit.ref.session
            ids = [self._corpus.ids[label(index), session, message.at] for message in hit.record.messages]
            first.append(ids[hit.message])
            rest += ids
        return list(dict.fromkeys(first + rest))


def interval(rows: Sequence[Mapping[str, Any]], column: str) -> tuple[float, float]:
    """A 95 % interval of a mean: conversations are drawn, then questions inside them."""
    draw = np.random.default_rng(0)
    groups = [
        np.array([row[column] for row in rows if row["conv"] == name])
        for name in dict.fromkeys(row["conv"] for row in rows)
    ]
    means = []
    for _ in range(ROUNDS):
        picked = [groups[at] for at in draw.integers(0, len(groups), len(groups))]
        means.append(np.concatenate([one[draw.integers(0, len(one), len(one))] for one in picked]).mean())
    low, high = np.percentile(means, (2.5, 97.5))
    return float(low), float(high)


def line(name: str, half: str, report: Mapping[str, Any], nothing: int) -> str:
    """A row of the table."""
    values = report["overall"]
    shown = {column: f"{values[column]:.3f}" for column in COLUMNS}
    for column in ("R@5", "MRR") if half in ("test", "whole") else ():
        low, high = interval(report["rows"], column)
        shown[column] += f" [{low:.3f}, {high:.3f}]"
    sessions = " / ".join(shown.pop(column) for column in ("shit@5", "sR@5", "sall@5"))
    return (
        f"| {name} | {half} | {report['questions']} | {' | '.join(shown.values())} | {sessions} | {nothing} |"
    )


def halves(name: str, count: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    if name in DEV:
        yield "dev", DEV[name]
        yield "test", tuple(at for at in range(count) if at not in DEV[name])
    yield "whole", tuple(range(count))


def told_before(name: str) -> dict[str, list[str]]:
    """The messages before a question, by its id, where the set has them apart."""
    if name != "memhawk":
        return {}
    cases = json.loads((SHARED / "datasets" / "memhawk_dataset.json").read_text(encoding="utf-8"))["cases"]
    return {case["id"]: [said["content"] for said in case["history"]] for case in cases if case["history"]}


def refused(memory: Memory) -> str:
    """How many of MemHawk's unknowns are answered with nothing."""
    cases = json.loads((SHARED / "datasets" / "memhawk_dataset.json").read_text(encoding="utf-8"))["cases"]
    unknown = [case for case in cases if not case.get("relevant_memory_ids")]
    answers = [
        memory.recall(
            case["query"], namespace=label(0), history=[said["content"] for said in case.get("history", ())]
        )
        for case in unknown
    ]
    return f"{sum(not answer.hits for answer in answers)} of {len(unknown)} unknowns refused"


def measured(name: str, folder: Path, settings: Mapping[str, object]) -> Iterator[str]:
    sets, corpus = scorer(), public(name, folder)
    with Memory.open(corpus.root, **settings) as memory:
        memory.sync()
        start = time.perf_counter()
        ranker = Ranker(memory, corpus, told_before(name))
        whole = sets.evaluate(ranker, corpus.conversations)
        names = [conversation.id for conversation in corpus.conversations]
        for half, chosen in halves(name, len(names)):
            rows = [row for row in whole["rows"] if names.index(row["conv"]) in chosen]
            report = sets.summarise(rows, [], sets.DEFAULT_KS)
            yield line(name, half, report, sum(row["qid"] in ranker.nothing for row in rows))
            report["category"] = dict(sorted(report["category"].items()))
            if half == "whole" and len(report["category"]) > 1:
                yield "by category, R@5 / MRR: " + ", ".join(
                    f"{category} {v['R@5']:.3f} / {v['MRR']:.3f}"
                    for category, v in report["category"].items()
                )
        if name == "memhawk":
            yield refused(memory)
        yield f"{len(whole['rows']) / (time.perf_counter() - start):.0f} questions a second"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=sorted(SETS), help="names of sets; all of them by default")
    parser.add_argument("--folder", type=Path, required=True, help="keeps vaults and vectors between runs")
    parser.add_argument("--embedder", default=None)
    parser.add_argument("--no-floor", action="store_true", help="also answer what is hardly relevant")
    options = parser.parse_args()
    settings: dict[str, object] = {"embedder": options.embedder} | (NO_FLOOR if options.no_floor else {})
    print(HEADS)
    for name in options.sets:
        for told in measured(name, options.folder, settings):
            print(told, flush=True)


if __name__ == "__main__":
    main()

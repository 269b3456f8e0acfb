"""Whether a question's time lets its evidence pass.

`python -m tests.benchmarks.dated --folder ~/.cache/huimem-bench`

LoCoMo's questions that name an exact time, asked an hour after the last session of their conversation. A
question counts as inside where all its evidence (`any`: a part of it) passes the filter, by having been
said then or by speaking of it; beside it the same with what was said then alone. `passing` is the share
of a conversation's turns that pass, so that a filter which lets everything through does not look good.
Ranges that are not used, because nothing is that old, filter nothing and are counted apart.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from statistics import fmean, median
from typing import Any

from huimem import Memory
from huimem.recall import query as asking
from tests.benchmarks.corpora import SHARED, UTC, Corpus, label, public

LATER = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Dated:
    """A dated question: its evidence and what passes its filter, by the set's own ids, in two ways.

    `used` is False where its range filters nothing.
    """

    text: str
    phrases: tuple[str, ...]
    evidence: frozenset[str]
    passing: frozenset[str]
    said: frozenset[str]
    turns: int
    used: bool


def dated(memory: Memory, corpus: Corpus) -> Iterator[Dated]:
    """Every question of the set that names an exact time."""
    for index, conversation in enumerate(corpus.conversations):
        for gold in conversation.golds:
            found = _asked(memory, corpus, index, gold.query, frozenset(gold.evidence))
            if found and found.evidence:
                yield found


def _asked(memory: Memory, corpus: Corpus, index: int, query: Any, evidence: frozenset[str]) -> Dated | None:
    now = query.asked_at.replace(tzinfo=UTC) + LATER
    text, spoken = str(query), asking.options({"namespace": label(index)})
    made = asking.make(text, spoken, now, memory.resolve)
    if not made.own:
        return None
    phrases = tuple(text[slice(*reading.span)] for reading in made.own)
    said = asking.options({"namespace": label(index), "said_only": True})
    passing, used = _passing(memory, corpus, index, made)
    strict, _ = _passing(memory, corpus, index, asking.make(text, said, now, memory.resolve))
    return Dated(text, phrases, evidence, passing, strict, len(corpus.conversations[index].turns), used)


def _passing(
    memory: Memory, corpus: Corpus, index: int, made: asking.Understood
) -> tuple[frozenset[str], bool]:
    """The ids of the messages that a question may find, and whether its time decides that."""
    with memory.caught_up() as standing:
        made, narrowed, _ = memory.limited(made, standing)
    with memory.index.snapshot() as snapshot:
        records = snapshot.records(sorted(set(snapshot.passages(snapshot.rows(narrowed)).record.tolist())))
    ids = {_milliseconds(at): id for (name, _, at), id in corpus.ids.items() if name == label(index)}
    return frozenset(ids[record.at_ms] for record in records if record.at_ms in ids), bool(made.own)


def _milliseconds(at: Any) -> int:
    return int(at.timestamp() * 1000)


def report(questions: Sequence[Dated]) -> str:
    """The figures as a table, and how many questions they are of."""
    if not questions:
        return "no question names an exact time"
    rows = ["| | all evidence inside | any | turns that pass (median) |", "|---|---:|---:|---:|"]
    used = [one for one in questions if one.used]
    dates = [one for one in questions if any(map(str.isdigit, "".join(one.phrases)))]
    for name, chosen, said in (
        ("said or spoken of", questions, False),
        ("said alone (`--said`)", questions, True),
        ("said or spoken of, range used", used, False),
        ("said alone, range used", used, True),
        (f"said or spoken of, a date with a figure ({len(dates)})", dates, False),
        ("said alone, a date with a figure", dates, True),
    ):
        sets = [(one, one.said if said else one.passing) for one in chosen]
        if sets:
            whole = fmean(one.evidence <= passing for one, passing in sets)
            part = fmean(bool(one.evidence & passing) for one, passing in sets)
            share = median(len(passing) / one.turns for one, passing in sets)
            rows.append(f"| {name} | {whole:.1%} | {part:.1%} | {share:.1%} |")
    unused = len(questions) - len(used)
    return "\n".join([f"{len(questions)} dated questions, {unused} of them with a range not used", "", *rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="keeps the vault between runs")
    parser.add_argument("--misses", action="store_true", help="list questions whose evidence is outside")
    options = parser.parse_args()
    if not (SHARED / "datasets" / "locomo10.json").exists():
        raise SystemExit(f"skipped: no LoCoMo at {SHARED}; set HUIMEM_BENCH_DATA")
    os.environ.setdefault("HUIMEM_EMBEDDER", "none")  # filters need no meaning
    corpus = public("locomo", options.folder)
    with Memory.open(corpus.root) as memory:
        memory.sync()
        questions = list(dated(memory, corpus))
    for one in questions:
        if options.misses and not one.evidence <= one.passing:
            print(f"{', '.join(one.phrases)}\t{one.text}\t{' '.join(sorted(one.evidence - one.passing))}")
    print(report(questions))


if __name__ == "__main__":
    main()

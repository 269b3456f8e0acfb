"""`huimem eval`: one's own questions → how well this vault answers them, and why it misses what it does."""

from __future__ import annotations

from pathlib import Path

import click

from huimem.errors import UsageError
from huimem.evaluation import (
    DEPTH,
    Asking,
    Evaluation,
    QuestionSet,
    below,
    evaluate,
    figures,
    minimums_in,
    questions_in,
)
from huimem.surfaces.cli.answering import memory_of
from huimem.surfaces.cli.evaluated import Judged, evaluation_document, render_evaluation
from huimem.surfaces.cli.filters import limit_option
from huimem.surfaces.cli.look import looking
from huimem.surfaces.cli.options import Shared, Verb
from huimem.surfaces.cli.paths import PATH
from huimem.surfaces.cli.printing import print_document, print_text
from huimem.surfaces.cli.progress import progress
from huimem.surfaces.cli.reading import read_input

EXAMPLES = """\
huimem eval questions.toml
huimem eval questions.jsonl --min "recall@5=0.9,mrr=0.8,abstention=0.9"
huimem eval questions.toml --json | jq -r '.questions[].misses[].reason'"""


@click.command(cls=Verb, epilog=EXAMPLES)
@click.argument("path", metavar="SET", type=PATH)
@click.option(
    "--min", "least", metavar="FIGURES", default="", help="Exit code 1 below these: recall@5=0.9,mrr=0.8."
)
@limit_option(5)
@click.option("--depth", metavar="N", default=DEPTH, show_default=True, help="Look for ranks this far down.")
@click.pass_obj
def command(shared: Shared, path: Path, least: str, limit: int, depth: int) -> int:
    """Score the answers to your own questions, and say why each miss was missed.

    SET is a TOML file with a [[question]] each, or JSON Lines; - is standard input. A question has
    `question` and `expected` (refs; [] where nothing answers), and may have `kind`, `now`, `namespace`,
    `when`, `history` and `note`. Any expected ref is enough; for the kind "several" all are needed. What
    does not stand among the first hits of --limit is a miss. --now is for questions that name no time.

    --min knows any@K, recall@K (the fraction), all@K for K of 1, 3, 5 and 10, mrr, answered and
    abstention. Exit code 1 below a minimum, or where a question cannot be asked.
    """
    wanted = minimums_in(least)
    asked = questions_in(_text(shared, path), str(path))
    with memory_of(shared) as (memory, now), progress(shared) as show:
        how = Asking(now, shared.namespace, limit, depth)
        found = evaluate(memory, asked, how, progress=show)
        look = looking(memory.zone, now, memory.vault.root)
    judged = Judged(str(path), found, below(wanted, figures(found.outcomes)))
    for warning in (*found.warnings, *_doubts(asked, found)):
        shared.say(f"warning: {warning}")
    if shared.json:
        print_document(evaluation_document(judged, look))
    else:
        print_text(render_evaluation(judged, look))
    return 1 if judged.below or found.problems else 0


def _text(shared: Shared, path: Path) -> str:
    if str(path) == "-":
        return read_input(shared, "questions")
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{path}:{line}: not UTF-8", "Save it as UTF-8: iconv -t UTF-8.") from error
    except OSError as error:
        hint = "Name a file of questions, or - for standard input; huimem eval --help shows its form."
        raise UsageError(f"{path} cannot be read: {error.strerror or error}", hint) from error


def _doubts(asked: QuestionSet, found: Evaluation) -> list[str]:
    """What makes figures say little: another vault than was meant, vectors that are not made yet."""
    said = []
    refs = [(outcome, miss) for outcome in found.outcomes for miss in outcome.misses]
    answerable = sum(outcome.answerable for outcome in found.outcomes)
    lost = {id(outcome) for outcome, miss in refs if miss.why == "not indexed"}
    if answerable and len(lost) == answerable:
        meant = f"; they were written for {asked.vault}" if asked.vault else ""
        said.append(f"no expected ref is in this vault{meant}")
    state = found.freshness
    if state and state.vectors_done < state.vectors_total:
        missing = state.vectors_total - state.vectors_done
        said.append(f"{missing:,} passages have no vector yet: huimem sync makes them")
    return said

"""`huimem scan`: a question → a walk back through time, week by week, and what it found."""

from __future__ import annotations

from typing import Any

import click

from huimem.memory import Memory
from huimem.recall.query import WEEKS
from huimem.recall.scan import finished
from huimem.records import Recall
from huimem.surfaces.cli.asking import ask
from huimem.surfaces.cli.filters import asking_options
from huimem.surfaces.cli.options import Shared, Verb
from huimem.surfaces.cli.progress import passing
from huimem.surfaces.cli.walk import step_name

EXAMPLES = """\
huimem scan "the accountant"
huimem scan 租房合同 --weeks 52
huimem scan "the knee" --from "last month" --context 1"""


@click.command(cls=Verb, epilog=EXAMPLES)
@asking_options(
    click.option(
        "--weeks",
        metavar="N",
        default=WEEKS,
        show_default=True,
        help="How far back at most, where the question names no time.",
    ),
    click.option("--from", "start", metavar="PHRASE", help="Begin at the end of this time, not today."),
)
@click.pass_obj
def command(shared: Shared, /, question: tuple[str, ...], **options: Any) -> int:
    """Walk back week by week until one of them answers, and show the walk.

    Through the time that the question or --when names, by months where that is longer than a year; else
    from this week. Stops where a week's best is good, and better than all before. Exit code 1 where
    nothing is found.
    """

    def put(memory: Memory, text: str, **keywords: Any) -> Recall:
        with passing(shared) as show:
            return finished(memory.scan(text, **keywords), lambda step: show(f"looking at {step_name(step)}"))

    return ask(shared, question, options, put, scans=True)

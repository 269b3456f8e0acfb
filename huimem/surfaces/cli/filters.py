"""The options that narrow a question or a list, the same wherever they stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

Decorator = Callable[[Any], Any]

when_option = click.option(
    "--when", metavar="PHRASE", help="Only this time: last week, 上周三, 2026-04-08, 2026-04-01..2026-04-05."
)
kind_option = click.option(
    "--kind",
    "kinds",
    multiple=True,
    metavar="K",
    help="Only this kind: turn, note, preference …; repeatable.",
)
role_option = click.option(
    "--role", "roles", multiple=True, metavar="R", help="Only what user, assistant, tool … said; repeatable."
)
tag_option = click.option(
    "--tag", "tags", multiple=True, metavar="T", help="Only sessions with this tag; repeatable."
)


said_option = click.option(
    "--said", "said_only", is_flag=True, help="Only what was said then, not what speaks of then."
)
superseded_option = click.option(
    "--superseded", "include_superseded", is_flag=True, help="Facts that no longer hold, too."
)
context_option = click.option("--context", metavar="N", default=0, help="Show N neighbours on each side.")
budget_option = click.option(
    "--budget",
    metavar="TOKENS",
    type=int,
    help="Show whole turns, as many as about so many tokens of text hold, for a model to read.",
)
explain_option = click.option("--explain", is_flag=True, help="Show every factor of each score.")
full_option = click.option("--full", is_flag=True, help="Show whole texts.")
question_argument = click.argument("question", metavar="QUESTION", nargs=-1, required=True)


def asking_options(*own: Decorator) -> Decorator:
    """What every verb takes that asks a question, with its `own` options before the others."""
    shown = (limit_option(5), context_option, kind_option, role_option, tag_option, superseded_option)
    ways = (budget_option, explain_option, full_option)

    def with_options(verb: Any) -> Any:
        for option in reversed((question_argument, when_option, *own, *shown, *ways)):
            verb = option(verb)
        return verb

    return with_options


def limit_option(count: int) -> Decorator:
    """`--limit N`, `count` where it is not given."""
    return click.option("--limit", metavar="N", default=count, show_default=True, help="At most so many.")

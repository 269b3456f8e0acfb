"""The options that narrow a question or a list, the same wherever they stand."""

from __future__ import annotations

from collections.abc import Callable

import click

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


def limit_option(count: int) -> Callable[[click.decorators.FC], click.decorators.FC]:
    """`--limit N`, `count` where it is not given."""
    return click.option("--limit", metavar="N", default=count, show_default=True, help="At most so many.")

"""A group of verbs that stand in a table and are imported when they are used.

In: a verb's name → where its command is, and what it does. Out: a click group that knows near misses,
takes the shared options before or after the verb, and shows itself at work before it lists anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

from huimem.errors import UsageError
from huimem.surfaces.cli.options import HELP, take_shared, write_examples, write_options

PACKAGE = "huimem.surfaces.cli"


@dataclass(frozen=True, slots=True)
class Row:
    """A verb: what it does, and its command as `module:name` below this package."""

    about: str
    place: str

    def command(self) -> click.Command:
        module, _, name = self.place.partition(":")
        found: click.Command = getattr(import_module(f"{PACKAGE}.{module}"), name)
        return found


class Table(click.Group):
    """Verbs by name. `path` is what is typed before them; `options_title` heads the options in its help."""

    def __init__(
        self, path: str, rows: Mapping[str, Row], examples: Sequence[str], *, options_title: str, **more: Any
    ) -> None:
        super().__init__(path.split()[-1], subcommand_metavar="VERB …", context_settings=HELP, **more)
        self.path, self.rows, self.examples, self.options_title = path, rows, examples, options_title

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.rows)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return self.rows[cmd_name].command() if cmd_name in self.rows else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self.rows:
            near = get_close_matches(args[0], self.rows, n=1)
            hint = f"Did you mean {self.path} {near[0]}?" if near else f"{self.path} --help lists the verbs."
            below = f" of {self.path}" if " " in self.path else ""
            raise UsageError(f"there is no verb {args[0]!r}{below}", hint)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        take_shared(ctx)
        return super().invoke(ctx)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        write_examples(formatter, self.examples)
        with formatter.section(f"Verbs ({self.path} VERB --help)"):
            formatter.write_dl([(name, row.about) for name, row in self.rows.items()])
        write_options(formatter, ctx, self.options_title, self.get_params(ctx))

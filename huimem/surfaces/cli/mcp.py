"""`huimem mcp`: serve agents, and set up their clients. Its verbs are imported when they are used."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

from huimem.errors import UsageError
from huimem.surfaces.cli.options import HELP, shared_options, take_shared, write_examples, write_options

# A verb's name → the module that holds the command of that name, and what it does.
VERBS = {
    "serve": ("mcp_serve", "Serve one client over standard input and output."),
    "install": ("mcp_install", "Enter huimem among the MCP servers of a client, and see whether it answers."),
    "config": (
        "mcp_install",
        "Print what `huimem mcp install` would enter in a client's file, and write nothing.",
    ),
}
EXAMPLES = (
    "huimem mcp install --client claude-code",
    "huimem mcp config --client cursor",
    "huimem mcp serve --vault ~/Notes/AI --read-only",
)


class Verbs(click.Group):
    """The verbs below `huimem mcp`, which stand in a table."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command: click.Command = getattr(import_module(f"huimem.surfaces.cli.{VERBS[cmd_name][0]}"), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in VERBS:
            near = get_close_matches(args[0], VERBS, n=1)
            hint = f"Did you mean huimem mcp {near[0]}?" if near else f"There are {', '.join(VERBS)}."
            raise UsageError(f"there is no verb {args[0]!r} of huimem mcp", hint)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        take_shared(ctx)
        return super().invoke(ctx)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        write_examples(formatter, EXAMPLES)
        with formatter.section("Verbs (huimem mcp VERB --help)"):
            formatter.write_dl([(name, about) for name, (_, about) in VERBS.items()])
        write_options(formatter, ctx, "Options", self.get_params(ctx))


command = Verbs(
    "mcp",
    params=shared_options(),
    help="Serve agents over MCP; set up their clients.",
    subcommand_metavar="VERB …",
    context_settings=HELP,
    no_args_is_help=False,
)

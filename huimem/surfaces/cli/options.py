"""The options that every verb has, and what makes a click command a verb of huimem.

In: the words after `huimem`. Out: one frozen `Shared` beside the verb's own options, and a help that
shows the verb at work before it lists them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

import click

from huimem.errors import UsageError
from huimem.surfaces.cli.printing import say

HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@dataclass(frozen=True, slots=True)
class Shared:
    """What every verb takes, before the verb or after it."""

    vault: Path | None = None
    namespace: str | None = None
    json: bool = False
    now: str | None = None
    tz: str | None = None
    quiet: bool = False
    verbose: bool = False

    def over(self, outer: Shared) -> Shared:
        """These options, and `outer`'s where these are not set."""
        return Shared(**{f.name: getattr(self, f.name) or getattr(outer, f.name) for f in fields(self)})

    @property
    def repeated(self) -> tuple[str, ...]:
        """The options by which another command line asks of the same vault and the same present."""
        given = (("--vault", self.vault), ("--now", self.now), ("--tz", self.tz))
        return tuple(word for option, value in given if value for word in (option, str(value)))

    @property
    def talks(self) -> bool:
        """Whether anybody wants to hear how the work goes."""
        return not self.quiet and not self.json

    def say(self, text: str) -> None:
        """Talk on standard error, unless --quiet or --json asks for none."""
        if self.talks:
            say(text)


SHARED = tuple(field.name for field in fields(Shared))


def shared_options() -> list[click.Parameter]:
    """The options of `Shared`, one a field."""
    return [
        click.Option(
            ["--vault"],
            type=click.Path(path_type=Path, readable=False),
            metavar="DIR",
            help="The vault; else $HUIMEM_VAULT, the nearest parent with huimem.toml, the user config.",
        ),
        click.Option(
            ["--namespace"],
            metavar="NS",
            help="This namespace only: NS, NS/** with all below it, ** for everything.",
        ),
        click.Option(["--json"], is_flag=True, help="One JSON document on standard output."),
        click.Option(["--now"], metavar="ISO", help="Take this time as the present."),
        click.Option(["--tz"], metavar="ZONE", help="Read and show times in this zone."),
        click.Option(["--quiet", "-q"], is_flag=True, help="Results and errors only."),
        click.Option(["--verbose", "-v"], is_flag=True, help="Say more; a crash shows where."),
    ]


def take_shared(context: click.Context) -> None:
    """Move the shared options from a command to its context, over those given before the verb."""
    given = Shared(**{name: context.params.pop(name) for name in SHARED})
    context.obj = given.over(context.obj) if isinstance(context.obj, Shared) else given


class Verb(click.Command):
    """A command that gets `Shared` as its context's object. Its epilog holds examples, one a line."""

    def __init__(self, name: str | None, *, params: list[click.Parameter], **settings: Any) -> None:
        settings.setdefault("context_settings", HELP)
        super().__init__(name, params=[*params, *shared_options()], **settings)

    def invoke(self, ctx: click.Context) -> Any:
        take_shared(ctx)
        return super().invoke(ctx)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        write_examples(formatter, (self.epilog or "").splitlines())
        own = [parameter for parameter in self.get_params(ctx) if parameter.name not in SHARED]
        write_options(formatter, ctx, "Options", own)
        with formatter.section("Options of every verb (huimem --help)"):
            formatter.write_text(" ".join(f"--{name}" for name in SHARED))


def write_examples(formatter: click.HelpFormatter, examples: Sequence[str]) -> None:
    if examples:
        with formatter.section("Examples"):
            formatter.write("".join(f"  {example}\n" for example in examples))


def write_options(
    formatter: click.HelpFormatter, context: click.Context, title: str, options: Sequence[click.Parameter]
) -> None:
    named = [option for option in options if isinstance(option, click.Option)]
    with formatter.section(title):
        formatter.write_dl([row for option in named if (row := option.get_help_record(context))])


def present(now: str | None, zone: tzinfo) -> datetime:
    """The present in `zone`: the clock's, or `now` as given, naive meaning `zone`. Raises `UsageError`."""
    return datetime.now(zone) if now is None else moment(now, zone, "--now").astimezone(zone)


def moment(text: str, zone: tzinfo, option: str) -> datetime:
    """An ISO date or time as an aware instant; naive means `zone`. Raises `UsageError` naming the option."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"{option} {text!r} is no ISO time", "Write it like 2026-04-15T10:30.") from error
    return at if at.tzinfo else at.replace(tzinfo=zone)

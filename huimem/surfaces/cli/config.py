"""`huimem config show`: the settings that hold here, and where each comes from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import click

from huimem.config import Config, known_keys, value_of
from huimem.surfaces.cli.options import HELP, Shared, Verb
from huimem.surfaces.cli.printing import print_document, print_text
from huimem.surfaces.cli.setting import setting_of
from huimem.surfaces.cli.visible import visible
from huimem.surfaces.documents import settings_document


@click.group(context_settings=HELP, no_args_is_help=False)
def command() -> None:
    """Show the settings and where they come from."""


@command.command(cls=Verb, epilog="huimem config show --origin")
@click.option("--origin", is_flag=True, help="Say where each value comes from.")
@click.pass_obj
def show(shared: Shared, origin: bool) -> int:
    """Show every setting that holds here, as TOML.

    Flags win over HUIMEM_… variables, these over the vault, the user's own file and the defaults.
    """
    config = setting_of(shared).config
    values = {key: plain(value_of(config, key)) for key in known_keys()}
    if shared.json:
        print_document(settings_document(values, config.origin if origin else None))
    else:
        print_text(render_settings(values, config, origin=origin))
    return 0


def plain(value: object) -> object:
    """A setting's value as TOML and JSON know it."""
    if isinstance(value, Path):
        return str(value)
    return list(value) if isinstance(value, tuple) else value


def render_settings(values: Mapping[str, object], config: Config, *, origin: bool) -> str:
    """`key = value` lines that can be pasted into a config file; unset keys are comments."""
    rows = [
        f"# {key} is not set" if value is None else f"{key} = {json.dumps(value, ensure_ascii=False)}"
        for key, value in values.items()
    ]
    if origin:
        width = max(len(row) for row in rows)
        rows = [f"{row:{width}}  # {config.origin[key]}" for row, key in zip(rows, values, strict=True)]
    return "\n".join(visible(row) for row in rows)

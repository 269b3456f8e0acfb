"""`huimem init`: a folder → a vault. Writes one file, moves nothing, never overwrites."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from huimem.config import VAULT_FILE
from huimem.surfaces.cli.hits import counted
from huimem.surfaces.cli.look import zone_name
from huimem.surfaces.cli.options import Shared, Verb
from huimem.surfaces.cli.printing import print_document, print_text
from huimem.surfaces.cli.visible import visible_line
from huimem.vault.vault import Vault

EXAMPLES = """\
huimem init ~/Notes/AI --tz Asia/Shanghai
huimem init ~/Obsidian --include 'AI/**'"""


@click.command(cls=Verb, epilog=EXAMPLES)
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path, readable=False))
@click.option(
    "--include", multiple=True, metavar="GLOB", help="Adopt only these files, such as 'AI/**'; repeatable."
)
@click.pass_obj
def command(shared: Shared, folder: Path | None, include: tuple[str, ...]) -> int:
    """Make a vault, or adopt a folder of notes as one.

    DIR is made where there is none; left out, it is this folder. Writes huimem.toml and nothing else;
    --tz sets the zone that its times are in.
    """
    place = folder or shared.vault or Path()
    stood = (place / VAULT_FILE).exists()
    vault = Vault.create(place, tz=shared.tz, include=include)
    files = len(vault.scan().files)
    if shared.json:
        print_document({"vault": str(vault.root), "wrote": [] if stood else [VAULT_FILE], "files": files})
        return 0
    print_text(visible_line(str(place / VAULT_FILE)))
    if stood:
        shared.say(f"{VAULT_FILE} stood there already; nothing was written.")
    shared.say(f"A vault in {zone_name(vault.zone)} with {counted(files, 'Markdown file')}. Next:")
    shared.say("\n".join(f"  {line}" for line in next_commands(place, files)))
    return 0


def next_commands(place: Path, files: int) -> tuple[str, str]:
    """The two commands to try first in a vault at `place`, as they can be pasted."""
    vault = "" if place.resolve() == Path.cwd() else f" --vault {shlex.quote(str(place))}"
    first = (
        f"huimem sync{vault}" if files else f'echo "Hello" | huimem record{vault} --role user --title Hello'
    )
    return first, f'huimem recall{vault} "{"what did we decide?" if files else "hello"}"'

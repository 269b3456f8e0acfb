"""`huimem fmt`: session files as people typed them → the same in full form, on request only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from huimem.errors import HuimemError, NotFound
from huimem.files import Unreadable
from huimem.surfaces.cli.hits import counted
from huimem.surfaces.cli.look import looking
from huimem.surfaces.cli.opening import vault_of
from huimem.surfaces.cli.options import Shared, Verb
from huimem.surfaces.cli.paths import PATH, paths_in
from huimem.surfaces.cli.printing import print_document, print_text, say_error
from huimem.surfaces.documents import error_code
from huimem.vault.vault import Vault


@dataclass(frozen=True, slots=True)
class Formatted:
    """What became of one file: `failure` is why it could not be looked at or written."""

    path: str
    changed: bool = False
    failure: HuimemError | None = None


EXAMPLES = """\
huimem fmt --check
huimem fmt sessions/2026-W15
huimem fmt --upgrade old/"""


@click.command(cls=Verb, epilog=EXAMPLES)
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=PATH)
@click.option("--check", is_flag=True, help="Write nothing; exit code 1 where something would change.")
@click.option("--upgrade", is_flag=True, help="Turn the older tag form into this one too.")
@click.pass_obj
def command(shared: Shared, paths: tuple[Path, ...], check: bool, upgrade: bool) -> int:
    """Write session files in their full form: whole headings, distinct times.

    PATH names files or folders; none means the whole vault. What a file held before is kept in the
    state folder, under backups.
    """
    vault, setting = vault_of(shared)
    chosen = [path for given in paths or (vault.root,) for path in paths_in(vault, given)]
    done = [formatted(vault, path, check=check, upgrade=upgrade) for path in chosen]
    changed = [file.path for file in done if file.changed]
    if shared.json:
        print_document(_document(done))
    else:
        look = looking(setting.zone, setting.now, vault.root)
        print_text("\n".join(look.place(path) for path in changed))
        for file in done:
            if file.failure:
                say_error(file.failure.message, file.failure.hint)
        shared.say(
            f"{counted(len(changed), 'file')} {'would change' if check else 'changed'} of {len(done):,}"
        )
    codes = [file.failure.exit_code for file in done if file.failure]
    return max(codes, default=1 if check and changed else 0)


def formatted(vault: Vault, path: str, *, check: bool, upgrade: bool) -> Formatted:
    """One file in full form; a file that cannot be written stops no other."""
    try:
        return Formatted(path, vault.fmt(path, check=check, upgrade=upgrade))
    except Unreadable as error:
        missing = NotFound(f"the vault holds no file {path}", "Check the path.")
        return Formatted(path, failure=missing if error.gone else error)
    except HuimemError as error:
        return Formatted(path, failure=error)


def _document(done: Sequence[Formatted]) -> dict[str, object]:
    return {
        "changed": [file.path for file in done if file.changed],
        "unchanged": sum(not file.changed and not file.failure for file in done),
        "errors": [
            {"path": file.path, "code": error_code(error), "message": error.message, "hint": error.hint}
            for file in done
            if (error := file.failure)
        ],
    }

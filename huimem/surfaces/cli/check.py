"""`huimem check`: a vault → what is damaged in its archives and its index, and every fault in its files."""

from __future__ import annotations

from collections.abc import Iterator

import click

from huimem import checking
from huimem.checking import Checked
from huimem.surfaces.cli.doctor import Check, check_lines, problem_lines
from huimem.surfaces.cli.hits import counted
from huimem.surfaces.cli.look import Look, looking
from huimem.surfaces.cli.opening import vault_of
from huimem.surfaces.cli.options import Shared, Verb
from huimem.surfaces.cli.printing import print_document, print_text
from huimem.surfaces.keeping import checked_document

FAULTS, DAMAGED = 1, 12

EXAMPLES = """\
huimem check
huimem check --read-data"""


@click.command(cls=Verb, epilog=EXAMPLES)
@click.option("--read-data", is_flag=True, help="Read every byte of archives and index, and compare them.")
@click.pass_obj
def command(shared: Shared, read_data: bool) -> int:
    """Look for damage in archives and index, and for faults in files; change nothing.

    Exit code 1 where files have faults, 12 where an archive or a file of the index is damaged or gone.
    """
    vault, setting = vault_of(shared)
    found = checking.check(vault, read_data=read_data)
    if shared.json:
        print_document(checked_document(found, read_data=read_data))
    else:
        look = looking(setting.zone, setting.now, vault.root)
        print_text("\n".join(render_checked(found, look, read_data=read_data)))
    return DAMAGED if found.damaged else FAULTS if found.problems else 0


def render_checked(found: Checked, look: Look, *, read_data: bool) -> Iterator[str]:
    """What was looked at, a line a part; then damage, then faults, each with what to do."""
    how = "every byte read" if read_data else "manifests read"
    archives = f"{found.archives:,} with {counted(found.packed, 'file')}, {how}"
    yield from check_lines(
        [
            Check("ok", "vault", counted(found.files, "file")),
            Check("ok", "archives", archives if found.archives else "none"),
            Check("ok", "index", _index(found, read_data=read_data)),
        ],
        look,
    )
    yield from problem_lines("bad", found.damaged, look)
    yield from problem_lines("fail", found.problems, look)
    yield f"{len(found.damaged):,} damaged, {counted(len(found.problems), 'problem')}"


def _index(found: Checked, *, read_data: bool) -> str:
    if found.indexed is None:
        return "none that can be used: the next command makes it from the files"
    behind = f", {counted(found.pending, 'file')} behind" if found.pending else ""
    return f"{counted(found.indexed, 'file')}{behind}{', every byte read' if read_data else ''}"

"""`huimem unarchive`: a packed month → its files, back where they lay."""

from __future__ import annotations

import click

from huimem.surfaces.cli.answering import memory_of
from huimem.surfaces.cli.archive import month_named
from huimem.surfaces.cli.hits import counted
from huimem.surfaces.cli.look import looking
from huimem.surfaces.cli.opening import refuse_many
from huimem.surfaces.cli.options import Shared, Verb
from huimem.surfaces.cli.printing import print_document, print_text
from huimem.surfaces.keeping import unarchived_document
from huimem.vault.layout import namespace_text

EXAMPLES = """\
huimem unarchive 2025-12
huimem unarchive 2025-12 --namespace work"""


@click.command(cls=Verb, epilog=EXAMPLES)
@click.argument("month", metavar="MONTH")
@click.pass_obj
def command(shared: Shared, month: str) -> int:
    """Put the files of a packed month back.

    Byte for byte, where they lay; then its archive is deleted. Where another file has taken a place, the
    packed one goes beside it. Exit code 1 where no such month is
    packed.
    """
    refuse_many(shared, "Name one; ** is for looking in several.")
    with memory_of(shared) as (memory, now):
        done = memory.unarchive(month_named(month), namespace=namespace_text(shared.namespace or ""))
        look = looking(memory.zone, now, memory.vault.root)
    if shared.json:
        print_document(unarchived_document(done))
    else:
        print_text(f"{look.place(done.place.archive)}  {counted(done.files, 'file')} put back")
    return 0

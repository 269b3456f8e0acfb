"""`huimem export`: a whole vault → a copy of it, read back and compared."""

from __future__ import annotations

from pathlib import Path

import click

from huimem.surfaces.cli.doctor import problem_lines
from huimem.surfaces.cli.hits import counted
from huimem.surfaces.cli.look import looking
from huimem.surfaces.cli.opening import vault_of
from huimem.surfaces.cli.options import Shared, Verb
from huimem.surfaces.cli.printing import print_document, print_text
from huimem.surfaces.cli.status import size
from huimem.surfaces.cli.visible import visible_line
from huimem.surfaces.documents import problem_documents
from huimem.vault.export import export

EXAMPLES = """\
huimem export ~/backup/memory.tar.zst
huimem export /media/stick/memory"""


@click.command(cls=Verb, epilog=EXAMPLES)
@click.argument("place", metavar="DIR|FILE.tar.zst", type=click.Path(path_type=Path))
@click.pass_obj
def command(shared: Shared, place: Path) -> int:
    """Copy the whole vault, and read the copy back.

    To a new folder or a new file. What is derived stays out: the copy makes its index anew. Symlinks and
    devices are named and left.
    """
    vault, setting = vault_of(shared)
    done = export(vault, place)
    if shared.json:
        left = problem_documents(done.left)
        print_document({"path": str(done.place), "files": done.files, "bytes": done.size, "left": left})
        return 0
    look = looking(setting.zone, setting.now, vault.root)
    said = f"{visible_line(str(done.place))}  {counted(done.files, 'file')}, {size(done.size)}, read back"
    print_text("\n".join((said, *problem_lines("left", done.left, look))))
    return 0

"""`huimem watch`: a vault under the hands of its editors → a line for each change that the index took in."""

from __future__ import annotations

from contextlib import closing
from datetime import datetime
from pathlib import Path

import click

from huimem.background import Vectors
from huimem.packing import Packing
from huimem.surfaces.cli.answering import memory_of
from huimem.surfaces.cli.hits import counted
from huimem.surfaces.cli.options import Shared, Verb
from huimem.surfaces.cli.printing import print_document, print_text
from huimem.surfaces.cli.status import about
from huimem.surfaces.cli.visible import visible_line
from huimem.surfaces.documents import round_document
from huimem.surfaces.keeping import archived_document
from huimem.upkeep import Synced
from huimem.watching import Round

EXAMPLES = """\
huimem watch
huimem watch --no-vectors --vault ~/Notes/AI
huimem watch --json | jq -c .look"""


@click.command(cls=Verb, epilog=EXAMPLES)
@click.option("--no-vectors", is_flag=True, help="Words only; meaning at the next sync.")
@click.pass_obj
def command(shared: Shared, no_vectors: bool) -> int:
    """Follow edits as they happen, until stopped.

    Words are searchable a moment after a file was saved, in any program; vectors follow in the
    background. One watcher a vault; huimem status says how it does. With archive.auto = true it packs old
    months, once a day. Ctrl-C ends it at any moment.
    """
    with memory_of(shared) as (memory, present):
        for warning in memory.warnings:
            shared.say(f"warning: {warning}")
        with closing(memory.watch(vectors=not no_vectors, now=present if shared.now else None)) as watched:
            begun = False
            for now in watched:
                at = datetime.now(memory.zone)
                if shared.json:
                    packed = archived_document(now.packed.done, now.packed.kept) if now.packed else None
                    print_document({**round_document(now, at), "packed": packed}, one_line=True)
                else:
                    _show(shared, now, at, None if begun else memory.vault.root)
                begun |= now.did is not None
    return 0


def _show(shared: Shared, now: Round, at: datetime, root: Path | None) -> None:
    """One round for people; `root` where nothing was looked at before."""
    if now.did is not None and (root is not None or now.did.report):
        print_text(f"{at:%H:%M:%S}  {render_look(now.did, now, root)}")
    if now.packed is not None:
        print_text(f"{at:%H:%M:%S}  {render_packing(now.packed)}")
    for warning in now.warnings:
        shared.say(f"{at:%H:%M:%S}  warning: {visible_line(warning)}")
    if now.vectors is not None and now.did is None and not now.warnings and now.packed is None:
        shared.say(f"{at:%H:%M:%S}  {render_vectors(now.vectors)}")


def render_look(did: Synced, now: Round, root: Path | None) -> str:
    """What one look took in; the first says what is watched, and how."""
    report = did.report
    counts = {"added": report.added, "changed": report.changed, "removed": report.removed}
    changes = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count) or "nothing changed"
    problems = f", {counted(len(report.problems), 'problem')}: huimem doctor" if report.problems else ""
    line = f"{changes}{problems} ({report.seconds:.2f} s)"
    if root is None:
        return line
    how = {"events": "by events", "polling": "by polling"}.get(now.mode, now.mode)
    return f"watching {visible_line(str(root))} {how}, {counted(now.files, 'file')}: {line}"


def render_packing(packed: Packing) -> str:
    """What a daily packing did: `packed 12 files in 2 archives`."""
    count = sum(one.files for one in packed.done)
    archives = counted(len(packed.done), "archive")
    line = f"packed {counted(count, 'file')} in {archives}" if packed.done else "nothing to pack"
    if packed.kept:
        stays = "stays" if len(packed.kept) == 1 else "stay"
        line += f", {counted(len(packed.kept), 'file')} {stays}: huimem archive --dry-run says why"
    return line


def render_vectors(vectors: Vectors) -> str:
    """How far the vectors are: `vectors 1,200 of 5,882, about 3 min`."""
    left = f", {about(vectors.left)}" if vectors.left else ""
    return f"vectors {vectors.done:,} of {vectors.total:,}{left}"

"""`huimem sync`: the vault's files → an index that agrees with them, and what that took."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event

import click

from huimem.index.index import Index
from huimem.index.rows import EmbedReport
from huimem.surfaces.cli.answering import memory_of
from huimem.surfaces.cli.hits import counted
from huimem.surfaces.cli.options import Shared, Verb
from huimem.surfaces.cli.paths import PATH, paths_in
from huimem.surfaces.cli.printing import print_document, print_text
from huimem.surfaces.cli.progress import Progress, progress
from huimem.surfaces.documents import synced_document
from huimem.upkeep import Synced
from huimem.yielding import give_way

EXAMPLES = """\
huimem sync
huimem sync sessions/2026-W15
huimem sync --full --no-vectors"""


@click.command(cls=Verb, epilog=EXAMPLES)
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=PATH)
@click.option("--full", is_flag=True, help="Read every file again, changed or not.")
@click.option("--no-vectors", is_flag=True, help="Words only, now; meaning at the next sync.")
@click.pass_obj
def command(shared: Shared, paths: tuple[Path, ...], full: bool, no_vectors: bool) -> int:
    """Make the index agree with the vault.

    Words first, then vectors, newest first; it can be stopped at any moment and goes on where it was.
    PATH names files or folders, from here or from the vault; all others stay as they are.
    """
    with memory_of(shared) as (memory, _), progress(shared) as show:
        chosen = [path for given in paths for path in paths_in(memory.vault, given)]
        done = memory.sync(chosen, full=full, vectors=False, progress=show)
        if not no_vectors and memory.index.embedder is not None:
            done = replace(done, embedded=embedded(memory.index, show))
        warnings = (*memory.warnings, *done.warnings)
    for warning in warnings:
        shared.say(f"warning: {warning}")
    if shared.json:
        print_document(synced_document(done, warnings))
    else:
        print_text(render_synced(done))
    return 0


def embedded(index: Index, show: Progress | None) -> EmbedReport:
    """Vectors of all that lacks one, in a thread of low priority: questions of other processes go first."""
    stopped = Event()

    def told(done: int, total: int) -> None:
        if stopped.is_set():
            raise KeyboardInterrupt
        if show is not None:
            show("vectors", done, total)

    with ThreadPoolExecutor(1, initializer=give_way) as pool:
        making = pool.submit(index.embed, progress=told)
        try:
            return making.result()
        except BaseException:
            stopped.set()  # it ends after the batch that it is at, and what was made is kept
            raise


def render_synced(done: Synced) -> str:
    """What the words took, what the vectors took, and whether any file has a problem."""
    report, embedded = done.report, done.embedded
    counts = {"added": report.added, "changed": report.changed, "removed": report.removed}
    changes = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count) or "nothing changed"
    rest = f"{counted(report.unchanged, 'file')} as before"
    lines = [f"words    {changes}, {rest} ({report.seconds:.1f} s)"]
    if embedded and (embedded.embedded or embedded.cached or embedded.pending):
        made = f"{embedded.embedded:,} made, {embedded.cached:,} from the cache"
        to_go = f", {embedded.pending:,} to go" if embedded.pending else ""
        lines.append(f"vectors  {made}{to_go} ({embedded.seconds:.1f} s)")
    if report.problems:
        lines.append(f"problems {len(report.problems):,}: huimem doctor names them")
    return "\n".join(lines)

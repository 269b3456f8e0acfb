"""`huimem status`: a vault → how fresh, large and complete its index is."""

from __future__ import annotations

import click

from huimem import overview
from huimem.overview import Status
from huimem.surfaces.cli.answering import memory_of
from huimem.surfaces.cli.hits import counted
from huimem.surfaces.cli.options import Shared, Verb
from huimem.surfaces.cli.printing import print_document, print_text
from huimem.surfaces.cli.visible import visible_line
from huimem.surfaces.documents import status_document

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


EXAMPLES = """\
huimem status
huimem status --json | jq .vectors"""


@click.command(cls=Verb, epilog=EXAMPLES)
@click.pass_obj
def command(shared: Shared) -> int:
    """Say how fresh, large and complete the index is, and where it lies."""
    with memory_of(shared) as (memory, _):
        status = overview.status(memory)
    if shared.json:
        print_document(status_document(status))
        return 0
    print_text(render_status(status))
    for warning in status.warnings:
        shared.say(f"warning: {warning}")
    return 0


def render_status(status: Status) -> str:
    """One fact a line, its name in front."""
    rows = [
        ("vault", str(status.root)),
        (
            "files",
            f"{status.sources:,} with {status.turns:,} records in {counted(status.passages, 'passage')}",
        ),
        ("index", freshness(status)),
        ("engine", status.engine),
        ("vectors", vectors(status)),
        ("state", f"{status.state} ({size(status.bytes)})"),
        ("problems", f"{status.problems:,}: huimem doctor names them" if status.problems else "none"),
    ]
    return "\n".join(f"{name:9} {visible_line(words)}" for name, words in rows)


def freshness(status: Status) -> str:
    return "fresh" if status.fresh else f"{counted(status.pending, 'file')} behind: huimem sync"


def vectors(status: Status) -> str:
    if not status.embedder:
        return "none: no embedder, words answer alone"
    percent = 100 * status.vectors_done // status.vectors_total if status.vectors_total else 100
    return f"{status.vectors_done:,} of {status.vectors_total:,} ({percent} %), {status.embedder}"


def size(count: float) -> str:
    """A number of bytes for people: `12.3 MiB`."""
    for unit in _UNITS[:-1]:
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} {_UNITS[-1]}"

"""`huimem remember`: a text → a fact in its file, its ref and its place."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import click

from huimem.errors import NotFound
from huimem.surfaces.cli.answering import linger, memory_of
from huimem.surfaces.cli.finding import find
from huimem.surfaces.cli.look import looking
from huimem.surfaces.cli.opening import refuse_many
from huimem.surfaces.cli.options import Shared, Verb, moment
from huimem.surfaces.cli.printing import print_document, print_text
from huimem.surfaces.cli.reading import read_input
from huimem.surfaces.cli.visible import visible_line
from huimem.vault.vault import Vault

EXAMPLES = """\
huimem remember "Alice eats fish now." --key diet --kind preference
huimem remember "On call for the index." --key on-call --valid 2026-05-01..2026-05-14
echo "Rent goes up in June." | huimem remember --from-ref chat_2026-04-06_091423#20260406T091423"""


@click.command(cls=Verb, epilog=EXAMPLES)
@click.argument("text", metavar="[TEXT]", nargs=-1)
@click.option("--key", metavar="KEY", help="What it is about; it takes the place of what held of this key.")
@click.option("--kind", metavar="K", help="Its kind: preference, instruction, fact, note … or any word.")
@click.option(
    "--from-ref", "refs", multiple=True, metavar="REF", help="A record that it comes from; repeatable."
)
@click.option(
    "--valid", metavar="RANGE", help="When it holds: 2026-05-01.., since May, 2026-05-01..2026-05-14."
)
@click.option("--at", metavar="TIME", help="Since when it holds; else now.")
@click.option("--importance", metavar="N", type=float, help="What it weighs; 1 is neutral.")
@click.option("--tag", "tags", multiple=True, metavar="T", help="A tag of the key's file; repeatable.")
@click.pass_obj
def command(
    shared: Shared, /, text: tuple[str, ...], refs: tuple[str, ...], at: str | None, **asked: Any
) -> int:
    """Write down a fact; print its ref and its place.

    TEXT may be -, or missing: then it comes by standard input. What held of its key stays in the file, and
    answers for its own time. Without a key it is a note of its week. What holds already changes nothing.
    """
    refuse_many(shared, "Name one to remember in; ** is for looking in several.")
    said = read_input(shared, "the fact") if text in ((), ("-",)) else " ".join(text)
    with memory_of(shared) as (memory, now):
        since = moment(at, memory.zone, "--at") if at else None
        ref = memory.remember(said, sources=refs, at=since, namespace=shared.namespace, now=now, **asked)
        found = find(memory.vault, str(ref))
        path, line = found.source.path, found.record.messages[0].line
        lost = [cited for cited in refs if not _is_there(memory.vault, cited, shared.namespace)]
        warnings = [f"it comes from {cited}, which is not in the vault" for cited in lost]
        if shared.json:
            print_document({"ref": str(ref), "path": path, "line": line, "warnings": warnings})
        else:
            place = looking(memory.zone, now, memory.vault.root).place(path, line)
            print_text(f"{visible_line(str(ref))}  {place}")
        for warning in warnings:
            shared.say(f"warning: {warning}")
        linger(shared, memory)
    return 0


def _is_there(vault: Vault, cited: str, namespace: str | None) -> bool:
    """Whether a record has the ref, in the namespace of the fact or in the vault's own."""
    for owner in {namespace, None}:
        with suppress(NotFound):
            return find(vault, cited, owner) is not None
    return False

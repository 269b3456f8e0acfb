"""`huimem list`: filters → the records that pass, newest first."""

from __future__ import annotations

from typing import Any

import click

from huimem import overview
from huimem.recall.listing import Listed
from huimem.surfaces.cli.answering import memory_of
from huimem.surfaces.cli.filters import kind_option, limit_option, role_option, tag_option, when_option
from huimem.surfaces.cli.hits import counted, dated, when_lines
from huimem.surfaces.cli.look import Look, clipped, looking
from huimem.surfaces.cli.options import Shared, Verb
from huimem.surfaces.cli.printing import print_document, print_text
from huimem.surfaces.cli.visible import visible_line
from huimem.surfaces.documents import listed_document

EXAMPLES = """\
huimem list --when 2026-04-08
huimem list --kind preference --limit 100 --json"""


@click.command(cls=Verb, epilog=EXAMPLES)
@when_option
@kind_option
@role_option
@tag_option
@limit_option(20)
@click.pass_obj
def command(shared: Shared, /, when: str | None, limit: int, **options: Any) -> int:
    """List records by filter, newest first.

    Of a time, those that were said then. Exit code 1 where nothing passes.
    """
    with memory_of(shared) as (memory, now):
        options |= {"namespace": shared.namespace, "when": when, "limit": limit}
        records = overview.listed(memory, now=now, **options)
        look = looking(memory.zone, now, memory.vault.root)
        for line in when_lines(when, overview.time_read(memory, when, now), look) if when else ():
            shared.say(line)
    if shared.json:
        print_document({"records": [listed_document(record, look.zone) for record in records]})
    elif records:
        print_text("\n".join(render_listed(record, look) for record in records))
        if len(records) == limit:
            shared.say(f"The newest {counted(limit, 'record')}; --limit shows more.")
    else:
        shared.say("No record passes.\nTry fewer filters, or see which weeks hold something: huimem weeks")
    return 0 if records else 1


def render_listed(record: Listed, look: Look) -> str:
    """A record on two lines: when, title and place; how it begins."""
    head = [record.kind] if record.kind not in ("turn", "note") else []
    head.append(dated(record.kind, record.at, look, inferred=record.inferred))
    head += [look.styled("strong", visible_line(record.title)), look.place(record.path, record.line)]
    speaker = "" if record.role in ("note", "fact") else f"{record.role.capitalize()}: "
    begins = clipped(speaker + visible_line(record.excerpt), look.width - 3)
    return f"{' · '.join(head)}\n   {begins}"

"""`huimem show`: a ref, or a place in a file → the whole record with its neighbours and its Obsidian link."""

from __future__ import annotations

import click

from huimem.months import archived
from huimem.records import Fact, Message, Record
from huimem.surfaces.cli.finding import Found, find
from huimem.surfaces.cli.hits import neighbour_lines, speaker, when_said
from huimem.surfaces.cli.look import Look, looking
from huimem.surfaces.cli.opening import vault_of
from huimem.surfaces.cli.options import Shared, Verb
from huimem.surfaces.cli.printing import print_document, print_text
from huimem.surfaces.cli.visible import visible_line
from huimem.surfaces.documents import shown_document
from huimem.vault.archive import way_back

INDENT = "   "


EXAMPLES = """\
huimem show chat_2026-04-06_091423#20260406T091423
huimem show sessions/2026-W15/chat_2026-04-06_091423.md:31 --context 3"""


@click.command(cls=Verb, epilog=EXAMPLES)
@click.argument("ref", metavar="REF")
@click.option(
    "--context",
    metavar="N",
    default=1,
    show_default=True,
    type=click.IntRange(min=0),
    help="Show N neighbours on each side.",
)
@click.pass_obj
def command(shared: Shared, ref: str, context: int) -> int:
    """Show one record whole, with its neighbours, its place and its Obsidian link.

    REF is a ref, or PATH:LINE as recall prints it. Exit code 1 where there is no such record.
    """
    vault, setting = vault_of(shared)
    found = find(vault, ref, shared.namespace)
    if shared.json:
        print_document(
            shown_document(found.source, found.at, found.beside(context), setting.zone, found.link)
        )
    else:
        print_text(render_record(found, context, looking(setting.zone, setting.now, vault.root)))
    return 0


def render_record(found: Found, context: int, look: Look) -> str:
    """Where and when, the record's messages whole, its neighbours in a line a message."""
    record, source = found.record, found.source
    before, after = found.beside(context)
    head = [when_said(record, record.at, look), look.styled("strong", visible_line(source.title))]
    head.append(look.place(source.path, record.messages[0].line))
    lines = [
        " · ".join(head),
        look.styled(
            "faint", f"{visible_line(str(record.ref))}  {visible_line(found.link or _back(source.path))}"
        ),
    ]
    lines += [
        look.styled("faint", line) for other in before for line in neighbour_lines(other.messages, look)
    ]
    for message in record.messages:
        lines += [_who(record, message, look), look.block(message.text, INDENT)]
    lines += [look.styled("faint", line) for other in after for line in neighbour_lines(other.messages, look)]
    return "\n".join(lines)


def _back(path: str) -> str:
    """How a packed file comes back, where no link leads to it."""
    place = archived(path)
    return f"packed; {way_back(place)} puts it back" if place else ""


def _who(record: Record, message: Message, look: Look) -> str:
    """`Assistant · 09:14:30`; for a fact its kind, its key and how long it holds."""
    if isinstance(record, Fact):
        until = look.moment(record.valid.end) if record.valid.end else "now"
        key = f" {visible_line(record.key)}" if record.key else ""
        return f"{record.kind}{key} · {look.moment(record.valid.start)} to {until}"
    timed = message.at is not None and not record.inferred and record.kind != "note"
    at = f" · {message.at.astimezone(look.zone):%H:%M:%S}" if message.at and timed else ""
    return look.styled("strong", visible_line(speaker(message))) + at

"""`huimem forget`: records, sessions, a fact or a namespace → nowhere, and where was looked."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial

import click

from huimem.errors import UsageError
from huimem.forgetting import Forgotten
from huimem.surfaces.cli.answering import memory_of
from huimem.surfaces.cli.hits import counted
from huimem.surfaces.cli.look import Look, looking
from huimem.surfaces.cli.opening import refuse_many
from huimem.surfaces.cli.options import Shared, Verb
from huimem.surfaces.cli.printing import print_document, print_text
from huimem.surfaces.cli.visible import visible_line

EXAMPLES = """\
huimem forget chat_2026-04-06_091423#20260406T091423 --dry-run
huimem forget chat_2026-04-06_091423 --yes
huimem forget --key editor --yes
huimem forget --namespace alice --yes"""


@click.command(cls=Verb, epilog=EXAMPLES)
@click.argument("refs", nargs=-1, metavar="[REF|SESSION]...")
@click.option("--key", metavar="KEY", help="The fact of this key, all its versions.")
@click.option("--dry-run", is_flag=True, help="Forget nothing; show what would go.")
@click.option("--yes", is_flag=True, help="Do not ask whether it is meant.")
@click.pass_obj
def command(shared: Shared, refs: tuple[str, ...], key: str | None, dry_run: bool, yes: bool) -> int:
    """Make records, sessions, facts or a namespace be nowhere any more.

    In no file, archive, index, vector, cache, journal or copy. A line in feedback/ keeps the refs, so that
    no import brings them back. Exit code 1 where nothing like it was ever there, or where
    the same words still stand somewhere.
    """
    refuse_many(shared, "Name one namespace; what lies below it goes with it.")
    if refs and (key or shared.namespace):
        raise UsageError("refs name their namespace themselves", "Leave --key and --namespace out.")
    with memory_of(shared) as (memory, now):
        look = looking(memory.zone, now, memory.vault.root)
        forget = partial(memory.forget, *refs, key=key, namespace=shared.namespace, now=now)
        if not (dry_run or yes):
            _make_sure(forget(dry=True))
        done = forget(dry=dry_run)
    if shared.json:
        print_document(forgotten_document(done))
    else:
        print_text("\n".join(render_forgotten(done, look)))
    return 1 if done.left or done.warnings else 0


def _make_sure(planned: Forgotten) -> None:
    """Ask; raises `UsageError` where nobody can answer, or says no."""
    if not sys.stdin.isatty():
        raise UsageError(
            "nobody is there to be asked whether that is meant", "Say --yes, or --dry-run to look."
        )
    what = f"Forget {counted(len(planned.refs), 'record')} in {counted(len(planned.files), 'file')} for good?"
    if not click.confirm(what, err=True):
        raise UsageError("nothing was forgotten", "Say yes, or --yes.")


def render_forgotten(done: Forgotten, look: Look) -> Iterator[str]:
    """The refs that went, or would go; every place looked at; and where the same words still stand."""
    if not done.refs:
        yield "nothing of it stands in any file"
    for ref in done.refs:
        yield f"{look.styled('strong', 'would go' if done.dry else 'forgotten')}  {visible_line(ref)}"
    for one in done.looked:
        yield f"   {one.place}: {one.found}"
    for path in done.left:
        yield f"{look.styled('strong', 'still said')}  {look.place(path)}"
    for warning in done.warnings:
        yield f"{look.styled('strong', 'not done')}  {visible_line(warning)}"
    if done.dry:
        yield "Nothing was forgotten."


def forgotten_document(done: Forgotten) -> dict[str, object]:
    """What went, or would go, and every place looked at."""
    return {
        "dry_run": done.dry,
        "refs": list(done.refs),
        "files": list(done.files),
        "looked": [{"place": one.place, "found": one.found} for one in done.looked],
        "left": list(done.left),
        "warnings": list(done.warnings),
    }

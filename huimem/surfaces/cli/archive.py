"""`huimem archive`: cold months → an archive each, or what would become of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from huimem import upkeep
from huimem.errors import Problem, UsageError
from huimem.months import MONTH
from huimem.surfaces.cli.answering import memory_of
from huimem.surfaces.cli.doctor import problem_lines
from huimem.surfaces.cli.hits import counted
from huimem.surfaces.cli.look import Look, looking
from huimem.surfaces.cli.opening import vault_of
from huimem.surfaces.cli.options import Shared, Verb
from huimem.surfaces.cli.printing import print_document, print_text
from huimem.surfaces.cli.status import size
from huimem.surfaces.cli.visible import visible_line
from huimem.surfaces.keeping import archived_document, planned_document
from huimem.vault import cold
from huimem.vault.archive import Done, in_order, told
from huimem.vault.cold import Plan
from huimem.vault.links import Link, breaking

EXAMPLES = """\
huimem archive --dry-run
huimem archive --keep 6
huimem archive --month 2025-12"""


@click.command(cls=Verb, epilog=EXAMPLES)
@click.option("--month", metavar="YYYY-MM", help="This month alone.")
@click.option(
    "--keep",
    metavar="N",
    type=click.IntRange(min=0),
    help="Leave so many months open behind this one; else the setting archive.keep.",
)
@click.option("--dry-run", is_flag=True, help="Pack nothing; show what would go, and links that would break.")
@click.pass_obj
def command(shared: Shared, month: str | None, keep: int | None, dry_run: bool) -> int:
    """Pack old months into an archive each; every question still finds what is in them.

    huimem unarchive puts them back. A session goes when all that was said in it is old enough; files with
    faults stay, and so does everything else.
    """
    if shared.namespace:
        raise UsageError("huimem archive packs the months of every namespace", "Leave --namespace out.")
    if month is not None:
        month = month_named(month)
    if dry_run:
        return _dry_run(shared, month, keep)
    with memory_of(shared) as (memory, now):
        keep = memory.config.archive.keep if keep is None else keep
        planned = cold.plan(memory.vault, now, keep=keep, month=month)
        done = upkeep.archive(memory.vault, memory.index, planned)
        look = looking(memory.zone, now, memory.vault.root)
    kept = [*planned.kept, *(problem for one in done for problem in one.kept)]
    if shared.json:
        print_document(archived_document(done, kept))
    else:
        nothing = () if done else (nothing_to_pack(month, keep),)
        print_text("\n".join((*nothing, *render_archived(done, kept, look))))
    return 0


def _dry_run(shared: Shared, month: str | None, keep: int | None) -> int:
    vault, setting = vault_of(shared)
    keep = vault.config.archive.keep if keep is None else keep
    planned = cold.plan(vault, setting.now, keep=keep, month=month)
    links = breaking(vault, {one.path for files in planned.months.values() for one in files})
    if shared.json:
        print_document(planned_document(planned, links))
    else:
        nothing = () if planned.months else (nothing_to_pack(month, keep),)
        look = looking(setting.zone, setting.now, vault.root)
        print_text("\n".join((*nothing, *render_plan(planned, links, look))))
        shared.say("Nothing was packed.")
    return 0


def month_named(text: str) -> str:
    """A month as somebody types it. Raises `UsageError`."""
    if not MONTH.fullmatch(text):
        raise UsageError(f"{text!r} is no month", "Write it like 2025-12.")
    return text


def nothing_to_pack(month: str | None, keep: int) -> str:
    """Why no archive was or would be made."""
    which = f"of {month} " if month else ""
    since = f"has been over for more than {counted(keep, 'month')}" if keep else "was over before this month"
    return f"nothing to pack: no session {which}{since}"


def render_archived(done: Sequence[Done], kept: Sequence[Problem], look: Look) -> Iterator[str]:
    """A line an archive, then each file that stays with its reason."""
    for one in done:
        yield f"{look.place(one.place.archive)}  {counted(one.files, 'file')}, {size(one.size)}"
    yield from problem_lines("stays", kept, look)


def render_plan(planned: Plan, links: Sequence[Link], look: Look) -> Iterator[str]:
    """What would go by archive, the files that would stay, and the links that would lead nowhere."""
    for place, files in planned.months.items():
        yield f"{look.place(place.archive)}  {counted(len(files), 'file')}"
        for day, title, ref in map(told, in_order([one.member for one in files])):
            yield f"   {day} · {visible_line(title)} · {visible_line(ref)}"
    yield from problem_lines("stays", planned.kept, look)
    for link in links:
        yield (
            f"{look.styled('strong', 'link ')} {look.place(link.path, link.line)}  {visible_line(link.text)} "
            f"would lead nowhere: {visible_line(link.leads_to)} goes"
        )

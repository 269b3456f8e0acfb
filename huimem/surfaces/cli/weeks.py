"""`huimem weeks`: a vault → how much was said week by week, as a bar chart."""

from __future__ import annotations

from collections.abc import Sequence

import click

from huimem import overview
from huimem.recall.listing import Week
from huimem.surfaces.cli.answering import memory_of
from huimem.surfaces.cli.hits import counted
from huimem.surfaces.cli.look import Look, looking
from huimem.surfaces.cli.options import Shared, Verb
from huimem.surfaces.cli.printing import print_document, print_text
from huimem.surfaces.documents import week_document

BAR = 40  # columns of the longest bar
_EIGHTHS = " ▏▎▍▌▋▊▉█"


EXAMPLES = """\
huimem weeks
huimem weeks --namespace '**' --json"""


@click.command(cls=Verb, epilog=EXAMPLES)
@click.pass_obj
def command(shared: Shared) -> int:
    """Show how much was said in each week.

    Exit code 1 where nothing is dated.
    """
    with memory_of(shared) as (memory, now):
        weeks = overview.weeks(memory, namespace=shared.namespace)
        look = looking(memory.zone, now, memory.vault.root)
    if shared.json:
        print_document({"weeks": [week_document(week) for week in weeks]})
    elif weeks:
        print_text(render_weeks(weeks, look))
    else:
        shared.say("No week holds anything.\nTry recording something: huimem record --help")
    return 0 if weeks else 1


def render_weeks(weeks: Sequence[Week], look: Look) -> str:
    """One line a week: its name and first day, a bar as long as its turns, the numbers."""
    most = max(week.turns for week in weeks)
    lines = []
    for week in weeks:
        first = f"{week.range.local()[0]:%d %b}" if week.range.start else ""
        filled = bar(week.turns, most)
        numbers = (
            f"{counted(week.turns, 'turn')} in {counted(week.sessions, 'session')}" if week.turns else "–"
        )
        lines.append(
            f"{week.name}  {first}  {look.styled('place', filled)}{' ' * (BAR - len(filled))}  {numbers}"
        )
    return "\n".join(lines)


def bar(value: int, most: int) -> str:
    """A bar of at most `BAR` columns, to an eighth of a column; nothing only for 0."""
    eighths = max(round(value * BAR * 8 / most), 1) if value and most else 0
    return "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")

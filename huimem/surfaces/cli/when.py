"""`huimem when`: a phrase → the stretches of time it names, and how it was read."""

from __future__ import annotations

from collections.abc import Sequence

import click

from huimem.records import Reading, Resolution, TimeRange
from huimem.surfaces.cli.look import zone_name
from huimem.surfaces.cli.options import Shared, Verb
from huimem.surfaces.cli.printing import print_document, print_text
from huimem.surfaces.cli.reading import read_input
from huimem.surfaces.cli.setting import setting_of
from huimem.surfaces.cli.visible import visible_line
from huimem.surfaces.documents import resolution_document
from huimem.when import resolve

NO_TIME = "no time is named"
HINT = "Dates in figures are read: 2026-04-08, 2026-04, 2026-W15, 2026-04-01..2026-04-05, 2026-04-08.."


EXAMPLES = """\
huimem when 2026-W15
huimem when 2026-04-01..2026-04-05 --tz Asia/Shanghai --json
printf '2026-04-08\\n2026-04\\n' | huimem when -"""


@click.command(cls=Verb, epilog=EXAMPLES)
@click.argument("phrase", metavar="PHRASE", nargs=-1, required=True)
@click.pass_obj
def command(shared: Shared, phrase: tuple[str, ...]) -> int:
    """Show how a time phrase is read: its range, and in which words.

    PHRASE may be -: then standard input holds one a line. Exit code 1 where no time is named.
    """
    setting = setting_of(shared)
    lines = read_input(shared, "phrases").splitlines() if phrase == ("-",) else [" ".join(phrase)]
    read = [
        (text, resolve(text, setting.now, week_start=setting.config.week_start))
        for text in lines
        if text.strip()
    ]
    _print(read, shared, many=phrase == ("-",))
    return 0 if any(resolution for _, resolution in read) else 1


def _print(read: Sequence[tuple[str, Resolution | None]], shared: Shared, *, many: bool) -> None:
    if shared.json and many:
        print_document(
            {"phrases": [{"text": text, **resolution_document(found, text)} for text, found in read]}
        )
    elif shared.json:
        text, found = read[0] if read else ("", None)
        print_document(resolution_document(found, text))
    elif many or any(found for _, found in read):
        print_text("\n".join(render_resolution(text, found) for text, found in read))
    else:
        shared.say(f"No time is named in it.\n{HINT}")


def render_resolution(phrase: str, resolution: Resolution | None) -> str:
    """Each time named in `phrase` on two lines: the words with their reading, the exact range."""
    if resolution is None:
        return f"{visible_line(phrase)}  {NO_TIME}"
    lines = [_reading(phrase, reading) for reading in resolution.readings]
    if resolution.window:
        lines.append(f"   looks back over {exact(resolution.window)}")
    lines += [f"   or {other.words}\n   {exact(other.range)}" for other in resolution.alternatives]
    return "\n".join(lines)


def _reading(phrase: str, reading: Reading) -> str:
    words = visible_line(phrase[slice(*reading.span)])
    marks = [reading.grain]
    marks += ["about"] if reading.fuzzy else []
    marks += ["in the future"] if reading.future else []
    return f"{words} = {reading.words}\n   {exact(reading.range)} · {', '.join(marks)}"


def exact(span: TimeRange) -> str:
    """Both ends to the minute and the zone; the end is not inside."""
    start, end = (at.isoformat(" ", "minutes")[:16] if at else "…" for at in span.local())
    return f"{start} → {end} {zone_name(span.zone)}"

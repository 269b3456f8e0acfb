"""`huimem when`: a phrase → the stretches of time it names, and how it was read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import click

from huimem.records import Reading, Resolution, TimeRange
from huimem.surfaces.cli.look import zone_name
from huimem.surfaces.cli.options import Shared, Verb
from huimem.surfaces.cli.printing import print_document, print_text
from huimem.surfaces.cli.reading import read_lines
from huimem.surfaces.cli.setting import setting_of
from huimem.surfaces.cli.visible import visible_line
from huimem.surfaces.documents import resolution_document
from huimem.when import resolve

NO_TIME = "no time is named"
HINT = "Try last Wednesday, 上周三, the week before last, 三月1日到4日, 2026-04-08 or 2026-04-01..2026-04-05."


EXAMPLES = """\
huimem when 上周三
huimem when "between March and May" --now 2026-04-15
huimem when 2026-04-01..2026-04-05 --tz Asia/Shanghai --json
printf '2026-04-08\\n2026-04\\n' | huimem when -"""


@click.command(cls=Verb, epilog=EXAMPLES)
@click.argument("phrase", metavar="PHRASE", nargs=-1, required=True)
@click.pass_obj
def command(shared: Shared, phrase: tuple[str, ...]) -> int:
    """Show how a time phrase is read: its range, and in which words.

    PHRASE may be -: then standard input holds one a line, each answered as it comes. Exit code 1 where
    no time is named.
    """
    setting = setting_of(shared)
    read = partial(resolve, now=setting.now, week_start=setting.config.week_start)
    if phrase == ("-",):
        lines = (line for line in read_lines(shared, "phrases") if line.strip())
        return _answer_many(((line, read(line)) for line in lines), shared)
    text = " ".join(phrase)
    found = read(text)
    if shared.json:
        print_document(resolution_document(found, text))
    elif found:
        print_text(render_resolution(text, found))
    else:
        shared.say(f"No time is named in it.\n{HINT}")
    return 0 if found else 1


def _answer_many(read: Iterable[tuple[str, Resolution | None]], shared: Shared) -> int:
    """One line's answer after the other, or one document of them all; the exit code."""
    if shared.json:
        phrases = [{"text": text, **resolution_document(found, text)} for text, found in read]
        print_document({"phrases": phrases})
        return 0 if any(one["ranges"] or one["vague"] for one in phrases) else 1
    named = False
    for text, found in read:
        print_text(render_resolution(text, found))
        named = named or found is not None
    return 0 if named else 1


def render_resolution(phrase: str, resolution: Resolution | None) -> str:
    """Each time named in `phrase` on two lines: the words with their reading, the exact range."""
    if resolution is None:
        return f"{visible_line(phrase)}  {NO_TIME}"
    lines = [line for reading in resolution.readings for line in _readings(phrase, reading, resolution)]
    if resolution.vague:
        vague = [visible_line(phrase[slice(*span)].strip()) for span in resolution.vague_spans]
        lines.append(f"{', '.join(vague) or visible_line(phrase)} = no exact time")
        lines.append(f"   looks back over {exact(resolution.window) if resolution.window else 'everything'}")
    return "\n".join(lines)


def _readings(phrase: str, reading: Reading, resolution: Resolution) -> Iterator[str]:
    """One reading, with the others that its words may have."""
    yield _reading(phrase, reading)
    for other in resolution.alternatives:
        if other.span == reading.span:
            yield f"   or {other.words}\n   {exact(other.range)}"


def _reading(phrase: str, reading: Reading) -> str:
    words = visible_line(phrase[slice(*reading.span)])
    marks = [reading.grain]
    marks += ["about"] if reading.fuzzy else []
    marks += ["in the future"] if reading.future else []
    return f"{words} = {reading.words}\n   {exact(reading.range)} · {', '.join(marks)}"


def exact(span: TimeRange) -> str:
    """Both ends to the minute, or to the second where they need it, and the zone; the end is not inside."""
    edges = span.local()
    whole = 19 if any(at and at.second for at in edges) else 16
    start, end = (at.isoformat(" ", "seconds")[:whole] if at else "…" for at in edges)
    return f"{start} → {end} {zone_name(span.zone)}"

"""`huimem status`: a vault → how fresh, large and complete its index is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import click

from huimem import overview
from huimem.heartbeat import Watcher
from huimem.memory import Memory
from huimem.overview import Status
from huimem.packing import last_packed
from huimem.surfaces.cli.answering import memory_of
from huimem.surfaces.cli.hits import counted
from huimem.surfaces.cli.options import Shared, Verb
from huimem.surfaces.cli.printing import print_document, print_text
from huimem.surfaces.cli.visible import visible_line
from huimem.surfaces.documents import Document, status_document

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")
# from so many seconds on, counted in units of so many
_DURATIONS = ((2 * 86_400, 86_400, "days"), (90 * 60, 3_600, "h"), (90, 60, "min"))


EXAMPLES = """\
huimem status
huimem status --json | jq .vectors"""


@click.command(cls=Verb, epilog=EXAMPLES)
@click.pass_obj
def command(shared: Shared) -> int:
    """Say how fresh, large and complete the index is, and where it lies."""
    with memory_of(shared) as (memory, now):
        status = overview.status(memory)
        daily = daily_of(memory, now)
    if shared.json:
        print_document({**status_document(status), "archiving": daily_document(daily)})
        return 0
    print_text(render_status(status, daily))
    for warning in status.warnings:
        shared.say(f"warning: {warning}")
    return 0


@dataclass(frozen=True, slots=True)
class Daily:
    """How months are packed by themselves where that is on: when they last were, and so many seconds ago.

    Both are None where they never were.
    """

    last: datetime | None = None
    ago: float | None = None

    @property
    def words(self) -> str:
        when = f"last {duration(self.ago)} ago" if self.ago is not None else "not yet"
        return f"once a day, while huimem watch runs: {when}"


def daily_of(memory: Memory, now: datetime) -> Daily | None:
    """None where it is off. A time to come, from a clock that was wrong, is none."""
    if not memory.config.archive.auto:
        return None
    last = last_packed(memory.vault.state)
    ago = (now - last).total_seconds() if last else -1.0
    return Daily(last, ago) if ago >= 0 else Daily()


def daily_document(daily: Daily | None) -> Document:
    """Whether months are packed by themselves, and when they last were."""
    last = daily and daily.last
    return {"auto": daily is not None, "last": last.isoformat(timespec="seconds") if last else None}


def render_status(status: Status, daily: Daily | None = None) -> str:
    """One fact a line, its name in front."""
    packed = f" ({status.packed:,} packed)" if status.packed else ""
    passages = f"{status.turns:,} records in {counted(status.passages, 'passage')}"
    rows = [
        ("vault", str(status.root)),
        ("files", f"{status.sources:,}{packed} with {passages}"),
        ("index", freshness(status)),
        ("engine", status.engine),
        ("vectors", vectors(status)),
        *([("building", building(status.building))] if status.building else []),
        ("watcher", watcher(status.watcher)),
        *([("archiving", daily.words)] if daily else []),
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
    left = _left(status) if percent < 100 else ""
    return f"{status.vectors_done:,} of {status.vectors_total:,} ({percent} %), {status.embedder}{left}"


def building(state: tuple[str, int, int]) -> str:
    """How far the vectors of the embedder are that will answer once it has all."""
    name, done, total = state
    return f"{done:,} of {total:,} for {name}, which answers as soon as all are made"


def _left(status: Status) -> str:
    """How long the vectors will take, where a watcher is making them."""
    working = status.watcher and not status.watcher.stuck and status.watcher.standing
    return f", {about(working.left)}" if working and working.left else ""


def watcher(seen: Watcher | None) -> str:
    """Whether somebody keeps the index in step, and how."""
    if seen is None:
        return "none: huimem watch follows edits as they happen"
    if seen.standing is None:
        return "running, but it cannot say how it is: is the disk full?"
    who = f"process {seen.standing.pid}"
    if seen.stuck:
        silent = f"silent for {duration(seen.beat)}" if seen.beat is not None else "silent"
        return f"stuck ({who}, {silent}): continue or stop it"
    looked = f"looked {duration(seen.looked)} ago" if seen.looked is not None else "not looked yet"
    why = f": {seen.standing.why}" if seen.standing.why else ""
    return f"running ({who}, {seen.standing.mode}, {looked}){why}"


def about(seconds: float) -> str:
    """A time to wait, roughly: `about 3 min`."""
    return f"about {duration(seconds)}"


def duration(seconds: float) -> str:
    """Seconds for people, in a unit that suits: `2 s`, `3 min`, `5 h`, `4 days`."""
    for least, size, unit in _DURATIONS:
        if seconds >= least:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def size(count: float) -> str:
    """A number of bytes for people: `12.3 MiB`."""
    for unit in _UNITS[:-1]:
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} {_UNITS[-1]}"

"""`huimem doctor`: a vault → every problem with its place and remedy, and how the machinery stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import click

from huimem import overview
from huimem.config import user_file
from huimem.errors import Problem
from huimem.overview import Status
from huimem.repairing import Mended, repair
from huimem.surfaces.cli.answering import memory_of
from huimem.surfaces.cli.hits import counted
from huimem.surfaces.cli.look import Look, looking
from huimem.surfaces.cli.options import Shared, Verb
from huimem.surfaces.cli.printing import print_document, print_text
from huimem.surfaces.cli.status import Daily, daily_of, freshness, vectors
from huimem.surfaces.cli.visible import visible_line
from huimem.surfaces.documents import problem_documents
from huimem.synced_folders import synced_by


@dataclass(frozen=True, slots=True)
class Check:
    """How one part stands; with `warn` there are answers all the same, only slower or poorer ones."""

    state: Literal["ok", "warn"]
    name: str
    words: str


LATE = 2 * 86_400.0  # seconds after which a daily packing is missed

EXAMPLES = """\
huimem doctor
huimem doctor --fix
huimem doctor --json | jq '.problems[].path'"""


@click.command(cls=Verb, epilog=EXAMPLES)
@click.option("--fix", is_flag=True, help="Make derived files again that are missing, damaged or behind.")
@click.pass_obj
def command(shared: Shared, fix: bool) -> int:
    """Name every problem in the vault with its file, line and remedy.

    With --fix it first makes again what is derived, and says what it did; your own files stay as they are.
    Exit code 1 where there is any problem.
    """
    with memory_of(shared) as (memory, now):
        mended = repair(memory.vault, memory.index) if fix else None
        status, problems = overview.status(memory), overview.problems(memory)
        daily = daily_of(memory, now)
        files, wanted = len(memory.vault.scan().files), memory.config.embedder
        look = looking(memory.zone, now, memory.vault.root)
    checks = (*checked(status, files, wanted, fast_yaml=_fast_yaml()), *archiving(daily), *beside(status))
    if shared.json:
        rows = [{"state": check.state, "name": check.name, "words": check.words} for check in checks]
        done = {} if mended is None else {"fixed": [{"path": m.path, "what": m.what} for m in mended]}
        print_document({**done, "checks": rows, "problems": problem_documents(problems)})
    else:
        done_lines = [] if mended is None else [*mended_lines(mended, look)]
        print_text("\n".join([*done_lines, render_doctor(checks, problems, look)]))
    return 1 if problems else 0


def checked(status: Status, files: int, wanted: str, *, fast_yaml: bool) -> tuple[Check, ...]:
    """The parts that a recall stands on, each with what it lacks.

    `files` counts the vault's open files, `wanted` is the embedder asked for.
    """
    yaml = "libyaml" if fast_yaml else "without libyaml: front matter that needs YAML is read slowly"
    return (
        Check("ok", "vault", counted(files, "file") + _packed(status)),
        Check("ok" if status.fresh else "warn", "index", f"answers by {status.engine}, {freshness(status)}"),
        _meaning(status, wanted),
        Check("ok" if fast_yaml else "warn", "yaml", yaml),
        *(Check("warn", "index", warning) for warning in status.warnings),
    )


def _packed(status: Status) -> str:
    if not status.archives:
        return ""
    return f", {status.packed:,} more packed in {counted(status.archives, 'archive')}"


def archiving(daily: Daily | None) -> Iterator[Check]:
    """How the daily packing does, where it is on."""
    if daily is not None:
        late = daily.ago is None or daily.ago > LATE
        yield Check("warn" if late else "ok", "archive", daily.words)


def beside(status: Status) -> Iterator[Check]:
    """Whether a program that copies the vault between machines copies its index too."""
    program = synced_by(status.root)
    if program and status.state.is_relative_to(status.root):
        yield Check(
            "warn",
            "state",
            f"{program} syncs this vault, and {status.state} with it, which belongs to one machine: "
            f'state_dir = "~/.local/state/huimem" in {user_file()}, or HUIMEM_STATE, moves it out',
        )


def _meaning(status: Status, wanted: str) -> Check:
    if wanted == "none":
        return Check("ok", "vectors", 'switched off: embedder = "none"')
    whole = status.embedder and status.vectors_done >= status.vectors_total
    return Check("ok" if whole else "warn", "vectors", vectors(status))


def _fast_yaml() -> bool:
    import yaml

    return bool(yaml.__with_libyaml__)


def render_doctor(checks: Sequence[Check], problems: Sequence[Problem], look: Look) -> str:
    """A line a check, then each problem, then how many."""
    count = counted(len(problems), "problem")
    return "\n".join([*check_lines(checks, look), *problem_lines("fail", problems, look), count])


def mended_lines(mended: Sequence[Mended], look: Look) -> Iterator[str]:
    """What was made again; that there was nothing, where there was nothing."""
    for one in mended:
        yield f"{look.styled('good', 'fixed')} {look.place(one.path)}  {visible_line(one.what)}"
    if not mended:
        yield f"{look.styled('good', 'fixed')} nothing: all that is derived is as it should be"


def check_lines(checks: Sequence[Check], look: Look) -> Iterator[str]:
    """How each part stands."""
    styles = {"ok": "good", "warn": "strong"}
    for check in checks:
        state = look.styled(styles[check.state], f"{check.state:5}")
        yield f"{state} {check.name:8} {visible_line(check.words)}"


def problem_lines(label: str, problems: Sequence[Problem], look: Look) -> Iterator[str]:
    """Each problem behind its label: where, what, and on a line of its own what to do."""
    for problem in problems:
        place = look.place(problem.path, problem.line)
        yield f"{look.styled('bad', f'{label:5}')} {place}  {visible_line(problem.message)}"
        if problem.remedy:
            yield f"      → {visible_line(problem.remedy)}"

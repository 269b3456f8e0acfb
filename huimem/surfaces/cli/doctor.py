"""`huimem doctor`: a vault → every problem with its place and remedy, and how the machinery stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import click

from huimem import overview
from huimem.errors import Problem
from huimem.overview import Status
from huimem.surfaces.cli.answering import memory_of
from huimem.surfaces.cli.hits import counted
from huimem.surfaces.cli.look import Look, looking
from huimem.surfaces.cli.options import Shared, Verb
from huimem.surfaces.cli.printing import print_document, print_text
from huimem.surfaces.cli.status import freshness, vectors
from huimem.surfaces.cli.visible import visible_line
from huimem.surfaces.documents import problem_documents


@dataclass(frozen=True, slots=True)
class Check:
    """How one part stands; with `warn` there are answers all the same, only slower or poorer ones."""

    state: Literal["ok", "warn"]
    name: str
    words: str


EXAMPLES = """\
huimem doctor
huimem doctor --json | jq '.problems[].path'"""


@click.command(cls=Verb, epilog=EXAMPLES)
@click.pass_obj
def command(shared: Shared) -> int:
    """Name every problem in the vault with its file, line and remedy.

    Exit code 1 where there is any.
    """
    with memory_of(shared) as (memory, now):
        status, problems = overview.status(memory), overview.problems(memory)
        files, wanted = len(memory.vault.scan().files), memory.config.embedder
        look = looking(memory.zone, now, memory.vault.root)
    checks = checked(status, files, wanted, fast_yaml=_fast_yaml())
    if shared.json:
        rows = [{"state": check.state, "name": check.name, "words": check.words} for check in checks]
        print_document({"checks": rows, "problems": problem_documents(problems)})
    else:
        print_text(render_doctor(checks, problems, look))
    return 1 if problems else 0


def checked(status: Status, files: int, wanted: str, *, fast_yaml: bool) -> tuple[Check, ...]:
    """The parts that a recall stands on, each with what it lacks.

    `files` counts the vault's files, `wanted` is the embedder asked for.
    """
    yaml = "libyaml" if fast_yaml else "without libyaml: front matter that needs YAML is read slowly"
    return (
        Check("ok", "vault", counted(files, "file")),
        Check("ok" if status.fresh else "warn", "index", f"answers by {status.engine}, {freshness(status)}"),
        _meaning(status, wanted),
        Check("ok" if fast_yaml else "warn", "yaml", yaml),
        *(Check("warn", "index", warning) for warning in status.warnings),
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
    """A line a check, then each problem: where, what, and on a line of its own what to do."""
    styles = {"ok": "good", "warn": "strong"}
    lines = [
        f"{look.styled(styles[check.state], f'{check.state:5}')} {check.name:8} {visible_line(check.words)}"
        for check in checks
    ]
    for problem in problems:
        place = look.place(problem.path, problem.line)
        lines.append(f"{look.styled('bad', 'fail ')} {place}  {visible_line(problem.message)}")
        if problem.remedy:
            lines.append(f"      → {visible_line(problem.remedy)}")
    lines.append(counted(len(problems), "problem"))
    return "\n".join(lines)

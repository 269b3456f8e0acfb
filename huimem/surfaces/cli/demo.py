"""`huimem demo`: a minute with a throw-away copy of the sample vault; every line it shows is true.

Each step carries out a command line as it is printed, on real files below a temporary folder.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files as package_files
from pathlib import Path

import click

from huimem import files
from huimem.errors import UsageError
from huimem.resources import demo_vault
from huimem.surfaces.cli.main import run
from huimem.surfaces.cli.options import Shared, Verb
from huimem.surfaces.cli.printing import print_text

Carry = Callable[[Sequence[str]], int]

PACE = 5.0  # seconds to read a step on a terminal
NOW = "2026-04-15T10:30"  # the day on which the sample vault is asked
EDITED = "vault/sessions/2026-W15/chat_2026-04-08_230512.md"
OLD, NEW = "index: choose segmented flat fp16 for vectors", "index: choose binary codes for vectors"
EXPORT = "chatgpt-export/conversations.json"

EXAMPLES = """\
huimem demo
huimem demo --keep"""


@dataclass(frozen=True, slots=True)
class Step:
    """What is said before, and the words after `huimem` that are carried out; an `edit` in their place."""

    said: str
    words: tuple[str, ...] = ()
    edit: bool = False


def _ask(*words: str) -> tuple[str, ...]:
    return ("recall", "--vault", "vault", "--now", NOW, *words)


STEPS = (
    Step("Forty conversations of one person, plain Markdown. Ask them by time, as you would a friend:"),
    Step("", _ask("which index did we choose last Wednesday?", "--limit", "1")),
    Step("The same in Chinese; what was told a week later about that Wednesday is found as well:"),
    Step("", _ask("上周三聊的那只股票叫什么", "--limit", "1")),
    Step("Nothing but a time lists what was said then:"),
    Step("", _ask("what did we talk about last Tuesday?", "--limit", "1")),
    Step("Why did this come first? Every number is there, and they multiply to the score:"),
    Step("", _ask("what is wrong with my knee, doctor?", "--explain", "--limit", "1")),
    Step("The files are the truth. Change one in any editor …", edit=True),
    Step("… and the next question knows, with no command in between:"),
    Step("", _ask("which index did we choose last Wednesday?", "--limit", "1")),
    Step("Bring your ChatGPT history (here a tiny export of two chats; a zip of years works the same):"),
    Step("", ("import", EXPORT, "--vault", "vault")),
    Step("", _ask("几点的高铁去苏州", "--limit", "1")),
    Step("Import it again, and nothing comes twice:"),
    Step("", ("import", EXPORT, "--vault", "vault")),
)


@click.command(cls=Verb, epilog=EXAMPLES)
@click.option("--keep", is_flag=True, help="Leave the folder there, to look at and to try things in.")
@click.option("--pace", type=click.FloatRange(0, 60), metavar="SECONDS", help="Seconds to read each step.")
@click.pass_obj
def command(shared: Shared, /, keep: bool, pace: float | None) -> int:
    """See in a minute what huimem does, on a throw-away sample vault.

    Asks by time, in two languages; explains; edits a file and asks again; imports an export. Your own
    vault is not touched.
    """
    if shared.json or shared.vault or shared.namespace:
        raise UsageError("the demo takes no vault and shows text", "Try: huimem recall QUESTION --json")
    terminal = sys.stdout is not None and sys.stdout.isatty()
    with _folder(keep=keep) as folder, _inside(folder):
        _furnish(folder)
        print_text(f"$ cd {folder}")
        begun = time.monotonic()
        for step in STEPS:
            play(step, run)
            if step.words or step.edit:
                time.sleep(pace if pace is not None else PACE * terminal)
        print_text(f"\n{time.monotonic() - begun:.0f} seconds. Make your own: huimem init ~/Notes/AI")
        if keep:
            print_text(f"All of it is in {folder}")
    return 0


def play(step: Step, carry_out: Carry) -> None:
    """Show one step and do it."""
    if step.said:
        print_text(f"\n# {step.said}")
    if step.edit:
        print_text("\n".join(edited(Path(EDITED))))
    elif step.words:
        print_text(f"$ {shlex.join(('huimem', *step.words))}")
        carry_out(step.words)


def edited(path: Path) -> Iterator[str]:
    """Change the line in the file, as an editor would; the change as it is shown."""
    before, _ = files.read(path)
    line = before[: before.index(OLD.encode())].count(b"\n") + 1
    files.replace(path, before.replace(OLD.encode(), NEW.encode()), before)
    yield f"{path}:{line}"
    yield from (f"- {OLD}", f"+ {NEW}")


def _furnish(folder: Path) -> None:
    """The sample vault and the export, as copies that can be written to."""
    source = demo_vault()
    for path in sorted(source.rglob("*")):
        inside = path.relative_to(source)
        if path.is_file() and ".huimem" not in inside.parts:
            _put(folder / "vault" / inside, path.read_bytes())
    export = package_files("huimem.surfaces.cli").joinpath("demo_export.json").read_bytes()
    _put(folder / EXPORT, export)


def _put(path: Path, data: bytes) -> None:
    files.make_folder(path.parent)
    files.jot(path, data)


@contextmanager
def _folder(*, keep: bool) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="huimem-demo-")).resolve()
    try:
        yield folder
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """Work in the folder: paths are shown from there, and no vault or state of the user's is near."""
    here = Path.cwd()
    held = {name: os.environ.pop(name, None) for name in ("HUIMEM_VAULT", "HUIMEM_STATE")}
    os.environ["HUIMEM_STATE"] = str(folder / "vault/.huimem")
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(here)
        del os.environ["HUIMEM_STATE"]
        os.environ.update({name: value for name, value in held.items() if value is not None})

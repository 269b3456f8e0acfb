"""`huimem open`: a ref, or a place in a file → that file in the program that the system opens it with."""

from __future__ import annotations

import os
import shutil
import sys

import click

from huimem.errors import ConfigError, HuimemError
from huimem.surfaces.cli.look import looking
from huimem.surfaces.cli.options import Shared, Verb
from huimem.surfaces.cli.places import carried_out, ending, laid_open
from huimem.surfaces.cli.printing import print_document, print_text
from huimem.surfaces.cli.setting import setting_at
from huimem.surfaces.keeping import place_document

OPENERS = {"darwin": "open", "win32": "", "cygwin": "cygstart"}
ELSEWHERE = "xdg-open"
OTHERWISE = "huimem edit opens it in your editor; huimem open --print says where it is."

EXAMPLES = """\
huimem open chat_2026-04-06_091423#20260406T091423
huimem open sessions/2026-W15/chat_2026-04-06_091423.md:31
code -g "$(huimem open --print chat_2026-04-06_091423#20260406T091423)\""""


@click.command(cls=Verb, epilog=EXAMPLES)
@click.argument("ref", metavar="REF")
@click.option("--print", "only_print", is_flag=True, help="Open nothing; print the file and its line.")
@click.pass_obj
def command(shared: Shared, ref: str, only_print: bool) -> int:
    """Open the file of a record in the program that the system has for it.

    REF is a ref, or PATH:LINE as recall prints it. A packed file is put back first. Exit code 1 where there
    is no such record.
    """
    program = "" if only_print else opener(sys.platform)
    place = laid_open(shared, ref)
    if not only_print:
        _show(program, place.file)
    if shared.json:
        print_document(place_document(place.path, place.line, place.packed))
    else:
        setting = setting_at(place.vault.root, shared)
        print_text(looking(setting.zone, setting.now, place.vault.root).place(place.path, place.line))
    return 0


def opener(platform: str) -> str:
    """The system's own program for opening files, "" where a call does it. Raises `ConfigError`."""
    program = OPENERS.get(platform, ELSEWHERE)
    if program and shutil.which(program) is None:
        raise ConfigError(f"there is no {program} here to open files with", OTHERWISE)
    return program


def _show(program: str, file: str) -> None:
    """Raises `HuimemError` where the system cannot."""
    if sys.platform == "win32" and not program:
        os.startfile(file)
    elif code := carried_out([program, file]):
        raise HuimemError(f"{program} could not open it ({ending(code)}): {file}", OTHERWISE)

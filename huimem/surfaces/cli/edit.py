"""`huimem edit`: a ref, or a place in a file → the editor there; then what was changed, taken in."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType

import click

from huimem import heartbeat
from huimem.background import told
from huimem.errors import Locked, WriteFailed
from huimem.files import Unreadable
from huimem.records import Record, Source
from huimem.surfaces.cli.answering import linger, memory_of
from huimem.surfaces.cli.editors import Editor, editor_of
from huimem.surfaces.cli.hits import counted
from huimem.surfaces.cli.look import Look, looking
from huimem.surfaces.cli.options import Shared, Verb
from huimem.surfaces.cli.places import Place, carried_out, ending, laid_open
from huimem.surfaces.cli.printing import print_document, print_text
from huimem.surfaces.cli.setting import setting_at
from huimem.surfaces.keeping import edited_document, place_document

NEXT = "the next question takes it in"

EXAMPLES = """\
huimem edit chat_2026-04-06_091423#20260406T091423
huimem edit sessions/2026-W15/chat_2026-04-06_091423.md:31
VISUAL="code --wait" huimem edit diet@20260501T180211"""


@dataclass(frozen=True, slots=True)
class Edited:
    """What an edit made of a file, and how many of its records; `after` is None where the file is gone."""

    before: Source
    after: Source | None

    @property
    def changed(self) -> bool:
        return self.after is None or self.after.digest != self.before.digest

    @property
    def records(self) -> Mapping[str, int]:
        old, new = (_by_ref(source) for source in (self.before, self.after))
        return {
            "changed": sum(new[ref] != record for ref, record in old.items() if ref in new),
            "added": len(new.keys() - old.keys()),
            "gone": len(old.keys() - new.keys()),
        }


def _by_ref(source: Source | None) -> dict[str, Record]:
    return {str(record.ref): record for record in source.records} if source else {}


@click.command(cls=Verb, epilog=EXAMPLES)
@click.argument("ref", metavar="REF")
@click.pass_obj
def command(shared: Shared, ref: str) -> int:
    """Open the file of a record in your editor, at its line, and take in what you change.

    The editor is $VISUAL, or else $EDITOR. REF is a ref, or PATH:LINE as recall prints it. A packed file is
    put back first. Exit code 1 where there is no such record, or where the editor fails.
    """
    editor = editor_of(os.environ)
    place = laid_open(shared, ref)
    before = place.vault.read(place.path)
    with _deaf_to_the_terminal():
        code = carried_out(editor.command(place.file, place.line))
    done = Edited(before, _read(place))
    by = _taken_in(shared, place) if done.changed else ""
    if shared.json:
        where = place_document(place.path, place.line, place.packed)
        print_document(edited_document(where, done.records, changed=done.changed))
    else:
        setting = setting_at(place.vault.root, shared)
        print_text(render_edited(done, place, by, looking(setting.zone, setting.now, place.vault.root)))
    if code:
        shared.say(f"warning: {editor.name} ended with {ending(code)}")
    elif not done.changed and not editor.waits:
        shared.say(_impatient(editor))
    return 1 if code else 0


def render_edited(done: Edited, place: Place, by: str, look: Look) -> str:
    """One line: where, what became of the records there, and who takes it in where that is not done."""
    counts = [f"{counted(count, 'record')} {what}" for what, count in done.records.items() if count]
    what = ", ".join(counts) or ("its records are as before" if done.changed else "nothing changed")
    if done.after is None:
        what = f"the file is gone, {what}"
    if done.changed and done.after and done.after.problems:
        what += f", {counted(len(done.after.problems), 'problem')}: huimem doctor"
    return f"{look.place(place.path, place.line)}  {what}" + (f" ({by})" if by else "")


def _impatient(editor: Editor) -> str:
    """What is said where the editor has its window still open, as far as anybody knows."""
    stay = "-f" if editor.name in ("gvim", "mvim") else "--wait"
    return (
        f"{editor.name} has not waited: what you save there, the next question knows "
        f"({stay} in {editor.variable} has it wait, and the change told here)"
    )


@contextmanager
def _deaf_to_the_terminal() -> Iterator[None]:
    """Keys that interrupt are the editor's meanwhile. It is told of them itself, and must not be ended."""
    names = [getattr(signal, name) for name in ("SIGINT", "SIGQUIT") if hasattr(signal, name)]
    before = {}
    with suppress(ValueError):  # only the first thread may
        # A function and not SIG_IGN, which the editor would inherit.
        before = {number: signal.signal(number, _heard) for number in names}
    try:
        yield
    finally:
        for number, action in before.items():
            signal.signal(number, action)


def _heard(number: int, frame: FrameType | None) -> None:
    """Nothing: it was meant for the editor."""


def _read(place: Place) -> Source | None:
    """The file as it is now; None where it is gone."""
    try:
        return place.vault.read(place.path)
    except Unreadable as error:
        if not error.gone:
            raise
        return None


def _taken_in(shared: Shared, place: Place) -> str:
    """Take an edit into the index; who will do that where it is left to somebody else."""
    watcher = heartbeat.seen(place.vault.state, now=time.time())
    if watcher is not None and not watcher.stuck:
        return "the watcher takes it in"
    with memory_of(shared) as (memory, _):
        if not memory.index.counts().sources:  # all of it is to be taken in, and not this file alone
            return NEXT
        try:
            done = memory.sync([place.path], vectors=False)
        except (Locked, WriteFailed) as error:
            shared.say(f"warning: {told(error)}")
            return NEXT
        for warning in done.warnings:
            shared.say(f"warning: {warning}")
        linger(shared, memory, done.warnings)
    return ""

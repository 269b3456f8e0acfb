"""`huimem import`: an export of another program → session files, searchable, and what became of each."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, cast

import click

from huimem import files
from huimem.config import asking_zone, find_vault, load
from huimem.errors import UsageError
from huimem.importers.bringing import Progress, Report, bring_in
from huimem.importers.documents import STDIN
from huimem.importers.options import Branch, Options, Tools
from huimem.importers.registry import AUTO, importer_names
from huimem.memory import Memory
from huimem.surfaces.cli.answering import linger, memory_of
from huimem.surfaces.cli.hits import counted
from huimem.surfaces.cli.opening import refuse_many
from huimem.surfaces.cli.options import Shared, Verb, present
from huimem.surfaces.cli.printing import print_document, print_text
from huimem.surfaces.cli.progress import progress
from huimem.surfaces.cli.visible import visible_line
from huimem.surfaces.documents import imported_document
from huimem.vault.intake import Intake
from huimem.vault.ledger import Ledger
from huimem.vault.vault import Vault
from huimem.when import resolve

SHOWN = 20  # reasons printed; --json has all of them
NOTHING = 1

EXAMPLES = """\
huimem import ~/Downloads/chatgpt-export.zip
huimem import ~/.claude/projects --since 2026-01-01
huimem import conversations.json --branch all --dry-run
cat messages.jsonl | huimem import - --from openai"""


@click.command("import", cls=Verb, epilog=EXAMPLES)
@click.argument("source", type=click.Path(path_type=Path, readable=False))
@click.option("--from", "name", metavar="KIND", default=AUTO, help="What it is; else its content tells.")
@click.option(
    "--branch",
    type=click.Choice(["active", "all"]),
    default="active",
    help="What was seen last, or every ending, each as a conversation.",
)
@click.option(
    "--tools",
    type=click.Choice(["none", "names", "full"]),
    default="names",
    help="Calls of tools: none, one folded line each, or all they took and brought.",
)
@click.option("--since", metavar="TIME", help="Only conversations that went on after TIME.")
@click.option("--again", is_flag=True, help="Bring back what was deleted by hand since an earlier import.")
@click.option("--dry-run", is_flag=True, help="Tell what would come in; write nothing.")
@click.pass_obj
def command(
    shared: Shared, /, source: Path, name: str, branch: Branch, tools: Tools, since: str | None, **flags: bool
) -> int:
    """Bring in conversations from ChatGPT, Claude, Claude Code and other exports.

    SOURCE is a file, a folder, a zip, or - for standard input. Known are chatgpt, claude, claude-code,
    openai and huimemory. Importing again adds what is new and nothing twice; what you edited, deleted or
    forgot stays as you left it.
    """
    refuse_many(shared, "Name one to import to; ** is for looking in several.")
    if name not in (AUTO, *importer_names()):
        raise UsageError(f"there is no kind {name!r} of export", f"Known: {', '.join(importer_names())}.")
    dry, again = flags["dry_run"], flags["again"]
    with _vault_of(shared, dry) as (vault, memory, now), progress(shared) as show:
        begun = time.monotonic()
        zone = now.tzinfo if shared.tz and now.tzinfo else vault.zone
        options = Options(zone, branch, tools, _since(vault, since, now))
        told: Progress | None = (
            None if show is None else lambda done, total: show("import, kB", done >> 10, total >> 10)
        )
        # What was there before is indexed first, or what comes in would pass for an index that was lost.
        synced = () if memory is None else memory.sync(vectors=False, progress=show).warnings
        state = vault.state if dry else vault.prepare("locks").parent
        with _alone(state, dry), Ledger(state, keep=not dry) as ledger:
            intake = Intake(vault, shared.namespace or "", ledger, now, not dry, again)
            report = bring_in(source, intake, options, name=name, stdin=_stdin(source), progress=told)
        warnings: tuple[str, ...] = (*synced, *vault.warnings)
        if memory is not None and report.came_in:
            warnings += tuple(
                w for w in memory.sync(vectors=False, progress=show).warnings if w not in synced
            )
        if shared.json:
            print_document(imported_document(report, warnings, dry=dry))
        else:
            first, *rest = map(visible_line, lines(report, source, dry=dry))
            print_text("\n".join([first, *(f"  {line}" for line in rest)]))
            for line in _after(memory, report, time.monotonic() - begun):
                shared.say(line)
        for warning in warnings:
            shared.say(f"warning: {warning}")
        if memory is not None:
            linger(shared, memory)
    return 0 if report.came_in else NOTHING


@contextmanager
def _vault_of(shared: Shared, dry: bool) -> Iterator[tuple[Vault, Memory | None, datetime]]:
    """The vault, its memory and the present; none where nothing is written: opening it makes an index."""
    if not dry:
        with memory_of(shared) as (memory, now):
            yield memory.vault, memory, now
        return
    root = find_vault(shared.vault, os.environ, Path.cwd())
    config = load(root)
    yield Vault.open(root, config), None, present(shared.now, asking_zone(config, shared.tz))


def _since(vault: Vault, text: str | None, now: datetime) -> datetime | None:
    """The moment that `--since` names, in figures or in words."""
    if text is None:
        return None
    found = resolve(text, now, week_start=vault.config.week_start)
    start = found.ranges[0].start if found and found.ranges else None
    if start is None:
        raise UsageError(f"--since {text!r} names no time", "Write it like 2026-01-01, or: last March.")
    return start


def _stdin(source: Path) -> BinaryIO | None:
    if str(source) != STDIN or sys.stdin is None:
        return None
    return cast(BinaryIO, sys.stdin.buffer)


def _alone(state: Path, dry: bool) -> AbstractContextManager[object]:
    """One import at a time writes to a vault."""
    return nullcontext() if dry else files.lock(state / "locks/import.lock", timeout=1.0)


def lines(report: Report, source: Path, *, dry: bool) -> Iterator[str]:
    """What an import did, or would do."""
    told = bool(report.early or report.skipped)
    kinds = ", ".join(report.conversations) or ("" if told else "nothing known")
    became = [f"{count:,} {what}" for what, count in _became(report, dry=dry)]
    found = f"{counted(report.found, 'conversation')}{f' ({kinds})' if kinds else ''}"
    yield f"{found}: {', '.join(became) or 'none came in'}"
    written = [counted(report.added, "message")] if report.added else []
    written += [f"{counted(report.grown, 'message')} grown"] if report.grown else []
    if written:
        yield f"{' and '.join(written)} in {counted(report.weeks, 'week')}"
    if report.edited:
        one = report.edited == 1
        yield (
            f"{counted(report.edited, 'message')} {'differs' if one else 'differ'} here from the export: "
            f"left as {'it is' if one else 'they are'}"
        )
    if report.deleted:
        yield f"{counted(report.deleted, 'message')} deleted here: left out"
    if report.forgotten:
        yield f"{counted(report.forgotten, 'message')} forgotten: left out"
    if report.inferred:
        guessed = counted(report.inferred, "conversation")
        yield f"{guessed} without times: dated by guess, marked `times: inferred`"
    if report.left_out:
        yield f"left out: {_kinds(report.left_out)}"
    for document, skipped in report.skipped[:SHOWN]:
        yield f"skipped {': '.join(filter(None, (document, skipped.place, skipped.reason)))}"
    if len(report.skipped) > SHOWN:
        yield f"… and {len(report.skipped) - SHOWN:,} more: --json lists all"
    if not report.found and not report.skipped:
        looked = counted(report.documents, "file")
        yield f"{looked} of {source} looked at; known: {', '.join(importer_names())}"


def _became(report: Report, *, dry: bool) -> Iterator[tuple[str, int]]:
    names = f" ({report.renamed:,} renamed)" if report.renamed else ""
    words = {
        "new": "would be new" if dry else "new",
        "updated": f"{'would be updated' if dry else 'updated'}{names}",
        "unchanged": "unchanged",
        "deleted": "deleted here since (--again brings them back)",
        "forgotten": "forgotten",
    }
    for what, shown in words.items():
        if count := report.outcomes.get(what, 0):
            yield shown, count
    if report.early:
        yield "before --since", report.early
    items = [skipped for _, skipped in report.skipped if not skipped.place.startswith("line ")]
    if items:
        yield "skipped", len(items)


def _kinds(left_out: Mapping[str, int]) -> str:
    shown = {
        "other branch": "on other branches (--branch all)",
        "thinking": "thoughts",
        "sidechain": "of sub-agents",
    }
    return ", ".join(f"{count:,} {shown.get(kind, kind)}" for kind, count in sorted(left_out.items()))


def _after(memory: Memory | None, report: Report, seconds: float) -> Iterator[str]:
    if memory is None:
        yield "Nothing was written."
    elif report.came_in:
        yield f"Searchable by words ({seconds:.1f} s)."
        if memory.index.embedder is not None and report.outcomes.keys() & {"new", "updated"}:
            yield "By meaning: huimem sync makes the vectors, newest first; it can be stopped at any moment."

"""`huimem`: an argument list → the verb it names → an exit code. Every error becomes words here.

Verbs are imported when they are used, so that help and light verbs start at once.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from types import FrameType
from typing import NoReturn

import click

from huimem import __version__, locks
from huimem.errors import HuimemError, unexpected
from huimem.surfaces.cli.options import shared_options
from huimem.surfaces.cli.printing import print_document, print_text, say, say_error
from huimem.surfaces.cli.table import Row, Table
from huimem.surfaces.documents import error_code, error_document

DONE, USAGE, BUG, IO_FAILED, INTERRUPTED, READER_GONE = 0, 2, 70, 74, 130, 141

VERBS = {
    "demo": "See in a minute what huimem does, on a throw-away sample vault.",
    "init": "Make a vault, or adopt a folder of notes as one.",
    "record": "Append messages from standard input to a session; print one ref a turn.",
    "remember": "Write down a fact; print its ref and its place.",
    "import": "Bring in conversations from ChatGPT, Claude, Claude Code and other exports.",
    "recall": "Answer a question from what was said: by words, by meaning, by time.",
    "scan": "Walk back week by week until one of them answers, and show the walk.",
    "show": "Show one record whole, with its neighbours, its place and its Obsidian link.",
    "open": "Open the file of a record in the program that the system has for it.",
    "edit": "Open the file of a record in your editor, at its line, and take in what you change.",
    "list": "List records by filter, newest first.",
    "weeks": "Show how much was said in each week.",
    "when": "Show how a time phrase is read: its range, and in which words.",
    "sync": "Make the index agree with the vault.",
    "watch": "Follow edits as they happen, until stopped.",
    "archive": "Pack old months into an archive each; every question still finds what is in them.",
    "unarchive": "Put the files of a packed month back.",
    "forget": "Make records, sessions, facts or a namespace be nowhere any more.",
    "export": "Copy the whole vault, and read the copy back.",
    "check": "Look for damage in archives and index, and for faults in files; change nothing.",
    "status": "Say how fresh, large and complete the index is, and where it lies.",
    "doctor": "Name every problem in the vault with its file, line and remedy.",
    "fmt": "Write session files in their full form: whole headings, distinct times.",
    "embedder": "Show which model answers by meaning, and compare two on your own questions.",
    "eval": "Score the answers to your own questions, and say why each miss was missed.",
    "config": "Show the settings and where they come from.",
    "mcp": "Serve agents over MCP; set up their clients.",
}
# Where a verb is no name that a module may have.
MODULES = {"import": "importing"}
EXAMPLES = (
    "huimem init ~/Notes/AI",
    'huimem recall "which index did we choose?" --when 2026-04-08',
    "huimem list --when 2026-W15",
    "huimem recall 租房 --json | jq '.hits[0].ref'",
)
EXIT_CODES = (
    "0 done, 1 nothing found or problems found, 2 usage, 3 vault or config, 5 locked by another process, "
    "12 an archive or the index is damaged, 70 a bug in huimem, 74 input or output failed, 130 interrupted"
)


class Root(Table):
    """The verbs of huimem; the process is known by the one that it carries out."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        found = super().resolve_command(ctx, args)
        locks.verb = args[0]
        return found

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_help(ctx, formatter)
        with formatter.section("Exit codes"):
            formatter.write_text(EXIT_CODES)


def _versions(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    """Print the versions of program, vault format and index, and stop."""
    if wanted:
        vault = import_module("huimem.vault.reading").FORMAT
        index = import_module("huimem.index.catalog").SCHEMA_VERSION
        print_text(f"huimem {__version__} (vault format {vault}, index {index})")
        context.exit()


root = Root(
    "huimem",
    {name: Row(about, f"{MODULES.get(name, name)}:command") for name, about in VERBS.items()},
    EXAMPLES,
    options_title="Options of every verb",
    params=[
        click.Option(
            ["--version", "-V"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_versions,
            help="Say which version this is.",
        ),
        *shared_options(),
    ],
    help="Your AI chats as Markdown you own, and they answer: by words, by meaning, by time.",
)


def run(args: Sequence[str]) -> int:
    """Carry out one command line and return its exit code. Raises nothing but what ends the process."""
    try:
        with root.make_context("huimem", list(args) or ["--help"]) as context:
            return int(root.invoke(context) or DONE)
    except click.exceptions.Exit as done:
        return done.exit_code
    except BrokenPipeError:
        return READER_GONE
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except Exception as error:
        return failed(error, as_json="--json" in args, trace=not {"-v", "--verbose"}.isdisjoint(args))


def failed(error: Exception, *, as_json: bool, trace: bool) -> int:
    """Say what went wrong, as a document where one is expected; the exit code for it."""
    name, message, hint, code = told(error)
    try:
        if as_json:
            print_document(error_document(name, message, hint))
        else:
            say_error(message, hint)
    except BrokenPipeError:
        return READER_GONE
    except HuimemError as output:
        say_error(output.message, output.hint)
    if trace:
        say("".join(traceback.format_exception(error)).rstrip())
    return code


def told(error: Exception) -> tuple[str, str, str, int]:
    """An error's name for programs, its message, its remedy and its exit code.

    An unexpected one is told by its type and place alone: its text could hold what somebody said.
    """
    match error:
        case HuimemError():
            return error_code(error), error.message, error.hint, error.exit_code
        case click.ClickException():
            context = error.ctx if isinstance(error, click.UsageError) else None
            path = context.command_path if context else "huimem"
            return "usage", error.format_message(), f"{path} --help shows what it takes.", USAGE
        case OSError():
            place = f"{os.fsdecode(error.filename)}: " if error.filename else ""
            return "io", f"{place}{error.strerror or type(error).__name__}", "", IO_FAILED
        case _:
            return (
                "bug",
                unexpected(error),
                "This is a bug in huimem. Run it again with -v and report what it shows.",
                BUG,
            )


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    """Unwind, so that locks are freed and temp files go, and end as the signal asked."""
    raise SystemExit(128 + number)


def _let_go_of_output() -> None:
    """What standard output refused must not be tried again, loudly, when the interpreter ends."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError):
        with suppress(OSError, ValueError, AttributeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main() -> NoReturn:
    """The console command."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _stop)
    code = run(sys.argv[1:])
    _let_go_of_output()
    sys.exit(code)

"""`huimem mcp install` and `config`: enter huimem among a client's MCP servers, or print how."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import click

from huimem.config import system_zone, zone_named
from huimem.errors import UsageError
from huimem.surfaces.cli.options import Shared, Verb, present
from huimem.surfaces.cli.printing import print_document, print_text, say_error
from huimem.surfaces.cli.setting import root_of
from huimem.surfaces.cli.visible import visible, visible_line
from huimem.surfaces.clients import writing
from huimem.surfaces.clients.plan import Plan, plan, snippet
from huimem.surfaces.clients.table import (
    CLIENTS,
    PROJECT,
    SCOPES,
    USER,
    Client,
    Machine,
    Place,
    fleeting,
    launcher,
    settings_place,
)
from huimem.surfaces.clients.trial import Trial, try_out

INSTALL_EXAMPLES = """\
huimem mcp install --client claude-code
huimem mcp install --client codex --vault ~/Notes/AI --read-only
huimem mcp install --client vscode --scope project --dry-run"""
CONFIG_EXAMPLES = """\
huimem mcp config --client claude-desktop
huimem mcp config --client cursor --vault ~/笔记"""
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Choice:
    """What a command line asks for: `argv` is what the client is to start, `place` its file."""

    client: Client
    scope: str
    name: str
    argv: tuple[str, ...]
    place: Place

    @property
    def path(self) -> Path:
        return Path(self.place.path)

    def planned(self, before: bytes | None) -> Plan:
        return plan(self.client, self.name, self.argv, str(self.path), before)


def choosing(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say which client, and what it is to start."""
    for option in (
        click.option("--read-only", is_flag=True, help="Offer no tool that writes."),
        click.option(
            "--name", default="huimem", metavar="NAME", help="The server's name there; huimem if left out."
        ),
        click.option(
            "--scope",
            type=click.Choice(SCOPES),
            default=USER,
            help="For all you do, or for this folder alone.",
        ),
        click.option(
            "--client",
            "client_id",
            type=click.Choice([*CLIENTS]),
            required=True,
            help="The program to set up.",
        ),
    ):
        command = option(command)
    return command


@click.command(cls=Verb, epilog=INSTALL_EXAMPLES)
@choosing
@click.option("--dry-run", is_flag=True, help="Print the diff and write nothing.")
@click.option("--no-test", is_flag=True, help="Do not start the server to see whether it answers.")
@click.pass_obj
def install(shared: Shared, /, dry_run: bool, no_test: bool, **options: Any) -> int:
    """Enter huimem among the MCP servers of a client, and see whether it answers.

    Only the entry of huimem changes in the client's file; a backup is left beside it. Exit code 1 where
    the server does not answer as it was entered: the entry stays.
    """
    choice = chosen(shared, **options)
    seen = choice.scope == PROJECT or any(Path(sign).exists() for sign in choice.place.signs)
    if dry_run:
        done = writing.look(choice.path, choice.planned)
    else:
        done = writing.install(choice.path, choice.planned, present(shared.now, system_zone()))
    notes = [*notes_of(choice, done, seen), *done.plan.notes]
    if not shared.json:
        print_text(render_installed(choice, done, dry_run))
        shared.say("\n".join(f"note: {note}" for note in notes))
    trial = None if dry_run or no_test else tried(done.plan.entry)
    if shared.json:
        print_document(installed_document(choice, done, notes, trial))
    elif trial:
        tell_trial(choice, trial)
    if not dry_run and not (trial and trial.error):
        shared.say(f"Next: {choice.client.todo}")
    return 1 if trial and trial.error else 0


@click.command(cls=Verb, epilog=CONFIG_EXAMPLES)
@choosing
@click.pass_obj
def config(shared: Shared, /, **options: Any) -> int:
    """Print what `huimem mcp install` would enter in a client's file, and write nothing."""
    choice = chosen(shared, **options)
    text, line = snippet(choice.client, choice.name, choice.argv), add_line(choice)
    if shared.json:
        place = {"client": choice.client.id, "scope": choice.scope, "name": choice.name}
        document = {**place, "path": str(choice.path), "command": list(choice.argv), "snippet": text}
        print_document({**document, "add": line})
        return 0
    print_text(visible(text))
    shared.say(f"This goes into {choice.path}" + (f"; or run:\n  {line}" if line else ""))
    return 0


def chosen(shared: Shared, client_id: str, scope: str, name: str, read_only: bool) -> Choice:
    """The choice that options make on this machine. Raises `UsageError`, `VaultError`, `ConfigError`."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no name for a server", "Use letters, digits, - and _ only.")
    client, machine = CLIENTS[client_id], Machine(sys.platform, os.environ, Path.home(), Path.cwd())
    place = settings_place(client, scope, machine, lambda path: Path(path).exists())
    return Choice(client, scope, name, server_argv(shared, read_only), place)


def server_argv(shared: Shared, read_only: bool) -> tuple[str, ...]:
    """The command line that serves the vault at hand, from whatever folder it is started in."""
    interpreter = PurePath(os.path.abspath(sys.executable))
    words = [*launcher(interpreter, sys.platform, lambda path: Path(path).is_file()), "mcp", "serve"]
    words += ["--vault", os.path.abspath(root_of(shared))]
    if shared.namespace is not None:
        words += ["--namespace", shared.namespace]
    if shared.tz is not None:
        zone_named(shared.tz, "--tz")
        words += ["--tz", shared.tz]
    try:
        " ".join(words).encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            "a path of the command line is no Unicode text", "Rename the folder: settings files are UTF-8."
        ) from error
    return (*words, *(["--read-only"] if read_only else []))


def add_line(choice: Choice) -> str:
    """The client's own command that enters the same; "" where it has none."""
    match choice.client.id:
        case "claude-code":
            words = ["claude", "mcp", "add", "--scope", choice.scope, choice.name, "--", *choice.argv]
        case "codex" if choice.scope == USER:
            words = ["codex", "mcp", "add", choice.name, "--", *choice.argv]
        case _:
            return ""
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)


def notes_of(choice: Choice, done: writing.Installed, seen: bool) -> list[str]:
    """What the user should know of the place, and of the settings that the client will not see."""
    notes = []
    if done.plan.before is None and not seen:
        notes.append(f"{choice.client.title} was not seen on this machine")
    if choice.path.is_symlink():
        notes.append(f"{choice.path} is a symlink: the file that changes is {done.target}")
    if choice.scope == PROJECT:
        notes.append("the entry holds paths of this machine: keep it out of what others check out")
    if fleeting(choice.argv[0]):
        notes.append(
            f"{choice.argv[0]} lies in a cache that is cleared now and then: install huimem for good"
        )
    unseen = sorted(name for name in os.environ if name.startswith("HUIMEM_") and name != "HUIMEM_VAULT")
    if unseen:
        notes.append(f"{', '.join(unseen)}: set here, maybe not where the client runs; better in your config")
    return notes


def render_installed(choice: Choice, done: writing.Installed, dry_run: bool) -> str:
    """Where, the backup, the diff."""
    state = "" if done.plan.changes else " (already set up)"
    if dry_run and done.plan.changes:
        state = " (nothing written)"
    rows = [f"settings: {visible_line(str(choice.path))}{state}"]
    if done.backup:
        rows.append(f"backup: {visible_line(str(done.backup))}")
    return "\n".join([*rows, visible(done.plan.diff)] if done.plan.diff else rows)


def tried(entry: Mapping[str, object]) -> Trial:
    """Start the server as the client would: its command, arguments, variables and folder."""
    command, args = entry.get("command"), entry.get("args")
    argv = [str(command), *(str(word) for word in (args if isinstance(args, list) else []))]
    given = entry.get("env")
    own = {
        name: value
        for name, value in (given.items() if isinstance(given, Mapping) else ())
        if isinstance(value, str) and "${" not in value  # the client's own placeholders
    }
    folder = entry.get("cwd")
    usable = isinstance(folder, str) and os.path.isdir(folder)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("HUIMEM_")}
    return try_out(argv, {**inherited, **own}, str(folder) if usable else str(Path.home()))


def tell_trial(choice: Choice, trial: Trial) -> None:
    if not trial.error:
        print_text(
            f"self-test: {trial.tools} {'tool' if trial.tools == 1 else 'tools'}, {trial.seconds:.1f} s"
        )
        return
    print_text("self-test: failed")
    say_error(visible_line(failure(trial)), remedy(choice.argv))


def failure(trial: Trial) -> str:
    last = f"; it said: {visible_line(trial.last)[:300]}" if trial.last else ""
    return f"the server does not work as entered: {trial.error}{last}"


def remedy(argv: Sequence[str]) -> str:
    line = subprocess.list2cmdline(argv) if sys.platform == "win32" else shlex.join(argv)
    return f"The entry stays written. See what this says, and install again: {visible_line(line)}"


def installed_document(
    choice: Choice, done: writing.Installed, notes: Sequence[str], trial: Trial | None
) -> dict[str, object]:
    """What was done, for programs. `self_test` is null where none was made."""
    return {
        "client": choice.client.id,
        "scope": choice.scope,
        "name": choice.name,
        "path": str(choice.path),
        "target": str(done.target),
        "command": list(choice.argv),
        "changes": done.plan.changes,
        "written": done.written,
        "backup": str(done.backup) if done.backup else None,
        "diff": done.plan.diff,
        "notes": list(notes),
        "self_test": None if trial is None else trial_document(choice, trial),
        "next": choice.client.todo,
    }


def trial_document(choice: Choice, trial: Trial) -> dict[str, object]:
    return {
        "ok": not trial.error,
        "tools": trial.tools,
        "seconds": round(trial.seconds, 2),
        "error": failure(trial) if trial.error else None,
        "hint": remedy(choice.argv) if trial.error else None,
    }

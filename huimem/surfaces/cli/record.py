"""`huimem record`: messages from standard input → turns in a session's file, and their refs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import click

from huimem.errors import UsageError
from huimem.surfaces.cli.answering import linger, memory_of
from huimem.surfaces.cli.opening import refuse_many
from huimem.surfaces.cli.options import Shared, Verb, moment
from huimem.surfaces.cli.printing import print_document, print_text
from huimem.surfaces.cli.reading import read_input

Given = Mapping[str, object]
_SHAPES = 'Send a JSON list of {"role": …, "content": …}, one such object a line, or plain text with --role.'


EXAMPLES = """\
echo "I only trade on Wednesdays." | huimem record --role user --title Trading
huimem record --session chat_2026-04-06_091423 < messages.json"""


@click.command(cls=Verb, epilog=EXAMPLES)
@click.option("--session", metavar="ID", help="Append to this session, or make it.")
@click.option("--title", metavar="T", help="The title of a new session.")
@click.option("--at", metavar="TIME", help="When messages without a time were said; else now.")
@click.option("--role", metavar="R", help="Take the input as plain text, said by R.")
@click.pass_obj
def command(shared: Shared, session: str | None, title: str | None, at: str | None, role: str | None) -> int:
    """Append messages from standard input to a session; print one ref a turn.

    Recording the same messages again changes nothing; a grown list adds what is new.
    """
    refuse_many(shared, "Name one to record to; ** is for looking in several.")
    messages = messages_of(read_input(shared, "messages"), role)
    with memory_of(shared) as (memory, now):
        refs = memory.record(
            messages,
            session=session,
            title=title,
            namespace=shared.namespace,
            now=moment(at, memory.zone, "--at") if at else now,
        )
        if shared.json:
            print_document({"refs": [str(ref) for ref in refs]})
        else:
            print_text("\n".join(str(ref) for ref in refs))
        for warning in memory.vault.warnings:
            shared.say(f"warning: {warning}")
        linger(shared, memory)
    return 0


def messages_of(text: str, role: str | None) -> Sequence[Given]:
    """The messages in an input: plain text said by `role`, a JSON list, one object, or an object a line.

    Raises `UsageError` with the place of the fault and never with what was said.
    """
    if not text.strip():
        raise UsageError("standard input holds no messages", _SHAPES)
    if role is not None:
        return [{"role": role, "content": text}]
    try:
        found = _whole(text)
    except RecursionError as error:
        raise UsageError("standard input is nested too deeply", _SHAPES) from error
    if isinstance(found, dict) and isinstance(found.get("messages"), list):
        found = found["messages"]
    return [
        _object(item, number) for number, item in enumerate(found if isinstance(found, list) else [found], 1)
    ]


def _object(item: object, number: int) -> Given:
    if not isinstance(item, dict):
        raise UsageError(f"message {number} is no JSON object", _SHAPES)
    return item


def _whole(text: str) -> object:
    """The one JSON value of a text, or the values of its lines."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        if error.msg != "Extra data" or not text.lstrip().startswith("{"):
            raise _not_json(error, error.lineno) from None
    return [_line(line, number) for number, line in enumerate(text.split("\n"), 1) if line.strip()]


def _line(line: str, number: int) -> object:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise _not_json(error, number) from None


def _not_json(error: json.JSONDecodeError, line: int) -> UsageError:
    return UsageError(f"standard input is not JSON (line {line}, column {error.colno}: {error.msg})", _SHAPES)

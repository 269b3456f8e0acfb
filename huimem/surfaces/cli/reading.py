"""Standard input → text. What people say comes this way and never as an argument."""

from __future__ import annotations

import sys

from huimem.errors import UsageError
from huimem.surfaces.cli.options import Shared


def read_input(shared: Shared, what: str) -> str:
    """All of standard input as text; on a terminal it says what is waited for. Raises `UsageError`."""
    if sys.stdin is None:
        raise UsageError("standard input is closed", f"Send {what} through a pipe or from a file.")
    if sys.stdin.isatty():
        shared.say(f"Reading {what} from the terminal; Ctrl-D ends it.")
    data = sys.stdin.buffer.read()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"standard input is not UTF-8 (byte {error.start})", "Convert it first: iconv -t UTF-8."
        ) from error

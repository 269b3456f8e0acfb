"""Standard input → text. What people say comes this way and never as an argument."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import BinaryIO

from huimem.errors import UsageError
from huimem.surfaces.cli.options import Shared


def read_lines(shared: Shared, what: str) -> Iterator[str]:
    """The lines of standard input without their ends, each as soon as it is there. Raises `UsageError`."""
    data = _standard_input(shared, what)
    for number, line in enumerate(data, 1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise UsageError(
                f"line {number} of standard input is not UTF-8 (byte {error.start})",
                "Convert it first: iconv -t UTF-8.",
            ) from error


def read_input(shared: Shared, what: str) -> str:
    """All of standard input as text. Raises `UsageError`."""
    data = _standard_input(shared, what).read()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"standard input is not UTF-8 (byte {error.start})", "Convert it first: iconv -t UTF-8."
        ) from error


def _standard_input(shared: Shared, what: str) -> BinaryIO:
    """Standard input as bytes; on a terminal it says what is waited for."""
    if sys.stdin is None:
        raise UsageError("standard input is closed", f"Send {what} through a pipe or from a file.")
    if sys.stdin.isatty():
        shared.say(f"Reading {what} from the terminal; Ctrl-D ends it.")
    return sys.stdin.buffer

"""Text and documents → standard output; talk → standard error. All that is said goes through here."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import TextIO

from huimem.errors import HuimemError
from huimem.surfaces.cli.visible import visible, visible_json


class OutputFailed(HuimemError):
    """Standard output cannot be written; the message says why."""

    exit_code = 74


def print_text(text: str) -> None:
    """Print text, already made visible, and a line's end; nothing for no text. Raises `OutputFailed`."""
    if text:
        _write(sys.stdout, text)


def print_document(document: Mapping[str, object], *, one_line: bool = False) -> None:
    """Print one JSON document, in UTF-8 whatever the terminal's encoding. Raises `OutputFailed`."""
    text = json.dumps(document, ensure_ascii=False, indent=None if one_line else 2, allow_nan=False)
    _write(sys.stdout, visible_json(text), "utf-8")


def say(text: str) -> None:
    """Print talk on standard error. Where that cannot be written, the work goes on."""
    if text:
        with suppress(OSError, ValueError, OutputFailed):
            _write(sys.stderr, visible(text))


def say_error(message: str, hint: str = "") -> None:
    """Print what went wrong and what to do about it."""
    say(f"huimem: {message}" + (f"\nhint: {hint}" if hint else ""))


def _write(stream: TextIO | None, text: str, encoding: str | None = None) -> None:
    """Write a line at once, so that data and talk keep their order and a full disk is noticed here."""
    if stream is None:
        raise OutputFailed("standard output is closed", "Leave it open, or send it to a file.")
    data = f"{text}\n".encode(encoding or stream.encoding or "utf-8", "backslashreplace")
    try:
        stream.flush()
        stream.buffer.write(data)
        stream.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputFailed(
            f"standard output cannot be written: {reason}", "Free some space, or send it elsewhere."
        ) from error

"""JSON values of any type → the type that is wanted: whoever wrote an export may have written anything."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, tzinfo

from huimem.vault.moments import read_moment
from huimem.vault.text import whole

# Numbers from here on count milliseconds, from the next microseconds: seconds would be past the year 5000.
_MILLISECONDS, _MICROSECONDS = 1e11, 1e14
# Smaller numbers (before March 1973) are no times: 0, a count, a year.
_FIRST, _LAST = 1e8, datetime(9998, 12, 30, tzinfo=UTC).timestamp()
_NUMBER = re.compile(r"[0-9]{9,17}(?:\.[0-9]*)?")

Item = Mapping[str, object]


def text_of(value: object) -> str:
    """A text as it is, "" for anything else."""
    return value if isinstance(value, str) else ""


def one_line(value: object) -> str:
    """A text as one line without blanks at its ends, "" for anything else."""
    return " ".join(whole(text_of(value)).split())


def line_of(value: object) -> str:
    """A text as one line; a whole number, as ids may be, as it is written; else ""."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else one_line(value)


def mapping_of(value: object) -> Item:
    return value if isinstance(value, dict) else {}


def list_of(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()


def blocks_of(value: object) -> Sequence[object]:
    """What a content is made of: a text alone is one block."""
    return [value] if isinstance(value, str) else list_of(value)


def first_line(item: Item, *names: str) -> str:
    """The first of these fields that holds a line of text, "" where none does."""
    return next((line for name in names if (line := line_of(item.get(name)))), "")


def instant_of(value: object, zone: tzinfo = UTC) -> datetime | None:
    """An instant, from seconds or milliseconds since 1970 or an ISO text; else None.

    A text without an offset is a wall clock of `zone`.
    """
    if isinstance(value, str):
        if not _NUMBER.fullmatch(value.strip()):
            return read_moment(value, zone)
        value = float(value)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    with suppress(ValueError, OverflowError):
        seconds = value / (1e6 if value >= _MICROSECONDS else 1e3 if value >= _MILLISECONDS else 1)
        return datetime.fromtimestamp(seconds, UTC) if _FIRST <= seconds < _LAST else None
    return None

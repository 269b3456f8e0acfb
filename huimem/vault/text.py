"""The text of messages: from bytes, and into its normal form.

In: any bytes or string. Out: the form in which texts are kept and compared.
"""

from __future__ import annotations

import re
from contextlib import suppress

_SURROGATE = re.compile(r"[\ud800-\udfff]")


def decode(data: bytes) -> tuple[str, int | None]:
    """`data` as text from which `encode` makes the same bytes again, and where it is not UTF-8 (or None).

    The offset of the first wrong byte counts characters; `legible` shows such bytes as U+FFFD.
    """
    try:
        return data.decode(), None
    except UnicodeDecodeError as error:
        return data.decode("utf-8", "surrogateescape"), len(data[: error.start].decode())


def no_text(text: str, wrong_byte: int | None) -> list[tuple[int, str, str]]:
    """What `decode` met that is no text: its offset in characters, what it is, what to do."""
    found = []
    if wrong_byte is not None:
        message = "not UTF-8 from here on: shown with U+FFFD, kept as it is"
        found.append((wrong_byte, message, "save the file as UTF-8"))
    if (nul := text.find("\x00")) >= 0:
        remedy = "delete it; a file that has them everywhere is UTF-16 and must be saved as UTF-8"
        found.append((nul, "a NUL byte, perhaps not the only one: kept as it is", remedy))
    return found


def encode(text: str) -> bytes:
    """The bytes that `decode` read."""
    return text.encode("utf-8", "surrogateescape")


def legible(text: str) -> str:
    """Decoded text with U+FFFD for what is not UTF-8."""
    return encode(text).decode("utf-8", "replace") if _SURROGATE.search(text) else text


def whole(text: str) -> str:
    """`text` without surrogates: pairs become the character they mean, single halves U+FFFD."""
    if text.isascii():
        return text
    with suppress(UnicodeEncodeError):  # much faster than looking for one
        text.encode()
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def normal(text: str) -> str:
    """`text` with `\\n` line ends, no blank first or last lines, no lone surrogates. Idempotent.

    A carriage return inside a line stays; indentation and trailing blanks stay.
    """
    return trim(text)[0]


def trim(text: str) -> tuple[str, int]:
    """The normal form of `text` and the number of lines left out before it."""
    text = whole(text)
    if text and "\r" not in text and not text[0].isspace() and not text[-1].isspace():
        return text, 0
    lines = text.split("\n")
    if "\r" in text:
        lines = [line.rstrip("\r") for line in lines]
    first, last = 0, len(lines)
    while first < last and not lines[first].strip():
        first += 1
    while last > first and not lines[last - 1].strip():
        last -= 1
    return "\n".join(lines[first:last]), first

"""The text of messages: from bytes, and into its normal form.

In: any bytes or string. Out: the form in which texts are kept and compared.
"""

from __future__ import annotations

import re

_SURROGATE = re.compile(r"[\ud800-\udfff]")


def decode(data: bytes) -> tuple[str, int | None]:
    """`data` as text from which `encode` makes the same bytes again, and where it is not UTF-8 (or None).

    The offset of the first wrong byte counts characters; `legible` shows such bytes as U+FFFD.
    """
    try:
        return data.decode(), None
    except UnicodeDecodeError as error:
        return data.decode("utf-8", "surrogateescape"), len(data[: error.start].decode())


def encode(text: str) -> bytes:
    """The bytes that `decode` read."""
    return text.encode("utf-8", "surrogateescape")


def legible(text: str) -> str:
    """Decoded text with U+FFFD for what is not UTF-8."""
    return encode(text).decode("utf-8", "replace") if _SURROGATE.search(text) else text


def normal(text: str) -> str:
    """`text` with `\\n` line ends, no blank first or last lines, no lone surrogates. Idempotent.

    A carriage return inside a line stays; indentation and trailing blanks stay.
    """
    return trim(text)[0]


def trim(text: str) -> tuple[str, int]:
    """The normal form of `text` and the number of lines left out before it."""
    if _SURROGATE.search(text):  # pairs become the character they mean, single halves U+FFFD
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    lines = text.split("\n")
    if "\r" in text:
        lines = [line.rstrip("\r") for line in lines]
    first, last = 0, len(lines)
    while first < last and not lines[first].strip():
        first += 1
    while last > first and not lines[last - 1].strip():
        last -= 1
    return "\n".join(lines[first:last]), first

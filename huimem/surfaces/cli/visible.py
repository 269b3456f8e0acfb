"""Stored text → text that a terminal can only show: what would steer it becomes a visible escape."""

from __future__ import annotations

import re

# Controls but tab and line feed, C1 controls, marks that turn the direction of text, lone surrogates.
_STEERING = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def visible(text: str) -> str:
    r"""`text` with every steering character written out, as `\x1b` or `\u202e`; lines and tabs stay."""
    return _STEERING.sub(_escaped, text)


def visible_line(text: str) -> str:
    """`text` on one line: blanks of any length, ends of lines too, become one blank."""
    return visible(" ".join(text.split()))


def visible_json(document: str) -> str:
    r"""JSON in which the same characters stand as `\uXXXX`: still the same document, and valid UTF-8."""
    return _STEERING.sub(
        lambda found: f"\\u{ord(found[0]):04x}" if found[0] not in "\n\r" else found[0], document
    )


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"

"""Stored text → text that a terminal can only show: what would steer it becomes a visible escape."""

from __future__ import annotations

import json
import re

# Controls but tab and line feed, C1 controls, marks that turn the direction of text, what nobody sees (soft
# hyphens, blanks without width, tags), lone surrogates. Joiners stay: letters and emoji need them.
_STEERING = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    r"\ud800-\udfff\U000e0000-\U000e007f]"
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
        lambda found: found[0] if found[0] in "\n\r" else json.dumps(found[0])[1:-1], document
    )


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"

"""The first bytes of a document → what it is made of, so that each importer knows its own.

In: a name and the head of a file, perhaps cut off anywhere. Out: the paths of the keys that stand in
it, such as `mapping`, `author.role` or `conversations[].mapping`; an outer array, or lines, add nothing.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

HEAD = 256 << 10
# Keys looked at: enough to meet the second message of any conversation.
MOST = 4_000

_LINES = (".jsonl", ".ndjson")
_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*+)"(\s*:)?|["{}\[\]]', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Glance:
    """What a head shows: paths of `keys`; one outer `array`; `lines` of values; the `text` itself."""

    name: str
    text: str
    keys: frozenset[str]
    array: bool = False
    lines: bool = False

    def holds(self, *paths: str) -> bool:
        """Whether any of these keys stands in the head."""
        return not self.keys.isdisjoint(paths)


def glance(name: str, head: bytes) -> Glance:
    """What the head of a document shows; anything but JSON shows no keys."""
    text = head.decode("utf-8-sig", "replace")
    begin = text.lstrip()[:1]
    if begin not in ("{", "["):
        return Glance(name, text, frozenset())
    keys, values = _keys(text)
    lines = values > 1 or (values == 1 and name.lower().endswith(_LINES) and not _pretty(text))
    return Glance(name, text, keys, begin == "[" and not lines, lines)


def _pretty(text: str) -> bool:
    """Whether the first value goes on behind its first line."""
    first = text.lstrip().split("\n", 1)
    try:
        json.loads(first[0])
    except (ValueError, RecursionError):
        return len(first) > 1
    return False


def _keys(text: str) -> tuple[frozenset[str], int]:
    """Paths of the keys of a text, and how many values begin at its top."""
    found: set[str] = set()
    stack: list[str] = []  # per open bracket: the path of what it holds
    key, values, seen = "", 0, 0
    for token in _TOKEN.finditer(text):
        character = token[0][0]
        if token[0] == '"':
            break
        if token[2] and stack:
            key = f"{stack[-1]}.{token[1]}".lstrip(".")
            found.add(key)
            seen += 1
            if seen > MOST:
                break
        elif character in "{[":
            values += not stack
            inside = key if stack and character == "{" else f"{key}[]" if stack else ""
            stack.append(_path(stack, key, inside, character))
            key = ""
        elif character in "}]" and stack:
            stack.pop()
            key = ""
    return frozenset(found), values


def _path(stack: list[str], key: str, inside: str, character: str) -> str:
    """The path of what a bracket holds: that of its key; in an array, that of the array."""
    if key:
        return inside
    if not stack:
        return ""
    return stack[-1] if character == "{" or not stack[-1] else f"{stack[-1]}[]"

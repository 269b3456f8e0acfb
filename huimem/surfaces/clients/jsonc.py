"""JSON with comments and trailing commas → where each value stands in the text.

Nothing is thrown away: an edit cuts into the text itself. A fault is told by line and column alone,
never by what stands there. Large files are mostly values that nobody asks into: these are read whole,
by Python's own fast reader.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container
from dataclasses import dataclass
from typing import NoReturn

_BLANK = re.compile(r"[ \t\r\n]*")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"')
_SCALAR = re.compile(
    r"(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![\w.+-])", re.ASCII
)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_WHOLE = json.JSONDecoder(parse_constant=_no_number)


class Fault(Exception):
    """A text is not what it should be, at a line and column, both 1-based."""

    def __init__(self, message: str, line: int, column: int = 1) -> None:
        super().__init__(message)
        self.message, self.line, self.column = message, line, column


@dataclass(frozen=True, slots=True)
class Node:
    """A value at `text[start:end]`; `kind` is `object`, `array` or, for what has no parts here, `whole`."""

    kind: str
    start: int
    end: int
    members: tuple[Member, ...] = ()
    items: tuple[Node, ...] = ()

    def last(self, key: str) -> Member | None:
        """The member that counts where a key stands more than once."""
        return next((member for member in reversed(self.members) if member.key == key), None)


@dataclass(frozen=True, slots=True)
class Member:
    """A key of an object; `start` is where the key stands, `comma` where the comma behind the value does."""

    key: str
    start: int
    value: Node
    comma: int | None


@dataclass(frozen=True, slots=True)
class Document:
    """`root` is None for a text without a value.

    `relaxed`: where the first comment or trailing comma stands.
    """

    text: str
    root: Node | None
    relaxed: int | None

    def line(self, at: int) -> int:
        return self.text.count("\n", 0, at) + 1


def parse(text: str, parts_of: Container[str] | None = None) -> Document:
    """The value that a text holds, with its places. Raises `Fault`.

    Of the members of the outermost object only those of the keys `parts_of` are taken apart; None: all.
    """
    reader = _Reader(text, parts_of)
    try:
        reader.skip()
        root = reader.value() if reader.at < len(text) else None
        reader.skip()
    except RecursionError:
        raise reader.fault("it is nested too deeply") from None
    if reader.at < len(text):
        raise reader.fault("something stands behind its end")
    return Document(text, root, reader.relaxed)


def plain(text: str, node: Node) -> object:
    """A node as Python's own values; of a key that stands twice the last one counts."""
    if node.kind == "object":
        return {member.key: plain(text, member.value) for member in node.members}
    if node.kind == "array":
        return [plain(text, item) for item in node.items]
    return json.loads(text[node.start : node.end])


class _Reader:
    """A place in a text that moves forward."""

    def __init__(self, text: str, parts_of: Container[str] | None) -> None:
        self.text, self.at, self.depth = text, 0, 0
        self.parts_of = parts_of
        self.relaxed: int | None = None

    def fault(self, message: str) -> Fault:
        before = self.text[: self.at]
        return Fault(message, before.count("\n") + 1, self.at - (before.rfind("\n") + 1) + 1)

    def loosely(self, at: int) -> None:
        self.relaxed = at if self.relaxed is None else self.relaxed

    def skip(self) -> None:
        """Move over blanks and comments."""
        self.at = _end(_BLANK, self.text, self.at)
        while self.text.startswith("/", self.at) and (found := _COMMENT.match(self.text, self.at)):
            self.loosely(self.at)
            self.at = _end(_BLANK, self.text, found.end())

    def sees(self, mark: str) -> bool:
        return self.text.startswith(mark, self.at)

    def value(self) -> Node:
        if self.sees("{"):
            return self.structure("object", "}")
        if self.sees("["):
            return self.structure("array", "]")
        pattern = _STRING if self.sees('"') else _SCALAR
        return Node("whole", self.at, self.over(pattern, "no value stands here"))

    def whole(self) -> Node:
        """A value that is not taken apart, unless it is loosely written: then it must be."""
        start = self.at
        try:
            _, self.at = _WHOLE.raw_decode(self.text, start)
        except (ValueError, RecursionError):
            return self.value()
        return Node("whole", start, self.at)

    def over(self, pattern: re.Pattern[str], message: str) -> int:
        """Move over a token; where it ends."""
        found = pattern.match(self.text, self.at)
        if not found:
            raise self.fault(message)
        self.at = found.end()
        return self.at

    def structure(self, kind: str, closing: str) -> Node:
        start = self.at
        members: list[Member] = []
        items: list[Node] = []
        self.at += 1
        self.depth += 1
        self.skip()
        comma: int | None = None
        while not self.sees(closing):
            if (members or items) and comma is None:
                raise self.fault("a comma or a closing bracket is missing")
            if kind == "object":
                member, comma = self.member()
                members.append(member)
            else:
                items.append(self.value())
                comma = self.comma()
        if comma is not None:
            self.loosely(comma)
        self.at += 1
        self.depth -= 1
        return Node(kind, start, self.at, tuple(members), tuple(items))

    def member(self) -> tuple[Member, int | None]:
        start = self.at
        end = self.over(_STRING, "a key in double quotes is missing")
        self.skip()
        if not self.sees(":"):
            raise self.fault("a colon is missing")
        self.at += 1
        self.skip()
        key = json.loads(self.text[start:end])
        asked = self.depth > 1 or self.parts_of is None or key in self.parts_of
        value = self.value() if asked else self.whole()
        comma = self.comma()
        return Member(key, start, value, comma), comma

    def comma(self) -> int | None:
        """Move over the comma that may follow a value, and over blanks; where it stands."""
        self.skip()
        if not self.sees(","):
            return None
        at = self.at
        self.at += 1
        self.skip()
        return at


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at

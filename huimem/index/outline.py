"""Text → the parts that a passage may be made of, and how well it may be cut between them.

In: a message's text. Out: sentences, list items, table rows and lines of code, none longer than a passage;
for the border before each, how good a place it is to cut, and which parts form a block that reads whole.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import IntEnum

from huimem.index.sentences import pieces, sentences, size
from huimem.markup import fences

# Passage sizes in units. 40–80 words is where passage BM25 and e5 vectors agree best on chat text.
LEAST, MOST = 40, 80
LONGEST = MOST + LEAST  # what no passage passes, whatever stands in it
LONG_LEAD = MOST - LEAST // 2  # of a longer sentence only the end stays with what it announces


class Border(IntEnum):
    """How good a place to cut the border before a part is."""

    NEVER = 0  # after a heading, a lead-in or the head of a table: they go with what follows
    WORD = 1  # inside a line of code, a row, or a sentence that is too long
    LINE = 2  # lines of code; sentences inside a list item
    SUBPART = 3  # items inside an item, paragraphs of code, lines of a quote, rows
    PART = 4  # sentences, list items, definitions in code
    PARAGRAPH = 5  # an empty line or a heading: a passage that is long enough ends here


class _Kind(IntEnum):
    TEXT, HEADING, ITEM, QUOTE, TABLE, CODE = range(6)


# The border between two sentences of one line, by what the line is.
_WITHIN = (Border.PART, Border.NEVER, Border.LINE, Border.LINE, Border.WORD, Border.WORD)

_SPECIAL = frozenset(" \t#|>*-+•·●▪–0123456789(（①②③④⑤⑥⑦⑧⑨⑩一二三四五六七八九十")
_LINE = re.compile(
    r"[ \t]*(?:(#{1,6}[ \t])|(\|)|(>)"
    r"|((?:[-*+•·●▪–]|\d{1,3}[.)])(?=\s)|\d{1,3}[、．]|[（(]\d{1,2}[)）]|[①-⑩]|[一二三四五六七八九十]{1,3}、)"
    r"|(\*\*[^*\n]+\*\*[:：]?[ \t\r]*$))",
    re.MULTILINE,
)
_HEADING, _ROW, _QUOTE, _ITEM, _BOLD = 1, 2, 3, 4, 5
_RULE = re.compile(r"\s*([-*_=])(?:[ \t]*\1){2,}\s*")
_DELIMITERS = re.compile(r"[ \t]*\|[ \t:|-]*-[ \t:|-]*\s*")
_DEFINITION = re.compile(
    r"@|(?:async |export |default |public |private |static |pub |abstract )*"
    r"(?:def|class|function|func|fn|struct|enum|interface|type|impl|trait|module|const|CREATE|SELECT)\b"
)
_OPENING = ("@", "#", "//", "/*", "--")  # a line like this belongs to the definition below it
_COLONS = (":", "：")


@dataclass(slots=True)
class Outline:
    """Parts of a text in order, as parallel lists.

    `starts`: where each begins; the first at 0, each ends where the next begins. `upto`: units before each,
    with the sum of all at the end. `borders`: of the border before each. `blocks`: the number of the block
    that each stands in, -1 for none; `spans`: the first and the last part of each block.
    """

    starts: list[int] = field(default_factory=list)
    upto: list[int] = field(default_factory=lambda: [0])
    borders: list[int] = field(default_factory=list)
    blocks: list[int] = field(default_factory=list)
    spans: list[list[int]] = field(default_factory=list)


def outline(text: str) -> Outline:
    """The parts of `text`, which does not end in a blank. Linear in it."""
    reader = _Reader(text)
    for start, end in sentences(text):
        units = size(text[start:end])
        if units:
            reader.read(start, end, units)
    return reader.made


class _Reader:
    """Where the reading of a text stands: the block it is in, and what must stay with what comes next."""

    __slots__ = (
        "_bare",
        "_block",
        "_fence",
        "_fences",
        "_glued",
        "_indent",
        "_kind",
        "_run",
        "_text",
        "made",
    )

    def __init__(self, text: str) -> None:
        self.made = Outline()
        self._text = text
        self._fences = fences(text)[::-1] if "```" in text or "~~~" in text else []
        self._fence: tuple[int, int] | None = None  # the one being read
        self._kind, self._block, self._indent = _Kind.TEXT, -1, 0
        self._glued, self._run = False, 0  # units since the last border that may be cut
        self._bare = False  # of an item, only "1." so far: that was cut off as if it were a sentence

    def read(self, start: int, end: int, units: int) -> None:
        """Add the sentence or line at [start, end), of `units` > 0."""
        text, self._bare = self._text, False
        at_line = not start or text[start - 1] == "\n"
        ordinary = self._kind is _Kind.TEXT and not self._glued and units <= MOST
        if ordinary and not at_line and text[end - 1] != "\n":  # most are sentences in a line
            self._append(start, units, Border.PART)
            self._run = units
            return
        border = self._line(start, end) if at_line else _WITHIN[self._kind]
        kind = self._kind
        if kind is _Kind.HEADING:
            keeps = True
        elif kind is _Kind.CODE:
            keeps = at_line and self._opens(start)
        elif kind is _Kind.TABLE:
            keeps = self._delimits(start, end)
        else:
            keeps = text[end - 1] == "\n" and text[start:end].rstrip(" \t\r\n*_").endswith(_COLONS)
            keeps = keeps or self._bare or (self._glued and _RULE.fullmatch(text, start, end) is not None)
        if self._glued:
            border = Border.NEVER
        self._add(start, end, units, border, keeps)

    def _add(self, start: int, end: int, units: int, border: int, keeps: bool) -> None:
        run = 0 if border else self._run
        if run + min(units, LEAST) > LONGEST:  # the end of a fence below a line that fills a passage
            border, run = Border.WORD, 0
        if units > MOST or run + units > LONGEST or (keeps and units > LONG_LEAD):
            most = MOST if border and not keeps else LEAST
            for a, b in pieces(self._text, start, end, most):
                cost = size(self._text[a:b])
                if cost:
                    self._append(a, cost, border)
                    self._run, border = cost, Border.WORD
        else:
            if keeps and run + units > MOST:  # headings without end
                border, run = border or Border.WORD, 0
            self._append(start, units, border)
            self._run = run + units
        self._glued = keeps

    def _append(self, start: int, units: int, border: int) -> None:
        made = self.made
        made.starts.append(start if made.starts else 0)
        made.upto.append(made.upto[-1] + units)
        made.borders.append(border)
        block = self._block
        made.blocks.append(block)
        if block >= 0:
            made.spans[block][1] = len(made.starts) - 1

    def _line(self, start: int, end: int) -> int:
        """What the line that begins at `start` is; the border before it."""
        text = self._text
        if self._fences or self._fence:
            border = self._code(start, end)
            if border is not None:
                return border
        blank = start > 1 and _after_blank(text, start)
        mark = _LINE.match(text, start) if text[start] in _SPECIAL else None
        if mark is None:
            return self._plain(start, blank)
        sort = mark.lastindex
        if sort == _ITEM:
            self._bare = mark.end() >= end
            return self._item(mark.start(_ITEM) - start, blank)
        outer = Border.PARAGRAPH if blank else Border.PART
        # A table or a quote inside an item is part of it.
        if self._kind is _Kind.ITEM and text[start] in " \t" and sort != _HEADING:
            return Border.SUBPART
        if sort in (_ROW, _QUOTE):
            kind = _Kind.TABLE if sort == _ROW else _Kind.QUOTE
            if self._kind is kind and not blank:
                return Border.SUBPART
            self._open(kind)
            return outer
        self._kind, self._block = _Kind.HEADING, -1
        return Border.PARAGRAPH if sort == _HEADING else outer

    def _plain(self, start: int, blank: bool) -> int:
        """An ordinary line: it goes on with an item that it follows at once or stands under."""
        if self._kind is _Kind.ITEM and (not blank or self._text[start] in " \t"):
            return Border.SUBPART if blank else Border.LINE
        self._kind, self._block = _Kind.TEXT, -1
        return Border.PARAGRAPH if blank else Border.PART

    def _item(self, indent: int, blank: bool) -> int:
        if self._kind is _Kind.ITEM and indent > self._indent + 1:
            return Border.SUBPART
        if self._kind is not _Kind.ITEM or indent < self._indent:
            self._indent = indent
        self._open(_Kind.ITEM)
        return Border.PARAGRAPH if blank else Border.PART

    def _open(self, kind: _Kind) -> None:
        self._kind, self._block = kind, len(self.made.spans)
        self.made.spans.append([len(self.made.starts), -1])

    def _code(self, start: int, end: int) -> int | None:
        """The border before a line of code, None for another line."""
        if self._fence and start >= self._fence[1]:
            self._fence, self._kind, self._block = None, _Kind.TEXT, -1
        text = self._text
        if self._fence is None:
            while self._fences and self._fences[-1][1] <= start:
                self._fences.pop()
            if not self._fences or start < self._fences[-1][0]:
                return None
            blank, inside = start > 1 and _after_blank(text, start), self._kind is _Kind.ITEM
            self._fence = self._fences.pop()
            self._open(_Kind.CODE)
            if inside and text[start] in " \t":
                return Border.SUBPART
            return Border.PARAGRAPH if blank else Border.PART
        if end >= self._fence[1]:
            return Border.NEVER
        outermost = text[start] not in " \t)]}"
        if _after_blank(text, start):
            return Border.PART if outermost else Border.SUBPART
        defines = outermost and _DEFINITION.match(text, start) and not self._introduced(start)
        return Border.SUBPART if defines else Border.LINE

    def _introduced(self, start: int) -> bool:
        """Whether the line above belongs to the definition at `start`: a decorator or a comment."""
        return self._text.startswith(_OPENING, self._text.rfind("\n", 0, start - 1) + 1)

    def _opens(self, start: int) -> bool:
        """Whether the line at `start` opens the fence that is being read."""
        return self._fence is not None and start <= self._fence[0]

    def _delimits(self, start: int, end: int) -> bool:
        """Whether this row parts the head of a table from its body; the head is then bound to it."""
        if not _DELIMITERS.fullmatch(self._text, start, end):
            return False
        made = self.made
        head, here = made.spans[self._block][0], len(made.starts)
        first = min(head, here - 1)
        while first > 0 and made.borders[first] == Border.NEVER:
            first -= 1
        run = made.upto[-1] - made.upto[first]
        if head < here and run <= LEAST:
            made.borders[head + 1 :] = [int(Border.NEVER)] * (here - head - 1)
            self._run, self._glued = run, True
        return True


def _after_blank(text: str, start: int) -> bool:
    """Whether an empty line stands above the one that begins at `start`."""
    at = start - 2
    while at >= 0 and text[at] in " \t\r":
        at -= 1
    return at < 0 or text[at] == "\n"

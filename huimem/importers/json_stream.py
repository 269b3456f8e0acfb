"""A stream of JSON, however long → its values one by one; one that is broken costs only itself.

In: bytes of an array, of an object that wraps one, of one object, or of lines. Out: the values in order,
with a `Fault` for each that cannot be read. Memory is bounded by the longest single value.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import BinaryIO

CHUNK = 1 << 20
# Characters of one value: what is longer is no conversation.
LONGEST = 128 << 20

_BLANKS = re.compile(r"[ \t\r\n]*")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|["{}\[\]]', re.DOTALL)
_BOUND = re.compile(r"[,\]}\n]")
# Where, behind something broken, the next value may begin.
_NEXT = re.compile(r"(?<=[,\s}\]])\{")
_PARTNER = {"{": "}", "[": "]"}
_MOST_ASTRAY = 100  # each time the rest may have to be looked through
_TAIL = 16  # characters at the end of a text that may be half a word, a number or an escape


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a value cannot be read; `last` where nothing can be read after it."""

    reason: str
    last: bool = False


class _Text:
    """The text of a stream from where it was read to: `text[at:]`, made longer when more is wanted."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._decode = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._scan: Callable[[str, int], tuple[object, int]] = json.JSONDecoder(strict=False).raw_decode
        self.text, self.at, self.ended = "", 0, False
        self.astray = 0  # how often brackets were lost, so that they tell nothing any more

    def more(self) -> bool:
        """Read on, twice as far the longer it gets; False at the end."""
        if self.ended:
            return False
        data = self._stream.read(max(CHUNK, len(self.text) - self.at))
        self.ended = not data
        self.text = self.text[self.at :] + self._decode.decode(data, self.ended)
        self.at = 0
        return not self.ended

    def peek(self) -> str:
        """The next character that is no blank, "" at the end; the text stands before it."""
        while True:
            match = _BLANKS.match(self.text, self.at)
            self.at = match.end() if match else self.at
            if self.at < len(self.text):
                return self.text[self.at]
            if not self.more():
                return ""

    def take(self, character: str) -> bool:
        """Step over this character, if it is the next."""
        if self.peek() != character:
            return False
        self.at += 1
        return True

    def value(self) -> object:
        """The next value, or a Fault for one that is broken, the text then standing behind it."""
        self.peek()
        while True:
            try:
                found, end = self._scan(self.text, self.at)
            except RecursionError as error:
                return self._skip(error)
            except ValueError as error:
                if self.ended or self._is_broken(error):
                    return self._skip(error)
            else:
                # A number near the very end may go on.
                if end + 3 < len(self.text) or self.ended or self.text[end - 1] in '"}]':
                    self.at = end
                    return found
            if len(self.text) - self.at > LONGEST:
                return Fault(f"longer than {LONGEST >> 20} million characters", last=True)
            self.more()

    def _is_broken(self, error: ValueError) -> bool:
        """Whether more text will not mend the value that begins here."""
        if not isinstance(error, json.JSONDecodeError):
            return True  # a number of too many digits
        unended = error.msg.startswith("Unterminated")
        return not unended and error.pos < len(self.text) - _TAIL

    def _skip(self, error: Exception) -> Fault:
        """Step behind the value that begins here: as far as its brackets tell, else to what may be the next.

        A value that ends with the text is cut off; nothing can follow it.
        """
        known = isinstance(error, json.JSONDecodeError)
        offset = error.pos - self.at if isinstance(error, json.JSONDecodeError) else 0
        while (end := _closing(self.text, self.at)) is None:
            if len(self.text) - self.at > LONGEST or not self.more():
                break
        if end is None and known and self.at + offset >= len(self.text.rstrip()) - _TAIL:
            return Fault("cut off", last=True)
        if end is None and self.ended and str(error).startswith("Unterminated"):
            return Fault("cut off", last=True)
        length = (end or 0) - self.at
        if end is None or end == _AMISS or not self._ends(length):
            return self._resume(offset, _reason(error))
        self.at += length
        return Fault(_reason(error))

    def _ends(self, length: int) -> bool:
        """Whether what follows so many characters is what follows a value."""
        while True:
            blanks = _BLANKS.match(self.text, self.at + length)
            end = blanks.end() if blanks else self.at + length
            if end < len(self.text):
                return self.text[end] in ",]}"
            if not self.more():
                return True

    def _resume(self, offset: int, reason: str) -> Fault:
        """Go on where an object begins behind the broken place; where none does, this was the last."""
        self.astray += 1
        if self.astray > _MOST_ASTRAY:
            return Fault(reason, last=True)
        while (found := _NEXT.search(self.text, self.at + max(offset, 1))) is None:
            if len(self.text) - self.at > LONGEST or not self.more():
                return Fault(reason, last=True)
        self.at = found.start()
        return Fault(reason)


_AMISS = -1


def _closing(text: str, start: int) -> int | None:
    """Where the value that begins at `start` ends by its brackets; None where it goes on behind the text.

    -1 where its brackets do not fit one another.
    """
    if text[start : start + 1] not in _PARTNER:
        match = _BOUND.search(text, start + 1)
        return match.start() if match else None
    expected: list[str] = []
    for token in _TOKEN.finditer(text, start):
        character = token[0][0]
        if token[0] == '"':  # a string that goes on behind the end
            return None
        if character in _PARTNER:
            expected.append(_PARTNER[character])
        elif character != '"':
            if expected.pop() != character:
                return _AMISS
            if not expected:
                return token.end()
    return None


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return f"no JSON ({error.msg})" if isinstance(error, json.JSONDecodeError) else "no JSON"


def items(stream: BinaryIO, inside: tuple[str, ...] = ()) -> Iterator[object]:
    """The values of an array; of the array that an object holds under a key of `inside`; else the object.

    A Fault stands in the place of each that cannot be read.
    """
    text = _Text(stream)
    if text.take("["):
        yield from _elements(text)
    elif text.peek() == "{" and inside:
        yield from _unwrapped(text, inside)
    elif text.peek():
        yield text.value()


def _elements(text: _Text) -> Generator[object, None, bool]:
    """The values up to the end of an array; whether that was reached.

    Once brackets were lost nobody knows which one ends the array, and only objects count as values.
    """
    while character := text.peek():
        if character in (",]}:" if text.astray else ",]"):
            text.at += 1
            if character == "]" and not text.astray:
                return True
            continue
        sure = not text.astray
        found = text.value()
        last = isinstance(found, Fault) and found.last
        if sure or last or isinstance(found, dict):
            yield found
        if last:
            return False
    if not text.astray:
        yield Fault("cut off", last=True)
    return False


def _unwrapped(text: _Text, inside: tuple[str, ...]) -> Iterator[object]:
    """The elements of the array inside an object, or the object itself where it has none."""
    text.take("{")
    held: dict[str, object] = {}
    unwrapped = False
    while (character := text.peek()) not in ("}", ""):
        if character == ",":
            text.at += 1
            continue
        key = text.value()
        if not isinstance(key, str) or not text.take(":"):
            yield Fault("no JSON", last=True)
            return
        if key in inside and text.peek() == "[":
            text.at += 1
            unwrapped = True
            whole = yield from _elements(text)
            if not whole:
                return
            continue
        value = text.value()
        if isinstance(value, Fault):
            if value.last:
                yield value
                return
            continue
        held[key] = value
    if not character:
        yield Fault("cut off", last=True)
    elif not unwrapped:
        yield held


def lines(stream: BinaryIO) -> Iterator[tuple[int, object]]:
    """The value of each line that is not blank, with its number from 1.

    A Fault stands for one that is no JSON; its `last` says that the text ends in the middle of it.
    """
    number = 0
    while data := stream.readline(LONGEST):
        number += 1
        if number == 1:
            data = data.removeprefix(codecs.BOM_UTF8)
        if len(data) == LONGEST:
            while data and not data.endswith(b"\n"):
                data = stream.readline(LONGEST)
            yield number, Fault(f"longer than {LONGEST >> 20} MiB")
        elif data.strip():
            yield number, _line(data)


def _line(data: bytes) -> object:
    try:
        return json.loads(data.decode("utf-8", "replace"), strict=False)
    except RecursionError as error:
        return Fault(_reason(error))
    except ValueError as error:
        return Fault(_reason(error), last=not data.endswith(b"\n"))

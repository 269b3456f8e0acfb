"""What was said, called and answered, in order → a conversation's messages.

In: the pieces of one foreign conversation as an importer meets them. Out: messages in the vault's
roles, each with a time, tool traffic folded to one message a call; and counts of what stays behind.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b

from huimem.importers.options import Options, Tools
from huimem.importers.values import one_line
from huimem.records import Conversation, Message
from huimem.vault.text import normal

RESULT_LENGTH = 200
OPENING = 200  # characters of the first words that tell conversations without an id apart


@dataclass(slots=True)
class _Piece:
    """A message, or a call that waits for its result; `key` tells it from all others."""

    role: str
    text: str
    at: datetime | None
    key: str
    name: str | None = None
    called: bool = False
    given: object = None
    result: list[str] = field(default_factory=list)
    answered: datetime | None = None
    failed: bool = False


class Transcript:
    """One conversation while it is read."""

    def __init__(self) -> None:
        self.left_out: Counter[str] = Counter()
        self.model = ""
        self._counted = 0
        self._pieces: list[_Piece] = []
        self._calls: dict[str, _Piece] = {}
        self._open: dict[str, _Piece] = {}  # those without a result
        self._last = ""

    def begin(self) -> None:
        """A further message is read: it is no empty one if something of it is left out."""
        self._counted = self.left_out.total()

    def say(
        self, role: str, blocks: Iterable[str], at: datetime | None, key: str, name: str | None = None
    ) -> None:
        """A message of these blocks; without any text it is left out."""
        text = together(blocks)
        if text:
            self._pieces.append(_Piece(role, text, at, key, name))
        elif self._counted == self.left_out.total():
            self.leave_out("empty")

    def call(self, call: str, name: str, given: object, at: datetime | None, key: str) -> None:
        """A tool is called under the id `call` with what it is `given`: a text, or a JSON value."""
        piece = _Piece("tool", "", at, key, name or "tool", called=True, given=given)
        self._pieces.append(piece)
        self._calls[call] = self._open[call] = piece
        self._last = call

    def answer(
        self, call: str, text: str, at: datetime | None, *, key: str, name: str = "", failed: bool = False
    ) -> None:
        """The tool's result for the call of that id; without such a call, a message of its own."""
        piece = self._calls.get(call)
        if piece is None:
            self.call(call, name, "", at, key)
            piece = self._calls[call]
            piece.called = False
        if text.strip() or not piece.result:
            piece.result.append(normal(text))
        self._open.pop(call, None)
        piece.answered = at
        piece.failed |= failed

    @property
    def waiting(self) -> str | None:
        """The id of the latest call without a result; None where there is none."""
        return next(reversed(self._open), None)

    def waiting_for(self, tool: str) -> str | None:
        """The id of the earliest call of that tool without a result."""
        return next((call for call, piece in self._open.items() if piece.name == tool), None)

    @property
    def last_call(self) -> str | None:
        """The id of the call that was the last piece of all, answered or not."""
        return self._last if self._pieces and self._pieces[-1] is self._calls.get(self._last) else None

    def leave_out(self, kind: str, count: int = 1) -> None:
        if count:
            self.left_out[kind] += count

    def conversation(
        self,
        source: str,
        id: str,
        *,
        options: Options,
        title: object = "",
        created: datetime | None = None,
        modified: datetime,
        tags: Sequence[str] = (),
        session: str = "",
    ) -> Conversation:
        """All of it. `created` dates what has no time; `modified`, the file's date, where that is missing.

        One without an id, or a branch of it (`/` and its first message), is known by how it begins.
        """
        pieces = [piece for piece in self._pieces if piece.role != "tool" or options.tools != "none"]
        times = [piece.at for piece in pieces]
        inferred = not any(times)
        return Conversation(
            source=source,
            id=_opening(pieces[:1]) + id if not id or id.startswith("/") else id,
            title=one_line(title),
            messages=tuple(
                Message(piece.role, _text(piece, options.tools), at.replace(microsecond=0), piece.name)
                for piece, at in zip(pieces, filled(times, created or modified), strict=True)
            ),
            keys=_distinct([piece.key or f"{piece.role} {piece.text}" for piece in pieces]),
            model=self.model,
            tags=tuple(tags),
            inferred=inferred and bool(pieces),
            session=session,
            left_out=dict(self.left_out),
        )


def _opening(first: Sequence[_Piece]) -> str:
    """An id made of the first message, "" where there is none: it stays when the conversation grows."""
    told = "".join(f"{piece.at} {piece.role} {piece.text[:OPENING]}" for piece in first)
    return blake2b(told.encode("utf-8", "replace"), digest_size=8).hexdigest() if told else ""


@dataclass(slots=True)
class Parts:
    """One message of an export that its calls of tools divide: each stretch of text is a message.

    `said`: something of it came along, so that an empty end is none to count.
    """

    transcript: Transcript
    role: str
    key: str
    said: bool = False
    _count: int = 0

    def say(self, texts: Sequence[str], at: datetime | None, *, last: bool = False) -> None:
        """What was said up to here; nothing where there is none, but for the `last` of a message."""
        if together(texts) or (last and not self.said):
            self._count += 1
            key = self.key if self._count == 1 else f"{self.key} part {self._count}"
            self.transcript.say(self.role, texts, at, key)
            self.said = True


def together(blocks: Iterable[str]) -> str:
    """Blocks of a message as one text, a blank line between them."""
    return "\n\n".join(block for block in map(normal, blocks) if block)


def fenced(code: str, language: str = "") -> str:
    """Code as a block, its fence longer than any inside."""
    if not code.strip():
        return ""
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{code}\n{fence}"


def filled(times: Sequence[datetime | None], created: datetime) -> list[datetime]:
    """Times with the gaps closed: by the one before; at the beginning by the first, else `created`."""
    last = next((at for at in times if at is not None), created)
    found = []
    for at in times:
        last = at or last
        found.append(last)
    return found


def _distinct(keys: Sequence[str]) -> tuple[str, ...]:
    """Keys made distinct by their count: the same words said twice are two messages."""
    seen: Counter[str] = Counter()
    found = []
    for key in keys:
        seen[key] += 1
        found.append(key if seen[key] == 1 else f"{key} #{seen[key]}")
    return tuple(found)


def _text(piece: _Piece, tools: Tools) -> str:
    if piece.role != "tool" or not (piece.called or piece.result):
        return piece.text
    title = f"> [!tool]- {' '.join((piece.name or 'tool').split())} · {_outcome(piece)}"
    result = together(piece.result)
    if tools == "full":
        given, brought = _quoted(_input(piece.given)), _quoted(result)
        return "\n".join([title, *given, *([">"] if given and brought else []), *brought])
    lines = (line.strip() for line in result.split("\n"))
    first = next((line for line in lines if line and not line.startswith(("```", "~~~"))), "")
    if len(first) > RESULT_LENGTH:
        first = f"{first[: RESULT_LENGTH - 1]}…"
    return f"{title}\n> {first}" if first else title


def _outcome(piece: _Piece) -> str:
    if not piece.result:
        return "no result"
    outcome = "error" if piece.failed else "ok"
    if piece.called and piece.at and piece.answered and piece.answered > piece.at:
        return f"{outcome} · {(piece.answered - piece.at).total_seconds():.1f} s"
    return outcome


def _input(given: object) -> str:
    if isinstance(given, str):
        return normal(given)
    return json.dumps(given, ensure_ascii=False) if given is not None else ""


def _quoted(text: str) -> list[str]:
    return [f"> {line}" if line.strip() else ">" for line in text.split("\n")] if text else []


def file_block(name: str, content: str = "") -> str:
    """A file that was handed over: its text in a folded callout, or its name alone."""
    name = " ".join(name.split())
    if not content.strip():
        return f"[file: {name}]" if name else "[file]"
    return "\n".join([f"> [!file]- {name}".rstrip(), *_quoted(normal(content))])

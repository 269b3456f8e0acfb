"""Records and which of their pieces were chosen → the text that a model reads, and its lines in the file.

Names each speaker, dates each record, marks by … where something was left out between two pieces of it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from huimem.index.outline import MOST
from huimem.index.sentences import size
from huimem.markup import fences, readable
from huimem.recall.pieces import Span, pieces
from huimem.records import Fact, Hit, Message, Record

CUT = "…"
NEWLINE = "\n"
Piece = tuple[int, int, int]  # the place of its record in the file, of its message there, its own


@dataclass(frozen=True, slots=True)
class Part:
    """A message as it is shown, cut into pieces; `evidence` are the pieces that answer, none of most.

    `highlight` is the one of these that holds most of the question's words.
    """

    label: str
    dated: str
    message: Message
    text: str
    fenced: tuple[Span, ...]
    spans: tuple[Span, ...]
    evidence: range = range(0)
    highlight: int = 0


def parts_of(record: Record, hit: Hit | None = None) -> tuple[Part, ...]:
    """The messages of a record, cut; that of the hit also where its evidence and its highlight lie."""
    label = record.kind.capitalize() if isinstance(record, Fact) or record.kind == "note" else ""
    return tuple(
        _part(
            label or message.name or message.role.capitalize(),
            _when(record, message),
            message,
            hit if hit and hit.message == place else None,
        )
        for place, message in enumerate(record.messages)
    )


def _part(label: str, dated: str, message: Message, hit: Hit | None) -> Part:
    found = _found(message, hit) if hit else 0
    places = (0, len(hit.evidence), *hit.highlight) if hit else ()
    text, borders = readable(message.text, *(found + place for place in places))
    fenced = fences(text)
    spans = pieces(text, fenced)
    if hit is None:
        return Part(label, dated, message, text, tuple(fenced), tuple(spans))
    start, end, seen, _ = borders
    spans = list(_split(text, spans, sorted(borders)))
    first, highlight = (next((i for i, (_, b) in enumerate(spans) if at < b), 0) for at in (start, seen))
    last = next((i for i, (a, _) in enumerate(spans) if a >= end and i > first), len(spans))
    return Part(label, dated, message, text, tuple(fenced), tuple(spans), range(first, last), highlight)


def _found(message: Message, hit: Hit) -> int:
    """Where the evidence stands: of equal passages the one on the hit's line."""
    first = at = message.text.find(hit.evidence)
    line, counted = message.text_line, 0
    while at >= 0:
        line, counted = line + message.text.count("\n", counted, at), at
        if line >= hit.line:
            return at
        at = message.text.find(hit.evidence, at + 1)
    return max(first, 0)


def _split(text: str, spans: Sequence[Span], borders: Sequence[int]) -> Iterator[Span]:
    """The spans, cut where a border, in order, lies inside a long one: a text without a full stop."""
    for start, end in spans:
        for border in borders if size(text[start:end]) > MOST else ():
            if text[start:border].strip() and text[border:end].strip():
                yield start, border
                start = border
        yield start, end


def _when(record: Record, message: Message) -> str:
    """When it was said, as the file says it; a fact's range; a guessed time by its day."""
    if isinstance(record, Fact):
        start, end = record.valid.local()
        since = _day(start) if start else ""
        return f"{since} to {_day(end)}" if end else f"since {since}" if since else ""
    at = message.at or record.at
    if at is None:
        return ""
    if record.inferred:
        return f"about {_day(at)}"
    return _day(at) if record.kind == "note" else f"{_day(at)} {at:%H:%M}"


def _day(at: datetime) -> str:
    return f"{at:%Y-%m-%d}"


def told(cuts: Mapping[int, Sequence[Part]], chosen: Collection[Piece]) -> tuple[str, bool]:
    """The text of the pieces chosen, and whether something between or around them was left out.

    Around means inside a record that is shown; records before the first and behind the last are none
    of it. `cuts` holds every record from the first to the last one chosen.
    """
    wanted: dict[tuple[int, int], list[int]] = {}
    for place, message, piece in sorted(chosen):
        wanted.setdefault((place, message), []).append(piece)
    places = [place for place, _ in wanted]
    blocks: list[str] = []
    cut = marked = False
    for place in range(min(places, default=0), max(places, default=-1) + 1):
        fresh = True
        for at, part in enumerate(cuts[place]):
            numbers = wanted.get((place, at))
            if numbers:
                body = _body(part, numbers)
                label = f"{part.label} · {part.dated}" if fresh and part.dated else part.label
                blocks.append(label + (":\n" if "\n" in body else ": ") + body)
                marked = numbers[-1] + 1 < len(part.spans)
                fresh, cut = False, cut or len(numbers) < len(part.spans)
            elif part.spans:
                blocks += [] if marked else [CUT]
                cut = marked = True
    return "\n\n".join(blocks), cut


def _body(part: Part, numbers: Sequence[int]) -> str:
    """The runs of a message that were chosen, with a mark where text of it is missing."""
    done, body = 0, ""
    for start, end in _runs(part, numbers):
        run = part.text[start:end].rstrip()
        run = run.strip("\n") if part.text[:start][-1:] in ("", "\n") else run.lstrip()
        body += _joint(part, done if body else None, start) + run
        done = end
    return body + _joint(part, done, None)


def _runs(part: Part, numbers: Sequence[int]) -> Iterator[Span]:
    """Spans of pieces that follow each other."""
    start, end = part.spans[numbers[0]]
    for number in numbers[1:]:
        a, b = part.spans[number]
        if a != end:
            yield start, end
            start = a
        end = b
    yield start, end


def _joint(part: Part, done: int | None, start: int | None) -> str:
    """What stands between the run that ends at `done` and the one from `start` on; None: there is none.

    A code fence that the left-out text begins or ends in is closed and opened again.
    """
    text = part.text
    opened, again = _open_at(part.fenced, done), _open_at(part.fenced, start)
    if opened and opened == again:
        return f"\n{CUT}\n"
    a = opened[1] if opened else done or 0
    b = again[0] if again else len(text) if start is None else start
    mark = CUT if text[a:b].strip() else ""
    closed = f"\n{CUT}\n{text[text.rindex(NEWLINE, *opened) + 1 : opened[1]]}" if opened else ""
    reopened = f"{text[again[0] : text.index(NEWLINE, again[0])]}\n{CUT}\n" if again else ""
    lined = bool(start and text[start - 1] == NEWLINE)
    if done is None:
        return mark + (NEWLINE if mark and lined else "") + reopened
    if start is None:
        return closed + (NEWLINE if mark and text[a - 1 : a + 1].count(NEWLINE) else "") + mark
    if lined or opened or again:
        return closed + (f"\n{mark}\n" if mark else NEWLINE) + reopened
    return f" {mark} " if mark else text[done:start]


def _open_at(fenced: Sequence[Span], place: int | None) -> Span | None:
    """The code fence that goes on at a place."""
    if place is None:
        return None
    return next(((start, end) for start, end in fenced if start < place < end), None)


def lines_of(cuts: Mapping[int, Sequence[Part]], chosen: Collection[Piece]) -> Span:
    """The first and the last line on which the pieces stand; with a message's start, its heading."""
    first, last = min(chosen), max(chosen)
    part = cuts[first[0]][first[1]]
    start = part.message.line if first[2] == 0 and part.message.line else _line(part, part.spans[first[2]][0])
    part = cuts[last[0]][last[1]]
    a, b = part.spans[last[2]]
    return start, _line(part, a + len(part.text[a:b].rstrip()) - 1)


def _line(part: Part, at: int) -> int:
    """The line of the file on which a character of the shown text stands."""
    raw = part.message.text
    if raw != part.text:
        at = bisect_right(range(len(raw)), at, key=lambda place: readable(raw, place)[1][0]) - 1
    return part.message.text_line + raw.count("\n", 0, at)

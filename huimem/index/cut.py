"""A record → its chunks, and the digest that tells whether it must be indexed again.

In: a Turn or Fact. Out: Chunks that cover every word of its messages; what nobody reads as text
(HTML comments, block ids) is blanked, which moves no line.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

from huimem.index.chunk import passages, size
from huimem.index.rows import milliseconds
from huimem.index.tokens import tokenize
from huimem.markup import searchable
from huimem.records import TITLE, Chunk, Fact, Message, Record, TimeRange

# An answer of fewer units is embedded with its question. Longer ones stand alone: with it, assistants'
# passages of any length found less (BEAM's development half, MRR .599 → .583).
BRIEF = 16
ASKED = 200  # characters of the question that go with it
MOST_CALLED = 200  # characters of a title that are words to find it by


def chunks(record: Record) -> Iterator[Chunk]:
    """The passages of a record in order, message by message; what it is called stands before the first."""
    called = _called(record)
    for index, message in enumerate(record.messages):
        text = searchable(message.text)
        line, counted = message.text_line, 0
        spans = passages(text)
        before = record.messages[index - 1] if index else None
        question = _question(before) if len(spans) == 1 and _leans(message, text, before) else ""
        for start, end in spans:
            line += text.count("\n", counted, start)
            counted = start
            last = line + text.count("\n", start, end)
            said = question + _said(message, text[start:end])
            shown = message.text[start:end]
            whose = (index, message.role, (line, last))
            if called and message.role != "tool":  # what a tool said is found when asked for
                # Apart from the passage, which a user may have said: a title tells less than they do.
                yield Chunk(digest_of(called), index, TITLE, (line, last), shown, called, message.at)
                called = ""
            yield Chunk(digest_of(said), *whose, shown, said, message.at, len(question))


def _called(record: Record) -> str:
    """What a record is called, unless its text says it: most titles are its first words, cut off."""
    called = plain(searchable(record.called))[:MOST_CALLED]
    if not called:
        return ""
    text = plain(searchable("\n".join(message.text for message in record.messages)))
    if called.removesuffix("…") in text or set(tokenize(text)).issuperset(tokenize(called)):
        return ""
    return sound(called)


def _leans(message: Message, text: str, before: Message | None) -> bool:
    """Whether a message says too little without the question it answers."""
    answers = before is not None and before.role == "user" and message.role == "assistant"
    return answers and size(text) < BRIEF


def _question(before: Message | None) -> str:
    """The end of the message that is answered, as far as it helps to tell what the answer is about."""
    text = " ".join(searchable(before.text).split()) if before else ""
    return f"{sound(text[-ASKED:])}\n" if text else ""


def _said(message: Message, passage: str) -> str:
    named = message.role == "person" and message.name
    return sound(f"{message.name}: {passage}" if named else passage)


def sound(text: str) -> str:
    """`text` as UTF-8 can hold it: lone surrogates become question marks."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def plain(said: str) -> str:
    """What is embedded of a passage: its words with single blanks, so equal words are one vector."""
    return " ".join(said.split())


def digest_of(said: str) -> str:
    """Hash of what is embedded: blake2b-128 in hex."""
    return blake2b(plain(said).encode(), digest_size=16).hexdigest()


def first_line(record: Record) -> int:
    """The line of the file at which a record begins; 0 where it has none."""
    return record.messages[0].line or record.messages[0].text_line


def digest(record: Record, namespace: str, tags: tuple[str, ...]) -> bytes:
    """Hash of all that the index keeps of a record, its lines counted from its first one."""
    base = first_line(record)
    parts = [str(record.ref), namespace, repr(tags), repr(record.inferred), record.called, *_nature(record)]
    for message in record.messages:
        at = milliseconds(message.at) if message.at else None
        place = message.text_line - base
        # What "yesterday" means depends on the zone too.
        zone = str(message.at.tzinfo) if message.at else ""
        parts.append(repr((message.role, message.name, at, zone, place, message.text)))
    return blake2b("\x00".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _nature(record: Record) -> Iterator[str]:
    if isinstance(record, Fact):
        yield repr((record.kind, record.key, record.importance, bounds(record.valid)))
    else:
        yield repr((record.kind, [bounds(mention) for mention in record.mentions]))


def bounds(span: TimeRange) -> tuple[int | None, int | None]:
    """A range as milliseconds UTC."""
    return (
        milliseconds(span.start) if span.start else None,
        milliseconds(span.end) if span.end else None,
    )

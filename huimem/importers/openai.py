"""Lists of messages as OpenAI's interfaces take them, as JSON or JSONL → conversations.

Seen: a bare list, an object that holds one, many of them, one object or one message a line; null
content beside calls; parallel calls; the older `function_call`; often no times and no id at all.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, tzinfo
from functools import partial
from hashlib import blake2b
from itertools import chain

from huimem.importers.claude import result_text
from huimem.importers.documents import STDIN, Document
from huimem.importers.glance import Glance
from huimem.importers.json_stream import Fault, items, lines
from huimem.importers.options import Options, Skipped, guarded
from huimem.importers.transcript import OPENING, Transcript, file_block
from huimem.importers.values import (
    Item,
    blocks_of,
    first_line,
    instant_of,
    line_of,
    list_of,
    mapping_of,
    one_line,
    text_of,
)
from huimem.records import Conversation
from huimem.vault.roles import role_of

_IDS = ("id", "conversation_id", "session_id", "thread_id")
_TIMES = ("created_at", "timestamp", "create_time", "at")
_WRAPPERS = ("conversations", "data")
_COPY = re.compile(r"(?: ?\(\d+\)| copy(?: \d+)?)$")


class OpenAI:
    """Reads lists of messages."""

    name = "openai"
    apart = False

    def __init__(self) -> None:
        self._openings: dict[str, dict[tuple[str, int], int]] = {}
        self._nth: Counter[str] = Counter()  # in the document that is being read

    def claims(self, glance: Glance) -> bool:
        if glance.holds("mapping", "chat_messages", "sessionId"):
            return False
        listed = ("messages[].role", *(f"{wrapper}[].messages[].role" for wrapper in _WRAPPERS))
        alone = glance.holds("role") and glance.holds("content", "tool_calls", "function_call")
        return glance.holds(*listed) or (alone and (glance.array or glance.lines))

    def read(self, document: Document, options: Options) -> Iterator[Conversation | Skipped]:
        self._nth.clear()
        shape = document.glance()
        with document.open() as stream:
            found: Iterable[tuple[str, object]]
            if shape.lines:
                found = ((f"line {n}", value) for n, value in lines(stream))
            elif shape.array or shape.holds(*_WRAPPERS):
                found = ((f"item {n}", value) for n, value in enumerate(items(stream, _WRAPPERS), 1))
            else:
                found = (("", value) for value in items(stream))
            yield from self._conversations(found, document, options)

    def _conversations(
        self, found: Iterable[tuple[str, object]], document: Document, options: Options
    ) -> Iterator[Conversation | Skipped]:
        """Objects with messages are a conversation each; bare messages are one together."""
        bare: list[Item] = []
        empty = True
        for place, value in found:
            empty = False
            item = mapping_of(value)
            if isinstance(value, Fault):
                if not (value.last and place.startswith("line")):
                    yield Skipped(place, value.reason)
            elif isinstance(value, list) or "messages" in item:
                given = value if isinstance(value, list) else item["messages"]
                make = partial(self._one, list_of(given), item, place, document, options)
                yield from guarded(place, make)
            elif isinstance(item.get("role"), str):
                bare.append(item)
            else:
                yield Skipped(place, "no message")
        if bare:
            yield from guarded("", partial(self._one, bare, {}, "", document, options))
        elif empty:
            yield Skipped("", "no messages")

    def _one(
        self, given: Iterable[object], item: Item, place: str, document: Document, options: Options
    ) -> Iterator[Conversation | Skipped]:
        """The conversation of these messages."""
        transcript = Transcript()
        transcript.model = one_line(item.get("model"))
        for number, value in enumerate(given):
            message = mapping_of(value)
            if isinstance(message.get("role"), str):
                _take(message, number, options.zone, transcript)
            else:
                transcript.leave_out("unknown")
        created = _at(item, options.zone)
        id = first_line(item, *_IDS) or first_line(mapping_of(item.get("metadata")), *_IDS)
        made = transcript.conversation(
            self.name,
            id,
            options=options,
            title=one_line(item.get("title")) or mapping_of(item.get("metadata")).get("title"),
            created=created,
            modified=document.modified,
        )
        if made.messages:
            yield made if id else self._named(made, document)
        else:
            yield Skipped(place, "no messages", made.left_out)

    def _named(self, made: Conversation, document: Document) -> Conversation:
        """With an id of the file's name and the opening words, counted where several open so.

        A file beside another one, of the same name but for ` (1)`, tells the same conversations again.
        """
        stem = _COPY.sub("", document.stem) if document.name != STDIN else "stdin"
        asked = next((m.text for m in made.messages if m.role in ("user", "person")), made.messages[0].text)
        words = blake2b(asked[:OPENING].encode("utf-8", "replace"), digest_size=6).hexdigest()
        id = f"{stem}-{words}"
        numbers = self._openings.setdefault(id, {})
        place = f"{document.name.rpartition('/')[0]}/{stem}"
        self._nth[id] += 1
        number = numbers.setdefault((place, self._nth[id]), len(numbers) + 1)
        return replace(made, id=id if number == 1 else f"{id}-{number}")


def _at(item: Item, zone: tzinfo) -> datetime | None:
    metadata = mapping_of(item.get("metadata"))
    given = chain((item.get(name) for name in _TIMES), (metadata.get(name) for name in _TIMES))
    return next((at for value in given if (at := instant_of(value, zone)) is not None), None)


def _take(message: Item, number: int, zone: tzinfo, transcript: Transcript) -> None:
    transcript.begin()
    role, name = one_line(message.get("role")), one_line(message.get("name")) or None
    at, key = _at(message, zone), line_of(message.get("id"))
    texts = _texts(message.get("content"), transcript)
    if refusal := text_of(message.get("refusal")):
        texts.append(refusal)
    known = role_of(role)
    if known == "tool":
        _result(message, texts, (number, at), transcript)
        return
    calls = _calls(message)
    if any(text.strip() for text in texts) or not calls:
        transcript.say(known or "person", texts, at, key, name if known else name or role)
    for place, (id, tool, given) in enumerate(calls):
        id = id or f"call {number} {place} {tool}"
        transcript.call(id, tool, given, at, id)


def _result(
    message: Item, texts: list[str], where: tuple[int, datetime | None], transcript: Transcript
) -> None:
    """What a tool brought: for the call of its id; a function's, for the earliest call that waits."""
    number, at = where
    call = line_of(message.get("tool_call_id"))
    name = one_line(message.get("name"))
    if not call and message.get("role") == "function":
        call = transcript.waiting_for(name) or ""
    call = call or f"result {number}"
    transcript.answer(call, result_text(texts), at, key=call, name=name)


def _calls(message: Item) -> list[tuple[str, str, object]]:
    """Id, name and arguments of each call, in order."""
    found: list[tuple[str, str, object]] = []
    for value in list_of(message.get("tool_calls")):
        call = mapping_of(value)
        function = mapping_of(call.get("function")) or mapping_of(call.get("custom"))
        name = one_line(function.get("name"))
        if name:
            given = function.get("arguments", function.get("input"))
            found.append((line_of(call.get("id")), name, given))
    function = mapping_of(message.get("function_call"))
    if one_line(function.get("name")):
        found.append(("", one_line(function.get("name")), function.get("arguments")))
    return found


def _texts(content: object, transcript: Transcript) -> list[str]:
    return [_part(part, transcript) for part in blocks_of(content)]


def _part(part: object, transcript: Transcript) -> str:
    if isinstance(part, str):
        return part
    item = mapping_of(part)
    match text_of(item.get("type")):
        case "text" | "input_text" | "output_text":
            text = item.get("text")
            return text_of(text) or text_of(mapping_of(text).get("value"))
        case "refusal":
            return text_of(item.get("refusal"))
        case "image_url" | "input_image" | "image_file":
            return "[image]"
        case "input_audio":
            audio = mapping_of(item.get("input_audio"))
            return text_of(item.get("transcript")) or text_of(audio.get("transcript")) or "[audio]"
        case "file" | "input_file":
            return file_block(
                first_line({**item, **mapping_of(item.get("file"))}, "filename", "file_name", "name")
            )
    if part is not None:
        transcript.leave_out("unknown")
    return ""

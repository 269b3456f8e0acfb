"""Claude.ai's export: `conversations.json` → conversations.

Seen: `text` empty while `content` is full, and the reverse; blocks of thought, tools, voice and kinds
nobody has named yet; edited prompts as branches by `parent_message_uuid`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial

from huimem.importers.branches import Branch, branch_id, branch_title, branches, parents_of
from huimem.importers.documents import Document
from huimem.importers.glance import Glance
from huimem.importers.listed import Found, each_branch, elsewhere, keys, listed
from huimem.importers.options import Options
from huimem.importers.transcript import Parts, Transcript, file_block, together
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

_THINKING = frozenset({"thinking", "redacted_thinking"})


class Claude:
    """Reads `conversations.json`."""

    name = "claude"
    apart = True

    def claims(self, glance: Glance) -> bool:
        return glance.holds(*keys("chat_messages"))

    def read(self, document: Document, options: Options) -> Found:
        read = partial(_conversations, document.modified, options)
        yield from listed(document, lambda item: isinstance(item.get("chat_messages"), list), read)


def _conversations(modified: datetime, options: Options, item: Item, place: str) -> Found:
    given = [mapping_of(message) for message in list_of(item["chat_messages"])]
    messages = {
        line_of(message.get("uuid")) or f"#{n}": message for n, message in enumerate(given) if message
    }
    found = _branches(item, messages)
    lost = len(elsewhere(found)) if options.branch == "active" else 0

    def made(branch: Branch, number: int) -> Conversation:
        transcript = Transcript()
        transcript.model = one_line(item.get("model"))
        for name, mark in branch.marked():
            _take(messages[name], name + mark, transcript)
        transcript.leave_out("other branch", lost)
        return transcript.conversation(
            "claude",
            branch_id(line_of(item.get("uuid")), branch.begin, number),
            options=options,
            title=branch_title(item.get("name"), number),
            created=instant_of(item.get("created_at")) or instant_of(item.get("updated_at")),
            modified=modified,
        )

    return each_branch(found, options, place, made)


def _branches(item: Item, messages: Mapping[str, Item]) -> list[Branch]:
    if not messages:
        return [Branch(())]
    if not any(message.get("parent_message_uuid") for message in messages.values()):
        return [Branch(tuple(messages))]
    parents = parents_of({name: message.get("parent_message_uuid") for name, message in messages.items()})
    current = text_of(item.get("current_leaf_message_uuid"))
    leaf = current if current in messages else [*messages][-1]
    return [*branches(parents, leaf, lambda name: _role(messages[name]) == "user")]


def _role(message: Item) -> str:
    """The role of whoever speaks, "" where nobody known does."""
    return {"human": "user", "user": "user", "assistant": "assistant"}.get(text_of(message.get("sender")), "")


def _take(message: Item, key: str, transcript: Transcript) -> None:
    transcript.begin()
    if not _role(message):
        transcript.leave_out("unknown")
        return
    at = instant_of(message.get("created_at"))
    blocks = blocks_of(message.get("content"))
    texts = [] if any(map(_holds_text, blocks)) else [text_of(message.get("text"))]
    parts = Parts(transcript, _role(message), key)
    for number, block in enumerate(blocks):
        kind = text_of(mapping_of(block).get("type"))
        if kind in _THINKING:
            transcript.leave_out("thinking")
        elif kind in ("tool_use", "tool_result"):
            parts.say(texts, at)
            texts = []
            _use(mapping_of(block), at, f"{key} tool {number}", transcript)
            parts.said = True
        else:
            texts.append(_block(block, transcript))
    parts.say([*texts, *_files(message)], at, last=True)


def _holds_text(block: object) -> bool:
    item = mapping_of(block)
    said = block if isinstance(block, str) else item.get("text") if item.get("type") == "text" else ""
    return bool(text_of(said).strip())


def _block(block: object, transcript: Transcript) -> str:
    if isinstance(block, str):
        return block
    item = mapping_of(block)
    match text_of(item.get("type")):
        case "text":
            return text_of(item.get("text"))
        case "voice_note":
            return text_of(item.get("text")) or text_of(item.get("title"))
        case "image":
            return "[image]"
    if block is not None:
        transcript.leave_out("unknown")
    return ""


def _files(message: Item) -> list[str]:
    """Attachments with what was read of them, then files by name; each name once."""
    shown: dict[str, str] = {}
    for place in ("attachments", "files"):
        for number, value in enumerate(list_of(message.get(place))):
            item = mapping_of(value)
            if not item:
                continue
            name = first_line(item, "file_name", "name")
            content = text_of(item.get("extracted_content")) if place == "attachments" else ""
            shown.setdefault(name or f"{place} {number}", file_block(name, content))
    return [*shown.values()]


def _use(block: Item, at: datetime | None, key: str, transcript: Transcript) -> None:
    """A call of a tool, or its result."""
    name = line_of(block.get("name"))
    started = instant_of(block.get("start_timestamp")) or at
    if block.get("type") == "tool_use":
        transcript.call(line_of(block.get("id")) or key, name, block.get("input"), started, key)
        if name == "artifacts" and (document := _document(mapping_of(block.get("input")))):
            transcript.say("assistant", [document], started, f"{key} document")
        return
    text = result_text(block.get("content"))
    failed = block.get("is_error") is True
    call = line_of(block.get("tool_use_id")) or transcript.waiting or key
    ended = instant_of(block.get("stop_timestamp")) or at
    transcript.answer(call, text, ended, key=key, name=name, failed=failed)


def _document(given: Item) -> str:
    """The text of a document that was made, or written anew, beside the chat: there it is the answer."""
    content = text_of(given.get("content"))
    return file_block(first_line(given, "title", "id"), content) if content.strip() else ""


def result_text(content: object) -> str:
    """What a tool brought: a text, or the texts of its blocks."""
    if isinstance(content, str):
        return content
    texts = []
    for block in list_of(content):
        item = mapping_of(block)
        image = item.get("type") == "image"
        texts.append(block if isinstance(block, str) else "[image]" if image else text_of(item.get("text")))
    return together(texts)

"""ChatGPT's export: `conversations.json`, one file or many → conversations.

Each conversation is a tree of nodes under `mapping`; what the person saw last ends in `current_node`.
Seen in exports of 2023 to 2026: nodes without a message, hidden ones, profile dumps, several assistant
nodes for one answer, calls of tools as assistant messages to another `recipient`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial

from huimem.importers.branches import Branch, branch_id, branch_title, branches, leaves, parents_of
from huimem.importers.documents import Document
from huimem.importers.glance import Glance
from huimem.importers.listed import Found, each_branch, elsewhere, keys, listed
from huimem.importers.options import Options
from huimem.importers.transcript import Transcript, fenced, file_block, together
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

_HIDDEN = frozenset({"user_editable_context", "model_editable_context"})
_THINKING = frozenset({"thoughts", "reasoning_recap"})
# Marks that the page turns into links and names: 【4†source】, and U+E200 KIND U+E202 ARGUMENT … U+E201.
_MARK = re.compile(r"【[^【】\n]*†[^【】\n]*】|\ue200([^\ue200\ue201]*)\ue201|[\ue200-\ue20f]")
_CANVAS = "canmore."
_POINTERS = {
    "image": "[image]",
    "audio": "[audio]",
    "video": "[video]",
    "real_time_user_audio_video": "[audio]",
}


class ChatGPT:
    """Reads `conversations*.json`."""

    name = "chatgpt"
    apart = True

    def claims(self, glance: Glance) -> bool:
        return glance.holds(*keys("mapping"))

    def read(self, document: Document, options: Options) -> Found:
        read = partial(_conversations, document.modified, options)
        yield from listed(document, lambda item: isinstance(item.get("mapping"), dict), read)


def _conversations(modified: datetime, options: Options, item: Item, place: str) -> Found:
    nodes = {name: mapping_of(node) for name, node in mapping_of(item["mapping"]).items()}
    found = _branches(item, nodes)
    lost = sum(_says(nodes[node]) for node in elsewhere(found)) if options.branch == "active" else 0

    def made(branch: Branch, number: int) -> Conversation:
        transcript = _transcript(branch, nodes)
        transcript.model = transcript.model or one_line(item.get("default_model_slug"))
        transcript.leave_out("other branch", lost)
        return transcript.conversation(
            "chatgpt",
            branch_id(first_line(item, "conversation_id", "id"), branch.begin, number),
            options=options,
            title=branch_title(item.get("title"), number),
            created=instant_of(item.get("create_time")) or instant_of(item.get("update_time")),
            modified=modified,
        )

    return each_branch(found, options, place, made)


def _branches(item: Item, nodes: Mapping[str, Item]) -> list[Branch]:
    parents = parents_of({name: node.get("parent") for name, node in nodes.items()})
    if not any(parents.values()):
        return [Branch(tuple(_by_time(nodes)))]
    current = text_of(item.get("current_node"))
    if current not in nodes:
        ends = leaves(parents) or [*nodes]
        current = max(enumerate(ends), key=lambda end: (_moment(nodes[end[1]]), end[0]))[1]
    return [*branches(parents, current, lambda node: _role(nodes[node]) == "user")]


def _by_time(nodes: Mapping[str, Item]) -> list[str]:
    """Names by the times of their messages; what has none stays behind the one before it."""
    last, timed = 0.0, []
    for place, (name, node) in enumerate(nodes.items()):
        last = _moment(node) or last
        timed.append((last, place, name))
    return [name for _, _, name in sorted(timed)]


def _moment(node: Item) -> float:
    at = instant_of(_message(node).get("create_time"))
    return at.timestamp() if at else 0.0


def _message(node: Item) -> Item:
    return mapping_of(node.get("message"))


def _role(node: Item) -> str:
    return _role_of(_message(node))


def _role_of(message: Item) -> str:
    return text_of(mapping_of(message.get("author")).get("role"))


def _says(node: Item) -> bool:
    """Whether a node holds a message that would come along."""
    message = _message(node)
    return bool(message) and not _stays_behind(message) and bool(_text(message, Transcript()))


def _stays_behind(message: Item) -> str:
    """As what a message does not come along, "" for one that does."""
    kind = _kind(mapping_of(message.get("content")))
    hidden = mapping_of(message.get("metadata")).get("is_visually_hidden_from_conversation") is True
    return "hidden" if hidden or kind in _HIDDEN else "thinking" if kind in _THINKING else ""


def _transcript(branch: Branch, nodes: Mapping[str, Item]) -> Transcript:
    transcript = Transcript()
    for name, mark in branch.marked():
        if message := _message(nodes[name]):
            _take(message, (first_line(message, "id") or name) + mark, transcript)
    return transcript


def _take(message: Item, key: str, transcript: Transcript) -> None:
    content, metadata = mapping_of(message.get("content")), mapping_of(message.get("metadata"))
    transcript.begin()
    kind, at = _kind(content), instant_of(message.get("create_time"))
    author, role = mapping_of(message.get("author")), _role_of(message)
    if behind := _stays_behind(message):
        transcript.leave_out(behind)
    elif role == "tool":
        said, name = _text(message, transcript), line_of(author.get("name"))
        call = transcript.waiting_for(name) or transcript.waiting or transcript.last_call or key
        transcript.answer(call, said, at, key=key, name=name, failed=kind == "system_error")
    elif role == "assistant" and (tool := line_of(message.get("recipient"))) not in ("", "all"):
        given = _text(message, transcript)
        transcript.call(key, tool, given, at, key)
        if tool.startswith(_CANVAS) and (document := _document(_raw(content, Transcript()))):
            transcript.say("assistant", [document], at, f"{key} document")
    elif role not in ("user", "assistant", "system"):
        transcript.leave_out("unknown")
    else:
        if role == "assistant" and not transcript.model:
            transcript.model = one_line(metadata.get("model_slug"))
        transcript.say(role, [_text(message, transcript), *_attached(metadata)], at, key)


def _document(given: str) -> str:
    """The text that a call writes into a document beside the chat: there it is the answer."""
    written: Item = {}
    with suppress(ValueError):
        written = mapping_of(json.loads(given))
    whole = (mapping_of(update) for update in list_of(written.get("updates")))
    contents = [written.get("content"), *(u.get("replacement") for u in whole if u.get("pattern") == ".*")]
    text = next((text for text in map(text_of, contents) if text.strip()), "")
    return file_block(one_line(written.get("name")), text) if text else ""


def _attached(metadata: Item) -> list[str]:
    """Files that were handed over, by name; images stand among the parts as well."""
    files = [mapping_of(value) for value in list_of(metadata.get("attachments"))]
    images = ("image/", "audio/", "video/")
    return [file_block(one_line(f.get("name"))) for f in files if not _mime(f).startswith(images)]


def _mime(file: Item) -> str:
    return first_line(file, "mime_type", "mimeType")


def _text(message: Item, transcript: Transcript) -> str:
    """What a message shows, without citation marks."""
    if isinstance(message.get("content"), str):
        return text_of(message["content"])
    content = mapping_of(message.get("content"))
    if _kind(content) == "code":
        language = one_line(content.get("language"))
        return fenced(_raw(content, transcript), "" if language == "unknown" else language)
    said = _raw(content, transcript)
    return said if _role_of(message) == "user" else _MARK.sub(_shown, said)


def _shown(mark: re.Match[str]) -> str:
    """What a mark shows: a name, a link with its text; nothing for a citation."""
    kind, *arguments = (mark[1] or "").split("\ue202")
    if kind == "entity" and arguments:
        with suppress(ValueError):
            named = list_of(json.loads(arguments[0]))
            return text_of(named[1]) if len(named) > 1 else ""
    if kind == "url" and arguments:
        return f"[{arguments[0]}]({arguments[1]})" if len(arguments) > 1 else arguments[0]
    return ""


def _kind(content: Item) -> str:
    return text_of(content.get("content_type"))


def _raw(content: Item, transcript: Transcript) -> str:
    """The text of a content of any type; what nobody knows is counted."""
    match _kind(content):
        case "tether_quote":
            shown = (text_of(content.get(name)) for name in ("title", "url", "text"))
            return "\n".join(line for line in shown if line.strip())
        case "tether_browsing_display":
            return text_of(content.get("result")) or text_of(content.get("summary"))
        case "text" | "multimodal_text":
            return together(_part(part, transcript) for part in blocks_of(content.get("parts")))
    said = text_of(content.get("text")) or together(map(text_of, blocks_of(content.get("parts"))))
    if content and not said:
        transcript.leave_out("unknown")
    return said


def _part(part: object, transcript: Transcript) -> str:
    if isinstance(part, str):
        return part
    item = mapping_of(part)
    if isinstance(item.get("text"), str):
        return text_of(item["text"])
    kind = text_of(item.get("content_type"))
    for pointer, shown in _POINTERS.items():
        if kind.startswith(pointer):
            return shown
    if item:
        transcript.leave_out("unknown")
    return ""

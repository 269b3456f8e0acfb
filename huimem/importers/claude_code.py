"""Claude Code's transcripts: `~/.claude/projects/<folder>/<uuid>.jsonl` → conversations.

A line is an event. Seen: user content as a text or as blocks; results of tools as lines of the user;
one answer on several lines; sub-agents in the same file; resumed sessions that repeat lines; rewinds as
branches; texts that the program put in, in tags; base64 images; a last line that is half written.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from huimem.importers.branches import branch_id, branch_title, climb
from huimem.importers.claude import result_text
from huimem.importers.documents import Document
from huimem.importers.glance import Glance
from huimem.importers.json_stream import Fault, lines
from huimem.importers.options import Options, Skipped, guarded
from huimem.importers.transcript import Transcript, file_block, together
from huimem.importers.values import instant_of, line_of, list_of, mapping_of, one_line, text_of
from huimem.records import Conversation

Item = Mapping[str, object]

_INJECTED = re.compile(
    r"<(system-reminder|local-command-stdout|local-command-stderr|local-command-caveat)>.*?</\1>", re.DOTALL
)
_COMMAND = re.compile(r"<command-name>\s*/?(.*?)\s*</command-name>", re.DOTALL)
_ARGUMENTS = re.compile(r"<command-args>\s*(.*?)\s*</command-args>", re.DOTALL)
_CAVEAT = "Caveat: The messages below were generated"
_META = ("isMeta", "isCompactSummary", "isApiErrorMessage")


@dataclass(slots=True)
class _Line:
    """An event that holds a message; `number` is its line."""

    number: int
    item: Item
    uuid: str
    parent: str
    typed: bool


@dataclass(slots=True)
class _Talk:
    """All events of one session in one file, and what titles it."""

    lines: list[_Line] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class _Titles:
    """What a file says that its conversations are called, the surest last."""

    summaries: list[tuple[str, str]] = field(default_factory=list)
    made: dict[str, str] = field(default_factory=dict)
    custom: dict[str, str] = field(default_factory=dict)

    def note(self, item: Item, session: str) -> None:
        match item.get("type"):
            case "summary":
                self.summaries.append((one_line(item.get("leafUuid")), one_line(item.get("summary"))))
            case "ai-title":
                title = one_line(item.get("aiTitle")) or one_line(item.get("title"))
                self.made[session] = title or self.made.get(session, "")
            case "custom-title":
                self.custom[session] = one_line(item.get("customTitle")) or self.custom.get(session, "")

    def of(self, session: str, uuids: set[str]) -> str:
        """The title of a conversation of these events: a summary may belong to another one."""
        summary = next((text for leaf, text in reversed(self.summaries) if leaf in uuids and text), "")
        return self.custom.get(session) or self.made.get(session) or summary


class ClaudeCode:
    """Reads a session's `*.jsonl`. Lines that an earlier document brought are taken once."""

    name = "claude-code"
    apart = False

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def claims(self, glance: Glance) -> bool:
        if glance.array or not glance.holds("type"):
            return False
        return glance.holds("sessionId", "leafUuid") or (
            glance.holds("parentUuid", "uuid") and glance.holds("message.role", "message")
        )

    def read(self, document: Document, options: Options) -> Iterator[Conversation | Skipped]:
        talks: dict[str, _Talk] = defaultdict(_Talk)
        titles = _Titles()
        sidechain = False
        with document.open() as stream:
            for number, item in lines(stream):
                if isinstance(item, Fault) or not isinstance(item, dict):
                    if not (isinstance(item, Fault) and item.last):
                        reason = item.reason if isinstance(item, Fault) else "no JSON object"
                        yield Skipped(f"line {number}", reason)
                    continue
                session = one_line(item.get("sessionId")) or document.stem
                titles.note(item, session)
                sidechain |= item.get("isSidechain") is True
                self._note(number, item, talks[session])
        yield from guarded("", lambda: _conversations(talks, titles, document, options, sidechain))

    def _note(self, number: int, item: dict[str, object], talk: _Talk) -> None:
        """Keep an event that holds a message nobody has brought yet."""
        if item.get("type") not in ("user", "assistant") or not isinstance(item.get("message"), dict):
            return
        uuid = line_of(item.get("uuid"))
        if uuid and uuid in self._seen:
            return
        self._seen.add(uuid)
        _lighten(item)
        if item.get("isSidechain") is True:
            talk.left_out["sidechain"] += 1
        elif any(item.get(name) is True for name in _META) or _caveat(item):
            talk.left_out["hidden"] += 1
        else:
            line = _Line(
                number, item, uuid or f"line {number}", line_of(item.get("parentUuid")), _typed(item)
            )
            talk.lines.append(line)


def _lighten(item: dict[str, object]) -> None:
    """Drop what is half of such a file and never used: results told twice, the data of images."""
    item.pop("toolUseResult", None)
    for block in list_of(mapping_of(item["message"]).get("content")):
        if isinstance(block, dict) and block.get("type") == "image":
            block.pop("source", None)


def _conversations(
    talks: Mapping[str, _Talk], titles: _Titles, document: Document, options: Options, sidechain: bool
) -> Iterator[Conversation | Skipped]:
    made, left_out = 0, Counter[str]()
    for id, talk in talks.items():
        title = titles.of(id, {line.uuid for line in talk.lines})
        found = _branches(talk.lines)
        for place, (leaf, branch) in enumerate(found if options.branch == "all" else found[:1], 1):
            transcript = _transcript(branch)
            if place == 1:
                transcript.left_out.update(talk.left_out)
            if options.branch == "active":
                transcript.leave_out("other branch", sum(len(lost) for _, lost in found[1:]))
            conversation = transcript.conversation(
                "claude-code",
                branch_id(id, leaf, place),
                options=options,
                title=branch_title(title, place),
                modified=document.modified,
            )
            if conversation.messages:
                made += 1
                yield replace(conversation, copied=True)  # a resumed session begins with another one's lines
            else:
                left_out.update(conversation.left_out)
    if not made:
        yield Skipped("", "a sub-agent's own transcript" if sidechain else "no messages", left_out)


def _typed(item: Item) -> bool:
    """Whether a person typed this: a line of the user that is no result of a tool."""
    content = mapping_of(item.get("message")).get("content")
    results = any(mapping_of(block).get("type") == "tool_result" for block in list_of(content))
    return item.get("type") == "user" and not results


def _caveat(item: Item) -> bool:
    content = mapping_of(item.get("message")).get("content")
    first = content if isinstance(content, str) else _first_text(content)
    return item.get("type") == "user" and first.lstrip().startswith(_CAVEAT)


def _first_text(content: object) -> str:
    return next((text_of(mapping_of(block).get("text")) for block in list_of(content)), "")


def _branches(found: list[_Line]) -> list[tuple[str, list[_Line]]]:
    """The lines that stand, and those of each branch that a rewind gave up, with their last uuid.

    Where several typed messages follow one, all but the last were given up with what hangs below them.
    """
    children: dict[str, list[_Line]] = defaultdict(list)
    for line in found:
        if line.parent and line.typed:
            children[line.parent].append(line)
    given_up = {line.uuid for below in children.values() for line in below[:-1]}
    if not given_up:
        return [("", found)]
    parents = {line.uuid: line.parent for line in found}
    groups: dict[str, list[_Line]] = defaultdict(list)  # by the message that begins the branch, "" = none
    roots: dict[str, str] = {}
    for line in found:
        groups[_root(line.uuid, parents, given_up, roots)].append(line)
    standing = groups.pop("", [])
    held, lost = {line.uuid for line in standing}, []
    lines = {line.uuid: line for line in found}
    for root, group in sorted(groups.items(), key=lambda item: item[1][-1].number):
        shared, _ = climb(root, parents, held)  # a rewind inside a branch that was given up as well
        members = {uuid: lines[uuid] for uuid in (*shared, *(line.uuid for line in group))}
        branch = sorted((line for uuid, line in members.items() if uuid not in held), key=_number)
        held.update(members)
        lost.append((group[-1].uuid, branch))
    return [("", standing), *lost]


def _number(line: _Line) -> int:
    return line.number


def _root(uuid: str, parents: Mapping[str, str], given_up: set[str], known: dict[str, str]) -> str:
    """The nearest message from `uuid` upward that begins a branch given up, "" where there is none."""
    path: dict[str, None] = {}
    while uuid in parents and uuid not in known and uuid not in given_up and uuid not in path:
        path[uuid] = None
        uuid = parents[uuid]
    root = uuid if uuid in given_up else known.get(uuid, "")
    known.update(dict.fromkeys(path, root))
    return root


def _transcript(found: list[_Line]) -> Transcript:
    transcript = Transcript()
    answers: dict[str, list[_Line]] = defaultdict(list)
    for line in found:
        answers[_answer(line)].append(line)
    for parts in answers.values():
        if parts[0].item.get("type") == "assistant":
            _assistant(parts, transcript)
        else:
            _user(parts[0], transcript)
    return transcript


def _answer(line: _Line) -> str:
    """What joins the lines of one answer: the id of its message; every other line stands alone."""
    id = line_of(mapping_of(line.item.get("message")).get("id"))
    return f"answer {id}" if id and line.item.get("type") == "assistant" else f"line {line.number}"


def _at(line: _Line) -> datetime | None:
    return instant_of(line.item.get("timestamp"))


def _assistant(parts: list[_Line], transcript: Transcript) -> None:
    key = line_of(mapping_of(parts[0].item.get("message")).get("id")) or parts[0].uuid
    transcript.begin()
    texts, calls = [], []
    for line in parts:
        message = mapping_of(line.item.get("message"))
        model = one_line(message.get("model"))
        if not transcript.model and model != "<synthetic>":
            transcript.model = model
        content = message.get("content")
        for block in [content] if isinstance(content, str) else list_of(content):
            item = mapping_of(block)
            if item.get("type") == "tool_use":
                calls.append((item, _at(line)))
            else:
                texts.append(_block(block, transcript))
    if together(texts):
        transcript.say("assistant", texts, _at(parts[0]), key)
    elif not calls:
        transcript.say("assistant", (), None, key)
    for number, (call, at) in enumerate(calls):
        id = line_of(call.get("id")) or f"{key} tool {number}"
        transcript.call(id, one_line(call.get("name")), call.get("input"), at, id)


def _user(line: _Line, transcript: Transcript) -> None:
    content = mapping_of(line.item.get("message")).get("content")
    transcript.begin()
    texts, results = [], []
    for block in [content] if isinstance(content, str) else list_of(content):
        item = mapping_of(block)
        if item.get("type") == "tool_result":
            results.append(item)
        else:
            texts.append(_as_typed(_block(block, transcript)))
    for number, result in enumerate(results):
        id = line_of(result.get("tool_use_id")) or f"{line.uuid} tool {number}"
        text, failed = result_text(result.get("content")), result.get("is_error") is True
        transcript.answer(id, text, _at(line), key=id, failed=failed)
    if together(texts) or not results:
        transcript.say("user", texts, _at(line), line.uuid)


def _as_typed(text: str) -> str:
    """What the person typed: without what the program put in, a command as it was entered."""
    text = _INJECTED.sub("", text)
    command = _COMMAND.search(text)
    if command is None:
        return text
    arguments = _ARGUMENTS.search(text)
    return f"/{command[1]} {arguments[1] if arguments else ''}".strip()


def _block(block: object, transcript: Transcript) -> str:
    if isinstance(block, str):
        return block
    item = mapping_of(block)
    match text_of(item.get("type")):
        case "text":
            return text_of(item.get("text"))
        case "image":
            return "[image]"
        case "document":
            return file_block(one_line(item.get("title")))
        case "thinking" | "redacted_thinking":
            transcript.leave_out("thinking")
        case _:
            if block is not None:
                transcript.leave_out("unknown")
    return ""

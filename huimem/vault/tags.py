"""The older tag form, read in place and never written.

In: the body of a file with `<user timestamp="…">` … `</user>` blocks, `tool_call` and `tool_result`
tags, `[id:…]` anchors, `user 2026-04-06 09:14:23` lines, topic comments. Out: message openings, the
notes that stand between them, and what the comments say as front matter fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from huimem.markup import fences, inside
from huimem.vault.front import Value, split_front
from huimem.vault.headings import CANDIDATE, read_heading
from huimem.vault.moments import read_moment
from huimem.vault.openers import Fault, Opener, Setting, timed

_TAG = re.compile(
    r"^[ \t]{0,3}<(?P<close>/?)(?P<tag>user|assistant|system|tool_call|tool_result|tool)(?=[\s/>])[^\n]*",
    re.MULTILINE | re.IGNORECASE,
)
_HEADER = re.compile(
    r"^(?P<role>user|assistant|system|tool) "
    r"(?P<time>[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2})[ \t\r]*$",
    re.MULTILINE | re.IGNORECASE,
)
_ANCHOR = r"^[ \t]*\[id:[ \t]*[\w-]+(?:[ \t]+turn:[ \t]*\w+)?\][ \t\r]*$"
_COMMENT = (
    r"^[ \t]*<!--[ \t]*(?P<name>topic|created_at|system_ref|task_ref)[ \t]*:(?P<value>[^\n]*)-->[ \t\r]*$"
)
_TOPIC = re.compile(_COMMENT, re.MULTILINE)
# What the tag form says about itself between messages: nothing that anybody would look for.
_SILENT = re.compile(
    rf"{_ANCHOR}|{_COMMENT}|^[ \t]*</(?:user|assistant|system|tool_call|tool_result|tool)[ \t]*>[ \t\r]*$",
    re.MULTILINE | re.IGNORECASE,
)
_SECTION = re.compile(r"^##[ \t]+([^\n]*)$", re.MULTILINE)
_NAME = re.compile(r"[ \t\r]*([\w-]+)[ \t]*=[ \t]*")
_UNQUOTED = re.compile(r"[^\s>\"']+")
_OPENING = frozenset({"open", "whole", "header", "heading"})


@dataclass(frozen=True, slots=True)
class TagFile:
    """What the tag form says. `notes` are spans [start, end) of text between messages; `preface` is the
    text before the first one, with comments and inner front matter blanked out line for line."""

    openers: list[Opener]
    notes: list[tuple[int, int]]
    fields: Mapping[str, Value]
    preface: str
    faults: list[Fault]


@dataclass(frozen=True, slots=True)
class _Mark:
    """A line that begins or ends a message: open, close, whole (both in one line), header, heading."""

    kind: str
    start: int
    end: int
    tag: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    inner: tuple[int, int] | None = None


def recognised(text: str, path: str) -> bool:
    """Whether a body is of the tag form: its first message opens so, and it is more than a mention."""
    if "<" not in text and not _HEADER.search(text):
        return False
    marks = [mark for mark in _marks(text, fences(text)) if mark.kind in _OPENING]
    if not marks or marks[0].kind == "heading":
        return False
    if any(mark.kind != "header" and "timestamp" in mark.attributes for mark in marks):
        return True
    if {"user", "assistant"} <= {mark.tag for mark in marks}:
        return True
    return _TOPIC.search(text, 0, marks[0].start) is not None or path.rsplit("/", 1)[-1].startswith("chat_")


def read(text: str, setting: Setting) -> TagFile:
    """Messages, notes, fields and faults of a body in the tag form."""
    spans = fences(text)
    marks = list(_marks(text, spans))
    headings = {opener.start: opener for opener in timed(text, setting)[0]}
    openers: list[Opener] = []
    notes: list[tuple[int, int]] = []
    faults = list(_fenced(text, spans))
    index = ended = 0
    while index < len(marks):
        mark = marks[index]
        if mark.kind == "close":
            index += 1
            continue
        section = _section(text, ended, mark)
        if openers:
            _note(text, ended, section.start() if section else mark.start, notes)
        index, stop, ended, closed = _extent(text, marks, index)
        openers.append(_opener(text, mark, stop, section, headings, setting))
        if not closed:
            remedy = f"write </{mark.tag}> on a line after its text"
            faults.append(Fault(mark.start, f"<{mark.tag}> is never closed: it ends at the next one", remedy))
        if openers[-1].at is None:
            remedy = "write it as 2026-04-06 09:14:23"
            faults.append(Fault(mark.start, f"<{mark.tag}> has no readable time: not known", remedy))
    if openers:
        _note(text, ended, len(text), notes)
    fields, preface = _head(text[: openers[0].start if openers else len(text)])
    return TagFile(openers, notes, fields, preface, faults)


def _extent(text: str, marks: list[_Mark], index: int) -> tuple[int, int, int, bool]:
    """Of the message that opens at `marks[index]`: the next mark to read, the end of its text, the end
    of its whole element, and whether it was closed."""
    mark = marks[index]
    after = index + 1
    if mark.kind == "whole":
        return after, mark.end, mark.end, True
    if mark.kind == "open":
        while after < len(marks) and marks[after].kind not in ("open", "heading"):
            if marks[after].kind == "close" and marks[after].tag == mark.tag:
                return after + 1, marks[after].start, marks[after].end, True
            after += 1
        after = index + 1
    while after < len(marks) and marks[after].kind == "close":
        after += 1
    end = marks[after].start if after < len(marks) else len(text)
    return after, _before_anchors(text, mark.end, end), end, mark.kind != "open"


def _before_anchors(text: str, start: int, end: int) -> int:
    """Where text that nothing closes ends: anchors just before the next opening are not of it."""
    body = text[start:end].rstrip()
    while body:
        first = body.rfind("\n") + 1
        if not re.match(_ANCHOR, body[first:]):
            break
        body = body[:first].rstrip()
    return start + len(body)


def _opener(
    text: str,
    mark: _Mark,
    stop: int,
    section: re.Match[str] | None,
    headings: Mapping[int, Opener],
    setting: Setting,
) -> Opener:
    if mark.kind == "heading":
        known = headings[mark.start]
        return Opener(known.start, known.text, known.role, known.name, known.at, known.level, stop)
    role = "tool" if mark.tag.startswith("tool") else mark.tag
    name = mark.attributes.get("name") or (section[1].strip() if section else None)
    at: datetime | None = read_moment(mark.attributes.get("timestamp", ""), setting.zone)
    if mark.inner is not None:
        return Opener(mark.start, mark.inner[0], role, name, at, stop=mark.inner[1])
    if mark.kind == "whole":
        said = mark.attributes.get("params") or " ".join(
            value for key, value in mark.attributes.items() if key not in ("name", "timestamp")
        )
        return Opener(mark.start, mark.end, role, name, at, stop=stop, said=said)
    return Opener(mark.start, min(mark.end + 1, len(text)), role, name, at, stop=stop)


def _section(text: str, start: int, mark: _Mark) -> re.Match[str] | None:
    """The `## name` line that stands over a system prompt and nothing else."""
    if mark.tag != "system" or mark.kind == "heading":
        return None
    *_, last = None, *_SECTION.finditer(text, start, mark.start)
    return last if last and not _SILENT.sub("", text[last.end() : mark.start]).strip() else None


def _note(text: str, start: int, end: int, notes: list[tuple[int, int]]) -> None:
    if _SILENT.sub("", text[start:end]).strip():
        notes.append((start, end))


def silenced(text: str) -> str:
    """`text` without anchors, topic comments and stray closing tags; line for line."""
    return _SILENT.sub("", text)


def _head(text: str) -> tuple[dict[str, Value], str]:
    """The fields that topic comments and a front matter block below them give; the rest of the text."""
    fields: dict[str, Value] = {}
    for comment in _TOPIC.finditer(text):
        key = {"topic": "title", "created_at": "created"}.get(comment["name"], comment["name"])
        fields.setdefault(key, comment["value"].strip())
    rest = silenced(text)
    lead = len(rest) - len(rest.lstrip())
    inner, _ = split_front(rest[lead:].encode("utf-8", "surrogateescape"), "")
    block = inner.raw.decode("utf-8", "surrogateescape")
    return {**fields, **inner.fields}, rest[:lead] + "\n" * block.count("\n") + rest[lead + len(block) :]


def _fenced(text: str, spans: list[tuple[int, int]]) -> Iterator[Fault]:
    """A fault for each dated opening that a code fence hides."""
    if not spans:
        return
    for mark in _marks(text, []):
        if mark.kind in ("open", "whole") and "timestamp" in mark.attributes and inside(spans, mark.start):
            remedy = "close the fence above it if it is a message"
            yield Fault(mark.start, f"<{mark.tag}> stands in a code fence: read as text", remedy)


def _marks(text: str, spans: list[tuple[int, int]]) -> list[_Mark]:
    """Marks outside the fences `spans`, in text order; full headings count in fences too."""
    found = [mark for match in _TAG.finditer(text) if (mark := _tag_mark(text, match)) is not None]
    for match in _HEADER.finditer(text):
        found.append(
            _Mark("header", match.start(), match.end(), match["role"].lower(), {"timestamp": match["time"]})
        )
    found = [mark for mark in found if not inside(spans, mark.start)]
    for match in CANDIDATE.finditer(text):
        heading = read_heading(match[0])
        if heading and heading.full and heading.wall:
            found.append(_Mark("heading", match.start(), match.end(), heading.head))
    return sorted(found, key=lambda mark: mark.start)


def _tag_mark(text: str, match: re.Match[str]) -> _Mark | None:
    """The mark of a line that is a tag and nothing else, or a whole element; None for other lines."""
    line, start = match[0].rstrip(), match.start()
    tag, end = match["tag"].lower(), match.end()
    if match["close"]:
        alone = not line[match.end("tag") - start :].strip(" \t\r>") and line.endswith(">")
        return _Mark("close", start, end, tag) if alone else None
    attributes, after = _attributes(line, match.end("tag") - start)
    rest = line[after:]
    if rest == ">":
        return _Mark("open", start, end, tag, attributes)
    if rest == "/>":
        return _Mark("whole", start, end, tag, attributes)
    closing = f"</{tag}>"
    if rest.startswith(">") and rest.lower().endswith(closing):
        inner = (start + after + 1, start + len(line) - len(closing))
        return _Mark("whole", start, end, tag, attributes, inner)
    return None


def _attributes(line: str, at: int) -> tuple[dict[str, str], int]:
    """Attributes from `at` on, in any order and quoting, and where the tag's own end begins.

    A quote ends a value only before a blank, `/` or `>`: an apostrophe in JSON does not.
    """
    attributes: dict[str, str] = {}
    while name := _NAME.match(line, at):
        quote = line[name.end() : name.end() + 1]
        if quote in ("'", '"') and quote:
            start = name.end() + 1
            stop = line.find(quote, start)
            while stop >= 0 and line[stop + 1 : stop + 2] not in (" ", "\t", "/", ">"):
                stop = line.find(quote, stop + 1)
            if stop < 0:
                break
            at = stop + 1
        else:
            bare = _UNQUOTED.match(line, name.end())
            if bare is None:
                break
            start, stop = bare.span()
            if line[stop - 1] == "/" and stop == len(line) - 1:
                stop -= 1
            at = stop
        attributes.setdefault(name[1].lower(), line[start:stop])
    while line[at : at + 1] in (" ", "\t"):
        at += 1
    return attributes, at

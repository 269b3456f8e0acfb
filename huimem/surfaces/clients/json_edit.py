"""A JSON text and the change of one entry → the text with that entry and nothing else changed.

Every byte outside the entry stays: comments, order, indentation, ends of lines. What is added takes
the look of what stands around it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from huimem.surfaces.clients.entry import Change, Values
from huimem.surfaces.clients.jsonc import Document, Fault, Member, Node, parse, plain

# Comments that belong to what stands before them on the same line.
_BESIDE = re.compile(r"(?:[ \t]*/\*[^\r\n]*?\*/)*(?:[ \t]*//[^\r\n]*)?")
_REST_OF_LINE = re.compile(r"[ \t]*(?:\r\n|\r|\n|\Z)")


@dataclass(frozen=True, slots=True)
class Look:
    """How a text is laid out. `flat`: all on one line; `tight`: without blanks behind colons and commas."""

    newline: str = "\n"
    unit: str = "  "
    flat: bool = False
    tight: bool = False


def edited(text: str, section: str, name: str, change: Callable[[Values], Change]) -> str:
    """`text` with the entry `name` of `section` changed, made where there is none.

    Raises `Fault` for a text that is no JSON or holds something else where the section should be.
    """
    document = parse(text, (section,))
    new = change({}).applied({})
    if document.root is None:
        return _begun(text, {section: {name: new}})
    root, look = document.root, look_of(document)
    if root.kind != "object":
        raise Fault("the file holds no JSON object", document.line(root.start))
    servers = root.last(section)
    if servers is None:
        return put(text, root, section, {name: new}, look)
    if text[servers.value.start : servers.value.end] == "null":
        return put(text, root, section, {name: new}, look)
    if servers.value.kind != "object":
        raise Fault(f'"{section}" is no JSON object', document.line(servers.start))
    entry = servers.value.last(name)
    if entry is None or entry.value.kind != "object":
        return put(text, servers.value, name, new, look)
    body = text[entry.value.start : entry.value.end]
    old = plain(text, entry.value)
    assert isinstance(old, dict)
    body = _entry_edited(body, change(old), look, _indent_of(text, entry.value.start))
    return text[: entry.value.start] + body + text[entry.value.end :]


def entry_in(text: str, section: str, name: str) -> Values | None:
    """The entry as it stands; None where there is none or it is no object. Raises `Fault`."""
    root = parse(text, (section,)).root
    servers = root.last(section) if root else None
    entry = servers.value.last(name) if servers else None
    value = plain(text, entry.value) if entry else None
    return value if isinstance(value, dict) else None


def look_of(document: Document) -> Look:
    """The layout of a text that holds an object."""
    text, root = document.text, document.root
    newline = re.search(r"\r\n|\n", text)
    members = root.members if root else ()
    indents = [indent for member in members if (indent := _own_line(text, member.start)) is not None]
    between = text[members[0].start : members[0].value.start] if members else ""
    return Look(
        newline=newline[0] if newline else "\n",
        unit=next((indent for indent in indents if indent), "  "),
        flat=not re.search(r"[\r\n]", text.strip()) and bool(members),
        tight=between.endswith(":"),
    )


def render(value: object, look: Look, indent: str = "") -> str:
    """A value as text: objects a key a line, lists and all that is inside a flat text on one line."""
    if not isinstance(value, dict) or look.flat:
        separators = (",", ":") if look.tight else (", ", ": ")
        return json.dumps(value, ensure_ascii=False, separators=separators)
    if not value:
        return "{}"
    inner = indent + look.unit
    lines = [f"{inner}{_quoted(key)}: {render(item, look, inner)}" for key, item in value.items()]
    return look.newline.join(("{", ("," + look.newline).join(lines), indent + "}"))


def put(text: str, node: Node, key: str, value: object, look: Look, outer: str | None = None) -> str:
    """`text` with a member of the object `node` set: its value replaced, else the member added at the end.

    `outer` is the indentation of the line that the object begins on, where `text` does not show it.
    """
    outer = _indent_of(text, node.start) if outer is None else outer
    member = node.last(key)
    one_line = look.flat or (bool(node.members) and not _lines(text, node))
    here = Look(look.newline, look.unit, one_line, look.tight)
    indent = _indent_inside(text, node, outer + look.unit)
    if member:
        shown = render(value, here, indent)
        return text[: member.value.start] + shown + text[member.value.end :]
    colon = ":" if here.flat and look.tight else ": "
    added = f"{_quoted(key)}{colon}{render(value, here, indent)}"
    lead = ("" if look.tight else " ") if one_line else look.newline + indent
    if node.members:
        return _appended(text, node.members[-1], lead + added)
    return _first(text, node, added if one_line else lead + added, "" if one_line else look.newline + outer)


def without(text: str, node: Node, member: Member) -> str:
    """`text` with a member of an object taken out, and its line where nothing else stands on it."""
    place = node.members.index(member)
    last = place == len(node.members) - 1
    end = member.value.end if member.comma is None else member.comma + 1
    line = text.rfind("\n", 0, member.start) + 1
    rest = _REST_OF_LINE.match(text, end)
    if rest and not text[line : member.start].strip(" \t"):
        start, end = line, rest.end()
    else:
        blanks = re.compile(r"[ \t]*").match(text, end)
        start, end = member.start, blanks.end() if blanks else end
    text = text[:start] + text[end:]
    comma = node.members[place - 1].comma if last and place and member.comma is None else None
    return text if comma is None else text[:comma] + text[comma + 1 :]


def _entry_edited(body: str, change: Change, look: Look, outer: str) -> str:
    for key, value in change.put.items():
        body = put(body, _object(body), key, value, look, outer)
    for key in change.drop:
        while member := _object(body).last(key):
            body = without(body, _object(body), member)
    return body


def _object(body: str) -> Node:
    root = parse(body).root
    assert root is not None
    return root


def _begun(text: str, value: object) -> str:
    """A text without a value, with one: behind the comments, if there are any."""
    newline = "\r\n" if "\r\n" in text else "\n"
    before = text.rstrip() + newline if text.strip() else ""
    return before + render(value, Look(newline)) + newline


def _appended(text: str, last: Member, added: str) -> str:
    """A member behind the last one and the comments beside that; a comma at the end stays one."""
    end = last.value.end if last.comma is None else last.comma + 1
    beside = _BESIDE.match(text, end)
    at = beside.end() if beside else end
    if last.comma is None:
        return text[:end] + "," + text[end:at] + added + text[at:]
    return text[:at] + added + "," + text[at:]


def _first(text: str, node: Node, added: str, closing: str) -> str:
    """The first member of an object, behind the comments in it."""
    inside = text[node.start + 1 : node.end - 1]
    comments = inside.rstrip()
    at = node.start + 1 + len(comments)
    if re.search(r"[\r\n]", inside[len(comments) :]):
        return text[:at] + added + text[at:]
    at = node.end - 1
    return text[:at] + added + closing + text[at:]


def _quoted(key: str) -> str:
    return json.dumps(key, ensure_ascii=False)


def _lines(text: str, node: Node) -> bool:
    return bool(re.search(r"[\r\n]", text[node.start : node.end]))


def _indent_inside(text: str, node: Node, otherwise: str) -> str:
    """The indentation of the members of an object: that of the last one which begins a line."""
    found = (_own_line(text, member.start) for member in reversed(node.members))
    return next((indent for indent in found if indent is not None), otherwise)


def _own_line(text: str, at: int) -> str | None:
    """The indentation before `at`; None on the first line, and where something else stands before it."""
    line = text.rfind("\n", 0, at) + 1
    before = text[line:at]
    return before if line and not before.strip(" \t") else None


def _indent_of(text: str, at: int) -> str:
    """The indentation of the line that `at` is on."""
    line = text.rfind("\n", 0, at) + 1
    found = re.compile(r"[ \t]*").match(text, line)
    return found[0] if found else ""

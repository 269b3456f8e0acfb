"""Front matter: the flat block of `key: value` lines at a file's top.

In: a file's bytes. Out: the block as written, its values as strings, and the body; or the block with
one value changed. Values are never typed (`no`, `1.10`, `00012`, `12:30` stay what they are). A line
that YAML refuses costs that line only. The plain forms are read here; YAML reads the rest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from huimem.errors import Problem
from huimem.vault.front_yaml import Value, compose, no_mapping, repeated_key, yaml_fields
from huimem.vault.headings import CANDIDATE, read_heading, role_lines
from huimem.vault.text import decode, legible, no_text

__all__ = ["BOM", "Front", "Value", "render_front", "set_field", "split_front"]

BOM = b"\xef\xbb\xbf"
LARGEST = 64 * 1024

_OPEN = re.compile(rb"---[ \t]*\r?\n")
_CLOSE = re.compile(rb"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)
_MESSAGE_SIGN = re.compile(rb"^(?:#|\*\*|<)", re.MULTILINE)
_TAG = re.compile(rb"^<(?:user|assistant|system|tool(?:_call|_result)?)[ \t>]", re.MULTILINE | re.IGNORECASE)
# A line of `key: value`; the key needs no quotes in YAML and holds no blank-colon.
_PAIR = re.compile(r"(?P<key>[^\W][\w.-]*(?: [\w.-]+)*):(?:[ ]+(?P<value>[^\n]*?))?[ ]*\Z")
_ITEM = re.compile(r"(?P<indent>[ ]*)-[ ]+(?P<value>[^\n]*?)[ ]*\Z")
# Characters that YAML refuses or folds: a block with one of them is never read the short way.
_ODD = r"\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff"
_SILENT = re.compile(rf"[ ]*(?:#[^{_ODD}]*)?\Z")
# Text that YAML reads as itself: no sign of its grammar at the start, none of its marks inside.
_PLAIN = re.compile(rf"(?![-?:,\[\]{{}}#&*!|>'\"%@`=])(?:(?!: |:\Z| #)[^{_ODD}])+\Z")
_QUOTED = re.compile(rf"\"[^\"\\{_ODD}]*\"\Z|'[^'{_ODD}]*'\Z")
_FLOW = re.compile(r"\[([^\[\]{}\"'#&*!|>%@`:]*)\]\Z")
# What other YAML readers would turn into a number, a truth value, a date or nothing.
_TYPED = re.compile(
    r"(?:[-+.]?[0-9][0-9_,.:eExXoO+a-fA-F-]*|~|null|true|false|yes|no|on|off|y|n|[-+]?\.(?:inf|nan))\Z",
    re.IGNORECASE,
)
_UNPRINTABLE = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_BLANK = " \t\r\n"  # what YAML takes for no text; other spaces are
_UNTYPED_KEYS = frozenset({"huimem", "created"})
_OURS = re.compile(rb"(?:huimem|id|title|created|tz):[ \t]")


@dataclass(frozen=True, slots=True)
class Front:
    """A file's front matter. `raw` is the block with its fences and any BOM; `body_line` is 1-based."""

    raw: bytes
    fields: Mapping[str, Value]
    problems: tuple[Problem, ...]
    body_line: int


@lru_cache(maxsize=1)  # what a file is, is asked of it before what it says
def split_front(data: bytes, path: str) -> tuple[Front, bytes]:
    """Front matter and body; `front.raw + body == data` for any bytes.

    A block that is no mapping, or that nothing closes, is body: nothing said there is lost.
    """
    mark = BOM if data.startswith(BOM) else b""
    start = len(mark)
    opening = _OPEN.match(data, start)
    if opening is None:
        lost = _headless(data, start, path)
        return Front(mark, {}, (lost,) if lost else (), 1), data[start:]
    closing = _CLOSE.search(data, opening.end())
    if closing is None or _reaches_messages(data[opening.end() : closing.start()]):
        return _unclosed(mark, data[opening.end() :], path), data[start:]
    text, wrong_byte = decode(data[opening.end() : closing.start()])
    fields, problems = _read(legible(text), path)
    if wrong_byte is not None:
        line = text.count("\n", 0, wrong_byte) + 2
        problems += (Problem(path, line, *no_text(text, wrong_byte)[0][1:]),)
    if fields is None:
        return Front(mark, {}, problems, 1), data[start:]
    end = min(closing.end() + 1, len(data))
    raw = data[:end]
    return Front(raw, fields, problems, raw.count(b"\n") + 1), data[end:]


def _reaches_messages(block: bytes) -> bool:
    """Whether a conversation begins before the next `---`: then that one closes no front matter.

    To YAML a heading is a comment, so a lost closing line would hide the messages above a later rule.
    """
    if not _MESSAGE_SIGN.search(block):
        return False
    text = block.decode("utf-8", "replace")
    timed = (read_heading(match[0]) for match in CANDIDATE.finditer(text))
    return _TAG.search(block) is not None or any(timed) or bool(role_lines(text))


def _headless(data: bytes, start: int, path: str) -> Problem | None:
    """The problem of a block of ours whose first `---` is missing."""
    if not _OURS.match(data, start):
        return None
    closing = _CLOSE.search(data, start, start + LARGEST)
    if closing is None or not _lines_are_front(data[start : closing.start()].decode("utf-8", "replace")):
        return None
    return Problem(
        path, 1, "front matter without its first `---`: read as text", "put `---` on a line above it"
    )


def _unclosed(mark: bytes, rest: bytes, path: str) -> Front:
    """Fields of the lines below an opening `---` that nothing closes; the bytes stay body."""
    head = re.split(r"\n[ \t\r]*(?=\n)|\n(?=#)", rest[:LARGEST].decode("utf-8", "replace"), maxsplit=1)[0]
    if not _PAIR.match(head.split("\n", 1)[0].rstrip(" \t\r")):
        return Front(mark, {}, (), 1)  # a lone rule
    fields = _salvage(head)
    remedy = "put `---` on a line below its last key"
    return Front(mark, fields, (Problem(path, 1, "front matter is not closed: read as text", remedy),), 1)


def _read(block: str, path: str) -> tuple[dict[str, Value] | None, tuple[Problem, ...]]:
    """Fields and problems of a closed block; no fields at all (None) where it is no mapping."""
    plain = _plain_fields(block)
    if plain is not None:
        fields, repeated = plain
        return fields, tuple(repeated_key(path, line, key) for line, key in repeated)
    if len(block) > LARGEST:
        if not _lines_are_front(block[:LARGEST]):
            return None, (no_mapping(path),)
        big = Problem(
            path, 1, "front matter is larger than 64 KiB: only its plain lines are read", "shorten it"
        )
        return _salvage(block), (big,)
    fields_, problems = yaml_fields(block, path)
    if fields_ is not None:
        return fields_, problems
    return (_salvage(block), problems) if _lines_are_front(block) else (None, (no_mapping(path),))


# --- the plain forms -----------------------------------------------------------------------------


def _plain_fields(block: str) -> tuple[dict[str, Value], list[tuple[int, str]]] | None:
    """Fields and repeated keys (with lines) of a block in plain forms only; None for any other block."""
    fields: dict[str, Value] = {}
    repeated: list[tuple[int, str]] = []
    key, indent, items = "", None, list[str]()
    for number, line in enumerate(block.split("\n"), start=2):
        line = line.rstrip("\r")
        if _SILENT.match(line):
            continue
        item = _ITEM.match(line) if key else None
        if item:
            value = _plain_scalar(item["value"])
            if value is None or (indent is not None and item["indent"] != indent):
                return None
            indent = item["indent"]
            items.append(value)
            if fields[key] == "" or isinstance(fields[key], tuple):
                fields[key] = tuple(items)
            continue
        pair = _PAIR.match(line)
        value_ = _plain_value(pair["value"] or "") if pair else None
        if pair is None or value_ is None:
            return None
        key, indent, items = ("" if pair["value"] else pair["key"]), None, []
        if pair["key"] in fields:
            repeated.append((number, pair["key"]))
            if key:
                return None  # a list under a repeated key: leave it to YAML
        else:
            fields[pair["key"]] = value_
    return fields, repeated


def _plain_value(text: str) -> Value | None:
    flow = _FLOW.match(text)
    if flow is None:
        return _plain_scalar(text) if text else ""
    if not flow[1].strip(" "):
        return ()
    items = [_plain_scalar(item.strip(" ")) for item in flow[1].split(",")]
    return None if None in items else tuple(item for item in items if item is not None)


def _plain_scalar(text: str) -> str | None:
    if _PLAIN.match(text):
        return text
    return text[1:-1] if _QUOTED.match(text) else None


def _lines(block: str) -> Iterator[str]:
    """Lines that say something: no blanks, no comments."""
    for line in block.split("\n"):
        line = line.rstrip(" \t\r")
        if line and not line.lstrip(" \t").startswith("#"):
            yield line


def _lines_are_front(block: str) -> bool:
    """Whether a block that cannot be parsed was meant as front matter: it opens with a key, and most
    of its lines are keys, items or indented."""
    lines = list(_lines(block))
    meant = [
        line for line in lines if line[0] in " \t-" or re.match(r"[^\s:]+(?: [^\s:]+)*[ ]?:(?:\s|\Z)", line)
    ]
    return bool(lines) and lines[0] in meant[:1] and lines[0][0] not in " \t-" and 2 * len(meant) > len(lines)


def _salvage(block: str) -> dict[str, Value]:
    """The fields of a broken block that can be read line by line; the first of a key counts."""
    fields: dict[str, Value] = {}
    key = ""
    for line in _lines(block):
        item = _ITEM.match(line) if key else None
        pair = None if item else re.match(r"([^\W][\w.-]*)[ ]*:(?:[ ]+(.*))?\Z", line)
        if item:
            value = _plain_scalar(item["value"])
            before = fields[key]
            if value is not None:
                fields[key] = (*(before if isinstance(before, tuple) else ()), value)
        elif pair and pair[1] not in fields:
            text = (pair[2] or "").strip(" ")
            value_ = _plain_value(text)
            fields[pair[1]] = text if value_ is None else value_
            key = "" if text else pair[1]
        else:
            key = ""
    return fields


# --- writing -------------------------------------------------------------------------------------


def render_front(fields: Mapping[str, Value]) -> bytes:
    """A new block of these fields, fences and all; b"" for no fields."""
    if not fields:
        return b""
    lines = [line for name, value in fields.items() for line in _field_lines(name, value)]
    return "\n".join(["---", *lines, "---", ""]).encode()


def _field_lines(name: str, value: Value) -> list[str]:
    pair = _PAIR.match(f"{name}:")
    key = name if pair and pair["key"] == name and not _TYPED.match(name) else _double_quoted(name)
    if isinstance(value, str):
        text = _scalar(value, name)
        return [f"{key}: {text}" if text else f"{key}:"]
    if not value:
        return [f"{key}: []"]
    return [f"{key}:", *(f"  - {_scalar(item)}" for item in value)]


def _scalar(text: str, key: str = "") -> str:
    """`text` as YAML writes it: plain where every reader takes it for this very string."""
    if not text and key:
        return ""
    if text.strip(" ") == text and _PLAIN.match(text) and (key in _UNTYPED_KEYS or not _TYPED.match(text)):
        return text
    return _double_quoted(text)


def _double_quoted(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda m: f"\\u{ord(m[0]):04x}", quoted)


def set_field(front_raw: bytes, name: str, value: Value) -> bytes:
    """The block with `name` set to `value`; only its line, or its list, changes.

    A new key goes to the end of the block; no block (b"" or a BOM) becomes one. Raises ValueError
    where the block cannot be parsed, or has the key twice.
    """
    if front_raw in (b"", BOM):
        return front_raw + render_front({name: value})
    opening = _OPEN.match(front_raw, len(BOM) if front_raw.startswith(BOM) else 0)
    closing = _CLOSE.search(front_raw, opening.end()) if opening else None
    if opening is None or closing is None:
        raise ValueError("not a front matter block")
    try:
        block = front_raw[opening.end() : closing.start()].decode()
    except UnicodeDecodeError as error:
        raise ValueError("front matter is not UTF-8") from error
    end = "\r\n" if b"\r\n" in opening[0] else "\n"
    changed = _with_field(block, name, value, end)
    return front_raw[: opening.end()] + changed.encode() + front_raw[closing.start() :]


def _with_field(block: str, name: str, value: Value, end: str) -> str:
    fields, problems = yaml_fields(block, "")
    if fields is None or any(f"{name!r} twice" in problem.message for problem in problems):
        raise ValueError("; ".join(problem.message for problem in problems))
    if name in fields:
        changed = _replaced(block, name, value, end)
    else:
        changed = block + "".join(line + end for line in _field_lines(name, value))
    if yaml_fields(changed, "")[0] != {**fields, name: value}:
        raise ValueError(f"front matter is written in a way that {name!r} cannot be changed in")
    return changed


def _replaced(block: str, name: str, value: Value, end: str) -> str:
    """`block` with the text of one value exchanged; its comment, if on the line, stays."""
    import yaml

    root = compose(block)
    pairs = root.value if isinstance(root, yaml.MappingNode) else []
    key, node = next(pair for pair in pairs if pair[0].value == name)
    start, stop = node.start_mark.index, node.end_mark.index
    if isinstance(node, yaml.SequenceNode) and not node.flow_style:
        return _list_replaced(block, start, stop, value, end)
    body = block[start:stop]
    stop -= len(body) - len(body.rstrip(_BLANK))
    if isinstance(value, str):
        text = _scalar(value, name)
    else:
        text = f"[{', '.join(_flow_item(item) for item in value)}]"
    if start == stop:  # nothing there yet: the value follows the colon
        start = stop = block.index(":", key.end_mark.index) + 1
    blank = " " if text and block[start - 1 : start] == ":" else ""
    return block[:start] + blank + text + block[stop:]


def _flow_item(text: str) -> str:
    plain = _scalar(text)
    return plain if plain[:1] == '"' or not re.search(r"[,\[\]{}]", plain) else _double_quoted(text)


def _list_replaced(block: str, start: int, stop: int, value: Value, end: str) -> str:
    """A block list exchanged for another one in its indentation, or for a value on the key's line."""
    first = block.rindex("\n", 0, start) + 1
    indent = block[first:start]
    stop = first + len(block[first:stop].rstrip(_BLANK))
    if not isinstance(value, str) and value:
        return block[:first] + end.join(f"{indent}- {_scalar(item)}" for item in value) + block[stop:]
    text = _scalar(value, "value") if isinstance(value, str) else "[]"
    head = block[:first].rstrip(_BLANK)
    return head + (f" {text}" if text else "") + block[stop:]

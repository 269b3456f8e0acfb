"""Fact files ↔ versions, and versions → what holds when.

In: a file's bytes, or versions. Out: a `FactFile` that renders to the same bytes again, and facts with
their validity. A section is a version as written; what holds when is computed and never stored.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from itertools import pairwise

from huimem.errors import Problem
from huimem.records import Fact, FactVersion, Ref, TimeRange
from huimem.vault.front import set_field, split_front
from huimem.vault.layout import folded, split_namespace
from huimem.vault.moments import digits, read_moment, written
from huimem.vault.text import decode, no_text, normal, trim

IMPORTANCE: Mapping[str, float] = {
    "instruction": 1.5, "preference": 1.3, "summary": 1.2, "principle": 1.2,
    "fact": 1.0, "note": 1.0, "episode": 0.8, "tool_result": 0.6,
}  # fmt: skip

# A line longer than this is text, whatever it looks like.
_LONGEST = 400
_WORD = re.compile(r"[^\W\d][\w-]*")
_CLOCK = (
    r"\d{4}-\d{1,2}-\d{1,2}"
    r"(?:(?:T|[ \t]+)\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:[ \t]?(?:Z|[+-]\d{2}:?\d{2}))?)?"
)
_HEADING = re.compile(
    rf"##[ \t]+(?:(?P<kind>{_WORD.pattern})[ \t]*(?:[·|,—-][ \t]*|[ \t]))?(?P<start>{_CLOCK})"
    rf"(?:(?:[ \t]*(?:→|->|\.\.|–|至)|[ \t]+to\b)[ \t]*(?P<end>{_CLOCK})?)?[ \t]*"
)
_PAIR = re.compile(r'([A-Za-z_][\w-]*)=("(?:[^"\\]|\\.)*"|[^\s"<>=]+)')
_ATTRIBUTES = re.compile(rf"<!--[ \t]+{_PAIR.pattern}(?:[ \t]+{_PAIR.pattern})*[ \t]+-->[ \t]*")
_BARE = re.compile(r"[\w.,:/#@~%+-]+")
_CANDIDATE = re.compile(r"^\\*(?:##|<!--)[^\n]*", re.MULTILINE)


_FIRST_HEADING = "Write a line like `## 2026-04-06 →` above the text."


@dataclass(frozen=True, slots=True)
class FactFile:
    """What a fact file holds, losslessly. `head` is all before the first section, front matter included.

    `id` stands in refs of facts without a key. `preface` is the head's text
    below the front matter, which ends at byte `preface_at`.
    """

    id: str
    key: str | None
    kind: str
    title: str
    tags: tuple[str, ...]
    versions: tuple[FactVersion, ...]
    zone: tzinfo
    namespace: str = ""
    preface: str = ""
    fields: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict, compare=False)
    head: bytes = field(default=b"", compare=False, repr=False)
    preface_at: int = field(default=0, compare=False)
    problems: tuple[Problem, ...] = field(default=(), compare=False)


def fold(key: str) -> str:
    """The form in which keys are compared: NFC and case folded."""
    return folded(key).strip()


def file_id(path: str) -> str:
    """How refs name a fact file: by name below `facts/` and in week folders, else by path; no `.md`."""
    place = split_namespace(path)[1].removesuffix(".md")
    return place.rpartition("/")[2] if re.match(r"facts/|sessions/", place) else place


def tags_of(fields: Mapping[str, str | tuple[str, ...]]) -> tuple[str, ...]:
    """The tags of a file: a list, or one text with commas or blanks between; `#` taken off, each once."""
    value = fields.get("tags", ())
    parts = re.split(r"[,\s]+", value) if isinstance(value, str) else value
    return tuple(dict.fromkeys(tag for tag in (part.strip().lstrip("#") for part in parts) if tag))


def new_file(
    *, id: str, key: str | None, kind: str, zone: tzinfo, namespace: str = "", tags: Sequence[str] = ()
) -> FactFile:
    """A fact file without sections yet: front matter and nothing else."""
    fields: dict[str, str | tuple[str, ...]] = {"huimem": "1"}
    if key is not None:
        fields["key"] = unicodedata.normalize("NFC", key)
    fields["kind"] = kind
    if tags:
        fields["tags"] = tuple(tags)
    head = b""
    for name, value in fields.items():
        head = set_field(head, name, value)
    return FactFile(
        id,
        key and str(fields["key"]),
        kind,
        key or id,
        tuple(tags),
        (),
        zone,
        namespace,
        "",
        fields,
        head + b"\n",
    )


def parse_facts(data: bytes, path: str, *, zone: tzinfo, namespace: str = "") -> FactFile:
    """The versions of a fact file; `zone` is that of times without an offset. Any bytes give a file.

    Times that cannot be and sections that contradict each other leave a Problem with its line.
    """
    front, body = split_front(data, path)
    key = _one(front.fields, "key")
    named = _one(front.fields, "kind")
    kind = named.lower() if named and _WORD.fullmatch(named) else "fact" if key else "note"
    preface_raw, sections, faults = _sections(body, front.body_line, zone)
    versions = tuple(_version(section, key, kind, faults) for section in sections)
    faults += _contradictions(versions) + _no_text(body, front.body_line)
    if key and not versions:
        faults.append((1, "no heading with a time, so nothing here counts as a fact", _FIRST_HEADING))
    preface = normal(preface_raw.decode("utf-8", "replace"))
    place = file_id(path)
    return FactFile(
        id=_one(front.fields, "id") or place,
        key=key,
        kind=kind,
        title=_one(front.fields, "title") or _first_heading(preface) or key or place,
        tags=tags_of(front.fields),
        versions=versions,
        zone=zone,
        namespace=namespace,
        preface=preface,
        fields=front.fields,
        head=front.raw + preface_raw,
        preface_at=len(front.raw),
        problems=(*front.problems, *(Problem(path, *fault) for fault in sorted(faults))),
    )


def render(file: FactFile) -> bytes:
    """The file's bytes: what was read stays as it was, versions without `raw` are written out."""
    out = file.head
    for version in file.versions:
        if version.raw is not None:
            out += version.raw
            continue
        end = b"\r\n" if b"\r\n" in out else b"\n"
        if out and not out.endswith(b"\n"):
            out += end
        if out and not out.endswith((b"\n\n", b"\n\r\n")):
            out += end
        out += _written(version, file).replace("\n", end.decode()).encode()
    return out


def timeline(versions: Sequence[FactVersion], *, namespace: str = "", file: str = "") -> tuple[Fact, ...]:
    """What holds when. Of a key at most one version holds at any instant; unkeyed ones stand for themselves.

    An open end closes where the key's next version starts, an end past that start is cut there; of
    equal starts the later version wins. `file` names unkeyed facts in their refs. Sorted by start.
    """
    facts: list[Fact] = []
    used: dict[tuple[str, str], int] = {}
    for version, end in sorted(
        _held(versions), key=lambda held: (held[0].start.astimezone(UTC), held[0].line)
    ):
        name = unicodedata.normalize("NFC", version.key).strip() if version.key else file
        at = digits(version.start)
        used[name, at] = used.get((name, at), 0) + 1
        facts.append(
            Fact(
                ref=Ref(namespace, name, at, used[name, at], "@"),
                key=version.key,
                kind=version.kind,
                text=version.text,
                valid=TimeRange(version.start, end, version.start.tzinfo or UTC),
                importance=_importance(version),
                source=version.attributes.get("source"),
                sources=tuple(filter(None, version.attributes.get("from", "").split(","))),
                line=version.line,
                text_line=version.text_line,
            )
        )
    return tuple(facts)


def _importance(version: FactVersion) -> float:
    return IMPORTANCE.get(version.kind, 1.0) if version.importance is None else version.importance


def _by_key(versions: Sequence[FactVersion]) -> dict[str, list[FactVersion]]:
    """Versions of each key by start; the sort is stable, so of equal starts the file's last comes last."""
    keyed: dict[str, list[FactVersion]] = {}
    for version in versions:
        if version.key:
            keyed.setdefault(fold(version.key), []).append(version)
    for group in keyed.values():
        group.sort(key=lambda version: version.start.astimezone(UTC))
    return keyed


def _held(versions: Sequence[FactVersion]) -> Iterator[tuple[FactVersion, datetime | None]]:
    """Versions that hold at all, with the end of their validity."""
    for version in versions:
        if not version.key:
            yield version, version.end
    for group in _by_key(versions).values():
        for version, after in zip(group, [*group[1:], None], strict=True):
            if after is None:
                yield version, version.end
            elif version.start < after.start:
                yield version, min(version.end or after.start, after.start)


# A fault inside a file: line, message, remedy.
_Fault = tuple[int, str, str]


def _contradictions(versions: Sequence[FactVersion]) -> list[_Fault]:
    faults = []
    for group in _by_key(versions).values():
        for version, after in pairwise(group):
            if version.start == after.start:
                words = f"starts at the same time as line {after.line}, which counts"
                faults.append((version.line, words, "Give one of them another time, or delete it."))
            elif version.end and version.end > after.start:
                words = f"ends after line {after.line} has begun, and is cut there"
                faults.append((version.line, words, "Correct the end in this heading."))
    return faults


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading with what stands below it, as bytes and as read."""

    raw: bytes
    line: int
    kind: str | None
    start: datetime
    end: datetime | None


def _sections(body: bytes, line: int, zone: tzinfo) -> tuple[bytes, list[_Section], list[_Fault]]:
    """The text before the first section, the sections, and faults of their headings."""
    lines = body.split(b"\n")
    faults: list[_Fault] = []
    opened: list[tuple[int, _Section]] = []
    for index, raw in enumerate(lines):
        match = _opening(raw)
        if match:
            start = read_moment(match["start"], zone)
            end = read_moment(match["end"], zone) if match["end"] else None
            if start is None or (match["end"] and end is None):
                faults.append((line + index, "no such time, so this is no heading", "Correct the time."))
                continue
            if end is not None and end <= start:
                faults.append(
                    (line + index, "ends before it starts; the end is left out", "Correct the end.")
                )
                end = None
            kind = match["kind"].lower() if match["kind"] else None
            opened.append((index, _Section(b"", line + index, kind, start, end)))
    first = opened[0][0] if opened else len(lines)
    bounds = pairwise([*(index for index, _ in opened), len(lines)])
    sections = [
        replace(section, raw=_slice(lines, *bound))
        for (_, section), bound in zip(opened, bounds, strict=True)
    ]
    return _slice(lines, 0, first), sections, faults


def _slice(lines: Sequence[bytes], start: int, stop: int) -> bytes:
    """Lines [start, stop) with the line ends they had; the last line of a file has none."""
    return b"\n".join(lines[start:stop]) + (b"\n" if start < stop < len(lines) else b"")


def _opening(raw: bytes) -> re.Match[str] | None:
    """The heading that a line has the shape of, whatever its times."""
    if not raw.startswith(b"##") or len(raw) > _LONGEST:
        return None
    return _HEADING.fullmatch(raw.decode("utf-8", "replace").rstrip("\r"))


def _version(section: _Section, key: str | None, kind: str, faults: list[_Fault]) -> FactVersion:
    _heading, *lines = section.raw.decode("utf-8", "replace").split("\n")
    at = next((index for index, line in enumerate(lines) if line.strip()), 0)
    attributes = _read_attributes(lines[at]) if lines else None
    if attributes is not None:
        at += 1
    else:
        attributes = {}
    text, skipped = trim("\n".join(lines[at:]))
    importance = _number(attributes.get("importance"))
    if importance is not None:
        del attributes["importance"]
    elif "importance" in attributes:
        faults.append((section.line + at, "importance is not a number", "Write it like importance=1.2."))
    return FactVersion(
        key=key,
        kind=section.kind or kind,
        text=_unescape(text),
        start=section.start,
        end=section.end,
        importance=importance,
        attributes=attributes,
        line=section.line,
        text_line=section.line + (1 + at + skipped if text else 0),
        raw=section.raw,
    )


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _read_attributes(line: str) -> dict[str, str] | None:
    """The attributes of a comment line; None for a line that is text."""
    line = line.rstrip("\r")
    if not line.startswith("<!--") or not _ATTRIBUTES.fullmatch(line):
        return None
    pairs = _PAIR.findall(line)
    try:
        found = {name: str(json.loads(value)) if value[0] == '"' else value for name, value in pairs}
    except ValueError:
        return None
    return found if len(found) == len(pairs) else None


def _written(version: FactVersion, file: FactFile) -> str:
    """A section as we write it, with a blank line below."""
    kind = f"{version.kind} · " if version.key is None or version.kind != file.kind else ""
    heading = f"## {kind}{written(version.start, file.zone)}"
    if version.key is not None or version.end:
        heading += " →" + (f" {written(version.end, file.zone)}" if version.end else "")
    pairs = [f"importance={version.importance!r}"] if version.importance is not None else []
    pairs += [f"{name}={_value(value)}" for name, value in version.attributes.items()]
    comment = f"<!-- {' '.join(pairs)} -->\n" if pairs else ""
    text = _escape(normal(version.text))
    return f"{heading}\n{comment}" + (f"\n{text}\n" if text else "")


def _value(text: str) -> str:
    return text if _BARE.fullmatch(text) else json.dumps(text, ensure_ascii=False).replace(">", "\\u003e")


def _shaped(line: str) -> bool:
    short = len(line.encode()) <= _LONGEST
    return (short and _HEADING.fullmatch(line) is not None) or _ATTRIBUTES.fullmatch(line) is not None


def _escape(text: str) -> str:
    """One more backslash before each line that has the shape of a heading or an attribute line."""
    return _CANDIDATE.sub(lambda m: "\\" + m[0] if _shaped(m[0].lstrip("\\")) else m[0], text)


def _unescape(text: str) -> str:
    return _CANDIDATE.sub(lambda m: m[0][m[0][0] == "\\" and _shaped(m[0].lstrip("\\")) :], text)


def _no_text(body: bytes, line: int) -> list[_Fault]:
    """What in the body, which begins at `line`, is no text."""
    text, wrong_byte = decode(body)
    return [
        (line + text.count("\n", 0, place), message, remedy)
        for place, message, remedy in no_text(text, wrong_byte)
    ]


def _one(fields: Mapping[str, str | tuple[str, ...]], name: str) -> str | None:
    """A field that holds one text; None where it is missing, empty or a list."""
    value = fields.get(name)
    return value.strip() or None if isinstance(value, str) else None


def _first_heading(preface: str) -> str | None:
    match = re.search(r"^#[ \t]+([^\n]+)", preface, re.MULTILINE)
    return match[1].strip() or None if match else None

"""A fact to be remembered → its file with one version more: pure, `huimem.vault.keeping` puts it on disk.

In: a `Remembering` and the file that it goes to. Out: the file with a section at its end, or as it was where
that says so already, and the ref of the version. Older versions stay: what holds when is computed.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo

from huimem.errors import UsageError
from huimem.records import Fact, FactVersion, Ref, Resolution, TimeRange
from huimem.vault.facts import FactFile, parse_facts, tags_of, timeline
from huimem.vault.front import set_field
from huimem.vault.layout import namespace_text
from huimem.vault.moments import digits, keepable, settle
from huimem.vault.text import normal, whole

LONGEST_KEY, LONGEST_KIND = 200, 60  # characters
KEYED, UNKEYED = "fact", "note"  # kinds where none is asked for
_SECOND, _TICK = timedelta(seconds=1), timedelta(milliseconds=1)
_NO_KEY = ("Cc", "Zl", "Zp")  # categories of characters that no line of text holds


@dataclass(frozen=True, slots=True)
class Remembering:
    """What is to be held true, as `remembering` makes it: text in normal form, times in the vault's zone.

    `start` is a whole second. None and () were not asked for; nor was `end` where it is not `ranged`.
    """

    text: str
    key: str | None
    kind: str | None
    start: datetime
    end: datetime | None = None
    ranged: bool = False
    importance: float | None = None
    source: str | None = None
    sources: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


def remembering(
    text: str,
    *,
    key: str | None,
    kind: str | None,
    valid: TimeRange | None,
    at: datetime,
    zone: tzinfo,
    importance: float | None = None,
    source: str | None = None,
    sources: Sequence[str | Ref] = (),
    tags: Sequence[str] = (),
) -> Remembering:
    """What was said, checked. It holds in `valid`, from `at` on where that has no start.

    Raises `UsageError` for what could be written and not be read back.
    """
    text = normal(text)
    if not text:
        raise UsageError("there is nothing to remember: the text is empty", "Say it in a few words.")
    key = None if key is None else _key(key)
    names = tags_of({"tags": tuple(map(whole, tags))})
    if names and key is None:
        raise UsageError("tags are those of a file, and the notes of a week share one", "Give it a key.")
    start, end = _times(valid, at, zone)
    return Remembering(
        text=text,
        key=key,
        kind=None if kind is None else _kind(kind),
        start=start,
        end=end,
        ranged=valid is not None,
        importance=None if importance is None else _importance(importance),
        source=whole(source).strip() or None if source else None,
        sources=tuple(dict.fromkeys(map(_ref, sources))),
        tags=names,
    )


def validity(phrase: str, read: Resolution) -> TimeRange:
    """The one exact time that a phrase was read as. Raises `UsageError` for none, or several."""
    shown = phrase.strip()
    hint = "Name one stretch of time: 2026-05-01.., since May, 2026-05-01..2026-05-31."
    if read.vague or not read.readings:
        raise UsageError(f"“{shown}” names no exact time", hint)
    if len(read.readings) > 1:
        raise UsageError(f"“{shown}” names several times", hint)
    (reading,) = read.readings
    first, last = reading.span
    if any(mark in phrase[:first] + phrase[last:] for mark in ("..", "→", "->")):
        raise UsageError(f"“{shown}” is not read to its end", "Give both ends, or open a side by the minute.")
    return reading.range


def remembered(
    file: FactFile, given: Remembering, others: Sequence[FactFile] = (), gone: Collection[str] = ()
) -> tuple[FactFile, Ref]:
    """`file` with a version at its end, or as it is where one that holds says the same; that one's ref.

    `others` hold versions of the same key; `gone` are the times, as refs show them, of versions that were
    forgotten: no other gets their refs. Raises ValueError where tags cannot be added to its front matter.
    """
    files = (file, *others)
    start = _free(given.start, [version for each in files for version in each.versions], gone, file.zone)
    if given.end is not None and given.end <= start:
        raise UsageError("it would end before it begins", "Give it a later end, or an earlier start.")
    file = _tagged(file, given.tags)
    for version, fact in _holding(files, start):
        if _says(version, fact, given, keyed=file.key is not None):
            return file, fact.ref
    attributes = {"source": given.source, "from": ",".join(given.sources)}
    version = FactVersion(
        key=file.key,
        kind=given.kind or (file.kind if file.key else UNKEYED),
        text=given.text,
        start=start,
        end=given.end,
        importance=given.importance,
        attributes={name: value for name, value in attributes.items() if value},
    )
    grown = replace(file, versions=(*file.versions, version))
    return grown, _by_line(grown)[version.line].ref


def _by_line(file: FactFile) -> dict[int, Fact]:
    """The facts of a file by the line of their version; a version that is not written yet has line 0."""
    return {fact.line: fact for fact in timeline(file.versions, namespace=file.namespace, file=file.id)}


def _holding(files: Sequence[FactFile], at: datetime) -> Iterator[tuple[FactVersion, Fact]]:
    """Versions that hold: of a key the last one begun at `at`, without a key all that have not ended then."""
    facts = [(version, _by_line(each).get(version.line)) for each in files for version in each.versions]
    found = [(version, fact) for version, fact in facts if fact is not None]
    if files[0].key is not None:
        found = sorted((pair for pair in found if pair[0].start <= at), key=lambda pair: _utc(pair[0].start))
        found = found[-1:]
    return (pair for pair in found if pair[0].end is None or at < pair[0].end)


def _says(version: FactVersion, fact: Fact, given: Remembering, *, keyed: bool) -> bool:
    """Whether a version says what is given, with all that is asked for beside the text."""
    same_range = version.start.replace(microsecond=0) == given.start and version.end == given.end
    return (
        version.text == given.text
        and (given.kind or (version.kind if keyed else UNKEYED)) == version.kind
        and given.importance in (None, fact.importance)
        and given.source in (None, fact.source)
        and set(given.sources) <= set(fact.sources)
        and (same_range or not given.ranged)
    )


def _free(start: datetime, versions: Sequence[FactVersion], gone: Collection[str], zone: tzinfo) -> datetime:
    """`start`, or the smallest fraction after all that begins in that second, so that the last one holds."""
    named = {*gone, *(digits(version.start) for version in versions)}
    taken = {_utc(version.start) for version in versions}
    at = _utc(start)
    if begun := [each for each in taken if at <= each < at + _SECOND]:
        last = max(begun)
        at = last - timedelta(microseconds=last.microsecond % 1000) + _TICK
    while at in taken or digits(settle(at, zone)) in named:
        at += _TICK
    return settle(at, zone)


def _utc(at: datetime) -> datetime:
    return at.astimezone(UTC)


def _tagged(file: FactFile, tags: Sequence[str]) -> FactFile:
    """The file with tags added to those that it has; all else in its front matter stays."""
    every = tuple(dict.fromkeys((*file.tags, *tags)))
    if every == file.tags:
        return file
    front = set_field(file.head[: file.preface_at], "tags", every) if file.preface_at else b""
    head = front + file.head[file.preface_at :]
    return replace(file, tags=every, fields={**file.fields, "tags": every}, head=head, preface_at=len(front))


# --- what is given -------------------------------------------------------------------------------


def _times(valid: TimeRange | None, at: datetime, zone: tzinfo) -> tuple[datetime, datetime | None]:
    start = valid.start if valid and valid.start else at
    end = valid.end if valid else None
    for moment in (start, end):
        if moment is not None and not keepable(moment):
            time = moment.isoformat(" ", "seconds")
            raise UsageError(
                f"it has the time {time}: files keep those of the years 3 to 9997", "Correct the time."
            )
    return settle(start, zone).replace(microsecond=0), None if end is None else settle(end, zone)


def _key(text: str) -> str:
    key = unicodedata.normalize("NFC", whole(text)).strip()
    if not key:
        raise UsageError("the key is empty", "Name what it is about in a word, or leave the key out.")
    if any(unicodedata.category(character) in _NO_KEY for character in key):
        raise UsageError("the key holds a line break or a control character", "Write it in one line.")
    if len(key) > LONGEST_KEY:
        raise UsageError(f"the key has {len(key):,} characters", f"Use at most {LONGEST_KEY}.")
    return key


def _kind(text: str) -> str:
    """A kind as files have it: what the reader reads as one."""
    kind = whole(text).strip().lower()
    heading = f"## {kind} · 2026-04-06".encode()
    read = parse_facts(heading, "facts/kind.md", zone=UTC).versions
    if [version.kind for version in read] != [kind] or len(kind) > LONGEST_KIND:
        raise UsageError(
            "the kind is not one word", "Use preference, instruction, principle, fact, episode or another."
        )
    return kind


def _importance(number: float) -> float:
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number < math.inf:
        raise UsageError("the importance is not a number of 0 or more", "1 is neutral, 1.5 is much.")
    return float(number)


def _ref(given: str | Ref) -> str:
    """A ref as it stands in files, its namespace encoded."""
    try:
        ref = given if isinstance(given, Ref) else Ref.parse(whole(given).strip())
    except ValueError as error:
        raise UsageError(str(error), "Refs are printed by huimem recall and huimem list.") from error
    return str(replace(ref, namespace=namespace_text(ref.namespace)))

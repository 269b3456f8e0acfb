"""Records → the JSON documents that programs may rely on; times carry the asker's zone.

The only place inside the package where results become dicts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, TypeGuard

from huimem.errors import HuimemError, Problem
from huimem.markup import readable
from huimem.records import (
    Fact,
    Factor,
    Freshness,
    Hit,
    Message,
    Passage,
    Reading,
    Recall,
    Record,
    Resolution,
    Source,
    TimeRange,
)
from huimem.surfaces.excerpt import excerpt

if TYPE_CHECKING:
    from huimem.background import Vectors
    from huimem.heartbeat import Watcher
    from huimem.importers.bringing import Report
    from huimem.index.rows import SyncReport
    from huimem.overview import Status
    from huimem.recall.listing import Listed, Week
    from huimem.upkeep import Synced
    from huimem.watching import Round

Document = dict[str, object]
_BECAME = ("new", "updated", "unchanged", "deleted", "forgotten")
_PRECISION = 6  # decimals of a score


@dataclass(frozen=True, slots=True)
class Asked:
    """What showing an answer needs besides it: the text that held the time words, the asker's zone.

    `full` gives whole texts, `explain` the summands of each factor.
    """

    phrase: str
    zone: tzinfo
    full: bool = False
    explain: bool = False


def instant(at: datetime | None, zone: tzinfo) -> str | None:
    """ISO 8601 with the offset of `zone`; None for the open side of a range and for undated text."""
    return at.astimezone(zone).isoformat() if at else None


def bounds(span: TimeRange) -> Document:
    """Both ends of a range in its own zone; an open side is null."""
    return {"start": instant(span.start, span.zone), "end": instant(span.end, span.zone)}


def is_past(record: Record, now: datetime) -> TypeGuard[Fact]:
    """Whether a record is a fact that no longer holds."""
    return isinstance(record, Fact) and record.valid.end is not None and record.valid.end <= now


def error_document(code: str, message: str, hint: str = "") -> Document:
    return {"error": {"code": code, "message": message, "hint": hint}}


def error_code(error: HuimemError) -> str:
    """An error's name for programs: the class name in lower case, `WriteFailed` → `write_failed`."""
    name = type(error).__name__.removesuffix("Error") or "error"
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


def resolution_document(resolution: Resolution | None, phrase: str) -> Document:
    """How the time words of `phrase` are read, as `when --json` prints it."""
    read = resolution or Resolution()
    return {
        "ranges": [_reading(reading, phrase) for reading in read.readings],
        "vague": read.vague,
        "window": bounds(read.window) if read.window else None,
        "alternatives": [{**bounds(other.range), "reading": other.words} for other in read.alternatives],
    }


def _reading(reading: Reading, phrase: str) -> Document:
    start, end = reading.span
    return {
        "phrase": phrase[start:end].strip(),
        **bounds(reading.range),
        "grain": reading.grain,
        "span": [start, end],
        "reading": reading.words,
        "fuzzy": reading.fuzzy,
        "future": reading.future,
    }


def recall_document(recall: Recall, asked: Asked) -> Document:
    """The whole answer, as `recall --json` prints it; `time` is null where no time was named."""
    return {
        "recall_id": recall.id,
        "time": resolution_document(recall.resolution, asked.phrase) if recall.resolution else None,
        "hits": [_hit(hit, asked) for hit in recall.hits],
        "passages": [passage_document(passage) for passage in recall.passages],
        "scanned": [
            {**bounds(one.range), "turns": one.turns, "best": round(one.best, _PRECISION)}
            for one in recall.scanned
        ],
        "exhausted": recall.exhausted,
        "cursor": instant(recall.cursor, asked.zone),
        "best": round(recall.best, _PRECISION),
        "floor": round(recall.floor, _PRECISION),
        "sessions": recall.sessions,
        "nearest": [bounds(day) for day in recall.nearest],
        "index": freshness_document(recall.freshness),
        "warnings": list(recall.warnings),
    }


def freshness_document(freshness: Freshness) -> Document:
    return {
        "fresh": freshness.fresh,
        "pending": freshness.pending,
        "engine": freshness.engine,
        "vectors": {"done": freshness.vectors_done, "total": freshness.vectors_total},
    }


def _hit(hit: Hit, asked: Asked) -> Document:
    message = hit.record.messages[hit.message]
    whole = hit.record.text
    text = whole if asked.full else excerpt(message.text, hit.evidence, highlight=hit.highlight)
    return {
        "ref": str(hit.ref),
        "path": hit.path,
        "line": hit.line,
        "title": hit.title,
        "role": message.role,
        "name": message.name,
        "when": instant(hit.at, asked.zone),
        "inferred": hit.record.inferred,
        "namespace": hit.ref.namespace,
        "kind": hit.record.kind,
        "tags": list(hit.tags),
        "text": text,
        "truncated": text not in (whole, readable(whole)[0]),
        "score": round(hit.score, _PRECISION),
        "factors": [_factor(factor, asked.explain) for factor in hit.factors],
        **({"records": hit.records} if hit.records else {}),
        **({"valid": bounds(hit.record.valid)} if isinstance(hit.record, Fact) else {}),
        "before": [_neighbour(record, asked) for record in hit.before],
        "after": [_neighbour(record, asked) for record in hit.after],
    }


def passage_document(passage: Passage) -> Document:
    """Turns as a model is to read them; `hits` are places among the answer's hits, from 0."""
    return {
        "path": passage.path,
        "title": passage.title,
        "lines": list(passage.lines),
        "refs": [str(ref) for ref in passage.refs],
        "hits": list(passage.hits),
        "text": passage.text,
        "tokens": passage.tokens,
        "cut": passage.cut,
        "also": [str(ref) for ref in passage.also],
    }


def _factor(factor: Factor, explain: bool) -> Document:
    parts = {"parts": {name: round(value, _PRECISION) for name, value in factor.parts.items()}}
    return {
        "name": factor.name,
        "value": round(factor.value, _PRECISION),
        "note": factor.note,
        **(parts if explain else {}),
    }


def _neighbour(record: Record, asked: Asked) -> str:
    return record.text if asked.full else excerpt(record.text, "")


def record_document(record: Record, zone: tzinfo) -> Document:
    """One record whole: its messages as said, a fact with the range in which it holds."""
    document: Document = {
        "ref": str(record.ref),
        "namespace": record.ref.namespace,
        "kind": record.kind,
        "when": instant(record.at, zone),
        "inferred": record.inferred,
        "messages": [_message(message, zone) for message in record.messages],
    }
    if isinstance(record, Fact):
        valid = {"start": instant(record.valid.start, zone), "end": instant(record.valid.end, zone)}
        document |= {"key": record.key, "valid": valid, "importance": record.importance}
    return document


def shown_document(
    source: Source, at: int, beside: tuple[Sequence[Record], Sequence[Record]], zone: tzinfo, link: str
) -> Document:
    """The record at index `at` of its file with its place, its link and the records beside it.

    `link` "" stands for a packed file, to which none leads: it becomes null.
    """
    record = source.records[at]
    before, after = beside
    return {
        **record_document(record, zone),
        "path": source.path,
        "line": record.messages[0].line,
        "title": source.title,
        "link": link or None,
        "before": [record_document(other, zone) for other in before],
        "after": [record_document(other, zone) for other in after],
    }


def _message(message: Message, zone: tzinfo) -> Document:
    return {
        "role": message.role,
        "name": message.name,
        "when": instant(message.at, zone),
        "line": message.line,
        "text": message.text,
    }


def problem_documents(problems: Sequence[Problem]) -> list[Document]:
    return [
        {"path": problem.path, "line": problem.line, "message": problem.message, "remedy": problem.remedy}
        for problem in problems
    ]


def settings_document(values: Mapping[str, object], origin: Mapping[str, str] | None) -> Document:
    """Settings by dotted key; with `origin`, each as its value and where that comes from."""
    if origin is None:
        return {"settings": dict(values)}
    return {"settings": {key: {"value": value, "origin": origin[key]} for key, value in values.items()}}


def listed_document(listed: Listed, zone: tzinfo) -> Document:
    return {
        "ref": listed.ref,
        "path": listed.path,
        "line": listed.line,
        "title": listed.title,
        "kind": listed.kind,
        "role": listed.role,
        "namespace": listed.namespace,
        "when": instant(listed.at, zone),
        "inferred": listed.inferred,
        "text": listed.excerpt,
    }


def week_document(week: Week) -> Document:
    return {"week": week.name, **bounds(week.range), "turns": week.turns, "sessions": week.sessions}


def synced_document(done: Synced, warnings: Sequence[str]) -> Document:
    report, embedded = done.report, done.embedded
    vectors = embedded and {"made": embedded.embedded, "cached": embedded.cached, "pending": embedded.pending}
    return {
        "added": report.added,
        "changed": report.changed,
        "removed": report.removed,
        "unchanged": report.unchanged,
        "seconds": round(report.seconds, 3),
        "vectors": vectors,
        "problems": problem_documents(report.problems),
        "warnings": list(warnings),
    }


def imported_document(report: Report, warnings: Sequence[str], *, dry: bool) -> Document:
    """What an import did, or with `dry` would do; every reason stands in it."""
    became = {what: report.outcomes.get(what, 0) for what in _BECAME}
    return {
        "dry_run": dry,
        "found": report.found,
        "sources": dict(report.conversations),
        **became,
        "renamed": report.renamed,
        "before_since": report.early,
        "messages": {
            "added": report.added,
            "grown": report.grown,
            "edited": report.edited,
            "deleted": report.deleted,
            "forgotten": report.forgotten,
        },
        "inferred": report.inferred,
        "weeks": report.weeks,
        "left_out": dict(report.left_out),
        "skipped": [
            {"document": document, "place": skipped.place, "reason": skipped.reason}
            for document, skipped in report.skipped
        ],
        "warnings": list(warnings),
    }


def status_document(status: Status) -> Document:
    return {
        "vault": str(status.root),
        "state": str(status.state),
        "bytes": status.bytes,
        "sources": status.sources,
        "packed": {"files": status.packed, "archives": status.archives},
        "records": status.turns,
        "passages": status.passages,
        "fresh": status.fresh,
        "pending": status.pending,
        "engine": status.engine,
        "embedder": status.embedder,
        "vectors": {"done": status.vectors_done, "total": status.vectors_total},
        "building": _building(status.building) if status.building else None,
        "problems": status.problems,
        "watcher": watcher_document(status.watcher) if status.watcher else None,
        "warnings": list(status.warnings),
    }


def _building(state: tuple[str, int, int]) -> Document:
    name, done, total = state
    return {"embedder": name, "done": done, "total": total}


def watcher_document(watcher: Watcher) -> Document:
    """A watcher of the vault; ages in seconds, null for what is not known."""
    standing = watcher.standing
    return {
        "pid": standing.pid if standing else None,
        "stuck": watcher.stuck,
        "mode": standing.mode if standing else None,
        "why": standing.why if standing else "",
        "age": _seconds(watcher.running),
        "looked": _seconds(watcher.looked),
        "last_event": _seconds(watcher.event),
        "vectors": _vectors(standing.done, standing.total, standing.left) if standing else None,
        "warning": standing.warning if standing else "",
    }


def round_document(now: Round, at: datetime) -> Document:
    """One line of `watch --json`; `look` is null where none was taken, or where it failed."""
    vectors: Vectors | None = now.vectors
    return {
        "at": at.isoformat(timespec="milliseconds"),
        "mode": now.mode,
        "why": now.why,
        "files": now.files,
        "look": _look(now.did.report) if now.did else None,
        "vectors": _vectors(vectors.done, vectors.total, vectors.left) if vectors else None,
        "warnings": list(now.warnings),
    }


def _look(report: SyncReport) -> Document:
    return {
        "added": report.added,
        "changed": report.changed,
        "removed": report.removed,
        "seconds": round(report.seconds, 3),
        "problems": problem_documents(report.problems),
    }


def _vectors(done: int, total: int, left: float | None) -> Document:
    return {"done": done, "total": total, "seconds_left": _seconds(left)}


def _seconds(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 1)

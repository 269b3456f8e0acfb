"""An export → the vault: every document read by whoever claims it, every conversation taken in, one report.

In: a source, the vault, options. Out: counts and reasons. One bad conversation, document or archive
stops nothing else; a disk that refuses stops all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from huimem.errors import HuimemError, WriteFailed, unexpected
from huimem.importers.documents import STDIN, Document, documents, is_zip, refusal
from huimem.importers.glance import Glance
from huimem.importers.options import Options, Skipped
from huimem.importers.registry import AUTO, Importer, importers
from huimem.importers.streams import stream
from huimem.records import Conversation
from huimem.vault.intake import Intake, Outcome

Progress = Callable[[int, int], None]
NOBODY = b""  # the digest of a document that cannot be read twice


@dataclass(frozen=True, slots=True)
class Report:
    """What an import did. `conversations` found, by source; `outcomes`: how many became what.

    `added` and `grown` count messages; `edited`, `deleted` and `forgotten` ones stayed as they were left.
    `skipped`: each place with its document, and why; `left_out` by kind; `weeks` are folders written to.
    """

    conversations: Mapping[str, int] = field(default_factory=dict)
    outcomes: Mapping[str, int] = field(default_factory=dict)
    renamed: int = 0
    added: int = 0
    grown: int = 0
    edited: int = 0
    deleted: int = 0
    forgotten: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    inferred: int = 0
    early: int = 0
    documents: int = 0
    weeks: int = 0
    skipped: tuple[tuple[str, Skipped], ...] = ()

    @property
    def found(self) -> int:
        return sum(self.conversations.values())

    @property
    def came_in(self) -> int:
        """Conversations that are in the vault now, from this import or from an earlier one."""
        return sum(self.outcomes.get(what, 0) for what in ("new", "updated", "unchanged"))


@dataclass(slots=True)
class _Tally:
    """A report while it grows."""

    conversations: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    weeks: set[str] = field(default_factory=set)
    skipped: list[tuple[str, Skipped]] = field(default_factory=list)

    def note(self, conversation: Conversation, outcome: Outcome) -> None:
        self.conversations[conversation.source] += 1
        self.outcomes[outcome.what] += 1
        self.left_out.update(conversation.left_out)
        for name in ("renamed", "added", "grown", "edited", "deleted", "forgotten"):
            self.counts[name] += getattr(outcome, name)
        self.counts["inferred"] += conversation.inferred
        if outcome.path and outcome.what in ("new", "updated"):
            self.weeks.add(outcome.path.rpartition("/")[0])

    def again(self, told: Mapping[str, object]) -> None:
        """Count a document that was taken to its end before and brings nothing new."""
        conversations, left_out = told.get("conversations"), told.get("left_out")
        for counter, values in ((self.conversations, conversations), (self.left_out, left_out)):
            counter.update({str(k): int(v) for k, v in values.items()} if isinstance(values, dict) else {})
        counts = told.get("counts")
        self.counts.update(counts if isinstance(counts, dict) else {})
        self.outcomes["unchanged"] += sum(conversations.values()) if isinstance(conversations, dict) else 0

    def told(self) -> dict[str, object]:
        """What `again` counts when the same document comes again; nothing where it must be read again."""
        kept = self.outcomes["new"] + self.outcomes["updated"] + self.outcomes["unchanged"]
        if self.skipped or self.counts["forgotten"] or kept < self.conversations.total():
            return {}
        counts = {name: self.counts[name] for name in ("inferred", "early")}
        found, left_out = dict(self.conversations), dict(self.left_out)
        return {"conversations": found, "left_out": left_out, "counts": counts, "kept": kept}

    def report(self) -> Report:
        """All of it so far."""
        return Report(
            conversations=dict(self.conversations),
            outcomes=dict(self.outcomes),
            left_out=dict(self.left_out),
            weeks=len(self.weeks),
            skipped=tuple(self.skipped),
            **self.counts,
        )


def bring_in(
    source: Path,
    intake: Intake,
    options: Options,
    *,
    name: str = AUTO,
    stdin: BinaryIO | None = None,
    progress: Progress | None = None,
) -> Report:
    """Take in everything of a source that an importer claims; `name` chooses one.

    `progress(done, total)` counts bytes. Raises UsageError for a source that is not there or an unknown
    name, Locked, and WriteFailed where the disk refuses: what came in until then stays.
    """
    asked = importers(name)
    tally = _Tally()
    run = _Run(intake, options, tally, progress)
    alone = name != AUTO and not source.is_dir() and (str(source) == STDIN or not is_zip(source))
    for document in documents(source, intake.now, stdin):
        if isinstance(document, Skipped):
            tally.skipped.append((document.place, replace(document, place="")))
            continue
        tally.counts["documents"] += 1
        if _is_own(document, intake):
            tally.skipped.append((document.name, Skipped("", "a file of this vault already")))
            continue
        run.total += document.size
        run.document(document, asked, alone=alone)
    return tally.report()


def _is_own(document: Document, intake: Intake) -> bool:
    """Whether a document is one of the vault's own notes, which are read where they are."""
    if document.path is None or document.path.suffix.lower() != ".md":
        return False
    path, root = document.path.resolve(), intake.vault.root.resolve()
    return path.is_relative_to(root) and intake.owns(path.relative_to(root).as_posix())


@dataclass(slots=True)
class _Run:
    """One import under way; `done` and `total` are bytes."""

    intake: Intake
    options: Options
    tally: _Tally
    progress: Progress | None
    done: int = 0
    total: int = 0

    def document(self, document: Document, asked: Sequence[Importer], *, alone: bool) -> None:
        """Read a document, if anybody claims it; `alone`: whatever it is, the importer named reads it."""
        try:
            importer = asked[0] if alone else _owner(asked, document.glance())
            if importer is not None:
                self._take(document, importer)
        except WriteFailed:
            raise
        except HuimemError as error:
            self.tally.skipped.append((document.name, Skipped("", error.message)))
        except Exception as error:  # what one document brings out, in an importer of ours or of others
            self.tally.skipped.append((document.name, Skipped("", refusal(error) or unexpected(error))))

    def _take(self, document: Document, importer: Importer) -> None:
        digest, before = NOBODY, None
        key = f"{importer.name} {self.options} {self.intake.namespace}"
        if getattr(importer, "apart", False) and document.name != STDIN and not self.intake.again:
            digest = document.digest(self.intake.namespace)
            before = self.intake.ledger.finished(digest, key)
        if before is not None:
            told, paths = before
            if len(paths) == told.get("kept") and self.intake.settled(paths):
                self.tally.again(told)
                return
        inner = _Tally()
        counted = replace(document, open=lambda: _counted(document.open(), self))
        try:
            for found in importer.read(counted, self.options):
                self._one(document, found, digest, inner)
        finally:
            self._add(inner)
            self.intake.settle()
        if digest and (done := inner.told()):
            self.intake.ledger.finish(digest, key, done)

    def _one(self, document: Document, found: Conversation | Skipped, digest: bytes, inner: _Tally) -> None:
        if isinstance(found, Skipped):
            inner.skipped.append((document.name, found))
            return
        try:
            if self._is_early(found):
                inner.counts["early"] += 1
                return
            inner.note(found, self.intake.take(found, digest))
        except WriteFailed:
            raise
        except HuimemError as error:
            inner.skipped.append((document.name, Skipped(found.id, error.message)))
        except Exception as error:  # a fault of ours that one conversation brings out
            inner.skipped.append((document.name, Skipped(found.id, unexpected(error))))

    def _is_early(self, found: Conversation) -> bool:
        since = self.options.since
        return since is not None and max(m.at for m in found.messages if m.at) < since

    def _add(self, inner: _Tally) -> None:
        tally = self.tally
        for counter, more in (
            (tally.conversations, inner.conversations),
            (tally.outcomes, inner.outcomes),
            (tally.counts, inner.counts),
            (tally.left_out, inner.left_out),
        ):
            counter.update(more)
        tally.weeks |= inner.weeks
        tally.skipped += inner.skipped


def _owner(asked: Sequence[Importer], seen: Glance) -> Importer | None:
    return next((importer for importer in asked if importer.claims(seen)), None)


def _counted(opened: BinaryIO, run: _Run) -> BinaryIO:
    """The same stream, that tells how far it was read."""

    def take(size: int) -> bytes:
        data = opened.read(size)
        run.done += len(data)
        if run.progress is not None:
            run.progress(run.done, max(run.total, run.done))
        return data

    return stream(take, opened.close)

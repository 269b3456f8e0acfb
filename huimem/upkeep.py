"""A vault and its index → the index in step with the files, and what keeps it from being so.

In: both, and how far to go. Out: reports; and for a question, how many files are not in yet with a
line for each reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from huimem.errors import Locked, WriteFailed
from huimem.files import Unreadable
from huimem.index.filters import Filter
from huimem.index.index import Index
from huimem.index.rows import EmbedReport, SyncReport
from huimem.records import Source
from huimem.vault.layout import printable
from huimem.vault.vault import Vault

Progress = Callable[[str, int, int], None]

# A question may wait for the vectors of this many passages; more are left to `sync`.
FEW_VECTORS = 24
VECTOR_SECONDS = 2.0
# Seconds that a question waits for another process to let go of the index.
PATIENCE = 1.0


@dataclass(frozen=True, slots=True)
class Synced:
    """What one `sync` did to words and to vectors (None: vectors were not asked for).

    `unread` has a line for each file and folder that cannot be read: what was indexed of it stays.
    """

    report: SyncReport
    embedded: EmbedReport | None
    unread: tuple[str, ...] = ()


def sync(
    vault: Vault,
    index: Index,
    paths: Sequence[str] = (),
    *,
    full: bool = False,
    vectors: bool = True,
    progress: Progress | None = None,
    wait: float = 10.0,
) -> Synced:
    """Bring the files into the index, words first; the parameters are those of `Memory.sync`."""
    scan = vault.scan()
    barred = {*map(printable, scan.unreadable)}
    unread = [str(problem) for problem in scan.problems if problem.path in barred]
    report = index.sync(
        {path: str(stamp) for path, stamp in scan.files.items()},
        lambda path: _read(vault, path, unread),
        only=set(paths) if paths else None,
        unreadable=scan.unreadable,
        full=full,
        progress=None if progress is None else lambda done, total: progress("words", done, total),
        wait=wait,
    )
    if not vectors or index.embedder is None:
        return Synced(report, None, tuple(unread))
    embedded = index.embed(
        progress=None if progress is None else lambda done, total: progress("vectors", done, total),
        wait=wait,
    )
    return Synced(report, embedded, tuple(unread))


def _read(vault: Vault, path: str, unread: list[str]) -> Source:
    """A file's records; why it cannot be read is added to `unread`."""
    try:
        return vault.read(path)
    except Unreadable as error:
        if not error.gone:
            unread.append(str(vault.fault(path, error)))
        raise


def catch_up(vault: Vault, index: Index, progress: Progress | None) -> tuple[int, tuple[str, ...]]:
    """Words of every file as it is now: how many files are not in yet, and what went wrong."""
    try:
        done = sync(vault, index, vectors=False, progress=progress, wait=PATIENCE)
    except Locked as locked:
        return index.behind, (f"{locked.message}; this answer may miss the newest changes",)
    except WriteFailed as failed:
        return index.behind, (_unwritten(failed),)
    return len(done.unread), (*done.report.warnings, *done.unread)


def few_vectors(index: Index, narrowed: Filter) -> tuple[str, ...]:
    """Make the vectors that a question lacks where they are few; why not, if the disk refuses."""
    pending = index.pending(narrowed)
    if 0 < len(pending) <= FEW_VECTORS:
        try:
            index.embed(rows=pending, seconds=VECTOR_SECONDS, wait=PATIENCE)
        except WriteFailed as failed:
            return (_unwritten(failed),)
        except Locked:  # words answer alone
            return ()
    return ()


def _unwritten(failed: WriteFailed) -> str:
    """Why an answer may miss the newest changes: the disk does not let them be indexed."""
    why = f"{failed.message} – {failed.hint}" if failed.hint else f"{failed.message}."
    return f"{why} This answer may miss the newest changes."

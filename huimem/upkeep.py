"""A vault and its index → the index in step with the files, and what keeps it from being so.

In: both, and how far to go. Out: reports; and for a question, what stands in for files that are not
in yet, with a line for each reason.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Self

from huimem import files
from huimem.config import Config, zone_of
from huimem.errors import Locked, NotFound, VaultError, WriteFailed
from huimem.files import Unreadable
from huimem.index.filters import NOTHING, Filter, Hidden
from huimem.index.index import Index, Snapshot
from huimem.index.mentions import Times
from huimem.index.overlay import Overlay
from huimem.index.rows import EmbedReport, SyncReport
from huimem.index.sync import EVERY, Listing, Spared
from huimem.months import Archived
from huimem.records import Freshness, Packed, Source
from huimem.vault import archive as packing
from huimem.vault.archive import Done
from huimem.vault.cold import Plan
from huimem.vault.layout import printable
from huimem.vault.losses import Losses
from huimem.vault.moments import zone_name
from huimem.vault.vault import Vault
from huimem.when import VERSION, resolve_spoken

Progress = Callable[[str, int, int], None]

# Seconds that a question waits for another process that is bringing files in, and those it then takes
# to read them itself.
PATIENCE = 0.1
BESIDE = 2.0
# As many files a question reads by itself rather than have them taken in first, where somebody else will.
FEW, AT_ONCE = 32, 0.5
# As many files may vanish at once, or this share of all, and be believed gone; more only after `HOLD`
# seconds. An index that lost them would have to be made again should a folder only have been away.
CAUTION = Spared(50, 0.2)
HOLD = 5.0


@dataclass(frozen=True, slots=True)
class Synced:
    """What one `sync` did to words and to vectors (None: vectors were not asked for).

    `unread` has a line for each file and folder that cannot be read: what was indexed of it stays.
    `lost` has lines for files that no longer hold what was recorded to them. `look_again`: in how many
    seconds a further look may change something by itself, None = it will not.
    """

    report: SyncReport
    embedded: EmbedReport | None
    unread: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    look_again: float | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """All that is to be said of it, but for what cannot be read."""
        embedded = self.embedded.warnings if self.embedded else ()
        return (*self.report.warnings, *self.lost, *held_line(self.report.held), *embedded)


@dataclass(slots=True)
class _Reading:
    """Lists and reads files for one walk of the index; `unread` has a line for each that cannot be.

    A context manager: at its end what sessions have lost is kept.
    """

    vault: Vault
    unread: list[str] = field(default_factory=list)
    _losses: Losses = field(init=False)

    def __post_init__(self) -> None:
        self._losses = self.vault.losses()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._losses.finish()

    def listing(self) -> Listing:
        """The files as they are now; what cannot be looked at is `unread`."""
        scan = self.vault.scan()
        barred = {*map(printable, scan.unreadable)}
        self.unread = [str(problem) for problem in scan.problems if problem.path in barred]
        return Listing(scan.stamps, scan.unreadable)

    def __call__(self, path: str) -> Source | Packed:
        try:
            source = self.vault.held(path)
        except Unreadable as error:
            if not error.gone:
                self.unread.append(str(self.vault.fault(path, error)))
            raise
        if isinstance(source, Source):
            self._losses.note(source)
        return source


@dataclass(frozen=True, slots=True)
class CaughtUp:
    """How far a question may trust the index, and what it searches beside it.

    `overlay` holds what is not in yet; `hidden` is what no longer stands in the index; `pending`
    counts files that neither covers.
    """

    pending: int
    hidden: Hidden = NOTHING
    overlay: Snapshot | None = None
    warnings: tuple[str, ...] = ()

    def lacks_vectors(self, narrowed: Filter) -> bool:
        """Whether a question may find what has no vector because it is not in the index."""
        beside = replace(narrowed, hidden=NOTHING)
        return self.overlay is not None and self.overlay.count(beside) > 0


def sync(
    vault: Vault,
    index: Index,
    paths: Sequence[str] = (),
    *,
    full: bool = False,
    vectors: bool = True,
    progress: Progress | None = None,
    wait: float = 10.0,
    spared: Spared = EVERY,
    aloud: bool = True,
    stop: Callable[[], bool] | None = None,
) -> Synced:
    """Bring the files into the index, words first; the parameters are those of `Memory.sync`.

    `aloud`: what is said of losses reaches somebody; else it is left to who asks next. `stop` ends it
    between two files.
    """
    with _Reading(vault) as read:
        seen = read.listing()
        report = index.sync(
            seen.stamps,
            read,
            only=set(paths) if paths else None,
            unreadable=seen.unreadable,
            full=full,
            progress=None if progress is None else lambda done, total: progress("words", done, total),
            wait=wait,
            again=read.listing,
            spared=spared,
            stop=stop,
        )
    embedded = None
    if vectors and index.embedder is not None:
        embedded = index.embed(
            progress=None if progress is None else lambda done, total: progress("vectors", done, total),
            wait=wait,
        )
    look_again = HOLD if report.held else None
    lost = vault.untold() if aloud else ()
    return Synced(report, embedded, tuple(read.unread), lost, look_again)


def look(
    vault: Vault,
    index: Index,
    *,
    missed: Collection[str] = (),
    progress: Progress | None = None,
    wait: float = 10.0,
    aloud: bool = True,
    stop: Callable[[], bool] | None = None,
) -> Synced:
    """Bring the words of the files in, as nobody asked for: suspiciously many deletions are held.

    `missed`: paths that were held some time ago; if they are still missing they are deleted. Raises
    `VaultError` where nothing at all is left and no `huimem.toml` tells that this is still the vault.
    """
    if not vault.marked and not vault.scan().files and (known := index.counts().sources):
        raise VaultError(
            f"{vault.root} holds no file, and its index knows {known:,}",
            "Is its disk mounted? If all were deleted: huimem sync",
        )
    spared = replace(CAUTION, confirmed=frozenset(missed))
    return sync(
        vault, index, vectors=False, progress=progress, wait=wait, spared=spared, aloud=aloud, stop=stop
    )


def archive(vault: Vault, index: Index, planned: Plan) -> tuple[Done, ...]:
    """Pack months one by one; the index learns of each before its files go, and once they are gone.

    Where the index cannot be written a question reads what is new by itself. Raises as `Memory.archive`.
    """
    done = []
    for place, cold in planned.months.items():
        done.append(packing.archive(vault, place, cold, partial(_told, vault, index)))
        _told(vault, index)
    return tuple(done)


def unarchive(vault: Vault, index: Index, month: str, namespace: str) -> Done:
    """Put the files of a packed month back, and tell the index."""
    done = packing.restore_month(vault, Archived(vault.namespace_folder(namespace), month))
    _told(vault, index)
    return done


def put_back(vault: Vault, index: Index, place: Archived) -> str:
    """Put one packed file back where it lay, and tell the index; its path now.

    Raises as `Memory.unarchive`.
    """
    # As whoever records to it does: its session first, then its month.
    with files.lock(vault.session_lock_path(*vault.id_of(str(place)))):
        try:
            path = packing.restore(vault, place)
        except NotFound:
            there = vault.elsewhere(str(place))
            if there is None:
                raise
            path = there
    _told(vault, index)
    return path


def _told(vault: Vault, index: Index) -> None:
    with suppress(Locked, WriteFailed):
        sync(vault, index, vectors=False, aloud=False)


@contextmanager
def caught_up(
    vault: Vault, index: Index, progress: Progress | None = None, *, followed: bool = False
) -> Iterator[CaughtUp]:
    """For one question: the index in step with the files, or what stands in for those it lacks.

    `followed`: somebody takes in what is new as soon as the question is answered, so that a few files
    are only read.
    """
    found = _beside(vault, index, AT_ONCE, FEW) if followed else None
    if found is not None and found[0].left:  # it would take too long for each question anew
        found[0].close()
        found = None
    hindrance: Locked | WriteFailed | None = None
    if found is None:
        try:
            done = look(vault, index, progress=progress, wait=PATIENCE)
        except (Locked, WriteFailed) as error:
            hindrance = error
            found = _beside(vault, index, BESIDE)
        else:
            if done.report.missed or done.report.pending:  # others are at it
                found = _beside(vault, index, BESIDE)
    if found is None:
        held = frozenset((path, 0) for path in done.report.held)
        yield CaughtUp(len(done.unread), held, warnings=(*done.warnings, *done.unread))
        return
    overlay, unread = found
    warnings = [*index.said(), *unread, *vault.untold()]
    if hindrance and (overlay.left or isinstance(hindrance, WriteFailed)):
        warnings.insert(0, _why(hindrance, overlay.left))
    with overlay.snapshot or nullcontext() as snapshot:
        beside = snapshot if overlay.held else None
        yield CaughtUp(overlay.left + len(unread), overlay.hidden, beside, tuple(warnings))


def _beside(
    vault: Vault, index: Index, seconds: float, most: int | None = None
) -> tuple[Overlay, list[str]] | None:
    """What the index lacks, read into memory, and what cannot be read; None for more than `most` files."""
    with _Reading(vault) as read:
        overlay = index.beside(read.listing, read, seconds=seconds, most=most)
    return None if overlay is None else (overlay, read.unread)


def freshness(index: Index, standing: CaughtUp, meaning: bool) -> Freshness:
    """How far an answer covers the vault; `meaning` says whether its question had a vector."""
    vectors, passages = index.coverage()
    return Freshness(
        fresh=not standing.pending,
        pending=standing.pending,
        engine="words+meaning" if meaning and vectors else "words",
        vectors_done=vectors,
        vectors_total=passages if index.embedder else 0,
    )


def times_of(config: Config) -> Times:
    """How times are read with these settings, and the name of that: an index keeps what it read.

    The vault's zone belongs to it: with another one its files mean other instants.
    """
    rules = f"{VERSION}, {config.week_start}, {zone_name(zone_of(config))}"
    return Times(rules, partial(resolve_spoken, week_start=config.week_start))


def _why(hindrance: Locked | WriteFailed, left: int) -> str:
    """Why files are read for each question anew, and how many could not be."""
    said = hindrance.message
    if isinstance(hindrance, WriteFailed) and hindrance.hint:
        said = f"{said} – {hindrance.hint}"
    files = "1 file is" if left == 1 else f"{left:,} files are"
    return f"{said}; {files} not searched yet" if left else f"{said}; new text is read for each question anew"


def held_line(held: Sequence[str]) -> tuple[str, ...]:
    """What is said of files that vanished in suspicious numbers."""
    if not held:
        return ()
    return (
        f"{len(held):,} files are gone at once: they answer no more, and what is known of them is kept "
        "until `huimem sync` or a watcher's second look",
    )

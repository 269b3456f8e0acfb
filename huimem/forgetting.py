"""What is to be forgotten → a vault and an index in which it stands nowhere, and a list of where was looked.

In: a vault, its index, what was named. Out: a certificate. Each step may be the last: said again, the same
words finish what was begun.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from huimem import upkeep
from huimem.errors import Locked, WriteFailed
from huimem.index.index import Index
from huimem.months import archived
from huimem.vault.forget import Doomed, doomed, mark, owners, scrub, still_said, take_out
from huimem.vault.vault import Vault


@dataclass(frozen=True, slots=True)
class Looked:
    """A place that was looked at, and what was done there."""

    place: str
    found: str


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was forgotten, or with `dry` would be: refs, every place looked at, and what could not be done.

    `left` are files in which the same words still stand: they were not asked to be forgotten.
    """

    refs: tuple[str, ...]
    files: tuple[str, ...]
    looked: tuple[Looked, ...] = ()
    left: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    dry: bool = False


def forget(
    vault: Vault,
    index: Index,
    wanted: Sequence[str],
    *,
    key: str | None,
    namespace: str | None,
    dry: bool,
    now: datetime,
) -> Forgotten:
    """Take records out of files, archives, index, vectors, caches, journal and recovered copies.

    Raises NotFound for what was never there, UsageError where nothing is named, Locked, Conflict,
    WriteFailed, Unreadable; what is out until then stays out, and the rest by the next call.
    """
    found = doomed(vault, wanted, key=key, namespace=namespace)
    refs = tuple(ref for one in found for ref in one.refs)
    paths = tuple(one.path for one in found)
    if dry:
        return Forgotten(refs, paths, dry=True)
    said = tuple(text for one in found for text in one.said)
    if refs:
        mark(vault, refs, now)
    copies = scrub(vault, said)
    for one in found:
        take_out(vault, one)
    for owner in owners(wanted):  # also where an earlier call ended before it came to this
        vault.forget_recorded(*owner)
    warnings = _out_of_the_index(vault, index)
    return Forgotten(refs, paths, _looked(found, copies), still_said(vault, said), warnings)


def _out_of_the_index(vault: Vault, index: Index) -> tuple[str, ...]:
    """Rows, words, vectors and cached vectors of what the files no longer hold are overwritten."""
    try:
        upkeep.sync(vault, index, vectors=False)
        index.purge()
    except (Locked, WriteFailed) as error:
        return (f"the index still holds it: {error.message} – say huimem forget again",)
    return ()


def _looked(found: Sequence[Doomed], copies: int) -> tuple[Looked, ...]:
    packed = sum(archived(one.path) is not None for one in found)
    whole = sum(one.whole for one in found)
    records = sum(len(one.refs) for one in found)
    return (
        Looked("files", f"{records} records taken out, {whole} files deleted"),
        Looked("archives", f"{packed} files taken out, their archives made again"),
        Looked("unpacked files", f"{packed} dropped"),
        Looked("index", "rows and words removed and overwritten"),
        Looked("vectors", "removed from all segments and from the cache"),
        Looked("journal", "entries of these sessions overwritten"),
        Looked("recovered and backup copies", f"{copies} changed"),
    )

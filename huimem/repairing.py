"""Derived files that are not what they should be → made again, and in words what was done to each.

In: a vault and its index. Out: a `Mended` for each. Nothing that is its owner's is written or moved: what
cannot be made again from that is left as it is, and doctor and check name it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from huimem import upkeep
from huimem.folders import seen_from
from huimem.index.index import Index
from huimem.months import archived
from huimem.vault import archive, soundness, unpacked
from huimem.vault.vault import Vault


@dataclass(frozen=True, slots=True)
class Mended:
    """A derived file or folder, by its path from the vault, and what was done to it."""

    path: str
    what: str


def repair(vault: Vault, index: Index) -> tuple[Mended, ...]:
    """Look at every byte of what is derived, and make again what is missing, damaged or behind the files.

    Vectors that are lost by it are made by whoever asks or syncs next. Raises Locked, WriteFailed,
    VaultError where the vault cannot be listed.
    """
    return (*_beside_archives(vault), *_unpacked(vault), *_index(vault, index))


def _beside_archives(vault: Vault) -> Iterator[Mended]:
    """The manifest's copy and the list of each archive that can be read."""
    for place in filter(None, map(archived, sorted(vault.scan().archives))):
        odd = [one for one in soundness.looked_at(vault, place, read_data=False).findings if not one.damage]
        if odd:
            archive.tell_again(vault, place)
        yield from (Mended(one.problem.path, "written again from its archive") for one in odd)


def _unpacked(vault: Vault) -> Iterator[Mended]:
    names = [*unpacked.changed(vault.state)]
    vault.archives.unpacked.drop(names)
    for name in names:
        path = _shown(vault, f"{unpacked.FOLDER}/{name}")
        yield Mended(path, "deleted: it was changed, and is unpacked again when it is read")


def _index(vault: Vault, index: Index) -> Iterator[Mended]:
    """Words, vectors and cache: what is damaged is begun anew, what the files hold is read again."""
    report = upkeep.sync(vault, index, full=True, vectors=False, aloud=False).report
    for warning in report.warnings:
        yield Mended(_shown(vault, ""), warning)
    counts = {"added": report.added, "changed": report.changed, "removed": report.removed}
    said = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
    if said:
        yield Mended(_shown(vault, ""), f"brought in step with the files: {said}")


def _shown(vault: Vault, name: str) -> str:
    """A path of the state folder, from the vault where it lies in there."""
    return str(seen_from(vault.root, vault.state / name))

"""The archives of a vault, looked at: is each whole, and does what lies beside it agree with it?

In: a vault. Out: findings, each a Problem that is either damage, where an archive no longer holds what was
put there, or a fault that people can put right. Nothing is changed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256

from huimem import descriptors, files
from huimem.errors import Problem
from huimem.files import Unreadable
from huimem.months import ENDING, FOLDER, MONTH, Archived, archived
from huimem.vault import archive, pack
from huimem.vault.layout import conflict_copy, namespace_folders
from huimem.vault.pack import BadArchive, Manifest
from huimem.vault.vault import Vault

_BACKUP = "Put back a copy of it from a backup."


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong; `damage`: what was written is no longer there."""

    problem: Problem
    damage: bool = False


@dataclass(frozen=True, slots=True)
class Month:
    """An archive that was looked at; `manifest` None where it cannot be read."""

    place: Archived
    manifest: Manifest | None = None
    findings: tuple[Finding, ...] = ()


def looked_at(vault: Vault, place: Archived, *, read_data: bool) -> Month:
    """An archive by its manifest and by what lies beside it, with `read_data` also by all of its bytes."""
    try:
        manifest = vault.archives.manifest(place)
    except Unreadable as error:
        gone = () if error.gone else (Finding(vault.fault(place.archive, error), damage=True),)
        return Month(place, None, gone)
    findings = [*_copies(vault, place, manifest)]
    if read_data:
        findings += _contents(vault, place, manifest)
    return Month(place, manifest, tuple(findings))


def _copies(vault: Vault, place: Archived, manifest: Manifest) -> Iterator[Finding]:
    """The manifest's copy and the list, where they are not what the archive says."""
    again = "huimem doctor --fix writes it again."
    for path, data in archive.beside(place, manifest).items():
        try:
            held, _ = files.read(vault.root / path, within=vault.root)
        except Unreadable as error:
            lacking = Problem(path, 0, f"is missing beside {place.archive}", again)
            yield Finding(lacking if error.gone else vault.fault(path, error))
            continue
        if held != data:
            yield Finding(Problem(path, 0, f"is not what {place.archive} says of itself", again))


def _contents(vault: Vault, place: Archived, manifest: Manifest) -> Iterator[Finding]:
    """What is wrong with the bytes of an archive, and how many of its files are whole all the same."""
    try:
        for _ in pack.contents(vault.archives.whole(place)):
            pass
    except Unreadable as error:
        if not error.gone:
            yield Finding(vault.fault(place.archive, error), damage=True)
    except BadArchive as error:
        whole = sum(_readable(vault, place, member.name) for member in manifest.members)
        left = f"{whole:,} of {len(manifest.members):,} files in it can still be read"
        yield Finding(Problem(place.archive, 0, f"is damaged: {error.message}; {left}", _BACKUP), damage=True)


def _readable(vault: Vault, place: Archived, name: str) -> bool:
    try:
        vault.archives.read(replace(place, name=name))
    except Unreadable:
        return False
    return True


def beside(vault: Vault) -> Iterator[Finding]:
    """What lies in the folders of archives and belongs to none that stands there."""
    for owner in namespace_folders(vault.root):
        folder = vault.root / owner / FOLDER
        try:
            names = set() if folder.is_symlink() else set(os.listdir(folder))
        except OSError:
            continue
        for name in sorted(names):
            stem, _, ending = name.partition(".")
            place = Archived(owner, stem)
            if name.endswith(ENDING) and not archived(f"{owner}{FOLDER}/{name}"):
                yield from _misnamed(vault, f"{owner}{FOLDER}/{name}")
            elif not MONTH.fullmatch(stem) or f"{stem}{ENDING}" in names:
                continue
            elif ending == "json":
                yield from _lost(vault, place)
            elif ending == "md" and f"{stem}.json" not in names:
                yield from _left_over(vault, place)


def _misnamed(vault: Vault, path: str) -> Iterator[Finding]:
    """An archive of ours under a name that is none."""
    try:
        beginning, _ = descriptors.read_range(vault.root / path, 0, pack.BEGINNING, within=vault.root)
        pack.manifest_end(beginning)
    except (Unreadable, BadArchive):
        return
    if conflict_copy(path):
        remedy = (
            "Unpack it elsewhere (zstd -dc FILE | tar x), bring back what the month lacks, and delete it."
        )
        yield Finding(Problem(path, 0, "is a sync program's copy of an archive, and is not read", remedy))
    else:
        remedy = "Give it back its name, like 2025-12.tar.zst."
        yield Finding(Problem(path, 0, "is an archive without the name of a month, and is not read", remedy))


def _lost(vault: Vault, place: Archived) -> Iterator[Finding]:
    """A manifest's copy without the archive: its files are gone, unless they lie open."""
    with suppress(Unreadable):
        data, _ = files.read(vault.root / place.manifest, limit=pack.MOST_MANIFEST, within=vault.root)
        if not data.startswith(b'{"huimem": '):
            return
        hashes = _hashes(data)
        left = [name for name, hash in hashes.items() if not _stands(vault, place.owner + name, hash)]
        if hashes and not left:
            remedy = f"Delete it, and {place.listing}."
            yield Finding(Problem(place.manifest, 0, "tells of an archive whose files all lie open", remedy))
            return
        held = (
            f"{len(left):,} files that lay in it are nowhere else"
            if hashes
            else "nobody can say what it held"
        )
        remedy = f"{_BACKUP} If it was meant to go: delete {place.manifest} and {place.listing}."
        told = f"is gone, {place.manifest} is there: {held}"
        yield Finding(Problem(place.archive, 0, told, remedy), damage=True)


def _hashes(data: bytes) -> dict[str, str]:
    """The SHA-256 of each file that a manifest names; none where it cannot be read."""
    with suppress(ValueError, TypeError, KeyError, RecursionError):
        return {str(one["name"]): str(one["sha256"]) for one in json.loads(data)["members"]}
    return {}


def _stands(vault: Vault, path: str, hash: str) -> bool:
    """Whether an open file holds just these bytes."""
    with suppress(Unreadable, ValueError):
        return sha256(files.read(vault.root / path, within=vault.root)[0]).hexdigest() == hash
    return False


def _left_over(vault: Vault, place: Archived) -> Iterator[Finding]:
    """A list alone, without the archive and its manifest."""
    with suppress(Unreadable):
        data, _ = files.read(vault.root / place.listing, within=vault.root)
        if data.startswith(f"# {place.month}\n\nPacked in `".encode()):
            remedy = "Put back the archive from a backup; if it was meant to go, delete this list."
            yield Finding(Problem(place.listing, 0, f"tells of {place.archive}, which is not there", remedy))

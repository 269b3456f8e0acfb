"""A vault with its archives and its index → every fault in its files, and everything that is damaged.

Reads, and changes nothing. Faults are what people can put right in their files; damage is an archive or a
derived file that no longer holds what huimem put there.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from huimem.errors import HuimemError, Problem
from huimem.files import Unreadable
from huimem.folders import seen_from
from huimem.index.verify import Held, verify
from huimem.months import Archived, archived
from huimem.records import Fact, Ref, Source, Turn
from huimem.vault import clashes, soundness, unpacked
from huimem.vault.archive import way_back, went_on
from huimem.vault.layout import namespace_of
from huimem.vault.listing import Scan
from huimem.vault.pack import Member
from huimem.vault.soundness import Finding, Month
from huimem.vault.vault import Vault

# Seconds until what does not fit is looked at once more: somebody may be packing that month.
AGAIN = 0.3


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check found. `files` counts open files, `packed` those in `archives`.

    `problems` are faults in the vault's files, `damaged` archives and index files that are not what was
    written, or that are gone. `indexed` counts files that the index knows, None where there is none that
    can be used; `pending` those that it does not know as they are.
    """

    files: int
    archives: int
    packed: int
    indexed: int | None
    pending: int
    problems: tuple[Problem, ...] = ()
    damaged: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class _Open:
    """The open files that could be read; `steady` has the digests of those that are as they were listed."""

    sources: tuple[Source, ...]
    steady: Mapping[str, str]
    problems: tuple[Problem, ...]


def check(vault: Vault, *, read_data: bool = False) -> Checked:
    """Look at the vault, its archives and its index; with `read_data` at every byte of these two.

    Raises `Locked` where another process goes on writing to what looks damaged, `VaultError` where the
    vault cannot be listed, `WriteFailed` where the disk does not let the index be read.
    """
    scan = vault.scan()
    opened, months = _opened(vault, scan), _months(vault, scan, read_data=read_data)
    held = _held(vault, scan, opened, months)
    index = verify(vault.state, str(vault.root.resolve()), held, read_data=read_data)
    derived = [*index.damaged, *(_cached(vault.state) if read_data else ())]
    findings = [*(one for month in months for one in month.findings), *_beside(vault)]
    faults = [one.problem for one in findings if not one.damage]
    faults += [*scan.problems, *opened.problems, *_between(vault, opened.sources, months)]
    damaged = [one.problem for one in findings if one.damage]
    return Checked(
        files=len(scan.files),
        archives=len(scan.archives),
        packed=sum(len(month.manifest.members) for month in months if month.manifest),
        indexed=index.sources,
        pending=index.pending,
        problems=_sorted(faults),
        damaged=_sorted([*damaged, *index.wrong, *(_below(vault, problem) for problem in derived)]),
    )


def problems(vault: Vault) -> tuple[Problem, ...]:
    """Every fault in the vault's files, what clashes between them, open or packed, and what was lost.

    By path and line. Archives are looked at by their manifests.
    """
    scan = vault.scan()
    opened, months = _opened(vault, scan), _months(vault, scan, read_data=False)
    unread = [one.problem for month in months for one in month.findings if not month.manifest]
    between = _between(vault, opened.sources, months)
    lost = vault.losses().problems(opened.sources)
    return _sorted([*vault.exposed(), *scan.problems, *opened.problems, *unread, *between, *lost])


def _sorted(found: Sequence[Problem]) -> tuple[Problem, ...]:
    return tuple(sorted(found, key=lambda problem: (problem.path, problem.line)))


def _opened(vault: Vault, scan: Scan) -> _Open:
    sources, steady, found = [], {}, []
    for path, stamp in sorted(scan.files.items()):
        try:
            source = vault.read(path)
            if vault.stamp(path) == stamp:
                steady[path] = source.digest
        except Unreadable as error:
            if not error.gone:
                found.append(vault.fault(path, error))
            continue
        sources.append(source)
        found += source.problems
    return _Open(tuple(sources), steady, tuple(found))


def _months(vault: Vault, scan: Scan, *, read_data: bool) -> list[Month]:
    """Every archive; where something is wrong it was looked at twice."""
    places = [place for path in sorted(scan.archives) if (place := archived(path))]
    months = [soundness.looked_at(vault, place, read_data=read_data) for place in places]
    if any(month.findings for month in months):
        time.sleep(AGAIN)
    return [
        soundness.looked_at(vault, month.place, read_data=read_data) if month.findings else month
        for month in months
    ]


def _beside(vault: Vault) -> list[Finding]:
    found = [*soundness.beside(vault)]
    if found:
        time.sleep(AGAIN)
        found = [*soundness.beside(vault)]
    return found


def _held(vault: Vault, scan: Scan, opened: _Open, months: Sequence[Month]) -> Held:
    """What the index should know of files that are still as they were listed."""
    packed = {
        month.place.archive: {month.place.file(one.name): one.digest for one in month.manifest.members}
        for month in months
        if month.manifest and vault.stamp(month.place.archive) == scan.archives[month.place.archive]
    }
    return Held(scan.stamps, scan.unreadable, opened.steady, packed)


def _between(vault: Vault, sources: Sequence[Source], months: Sequence[Month]) -> Iterator[Problem]:
    """What clashes between files, open and packed.

    Where an archive cannot be read nobody knows whether what a fact cites lies in there.
    """
    if not all(month.manifest for month in months):
        sources = [_uncited(source) for source in sources]
    packed = [(month.place, one) for month in months if month.manifest for one in month.manifest.members]
    yield from clashes.between([*sources, *(_by_manifest(place, member) for place, member in packed)])
    owners: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for place, member in packed:
        owners[namespace_of(place.original), member.id].append((place.file(member.name), member.digest))
    for source in sources:
        if (owner := clashes.owner(source)) in owners and owner:
            owners[owner].append((source.path, source.digest))
    for (first, digest), *others in owners.values():
        for path, other in others:
            if other != digest and not _goes_on(vault, first, path):
                yield _twice(path, first)


def _goes_on(vault: Vault, packed: str, path: str) -> bool:
    """Whether an open session holds all of a packed one, which goes at the next packing.

    Whoever packed it may have died before the open one was deleted, and then somebody added to that.
    """
    if archived(path):
        return False
    with suppress(HuimemError):
        earlier, later = (vault.contents(each)[0] for each in (packed, path))
        return went_on(vault.zone, path, earlier, later)
    return False


def _uncited(source: Source) -> Source:
    """A file without what its facts cite."""
    records = (replace(one, sources=()) if isinstance(one, Fact) else one for one in source.records)
    return replace(source, records=tuple(records))


def _by_manifest(place: Archived, member: Member) -> Source:
    """A packed file as far as its manifest tells of it: its refs.

    Before them stands one that no other file has, so that clashes of ids are told by `_twice` alone.
    """
    path, namespace = place.file(member.name), namespace_of(place.original)
    refs = [Ref(namespace, path, "0")]
    with suppress(ValueError):
        refs += map(Ref.parse, member.refs)
    records = tuple(Turn(ref, ()) for ref in refs)
    return Source(path, member.digest, namespace, member.title, (), records)


def _twice(path: str, packed: str) -> Problem:
    """A session that is packed, and stands elsewhere with another text."""
    place = archived(packed)
    assert place is not None
    back = f"{way_back(place)} brings the packed one back"
    remedy = f"{back}; then bring what one of them adds into the other, and delete it."
    return Problem(path, 0, f"has the same id as {packed}, and another text", remedy)


def _cached(state: Path) -> Iterator[Problem]:
    """Unpacked files that no longer hold what their names say."""
    for name in unpacked.changed(state):
        remedy = "Delete it: it is unpacked again when it is asked for."
        yield Problem(f"{unpacked.FOLDER}/{name}", 0, "was changed by another program", remedy)


def _below(vault: Vault, problem: Problem) -> Problem:
    """A problem of a file in the state folder, with its path from the vault where it lies in there."""
    path = vault.state / problem.path
    shown = seen_from(vault.root, path)
    return replace(problem, path=str(shown))

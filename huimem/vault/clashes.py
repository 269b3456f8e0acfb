"""What clashes between files that are each fine by themselves.

In: the sources of a vault. Out: a Problem at every file but the first of each clash. Nothing is
decided here: both files stay as they are, and both are searched.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Hashable, Iterable, Iterator, Sequence

from huimem.errors import Problem
from huimem.records import Fact, Source
from huimem.vault.facts import fold


def between(sources: Sequence[Source]) -> Iterator[Problem]:
    """Sessions with one id, keys kept in two files, names that one disk cannot hold side by side."""
    for first, path in _repeated((source, _session(source)) for source in sources):
        yield Problem(
            path, 1, f"has the same id as {first}", "Give one of them another `id:`, or delete the copy."
        )
    for first, path in _repeated((source, key) for source in sources for key in _keys(source)):
        yield Problem(path, 1, f"holds a key that {first} holds too", "Move its sections there.")
    for first, path in _repeated((source, _name(source.path)) for source in sources):
        yield Problem(path, 0, f"differs from {first} only in case or accents", "Rename one of them.")


def _repeated(owned: Iterable[tuple[Source, Hashable]]) -> Iterator[tuple[str, str]]:
    """The first owner of a thing and each later one, by path."""
    owners: dict[Hashable, str] = {}
    for source, thing in sorted(owned, key=lambda pair: pair[0].path):
        if thing is not None and owners.setdefault(thing, source.path) != source.path:
            yield owners[thing], source.path


def _session(source: Source) -> Hashable:
    refs = [record.ref for record in source.records if not isinstance(record, Fact)]
    return (refs[0].namespace, refs[0].session) if refs else None


def _keys(source: Source) -> set[Hashable]:
    return {
        (source.namespace, fold(record.key))
        for record in source.records
        if isinstance(record, Fact) and record.key
    }


def _name(path: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())

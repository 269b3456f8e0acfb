"""What does not fit between files that are each fine by themselves.

In: the sources of a vault. Out: a Problem at every file but the first of each clash, and at each fact
that cites what is not there. Nothing is decided here: files stay as they are, and are searched.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence

from huimem.errors import Problem
from huimem.records import Fact, Source
from huimem.vault.facts import fold
from huimem.vault.layout import folded

_REF = re.compile(r"(?!\w+://).+[#@].+")


def between(sources: Sequence[Source]) -> Iterator[Problem]:
    """Sessions with one id, keys kept in two files, names that one disk cannot hold side by side."""
    for first, path in _repeated((source, owner(source)) for source in sources):
        yield Problem(
            path, 1, f"has the same id as {first}", "Give one of them another `id:`, or delete the copy."
        )
    for first, path in _repeated((source, key) for source in sources for key in _keys(source)):
        yield Problem(path, 1, f"holds a key that {first} holds too", "Move its sections there.")
    for first, path in _repeated((source, folded(source.path)) for source in sources):
        yield Problem(path, 0, f"differs from {first} only in case or accents", "Rename one of them.")
    yield from _dangling(sources)


def _dangling(sources: Sequence[Source]) -> Iterator[Problem]:
    """Refs that facts give as where they come from, and that no record has."""
    known = {str(record.ref) for source in sources for record in source.records}
    for source in sources:
        for fact in (record for record in source.records if isinstance(record, Fact)):
            for ref in fact.sources:
                if _REF.fullmatch(ref) and known.isdisjoint((ref, f"{source.namespace}/{ref}")):
                    remedy = "Bring it back, or take it out of `from=`."
                    yield Problem(source.path, fact.line, f"cites {ref}, which is not in the vault", remedy)


def _repeated(owned: Iterable[tuple[Source, Hashable]]) -> Iterator[tuple[str, str]]:
    """The first owner of a thing and each later one, by path."""
    owners: dict[Hashable, str] = {}
    for source, thing in sorted(owned, key=lambda pair: pair[0].path):
        if thing is not None and owners.setdefault(thing, source.path) != source.path:
            yield owners[thing], source.path


def owner(source: Source) -> tuple[str, str] | None:
    """Whose the file of a session is: namespace and id; None for one of facts alone."""
    refs = [record.ref for record in source.records if not isinstance(record, Fact)]
    return (refs[0].namespace, refs[0].session) if refs else None


def _keys(source: Source) -> set[Hashable]:
    return {
        (source.namespace, fold(record.key))
        for record in source.records
        if isinstance(record, Fact) and record.key
    }

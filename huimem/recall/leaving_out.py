"""Words that may not stand there → the records of a part whose text holds them.

A search judges the texts that it has found; a list has found none, so the records are named to it before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from huimem.index.filters import Filter
from huimem.index.rows import RecordRow
from huimem.recall.parts import Part
from huimem.recall.rank import Ints
from huimem.recall.wording import as_it_stands, shut_out, sure_terms
from huimem.records import Excluded


def left_out(part: Part, excluded: Sequence[Excluded]) -> Ints:
    """The ids of the records that hold any of what is excluded and pass the filter of a part: int64, rising.

    With some that do not pass it. Texts are read where the index cannot tell.
    """
    told = [one for one in excluded if not as_it_stands(one)]
    found = [_with_any(part, sure_terms(one)[:1]) for one in told]
    if read := [one for one in excluded if as_it_stands(one)]:
        passing = _records(part, part.snapshot.rows(part.narrowed))
        found += [_holding(part, one, passing) for one in read]
    return np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)


def _holding(part: Part, one: Excluded, passing: Ints) -> Ints:
    """Those of the records `passing` whose text holds what is excluded as it stands."""
    terms = sure_terms(one)[:1]
    likely = np.intersect1d(passing, _with_any(part, terms)) if terms else passing
    records = part.snapshot.records(likely.tolist())
    texts = zip(records, texts_of(part, records), strict=True)
    return np.array([record.id for record, text in texts if shut_out(text, (one,))], np.int64)


def _with_any(part: Part, terms: Sequence[str]) -> Ints:
    anywhere = Filter(namespaces=part.narrowed.namespaces, hidden=part.narrowed.hidden)
    everything, _ = part.snapshot.totals(anywhere.namespaces)
    return _records(part, part.snapshot.find(terms, anywhere, max(everything, 1)))


def _records(part: Part, rows: Ints) -> Ints:
    return np.unique(part.snapshot.passages(rows).record)


def texts_of(part: Part, records: Sequence[RecordRow]) -> Iterator[str]:
    """What each of some records is called, and its whole text, passage by passage.

    No phrase goes on from one message to the next, or from what it is called.
    """
    found = part.snapshot.passages(part.snapshot.rows_of(record.id for record in records))
    passages: dict[int, list[tuple[int, int, bool]]] = {}
    columns = (found.record, found.rows, found.message, found.titles)
    for owner, *passage in zip(*(column.tolist() for column in columns), strict=True):
        passages.setdefault(owner, []).append((passage[0], passage[1], passage[2]))
    for record in records:
        text, last = record.key or "", -1
        for row, message, title in passages.get(record.id, ()):
            (said,) = part.snapshot.said([row]) if title else part.snapshot.texts([row])
            text += f"\n{said}" if message == last and not title else f"\x00{said}"
            last = -1 if title else message
        yield text

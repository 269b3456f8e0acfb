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
    """The ids of the records that pass the filter of a part and hold any of what is excluded: int64."""
    rows = part.snapshot.rows(part.narrowed)
    passing = np.unique(part.snapshot.passages(rows).record)
    return np.unique(np.concatenate([passing[:0], *(_holding(part, one, passing) for one in excluded)]))


def _holding(part: Part, one: Excluded, passing: Ints) -> Ints:
    """Those of `passing` that hold what is excluded; texts are read where the index cannot tell."""
    likely, terms = passing, sure_terms(one)
    if terms:
        anywhere = Filter(namespaces=part.narrowed.namespaces, hidden=part.narrowed.hidden)
        most = part.snapshot.totals(anywhere.namespaces)[0]
        rows = part.snapshot.find(terms[:1], anywhere, most)
        likely = np.intersect1d(passing, part.snapshot.passages(rows).record)
    if terms and not as_it_stands(one):
        return likely
    records = part.snapshot.records(likely.tolist())
    held = [
        record.id
        for record, text in zip(records, texts_of(part, records), strict=True)
        if shut_out(text, (one,))
    ]
    return np.array(held, np.int64)


def texts_of(part: Part, records: Sequence[RecordRow]) -> Iterator[str]:
    """What each of some records is called, and its whole text, passage by passage.

    No phrase goes on from one message to the next, or from what it is called.
    """
    found = part.snapshot.passages(part.snapshot.rows_of(record.id for record in records))
    order = np.argsort(found.record, kind="stable")
    owners, titles = found.record[order], found.titles[order]
    rows, messages = found.rows[order], found.message[order]
    for record in records:
        here = slice(*np.searchsorted(owners, [record.id, record.id + 1]))
        said = ~titles[here]
        begins = np.diff(messages[here][said], prepend=-1) != 0
        texts = part.snapshot.texts(rows[here][said].tolist())
        called = [record.key or "", *part.snapshot.said(rows[here][~said].tolist())]
        yield "\x00".join(called) + "".join(
            ("\x00" if new else "\n") + text for new, text in zip(begins, texts, strict=True)
        )

"""A Query → the passages worth judging, with what judging them needs.

Words and meaning each find their best; both are then scored exactly over the union, with the
neighbours of whatever leads, so that no score depends on which of the two found a passage.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from huimem.config import Ranking
from huimem.index.embeddings import Meaning
from huimem.index.filters import Filter
from huimem.index.index import Snapshot
from huimem.recall import rank
from huimem.recall.parts import Part
from huimem.recall.rank import Floats, Ints, Pool, Scores, Terms
from huimem.records import Query

FOUND_BY_WORDS = 1_000
FOUND_BY_MEANING = 200
LEADERS = 100  # records whose neighbours are looked at
REACH = 2  # records on each side whose messages may lend


def weighed_terms(parts: Sequence[Part], query: Query) -> list[Terms]:
    """The question's words with the weights they have in the namespaces asked of all parts.

    One for each part: in their numbers of words alone they differ.
    """
    passages, tokens, frequencies = 0, 0, np.zeros(len(query.terms), np.int64)
    for part in parts:
        counts = _counts(part, query)
        passages, tokens, frequencies = passages + counts[0], tokens + counts[1], frequencies + counts[2]
    weights = rank.weigh(frequencies.tolist(), passages)
    length = tokens / passages if passages else 1.0
    return [Terms(query.terms, tuple(part.snapshot.term_ids(query.terms)), weights, length) for part in parts]


def _counts(part: Part, query: Query) -> tuple[int, int, Ints]:
    """Passages and words of a part, and how many passages hold each term; what is hidden does not count."""
    snapshot, namespaces = part.snapshot, part.narrowed.namespaces
    passages, tokens = snapshot.totals(namespaces)
    frequencies = np.array(snapshot.frequencies(query.terms, namespaces), np.int64)
    if not part.narrowed.hidden:
        return passages, tokens, frequencies
    gone = snapshot.passages(snapshot.hidden_rows(part.narrowed))
    owner = np.repeat(np.arange(len(gone.rows)), gone.lengths)
    held = [
        0 if id is None else len(np.unique(owner[gone.tokens == id])) for id in snapshot.term_ids(query.terms)
    ]
    return passages - len(gone.rows), tokens - len(gone.tokens), frequencies - np.array(held, np.int64)


class Judge:
    """One question before one snapshot of the index: judges rows by words and meaning."""

    def __init__(self, snapshot: Snapshot, terms: Terms, ranking: Ranking, meaning: Meaning | None) -> None:
        self._snapshot = snapshot
        self._terms = terms
        self._ranking = ranking
        self._meaning = meaning

    def found(self, query: Query, narrowed: Filter) -> Ints:
        """Rows that words or meaning point at: int64, unique, ascending."""
        by_words = self._snapshot.find(query.terms, narrowed, FOUND_BY_WORDS)
        if self._meaning is None:
            return np.unique(by_words)
        by_meaning, _ = self._snapshot.nearest(self._meaning.vector, narrowed, FOUND_BY_MEANING)
        return np.union1d(by_words, by_meaning)

    def judge(self, rows: Ints) -> tuple[Pool, Scores]:
        """Exact scores of the messages of `rows` and of those beside the leaders, with what each lends."""
        pool = self._pool(rows)
        shares = self._shares(pool)
        first = rank.score(pool, *shares, self._ranking)
        if not len(first.record):
            return pool, first
        leaders = np.unique(first.record[np.argsort(-first.sums, kind="stable")[:LEADERS]])
        near = self._snapshot.rows_of(self._snapshot.around(leaders, REACH))
        beside = self._pool(np.setdiff1d(near, pool.rows, assume_unique=True))
        words, meaning = (np.concatenate(pair) for pair in zip(shares, self._shares(beside), strict=True))
        whole = pool.joined(beside)
        return whole, rank.score(whole, words, meaning, self._ranking)

    def _shares(self, pool: Pool) -> tuple[Floats, Floats]:
        """Words and meaning of each passage as shares in [0, 1]."""
        return rank.share_of_words(pool, self._terms, self._ranking), self._nearness(pool.rows)

    def _nearness(self, rows: Ints) -> Floats:
        if self._meaning is None:
            return np.zeros(len(rows))
        cosines = self._snapshot.cosines(self._meaning.vector, rows).astype(np.float64)
        return rank.share_of_meaning(cosines, self._meaning.scale.chance, self._meaning.scale.same)

    def _pool(self, rows: Ints) -> Pool:
        found = self._snapshot.passages(rows)
        return Pool(
            found.rows,
            found.record,
            found.source,
            found.place,
            found.message,
            found.at_ms,
            found.user,
            found.tokens,
            found.offsets[:-1],
            found.offsets[1:],
        )

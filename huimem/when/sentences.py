"""Text → its runs worth parsing: what no time word, figure or hint stands in is passed over.

In: a normal text and a vocabulary. Out: runs, most of them plain: known words between single spaces,
which need no scanning. A word that no language knows parts runs wherever it stands between spaces, so
that a sentence can be read from the one before a time word to the one behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from huimem.when.grammar import Token
from huimem.when.scanning import CORE, EDGE, WORD, Vocabulary, runs

_STOPS = re.compile(r"[\n?!;。？！；]|\.(?=\s)")
_MARKS = frozenset("\n?!;.。？！；")
_WORDS = re.compile(r"[a-z]+", re.ASCII)
_BEGINNING = re.compile(r"[a-z]+(?![a-z0-9_'.])", re.ASCII)
# Sorts of pieces between spaces, a letter each, so that a sentence is a string of them. Plain words:
UNKNOWN, KNOWN, NUMBER, TELLING = "u", "k", "n", "t"
HINTED_UNKNOWN, HINTED = "v", "h"  # … that may belong to a hint
# All else: with something that tells of time, with a number or a hint, with neither, and of those what
# begins with an unknown word.
MIXED_TELLING, MIXED, QUIET, BEGUN = "T", "M", "Q", "B"
_TIMELY = re.compile("[ntTM]")
_PARTING = re.compile("[uvB]")
_BEFORE = re.compile(".*[uvB]")
_PLAIN = re.compile("[knth]{1,40}")
_LONGEST_KEPT, _MOST_KEPT = 32, 30_000  # pieces whose sort is remembered: characters, how many


class Run(NamedTuple):
    """A stretch worth parsing, [start, end) in characters; `before` and `after`: there it lies at an edge.

    `words` make it up where it is plain, else `tokens` do, with those beside it.
    """

    start: int
    end: int
    before: bool
    after: bool
    words: Sequence[str] = ()
    tokens: Sequence[Token] = ()


class Hints(NamedTuple):
    """What is of time though no word tells so: `pattern`, where one of `words` stands or one with a part."""

    pattern: str = ""
    words: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()


class _Sorts(dict[str, str]):
    """The sort of any piece of a sentence, found out once."""

    def __init__(self, words: Vocabulary, hints: Hints) -> None:
        super().__init__()
        self._words, self._hints = words, hints
        numbers = [word for word, values in words.spelled.items() if "<number>" in values]
        self._timely = words.telling.union(numbers, hints.words)
        core = {word[0] for word, values in words.written.items() if CORE in values}
        figures = {word[0] for word, values in words.written.items() if "<number>" in values} | words.digits
        self._figure = re.compile(f"[0-9{''.join(sorted(core))}]")
        self._other = re.compile("|".join((*sorted(figures), "o'clock", r"[ap]\.m")))

    def __missing__(self, piece: str) -> str:
        sort = self._sort(piece)
        if len(piece) <= _LONGEST_KEPT:
            if len(self) >= _MOST_KEPT:
                self.clear()
            self[piece] = sort
        return sort

    def _sort(self, piece: str) -> str:
        hinted = piece in self._hints.words or any(part in piece for part in self._hints.parts)
        if piece.isalpha() and piece.isascii():
            values = self._words.spelled.get(piece)
            if not values:
                return HINTED_UNKNOWN if hinted else UNKNOWN
            if CORE in values or "<number>" in values:
                return TELLING if CORE in values else NUMBER
            return HINTED if hinted else KNOWN
        found = _WORDS.findall(piece)
        if not self._words.telling.isdisjoint(found) or self._figure.search(piece):
            return MIXED_TELLING
        hinted = hinted or not self._timely.isdisjoint(found)
        if hinted or self._other.search(piece):
            return MIXED
        begun = _BEGINNING.match(piece)
        return BEGUN if begun and not self._words.spelled.get(begun[0]) else QUIET


class Reader:
    """Finds the runs of a text by one vocabulary."""

    def __init__(self, words: Vocabulary, hints: Hints) -> None:
        self._words = words
        self._sorts = _Sorts(words, hints)
        self._hint = re.compile(hints.pattern or "(?!)", re.ASCII)

    def runs(self, text: str) -> Iterator[Run]:
        """Every run of a normal text that is worth parsing, in order."""
        sort = self._sorts.__getitem__
        for start, stop in _sentences(text, self._words.shortened):
            pieces = text[start : stop - (text[stop - 1 : stop] in _MARKS)].split(" ")
            sorts = "".join(map(sort, pieces))
            if self._is_telling(text, start, stop, sorts):
                yield from self._runs(text, start, stop, pieces, sorts)

    def tokens(self, run: Run) -> list[Token]:
        """The tokens of a run, with what stands before and after it."""
        if run.tokens:
            return [*run.tokens]
        known, place = self._words.spelled, run.start
        tokens = [Token(EDGE if run.before else WORD, place, place)]
        for word in run.words:
            tokens.append(Token(known[word], place, place + len(word)))
            place += len(word) + 1
        tokens.append(Token(EDGE if run.after else WORD, run.end, run.end))
        return tokens

    def _is_telling(self, text: str, start: int, stop: int, sorts: str) -> bool:
        """Whether a sentence is worth reading: it holds a telling word or figure, or what a hint finds."""
        if TELLING in sorts or MIXED_TELLING in sorts:
            return True
        hinted = NUMBER in sorts or HINTED in sorts or MIXED in sorts or HINTED_UNKNOWN in sorts
        return hinted and self._hint.search(text, start, stop) is not None

    def _runs(self, text: str, start: int, stop: int, pieces: list[str], sorts: str) -> Iterator[Run]:
        """The runs of a sentence: around each piece that may be timely up to words that nobody knows."""
        at, place, last = 0, start, 0  # where piece `at` begins
        while timely := _TIMELY.search(sorts, last):
            begin, end = timely.span()
            parted = _BEFORE.match(sorts, last, begin)
            first = parted.end() if parted else 0
            window = start if not first else -1
            if not first and not pieces[0]:  # the blank after the sentence before
                first = 1
            place += sum(map(len, pieces[at:first])) + first - at
            at = first
            parting = _PARTING.search(sorts, end)
            last = parting.start() if parting else len(pieces)
            length = sum(map(len, pieces[at:last])) + last - at - 1
            if (not first or sorts[first - 1] != BEGUN) and self._is_plain(pieces, sorts, at, last):
                yield Run(place, place + length, window == start, not parting, pieces[at:last])
                continue
            if window < 0:
                window = place - 1 - len(pieces[at - 1])
            until = place + length + 1 + len(pieces[last]) if parting else stop
            for run in runs(text, window, until, self._words):
                before, after = "<edge>" in run[0].values, "<edge>" in run[-1].values
                yield Run(run[1].start, run[-2].end, before, after, tokens=run)

    def _is_plain(self, pieces: list[str], sorts: str, first: int, last: int) -> bool:
        """Whether the pieces of a run are its tokens; a shortened word's full stop is read with the rest."""
        if not _PLAIN.fullmatch(sorts, first, last):
            return False
        return last < len(pieces) or pieces[-1] not in self._words.shortened


def _sentences(text: str, shortened: frozenset[str]) -> Iterator[tuple[int, int]]:
    """[start, end) of every stretch between two marks that no phrase goes across."""
    start = 0
    for stop in _STOPS.finditer(text):
        at = stop.start()
        if stop[0] == "." and (text[at - 3 : at] in ("a.m", "p.m") or _last_word(text, at) in shortened):
            continue
        yield start, stop.end()
        start = stop.end()
    yield start, len(text)


def _last_word(text: str, end: int) -> str:
    return text[max(0, end - 8) : end].rpartition(" ")[2]

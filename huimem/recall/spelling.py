"""Words of a question that nothing holds → what the writer may have meant, one slip of the pen away.

Pure over a lookup of frequencies. A word is taken for a slip only where the vault does not know it
(or hardly) and English does not either, so that a question about what was never talked of stays one.
Chinese is not corrected: its slips are other characters of the same sound, which no edit finds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import chain
from string import ascii_lowercase

from huimem.index.tokens import fold, stem

Frequency = Callable[[Sequence[str]], Sequence[int]]

SHORTEST, LONGEST = 4, 20  # letters of a word that is corrected
SHORTEST_NAME = 6  # letters of one with a capital: short names differ by a letter and are others
MOST_WORDS = 3  # of a question; one with more unknown words is in another language
RARE = 1  # passages; a word in so few may still be a slip
FAR_COMMONER = 20  # passages of the neighbour for each of a rare word's own, at least
MOST_TERMS = 3  # for one word

# How sure a slip of a kind is; the first letter is seldom wrong, and short words have many neighbours.
_SWAPPED, _MISSING, _CHANGED = 0.8, 0.8, 0.7
_FIRST_LETTER = 0.5
_SHORT, _SHORT_WORD = 6, 0.75

# Words that stand by themselves: no part of an identifier, a path, an address or a number.
_PLAIN = re.compile(r"(?<![\w.@/:#'’\\-])[A-Za-z]+(?=(?:['’]s)?(?:[^\w@/:'’\\-]|[:'’-](?!\w)|$))(?!\.\w)")
# Endings that a stem loses; a slip inside one spoils the stem.
_IN_ENDING = 4  # letters
_ENDING = re.compile(r"(?:ing|ed|es|s|ly|er|ion|ions|ment|ness|al|ive|able|ity|y|e)$")


@dataclass(frozen=True, slots=True)
class Correction:
    """What may have been meant: a term as the index holds it, with its weight in (0, 1)."""

    term: str
    weight: float


def plain_words(text: str) -> list[str]:
    """The words of a question that could be slips, as written, each once: Latin letters alone."""
    return list(dict.fromkeys(filter(_may_be_a_slip, _PLAIN.findall(fold(text)))))


def corrections(words: Iterable[str], frequency: Frequency) -> Mapping[str, tuple[Correction, ...]]:
    """For the term of each mistyped word, what may have been meant, the likeliest first.

    `words` as written; `frequency` gives for each of some terms in how many passages it stands.
    Words without a correction are left out; what is left in keeps its own term beside them.
    """
    asked = {stem(word.lower()): word.lower() for word in filter(_may_be_a_slip, words)}
    own = dict(zip(asked, frequency([*asked]), strict=True))
    unknown = [term for term, word in asked.items() if own[term] <= RARE and word not in _english()]
    if len(unknown) > MOST_WORDS:
        return {}
    near = {term: _near(term, asked[term]) for term in unknown}
    listed = list(dict.fromkeys(candidate for terms in near.values() for candidate in terms))
    held = {term: n for term, n in zip(listed, frequency(listed), strict=True) if n} if listed else {}
    found = {term: _best(near[term], held, own[term]) for term in unknown}
    return {term: best for term, best in found.items() if best}


def _may_be_a_slip(word: str) -> bool:
    """Latin letters, not too few; capitals inside make an acronym or an identifier of a word."""
    if not (word.isascii() and word.isalpha() and len(word) <= LONGEST) or not word[1:].islower():
        return False
    return len(word) >= (SHORTEST if word[0].islower() else SHORTEST_NAME)


def _near(term: str, word: str) -> dict[str, float]:
    """Terms one edit away from a word or its stem, with how sure that slip is."""
    near: dict[str, float] = {}
    shortness = _SHORT_WORD if len(word) < _SHORT else 1.0
    for made, sure in chain(_edits(term), _edits_of_whole(word)):
        if made != term and len(made) >= SHORTEST - 1:
            near[made] = max(near.get(made, 0.0), sure * shortness)
    return near


def _edits_of_whole(word: str) -> Iterator[tuple[str, float]]:
    """Stems of what is one edit away from a word as written: of English words, and where it gains an ending.

    Stems of all would take longer than the rest of a question; the others differ from the word as
    their stems do.
    """
    kept, ending = word[:-_IN_ENDING], _ending(word)
    for made, sure in _edits(word):
        if made in _english() or (made.startswith(kept) and _ending(made) not in ("", ending)):
            yield stem(made), sure


def _ending(word: str) -> str:
    found = _ENDING.search(word)
    return found[0] if found else ""


def _edits(word: str) -> Iterator[tuple[str, float]]:
    """All strings one edit away: a swap of neighbours, a letter less, more or other."""
    for at in range(len(word) + 1):
        before, after = word[:at], word[at:]
        place = 1.0 if at else _FIRST_LETTER
        if len(after) > 1 and after[0] != after[1]:
            yield before + after[1] + after[0] + after[2:], _SWAPPED * place
        if after:
            yield before + after[1:], _MISSING * place
        for letter in ascii_lowercase:
            yield before + letter + after, _MISSING * place
            if after and letter != after[0]:
                yield before + letter + after[1:], _CHANGED * place


def _best(near: Mapping[str, float], held: Mapping[str, int], own: int) -> tuple[Correction, ...]:
    """The likeliest of the terms that the index holds; they share the weight as their passages do."""
    least = FAR_COMMONER * own if own else 1
    counted = {term: sure * held[term] for term, sure in near.items() if held.get(term, 0) >= least}
    best = sorted(counted, key=lambda term: (-counted[term], term))[:MOST_TERMS]
    whole = sum(counted[term] for term in best)
    return tuple(Correction(term, near[term] * counted[term] / whole) for term in best)


@cache
def _english() -> frozenset[str]:
    lines = files("huimem.recall").joinpath("english.txt").read_text("utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())

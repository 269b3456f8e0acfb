"""Words of a question → what they are called in the other language, from a list of common words.

Pure. In: terms as the index has them. A speaker of two languages asks in one of them for what was said
in the other; where no word can match, and the small embedder groups texts by language, the list finds it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from string import ascii_uppercase

from huimem.index.tokens import query_terms

Terms = tuple[str, ...]

_WORD = re.compile(r"[A-Za-z]+(?=[ ;\n])")  # no part of a longer one, as `e-mail` has them

_STEM = 3  # letters of a stem that its word begins with at least: `happi` is looked for as `happ`


def translations(asked: Sequence[str]) -> dict[Terms, tuple[Terms, ...]]:
    """For terms of a question, one or several that make one entry, the entries of the other language.

    Each entry is the terms that it is found by. A term counts in its longest entry alone: what is asked
    of a credit card is not asked of a card.
    """
    known = frozenset(asked)
    found: dict[Terms, list[Terms]] = {}
    for term in asked:
        for own, others in _entries_of(term):
            if term in own and known.issuperset(own):
                found.setdefault(own, []).extend(others)
    longest = sorted(found, key=len, reverse=True)
    kept: dict[Terms, tuple[Terms, ...]] = {}
    taken: set[str] = set()
    for own in longest:
        if taken.isdisjoint(own):
            taken.update(own)
            kept[own] = tuple(dict.fromkeys(found[own]))
    return kept


@lru_cache(10_000)
def _entries_of(term: str) -> tuple[tuple[Terms, tuple[Terms, ...]], ...]:
    """The entries that may hold a term, each with those across from it."""
    return tuple(pair for line in _lines_with(term) for pair in _pairs(line))


def _lines_with(term: str) -> Iterable[str]:
    """The lines of the list on which a word begins as the term does."""
    text, places = _text(), _places(_text(), term)
    if term.isascii():
        small = _in_small_letters()
        begins = _places(small, term[: max(_STEM, len(term) - 1)].lower())
        places = (at for at in begins if not "a" <= small[at - 1 : at] <= "z" and _stands(text, at, term))
    return dict.fromkeys(text[text.rfind("\n", 0, at) + 1 : text.find("\n", at)] for at in places)


def _stands(text: str, at: int, term: str) -> bool:
    """Whether the word at `at` is found by the term, as far as it tells that by itself.

    One that lacks the last letter may stand beside another spelling, as Puer does beside Pu-erh.
    """
    word = _WORD.match(text, at)
    return word is None or term in _terms_of(word[0]) or word[0].lower() == term[:-1]


@lru_cache(10_000)
def _terms_of(word: str) -> frozenset[str]:
    return frozenset((word, *query_terms(word)))


def _places(text: str, part: str) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


@lru_cache(10_000)
def _pairs(line: str) -> tuple[tuple[Terms, tuple[Terms, ...]], ...]:
    english, chinese = (tuple(_terms(side)) for side in line.split(" | "))
    across = [(own, chinese) for own in english] + [(own, english) for own in chinese]
    return tuple(across)


def _terms(side: str) -> Iterator[Terms]:
    for entry in side.split("; "):
        terms = tuple(query_terms(entry))
        if terms:
            yield (entry,) if entry in terms else terms


@cache
def _in_small_letters() -> str:
    """The same, letter by letter."""
    return _text().translate({ord(letter): letter.lower() for letter in ascii_uppercase})


@cache
def _text() -> str:
    """The list without its comments, each line ended."""
    lines = files("huimem.recall").joinpath("glossary.txt").read_text("utf-8").splitlines()
    return "".join(f"{line}\n" for line in lines if line and not line.startswith("#"))

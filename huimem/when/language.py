"""What a language is to the resolver: a table of words and a ladder of rules.

The rungs of the ladder are the same for all languages, so that "last 周三" and "3 days 前" are read
by the rules of both. See the package's docstring for how to add a phrase or a language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from huimem.when.expressions import Expression
from huimem.when.grammar import Ladder, Rule, Token, literals
from huimem.when.scanning import CORE, CUT, NORMAL, Vocabulary, vocabulary
from huimem.when.sentences import Hints, Reader

# The rungs, lowest first: what each makes may be used by itself (once) and by all above it.
RUNGS = (
    "names",  # what only looks like time: titles, idioms, sets, greetings
    "numbers",
    "clocks",
    "clock minutes",  # a quarter past a clock time
    "clock ranges",
    "years",
    "dates",  # days of months
    "dated",  # … with their year
    "months",
    "periods",  # units, quarters, seasons, windows
    "weekdays",
    "days",  # last Wednesday, holidays, n days ago
    "parts",  # early May, the second week of March, the first ten days of last year
    "moments",  # a day with its daypart
    "times",  # … or its clock time
    "ranges",
    "edges",  # since, until, around
)
# A kind's token serves also where one of these is asked for.
ALSO = {
    "set": ("word",),
    "number": ("nth", "count"),
    "amount": ("count",),
    "ordinal": ("nth",),
    "figure ordinal": ("ordinal", "nth"),  # 27th
    "spelled year": ("some year",),
    "year": ("some year", "period", "time"),
    "month": ("period", "time"),
    "bare month": ("month", "period", "time"),
    "period": ("time",),
    "week": ("period", "time"),
    "open period": ("period",),  # the month, the year: only its parts are times
    "period end": ("period", "time"),
    "bare period": ("period", "time"),
    "weekend": ("period", "time"),
    "bare date": ("date", "day", "time"),  # a day of a month without its year
    "date": ("day", "time"),
    "day": ("time",),
    "holiday": ("day", "time"),
    "ago": ("day", "time"),  # so many units away
    "daypart": ("shy daypart",),  # one that needs no word beside it
    "day part": ("moment", "time"),  # a day's daypart: yesterday evening
    "moment": ("time",),
    "clock time": ("time",),  # a time of no day
    "edge": ("time",),
    "range": ("time",),
}
# A run that holds none of these is of no time, whatever else is known in it.
TELLING = frozenset(
    f"<{kind}>"
    for kind in (
        "unit", "weekday name", "month word", "daypart", "shy daypart", "season", "relative day", "clue",
    )
)  # fmt: skip


class Language(NamedTuple):
    """Words by kind, rules by rung, and how the words stand in a text.

    `words`: kind → word → value; a word may be of several kinds, and every plain word of a rule is
    known by itself. `others`: words that are none of time; of one written with a space the first part
    stands alone (日 出发, a day and a departure). `spaced`: words stand between spaces; where they do
    not, `digits` are the script's own figures and `number` reads a group of them.
    `same`: characters that count as another. `misspelled`: wrong → right. `hints` find what is of time
    though no single word of it tells so ("at five", "on the fifth").
    """

    name: str
    words: Mapping[str, Mapping[str, Any]]
    rules: Mapping[str, Iterable[Rule]]
    others: Iterable[str] = ()
    spaced: bool = True
    digits: str = ""
    number: Callable[[str], Mapping[str, Any]] = lambda text: {}
    same: Mapping[int, str] = MappingProxyType({})
    misspelled: Mapping[str, str] = MappingProxyType({})
    shortened: frozenset[str] = frozenset()
    hints: Hints = Hints()


class Found(NamedTuple):
    """One time expression and where it stands, [start, end) in characters."""

    expression: Expression
    start: int
    end: int


_Shape = tuple[str, bool, bool, tuple[int, ...]]
MOST_REMEMBERED = 8_192  # runs whose parse is kept; a run costs more to parse than to look up
LONGEST_REMEMBERED = 1000  # characters of such a run


class Grammar:
    """The words and rules of some languages together: a normal text → the expressions in it."""

    def __init__(self, languages: Iterable[Language]) -> None:
        chosen = tuple(languages)
        self._ladder = Ladder(
            ([rule for language in chosen for rule in language.rules.get(rung, ())] for rung in RUNGS), ALSO
        )
        self._same = dict(NORMAL)
        for language in chosen:
            self._same |= language.same
        same = {chr(written): plain for written, plain in self._same.items()}
        self._written = re.compile(f"[{re.escape(''.join(same))}]")
        self._plain: Callable[[re.Match[str]], str] = lambda found: same[found[0]]
        self._reader = Reader(_vocabulary(chosen), _hints(chosen))
        self._parsed: dict[_Shape, tuple[Found, ...]] = {}

    def normal(self, text: str) -> str:
        """The text as its words are looked up: small, narrow, simplified; every character in its place."""
        if text.isascii():
            return text.translate(self._same)
        return self._written.sub(self._plain, text)  # several times as fast where most stays as it is

    def expressions(self, text: str) -> list[Found]:
        """The time expressions of a normal text, in order."""
        found: list[Found] = []
        for run in self._reader.runs(text):
            start = run.start
            written = text[start : run.end]
            # What stands behind a run written without spaces may have cut its words otherwise.
            cuts = () if written.isascii() else tuple([token.start - start for token in run.tokens[1:-1]])
            shape = (written, run.before, run.after, cuts)
            parsed = self._parsed.get(shape)
            if parsed is None:
                parsed = tuple(self._parse(self._reader.tokens(run), start))
                if len(self._parsed) >= MOST_REMEMBERED:
                    self._parsed.clear()
                if len(shape[0]) <= LONGEST_REMEMBERED:
                    self._parsed[shape] = parsed
            if parsed:
                found += [Found(one.expression, one.start + start, one.end + start) for one in parsed]
        return found

    def _parse(self, run: list[Token], start: int) -> Iterator[Found]:
        for token in self._ladder.climb(run):
            expression = token.values.get("<time>") or token.values.get("<vague>")
            if expression is not None:
                yield Found(expression, token.start - start, token.end - start)


def _vocabulary(languages: Iterable[Language]) -> Vocabulary:
    """All words of the languages with all that each may be."""
    spelled: dict[str, dict[str, Any]] = {}
    written: dict[str, dict[str, Any]] = {}
    shortened: frozenset[str] = frozenset()
    digits = ""
    number: Callable[[str], Mapping[str, Any]] = _no_number
    for language in languages:
        words = spelled if language.spaced else written
        for word in literals(rule for rules in language.rules.values() for rule in rules):
            (spelled if word.isascii() else written).setdefault(word, {})[word] = word
        for word in _mere_words(language) if language.spaced else ():
            spelled[word]["<word>"] = None
        for kind, values in language.words.items():
            for names, value in values.items():
                for name in names.split("|"):
                    words.setdefault(name, {})[f"<{kind}>"] = value
        for wrong, right in language.misspelled.items():
            spelled[wrong] = spelled[right]
        for word in language.others:
            alone, _, rest = word.partition(" ")
            words.setdefault(alone + rest, {CUT: len(alone)} if rest and not language.spaced else {})
        shortened |= language.shortened
        if language.digits:
            digits, number = language.digits, language.number
    return vocabulary(_told(spelled), _told(written), shortened, digits, number)


def _hints(languages: Iterable[Language]) -> Hints:
    every = [language.hints for language in languages]
    return Hints(
        "|".join(hints.pattern for hints in every if hints.pattern),
        frozenset().union(*(hints.words for hints in every)),
        frozenset().union(*(hints.parts for hints in every)),
    )


def _mere_words(language: Language) -> frozenset[str]:
    """Words that rules name only to tell what is no time: beside a time they are as any other word."""
    others = (rule for rung, rules in language.rules.items() if rung != "names" for rule in rules)
    tables = (name for values in language.words.values() for names in values for name in names.split("|"))
    return literals(language.rules.get("names", ())) - literals(others) - frozenset(tables)


def _no_number(text: str) -> Mapping[str, Any]:
    return {}


def _told(words: Mapping[str, dict[str, Any]]) -> Mapping[str, Mapping[str, Any]]:
    """Marks the words that make a run worth parsing."""
    return {
        word: values | {CORE: None} if not TELLING.isdisjoint(values) else values
        for word, values in words.items()
    }

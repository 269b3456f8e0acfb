"""Sentences → runs of tokens: words of the languages, figures and marks; all else only parts the runs.

A run is a stretch that nothing of another kind interrupts, and only a run that holds a word of time
or a figure is worth parsing. Its first and last token tell what stands beside it: `<word>` for
anything, `<edge>` where the sentence begins or ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from huimem.when import figures
from huimem.when.grammar import Token

Values = Mapping[str, Any]

# Full-width forms, odd spaces, quotes and dashes: each becomes one plain character in its place.
_SPACES = "\u3000\u00a0\u2002\u2003\u2009\u202f\t"
_MARKS = {
    "’": "'",
    "‘": "'",
    "ʼ": "'",
    "—": "-",
    "–": "-",
    "−": "-",
    "~": "-",
    "〜": "-",
    "，": ",",
    "：": ":",
}
_WIDE = {0xFF01 + place: chr(0x21 + place).lower() for place in range(94)}
NORMAL: dict[int, str] = {
    **{ord(space): " " for space in _SPACES},
    **{upper: chr(upper + 32) for upper in range(ord("A"), ord("Z") + 1)},
    **_WIDE,
    **{ord(mark): plain for mark, plain in _MARKS.items()},
    0xFF5E: "-",
}

WORD: Values = {"<word>": None}
EDGE: Values = {"<edge>": None}
CORE = "<core>"
CUT = "<cut>"  # of a longer word, how many of its characters stand alone
WHOLE = ""  # in the tree of written words, by letter: what the word that ends here may be
ONE_FIGURE = "<one figure>"  # a word that takes one figure of the script's own: 周三三点
LONGEST_RUN = 48  # tokens; what goes on for longer is parsed in pieces
_LONGEST_QUIET = 40  # tokens that are passed over; a run that may grow too long is made as it stands
_FIRST_HAN, _LAST_HAN = "\u3400", "\u9fff"
# A date's weekday may stand in brackets, which are edges of what they hold too.
_OPENS: Values = {"<opens>": None, "<edge>": None}
_CLOSES: Values = {"<closes>": None, "<edge>": None}
_KEPT: dict[str, Values] = {mark: {mark: mark} for mark in ("-", ",", "、", "/", "'", "'s", "..", "@")}
_KEPT |= {"(": _OPENS, ")": _CLOSES}
_JOINS = "-./,"
_MONEY_AND_IDS = frozenset("$£€¥₹#@&_\\")
_MEASURES = frozenset("%°$£€¥₹@_#")
_JOINING = frozenset("_@(.")  # after a word that goes on as a name
_NAMING = frozenset("#$%{\\")  # before a word that names something: a tag, a variable, a place to fill
_ENDING = re.compile(r"\.([a-z][a-z0-9]*)", re.ASCII)  # of a file's name
_GAP = re.compile(r"[\s.]+")  # what may stand between two words of one phrase
_SUFFIX = re.compile(r"[a-z]+\d?", re.ASCII)


class Vocabulary(NamedTuple):
    """What the words of some languages may be: word → kind → value.

    `spelled` words stand between spaces, `written` ones do not (the longest counts). An entry without
    values is a word that is none of time: nothing shorter is found inside it. `number` reads figures
    of a script of its own, made of `digits`. `shortened` words may be followed by a full stop.
    `telling` words are those that say that something is of time.
    """

    spelled: Mapping[str, Values]
    written: Mapping[str, Values]
    shortened: frozenset[str]
    digits: frozenset[str]
    number: Callable[[str], Values]
    scanner: re.Pattern[str]
    letters: Mapping[str, Any]
    telling: frozenset[str]


def vocabulary(
    spelled: Mapping[str, Values],
    written: Mapping[str, Values],
    shortened: frozenset[str],
    digits: str,
    number: Callable[[str], Values],
) -> Vocabulary:
    firsts = "".join(sorted({word[0] for word in written} | set(digits)))
    scanner = re.compile(
        r"(?P<word>(?:o'clock|[ap]\.m\.?|[a-z][a-z0-9_]*))|(?P<figure>\d)"
        r"|(?P<mark>\.{2,}|'s\b|(?<= )@(?= )|[-,、/'.:?!;()\n\x00。？！；（）])"
        + (f"|(?P<written>[{firsts}])" if firsts else ""),
        re.ASCII,
    )
    letters: dict[str, Any] = {}
    for word, values in written.items():
        node = letters
        for letter in word:
            node = node.setdefault(letter, {})
        node[WHOLE] = values
    telling = frozenset(word for word, values in spelled.items() if CORE in values)
    return Vocabulary(spelled, written, shortened, frozenset(digits), number, scanner, letters, telling)


def runs(text: str, start: int, stop: int, words: Vocabulary) -> Iterator[list[Token]]:
    """Every run of [start, stop) that is worth parsing, with what stands before and after it.

    There a sentence begins or a word that no language knows, after a space; it ends with either.
    """
    run, timely = [Token(EDGE, start, start)], False
    for token in _tokens(text, start, stop, words):
        last, values = run[-1], token.values
        gap = text[last.end : token.start]
        if gap and gap != " " and not _GAP.fullmatch(gap):
            if timely:
                yield [*run, Token(WORD, last.end, last.end)]
            run, timely = [Token(WORD, token.start, token.start)], False
            last = run[0]
        if values is WORD or values is EDGE or len(run) > LONGEST_RUN:
            if timely:
                yield [*run, token]
            run, timely = [token], False
            if values is WORD or values is EDGE:
                continue
        run.append(token)
        timely = timely or CORE in values or ("<number>" in values and "<number>" not in last.values)
    if timely:
        after = WORD if text[run[-1].end : stop].strip() else EDGE
        yield [*run, Token(after, stop, stop)]


def _tokens(text: str, start: int, stop: int, words: Vocabulary) -> Iterator[Token]:
    """The tokens of a sentence; of words in a row that no language knows only the first.

    Words that stand without spaces are left out where they cannot belong to a run worth parsing.
    """
    search, known = words.scanner.search, words.spelled
    last, at = _quiet(text, start, stop, words, Token(EDGE, start, start))
    while found := search(text, at, stop):
        begin, at = found.span()
        kind = found.lastgroup
        if kind == "word":
            values = known.get(found[0])
            if values and not _joined(text, begin, at):
                last = Token(values, begin, at)
                yield last
                continue
            known_before = last.values is not WORD
            last = Token(WORD, begin, at)
            if known_before:
                yield last
        elif kind == "figure":
            for figure in _figures(text, begin, words, last):
                last = figure
                yield last
            at = last.end
        elif kind == "written":
            known_before = last.values is not WORD
            last = _written(text, begin, words, last)
            at = last.end
            if last.values is not WORD:
                yield last
                continue
            if known_before:
                yield last
            last, at = _quiet(text, at, stop, words, last)
        elif mark := _mark(text, begin, at, words, last):
            last = mark
            yield last


def _quiet(text: str, at: int, stop: int, words: Vocabulary, last: Token) -> tuple[Token, int]:
    """Past words that stand without spaces and make no run worth parsing: the last token, and where to go on.

    Begins where a run does, and goes on where the last one begins that may be worth it, or before.
    """
    letters, digits = words.letters, words.digits
    place, seen, known = at, False, 0
    while place < stop and known < _LONGEST_QUIET:
        char = text[place]
        if char < _FIRST_HAN or char > _LAST_HAN or char in digits:
            break
        node = letters.get(char)
        if node is None:  # a gap
            place += 1
            at, known = place, 0
            last = Token(WORD, place - 1, place - 1) if seen else last
            continue
        end, values = place + 1, node.get(WHOLE)
        if text[end : end + 1] in node:
            end, values = _longest(text, place, words)
            if values is None and end > place:
                break
            end = max(end, place + 1)
        if values and (CORE in values or "<number>" in values):
            break
        seen = True
        known += 1
        if not values:
            at, known = end, 0
            last = Token(WORD, place, end)
        place = end
    return last, at


def _joined(text: str, begin: int, end: int) -> bool:
    """Whether a word is a part of a name: notes_1, march.txt, monday@home, #friday, ${today}, oct(8)."""
    if text[end : end + 1] in _JOINING:
        mark, after = text[end], text[end + 1 : end + 2]
        if (
            mark in "_@"
            or (mark == "(" and (after.isdigit() or after in (")", "\x00")))
            or (mark == "." and after.isalpha() and after.isascii())
        ):
            return True
    return begin > 0 and text[begin - 1] in _NAMING


def _mark(text: str, begin: int, end: int, words: Vocabulary, last: Token) -> Token | None:
    """A mark that phrases may hold, or an edge; the full stop of a shortened word is nothing."""
    mark = text[begin:end]
    if mark == "." and last.end == begin:
        if text[last.start : last.end] in words.shortened:
            return None
        if text[end : end + 1].isalnum():
            return Token({".": "."}, begin, end)
    if mark == "-" and last.values is EDGE and text[end : end + 1] == " ":  # of a list, no range
        return Token(EDGE, begin, end)
    hangs = mark == "-" and last.values is WORD and last.end == begin and text[end : end + 1].isdigit()
    if mark == "\x00" or hangs:  # what hangs on a name is part of it: report-2024-03-05
        return Token(WORD, begin, end)
    return Token(_KEPT.get(mark if mark[:2] != ".." else "..", EDGE), begin, end)


def _written(text: str, begin: int, words: Vocabulary, last: Token) -> Token:
    """The longest word that begins here, or a number of the script's own figures."""
    one = ONE_FIGURE in last.values and last.end == begin
    number, most = begin, begin + 1 if one else len(text)
    while number < most and text[number] in words.digits and not _other(text, number, words):
        number += 1
    end, values = _longest(text, begin, words)
    least = max(number, begin + 2) if number > begin else begin + 1
    if values is not None and end >= least and not (one and number > begin):
        return Token(values or WORD, begin, end)
    if values is None:
        number = max(number, end)  # what stands alone before a longer word and is no word itself
    if number > begin:
        return Token(words.number(text[begin:number]) or WORD, begin, number)
    return Token(WORD, begin, begin + 1)


def _longest(text: str, begin: int, words: Vocabulary) -> tuple[int, Values | None]:
    """The end of the longest word that begins here and what it may be; None where there is none."""
    end, at = begin, begin
    found: Values | None = None
    node: Mapping[str, Any] = words.letters
    while at < len(text) and text[at] in node:
        node = node[text[at]]
        at += 1
        if WHOLE in node:
            end, found = at, node[WHOLE]
    if found and CUT in found:
        end = begin + found[CUT]
        return end, words.written.get(text[begin:end])
    return end, found


def _other(text: str, at: int, words: Vocabulary) -> bool:
    """Whether a word that is none of time begins here: 一起, 三明治 …, which no number takes in."""
    end, values = _longest(text, at, words)
    return values is not None and not values and end > at + 1


def _figures(text: str, begin: int, words: Vocabulary, last: Token) -> Iterator[Token]:
    """The tokens of a group of figures; one that touches money, an id or a name is just a word."""
    found = figures.GROUP.match(text, begin)
    end = found.end() if found else begin + 1
    before, after = text[begin - 1 : begin], text[end : end + 1]
    touched = before in _MONEY_AND_IDS or (before in _JOINS and last.values is WORD and last.end >= begin - 1)
    touched = touched or (before == "[" and text[max(0, begin - 2) : begin - 1].isalnum())  # x[1:10]
    suffix = _SUFFIX.match(text, end) if after.isalpha() else None
    if suffix and suffix[0] not in words.spelled:
        end, touched = suffix.end(), True
    file = _ENDING.match(text, end) if text[end : end + 1] == "." else None
    if (touched and before) or (after and after in _MEASURES) or (file and file[1] not in words.spelled):
        yield Token(WORD, begin, end)
        return
    made = figures.pieces(text[begin:end])
    for values, start, stop in made:
        yield Token(values, begin + start, begin + stop)
    if not made:
        yield Token(WORD, begin, end)

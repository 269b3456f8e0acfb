"""Marks in a question: "as it stands" and -without, and whether a text agrees with them.

Pure. What may be something else is no mark: flags of commands, negative numbers, lists, inches and
apostrophes stay as they were written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from huimem.index.tokens import fold, query_terms, tokenize
from huimem.records import Excluded

LONGEST = 300  # characters; longer ones, and several lines, are a pasted text and no query

_HAN = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_IN_WORD = re.compile(rf"[^\W{_HAN}]")  # where words have borders: letters and figures but Chinese
_NO_WORD_BEFORE, _NO_WORD_AFTER = f"(?<!{_IN_WORD.pattern})", f"(?!{_IN_WORD.pattern})"
_CHINESE = re.compile(f"[{_HAN}]")
_PIECE = re.compile(rf"{_CHINESE.pattern}|\s+|[^\s{_HAN}]+")
_OUT = r"(?:(?<=\s)|^)[-－]"
# Straight quotes open where no word or figure stands before them (27" is a length), and close before none.
_QUOTE = re.compile(
    rf"""(?P<out>{_OUT})?(?:{_NO_WORD_BEFORE}["＂]([^"＂]+)["＂]{_NO_WORD_AFTER}"""
    "|“([^“”]+)”|「([^「」]+)」|『([^『』]+)』|«([^«»]+)»)"
)
_ENDS = ",;，。？！；：、…（）《》「」『』【】“”"  # of a word; further marks only where nothing follows them
_WORD = re.compile(rf"{_OUT}([^\W\d_][^\s{_ENDS}]*?)(?=[?.!:)]*(?:[\s{_ENDS}]|$))")
_CODE = re.compile(r"`[^`]*`")
_ANY_HAN = re.compile(f"[{_HAN}]")
_INITIALS = re.compile("[A-Z]{2}")  # a word, and beside flags still: -AI, -UK
_FLAG = re.compile(rf"(?:^|\s)-(?:-[A-Za-z]|(?!{_INITIALS.pattern})[A-Za-z]{{1,2}}(?![^\s?.,!]))")
_LAST_WORD = re.compile(r"([^\s`]+)\s{1,2}$")  # more blanks are time words that were taken out
_RUN_OF = re.compile(r"([^\s`]+)(?:\s{1,2}-\S+)*\s{1,2}$")  # the word before some that begin with dashes
# Behind one of these a dash begins what is spoken of: an option, or an ending of words.
_BEFORE_OPTIONS = """
does do the a an of in with is use using and or suffix ending flag option switch parameter argument
参数 选项 开关 后缀 词尾 用 加 加上 带 带上
find java javac gcc clang ffmpeg openssl terraform rm tar ls ps grep sed awk xargs chmod ssh scp curl
kill mvn adb powershell cmd go
"""
_SPOKEN_OF = frozenset(_BEFORE_OPTIONS.split())
_PATHS = "./~$*"  # what arguments of commands begin with
_ASKING = ("?", "？")
_BEFORE = "，。；：、？！… "  # a phrase; of ASCII marks some begin names: .env
_BEHIND = f"?.,!;:{_BEFORE}"
_LETTERS = re.compile(rf"{_NO_WORD_BEFORE}[^\W\d_{_HAN}]{{2,}}{_NO_WORD_AFTER}")
_SAME = (("’", "'"), ("‘", "'"), ("“", '"'), ("”", '"'), ("＂", '"'))


@dataclass(frozen=True, slots=True)
class Worded:
    """A question without its marks: `text` is searched for, the words of `phrases` with it.

    Every phrase must stand in a text as it is; none of `excluded` may. `lone` are marks as they were written
    that would shut out words, and are searched for because nothing else is.
    """

    text: str
    phrases: tuple[str, ...] = ()
    excluded: tuple[Excluded, ...] = ()
    lone: tuple[str, ...] = ()


def worded(question: str, *, timed: bool = False) -> Worded:
    """Read the marks of a question; one without any comes back as it is.

    `timed`: a time is asked for, too, so that words to shut out need no other words beside them.
    """
    quotes, words = _marks(question)
    text = _without(question, quotes, words)
    lone: tuple[str, ...] = ()
    if not timed and not query_terms(text):  # a lone -word is no wish to find all the rest
        marks = sorted((*(mark for mark in quotes if mark["out"]), *words), key=lambda mark: mark.start())
        lone = tuple(mark[0] for mark in marks)
        quotes, words = [mark for mark in quotes if not mark["out"]], []
        text = _without(question, quotes, words)
    if not quotes and not words:
        return Worded(question, lone=lone)
    out = [(mark.start(), Excluded(_phrase(mark), True)) for mark in quotes if mark["out"]]
    out += [(word.start(), Excluded(word[1], False)) for word in words]
    phrases = tuple(_phrase(mark) for mark in quotes if not mark["out"])
    return Worded(text, phrases, tuple(one for _, one in sorted(out)), lone)


def excluding(question: str) -> tuple[tuple[int, int], ...]:
    """Where the marks of a question stand that shut words out, in no order."""
    quotes, words = _marks(question)
    return tuple(mark.span() for mark in (*(mark for mark in quotes if mark["out"]), *words))


def _marks(question: str) -> tuple[list[re.Match[str]], list[re.Match[str]]]:
    """The quotes of a question that are phrases, excluded ones too, and its excluded words."""
    if len(question) > LONGEST or "\n" in question.strip():
        return [], []
    seen = _CODE.sub(lambda code: "`" * len(code[0]), question)
    quotes = [mark for mark in _QUOTE.finditer(seen) if _is_phrase(mark, seen)]
    left = seen
    for mark in quotes:
        left = left[: mark.start()] + " " * len(mark[0]) + left[mark.end() :]
    flags = _FLAG.search(left) is not None
    return quotes, [word for word in _WORD.finditer(left) if _is_excluded(word, left, flags)]


def holds(text: str, phrase: str) -> bool:
    """Whether a text has a phrase as it stands: case, width, script and blanks are one, borders count.

    "cat" is not in "category". Between Chinese and anything else a blank may stand or not.
    """
    if not phrase.strip():
        return False
    plain, pattern = _plain(text), _pattern(phrase)
    found = pattern.search(plain)
    while found and _inside_a_word(plain, *found.span()):
        found = pattern.search(plain, found.start() + 1)
    return found is not None


def shut_out(text: str, excluded: Iterable[Excluded]) -> bool:
    """Whether a text holds any of what was excluded.

    A bare word takes away what it would find: -run also "running", as "run" finds it. In quotes, and
    in Chinese, where words have no borders, it is what stands there.
    """
    return any(_holds_excluded(text, one) for one in excluded)


def needed(phrase: str) -> tuple[str, ...]:
    """Terms that every text has which holds a phrase; none where the phrase is Chinese or figures alone.

    A Chinese run is cut by what stands beside it, so no term of a phrase is sure to be in a text.
    """
    terms = (term for word in _LETTERS.findall(fold(phrase)) for term in query_terms(word)[:1])
    return tuple(dict.fromkeys(terms))


def as_it_stands(one: Excluded) -> bool:
    """Whether what is excluded is what stands there, and not what the search would find by it."""
    return one.exact or _ANY_HAN.search(one.written) is not None


def sure_terms(one: Excluded) -> tuple[str, ...]:
    """Terms that every text has which holds what is excluded; none where no term is sure to be there."""
    return needed(one.written) if as_it_stands(one) else tuple(query_terms(one.written)[:1])


def unwrapped(question: str) -> str:
    """A question that was handed over in quotes, without them; any other text as it is."""
    mark = _QUOTE.fullmatch(question.strip())
    return _inside(mark) if mark and not mark["out"] and _inside(mark).endswith(_ASKING) else question


def _is_phrase(mark: re.Match[str], text: str) -> bool:
    """Whether quotes hold words to search for, and not a whole question that was handed over in them."""
    inside = _inside(mark)
    return bool(query_terms(inside)) and not (mark[0] == text.strip() and inside.endswith(_ASKING))


def _is_excluded(word: re.Match[str], text: str, flags: bool) -> bool:
    """Whether a word behind a dash is to be shut out; beside `flags` what could be one is one, too."""
    if _is_spoken_of(_LAST_WORD.search(text, 0, word.start())):
        return False
    if flags and word[1].isascii():
        led = _is_spoken_of(_RUN_OF.search(text, 0, word.start()))
        if led or not _INITIALS.fullmatch(word[1]):
            return False
    return bool(query_terms(word[1]))


def _is_spoken_of(before: re.Match[str] | None) -> bool:
    """Whether what follows a word is an option of a command, or spoken of as one."""
    return before is not None and (before[1].lower() in _SPOKEN_OF or before[1][0] in _PATHS)


def _inside(mark: re.Match[str]) -> str:
    return next(group for group in mark.groups()[1:] if group is not None).strip()


def _phrase(mark: re.Match[str]) -> str:
    """What stands in quotes without the marks at its ends: they may be those of the question."""
    return _inside(mark).rstrip(_BEHIND).lstrip(_BEFORE)


def _without(question: str, quotes: list[re.Match[str]], words: list[re.Match[str]]) -> str:
    """The question with blanks for its marks and for what is excluded."""
    for mark in sorted((*quotes, *words), key=lambda one: -one.start()):
        kept = "" if mark.re is _WORD or mark["out"] else _inside(mark)
        question = f"{question[: mark.start()]} {kept} {question[mark.end() :]}"
    return question.strip()


def _holds_excluded(text: str, one: Excluded) -> bool:
    if as_it_stands(one):
        return holds(text, one.written)
    return not set(sure_terms(one)).isdisjoint(tokenize(text))


def _plain(text: str) -> str:
    for mark, plain in _SAME:  # many times faster than one pass through a table
        text = text.replace(mark, plain)
    return fold(text).lower()


@lru_cache(256)
def _pattern(phrase: str) -> re.Pattern[str]:
    """Finds a phrase in a plain text, blanks of any kind and number between its words.

    Borders are looked at afterwards: a pattern with all of Chinese in it takes milliseconds to compile.
    """
    pieces = _PIECE.findall(_plain(phrase).strip())
    han = [_CHINESE.match(piece) is not None for piece in pieces]
    made = re.escape(pieces[0])
    for at in range(1, len(pieces)):
        blank = pieces[at].isspace()
        if blank:
            made += r"\s*" if han[at - 1] or han[at + 1] else r"\s+"
        else:
            loose = not pieces[at - 1].isspace()  # two pieces without a blank: one of them is Chinese
            made += (r"\s*" if loose else "") + re.escape(pieces[at])
    return re.compile(made)


def _inside_a_word(text: str, start: int, end: int) -> bool:
    """Whether a word goes on over the beginning or the end of a span: both sides of it are of one word."""
    return any(
        _IN_WORD.match(text, at - 1, at) and _IN_WORD.match(text, at, at + 1)
        for at in (start, end)
        if 0 < at < len(text)
    )

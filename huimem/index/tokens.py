"""Text → the words it can be found by, in English, Chinese and what lies between them.

Pure. What is indexed and what is asked go through the same cuts, so a word matches itself however
it is glued, written full-width, in traditional characters or with accents.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain, pairwise
from threading import local

from huimem.index.forms import forms

# Part of the index: an index whose words were cut otherwise is rebuilt.
IDENTITY = "words 3"

_HAN = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
# Scripts written without blanks that no dictionary of ours cuts: kana, hangul, Thai to Khmer.
_UNSPACED = "\u3040-\u30ff\u31f0-\u31ff\uac00-\ud7af\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
# An identifier holds words together: svc-mail, node.js, 3.14, v1.2.3, a_b, user@host, don't.
_JOINER = r"[-._'’/:@&]"
_PIECE = rf"[^\W{_HAN}{_UNSPACED}]"
_WORD = rf"{_PIECE}+(?:{_JOINER}{_PIECE}+)*(?:\+\+|#)?"
_TOKEN = re.compile(rf"[{_HAN}]+|[{_UNSPACED}]+|{_WORD}")  # one character tells of which of the three it is
_HAN_TOKEN = re.compile(rf"[{_HAN}]")
_FIRST_UNSPACED = "\u0e00"
_UNSPACED_TOKEN = re.compile(rf"[{_UNSPACED}]")
_ASCII_TOKEN = re.compile(r"[A-Za-z0-9_]+(?:[-._'/:@&][A-Za-z0-9_]+)*(?:\+\+|#)?")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_PARTS = re.compile(r"[^\W_]+")
_ACCENTED = re.compile("[\u00c0-\u024f\u1e00-\u1eff]")
_THOUSANDS = re.compile(r",(?<=\d,)(?=\d{3}(?!\d))")
_BLANKS = "\u00a0\u2009\u202f"  # they hold a number together; a plain one may stand between two numbers
_SPACED_THOUSANDS = re.compile(f"(?<=[0-9])[{_BLANKS}](?=[0-9]{{3}}(?![0-9]))")
_GLUED_BEFORE = re.compile(rf"{_PIECE}{_JOINER}?$")
_GLUED_AFTER = re.compile(rf"{_JOINER}?{_PIECE}")
_JOINED = re.compile(r"[^\W_]+(?:(?:(?<!\d)[-_]|[-_](?!\d))[^\W_]+)*")
_OF_A_VERSION = re.compile(r"^[vV](?=\d+\.\d)")
_POINTED = re.compile(r"(?<![\d.])\d+(?:\.\d+)++(?![^\W_])")  # a version or an address inside an identifier
_LONGEST = 64  # an unbroken string past this is noise (base64, a hash dump); its parts stay

# Pairs with one of these are grammar, not words.
_PARTICLES = frozenset("的了着过吗呢吧啊呀哦嗯么我你您他她它们是在和这那")


def _listed(name: str) -> list[str]:
    """The entries of a data file beside this module, comment lines left out."""
    lines = files("huimem.index").joinpath(name).read_text("utf-8").splitlines()
    return [entry for line in lines if not line.startswith("#") for entry in line.split()]


@cache
def _stop_words() -> frozenset[str]:
    return frozenset(_listed("stop_words.txt"))


@cache
def _simplified() -> tuple[re.Pattern[str], Callable[[re.Match[str]], str]]:
    """Finds each traditional character, and gives what stands for it."""
    simple = {pair[0]: pair[1] for pair in _listed("hanzi.txt")}
    return re.compile(f"[{''.join(simple)}]"), lambda found: simple[found[0]]


def fold(text: str) -> str:
    """Full-width to ASCII, traditional to simplified, accents off Latin letters; case stays."""
    if text.isascii():
        return text
    traditional, simple = _simplified()
    text = traditional.sub(simple, unicodedata.normalize("NFKC", text))
    if not _ACCENTED.search(text):
        return text
    return "".join(_bare(c) for c in text)


@lru_cache(4096)
def _bare(letter: str) -> str:
    base = unicodedata.normalize("NFD", letter)[0]
    return base if base.isascii() else letter


@dataclass(frozen=True, slots=True)
class _Cutter:
    """Cuts of a Chinese run: `words` tile it, `search` adds the dictionary words inside long ones.

    `knows` says whether the dictionary holds a word; others are guesses from characters.
    """

    words: Callable[[str], list[str]]
    search: Callable[[str], list[str]]
    knows: Callable[[str], bool]


@cache
def _cutter() -> _Cutter:
    """rjieba, or jieba where it has no wheel; their cuts are equal."""
    try:
        import rjieba

        return _Cutter(rjieba.cut, rjieba.cut_for_search, rjieba.has_word)
    except ImportError:
        import logging

        import jieba

        jieba.setLogLevel(logging.ERROR)  # it talks on stderr while it loads
        jieba.initialize()
        return _Cutter(jieba.lcut, jieba.lcut_for_search, lambda word: bool(jieba.dt.FREQ.get(word)))


_OF_THREAD = local()  # a stemmer keeps its word while it works on it


def _stemmer() -> Callable[[str], str]:
    stem_word: Callable[[str], str] | None = getattr(_OF_THREAD, "stem_word", None)
    if stem_word is None:
        import snowballstemmer

        stem_word = _OF_THREAD.stem_word = snowballstemmer.stemmer("english").stemWord
    return stem_word


@cache
def _irregular() -> dict[str, str]:
    """Forms of English words that no rule leads to their headword."""
    return dict(pair.split(":") for pair in _listed("irregular.txt"))


@cache
def _respelled() -> dict[str, str]:
    """British stems and the American ones they stand for."""
    pairs = (pair.split(":") for pair in _listed("spellings.txt"))
    return {_stemmer()(british): _stemmer()(american) for british, american in pairs}


@lru_cache(200_000)
def stem(word: str) -> str:
    """The Snowball stem of an English word, irregular forms and British spellings brought to one.

    Other words, numbers and identifiers stay.
    """
    if not (word.isascii() and word.isalpha() and len(word) > 2):
        return word
    stemmed = _stemmer()(_irregular().get(word, word))
    return _respelled().get(stemmed, stemmed)


@lru_cache(200_000)
def _han_word(word: str) -> tuple[bool, tuple[str, ...]]:
    """Whether the cuts at both ends of a Chinese word can be trusted, and the terms it is found by.

    Trusted is a word of the dictionary that is no single character. Terms: the word unless it is a
    stop word, and all pairs and triples of characters inside a long one.
    """
    terms = [] if word in _stop_words() else [word]
    if len(word) > 2:
        terms += map("".join, pairwise(word))
    if len(word) > 3:
        terms += (word[at : at + 3] for at in range(len(word) - 2))
    return len(word) > 1 and _cutter().knows(word), tuple(terms)


def _han(run: str) -> list[str]:
    """The terms of a Chinese run: those of its words, and pairs across cuts that cannot be trusted.

    With the pairs every two-character word can be found unless it lies across two dictionary words.
    They share the key of a word, so a question's word matches either.
    """
    found: list[str] = []
    last, last_trusted = "", True
    for word in _cutter().words(run):
        trusted, terms = _han_word(word)
        if last and not (last_trusted and trusted):
            pair = last[-1] + word[0]
            if _PARTICLES.isdisjoint(pair):
                found.append(pair)
        found.extend(terms)
        last, last_trusted = word, trusted
    return found


def _asked_han(run: str) -> Iterator[str]:
    """As `_han`, but pairs only where the dictionary knew no word: between single characters."""
    words = _cutter().search(run)
    yield from (word for word in words if word not in _stop_words())
    covered = {
        at
        for word in set(words)
        if len(word) > 1
        for start in _places(run, word)
        for at in range(start, start + len(word))
    }
    single = [at not in covered and run[at] not in _stop_words() for at in range(len(run))]
    yield from (run[at : at + 2] for at in range(len(run) - 1) if single[at] and single[at + 1])


@lru_cache(20_000)
def pairs_for(term: str) -> tuple[str, ...]:
    """The pairs of characters that say a Chinese term together, however its sentence is cut.

    () for a term that is sure to be cut out of any sentence, itself or a word inside it: a name that the
    dictionary does not know is one word here and two there, and only its pairs stand in both.
    """
    if len(term) < 3 or not all(map(_HAN_TOKEN.match, term)):
        return ()
    pairs = tuple(dict.fromkeys(map("".join, pairwise(term))))
    inside = (term, *pairs, *(term[at : at + 3] for at in range(len(term) - 2)))
    return () if any(map(_cutter().knows, inside)) else pairs


def _places(run: str, word: str) -> Iterator[int]:
    at = run.find(word)
    while at >= 0:
        yield at
        at = run.find(word, at + 1)


def _unspaced(run: str) -> Iterable[str]:
    return (run,) if len(run) < 3 else map("".join, pairwise(run))


@lru_cache(200_000)
def _word(written: str) -> tuple[str, ...]:
    """A plain word's stem; an identifier whole, then its parts; nothing for stop words.

    Words held together by hyphens are whole without them, so that e-mail is email; a version is without
    its v, and is a part of whatever it is glued to.
    """
    if written.isalpha() and written.isascii() and (written[1:].islower() or len(written) == 1):
        low = written.lower()  # nearly all words are this plain
        return () if low in _stop_words() else (stem(low),)
    written = written.replace("’", "'").removesuffix("'s").strip("_")
    low = written.lower()
    if low in _stop_words():
        return ()
    pieces = _PARTS.findall(written)
    humps = [hump for piece in pieces for hump in _CAMEL.findall(piece)]
    if low.isalpha():
        return tuple(dict.fromkeys((stem(low), *_parts(humps)))) if len(humps) > 1 else (stem(low),)
    if "'" in low and not _parts(pieces):
        return ()
    short = 0 < len(low) <= _LONGEST
    whole = (_joined(_OF_A_VERSION.sub("", low, 1)),) if short else ()
    pointed = _POINTED.findall(low) if short and "." in low else ()
    return tuple(dict.fromkeys((*whole, *pointed, *_parts(pieces), *_parts(humps))))


def _joined(low: str) -> str:
    """Words and numbers as one word, unless two numbers touch: they could not be told apart then."""
    if "-" not in low and "_" not in low:
        return low
    if not _JOINED.fullmatch(low):
        return low
    *before, last = low.replace("_", "-").split("-")
    stemmed = stem(last)
    # The stem of the end is that of the whole unless the end alone is too short for a rule.
    return (
        stem("".join(before) + last) if stemmed == last and last[-1] in "esy" else "".join(before) + stemmed
    )


def _parts(pieces: list[str]) -> list[str]:
    """Stems of an identifier's parts; single letters and digits alone say nothing."""
    lowered = (piece.lower() for piece in pieces)
    return [stem(p) for p in lowered if 1 < len(p) <= _LONGEST and p not in _stop_words()]


def _plain(text: str) -> str:
    """The text folded, numbers without the marks between their thousands."""
    if not text.isascii():
        if any(blank in text for blank in _BLANKS):
            text = _SPACED_THOUSANDS.sub("", text)
        text = fold(text)
    return _THOUSANDS.sub("", text) if "," in text else text


def _pieces(text: str) -> list[str]:
    return (_ASCII_TOKEN if text.isascii() else _TOKEN).findall(text)


def _is_word(piece: str) -> bool:
    """Whether a piece is one of a script that stands between spaces."""
    return piece < _FIRST_UNSPACED or not (_HAN_TOKEN.match(piece) or _UNSPACED_TOKEN.match(piece))


def tokenize(text: str) -> list[str]:
    """The words of a text in order, repeats kept, stop words left out: what is indexed.

    Behind them stand what numbers, clocks and dates have in common with other ways of writing them.
    """
    plain = _plain(text)
    words = [*chain.from_iterable(map(_word if plain.isascii() else _terms, _pieces(plain)))]
    for form in forms(plain):
        alone = not _GLUED_BEFORE.search(plain, max(form.start - 2, 0), form.start)
        if alone and not _GLUED_AFTER.match(plain, form.end):
            words += (term for term in form.terms if term != plain[form.start : form.end])
        else:
            words += form.terms
    return words


def _terms(piece: str) -> Iterable[str]:
    if piece < _FIRST_UNSPACED:
        return _word(piece)
    return _han(piece) if _HAN_TOKEN.match(piece) else _word(piece) if _is_word(piece) else _unspaced(piece)


def asked(text: str) -> dict[str, str]:
    """The distinct terms of a question in order, each with the word as asked; empty for stop words alone.

    A number or time that has one term for all its ways of writing is asked for by that term alone.
    """
    plain = _plain(text)
    words, found = _asked(plain), forms(plain)
    rest = plain
    for form in found:
        if form.whole:
            rest = rest[: form.start] + " " * (form.end - form.start) + rest[form.end :]
    others = _asked(rest) if rest != plain else words
    for form in found:
        written = plain[form.start : form.end]
        if form.whole:
            words = {
                term: own for term, own in words.items() if term in others or term not in _asked(written)
            }
        words |= {term: written for term in form.terms}
    return words


def _asked(plain: str) -> dict[str, str]:
    words: dict[str, str] = {}
    for written in _pieces(plain):
        if _is_word(written):
            terms = _word(written)
            if terms and _OF_A_VERSION.match(written) and _POINTED.fullmatch(terms[0]):
                terms = terms[:1]  # v2 as well would ask for other versions
            words |= {term: term if at else written for at, term in enumerate(terms) if term not in words}
        else:
            pieces = _asked_han(written) if _HAN_TOKEN.match(written) else _unspaced(written)
            words |= {piece: piece for piece in pieces if piece not in words}
    return words


def query_terms(text: str) -> list[str]:
    """The distinct terms of a question in order; empty where it holds only stop words."""
    return list(asked(text))

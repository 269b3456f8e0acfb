"""Rules → parses: a ladder of rewriting levels over tokens, the longest match winning on each.

A rule is a line: a pattern, the kind of what it makes, and a function that makes it.

    Rule("last|past|previous <weekday>", "day", lambda day: Which(day, "last"))

In a pattern a plain word stands for itself and `<kind>` for any token of that kind, whose value is
handed to the function in order; `|` stands between two neighbours of which one is meant, brackets
make one item of several, `?` makes the item before it optional (its value is then None), what is
before `>` or behind ` < ` must stand there but does not belong to the phrase (a `<kind>=` there is
handed over all the same), and at the end `!word` or `!<kind>` must not follow, `&<kind>` must. Patterns are
unfolded into plain sequences and kept in a tree, so that matching is walking down it: no
backtracking, linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import count
from operator import or_
from typing import Any, NamedTuple

Make = Callable[..., Any]
MOST_KNOWN = 1 << 14  # pairs of neighbours whose levels are kept


class Token(NamedTuple):
    """A piece of the text with all it may be: kind → value. [start, end) in characters."""

    values: Mapping[str, Any]
    start: int
    end: int


class Rule(NamedTuple):
    """One line of a grammar. `make` may return None: then the phrase is none after all."""

    pattern: str
    kind: str
    make: Make


class _Ending(NamedTuple):
    """A pattern that is complete here: which tokens it hands over, where the phrase begins and ends."""

    rule: Rule
    slots: tuple[tuple[int, str] | None, ...]
    begins: int
    ends: int
    barred: frozenset[str]
    needed: frozenset[str]


class _Node:
    """A place in the tree of patterns: where each next kind leads, and what is complete here."""

    __slots__ = ("after", "endings")

    def __init__(self) -> None:
        self.after: dict[str, _Node] = {}
        self.endings: list[_Ending] = []


class _Item(NamedTuple):
    """One place of an unfolded pattern: a kind, the slot it fills, and whether `>` follows."""

    kind: str
    slot: int | None = None


_PIECES = re.compile(r"[!&]?<[\w ]+>=?|[()|?>]|[!&]?[^\s()|?<>!&]+")
_Sequence = tuple[_Item, ...]
_BEGIN, _END = _Item(">"), _Item("^")
_MARKS = frozenset(">^!&")  # what an item that is no token begins with
_NO_KINDS: frozenset[str] = frozenset()


def unfold(pattern: str) -> tuple[list[_Sequence], int]:
    """All plain sequences of a pattern, with the number of its slots. Raises ValueError for a bad one."""
    before, begin, what = pattern.rpartition(" > ")
    phrase, _, behind = what.partition(" < ")
    slots = count()
    contexts, left = _choices(_PIECES.findall(before), slots, handed=False)
    sequences, more = _choices(_PIECES.findall(phrase), slots)
    followers, rest = _choices(_PIECES.findall(behind), slots, handed=False)
    if left or more or rest:
        raise ValueError(f"unbalanced pattern: {pattern}")
    mark = (_BEGIN,) if begin else ()
    follows = [(_END, *follower) if follower else () for follower in followers]
    around = ((before, after) for before in contexts for after in follows)
    return [(*head, *mark, *one, *tail) for head, tail in around for one in sequences], next(slots)


def _choices(
    pieces: list[str], slots: Iterator[int], *, handed: bool = True
) -> tuple[list[_Sequence], list[str]]:
    """Sequences of `a b|c` up to a closing bracket: a choice is between neighbouring single items."""
    done: list[_Sequence] = [()]
    while pieces and pieces[0] != ")":
        options, pieces = _item(pieces, slots, handed)
        while pieces and pieces[0] == "|":
            more, pieces = _item(pieces[1:], slots, handed)
            options = options + more
        if pieces and pieces[0] == "?":
            options, pieces = [*options, ()], pieces[1:]
        done = [head + tail for head in done for tail in options]
    return done, pieces


def _item(pieces: list[str], slots: Iterator[int], handed: bool) -> tuple[list[_Sequence], list[str]]:
    piece, rest = pieces[0], pieces[1:]
    if piece == "(":
        options, rest = _choices(rest, slots, handed=handed)
        return options, rest[1:]
    if piece[0] in "!&":
        return [(_Item(piece),)], rest
    if piece.startswith("<"):
        asked = handed or piece.endswith("=")
        return [(_Item(piece.removesuffix("="), next(slots) if asked else None),)], rest
    return [(_Item(piece),)], rest


def literals(rules: Iterable[Rule]) -> frozenset[str]:
    """Every plain word that some pattern names."""
    words = (piece.lstrip("!&") for rule in rules for piece in _PIECES.findall(rule.pattern))
    return frozenset(word for word in words if word and word not in "()|?>" and not word.startswith("<"))


class Level:
    """One rung of the ladder: its rules as a tree, grown from a kind when a text first asks for it."""

    def __init__(self, rules: Iterable[Rule], kinds: Mapping[str, tuple[str, ...]]) -> None:
        self._kinds = kinds
        self._trees: dict[str, _Node] = {}
        self._waiting: dict[str, list[tuple[Rule, _Sequence, int]]] = {}
        for rule in rules:
            sequences, slots = unfold(rule.pattern)
            for sequence in sequences:
                first = next(_kinds_of(sequence), None)
                if first is not None:
                    self._waiting.setdefault(first, []).append((rule, sequence, slots))
        self._firsts = frozenset(self._waiting)

    def openings(self) -> Iterator[tuple[str, str | None]]:
        """The first two kinds of its phrases; None for the second where a phrase may be complete."""
        for phrases in self._waiting.values():
            for _, sequence, _ in phrases:
                kinds = _kinds_of(sequence)
                yield next(kinds), next(kinds, None)

    def _grown(self, kind: str) -> _Node:
        """The tree of a kind that no text asked for before; seen by other threads only when it is whole."""
        tree = _Node()
        for rule, sequence, slots in self._waiting[kind]:
            _grow(tree, rule, sequence, slots)
        return self._trees.setdefault(kind, tree)

    def longest(self, tokens: Sequence[Token], at: int) -> tuple[int, Token, int] | None:
        """The longest phrase that begins at `at`: tokens before it, its own token, the place after it.

        Of rules that match the same, the first in the table counts.
        """
        found: list[tuple[int, _Node]] = []
        trees, firsts = self._trees, self._firsts
        nodes = [trees.get(kind) or self._grown(kind) for kind in tokens[at].values if kind in firsts]
        place = at + 1
        while nodes:
            for node in nodes:
                if node.endings:
                    found.append((place, node))
            if place == len(tokens):
                break
            nodes = _next(nodes, tokens[place].values)
            place += 1
        if not found:
            return None
        if len(found) > 1:
            found.sort(key=_by_length)
        for after, node in found:
            follower = tokens[after].values if after < len(tokens) else {}
            for ending in node.endings:
                if _may_follow(ending, follower) and (made := self._made(ending, tokens, at)):
                    return ending.begins, made, at + ending.ends
        return None

    def outdone(self, made: tuple[int, Token, int], tokens: Sequence[Token], at: int) -> bool:
        """Whether a longer phrase, which needs no word before it, begins where `made` does."""
        other = self.longest(tokens, at + made[0])
        return other is not None and other[0] == 0 and other[2] > made[2]

    def _made(self, ending: _Ending, tokens: Sequence[Token], at: int) -> Token | None:
        given = [None if slot is None else tokens[at + slot[0]].values[slot[1]] for slot in ending.slots]
        value = ending.rule.make(*given)
        if value is None:
            return None
        kinds = self._kinds.get(ending.rule.kind) or (f"<{ending.rule.kind}>",)
        first, last = tokens[at + ending.begins], tokens[at + ending.ends - 1]
        return Token(dict.fromkeys(kinds, value), first.start, last.end)


def _kinds_of(sequence: _Sequence) -> Iterator[str]:
    return (item.kind for item in sequence if item.kind[0] not in _MARKS)


def _grow(tree: _Node, rule: Rule, sequence: _Sequence, slots: int) -> None:
    """Adds a sequence to the tree that its first kind leads to."""
    barred, needed = _NO_KINDS, _NO_KINDS
    node, place, begins, ends = tree, 0, 0, 0
    places: list[tuple[int, str] | None] = [None] * slots
    for kind, slot in sequence:
        match kind[0]:
            case ">":
                begins = place
            case "^":
                ends = place
            case "!":
                barred |= {kind[1:]}
            case "&":
                needed |= {kind[1:]}
            case _:
                if slot is not None:
                    places[slot] = (place, kind)
                if place:
                    node = node.after.get(kind) or node.after.setdefault(kind, _Node())
                place += 1
    ends = ends or place
    if ends > begins:
        node.endings.append(_Ending(rule, tuple(places), begins, ends, barred, needed))


def _next(nodes: list[_Node], kinds: Mapping[str, Any]) -> list[_Node]:
    """Where a token leads; loops, as this is what reading a question mostly does."""
    following = []
    for node in nodes:
        after = node.after
        for kind in kinds:
            if kind in after:
                following.append(after[kind])
    return following


def _by_length(found: tuple[int, _Node]) -> int:
    return -found[0]


def _may_follow(ending: _Ending, follower: Mapping[str, Any]) -> bool:
    if ending.barred and not ending.barred.isdisjoint(follower):
        return False
    return not ending.needed or not ending.needed.isdisjoint(follower)


class Ladder:
    """All levels of a grammar, climbed one after the other.

    `also` names the kinds that a kind is one of too: a date's token serves where a day is asked for.
    Which levels may have a phrase at a token is known from it and its neighbour, as bits, so that most
    levels cost nothing.
    """

    def __init__(self, levels: Iterable[Iterable[Rule]], also: Mapping[str, Sequence[str]]) -> None:
        kinds = {kind: tuple(f"<{name}>" for name in (kind, *more)) for kind, more in also.items()}
        self._levels = [Level(rules, kinds) for rules in levels]
        self._alone: dict[str, int] = {}
        self._before: dict[str, dict[str, int]] = {}
        self._known: dict[tuple[str | None, ...], int] = {}
        for number, level in enumerate(self._levels):
            for kind, other in level.openings():
                bits = self._alone if other is None else self._before.setdefault(kind, {})
                bits[other or kind] = bits.get(other or kind, 0) | 1 << number

    def climb(self, tokens: Sequence[Token]) -> list[Token]:
        """The tokens with every phrase of every level made into one token."""
        rewritten = list(tokens)
        begin = [self._begins(rewritten, place) for place in range(len(rewritten))]
        busy = reduce(or_, begin, 0)
        for number, level in enumerate(self._levels):
            bit = 1 << number
            if busy & bit and self._rewrite(level, bit, rewritten, begin):
                busy = reduce(or_, begin, 0)
        return rewritten

    def _rewrite(self, level: Level, bit: int, tokens: list[Token], begin: list[int]) -> bool:
        """Puts the phrases of one level in the place of their tokens, left to right, if there are any."""
        at, found = 0, False
        while at < len(tokens):
            made = level.longest(tokens, at) if begin[at] & bit else None
            if made is None or (made[0] and level.outdone(made, tokens, at)):
                at += 1
                continue
            before, token, after = made
            made_of = [*_beside(level, tokens, at, at + before), token] if before else [token]
            tokens[at:after] = made_of
            begin[at:after] = [0] * len(made_of)
            for place in range(max(at - 1, 0), at + len(made_of)):
                begin[place] = self._begins(tokens, place)
            at, found = at + len(made_of), True
        return found

    def _begins(self, tokens: Sequence[Token], place: int) -> int:
        """The levels, as bits, on which a phrase may begin at a token."""
        after = tokens[place + 1].values if place + 1 < len(tokens) else ()
        pair = (*tokens[place].values, None, *after)
        bits = self._known.get(pair)
        if bits is None:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            bits = self._known[pair] = self._levels_of(tokens[place].values, after)
        return bits

    def _levels_of(self, kinds: Iterable[str], after: Iterable[str]) -> int:
        bits = 0
        for kind in kinds:
            bits |= self._alone.get(kind, 0)
            follows = self._before.get(kind, {})
            for other in after:
                bits |= follows.get(other, 0)
        return bits


def _beside(level: Level, tokens: list[Token], at: int, stop: int) -> Iterator[Token]:
    """The tokens that must stand before a phrase, with what the level makes of them alone."""
    while at < stop:
        made = level.longest(tokens[:stop], at)
        if made and not made[0]:
            yield made[1]
            at = made[2]
        else:
            yield tokens[at]
            at += 1

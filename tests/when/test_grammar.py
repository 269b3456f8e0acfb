"""The rule language on a toy grammar of fruit: what patterns match, hand over, refuse and leave."""

from __future__ import annotations

import pytest

from huimem.when.grammar import Ladder, Rule, Token, literals, unfold

WORDS = {
    "red": {"<colour>": "red"},
    "green": {"<colour>": "green"},
    "apple": {"<fruit>": "apple", "apple": "apple"},
    "pie": {"pie": "pie"},
    "a": {"a": "a"},
    "of": {"of": "of"},
    "no": {"no": "no"},
}


def tokens(text: str) -> list[Token]:
    made, at = [], 0
    for word in text.split():
        made.append(Token(WORDS.get(word, {"<word>": word}), at, at + len(word)))
        at += len(word) + 1
    return made


def read(text: str, *levels: list[Rule]) -> list[tuple[str, object]]:
    """What the levels make of a text: each made thing with its words."""
    climbed = Ladder(levels, {"dish": ("meal",)}).climb(tokens(text))
    return [(text[t.start : t.end], t.values["<dish>"]) for t in climbed if "<dish>" in t.values]


def dish(pattern: str) -> Rule:
    return Rule(pattern, "dish", lambda *parts: parts)


@pytest.mark.parametrize(
    ("pattern", "text", "made"),
    [
        ("apple", "an apple fell", [("apple", ())]),
        ("<colour> <fruit>", "a red apple", [("red apple", ("red", "apple"))]),
        ("<colour>? <fruit>", "apple", [("apple", (None, "apple"))]),
        ("a|of <fruit>", "of apple", [("of apple", ("apple",))]),
        ("(a <colour>)|of <fruit>", "a red apple", [("a red apple", ("red", "apple"))]),
        ("(a <colour>)|of <fruit>", "of apple", [("of apple", (None, "apple"))]),
        ("(a of)? pie", "a of pie", [("a of pie", ())]),
        ("a > <fruit>", "a apple", [("apple", ("apple",))]),
        ("<colour> > <fruit>", "red apple", [("apple", ("apple",))]),
        ("<fruit> !pie", "apple pie apple", [("apple", ("apple",))]),
        ("<fruit> &pie", "apple pie apple", [("apple", ("apple",))]),
        ("<fruit> &<word>", "apple fell", [("apple", ("apple",))]),
        ("<fruit> !<colour>", "apple red", []),
        ("<fruit> pie", "apple tart", []),
    ],
)
def test_a_pattern(pattern: str, text: str, made: list[tuple[str, object]]) -> None:
    assert read(text, [dish(pattern)]) == made


def test_the_longest_match_counts_whatever_the_order() -> None:
    short, long = Rule("<fruit>", "dish", lambda _: "short"), Rule("<fruit> pie", "dish", lambda _: "long")
    assert read("apple pie", [short, long]) == read("apple pie", [long, short]) == [("apple pie", "long")]


def test_of_equal_matches_the_first_rule_counts() -> None:
    rules = [Rule("<fruit>", "dish", lambda _: 1), Rule("<fruit>", "dish", lambda _: 2)]
    assert read("apple", rules) == [("apple", 1)]
    assert read("apple", rules[::-1]) == [("apple", 2)]


def test_a_refused_match_leaves_the_shorter_one() -> None:
    rules = [Rule("<fruit> pie", "dish", lambda _: None), Rule("<fruit>", "dish", lambda _: "short")]
    assert read("apple pie", rules) == [("apple", "short")]


def test_a_level_reads_what_lower_ones_made_also_under_a_wider_kind() -> None:
    higher = [Rule("no <meal>", "dish", lambda meal: ("no", meal))]
    assert read("no red apple", [dish("<colour> <fruit>")], higher) == [
        ("no red apple", ("no", ("red", "apple")))
    ]


def test_phrases_that_begin_after_a_context_leave_it_in_place() -> None:
    climbed = Ladder(
        [[Rule("a > <fruit>", "dish", lambda _: 1)], [Rule("a <dish>", "meal", lambda _: 2)]], {}
    )
    assert [token.values for token in climbed.climb(tokens("a apple"))] == [{"<meal>": 2}]


def test_what_stands_behind_a_phrase_is_handed_over_and_left_in_place() -> None:
    first = [Rule("<fruit> < of <colour>=", "dish", lambda fruit, colour: (fruit, colour))]
    assert read("apple of red pie", first) == [("apple", ("apple", "red"))]
    climbed = Ladder([first, [Rule("<dish> of <colour>", "meal", lambda *parts: parts)]], {})
    assert [token.values for token in climbed.climb(tokens("apple of red"))] == [
        {"<meal>": (("apple", "red"), "red")}
    ]
    assert read("apple of", first) == []


def test_unfolding_tells_every_plain_sequence() -> None:
    sequences, slots = unfold("a? <colour>|of pie")
    assert ([[item.kind for item in one] for one in sequences], slots) == (
        [["a", "<colour>", "pie"], ["a", "of", "pie"], ["<colour>", "pie"], ["of", "pie"]],
        1,
    )


def test_an_unbalanced_pattern_is_refused() -> None:
    with pytest.raises(ValueError, match="unbalanced"):
        unfold("a) of")


def test_the_words_of_patterns_are_known() -> None:
    assert literals([dish("a|of > <colour> (pie)? !no &tart")]) == {"a", "of", "pie", "no", "tart"}

"""Words → time ranges: a rule engine, pure, with no clock and no I/O of its own.

    text ─scanning─▶ tokens ─grammar─▶ expressions ─conventions─▶ ranges ─resolve─▶ Resolution

`sentences` passes over what holds no time, `scanning` finds the words that some language knows, `grammar`
climbs the rungs of the rules and makes `expressions` of them, which mean something on any day;
`conventions` alone says where they lie on this one. What a word *means* in time is settled there and
nowhere else.

To add a phrase, add a line. "The Tuesday after Easter" would be, among the days of `english`,

    Rule("the? <weekday> after <holiday>", "day", lambda weekday, of: …)

with a pattern (see `grammar` for its marks), the kind that it makes (see `language.ALSO` for what
that may serve as), and a maker of an expression, which may give None to refuse. A rung reads what the
rungs below it made, and on each the longest match counts, so the order of lines does not matter. A
new word is an entry in the language's `words`, under the kind that rules ask for; a word in which
something of time is hidden (前端 in 3天前端) stands in `others`. Then add rows to `fixtures/when/`:
what it means, and a sentence in which it must stay silent.

A further language is a package like `english`: a `Language` with words and rules, listed in
`resolve.LANGUAGES`. The rungs are shared, so its words and those of other languages mix.
"""

from huimem.when.resolve import resolve, resolve_spoken

__all__ = ["VERSION", "resolve", "resolve_spoken"]

# Of what the rules mean: with another value every index reads the time words of its records anew.
VERSION = "4"

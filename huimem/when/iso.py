"""What figures say in any language: A..B, A/B, A.. and ..B, and instants with their offset."""

from huimem.when.expressions import Expression, Moment, Open
from huimem.when.grammar import Rule
from huimem.when.language import Language
from huimem.when.making import between


def _since(*of: Expression | None) -> Expression | None:
    return next((Open("since", one) for one in of if one), None)


def _until(*of: Expression | None) -> Expression | None:
    return next((Open("until", one) for one in of if one), None)


ISO = Language(
    name="iso",
    words={},
    rules={
        "times": [Rule("<date> <clock>", "moment", Moment)],
        "ranges": [
            Rule("<time> .. <time>", "range", between),
            Rule("<date> /|- <date>", "range", between),
            Rule("<month> / <month>", "range", between),
        ],
        # On this rung dates in words are not yet made: "last Friday..." is no open end.
        "dates": [
            Rule("<date>|<month>|<week> .. &<edge>", "edge", _since),
            Rule("<edge> > .. <date>|<month>|<week> &<edge>", "edge", _until),
            Rule("<moment> .. &<edge>", "edge", _since),
            Rule("<edge> > .. <moment> &<edge>", "edge", _until),
        ],
    },
)

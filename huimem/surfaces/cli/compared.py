"""A comparison of two embedders → text for people and the document for programs.

In: both rankings of each question. Out: one line a record with its rank and score on either side, so
that what one finds higher, or alone, is seen at once; behind them the figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from huimem.comparing import DEPTH, FIRST, Comparison, Side
from huimem.markup import readable
from huimem.records import Hit
from huimem.surfaces.cli.look import Look, clipped, columns
from huimem.surfaces.cli.visible import visible_line
from huimem.surfaces.excerpt import excerpt

LETTERS = ("A", "B")
NONE = "–"
_GAP, _CELL = 2, 7
_MARGIN = 3 + 2 * (_CELL + _GAP)  # columns before what a record says
_LEAST = 16  # columns of a title that still says something


@dataclass(frozen=True, slots=True)
class _Row:
    """A record that either side found: its hit, and its rank on each side (None: not among the looked at)."""

    hit: Hit
    ranks: tuple[int | None, int | None]
    scores: tuple[float, float]


def render_compared(found: Comparison, look: Look, limit: int) -> str:
    """Who is A and who is B, each question with both rankings, and the figures."""
    names = [
        f"{letter}  {visible_line(side.spec)}" for letter, side in zip(LETTERS, found.sides, strict=True)
    ]
    blocks = [
        "\n".join(clipped(name, look.width) for name in names),
        *("\n".join(_question(found, number, look, limit)) for number in range(len(found.questions))),
        "\n".join(_figures(found)),
    ]
    return "\n\n".join(blocks)


def _question(found: Comparison, number: int, look: Look, limit: int) -> Iterator[str]:
    question = found.questions[number]
    label = f"{number + 1}  "
    yield label + look.styled("strong", clipped(visible_line(question.text), look.width - len(label)))
    rows = _rows(found, number, limit)
    if not rows:
        yield "   neither finds anything"
    else:
        heads = (" " * _GAP).join(f"{letter:>2}".ljust(_CELL) for letter in LETTERS)
        yield look.styled("faint", f"   {heads}".rstrip())
    for row in rows:
        yield from _record(row, question.expected, look)
    if question.expected and not any(str(row.hit.ref) == question.expected for row in rows):
        missed = f"expected and not shown: {visible_line(question.expected)}"
        yield look.styled("bad", " " * _MARGIN + clipped(missed, look.width - _MARGIN))


def _rows(found: Comparison, number: int, limit: int) -> list[_Row]:
    """The first `limit` records of both sides, the best rank on either side first."""
    answers = [side.answers[number] for side in found.sides]
    hits = {str(hit.ref): hit for side in reversed(answers) for hit in side[:limit]}
    rows = []
    for ref, hit in hits.items():
        a, b = (side.rank(number, ref) for side in found.sides)
        score_a, score_b = (
            side[rank - 1].score if rank else 0.0 for side, rank in zip(answers, (a, b), strict=True)
        )
        rows.append(_Row(hit, (a, b), (score_a, score_b)))
    far = DEPTH + limit
    return sorted(rows, key=lambda row: (min(rank or far for rank in row.ranks), row.ranks[0] or far))


def _record(row: _Row, expected: str, look: Look) -> Iterator[str]:
    cells = (
        f"{rank:>2} {score:.2f}" if rank else f"{NONE:>2}"
        for rank, score in zip(row.ranks, row.scores, strict=True)
    )
    before = "   " + "".join(f"{cell:{_CELL + _GAP}}" for cell in cells)
    marks = [("faint", f"only {letter}") for letter, other in _alone(row) if not other]
    marks += [("good", "expected")] if expected == str(row.hit.ref) else []
    room = look.width - _MARGIN - sum(len(mark) + 3 for _, mark in marks)
    name, *rest = _name(row.hit, look, room)
    yield before + " · ".join([name, *(look.styled(*mark) for mark in marks)])
    yield from (" " * _MARGIN + line for line in rest)
    yield " " * _MARGIN + look.styled("faint", _said(row.hit, look.width - _MARGIN))


def _said(hit: Hit, room: int) -> str:
    """The evidence on one line of so many columns, its highlight in it."""
    text = readable(hit.evidence)[0]
    characters = room * len(text) // max(columns(visible_line(text)), 1)
    return clipped(visible_line(excerpt(hit.evidence, hit.evidence, characters, hit.highlight)), room)


def _alone(row: _Row) -> Sequence[tuple[str, int | None]]:
    """Each letter with the rank on the other side."""
    return ((LETTERS[0], row.ranks[1]), (LETTERS[1], row.ranks[0]))


def _name(hit: Hit, look: Look, room: int) -> Iterator[str]:
    """Title and place on one line; on two where they do not fit and little would be left of the title."""
    place = look.place(hit.path, hit.line)
    plain = Look(look.zone, look.now, look.root, look.here).place(hit.path, hit.line)
    title, left = visible_line(hit.title), room - columns(plain) - 3
    if columns(title) <= max(left, 0) or left >= _LEAST:
        yield f"{clipped(title, left)} · {place}"
        return
    yield clipped(title, room)
    fits = columns(plain) <= look.width - _MARGIN
    yield place if fits else look.styled("place", clipped(plain, look.width - _MARGIN))


def _figures(found: Comparison) -> Iterator[str]:
    shared = {
        "same first hit": f"{found.same_first()} of {len(found.questions)}",
        f"first {FIRST} in common": f"{found.mean_overlap():.0%}",
    }
    yield from (f"{name:18}{value:>10}" for name, value in shared.items())
    rows = [
        ("", LETTERS),
        ("dimensions", tuple(f"{side.dim:,}" if side.dim else NONE for side in found.sides)),
        ("vectors made now", tuple(f"{side.made:,}" if side.dim else NONE for side in found.sides)),
        ("passages a second", tuple(_number(side.rate) for side in found.sides)),
        ("ms a question", tuple(_number(side.asking) for side in found.sides)),
    ]
    if any(question.expected for question in found.questions):
        rows.append((f"R@{FIRST}", tuple(_share(found.recall_at_first(side)) for side in found.sides)))
        rows.append(("MRR", tuple(_share(found.reciprocal_rank(side)) for side in found.sides)))
    for name, (a, b) in rows:
        yield f"{name:18}{a:>10}{b:>12}"


def _number(value: float | None) -> str:
    return NONE if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def _share(value: float | None) -> str:
    return NONE if value is None else f"{value:.2f}"


def compared_document(found: Comparison, limit: int) -> dict[str, object]:
    """Both rankings and all figures; `a` and `b` are the two embedders throughout."""
    return {
        "embedders": {
            letter.lower(): _side(found, side) for letter, side in zip(LETTERS, found.sides, strict=True)
        },
        "same_first": found.same_first(),
        "mean_overlap": round(found.mean_overlap(), 4),
        "questions": [_asked(found, number, limit) for number in range(len(found.questions))],
        "warnings": list(found.warnings),
    }


def _asked(found: Comparison, number: int, limit: int) -> dict[str, object]:
    question = found.questions[number]
    rankings = {
        letter.lower(): [_hit(rank, hit) for rank, hit in enumerate(side.answers[number][:limit], 1)]
        for letter, side in zip(LETTERS, found.sides, strict=True)
    }
    expected, overlap = question.expected or None, round(found.overlap(number), 4)
    return {"question": question.text, "expected": expected, "overlap": overlap, **rankings}


def _side(found: Comparison, side: Side) -> dict[str, object]:
    return {
        "embedder": side.spec,
        "dimensions": side.dim or None,
        "made": side.made,
        "passages_per_second": side.rate,
        "milliseconds_per_question": side.asking,
        "recall_at_5": found.recall_at_first(side),
        "mrr": found.reciprocal_rank(side),
    }


def _hit(rank: int, hit: Hit) -> dict[str, object]:
    return {
        "rank": rank,
        "score": round(hit.score, 6),
        "ref": str(hit.ref),
        "title": hit.title,
        "path": hit.path,
        "line": hit.line,
    }

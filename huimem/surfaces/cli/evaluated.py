"""An evaluation → text for people and the document for programs.

In: outcomes and figures. Out: the figures, a line a kind, then each miss with its place in the file of
questions and the first thing that stood in its way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from huimem.errors import place as place_of
from huimem.evaluation import CUTS, Evaluation, Figures, Minimum, Outcome, figures
from huimem.missing import Miss, relevance_of
from huimem.records import Hit
from huimem.surfaces.cli.hits import counted
from huimem.surfaces.cli.look import Look, clipped, columns, wrapped
from huimem.surfaces.cli.visible import visible_line
from huimem.surfaces.documents import bounds, freshness_document, instant, problem_documents

NONE = "–"
INDENT = "   "
_KIND = 18  # columns of a kind's name
_LEAST = 24  # columns of a question that still say something
_FAIL = "fail  "
_PRECISION = 6
_WARNINGS = 10  # lines of what answers warned of
_ROWS = ("any", "fraction", "all")


@dataclass(frozen=True, slots=True)
class Judged:
    """An evaluation of the questions of the file `path`, with the minimums it fell below."""

    path: str
    found: Evaluation
    below: Sequence[tuple[Minimum, float]] = ()


def render_evaluation(judged: Judged, look: Look) -> str:
    """The figures, the kinds, the warnings, the misses, the faults of the file, what is below its minimum."""
    found, overall = judged.found, figures(judged.found.outcomes)
    kinds = found.by_kind()
    blocks = [
        "\n".join(wrapped(_head(judged, overall), look.width)),
        "\n".join(_overall(overall, found)),
        *(["\n".join(_kinds(kinds))] if len(kinds) > 1 else []),
        *(["\n".join(_warned(found, look))] if found.warned else []),
        *("\n".join(_missed(outcome, judged, look)) for outcome in _short(found)),
    ]
    blocks += ["\n".join(_problems(judged, look))] if found.problems else []
    blocks += ["\n".join(_below(judged, look))] if judged.below else []
    return "\n\n".join(blocks)


def _short(found: Evaluation) -> list[Outcome]:
    return [outcome for outcome in found.outcomes if outcome.falls_short(found.limit)]


def _head(judged: Judged, overall: Figures) -> str:
    asked = f"{visible_line(judged.path)} · {counted(overall.questions, 'question')}"
    state = judged.found.freshness
    if state is None:
        return asked
    by = f"{state.vectors_done:,} of {state.vectors_total:,} vectors" if state.vectors_total else ""
    return " · ".join(part for part in (asked, f"by {state.engine}", by) if part)


def _overall(overall: Figures, found: Evaluation) -> Iterator[str]:
    if overall.answerable:
        yield f"{'recall':10}" + "".join(f"{f'@{k}':>7}" for k in CUTS)
        for place, name in enumerate(_ROWS):
            yield f"{name:10}" + "".join(f"{overall.recall[k][place]:7.2f}" for k in CUTS)
        yield f"{'MRR':10}{_number(overall.mrr):>7}   of the first {found.depth}"
        refused = _share(overall.refused, overall.answerable)
        said = f"{overall.refused} of {overall.answerable} with an answer got none"
        yield f"{'refused':10}{refused:>7}   {said}"
    if overall.unanswerable:
        share = _share(overall.abstained, overall.unanswerable)
        said = f"{overall.abstained} of {overall.unanswerable} without an answer got none"
        yield f"{'abstention':10}{share:>7}   {said}"


def _kinds(kinds: Mapping[str, Figures]) -> Iterator[str]:
    heads = ("n", "any@1", "any@5", "any@10", "fraction@5", "all@5", "MRR", "nothing")
    wide = max(len("kind"), *(min(columns(visible_line(kind)), _KIND) for kind in kinds))
    yield f"{'kind':{wide}}" + "".join(f"{head:>{_wide(head)}}" for head in heads)
    for kind, one in kinds.items():
        recall = one.recall
        values = [NONE] * 6
        if recall:
            shares = (recall[1][0], recall[5][0], recall[10][0], recall[5][1], recall[5][2], one.mrr)
            values = [_number(share) for share in shares]
        nothing = str(one.abstained + one.refused)
        name = clipped(visible_line(kind), wide)
        cells = zip(heads, (str(one.questions), *values, nothing), strict=True)
        yield name + " " * (wide - columns(name)) + "".join(f"{cell:>{_wide(head)}}" for head, cell in cells)


def _warned(found: Evaluation, look: Look) -> Iterator[str]:
    """What the answers warned of, with how many questions had it."""
    for warning, count in list(found.warned.items())[:_WARNINGS]:
        said = visible_line(f"warning: {warning}")
        yield look.block(f"{said} ({counted(count, 'question')})", "")
    if len(found.warned) > _WARNINGS:
        yield f"{counted(len(found.warned) - _WARNINGS, 'other warning')}: --json has them"


def _wide(head: str) -> int:
    return max(len(head), 4) + 2


def _missed(outcome: Outcome, judged: Judged, look: Look) -> Iterator[str]:
    """A question that fell short: its place and words, then a line for each record that is missing."""
    question = outcome.question
    place = visible_line(place_of(judged.path, question.line))
    kind = f"  ({clipped(visible_line(question.kind), _KIND)})" if question.kind else ""
    room = look.width - columns(place) - 2 - columns(kind)
    if room < _LEAST:
        yield look.styled("place", place)
        place, room = "", look.width - len(INDENT) - columns(kind)
    text = look.styled("strong", clipped(visible_line(question.text), room))
    yield (look.styled("place", place) + "  " if place else INDENT) + text + look.styled("faint", kind)
    if not outcome.answerable:
        yield f"{INDENT}answered, though nothing is expected"
    for miss in outcome.misses:
        yield look.block(str(miss.ref), INDENT)
        yield look.block(reason(miss, judged.found, look), INDENT + "  ")
    first = f"first: {_first(outcome.first, look)}" if outcome.first else "nothing found"
    yield from (INDENT + look.styled("faint", line) for line in wrapped(first, look.width - len(INDENT)))


def _first(hit: Hit, look: Look) -> str:
    """The best hit: its score, how relevant it is, its title, its ref."""
    relevance = relevance_of(hit)
    told = [f"{hit.score:.2f}", *([f"relevance {relevance:.2f}"] if relevance is not None else [])]
    title = clipped(visible_line(hit.title), look.width // 2)
    return " · ".join((*told, title, visible_line(str(hit.ref))))


def reason(miss: Miss, found: Evaluation, look: Look) -> str:
    """Why a record is not among the first hits, in a line."""
    said = f"said {look.moment(miss.at)}" if miss.at else "it has no time"
    spans = ", ".join(look.span(span, years=True) for span in miss.ranges)
    detail = visible_line(miss.detail)
    match miss.why:
        case "not indexed":
            return f"not indexed: {detail}"
        case "time":
            return f"filtered by time: {detail or said}, asked was {spans}"
        case "filter":
            return f"filtered by {detail}" if ":" in detail else f"filtered: {detail}"
        case "rank":
            return f"ranked {ordinal(miss.rank or 0)}, score {_number(miss.score)}"
        case "walk":
            ends = (look.span(miss.ranges[-1], years=True), look.span(miss.ranges[0], years=True))
            return f"not reached: {said}; the walk went from {ends[1]} back to {ends[0]}"
        case "floor":
            rank = f"it would be {ordinal(miss.rank or 0)}"
            return f"below the floor: relevance {_number(miss.relevance)} < {_number(miss.floor)}; {rank}"
        case "words":
            return f"not found: {detail}"
        case "depth":
            return f"not among {detail or f'the first {found.depth}'}"


def ordinal(number: int) -> str:
    """`1st`, `2nd`, `13th`, `21st`."""
    tens = number % 100
    ending = "th" if 10 < tens < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"


def _problems(judged: Judged, look: Look) -> Iterator[str]:
    for problem in judged.found.problems:
        place = visible_line(problem.place)
        first, *rest = wrapped(f"{place}  {visible_line(problem.message)}", look.width - len(_FAIL))
        yield look.styled("bad", _FAIL) + first
        yield from (" " * len(_FAIL) + line for line in rest)
        if problem.remedy:
            yield look.block(f"→ {visible_line(problem.remedy)}", " " * len(_FAIL))
    yield f"{counted(len(judged.found.problems), 'problem')}; these questions were not asked"


def _below(judged: Judged, look: Look) -> Iterator[str]:
    for one, value in judged.below:
        yield look.styled("bad", f"{one.name} is {value:.3f}, below {one.least:g}")


def _number(value: float | None) -> str:
    return NONE if value is None else f"{value:.2f}"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2f}"


def evaluation_document(judged: Judged, look: Look) -> dict[str, object]:
    """All figures, each question with the rank of what is expected, the misses with their reasons."""
    found = judged.found
    return {
        "set": judged.path,
        **_figures(figures(found.outcomes)),
        "limit": found.limit,
        "depth": found.depth,
        "kinds": {kind: _figures(those) for kind, those in found.by_kind().items()},
        "questions": [_asked(outcome, found, look) for outcome in found.outcomes],
        "below": [
            {"name": one.name, "least": one.least, "value": _rounded(value)} for one, value in judged.below
        ],
        "problems": problem_documents(found.problems),
        "index": freshness_document(found.freshness) if found.freshness else None,
        "warnings": list(found.warnings),
        "warned": [{"warning": warning, "questions": count} for warning, count in found.warned.items()],
    }


def _figures(those: Figures) -> dict[str, object]:
    shares = {
        str(k): {name: _rounded(value) for name, value in zip(_ROWS, values, strict=True)}
        for k, values in those.recall.items()
    }
    return {
        "answerable": those.answerable,
        "unanswerable": those.unanswerable,
        "recall": shares,
        "mrr": _rounded(those.mrr),
        "abstained": those.abstained,
        "refused": those.refused,
    }


def _asked(outcome: Outcome, found: Evaluation, look: Look) -> dict[str, object]:
    question = outcome.question
    expected = zip(question.expected, outcome.ranks, strict=True)
    return {
        "line": question.line,
        "question": question.text,
        "kind": question.kind,
        "expected": [{"ref": str(ref), "rank": rank} for ref, rank in expected],
        "found": outcome.hits,
        "first": {"ref": str(outcome.first.ref), "score": _rounded(outcome.first.score)}
        if outcome.first
        else None,
        "falls_short": outcome.falls_short(found.limit),
        "misses": [_miss(miss, found, look) for miss in outcome.misses],
    }


def _miss(miss: Miss, found: Evaluation, look: Look) -> dict[str, object]:
    return {
        "ref": str(miss.ref),
        "why": miss.why,
        "reason": reason(miss, found, look),
        "when": instant(miss.at, look.zone),
        "ranges": [bounds(span) for span in miss.ranges],
        "rank": miss.rank,
        "score": _rounded(miss.score),
        "relevance": _rounded(miss.relevance),
        "floor": miss.floor,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _PRECISION)

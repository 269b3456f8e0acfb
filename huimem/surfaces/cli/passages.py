"""Passages of an answer → text for people and for models: where each stands, what was said, why."""

from __future__ import annotations

from collections.abc import Iterator

from huimem.records import Passage, Recall
from huimem.surfaces.cli.hits import INDENT, Shown, counted, summary, time_lines, walk_of, why_lines
from huimem.surfaces.cli.visible import visible_line


def render_passages(recall: Recall, shown: Shown) -> str:
    """The time that was read, the passages in order with the reasons of their hits, a line of summary."""
    blocks = ["\n".join(_passage(place, one, recall, shown)) for place, one in enumerate(recall.passages, 1)]
    if shown.quiet:
        return "\n".join(blocks)
    taken = sum(one.tokens for one in recall.passages)
    about = f"{counted(len(recall.passages), 'passage')} of about {counted(taken, 'token')} · "
    end = shown.look.styled("faint", about) + summary(recall, shown.look)
    return "\n".join([*time_lines(recall, shown), *walk_of(shown), *blocks, end])


def _passage(place: int, passage: Passage, recall: Recall, shown: Shown) -> Iterator[str]:
    look = shown.look
    hits = [recall.hits[hit] for hit in passage.hits]
    score = look.styled("strong", f"{max(hit.score for hit in hits):.2f}")
    title = look.styled("strong", visible_line(passage.title))
    yield f"{place}  {score}  {title} · {look.place(passage.path, passage.lines[0])}"
    yield look.block(passage.text, INDENT)
    if passage.also:
        refs = ", ".join(visible_line(str(ref)) for ref in passage.also)
        yield look.styled("faint", f"{INDENT}also  {refs}")
    for hit in hits:
        yield from why_lines(hit.factors, shown)

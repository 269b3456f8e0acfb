"""A question as `recall` and `scan` take it → its answer, printed, and the exit code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from huimem.records import Recall
from huimem.surfaces.cli.answering import linger, memory_of
from huimem.surfaces.cli.hits import Shown, render_hits, render_nothing
from huimem.surfaces.cli.look import looking
from huimem.surfaces.cli.options import Shared
from huimem.surfaces.cli.passages import render_passages
from huimem.surfaces.cli.printing import print_document, print_text
from huimem.surfaces.cli.progress import progress
from huimem.surfaces.cli.reading import read_input
from huimem.surfaces.cli.suggestions import Typed, suggestions
from huimem.surfaces.cli.walk import walk_end, walk_lines, walk_summary, way_on
from huimem.surfaces.documents import Asked, recall_document

Put = Callable[..., Recall]


def ask(shared: Shared, words: tuple[str, ...], options: dict[str, Any], put: Put, *, scans: bool) -> int:
    """Put a question to the memory with `put`, and show its answer; `scans`: its walk, too, step by step."""
    piped = words == ("-",)
    text = read_input(shared, "the question").strip() if piped else " ".join(words)
    full, explain = options.pop("full"), options.pop("explain")
    with memory_of(shared) as (memory, now), progress(shared) as show:
        answer = put(memory, text, now=now, progress=show, namespace=shared.namespace, **options)
        further = tuple(suggestions(answer, Typed("-" if piped else text, now, shared.repeated)))
        asked = Asked(options["when"] or text, memory.zone, full, explain)
        look = looking(memory.zone, now, memory.vault.root)
        walk = walk_lines(answer, look) if scans else walk_summary(answer, look)
        shown = Shown(asked, look, shared.quiet, tuple(walk), further, shared.repeated)
        for warning in answer.warnings:
            shared.say(f"warning: {warning}")
        if shared.json:
            more = [{"why": one.why, "command": one.command} for one in further]
            print_document({**recall_document(answer, asked), "suggestions": more})
        else:
            _show(shared, answer, shown, whole=options["budget"] is not None, scans=scans)
        linger(shared, memory, answer.warnings)
    return 0 if answer.hits else 1


def _show(shared: Shared, answer: Recall, shown: Shown, *, whole: bool, scans: bool) -> None:
    """The answer as text: hits, or with `whole` their passages; of a walk that found nothing its steps."""
    if answer.hits:
        print_text((render_passages if whole else render_hits)(answer, shown))
        shared.say((walk_end if scans else way_on)(answer, shown.further))
        return
    if scans and not shown.quiet:
        print_text("\n".join(shown.walk))
        shown = replace(shown, walk=())
    shared.say(render_nothing(answer, shown))

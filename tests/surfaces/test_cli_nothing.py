"""Nothing found: what people are told was near, and what they may try."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from huimem.records import Excluded, Freshness, Query, Recall
from huimem.surfaces.cli.hits import Shown, render_nothing
from huimem.surfaces.cli.look import Look
from huimem.surfaces.documents import Asked

ZONE = ZoneInfo("Asia/Shanghai")
NOW = datetime(2026, 4, 15, 10, 30, tzinfo=ZONE)
OUT = Excluded("HNSW", False)
WHY_NOT = [
    (0.0, 0.53, (), (), ""),
    (0.412, 0.53, (), (), "The nearest has a relevance of 0.41 by itself; an answer needs 0.53."),
    (0.5284, 0.5314, (), (), "The nearest has a relevance of 0.528 by itself; an answer needs 0.531."),
    (0.53139, 0.53144, (), (), "The nearest has a relevance of 0.53139 by itself; an answer needs 0.53144."),
    (0.412, 0.53, ("fp 16",), (), "The nearest has a relevance of 0.41 by itself; an answer needs 0.53."),
    (0.7, 0.53, (), (), ""),
    (0.0, 0.53, ("fp 16",), (), "An answer must hold the quoted words as they stand."),
    (0.7, 0.53, ("fp 16",), (), "An answer must hold the quoted words as they stand."),
    (0.7, 0.53, (), (OUT,), "An answer must hold nothing that -words shut out."),
    (
        0.7,
        0.53,
        ("fp 16",),
        (OUT,),
        "An answer must hold the quoted words as they stand and nothing that -words shut out.",
    ),
]


@pytest.mark.parametrize(("best", "floor", "phrases", "excluded", "reason"), WHY_NOT)
def test_nothing_found_says_what_was_near(
    best: float, floor: float, phrases: tuple[str, ...], excluded: tuple[Excluded, ...], reason: str
) -> None:
    query = Query("which index", ("which", "index"), NOW, phrases=phrases, excluded=excluded)
    answer = Recall("", query, None, (), Freshness(True, 0, "words", 0, 0), best=best, floor=floor)
    said, *reasons, hint = render_nothing(answer, Shown(Asked("which index", ZONE), Look(ZONE, NOW))).split(
        "\n"
    )
    assert said == "Nothing matches."
    assert reasons == [reason] * bool(reason)
    marked = reason.startswith("An answer must")
    assert hint.startswith("Try the question without its" if marked else "Try other words")

"""What has held answers for its time, and says that it is past; what was never asked for stays away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from huimem import Memory
from huimem.locks import lock
from huimem.recall.intent import asks_for_past
from huimem.records import Recall
from huimem.surfaces.cli.hits import Shown, render_hits
from huimem.surfaces.cli.look import Look
from huimem.surfaces.documents import Asked, recall_document
from tests.recall.made import NOW, ZONE, Talk, told

# Asked on 1 May 2026. Each key with its versions: since when, and what held from then on.
FACTS = {
    "gym": [("2025-09-10", "The gym is Pinewood, by the river."), ("2025-12-08", "The gym is Cedar Hall.")],
    "manager": [("2025-09-08", "My manager is Priya."), ("2026-01-02", "My manager is Marta.")],
    "cat": [("2025-09-15", "小猫吃鸡肉罐头。"), ("2026-02-03", "小猫吃鱼肉罐头。")],
    "bank": [("2025-06-01", "The bank account is at Harbour Bank.")],
}
TALKS: dict[str, Talk] = {"garden": "The garden gate needs oil.", "bike": "I sold the blue bike."}


@pytest.fixture(scope="module", params=["none", "hashing"])
def memory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    root = tmp_path_factory.mktemp("held") / "vault"
    with told(root, TALKS, embedder=request.param) as made:
        write_facts(root)
        made.sync()
        yield made


def write_facts(root: Path) -> None:
    (root / "facts").mkdir(exist_ok=True)
    for key, versions in FACTS.items():
        sections = "".join(f"## {since} →\n\n{text}\n\n" for since, text in versions)
        head = f"---\nhuimem: 1\nkey: {key}\nkind: fact\n---\n\n"
        (root / "facts" / f"{key}.md").write_text(head + sections, encoding="utf-8")


def facts_in(found: Recall) -> list[str]:
    """The facts among the hits, best first, each by its key and the day since when it held."""
    return [str(hit.ref).partition("T")[0] for hit in found.hits if hit.record.kind == "fact"]


# A question and other options, and the first fact that answers it, None for none at all.
ASKED = [
    ("which gym do I go to", {}, "gym@20251208"),
    ("which gym did I go to in October 2025", {}, "gym@20250910"),
    ("which gym did I go to on 3 December 2025", {}, "gym@20250910"),
    ("which gym did I go to in February 2026", {}, "gym@20251208"),
    ("gym", {"when": "2025-10"}, "gym@20250910"),
    ("gym", {"when": "2025-10", "said_only": True}, None),
    ("小猫去年十月吃什么罐头", {}, "cat@20250915"),
    ("小猫吃什么罐头", {}, "cat@20260203"),
    ("who was my previous manager Priya", {}, "manager@20250908"),
    ("我以前的经理 Priya", {"scan": False}, "manager@20250908"),
    ('"Pinewood"', {}, "gym@20250910"),
    ("Pinewood river", {"include_superseded": True}, "gym@20250910"),
    # What holds to this day held then, too, but is told of no single day.
    ("Harbour Bank", {"when": "2025-08-02"}, None),
    ("which bank account did I have in October 2025", {}, "bank@20250601"),
]


@pytest.mark.parametrize(("question", "options", "first"), ASKED)
def test_a_fact_answers_for_the_time_in_which_it_held(
    memory: Memory, question: str, options: dict[str, object], first: str | None
) -> None:
    found = memory.recall(question, now=NOW, **options)  # type: ignore[arg-type]
    assert facts_in(found)[:1] == ([first] if first else [])


def test_what_is_past_says_so_in_every_form(memory: Memory) -> None:
    question = "which gym did I go to in October 2025"
    found = memory.recall(question, now=NOW, limit=1)
    asked, look = Asked(question, ZONE), Look(ZONE, NOW, memory.vault.root)
    printed = render_hits(found, Shown(asked, look))
    assert "fact · held Wed 10 Sep 2025 to Sun 7 Dec 2025 · gym" in printed
    assert "time 0.90 (held then)" in printed
    (hit,) = recall_document(found, asked)["hits"]
    assert hit["valid"] == {"start": "2025-09-10T00:00:00+02:00", "end": "2025-12-08T00:00:00+01:00"}


def test_what_still_holds_is_dated_by_its_beginning(memory: Memory) -> None:
    found = memory.recall("is the gym Cedar Hall", now=NOW, limit=1)
    printed = render_hits(found, Shown(Asked("", ZONE), Look(ZONE, NOW, memory.vault.root)))
    assert "fact · Mon 8 Dec 2025" in printed and "fact · held" not in printed


def test_a_file_that_is_not_indexed_yet_answers_alike(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    with told(root, TALKS) as fresh:
        write_facts(root)
        with lock(fresh.index.folder / "index.lock"):  # so the new files are read beside the index
            found = fresh.recall("which gym did I go to in October 2025", now=NOW)
            assert fresh.index.counts().sources == len(TALKS)
    assert facts_in(found)[:1] == ["gym@20250910"]


PAST = [
    ("who was my previous manager", True),
    ("which gym did I use to go to, the former one", True),
    ("我以前的经理是谁", True),
    ("從前的健身房", True),
    ("what do I no longer eat", True),
    ("who came first", False),
    ("the older sister of Marta", False),
    ("旧金山的酒店", False),
    ("original-size prints", False),
    ("which gym do I go to", False),
]


@pytest.mark.parametrize(("question", "past"), PAST)
def test_which_questions_ask_for_what_held_before(question: str, past: bool) -> None:
    assert asks_for_past(question) is past

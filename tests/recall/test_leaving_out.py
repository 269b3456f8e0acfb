"""Words that may not stand there, beside a time alone: lists without what holds them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from huimem import Memory, TimeRange
from huimem.index import browse
from huimem.recall import leaving_out
from huimem.recall.query import Options, make
from huimem.records import Resolution
from huimem.when import resolve

ZONE = ZoneInfo("Asia/Shanghai")
NOW = datetime(2026, 5, 20, 10, 0, tzinfo=ZONE)
FILLER = "The shelf holds many books, and each of them has a page or two that nobody reads. " * 8

# session: when it began, then what the user said, a minute apart
TALKS: dict[str, tuple[str, ...]] = {
    "drinks": ("2026-05-01 10:00", "Coffee from Kenya.", "And tea from Assam.", "Milk as well."),
    "beans": ("2026-05-01 12:00", "我在喝埃塞俄比亚的咖啡豆。", "水洗的咖啡很酸。"),
    "teeth": ("2026-05-02 09:00", "The dentist did a root canal.", "It hurt."),
    "canal": ("2026-05-02 12:00", "The root of the willow reached the canal."),
    "report": ("2026-05-10 08:00", "On 2026-05-01 the dentist was closed."),
    "long": ("2026-05-12 08:00", f"{FILLER}The chestnut stands there. {FILLER}", "Rain again."),
    "recent": ("2026-05-18 08:00", "The kettle for coffee is new.", "The window is green."),
}


def taught(root: Path, *, synced: bool) -> Memory:
    Memory.create(root, tz="Asia/Shanghai").close()
    made = Memory.open(root, embedder="none", background=False)
    for name, (first, *texts) in TALKS.items():
        at = datetime.fromisoformat(first).replace(tzinfo=ZONE)
        made.record(
            [
                {"role": "user", "content": text, "at": at + timedelta(minutes=n)}
                for n, text in enumerate(texts)
            ],
            session=name,
            title=f"about {name}",
        )
    if synced:
        made.sync()
    return made


@pytest.fixture(scope="module", params=[True, False], ids=["indexed", "beside the index"])
def memory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with taught(tmp_path_factory.mktemp("leaving") / "vault", synced=request.param) as made:
        yield made


DAY = TimeRange.days_from(datetime(2026, 5, 1), 1, ZONE)
# question, keywords, the sessions listed with their records
LISTED: list[tuple[str, dict[str, Any], list[tuple[str, int]]]] = [
    ("2026-05-01", {}, [("drinks", 3), ("beans", 2), ("report", 1)]),
    ("2026-05-01 -coffee", {}, [("drinks", 2), ("beans", 2), ("report", 1)]),
    ("2026-05-01 -咖啡", {}, [("drinks", 3), ("report", 1)]),
    ("2026-05-01 -咖啡豆", {}, [("drinks", 3), ("beans", 1), ("report", 1)]),
    ("2026-05-01 -咖啡 -tea -dentist", {}, [("drinks", 2)]),
    ("-咖啡 2026-05-01", {}, [("drinks", 3), ("report", 1)]),
    ("what did we talk about on 2026-05-02 -dentist", {}, [("teeth", 1), ("canal", 1)]),
    ('what happened on 2026-05-02 -"root canal"', {}, [("teeth", 1), ("canal", 1)]),
    ('2026-05-02 -"root"', {}, [("teeth", 1)]),
    ("2026-05-01聊了什么 -咖啡", {}, [("drinks", 3)]),
    ("五月聊了什么 -咖啡 -dentist -coffee", {"limit": 2}, [("drinks", 2), ("teeth", 1)]),
    ("2026-05-12 -chestnuts", {}, [("long", 1)]),
    ("2026-05-12 -“The chestnut stands”", {}, [("long", 1)]),
    # What it is called is a part of it.
    ("2026-05-18 -“about recent”", {}, [("recent", 1)]),
    ("-coffee", {"when": "2026-05-01"}, [("drinks", 2), ("beans", 2), ("report", 1)]),
    ("-coffee", {"during": (DAY,)}, [("drinks", 2), ("beans", 2), ("report", 1)]),
    ("what did we talk about? -coffee", {"during": (DAY,)}, [("drinks", 2), ("beans", 2)]),
    ("recently -coffee", {}, [("recent", 1)]),
    ("what did we talk about recently -coffee -chestnut -咖啡 -dentist -tea -milk", {}, [("recent", 1)]),
    ("-coffee", {"when": "recently"}, [("recent", 1)]),
    ("2026-05-18 -coffee -green", {}, []),
]


@pytest.mark.parametrize(("question", "keywords", "expected"), LISTED)
def test_a_list_leaves_out_what_holds_an_excluded_word(
    question: str, keywords: dict[str, Any], expected: list[tuple[str, int]], memory: Memory
) -> None:
    answer = memory.recall(question, now=NOW, **{"limit": 50} | keywords)
    listed = [(hit.ref.session, hit.records) for hit in answer.hits]
    if answer.vague:  # the newest first
        assert listed[: len(expected)] == expected
    else:
        assert listed == expected
    assert (answer.query.text, answer.warnings) == ("", ())
    if "limit" not in keywords:
        assert answer.sessions == len(listed)


def test_all_sessions_left_are_counted_whatever_the_limit(memory: Memory) -> None:
    answer = memory.recall("五月聊了什么 -咖啡 -dentist -coffee", now=NOW, limit=2)
    assert answer.sessions == 5  # drinks, teeth, canal, long, recent


def test_words_beside_a_time_still_search_without_what_is_excluded(memory: Memory) -> None:
    answer = memory.recall("canal 2026-05-02 -dentist", now=NOW)
    assert answer.hits[0].ref.session == "canal"
    assert not any("dentist" in hit.record.text for hit in answer.hits)


@pytest.mark.parametrize("question", ["-coffee", "- -coffee", '-"coffee"'])
def test_a_word_to_shut_out_alone_is_searched_for_and_that_is_said(question: str, memory: Memory) -> None:
    answer = memory.recall(question, now=NOW)
    assert {hit.ref.session for hit in answer.hits} >= {"drinks", "recent"}
    lone = question.removeprefix("- ")
    assert answer.warnings == (f"“{lone}” stands alone, with nothing to leave it out of: it is searched for",)


def test_no_text_is_read_for_a_list_without_such_words_nor_for_words_that_the_index_knows(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    texts_of = leaving_out.texts_of

    def watched(*args: Any) -> Iterator[str]:
        for text in texts_of(*args):
            read.append(text)
            yield text

    monkeypatch.setattr(leaving_out, "texts_of", watched)
    for question in ("2026-05", "2026-05 -coffee"):
        assert memory.recall(question, now=NOW).hits and not read
    memory.recall('2026-05 -"dentist did"', now=NOW)
    assert len(read) == 2  # of the records with the word
    memory.recall("2026-05-02 -咖啡", now=NOW)
    assert len(read) == 5  # of that day


def test_openings_without_some_records(memory: Memory) -> None:
    memory.sync()
    with memory.index.snapshot() as snapshot:
        narrowed = browse.Filter(kinds=("turn",))
        opened = {one.path: one for one in browse.openings(snapshot.db, narrowed)}
        path = next(path for path in opened if path.endswith("drinks.md"))
        first = snapshot.chunk(opened[path].row).record
        less = {one.path: one for one in browse.openings(snapshot.db, narrowed, [first])}
    assert less[path].records == opened[path].records - 1 and less[path].row > opened[path].row
    assert less | {path: opened[path]} == opened


def test_an_empty_vault_has_nothing_to_leave_out(tmp_path: Path) -> None:
    with Memory.create(tmp_path / "v", tz="UTC") as made:
        for question in ("2026-05-01 -coffee", "2026-05-01 -咖啡", 'recently -"red tea"'):
            answer = made.recall(question, now=NOW)
            assert (answer.hits, answer.sessions) == ((), 0)


# question, the time that is read, what is shut out
READ = [
    ("what did we say in 2025 -coffee", ["2025"], ["coffee"]),
    ("in 2025 -咖啡 -tea", ["2025"], ["咖啡", "tea"]),
    ("soup -Friday", [], ["Friday"]),
    ("汤 -昨天", [], ["昨天"]),
    ("soup Monday -Friday", ["Monday -Friday"], []),
    ('soup in 2025 -"last week"', ["2025"], ["last week"]),
    ("soup recently -lately", ["recently"], ["lately"]),
]


@pytest.mark.parametrize(("question", "times", "excluded"), READ)
def test_words_to_shut_out_are_no_part_of_a_time(
    question: str, times: list[str], excluded: list[str]
) -> None:
    made = make(question, Options(), NOW, resolve)
    found = made.resolution or Resolution()
    spans = [*(one.span for one in found.readings), *found.vague_spans]
    assert [made.asked[slice(*span)].removeprefix("in ").strip() for span in spans] == times
    assert [one.written for one in made.query.excluded] == excluded

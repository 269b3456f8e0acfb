"""Answers on a small real vault: what is asked, with which filters, and which turns must come back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from huimem import Memory, TimeRange, UsageError
from huimem.index.filters import Filter
from huimem.recall.context import Found, told_of
from huimem.records import Source
from tests.processes import obeying_modes

ZONE = ZoneInfo("Asia/Shanghai")
NOW = datetime(2026, 4, 15, 10, 30, tzinfo=ZONE)
DAY = datetime(2026, 4, 6, 9, 0, tzinfo=ZONE)
LONG = "Some background on the question, told at length. " * 60

# name of the session: day of its first message, then messages of user and assistant in turn
TALKS = {
    "index": (0, "Which index do we take, HNSW or IVF?", "Take segmented fp16; IVF only for cold months."),
    "stock": (1, "获取今日龙虎榜和三连板前五只股票", "龙虎榜前五：000001、000002、000003、000004、000005。"),
    "flat": (2, "租房合同要注意什么？", "注意押金、租期、维修责任，还有提前退租的条款。"),
    "mail": (3, "重启svc-mail后队列不动，报错E1042", "E1042 是租约没有释放，删掉旧的锁文件。"),
    "essay": (
        4,
        "How do databases keep their promises?",
        f"{LONG}\n\nThe conclusion is the write-ahead log.",
    ),
    "soup": (5, "A soup for tonight?", "Leek and potato. It needs half an hour."),
}
FACT = """---
huimem: 1
key: diet
kind: preference
---

## 2026-01-01 09:00:00 → 2026-03-01

She eats no meat at all.

## 2026-03-01 09:00:00 →

She eats fish, but no meat.
"""


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    root = tmp_path_factory.mktemp("vault")
    with Memory.create(root, tz="Asia/Shanghai"):
        (root / "facts").mkdir()
        (root / "facts" / "diet.md").write_text(FACT, encoding="utf-8")
        (root / "notes").mkdir()
        (root / "notes" / "2026-04-09.md").write_text(
            "---\ntags: [garden, spring]\n---\n\n"
            "# Garden\n\n## Beds\n\nSow radish.\n\n## Trees\n\nPrune the apple.\n",
            encoding="utf-8",
        )
    with Memory.open(root, embedder="none") as made:
        for name, (day, *texts) in TALKS.items():
            at = DAY + timedelta(days=day)
            roles = ("user", "assistant")
            made.record(
                [
                    {"role": role, "content": text, "at": at + timedelta(seconds=30 * n)}
                    for n, (role, text) in enumerate(zip(roles, texts, strict=True))
                ],
                session=name,
                title=f"about {name}",
            )
        made.record(
            [{"role": "user", "content": "Which index does the team take?", "at": DAY}],
            session="index",
            namespace="team",
        )
        tool = {
            "role": "tool",
            "name": "grep",
            "content": "warehouse.log: 3 matches",
            "at": DAY + timedelta(minutes=9),
        }
        made.record(
            [{"role": "user", "content": "look into it", "at": DAY + timedelta(minutes=8)}, tool],
            session="tools",
        )
        people = [
            {
                "role": "Mina",
                "name": "Mina",
                "content": "The picnic moves to Sunday.",
                "at": DAY + timedelta(days=6),
            }
        ]
        made.record(people, session="picnic", people=True)
        yield made


@dataclass(frozen=True)
class Case:
    question: str
    first: str | None
    filters: dict[str, Any] = field(default_factory=dict)


def day(number: int, count: int = 1) -> tuple[TimeRange, ...]:
    return (TimeRange.days_from(DAY + timedelta(days=number), count, ZONE),)


CASES = [
    Case("which index do we take", "index"),
    Case("IVF", "index"),
    Case("龙虎榜", "stock"),
    Case("三连板", "stock"),
    Case("000004", "stock"),
    Case("租房", "flat"),
    Case("退租", "flat"),
    Case("租房合約", "flat"),
    Case("svc-mail", "mail"),
    Case("E1042", "mail"),
    Case("write-ahead log", "essay"),
    Case("conclusion", "essay"),
    Case("ＳＯＵＰ", "soup"),
    Case("picnic", "picnic"),
    Case("Mina", "picnic"),
    Case("radish", "notes/2026-04-09"),
    Case("does she eat fish", "diet"),
    Case("zebra", None),
    Case("what is it", None),
    Case("", None),
    Case("😀", None),
    # time
    Case("soup", "soup", {"during": day(5)}),
    Case("soup", None, {"during": day(4)}),
    Case("soup", "soup", {"when": "2026-04-11"}),
    Case("soup", None, {"when": "2026-04-10"}),
    Case("soup", "soup", {"when": "2026-W15"}),
    Case("soup", None, {"when": "2026-W14"}),
    Case("soup 2026-04-11", "soup"),
    Case("soup 2026-04-10", None),
    Case("soup", "soup", {"when": "2026-04-11.."}),
    Case("soup", None, {"when": "..2026-04-10"}),
    Case(
        "soup", None, {"during": (TimeRange(DAY, DAY + timedelta(days=5)),)}
    ),  # half-open: its instant is outside
    # namespace, kind, role, tag
    Case("which index", "index", {"namespace": "team"}),
    Case("龙虎榜", None, {"namespace": "team"}),
    Case("fish", "diet", {"kinds": ["preference"]}),
    Case("fish", None, {"kinds": ["turn"]}),
    Case("radish", "notes/2026-04-09", {"kinds": ["note"]}),
    Case("HNSW", "index", {"roles": ["user"]}),
    Case("HNSW", None, {"roles": ["assistant"]}),
    Case("cold months", None, {"roles": ["user"]}),
    Case("warehouse", None),
    Case("warehouse", "tools", {"roles": ["tool"]}),
    Case("radish", "notes/2026-04-09", {"tags": ["garden"]}),
    Case("radish", None, {"tags": ["kitchen"]}),
    # validity
    Case("meat", "diet", {"as_of": datetime(2026, 2, 1, tzinfo=ZONE)}),
]


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case.question or '-'} {','.join(case.filters)}".strip()
)
def test_recall(memory: Memory, case: Case) -> None:
    found = memory.recall(case.question, now=NOW, **case.filters)
    assert (found.hits[0].ref.session if found.hits else None) == case.first


def test_a_fact_answers_as_of_its_time(memory: Memory) -> None:
    def said(**options: Any) -> list[str]:
        found = memory.recall("what does she eat, meat or fish", kinds=["preference"], now=NOW, **options)
        return sorted(hit.record.text for hit in found.hits)

    assert said() == ["She eats fish, but no meat."]
    assert said(as_of=datetime(2026, 2, 1, tzinfo=ZONE)) == ["She eats no meat at all."]
    assert len(said(include_superseded=True)) == 2


def test_a_hit_says_where_it_stands(memory: Memory) -> None:
    (hit, *_) = memory.recall("write-ahead log", now=NOW).hits
    lines = (memory.vault.root / hit.path).read_text(encoding="utf-8").split("\n")
    assert "The conclusion is the write-ahead log." in "\n".join(lines[hit.line - 1 :])
    assert "write-ahead log" in hit.evidence
    assert hit.title == "about essay"
    assert hit.at == DAY + timedelta(days=4, seconds=30)
    assert hit.message == 1


def test_neighbours_come_from_the_same_session(memory: Memory) -> None:
    (hit, *_) = memory.recall("warehouse", roles=["tool"], context=2, now=NOW).hits
    assert (hit.before, hit.after) == ((), ())
    (part, *_) = memory.recall("prune the apple", context=1, now=NOW).hits
    assert [record.ref.session for record in part.before] == ["notes/2026-04-09"]


def test_time_words_alone_list_the_sessions_of_that_time(memory: Memory) -> None:
    found = memory.recall("2026-04-06..2026-04-08", limit=20, now=NOW)
    assert [hit.ref.session for hit in found.hits] == ["index", "tools", "stock", "flat"]
    assert all(factor.name == "time" for hit in found.hits for factor in hit.factors)


def test_an_answer_says_how_time_was_read(memory: Memory) -> None:
    found = memory.recall("soup", when="2026-04-11", now=NOW)
    (reading,) = found.readings
    assert (reading.words, reading.grain) == ("Sat 11 Apr 2026", "day")
    assert found.considered == 1


def test_an_answer_says_how_fresh_it_is(memory: Memory) -> None:
    freshness = memory.recall("soup", now=NOW).freshness
    assert (freshness.fresh, freshness.pending, freshness.engine) == (True, 0, "words")


def test_the_same_question_has_the_same_id(memory: Memory) -> None:
    assert memory.recall("soup", now=NOW).id == memory.recall("soup", now=NOW).id
    assert memory.recall("soup", now=NOW).id != memory.recall("stew", now=NOW).id


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": -1}, "limit"),
        ({"context": -1}, "context"),
        ({"when": "some day"}, "names no time"),
        ({"when": "2026-02-30"}, "names no time"),
        ({"when": "2026-04-10..2026-04-01"}, "names no time"),
        ({"as_of": datetime(2026, 1, 1)}, "zone"),
    ],
)
def test_what_makes_no_question_is_refused(memory: Memory, keywords: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        memory.recall("soup", now=NOW, **keywords)


@pytest.mark.parametrize(
    "question", ["x" * 1_000_000, "\x00", "a\x00b", ".*+?[](){}|\\^$", "\ud800", "' OR 1=1 --", '"']
)
def test_any_text_may_be_asked(memory: Memory, question: str) -> None:
    assert memory.recall(question, now=NOW).hits == ()


def test_a_limit_past_everything_gives_all(memory: Memory) -> None:
    assert 0 < len(memory.recall("index soup 租房", limit=10**9, now=NOW).hits) <= 20


GARDEN = "# Garden\n\nThe larkspur is blue.\n"


def mode_taken_away(path: Path) -> None:
    path.chmod(0)


def behind_a_symlink(path: Path) -> None:
    path.rename(path.with_suffix(".away"))
    path.symlink_to(path.with_suffix(".away"))


def rewritten(path: Path) -> None:
    path.write_text("# Garden\n\nNothing grows here.\n", encoding="utf-8")


# What becomes of an indexed file between finding and showing, and the one line that the answer has for it.
UNSHOWN = [
    (
        mode_taken_away,
        "garden.md: cannot be read: Permission denied – No permission: check the owner and mode",
    ),
    (behind_a_symlink, "garden.md: is, or lies behind, a symlink – It is a symlink"),
    (Path.unlink, "garden.md: is gone – Nothing to do if that was meant."),
    (rewritten, "garden.md changed while it was being read; ask again"),
]


@pytest.mark.parametrize(("happens", "says"), UNSHOWN)
def test_a_hit_that_cannot_be_shown_says_why(
    happens: Callable[[Path], object], says: str, tmp_path: Path
) -> None:
    with Memory.create(tmp_path / "vault", tz="UTC"):
        path = tmp_path / "vault/garden.md"
        path.write_text(GARDEN, encoding="utf-8")
    with Memory.open(tmp_path / "vault", embedder="none") as memory, obeying_modes():
        memory.sync()

        def read(path: str) -> Source:
            happens(memory.vault.root / path)
            return memory.source(path)

        with memory.index.snapshot() as snapshot:
            row = int(snapshot.rows(Filter())[0])
            chunk = snapshot.chunk(row)
            (record,) = snapshot.records([chunk.record])
        told = told_of(read, [Found(record, 0, chunk, ())], 0, None)
        hits, warnings = told.hits, told.warnings
    assert hits == () and len(warnings) == 1 and warnings[0].startswith(says)


def test_an_unreadable_file_is_named_once(tmp_path: Path) -> None:
    with Memory.create(tmp_path / "vault", tz="UTC"):
        path = tmp_path / "vault/garden.md"
        path.write_text(GARDEN, encoding="utf-8")
    with Memory.open(tmp_path / "vault", embedder="none") as memory, obeying_modes():
        memory.sync()
        path.chmod(0)
        answer = memory.recall("larkspur", now=NOW)
    assert answer.hits == () and answer.freshness.pending == 1
    assert [line[:50] for line in answer.warnings] == ["garden.md: cannot be read: Permission denied – No "]


def test_evidence_out_of_the_middle_of_a_code_fence_is_shown_as_written(tmp_path: Path) -> None:
    code = "\n".join(f"step {n} of the kiln schedule ^mark-{n}" for n in range(60))
    with (
        Memory.create(tmp_path / "vault", tz="UTC"),
        Memory.open(tmp_path / "vault", embedder="none") as memory,
    ):
        memory.record([{"role": "user", "content": f"```\n{code}\n```", "at": DAY}])
        found = memory.recall("mark-30", now=NOW)
    assert found.warnings == ()
    assert [hit.evidence in hit.record.text for hit in found.hits] == [True]
    assert "step 30 of the kiln schedule ^mark-30" in found.hits[0].evidence

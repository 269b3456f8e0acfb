"""Questions put to a real vault: what is found, and the first thing in the way of what is not."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from huimem.evaluation import Asking, Outcome, Question, QuestionSet, evaluate
from huimem.memory import Memory
from huimem.missing import Inquiry, Miss
from huimem.records import Ref, TimeRange, Walked

FIXTURES = Path(__file__).parents[1] / "fixtures"
EAST = timezone(timedelta(hours=8))
NOW = datetime(2026, 4, 15, 10, 30, tzinfo=EAST)
TOOLS = """\
## User · 2026-03-02 09:00:00

Run the backup script, please.

## Tool · 2026-03-02 09:00:05

exit status 75: zanzibar.lock is held

## Assistant · 2026-03-02 09:00:09

It did not run: something else holds its lock.
"""
SMALL = {
    "sessions/backup.md": TOOLS,
    "elsewhere/outside.md": "## User · 2026-03-03 09:00:00\n\nwords that nobody indexed\n",
    "facts/lunch.md": "# lunch\n\n## 2026-01-01\n\nRice.\n",
}


def opened(root: Path) -> Memory:
    """The vault `small`, answered by words alone, with a session in which a tool speaks, and a stray file."""
    shutil.copytree(FIXTURES / "vaults" / "small", root)
    with (root / "huimem.toml").open("a", encoding="utf-8") as settings:
        settings.write('include = ["sessions/**", "notes/**", "facts/**", "namespaces/**"]\n')
    for path, text in SMALL.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return Memory.open(root, embedder="none", background=False)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """One that is asked, and never written to."""
    with opened(tmp_path_factory.mktemp("missing") / "vault") as memory:
        memory.sync()
        yield memory


def asked(memory: Memory, question: Question, limit: int = 5) -> Outcome:
    found = evaluate(memory, QuestionSet("q.toml", (question,)), Asking(NOW, limit=limit))
    assert found.problems == ()
    return found.outcomes[0]


def missed(memory: Memory, text: str, ref: str, *, limit: int = 5, namespace: str | None = None) -> Miss:
    question = Question(text, (Ref.parse(ref),), namespace=namespace)
    (miss,) = asked(memory, question, limit).misses
    assert str(miss.ref) == ref
    return miss


FIRST, LATER = "chat_2026-04-01_083000#20260401T083000", "chat_2026-04-08_230512#20260408T230512"

# A question, the ref that should be found, why it is not, and words of the detail.
MISSES = [
    ("HNSW", "chat_1999#20260101T000000", "not indexed", "no file here has this id"),
    ("HNSW", "chat_2026-04-07_101500#20260407T101500", "not indexed", "it is studio/chat_2026-04-07_101500#"),
    ("HNSW", "renamed#20260401T083000", "not indexed", f"it is {FIRST} now, in sessions/2026-W14/"),
    (
        "HNSW",
        "chat_2026-04-01_083000#20260401T083001",
        "not indexed",
        "sessions/2026-W14/chat_2026-04-01_0830",
    ),
    ("HNSW", "outside#20260303T090000", "not indexed", "elsewhere/outside.md is there and belongs not"),
    (
        "release notes",
        "studio/chat_2026-04-07_101500#20260407T101500",
        "filter",
        "namespace: it lies in studio",
    ),
    ("what about HNSW on 2026-04-01?", LATER, "time", ""),
    ("piccolo trombone", FIRST, "depth", "what comes up without a floor"),
]


@pytest.mark.parametrize(("text", "ref", "why", "detail"), MISSES)
def test_why_a_record_is_missed(memory: Memory, text: str, ref: str, why: str, detail: str) -> None:
    miss = missed(memory, text, ref)
    assert miss.why == why and detail in miss.detail


def test_a_miss_by_time_names_the_range_and_when_it_was_said(memory: Memory) -> None:
    miss = missed(memory, "what about HNSW on 2026-04-01?", LATER)
    assert [span.local() for span in miss.ranges] == [
        (datetime(2026, 4, 1, tzinfo=EAST), datetime(2026, 4, 2, tzinfo=EAST))
    ]
    assert miss.at == datetime(2026, 4, 8, 23, 5, 12, tzinfo=EAST)


def test_a_miss_by_rank_names_its_place(memory: Memory) -> None:
    outcomes = asked(memory, Question("which index, HNSW or IVF?", (Ref.parse(LATER),)), 1)
    assert outcomes.ranks == (2,) and outcomes.best == 2
    (miss,) = outcomes.misses
    assert (miss.why, miss.rank) == ("rank", 2) and miss.score is not None
    assert not asked(memory, outcomes.question, 3).misses


def test_a_miss_by_the_floor_names_both_sides_of_it(memory: Memory) -> None:
    """One word of many: found, and too little to answer."""
    text = "zeppelin accordion marmalade gondola parachute lighthouse memory"
    miss = missed(memory, text, FIRST)
    assert miss.why == "floor" and miss.rank == 1
    assert miss.relevance is not None and 0 < miss.relevance < memory.config.ranking.words_floor == miss.floor
    assert asked(memory, Question(text)).hits == 0


def test_what_only_a_tool_said_is_missed_by_its_role(memory: Memory, tmp_path: Path) -> None:
    """The turn itself is found by what people said in it; a turn of a tool alone is not."""
    assert not asked(
        memory, Question("backup script", (Ref.parse("sessions%2Fbackup#20260302T090000"),))
    ).misses
    with opened(tmp_path / "vault") as other:
        path = other.vault.root / "sessions/alone.md"
        path.write_text("## Tool · 2026-03-04 09:00:00\n\nzanzibar again\n", encoding="utf-8")
        miss = missed(other, "zanzibar again", "sessions%2Falone#20260304T090000")
    assert miss.why == "filter" and miss.detail.startswith("role: none of user, assistant")


def test_a_fact_that_no_longer_holds_is_missed_for_that(memory: Memory) -> None:
    known = {str(one.ref): one for one in memory.vault.read("facts/diet.md").records}
    ended = next(ref for ref, fact in known.items() if fact.valid.end is not None)  # type: ignore[union-attr]
    miss = missed(memory, "peanuts", ended)
    assert (miss.why, miss.detail) == ("filter", "it does not hold at that time")


def test_a_session_that_is_listed_stands_for_its_turns(memory: Memory) -> None:
    second = Ref.parse("chat_2026-04-08_230512#20260408T235806")
    assert asked(memory, Question("2026-04-08", (second,))).best is not None


def test_of_several_each_one_missing_is_explained(memory: Memory) -> None:
    refs = (Ref.parse(FIRST), Ref.parse("no#1"), Ref.parse("neither#1"))
    some = asked(memory, Question("HNSW or IVF", refs, "several"))
    assert [str(miss.ref) for miss in some.misses] == ["no#1", "neither#1"]
    assert some.found(5) == pytest.approx(1 / 3) and some.falls_short(5)
    assert asked(memory, Question("HNSW or IVF", refs)).misses == ()


def test_a_question_is_asked_at_its_own_time_and_place(memory: Memory) -> None:
    """ "Yesterday" of the 9th is the 8th, by its own `now`; elsewhere the one given."""
    ref = (Ref.parse(LATER),)
    own = Question("HNSW yesterday", ref, now=datetime(2026, 4, 9, 12))
    assert asked(memory, own).best == 1
    assert asked(memory, Question("HNSW yesterday", ref)).best is None
    assert asked(memory, Question("HNSW", ref, when="2026-04-08")).best == 1
    there = Question("release notes", (Ref.parse("studio/chat_2026-04-07_101500#20260407T101500"),))
    assert asked(memory, there).best is None
    found = evaluate(memory, QuestionSet("q", (there,)), Asking(NOW, "studio"))
    assert found.outcomes[0].best == 1


def test_a_question_that_cannot_be_asked_is_a_problem_and_the_others_are_asked(memory: Memory) -> None:
    questions = (
        Question("HNSW", (Ref.parse(FIRST),), when="the colour blue", line=4),
        Question("HNSW", (Ref.parse(FIRST),), line=8),
    )
    found = evaluate(memory, QuestionSet("q.toml", questions), Asking(NOW))
    assert [(problem.path, problem.line) for problem in found.problems] == [("q.toml", 4)]
    assert [one.question.line for one in found.outcomes] == [8]


def test_asking_changes_no_file_and_tells_how_far_it_is(memory: Memory) -> None:
    before = {path: path.read_bytes() for path in memory.vault.root.rglob("*.md")}
    told: list[tuple[str, int, int]] = []
    read = QuestionSet("q", (Question("HNSW"), Question("IVF", (Ref.parse("no#1"),))))
    evaluate(memory, read, Asking(NOW), progress=lambda *step: told.append(step))
    assert [step for step in told if step[0] == "questions"] == [("questions", 1, 2), ("questions", 2, 2)]
    assert {path: path.read_bytes() for path in memory.vault.root.rglob("*.md")} == before


UNHEARD = "piccolo trombone"  # words that nothing here holds
WALKS = [((8, 7), "depth"), ((14, 13), "walk"), ((), "depth")]


@pytest.mark.parametrize(("days", "why"), WALKS)
def test_a_walk_that_ended_later_did_not_reach_a_record(
    memory: Memory, days: tuple[int, ...], why: str
) -> None:
    """What was said on the 8th of April is reached by a walk over that day, and by none that ended before."""
    walked = tuple(
        Walked(TimeRange.days_from(datetime(2026, 4, day, tzinfo=EAST), 1, EAST), 3, 0.1) for day in days
    )
    answer = replace(memory.recall(UNHEARD, now=NOW), scanned=walked)
    with Inquiry(memory) as inquiry:
        miss = inquiry.why(answer, Ref.parse(LATER), lambda again: again.recall(UNHEARD, now=NOW))
    assert miss.why == why
    assert miss.ranges == (tuple(one.range for one in walked) if why == "walk" else ())


# What is asked for, and what of it keeps LATER out, which speaks of IVF, 聚类中心 and 召回率.
DEMANDS = [
    ('HNSW "no such words"', "“no such words” was demanded"),
    ("HNSW “聚类中心” “没有的话”", "“没有的话” was demanded"),
    ('HNSW "no such words" "other lines"', "“no such words” and “other lines” were demanded"),
    ("HNSW -IVF", "-IVF shuts it out"),
    ('HNSW -"IVF"', '-"IVF" shuts it out'),
    ("HNSW -IVF -piccolo", "-IVF shuts it out"),
    ("HNSW -聚类 -“召回率”", '-聚类 and -"召回率" shut it out'),
    ('HNSW "no such words" -IVF', "“no such words” was demanded; -IVF shuts it out"),
    ("2026-04 -召回率", "-召回率 shuts it out"),
]


@pytest.mark.parametrize(("text", "detail"), DEMANDS)
def test_words_demanded_and_forbidden_are_named(memory: Memory, text: str, detail: str) -> None:
    answer = memory.recall(text, now=NOW)
    with Inquiry(memory) as inquiry:
        miss = inquiry.why(answer, Ref.parse(LATER), lambda again: again.recall(text, now=NOW))
    assert (miss.why, miss.detail) == ("words", detail)
    assert miss.at == datetime(2026, 4, 8, 23, 5, 12, tzinfo=EAST)


def test_words_that_keep_no_record_out_are_not_named(memory: Memory) -> None:
    assert missed(memory, f"{UNHEARD} -trumpet", LATER).why == "depth"


class Stubborn:
    """A reranker that fails for one question, and for every other one."""

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        raise (RuntimeError if "HNSW" in question else OSError)(question)


def test_what_the_answers_warn_of_is_told_once_with_how_many_had_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HUIMEM_RERANK_GAP", "1")  # nothing leads so clearly that it is not asked
    monkeypatch.setattr("huimem.memory.load_reranker", lambda spec: Stubborn())
    with opened(tmp_path / "vault") as other:
        texts = ("HNSW or IVF", "the index in Rust", "which index, HNSW or IVF?", "-HNSW", "piccolo")
        asked = QuestionSet("q", tuple(Question(text) for text in texts))
        found = evaluate(other, asked, Asking(NOW))
    told = [(warning.split(" at ")[0].split(",")[0], count) for warning, count in found.warned.items()]
    assert told == [
        ("not reranked: unexpected RuntimeError", 3),
        ("not reranked: unexpected OSError", 1),
        ("“-HNSW” stands alone", 1),
    ]
    assert found.warnings == ("there was no index: built from 9 files",)

"""`huimem eval`: reasons in words, text that fits its terminal, exit codes, what is said where."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from huimem.errors import Problem
from huimem.evaluation import Evaluation, Minimum, Outcome, Question
from huimem.missing import Miss
from huimem.records import Factor, Freshness, Hit, Message, Ref, TimeRange, Turn
from huimem.surfaces.cli.evaluated import Judged, evaluation_document, ordinal, reason, render_evaluation
from huimem.surfaces.cli.look import Look, columns

Huimem = Callable[..., tuple[int, str, str]]
NOW = datetime(2026, 4, 15, tzinfo=UTC)
LOOK = Look(UTC, NOW)
REF = Ref("", "chat", "20260303T091500")
SAID = datetime(2026, 3, 3, 9, 15, tzinfo=UTC)
GOOD = "sessions%2Fgood#20260406T090000"
NOTHING = Evaluation((), (), None, ())


def day(number: int) -> TimeRange:
    return TimeRange.days_from(datetime(2026, 4, number, tzinfo=UTC), 1, UTC)


# A miss, and the line that says why.
REASONS = [
    (Miss(REF, "not indexed", "no file here has this id"), "not indexed: no file here has this id"),
    (
        Miss(REF, "time", at=SAID, ranges=(day(1), day(3))),
        "filtered by time: said Tue 3 Mar 09:15, asked was Wed 1 Apr 2026, Fri 3 Apr 2026",
    ),
    (
        Miss(REF, "time", "its time was only guessed", SAID, (day(1),)),
        "filtered by time: its time was only guessed, asked was Wed 1 Apr 2026",
    ),
    (Miss(REF, "filter", "kind: it is a note"), "filtered by kind: it is a note"),
    (Miss(REF, "filter", "it does not hold at that time"), "filtered: it does not hold at that time"),
    (Miss(REF, "rank", rank=14, score=0.314), "ranked 14th, score 0.31"),
    (
        Miss(REF, "walk", at=SAID, ranges=(day(9), day(8), day(7))),
        "not reached: said Tue 3 Mar 09:15; the walk went from Thu 9 Apr 2026 back to Tue 7 Apr 2026",
    ),
    (
        Miss(REF, "floor", rank=2, score=0.11, relevance=0.12, floor=0.3),
        "below the floor: relevance 0.12 < 0.30; it would be 2nd",
    ),
    (Miss(REF, "words", "-FAISS shuts it out"), "not found: -FAISS shuts it out"),
    (Miss(REF, "depth"), "not among the first 50"),
    (Miss(REF, "depth", "what comes up without a floor"), "not among what comes up without a floor"),
]


@pytest.mark.parametrize(("miss", "line"), REASONS, ids=[line[:30] for _, line in REASONS])
def test_a_miss_has_its_reason_in_a_line(miss: Miss, line: str) -> None:
    assert reason(miss, NOTHING, LOOK) == line


def test_ordinals() -> None:
    numbers = (1, 2, 3, 4, 11, 12, 13, 21, 22, 103, 111, 1_002)
    assert [ordinal(n) for n in numbers] == [
        *("1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "103rd", "111th", "1,002nd")
    ]


TURN = Turn(REF, (Message("user", "words", SAID, line=3, text_line=5),))
HIT = Hit(REF, TURN, "chat.md", 3, "一个很长的标题 " * 30, (), 0, "words", (Factor("relevance", 0.5),))
OUTCOMES = (
    Outcome(Question("中文的问题，没有空格" * 20, (REF,), "words", line=4), (1,), 3, HIT),
    Outcome(
        Question("a question that goes on " * 20, (REF, REF), "several", line=123_456),
        (7, None),
        9,
        HIT,
        (Miss(REF, "rank", rank=7, score=0.5), Miss(REF, "not indexed", "long words " * 30)),
    ),
    Outcome(Question("red \x1b[31m\nalarm", (), "never said " * 9, line=9), (), 1, HIT),
)
FOUND = Evaluation(
    OUTCOMES,
    (Problem("q.toml", 7, "`now` must be an ISO time", "Correct it there."),),
    Freshness(True, 0, "words+meaning", 12, 439),
    (),
)
JUDGED = Judged("q.toml", FOUND, ((Minimum("recall@5", 0.9), 0.5),))


@pytest.mark.parametrize("width", [80, 100])
def test_what_is_shown_fits_its_terminal_and_steers_none(width: int) -> None:
    text = render_evaluation(JUDGED, Look(UTC, NOW, width=width))
    assert "\x1b" not in text and max(map(columns, text.splitlines())) <= width
    coloured = render_evaluation(JUDGED, Look(UTC, NOW, width=width, colour=True))
    assert re.sub(r"\x1b\[\d*m", "", coloured) == text


def test_each_question_that_falls_short_is_shown_with_its_place() -> None:
    text = render_evaluation(JUDGED, LOOK)
    assert "q.toml · 3 questions · by words+meaning · 12 of 439 vectors" in text
    assert "q.toml:123456  a question" in text and "q.toml:9  red" in text and "q.toml:4 " not in text
    assert "answered, though nothing is expected" in text
    assert "recall@5 is 0.500, below 0.9" in text and "q.toml:7  `now` must be" in text


def test_the_figures_of_any_fraction_and_all_stand_apart() -> None:
    """Two answerable questions: one found first; of the other, which needs both, the second never comes."""
    lines = render_evaluation(JUDGED, LOOK).splitlines()
    told = {line.split()[0]: line.split()[1:5] for line in lines if line.startswith(("any ", "frac", "all "))}
    assert told == {
        "any": ["0.50", "0.50", "0.50", "1.00"],
        "fraction": ["0.50", "0.50", "0.50", "0.75"],
        "all": ["0.50", "0.50", "0.50", "0.50"],
    }
    document = evaluation_document(JUDGED, LOOK)
    assert document["recall"]["10"] == {"any": 1.0, "fraction": 0.75, "all": 0.5}  # type: ignore[index]
    assert document["mrr"] == pytest.approx((1 + 1 / 7) / 2, abs=1e-6)
    assert (document["abstained"], document["unanswerable"]) == (0, 1)


def test_a_place_without_a_line_is_the_file() -> None:
    outcome = Outcome(Question("no line", (REF,)), (None,), 0, None, (Miss(REF, "depth"),))
    problem = Problem("inl.toml", 0, "`now` must be an ISO time")
    found = replace(FOUND, outcomes=(outcome,), problems=(problem,))
    text = render_evaluation(Judged("inl.toml", found), LOOK)
    assert "inl.toml  no line" in text and "inl.toml  `now` must be" in text and ":0" not in text


WARNED = {"not reranked: it broke " * 9: 1_200, **{f"what {n}": 1 for n in range(11)}}


def test_what_the_answers_warned_of_stands_behind_the_figures() -> None:
    found = replace(FOUND, warned=WARNED)
    text = render_evaluation(Judged("q.toml", found), Look(UTC, NOW, width=80))
    lines = text.splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("warning: not reranked: it broke"))
    assert "(1,200 questions)" in " ".join(lines[first : first + 4])
    assert "warning: what 0 (1 question)" in lines and "warning: what 9 (1 question)" not in lines
    assert "2 other warnings: --json has them" in lines
    assert max(map(columns, lines)) <= 80
    document = evaluation_document(Judged("q.toml", found), LOOK)
    assert document["warned"] == [{"warning": one, "questions": count} for one, count in WARNED.items()]
    assert evaluation_document(JUDGED, LOOK)["warned"] == []


def written(folder: Path, *questions: str) -> str:
    (folder / "q.jsonl").write_text("\n".join(questions), encoding="utf-8")
    return str(folder / "q.jsonl")


FINDS = f'{{"question": "where is the marigold", "expected": "{GOOD}"}}'
MISSES = '{"question": "the marigold by the pond", "expected": "no#such"}'
REFUSES = '{"question": "蓝色的自行车", "expected": []}'
# Questions, --min, the exit code.
ENDS = [
    ((FINDS, REFUSES), "", 0),
    ((FINDS, REFUSES), "recall@1=1,mrr=1,abstention=1,answered=1", 0),
    ((FINDS, MISSES), "", 0),
    ((FINDS, MISSES), "recall@5=0.5", 0),
    ((FINDS, MISSES), "recall@5=0.51", 1),
    ((FINDS, "{"), "", 1),
    (("{",), "", 2),
    ((FINDS,), "abstention=1", 2),
    ((FINDS,), "speed=1", 2),
]


@pytest.mark.parametrize(("questions", "least", "code"), ENDS)
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_the_exit_code_says_whether_it_is_enough(
    marigold_vault: Path, huimem: Huimem, questions: tuple[str, ...], least: str, code: int, form: tuple[str]
) -> None:
    assert huimem("eval", written(marigold_vault, *questions), "--min", least, *form)[0] == code


def test_what_is_asked_stands_on_standard_output_alone(marigold_vault: Path, huimem: Huimem) -> None:
    path = written(marigold_vault, FINDS, MISSES, REFUSES, '{"question": "tulips", "expected": ["x"]}')
    code, out, err = huimem("-v", "eval", path)
    assert code == 1 and "the marigold by the pond" in out
    for word in ("marigold by", "where is", "自行车", "tulips"):
        assert word not in err


def test_a_set_for_another_vault_is_noticed(marigold_vault: Path, huimem: Huimem) -> None:
    _, _, err = huimem("eval", written(marigold_vault, '{"vault": "../other"}', MISSES))
    assert "no expected ref is in this vault; they were written for ../other" in err
    assert "no expected ref" not in huimem("eval", written(marigold_vault, FINDS, MISSES))[2]


def test_a_file_that_is_not_utf_8_is_named_with_its_line(marigold_vault: Path, huimem: Huimem) -> None:
    path = marigold_vault / "q.toml"
    path.write_bytes(b"# fine\n\nnow = \xff\n")
    code, out, err = huimem("eval", str(path))
    assert (code, out) == (2, "") and f"{path}:3: not UTF-8" in err


def test_the_document_holds_every_question_with_its_ranks(marigold_vault: Path, huimem: Huimem) -> None:
    document = json.loads(huimem("eval", written(marigold_vault, FINDS, MISSES), "--json")[1])
    assert [one["expected"] for one in document["questions"]] == [
        [{"ref": GOOD, "rank": 1}],
        [{"ref": "no#such", "rank": None}],
    ]
    (miss,) = document["questions"][1]["misses"]
    assert (miss["why"], miss["reason"]) == ("not indexed", "not indexed: no file here has this id")
    assert document["index"]["engine"] == "words"


def test_a_depth_decides_how_far_down_a_rank_is_looked_for(marigold_vault: Path, huimem: Huimem) -> None:
    """Fifteen notes that say the same; the ref of the last one stands behind ten, and before fifty."""
    for number in range(15):
        text = f"## User · 2026-04-07 09:00:{number:02}\n\nThe lantern is in the shed.\n"
        (marigold_vault / f"sessions/n{number:02}.md").write_text(text, encoding="utf-8")
    path = written(
        marigold_vault,
        *(
            f'{{"question": "lantern shed", "expected": "sessions%2Fn{number:02}#20260407T0900{number:02}"}}'
            for number in range(15)
        ),
    )
    shallow, deep = (
        json.loads(huimem("eval", path, "--json", "--depth", depth)[1])["questions"] for depth in ("10", "50")
    )
    ranks = [[one["expected"][0]["rank"] for one in asked] for asked in (shallow, deep)]
    assert sorted(ranks[1]) == list(range(1, 16))
    assert [rank if rank <= 10 else None for rank in ranks[1]] == ranks[0]
    assert {one["misses"][0]["why"] for one in deep if one["misses"]} == {"rank"}

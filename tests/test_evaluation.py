"""Sets of questions as people write them, figures over outcomes, and the reason of every miss."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from huimem.errors import UsageError
from huimem.evaluation import (
    Evaluation,
    Outcome,
    Question,
    below,
    figures,
    minimums_in,
    questions_in,
)
from huimem.records import Ref

FIXTURES = Path(__file__).parents[1] / "fixtures"
A, B, C = Ref("", "s", "1"), Ref("", "s", "2"), Ref("work", "名字 x", "20260401T083000", 2)
EAST = timezone(timedelta(hours=8))
ONE = '[[question]]\nquestion = "a"\nexpected = ["s#1"]\n'
JSON_ONE = '{"question": "a", "expected": ["s#1"]}\n'


# What a file says and the questions in it.
GOOD = [
    ("q.toml", ONE, [Question("a", (A,), line=1)]),
    ("q.toml", "# mine\n\n" + ONE.replace('["s#1"]', '"s#1"'), [Question("a", (A,), line=3)]),
    ("q.toml", ONE.replace('["s#1"]', "[]"), [Question("a", (), line=1)]),
    ("q.toml", ONE.replace('["s#1"]', '["s#1", "s#2", "s#1"]'), [Question("a", (A, B), line=1)]),
    (
        "q.toml",
        'now = 2026-04-15T10:00:00+08:00\nvault = "v"\n' + ONE + "\n" + ONE + "now = 2026-04-01\n",
        [
            Question("a", (A,), now=datetime(2026, 4, 15, 10, tzinfo=EAST), line=3),
            Question("a", (A,), now=datetime(2026, 4, 1), line=7),
        ],
    ),
    (
        "q.toml",
        ONE + 'kind = "several"\nnamespace = "work"\nwhen = "上周"\nhistory = ["b", "c"]\nnote = "n"\n',
        [Question("a", (A,), "several", None, "work", "上周", ("b", "c"), "n", 1)],
    ),
    (
        "q.toml",
        ONE + 'note = """\n[[question]]\n"""\n' + ONE,
        [Question("a", (A,), note="[[question]]\n", line=1), Question("a", (A,), line=7)],
    ),
    (
        "q.toml",
        'question = [{question = "a", expected = ["work/名字%20x#20260401T083000~2"]}]\n',
        [Question("a", (C,), line=0)],
    ),
    ("q.jsonl", JSON_ONE, [Question("a", (A,), line=1)]),
    (
        "q.ndjson",
        f"\n{JSON_ONE}\r\n  \n{JSON_ONE}",
        [Question("a", (A,), line=2), Question("a", (A,), line=5)],
    ),
    ("-", JSON_ONE, [Question("a", (A,), line=1)]),
    ("questions", ONE, [Question("a", (A,), line=1)]),
    (
        "q.jsonl",
        '{"now": "2026-04-15T10:00:00Z", "vault": "v"}\n' + JSON_ONE,
        [Question("a", (A,), now=datetime(2026, 4, 15, 10, tzinfo=UTC), line=2)],
    ),
]


@pytest.mark.parametrize(("path", "text", "expected"), GOOD)
def test_a_file_is_read_as_the_questions_it_holds(path: str, text: str, expected: list[Question]) -> None:
    found = questions_in(text, path)
    assert (list(found.questions), found.problems) == (expected, ())
    assert found.vault == ("v" if '"v"' in text else "")


# A fault in one question of two: its line, and words that its message and its remedy hold.
FAULTS = [
    ("q.toml", '[[question]]\nquestion = "b"\n', 1, "lacks `expected`", "[] where nothing answers"),
    ("q.toml", "[[question]]\nexpected = []\n", 1, "lacks `question`", "question ="),
    ("q.toml", '[[question]]\nquestion = "b"\nexpect = []\n', 3, "unknown key `expect`", "`expected`"),
    ("q.toml", '[[question]]\nquestion = "b"\nexpected = []\nzzz = 1\n', 4, "unknown key `zzz`", "note"),
    ("q.toml", '[[question]]\nquestion = " "\nexpected = []\n', 2, "`question` must be", "Correct"),
    ("q.toml", "[[question]]\nquestion = 7\nexpected = []\n", 2, "`question` must be a text", "Correct"),
    ("q.toml", '[[question]]\nquestion = "b"\nexpected = ["s"]\n', 3, "not a ref: 's'", "huimem list"),
    ("q.toml", '[[question]]\nquestion = "b"\nexpected = [""]\n', 3, "not a ref", "huimem list"),
    ("q.toml", '[[question]]\nquestion = "b"\nexpected = [1]\n', 3, "`expected` must be a list of refs", ""),
    ("q.toml", '[[question]]\nquestion = "b"\nnow = "soon"\nexpected = []\n', 3, "`now` must be an ISO", ""),
    ("q.toml", '[[question]]\nquestion = "b"\nexpected = []\nhistory = "c"\n', 4, "`history` must be", ""),
    ("q.toml", '[[question]]\nquestion = "b"\nexpected = []\nkind = 3\n', 4, "`kind` must be a text", ""),
    ("q.jsonl", "{\n", 1, "no JSON", "one object a line"),
    ("q.jsonl", "[1]\n", 1, "no JSON object", "question ="),
    ("q.jsonl", '{"question": "b"}\n', 1, "lacks `expected`", "[]"),
    ("q.jsonl", '{"question": "b", "expected": [], "whem": "x"}\n', 1, "unknown key `whem`", "`when`"),
]


@pytest.mark.parametrize(("path", "fault", "line", "message", "remedy"), FAULTS)
def test_a_fault_costs_its_own_question_only(
    path: str, fault: str, line: int, message: str, remedy: str
) -> None:
    good = ONE if path == "q.toml" else JSON_ONE
    found = questions_in(fault + good, path)
    assert [question.text for question in found.questions] == ["a"]
    (problem,) = found.problems
    assert (problem.path, problem.line) == (path, line)
    assert message in problem.message and remedy in problem.remedy


def test_each_fault_of_a_question_is_named() -> None:
    found = questions_in('[[question]]\nkind = 1\nnow = "x"\n\n' + ONE, "q.toml")
    assert [problem.line for problem in found.problems] == [1, 1, 2, 3]
    assert [question.line for question in found.questions] == [5]


# Files of which nothing can be asked: where, and words of the message.
REFUSED = [
    ("q.toml", 'a = "b\n', "q.toml:1: ", "no TOML"),
    ("q.toml", ONE + "kind = \n", "q.toml:4: ", "no TOML"),
    ("q.toml", ONE + 'note = """\n\n', "q.toml:5: ", "no TOML"),
    ("q.toml", "", "q.toml: ", "no question"),
    ("q.toml", 'now = 2026-04-15\nvault = "v"\n', "q.toml: ", "no question"),
    ("q.toml", 'question = "a"\n', "q.toml: ", "no table"),
    ("q.toml", 'now = "today"\n' + ONE, "q.toml:1: ", "`now` must be"),
    ("q.toml", '[[questions]]\nquestion = "a"\n', "q.toml:1: ", "unknown key `questions`"),
    ("q.jsonl", "", "q.jsonl: ", "no question"),
    ("q.json", f"[{JSON_ONE}]", "q.json:1: ", "no JSON"),
    ("q.jsonl", '\n{"question": "a"}\n', "q.jsonl:2: ", "lacks `expected`"),
]


@pytest.mark.parametrize(("path", "text", "place", "message"), REFUSED)
def test_a_file_of_which_nothing_can_be_asked_is_refused(
    path: str, text: str, place: str, message: str
) -> None:
    with pytest.raises(UsageError) as refused:
        questions_in(text, path)
    assert refused.value.message.startswith(place) and message in refused.value.message
    assert refused.value.hint


@pytest.mark.parametrize("path", sorted((FIXTURES / "recall").glob("*.toml")), ids=lambda path: path.stem)
def test_our_own_sets_have_no_fault(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = questions_in(text, str(path))
    assert found.problems == ()
    assert len(found.questions) == text.count("[[question]]")
    assert (path.parent / found.vault).is_dir()


def outcome(ranks: tuple[int | None, ...], kind: str = "", hits: int = 20) -> Outcome:
    refs = tuple(Ref("", "s", str(number)) for number in range(len(ranks)))
    return Outcome(Question("?", refs, kind), ranks, hits, None)


# Ranks of what is expected, the kind: (any, fraction, all) at 1, 5 and 10, and the reciprocal rank.
SHARES = [
    ((1,), "", (1, 1, 1), (1, 1, 1), (1, 1, 1), 1.0),
    ((4,), "", (0, 0, 0), (1, 1, 1), (1, 1, 1), 1 / 4),
    ((None,), "", (0, 0, 0), (0, 0, 0), (0, 0, 0), 0.0),
    ((11,), "", (0, 0, 0), (0, 0, 0), (0, 0, 0), 1 / 11),
    ((None, 2, 7), "", (0, 0, 0), (1, 1, 1), (1, 1, 1), 1 / 2),
    ((1, 7), "several", (1, 0.5, 0), (1, 0.5, 0), (1, 1, 1), 1.0),
    ((None, 3, 2, None), "several", (0, 0, 0), (1, 0.5, 0), (1, 0.5, 0), 1 / 2),
]


@pytest.mark.parametrize(("ranks", "kind", "at_1", "at_5", "at_10", "reciprocal"), SHARES)
def test_the_figures_of_one_question(
    ranks: tuple[int | None, ...],
    kind: str,
    at_1: tuple[float, ...],
    at_5: tuple[float, ...],
    at_10: tuple[float, ...],
    reciprocal: float,
) -> None:
    found = figures([outcome(ranks, kind)])
    assert (found.recall[1], found.recall[5], found.recall[10]) == (at_1, at_5, at_10)
    assert found.mrr == pytest.approx(reciprocal)


def test_the_figures_of_many_are_means_and_counts() -> None:
    asked = [
        outcome((1,)),
        outcome((2, None), "several"),
        outcome((None,), hits=0),
        outcome((None,)),
        outcome((), hits=0),
        outcome((), hits=3),
        outcome((), hits=0),
    ]
    found = figures(asked)
    assert found.recall[5] == pytest.approx((2 / 4, 1.5 / 4, 1 / 4))
    assert (found.answerable, found.unanswerable, found.abstained, found.refused) == (4, 3, 2, 1)
    assert found.mrr == pytest.approx(1.5 / 4)
    named = found.named()
    assert named["any@5"] == 0.5 and named["recall@5"] == pytest.approx(0.375) and named["all@5"] == 0.25
    assert named["abstention"] == pytest.approx(2 / 3) and named["answered"] == 0.75
    kinds = Evaluation(tuple(asked), (), None, ()).by_kind()
    assert {kind: one.questions for kind, one in kinds.items()} == {"(none)": 6, "several": 1}


def test_what_falls_short() -> None:
    cases = [((5,), "", 9), ((6,), "", 9), ((1, 6), "", 9), ((1, 6), "several", 9), ((), "", 0), ((), "", 1)]
    short = [outcome(ranks, kind, hits).falls_short(5) for ranks, kind, hits in cases]
    assert short == [False, True, False, True, False, True]


def test_a_figure_without_questions_is_none() -> None:
    nothing, unanswered = figures([]), figures([outcome((), hits=0)])
    assert nothing.named() == {} and unanswered.named() == {"abstention": 1.0}
    assert (unanswered.mrr, dict(unanswered.recall)) == (None, {})


# --min, the figures of one question found in the second place: the names below their minimum.
MINIMUMS = [
    ("recall@5=1", []),
    ("recall@1=0.5", ["recall@1"]),
    (" any@1=0.1 , mrr=0.5, ", ["any@1"]),
    ("mrr=0.51,all@3=1,answered=1", ["mrr"]),
    ("", []),
]


@pytest.mark.parametrize(("text", "names"), MINIMUMS)
def test_minimums(text: str, names: list[str]) -> None:
    reached = figures([outcome((2,))])
    assert [one.name for one, _ in below(minimums_in(text), reached)] == names


@pytest.mark.parametrize(
    "text", ["recal@5=0.9", "recall@4=0.9", "recall@5", "mrr=80", "mrr=-1", "mrr=nan", "=1"]
)
def test_a_minimum_that_names_no_figure_or_no_share_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        minimums_in(text)


def test_a_minimum_of_what_was_not_asked_is_refused() -> None:
    with pytest.raises(UsageError, match="no question without an answer"):
        below(minimums_in("abstention=0.5"), figures([outcome((2,))]))
    with pytest.raises(UsageError, match="no question with an answer"):
        below(minimums_in("mrr=0.5"), figures([outcome(())]))


def test_both_forms_of_a_set_hold_the_same() -> None:
    """The sample set, written again as JSON Lines, is the same but for its lines."""
    path = FIXTURES / "recall/sample.toml"
    read = questions_in(path.read_text(encoding="utf-8"), str(path))
    rows = [
        {
            "question": one.text,
            "expected": [str(ref) for ref in one.expected],
            "kind": one.kind,
            "now": one.now.isoformat() if one.now else None,
            **({"namespace": one.namespace} if one.namespace else {}),
        }
        for one in read.questions
    ]
    again = questions_in("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), "sample.jsonl")
    told = [(one.text, one.expected, one.kind, one.now, one.namespace) for one in again.questions]
    assert told == [(one.text, one.expected, one.kind, one.now, one.namespace) for one in read.questions]


def test_what_leaves_nothing_to_ask_names_its_place_as_far_as_it_is_known() -> None:
    with pytest.raises(UsageError, match=r"^q\.toml: `question` must be a text"):
        questions_in("question = [{question = 7, expected = []}]\n", "q.toml")
    with pytest.raises(UsageError, match=r"^q\.toml:2: `question` must be a text"):
        questions_in("[[question]]\nquestion = 7\nexpected = []\n", "q.toml")

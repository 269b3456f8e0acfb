"""Marks, slips and ways of writing, from the question to the hits of a real vault."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from huimem import Memory
from huimem.recall import query as asking
from huimem.recall.query import Options
from huimem.when import resolve
from tests.recall.made import NOW, Talk, evidence, sessions, told

LONG = "Notes on the cellar and what stands in it, shelf by shelf and box by box. " * 7

TALKS: dict[str, Talk] = {
    "red bike": "The red bike stands in the cellar.",
    "bike red": "My bike is in the cellar, the red paint too.",
    "blue bike": "The blue bike was sold with its helmet.",
    "mended": "I mended the Red  Bike and its chain.",
    # One message, two passages; only together do they hold all words.
    "long": f"{LONG}The spare key hangs behind the boiler. {LONG}The garden gate needs oil.",
    "cold": "冷月份用分段索引，热月份用平铺索引。",
    "words": "冷的时候，这个月份的索引要分成几段。",
    "hot pot": "火锅推荐：海鲜锅底，麻辣蘸料。",
    "mild pot": "火锅推荐：番茄锅底，不辣。",
    "running": "I was running along the canal at dawn.",
    "cluster": "We moved Kubernetes to three nodes after the upgrade.",
    "café": "The café by the canal opens at 15:00 on Sundays.",
    "rent": "The rent of the workshop is 1,250 euros a month.",
    "traditional": "資料庫的備份放在檔案室。",
    "bye": "Otto waved and called: see you tomorrow, old friend.",
    "later": "Will I see you? Perhaps tomorrow.",
    "farewell": "他挥挥手说：明天见，路上小心。",
}


@pytest.fixture(scope="module", params=["none", "hashing"])
def memory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    root = tmp_path_factory.mktemp("marks") / "vault"
    with told(root, TALKS, embedder=request.param) as made:
        yield made


def found_in(memory: Memory, question: str) -> set[str]:
    return set(sessions(memory.recall(question, now=NOW, limit=50)))


# Phrases: all sessions that are shown, and no other, however well its words fit.

PHRASES = [
    ('"red bike"', {"red bike", "mended"}),
    ('where is the "red bike" in the cellar', {"red bike", "mended"}),
    ("“Red Bike”", {"red bike", "mended"}),
    ("the « red bike » please", {"red bike", "mended"}),
    ('"ed bike"', set()),
    ('"red bikes"', set()),
    ('"bike red"', set()),
    ('"red bike" "chain"', {"mended"}),
    ('"red bike" "cellar"', {"red bike"}),
    ('the "blue bike" and the "red bike"', set()),
    ("「分段索引」", {"cold"}),
    ('谁说过"冷月份"', {"cold"}),
    ("『索引分段』", set()),
    ("“锅底”怎么选", {"hot pot", "mild pot"}),
    ('"three nodes"', {"cluster"}),
    ('"cafe by the canal"', {"café"}),
    ("“资料库”在哪里", {"traditional"}),
    ('"boiler" "gate"', {"long"}),
    ('"spare key hangs"', {"long"}),
    ('"key garden"', set()),
    ('what about the "red bike?"', {"red bike", "mended"}),
    ('"Red bike," and "chain."', {"mended"}),
    ("“海鲜锅底，”", {"hot pot"}),
]


@pytest.mark.parametrize(("question", "expected"), PHRASES)
def test_a_phrase_is_found_as_it_stands_and_only_so(
    memory: Memory, question: str, expected: set[str]
) -> None:
    assert found_in(memory, question) == expected


@pytest.mark.slow
def test_a_phrase_may_cross_the_border_of_two_passages(tmp_path: Path) -> None:
    """Wherever a message is cut, five words that stand there are a phrase of it."""
    syllables = ("ka", "lo", "mi", "ru", "ze")
    words = ["".join(four) for four in product(syllables, repeat=4)][:200]
    other = " ".join((words[7], words[9], words[8]))
    with told(tmp_path / "vault", {"long": " ".join(words), "other": other}) as made:
        with made.index.snapshot() as snapshot:
            (count,) = snapshot.db.execute("SELECT count(*) FROM chunk").fetchone()
        assert count > 3  # passages of the long one, and the other
        for at in range(195):
            phrase = " ".join(words[at : at + 5])
            assert sessions(made.recall(f'"{phrase}"', now=NOW)) == ["long"], phrase


def test_a_phrase_does_not_cross_from_one_speaker_to_the_next(tmp_path: Path) -> None:
    talks: dict[str, Talk] = {
        "apart": [
            ("user", "Paint it red"),
            ("assistant", "Bike paint is sold out."),
            ("user", "旧的冷"),
            ("assistant", "月份表"),
        ],
        "other": "The spare key is gone.",
    }
    with told(tmp_path / "vault", talks) as made:
        assert made.recall('"paint it red"', now=NOW).hits and made.recall('"bike paint"', now=NOW).hits
        assert made.recall('"red bike"', now=NOW).hits == ()
        assert made.recall("“冷月份”", now=NOW).hits == ()
        # Two phrases may stand at two speakers of one turn.
        assert made.recall('"paint it" "sold out"', now=NOW).hits
        assert set(sessions(made.recall('paint -"red bike"', now=NOW))) == {"apart"}


def test_what_does_not_fit_does_not_crowd_out_what_does(tmp_path: Path) -> None:
    """A hundred and more fit the words better; what is asked for comes after them."""
    talks = {f"red-{at:03}": f"The bike {at} is red." for at in range(105)}
    talks |= {
        "blue": "The bike that my neighbour lent me for the long tour along the river is blue, not green."
    }
    with told(tmp_path / "vault", talks) as made:
        assert sessions(made.recall("bike -red", now=NOW)) == ["blue"]
        assert sessions(made.recall('bike "lent me"', now=NOW)) == ["blue"]
        assert sessions(made.recall('bike is red "the river"', now=NOW)) == ["blue"]


# Words that may not stand there

EXCLUDED = [
    ("bike -red", {"blue bike"}),
    ("bike -blue", {"red bike", "bike red", "mended"}),
    ("bike -helmets", {"red bike", "bike red", "mended"}),
    ("canal -run", {"café"}),
    ('bike -"red bike"', {"bike red", "blue bike"}),
    ("火锅推荐 -海鲜", {"mild pot"}),
    ("火锅推荐 -“海鲜锅底”", {"mild pot"}),
    ('"red bike" -chain', {"red bike"}),
    ("cellar bike -boiler -paint", {"red bike"}),
]


@pytest.mark.parametrize(("question", "expected"), EXCLUDED)
def test_what_is_excluded_is_not_shown(memory: Memory, question: str, expected: set[str]) -> None:
    candidates = {"red bike", "bike red", "blue bike", "mended", "long", "hot pot", "mild pot"}
    candidates |= {"running", "café"}
    asked = question.split()[0].strip('"')
    shown = found_in(memory, question)
    assert expected <= shown
    if memory.config.embedder == "none":
        # What shares no word with the question is not found by words alone.
        assert {name for name in shown & candidates if asked[:2] in str(TALKS[name]).lower()} == expected
    for name in shown:
        for word in ("red", "blue", "海鲜", "chain", "boiler"):
            if f"-{word}" in question.split():
                assert word not in str(TALKS[name]).lower().split()


# Slips and ways of writing: the first hit.

WRITTEN = [
    ("kuberntes nodes", "cluster"),
    ("kubernetse", "cluster"),
    ("KUBERNETES", "cluster"),
    ("the rent of the workshpo", "rent"),
    ("rent 1250", "rent"),
    ("rent 1 250", "rent"),
    ("１２５０ euros", "rent"),
    ("资料库备份", "traditional"),
    ("資料庫備份", "traditional"),
    ("ran along the canal", "running"),
    ("bicycle helmets sold", "blue bike"),
]


@pytest.mark.parametrize(("question", "first"), WRITTEN)
def test_however_it_is_written(memory: Memory, question: str, first: str) -> None:
    assert sessions(memory.recall(question, now=NOW))[0] == first


def test_a_corrected_word_says_what_it_was_taken_for(memory: Memory) -> None:
    (hit, *_) = memory.recall("kuberntes nodes", now=NOW).hits
    assert "kuberntes→kubernet" in hit.explain()


# Time words in quotes are what somebody said.

QUOTED = [
    ('who said "see you tomorrow"?', {"bye"}),
    ("who said “see you tomorrow”", {"bye"}),
    ("谁说过“明天见”", {"farewell"}),
    ("「明天见」是谁说的？", {"farewell"}),
]


@pytest.mark.parametrize(("question", "expected"), QUOTED)
def test_time_words_in_quotes_are_searched_for(memory: Memory, question: str, expected: set[str]) -> None:
    found = memory.recall(question, now=NOW, limit=50)
    assert set(sessions(found)) == expected
    assert found.query.during == () and found.readings == ()


# question, its phrases, what limits it
QUOTES = [
    ('the "see you tomorrow" card from last week', ["see you tomorrow"], ["from last week"]),
    ('"last Monday" was the title', ["last Monday"], []),
    ('notes -"last week"', [], []),
    ("昨天谁说“明天见”", ["明天见"], ["昨天"]),
    ("『去年夏天』这首歌", ["去年夏天"], []),
    ('"errors on 2026-04-07" in the log', ["errors on 2026-04-07"], []),
    ('"see you" tomorrow "bye"', ["see you", "bye"], ["tomorrow"]),
    # Handed over in quotes as a whole: no quotation.
    ('"what did Otto say yesterday?"', [], ["yesterday"]),
    ("“昨天他说了什么关于自行车？”", [], ["昨天"]),
    (' "what did Otto say yesterday?" ', [], ["yesterday"]),
]


@pytest.mark.parametrize(("question", "phrases", "limits"), QUOTES)
def test_quotes_and_time(question: str, phrases: list[str], limits: list[str]) -> None:
    made = asking.make(question, Options(), NOW, resolve)
    readings = made.resolution.readings if made.resolution else ()
    assert [made.asked[slice(*reading.span)] for reading in readings] == limits
    assert made.query.phrases == tuple(phrases)
    assert len(made.query.during) == len(limits)


@pytest.mark.parametrize(
    ("question", "latest"),
    [("the rent now", True), ("the rent -now", False), ("现在的房租", True), ('房租 -"现在"', False)],
)
def test_what_is_shut_out_asks_for_nothing(question: str, latest: bool) -> None:
    assert asking.make(question, Options(), NOW, resolve).query.latest == latest


def test_another_time_does_not_hide_time_words_in_quotes() -> None:
    made = asking.make('who said "see you tomorrow" yesterday', Options(when="last week"), NOW, resolve)
    assert made.query.phrases == ("see you tomorrow",)
    assert "tomorrow" in made.query.terms and "yesterday" not in made.query.terms


def test_a_phrase_of_ordinary_words_with_a_time_is_still_searched_for(tmp_path: Path) -> None:
    """What frames a question about a time is, in quotes, something that was said."""
    talks = {"said": "She asked: what else is new, and laughed.", "other": "The fence is green."}
    with told(tmp_path / "vault", talks) as made:
        found = made.recall('"what else is new" this week', now=NOW)
        assert all("what else is new" in text for text in evidence(found))
        found = made.recall('"anything happened" this week', now=NOW)
        assert found.hits == ()

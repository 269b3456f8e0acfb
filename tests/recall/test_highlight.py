"""The sentence that answers: told by the question's words, and shown wherever a hit is shown."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from huimem import Memory
from huimem.recall.highlight import NONE, highlighted
from huimem.surfaces.cli.hits import Shown, render_hits
from huimem.surfaces.cli.look import Look
from huimem.surfaces.documents import Asked, recall_document
from huimem.surfaces.mcp.recalling import hit_documents
from tests.recall.made import NOW, ZONE, Talk, told

KETTLE, LID = {"kettl": 1.0}, {"lid": 1.0}
# A passage, what its question's words weigh, its phrases, and the sentence that is seen of it.
SENTENCES: list[tuple[str, dict[str, float], tuple[str, ...], str]] = [
    ("One kettle. A red kettle, and a lid. The lid.", KETTLE | LID, (), "A red kettle, and a lid."),
    ("The lid. The kettle. The lid.", {"kettl": 2.0, **LID}, (), "The kettle."),
    ("The lid is here. The lid was there.", LID, (), "The lid is here."),
    ("The lid is here. It was red.", KETTLE, (), ""),
    ("", KETTLE, (), ""),
    ("先烧水。茶壶在架上。", {"茶壶": 1.0}, (), "茶壶在架上。"),
    ("| a | 1 |\n| b | 2 |\n| c | 3 |", {"b": 1.0}, (), "| b | 2 |"),
    # What is quoted goes before any number of words.
    ("Red lid, red kettle. The lid is red.", KETTLE | {"red": 1.0}, ("lid is red",), "The lid is red."),
    # Of a sentence that is too long to be shown, the part.
    ("so " * 60 + "the kettle hangs there.", KETTLE, (), "so " * 20 + "the kettle hangs there."),
]


@pytest.mark.parametrize(("text", "weights", "phrases", "seen"), SENTENCES)
def test_the_sentence_with_most_of_the_words_is_seen(
    text: str, weights: dict[str, float], phrases: tuple[str, ...], seen: str
) -> None:
    start, end = highlighted(text, weights, phrases)
    assert text[start:end].strip() == seen
    assert seen or (start, end) == NONE


GREENHOUSE = (
    "When you set up the greenhouse this spring, begin with the frame and let it settle for a week before "
    "the glass goes in. Then run the irrigation hose along the north wall and fasten it every half metre. "
    "The fan belongs opposite the door so that air moves along the beds and not across them. Keep the "
    "shelves low at first. The thermostat code is marmalade-seven, write it on the lid of the fuse box."
)
THINGS = ["boots", "socks", "poles", "tent", "stove", "gas", "spoon", "torch", "whistle", "compass", "map"]
TOWNS = "| town | people |\n|---|---|\n" + "\n".join(f"| Oak{n} | {3000 + 37 * n} |" for n in range(90))
PORTS = "```yaml\n" + "\n".join(f"setting_{n}: {n * 7}" for n in range(40)) + "\nkeepalive: 75\n```"
PRACTICE = "先把手放松。" * 30 + "节拍器每周加四拍。" + "再休息一会儿。" * 30
TALKS: dict[str, Talk] = {
    "greenhouse": [("user", "How do I set it up?"), ("assistant", GREENHOUSE)],
    "packing": [("user", "What do I pack?"), ("assistant", "\n".join(f"- {thing}" for thing in THINGS))],
    "towns": [("user", "List them."), ("assistant", TOWNS)],
    "ports": [("user", "Show the file."), ("assistant", PORTS)],
    "unbroken": [("user", "And the log?"), ("assistant", "x1" * 700 + " saffron " + "y2" * 700)],
    "practice": [("user", "怎么练琴？"), ("assistant", PRACTICE)],
    "phrase": "The mirrors of the image registry are listed weekly. " * 12 + "The newest is hazel-runtime.",
    "commented": "<!-- spare fuse spare fuse -->\nIn the shed. The spare fuse lies in the biscuit tin. ^f1",
}

# A question, and what must be seen of its first hit.
SEEN = [
    ("thermostat code", "marmalade-seven"),
    ("where do I note the thermostat code", "marmalade-seven"),
    ("compass map", "compass"),
    ("Oak77", "Oak77"),
    ("keepalive setting", "keepalive: 75"),
    ("saffron", "saffron"),
    ("节拍器加多少", "节拍器每周加四拍"),
    ("spare fuse", "biscuit tin"),
    ('"hazel-runtime" mirrors of the image registry', "hazel-runtime"),
]


@pytest.fixture(scope="module", params=["none", "hashing"])
def memory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with told(tmp_path_factory.mktemp("seen") / "vault", TALKS, embedder=request.param) as made:
        yield made


@pytest.mark.parametrize(("question", "seen"), SEEN)
def test_what_answers_is_seen_in_every_form(memory: Memory, question: str, seen: str) -> None:
    found = memory.recall(question, now=NOW, limit=1)
    (hit,) = found.hits
    start, end = hit.highlight
    assert seen in hit.evidence[start:end]
    asked, look = Asked(question, ZONE), Look(ZONE, NOW, memory.vault.root)
    assert _joined(seen) in _joined(render_hits(found, Shown(asked, look)))
    (document,) = recall_document(found, asked)["hits"]
    assert seen in document["text"]
    for hits in (1, 5, 40):  # the more there are, the less of each is shown
        assert seen in str(hit_documents(found.hits * hits, asked)[0]["text"])


@pytest.mark.parametrize(("question", "seen"), SEEN)
@pytest.mark.parametrize("budget", [40, 60, 100, 300, None])
def test_a_budget_is_spent_on_what_answers_first(
    memory: Memory, question: str, seen: str, budget: int | None
) -> None:
    found = memory.recall(question, now=NOW, limit=1, budget=budget, context=0 if budget else 1)
    if found.passages:
        assert seen in "\n".join(passage.text for passage in found.passages)
    else:
        assert budget and "does not fit" in "".join(found.warnings)


def _joined(text: str) -> str:
    """The text without the blanks of its lines, which were wrapped."""
    return "".join(text.split())

"""How much of a text asks."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from huimem.index.asking import asking

TABLE = Path(__file__).parents[2] / "fixtures" / "asking.tsv"
ROWS = [
    row.split("\t") for row in TABLE.read_text(encoding="utf-8").splitlines()[1:] if not row.startswith("# ")
]


@pytest.mark.parametrize(("share", "text"), ROWS, ids=[text or "nothing" for _, text in ROWS])
def test_the_share_of_a_text_that_asks(share: str, text: str) -> None:
    assert asking(text.replace("\\n", "\n")) == float(share)


@given(st.text(st.one_of(st.characters(), st.sampled_from("what is 吗呢？?。.\n`> "))), st.text("> `~\n ?a"))
def test_a_share_is_a_share(text: str, more: str) -> None:
    assert 0 <= asking(text + more) <= 1


def test_a_question_is_found_among_much_that_is_told() -> None:
    told = "The bus was late again. " * 30
    assert asking(f"{told}Who drove it?") == pytest.approx(13 / (30 * 23 + 13))


def test_a_long_line_without_a_stop_tells_though_it_begins_as_a_question() -> None:
    assert asking("what you need " + "is time and a little luck and " * 4) == 0

"""One grammar serves all threads of a process for as long as it lives."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from huimem.when import grammar as rewriting
from huimem.when import language, sentences
from huimem.when.chinese import CHINESE
from huimem.when.english import ENGLISH
from huimem.when.figures import _pieces
from huimem.when.iso import ISO
from huimem.when.language import Found, Grammar
from tests.when.tables import cases

LANGUAGES = (ISO, ENGLISH, CHINESE)
QUESTIONS = [case.text for name in ("english", "chinese") for case in cases(name)[::20]]
THREADS = 6


@pytest.fixture
def many_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def read(grammar: Grammar) -> list[list[Found]]:
    return [grammar.expressions(grammar.normal(text)) for text in QUESTIONS]


def test_threads_that_ask_at_once_read_what_one_alone_reads(many_switches: None) -> None:
    """The first questions grow the trees of rules: nobody may see one that is half grown."""
    alone = read(Grammar(LANGUAGES))
    for _ in range(4):
        shared, gate = Grammar(LANGUAGES), Barrier(THREADS)

        def ask(grammar: Grammar = shared, gate: Barrier = gate) -> list[list[Found]]:
            gate.wait()
            return read(grammar)

        with ThreadPoolExecutor(THREADS) as pool:
            asked = [pool.submit(ask) for _ in range(THREADS)]
        assert all(one.result() == alone for one in asked)
        assert read(shared) == alone


def test_what_is_remembered_of_texts_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "MOST_REMEMBERED", 10)
    monkeypatch.setattr(rewriting, "MOST_KNOWN", 20)
    monkeypatch.setattr(sentences, "_MOST_KEPT", 15)
    grammar = Grammar(LANGUAGES)
    for place in range(30):
        grammar.expressions(f"on march {place + 1} and {place} days ago, {'last week ' * place}")
    grammar.expressions("monday" + " " * 5_000 + "tuesday")
    assert 0 < len(grammar._parsed) <= 10
    assert 0 < len(grammar._ladder._known) <= 20
    assert 0 < len(grammar._reader._sorts) <= 15
    assert all(len(piece) <= sentences._LONGEST_KEPT for piece in grammar._reader._sorts)
    assert all(len(text) <= language.LONGEST_REMEMBERED for text, *_ in grammar._parsed)


def test_long_figures_are_not_remembered() -> None:
    before = _pieces.cache_info().currsize
    Grammar(LANGUAGES).expressions("on monday " + "1-" * 500)
    assert _pieces.cache_info().currsize == before

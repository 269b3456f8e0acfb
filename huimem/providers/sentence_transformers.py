"""Any model of the sentence-transformers library, by hub id or folder.

In: texts. Out: float32 unit vectors. A folder is loaded without touching the network, a hub id too
once it has been downloaded. The library and the model are loaded at the first call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from huimem.errors import ConfigError, MissingExtra
from huimem.providers.library import INSTALL, folder_of, loaded, require_library
from huimem.providers.well_formed import well_formed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Characters read of one text: what a model with a window of 8,192 tokens can see of English.
LIMIT = 32_768
_EXAMPLE = "Write a hub id or a folder: sentence-transformers:intfloat/multilingual-e5-small"
_WEIGHTS = (".safetensors", ".bin")
_SETTINGS = (".json", ".txt", ".model")
_SAMPLE = 1 << 16
# Parts of a model that are told nothing but numbers by their settings.
_PLAIN_MODULE = re.compile(r"sentence_transformers\.([a-z_]+\.)+(Transformer|Pooling|Normalize)")


@dataclass(frozen=True, slots=True)
class Prefixes:
    """What a model was trained to see before a question and before a passage."""

    query: str
    passage: str

    def __str__(self) -> str:
        return f"{self.query.strip()}/{self.passage.strip()}"


# From the model cards; tried in this order against the model's name.
_TRAINED_WITH = (
    (
        re.compile(r"(^|[-_/])e5([-_].*)?-instruct$", re.I),
        Prefixes("Instruct: Given a question, retrieve passages that answer it\nQuery: ", ""),
    ),
    (re.compile(r"(^|[-_/])e5([-_]|$)", re.I), Prefixes("query: ", "passage: ")),
    (
        re.compile(r"(^|[-_/])bge-(small|base|large)-en(-|$)", re.I),
        Prefixes("Represent this sentence for searching relevant passages: ", ""),
    ),
    (
        re.compile(r"(^|[-_/])bge-(small|base|large)-zh(-|$)", re.I),
        Prefixes("为这个句子生成表示以用于检索相关文章：", ""),
    ),
)


class SentenceTransformersEmbedder:
    """A model with the prefixes it was trained with (E5, BGE), else with the prompts it declares itself.

    `model`: a hub id or a folder. The name holds the hub id, or a fingerprint of what lies in the
    folder, and the prefixes; so a moved folder stays the same embedder and a changed one does not.
    `dim` is 0 until the first call. `foreign`: the model is named by somebody else's data, so it must be
    on this disk already and hold no code. Raises MissingExtra without the library, ConfigError for a
    model that is not there; what cannot be known before loading is raised by `embed`.
    """

    def __init__(self, model: str = "", *, foreign: bool = False) -> None:
        require_library()
        self._folder = folder_of(model, _EXAMPLE)
        self._foreign = foreign
        if foreign:
            check_harmless(model, self._folder)
        self._model_id = model
        self._prefixes = prefixes(*((model,) if self._folder is None else _names(self._folder)))
        identity = model if self._folder is None else f"local:{fingerprint(self._folder)}"
        self.name = f"sentence-transformers/{identity} {self._prefixes or 'own prompts'}"
        self.dim = 0
        self._model: Any = None
        self._lock = Lock()

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> NDArray[np.float32]:
        """float32 [len(texts), dim], L2-normalised; a row varies by rounding alone from batch to batch."""
        import numpy as np

        with self._lock:  # the tokenizers refuse to be used by two threads at once
            if self._model is None:
                self._model = self._load()
            encode = self._model.encode_query if as_query else self._model.encode_document
            rows = encode(
                [self._prepared(text, as_query) for text in texts],
                prompt=None if self._prefixes is None else "",
                normalize_embeddings=True,
                show_progress_bar=False,
            )
        found: NDArray[np.float32] = np.asarray(rows, dtype=np.float32).reshape(len(texts), self.dim)
        return found

    def _prepared(self, text: str, as_query: bool) -> str:
        clean = well_formed(text, LIMIT)
        if self._prefixes is None:
            return clean
        return (self._prefixes.query if as_query else self._prefixes.passage) + clean

    def _load(self) -> Any:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as fault:
            raise MissingExtra(f"sentence-transformers does not start: {fault}", INSTALL) from fault
        model = loaded(SentenceTransformer, self._model_id, self._folder, _EXAMPLE, fetch=not self._foreign)
        self.dim = len(model.encode("", show_progress_bar=False))
        return model


def prefixes(*names: str) -> Prefixes | None:
    """Prefixes of the first rule that one of a model's names meets; None leaves it to the model."""
    return next((found for rule, found in _TRAINED_WITH if any(map(rule.search, names))), None)


def fingerprint(folder: Path) -> str:
    """Digest of a model's contents: settings in full, weights by size and both ends (64 KiB each).

    Raises ConfigError for a file that cannot be read.
    """
    digest = blake2b(digest_size=8)
    try:
        for path in sorted(path for path in folder.rglob("*") if path.suffix in (*_WEIGHTS, *_SETTINGS)):
            if path.is_file():
                digest.update(f"{path.relative_to(folder).as_posix()}\0{path.stat().st_size}\0".encode())
                digest.update(path.read_bytes() if path.suffix in _SETTINGS else _ends(path))
    except OSError as fault:
        raise ConfigError(f"the model in {folder} cannot be read: {fault}", _EXAMPLE) from fault
    return digest.hexdigest()


def _ends(path: Path) -> bytes:
    with path.open("rb") as file:
        first = file.read(_SAMPLE)
        file.seek(max(path.stat().st_size - _SAMPLE, 0))
        return first + file.read(_SAMPLE)


def check_harmless(model: str, folder: Path | None) -> None:
    """Raise ConfigError unless a model lies on this disk, and in a folder as nothing but data.

    The library runs code that lies in a model's folder, though never code from the hub unless asked.
    """
    if folder is None:
        if not _is_cached(model):
            raise ConfigError(f"the model {model} is not on this disk", _EXAMPLE)
    elif not (_has_plain_modules(folder) and any(folder.glob("*.safetensors"))) or any(folder.rglob("*.py")):
        raise ConfigError(f"the model in {folder} may hold code", _EXAMPLE)


def _has_plain_modules(folder: Path) -> bool:
    """Whether a model is made of nothing but the library's own simplest parts."""
    try:
        modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
        return all(_PLAIN_MODULE.fullmatch(module["type"]) for module in modules)
    except FileNotFoundError:
        return True  # then the library takes the parts itself
    except (OSError, ValueError, TypeError, KeyError):
        return False


def _is_cached(model: str) -> bool:
    """Whether the hub's cache holds a model; the library knows its own ones by their last name too."""
    from huggingface_hub import try_to_load_from_cache

    names = [model] if "/" in model else [model, f"sentence-transformers/{model}"]
    try:
        return any(isinstance(try_to_load_from_cache(name, "config.json"), str) for name in names)
    except ValueError:  # what the hub takes for no name at all
        return False


def _names(folder: Path) -> tuple[str, ...]:
    """What a folder's model may be called: the folder, the hub cache's folder above, its own settings."""
    cached = folder.parent.parent.name.replace("--", "/") if folder.parent.name == "snapshots" else ""
    try:
        settings = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        own = settings.get("_name_or_path", "") if isinstance(settings, dict) else ""
    except (OSError, ValueError):
        own = ""
    return tuple(name for name in (folder.name, cached, str(own)) if name)

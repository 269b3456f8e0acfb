"""Any cross-encoder of the sentence-transformers library, by hub id or folder.

In: a question and texts. Out: one raw logit a text, higher is nearer. A cross-encoder reads a question
and a text together, so it judges better than vectors, and has to read all texts anew for each question.
The library and the model are loaded at the first call, once; a folder without touching the network.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any

from huimem.errors import ConfigError, HuimemError, MissingExtra
from huimem.providers.library import INSTALL, folder_of, loaded, require_library
from huimem.providers.well_formed import well_formed

# Characters read of one text: what a model with a window of 8,192 tokens can see of English.
LIMIT = 32_768
_EXAMPLE = "Write a hub id or a folder of a cross-encoder: sentence-transformers:BAAI/bge-reranker-v2-m3"
# Kinds of model that were trained to score: others get a head of random numbers from the library.
_SCORING = ("ForSequenceClassification", "ForCausalLM")


class CrossEncoderReranker:
    """A cross-encoder with one output.

    `CrossEncoder.predict` puts the model's own activation on its logit: the one its settings name (none
    for most ms-marco models), else a sigmoid for a model of one output (BAAI's rerankers). Here none is
    put on, so that `score` gives the logit of every model alike, and its sigmoid is the model's
    probability whatever the settings say.

    `model`: a hub id or a folder. Threads may share it. Raises MissingExtra without the library,
    ConfigError for a model that is not there; what cannot be known before loading is raised by `score`,
    again at each call without trying again.
    """

    def __init__(self, model: str = "") -> None:
        require_library()
        self._folder = folder_of(model, _EXAMPLE)
        self._model_id = model
        self._model: Any = None
        self._fault: HuimemError | None = None
        self._lock = Lock()

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """One logit a text: any number, 0 is even odds. Both are cut where the model's window ends."""
        if not texts:
            return []
        asked = well_formed(question, LIMIT)
        pairs = [(asked, well_formed(text, LIMIT)) for text in texts]
        with self._lock:  # the tokenizers refuse to be used by two threads at once
            model = self._ready()
            rows = model.predict(pairs, activation_fn=_as_it_is, show_progress_bar=False)
        if rows.ndim != 1:
            raise ConfigError(f"the model {self._model_id} gives {rows.shape[1]} numbers a text", _EXAMPLE)
        return [float(row) for row in rows]

    def _ready(self) -> Any:
        """The model, loaded once; a fault of loading is as lasting, since a hub may be slow to say no."""
        if self._fault is not None:
            raise type(self._fault)(self._fault.message, self._fault.hint)
        if self._model is None:
            try:
                self._model = self._load()
            except HuimemError as fault:
                self._fault = fault
                raise
        return self._model

    def _load(self) -> Any:
        try:
            from sentence_transformers import CrossEncoder
        except ImportError as fault:
            raise MissingExtra(f"sentence-transformers does not start: {fault}", INSTALL) from fault
        model = loaded(CrossEncoder, self._model_id, self._folder, _EXAMPLE, fetch=True)
        if not _scores(model):
            raise ConfigError(f"the model {self._model_id} is no cross-encoder: it cannot score", _EXAMPLE)
        return model


def _as_it_is(logits: Any) -> Any:
    return logits


def _scores(model: Any) -> bool:
    """Whether a model was trained to score, by what its settings call it, or has a part that does."""
    kinds = getattr(model.config, "architectures", None) or ()
    return any(kind.endswith(_SCORING) for kind in kinds) or sum(1 for _ in model.children()) > 1

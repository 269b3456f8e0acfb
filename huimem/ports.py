"""The sockets: what a foreign part must offer to take the place of a built-in one. All synchronous."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@runtime_checkable
class Embedder(Protocol):
    """Texts → unit vectors.

    `name` identifies model and prefixes and is part of the index: two embedders whose vectors must
    not be mixed differ in it. `dim` may be 0 until the first call of a model that is loaded late.
    """

    name: str
    dim: int

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> NDArray[np.float32]:
        """float32 [len(texts), dim], L2-normalised; the same text gives the same row in any batch.

        It may be called from several threads at once: a question does not wait for passages.
        """
        ...


class Reranker(Protocol):
    """Scores texts against a question; higher is nearer, any scale.

    One whose numbers are probabilities says so by `probabilities = True`; all others go through a sigmoid.
    """

    def score(self, question: str, texts: Sequence[str]) -> list[float]: ...


class LLM(Protocol):
    """Chat messages in, one text out; `schema` asks for JSON of that shape."""

    def complete(
        self, messages: Sequence[dict[str, str]], schema: dict[str, object] | None = None
    ) -> str: ...

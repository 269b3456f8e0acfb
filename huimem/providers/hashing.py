"""Words → vectors by hashing: no model, the same vectors on every machine. For tests and trials.

In: texts. Out: float32 unit vectors whose inner product grows with the words and letters two texts share.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING

from huimem.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_HAN = r"\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_RUN = re.compile(rf"(?P<han>[{_HAN}]+)|(?P<word>[^\W_{_HAN}]+)")
_TRIGRAM_WEIGHT = 0.3


class HashingEmbedder:
    """Signed feature hashing of words, letter trigrams, Chinese characters and their bigrams.

    `size`: the dimension, 8 to 65536. Raises ConfigError for anything else.
    """

    def __init__(self, size: str = "256") -> None:
        if not re.fullmatch("[0-9]{1,5}", size) or not 8 <= int(size) <= 65536:
            raise ConfigError(
                f"hashing:{size} is no dimension",
                "Write a whole number from 8 to 65536, such as hashing:256.",
            )
        self.dim = int(size)
        self.name = f"hashing/{self.dim}@1"

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> NDArray[np.float32]:
        """float32 [len(texts), dim], L2-normalised; `as_query` changes nothing."""
        import numpy as np

        rows = np.array([self._row(text) for text in texts], dtype=np.float32).reshape(len(texts), self.dim)
        unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    def _row(self, text: str) -> list[float]:
        row = [0.0] * self.dim
        for feature, weight in _features(text):
            hashed = _hash(feature)
            row[(hashed >> 1) % self.dim] += weight if hashed & 1 else -weight
        if not any(row):  # no words, or words that cancel out
            row[0] = 1.0
        return row


@lru_cache(maxsize=1 << 16)
def _hash(feature: str) -> int:
    return int.from_bytes(blake2b(feature.encode("utf-8", "replace"), digest_size=8).digest())


def _features(text: str) -> Iterator[tuple[str, float]]:
    """Features with their weights; the letter before the colon keeps their sorts apart."""
    for run in _RUN.finditer(text.casefold()):
        if run.lastgroup == "han":
            yield from ((f"h:{character}", 1.0) for character in run[0])
            yield from ((f"b:{a}{b}", 1.0) for a, b in pairwise(run[0]))
        else:
            yield f"w:{run[0]}", 1.0
            padded = f"^{run[0]}$"
            yield from ((f"t:{padded[i : i + 3]}", _TRIGRAM_WEIGHT) for i in range(len(padded) - 2))

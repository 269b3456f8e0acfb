"""A question → its vector, begun while something else is waited for.

In: an embedder and texts. Out: a `Meaning`. A compiled engine computes while the calling thread lists the
files, which is most of what a question to thousands of files costs.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING

from huimem.index.calibrate import Scale
from huimem.ports import Embedder
from huimem.yielding import beside_another

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LEAVING = 0.05  # seconds that a question waits for what it came to need no more

Beside = Sequence[tuple[str, float]]  # texts that take part in a question, with their shares of it


@dataclass(frozen=True, slots=True)
class Meaning:
    """A question's vector, float32 [dim], its script, and the embedder that made it with its scale."""

    embedder: str
    vector: NDArray[np.float32]
    scale: Scale
    script: str


@dataclass(frozen=True, slots=True)
class Timed:
    """Vectors of a question's texts, float32 [texts, dim], and the seconds that the embedder took."""

    vectors: NDArray[np.float32]
    seconds: float


@dataclass(frozen=True, slots=True)
class Ahead:
    """Vectors of a question's texts, being made in a thread."""

    embedder: Embedder
    texts: tuple[str, ...]
    made: Future[Timed]


@contextmanager
def ahead(embedder: Embedder, text: str, beside: Beside) -> Iterator[Ahead | None]:
    """The vectors of a question by `embedder`, made while the block runs; None: no thread is to be had.

    At its end nothing goes on, but for what nobody wanted and an embedder is slow to make.
    """
    begun = Ahead(embedder, _texts(text, beside), Future())
    thread = Thread(target=_make, args=(begun,), name="huimem-question", daemon=True)
    try:
        thread.start()
    except RuntimeError:  # the system has no more of them
        yield None
        return
    try:
        yield begun
    finally:
        thread.join(LEAVING)


def _make(begun: Ahead) -> None:
    try:
        with beside_another():
            begun.made.set_result(_timed(begun.embedder, begun.texts))
    except BaseException as fault:
        begun.made.set_exception(fault)


def _timed(embedder: Embedder, texts: tuple[str, ...]) -> Timed:
    start = time.monotonic()
    vectors = embedder.embed(texts, as_query=True)
    return Timed(vectors, time.monotonic() - start)


def vectors_of(embedder: Embedder, text: str, beside: Beside, begun: Ahead | None) -> Timed:
    """Vectors of a question and of what is beside it: what was begun, if it is of these.

    Raises what `embed` raises.
    """
    texts = _texts(text, beside)
    if begun is not None and begun.embedder is embedder and begun.texts == texts:
        return begun.made.result()
    return _timed(embedder, texts)


def blended(vectors: NDArray[np.float32], shares: Sequence[float]) -> NDArray[np.float32]:
    """The first of `vectors` [n + 1, dim] with the others in their `shares` [n]: a unit vector."""
    import numpy as np

    whole: NDArray[np.float32] = vectors[0]
    if not shares:
        return whole
    whole = whole * np.float32(1.0 - sum(shares))
    for vector, share in zip(vectors[1:], shares, strict=True):
        whole = whole + np.float32(share) * vector
    length = np.float32(np.linalg.norm(whole))
    return whole / length if length > 1e-6 else vectors[0]


def _texts(text: str, beside: Beside) -> tuple[str, ...]:
    return (text, *(one for one, _ in beside))

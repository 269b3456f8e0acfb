"""New files made in threads: the disk works on one while the next conversation is read.

In: paths, bytes, and what is to follow when a file stands. Out: durable files; errors come up when the
file is waited for, at the latest at the end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from huimem import files
from huimem.errors import Conflict

THREADS = 2  # a disk takes several writes in the time of one
MOST = 32  # files that are on their way


@dataclass(frozen=True, slots=True)
class _Made:
    """A file on its way; `done` follows when it stands, `taken` where another program has the name."""

    file: Future[None]
    done: Callable[[], None]
    taken: Callable[[], object]


@dataclass(slots=True)
class Behind:
    """Makes files behind the back of one thread, which must `settle` at the end."""

    _pool: ThreadPoolExecutor | None = None
    _on_their_way: deque[_Made] = field(default_factory=deque)

    def create(
        self, path: Path, data: bytes, within: Path, *, done: Callable[[], None], taken: Callable[[], object]
    ) -> None:
        """Begin to make a file; may wait for earlier ones. Raises WriteFailed for one of those."""
        self._pool = self._pool or ThreadPoolExecutor(THREADS, "huimem-files")
        file = self._pool.submit(files.create, path, data, within=within)
        self._on_their_way.append(_Made(file, done, taken))
        self.settle(MOST)

    def settle(self, most: int = 0) -> None:
        """Wait until at most so many are on their way. Raises WriteFailed where one could not be made,
        once all others are."""
        failure: Exception | None = None
        while len(self._on_their_way) > (0 if failure else most):
            made = self._on_their_way.popleft()
            try:
                made.file.result()
            except Conflict:
                made.taken()
            except Exception as error:
                failure = failure or error
            else:
                made.done()
        if self._pool is not None and not self._on_their_way:
            self._pool.shutdown()
            self._pool = None
        if failure is not None:
            raise failure

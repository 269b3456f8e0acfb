"""Work on an index that others damage in the middle of it → the same work once more on a mended one.

In: a method that takes an index. Out: the method as it is to be called: it raises errors with a remedy
and nothing that SQLite, or a missing file, says by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from huimem.index.disk import Meddled, sheltered

P = ParamSpec("P")
T = TypeVar("T")


class Mendable(Protocol):
    """What stands in `folder` and can be mended, waiting `wait` seconds for others; `thorough`: all of it."""

    folder: Path

    def mend(self, wait: float, *, thorough: bool = False) -> None: ...


M = TypeVar("M", bound=Mendable)


def mending(work: Callable[Concatenate[M, P], T]) -> Callable[Concatenate[M, P], T]:
    """Where others damage the index in the middle of `work`, mend it and do it once more."""

    @wraps(work)
    def tried(index: M, /, *args: P.args, **keywords: P.kwargs) -> T:
        try:
            with sheltered(index.folder):
                return work(index, *args, **keywords)
        except Meddled:
            with sheltered(index.folder):
                index.mend(10.0, thorough=True)
                return work(index, *args, **keywords)

    return tried

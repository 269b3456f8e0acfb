"""A function that gives bytes → a stream of them, read ahead in large pieces."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import BinaryIO, cast

AHEAD = 1 << 20


def stream(take: Callable[[int], bytes], close: Callable[[], None] = lambda: None) -> BinaryIO:
    """The bytes that `take` gives, at most so many at a time and none at the end; `close` follows once."""
    return cast(BinaryIO, io.BufferedReader(_Taken(take, close), AHEAD))


class _Taken(io.RawIOBase):
    def __init__(self, take: Callable[[int], bytes], close: Callable[[], None]) -> None:
        self._take, self._let_go = take, close

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        data = self._take(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._let_go()
        super().close()

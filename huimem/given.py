"""What a program hands over where several of a kind are expected → a tuple of them.

A text is itself a sequence, of letters: one alone is one of several, never taken apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from huimem.errors import UsageError


def several(name: str, given: object, kinds: tuple[type, ...], hint: str) -> tuple[Any, ...]:
    """`given` as a tuple: one of the `kinds` alone is a list of one, None an empty one.

    Raises `UsageError` that names the argument `name`, with `hint`, for what is of no such kind.
    """
    if given is None:
        return ()
    if isinstance(given, kinds):
        return (given,)
    if isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping):
        found = tuple(given)
        for one in found:
            if not isinstance(one, kinds):
                raise UsageError(f"`{name}` holds something of the type {type(one).__name__}", hint)
        return found
    raise UsageError(f"`{name}` is of the type {type(given).__name__}", hint)


def texts(name: str, given: object, example: str) -> tuple[str, ...]:
    """`given` as texts. Raises `UsageError` as `several`; `example` is one such text."""
    return several(name, given, (str,), f'give texts: {name}=["{example}"]')

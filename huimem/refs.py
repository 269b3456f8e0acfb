"""The address of a record, as text and as a value.

In: a label of any text, a ref as somebody wrote it. Out: text that can stand in a file, a `Ref`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, unquote

_REF_SAFE = ".~_-"
_WITHOUT_SAFE = str.maketrans("", "", _REF_SAFE)


def encode_label(text: str) -> str:
    """Percent-encode what a ref cannot hold: all but letters and digits of any script and `.~_-`."""
    if text.translate(_WITHOUT_SAFE).isalnum():
        return text
    return "".join(c if c.isalnum() or c in _REF_SAFE else quote(c, safe="") for c in text)


@dataclass(frozen=True, slots=True, order=True)
class Ref:
    """The address of a record: `namespace/session#digits`, `key@digits` for a fact.

    `session` is the session's id, a note's path without `.md` or a fact's key; `at` the digits of
    the turn's first heading (a note: the slug of its heading); `tie` counts equal ones made by hand
    from 1. Namespace labels are joined by `/`, encoded. Sorts by place.
    """

    namespace: str
    session: str
    at: str
    tie: int = 1
    mark: Literal["#", "@"] = "#"

    def __str__(self) -> str:
        owner = f"{self.namespace}/" if self.namespace else ""
        tie = f"~{self.tie}" if self.tie > 1 else ""
        return f"{owner}{encode_label(self.session)}{self.mark}{encode_label(self.at)}{tie}"

    @classmethod
    def parse(cls, text: str) -> Ref:
        """The Ref written as `text`. Raises ValueError where there is no `#` or `@` part."""
        place = max(text.rfind("#"), text.rfind("@"))
        if place < 1 or place == len(text) - 1:
            raise ValueError(f"not a ref: {text!r} (like chat_2026-04-06_091423#20260406T091423)")
        owner, at, mark = text[:place], text[place + 1 :], text[place]
        head, _, count = at.rpartition("~")
        tie = int(count) if head and count.isdigit() else 1
        namespace, _, session = owner.rpartition("/")
        return cls(
            namespace, unquote(session), unquote(head if tie > 1 else at), tie, "#" if mark == "#" else "@"
        )

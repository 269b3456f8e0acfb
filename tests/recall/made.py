"""Pools of a few passages; and vaults for questions: what was told, a session each, and answers in short."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from huimem import Memory
from huimem.index import differing
from huimem.index.rows import RecordRow
from huimem.recall.rank import Pool
from huimem.records import Recall

ZONE = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 5, 1, 12, 0, tzinfo=ZONE)

FLOORS = dict.fromkeys(("floor", "words_floor", "eased_floor"), 0.01)

# What is said in one session: a text of the user, or (role, text)s; another role than the usual is a person.
Talk = str | Sequence[tuple[str, str]]


def pool(
    *passages: tuple[int, list[int]],
    user: Sequence[bool] = (),
    asks: Sequence[float] = (),
    at_ms: Sequence[int] = (),
) -> Pool:
    """Passages as (seat, term ids), each a record of its own, of one script; rows count from 10."""
    ends = np.cumsum([0, *(len(tokens) for _, tokens in passages)], dtype=np.int64)
    count = len(passages)
    return Pool(
        rows=np.arange(10, 10 + count),
        record=np.arange(count),
        seat=np.array([seat for seat, _ in passages], np.int64),
        message=np.zeros(count, np.int64),
        at_ms=np.array(at_ms or (0,) * count, np.int64),
        user=np.array(user or (False,) * count, bool),
        title=np.zeros(count, bool),
        asks=np.array(asks or (0.0,) * count),
        script=np.zeros(count, np.int64),
        tokens=np.array([term for _, tokens in passages for term in tokens], np.uint32),
        starts=ends[:-1],
        ends=ends[1:],
    )


def told(
    root: Path, talks: Sequence[Talk] | Mapping[str, Talk], *, embedder: str = "none", **ranking: float
) -> Memory:
    """A vault of `talks`, named or numbered, a day apart, the last one yesterday; all of it indexed.

    `ranking` are settings of that section; without them the floors are so low that they hide nothing.
    """
    Memory.create(root, tz="Europe/Berlin").close()
    lines = (f"{name} = {value}\n" for name, value in (FLOORS | ranking).items())
    with (root / "huimem.toml").open("a", encoding="utf-8") as file:
        file.write(f"\n[ranking]\n{''.join(lines)}")
    named = talks if isinstance(talks, Mapping) else {f"told-{at:02}": one for at, one in enumerate(talks)}
    memory = Memory.open(root, embedder=embedder)
    for ago, (name, talk) in zip(range(len(named), 0, -1), named.items(), strict=True):
        said = [("user", talk)] if isinstance(talk, str) else talk
        people = any(role not in ("user", "assistant", "tool", "system") for role, _ in said)
        memory.record(
            [
                {"role": role, "content": text, "at": NOW - timedelta(days=ago, minutes=-at)}
                | ({"name": role} if people else {})
                for at, (role, text) in enumerate(said)
            ],
            session=name,
            people=people,
        )
    with pytest.MonkeyPatch.context() as patched:
        # As if it had been told seconds ago: else every question reads all files of the last 2 s again.
        patched.setattr(differing, "RACY_NS", 0)
        memory.sync()
    return memory


def evidence(found: Recall) -> list[str]:
    return [hit.evidence for hit in found.hits]


def sessions(found: Recall) -> list[str]:
    return [hit.ref.session for hit in found.hits]


# A turn as the catalog knows it, without anything of its own.
TURN = RecordRow(
    id=1,
    source=1,
    ord=0,
    ref="s#20260101T000000",
    path="s.md",
    line=1,
    title="",
    tags=(),
    namespace="",
    kind="turn",
    fact=False,
    key=None,
    at_ms=None,
    inferred=False,
    valid_from=None,
    valid_to=None,
    importance=1.0,
    mentions=(),
)

"""Data sets → real vaults on disk, written through the public API.

The sets are not part of the project; `DATA` names the folder that holds them (the environment's
HUIMEM_BENCH_DATA, else a folder `shared` beside the checkout).
"""

from __future__ import annotations

import json
import os
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate
from pathlib import Path
from types import ModuleType
from typing import Any
from zoneinfo import ZoneInfo

from huimem import Memory

SHARED = Path(os.environ.get("HUIMEM_BENCH_DATA", Path(__file__).parents[3] / "shared"))
UTC = ZoneInfo("UTC")
START = datetime(2020, 1, 1, 8, 0, tzinfo=UTC)  # for chats that the set does not date
FIRST, TEN_YEARS = datetime(2016, 1, 1, 8, 0, tzinfo=UTC), 5_256_000  # minutes


@dataclass(frozen=True, slots=True)
class Corpus:
    """A vault of public conversations, one namespace each.

    `ids` finds the set's own id of a message by its namespace, session and time.
    """

    root: Path
    conversations: list[Any]
    ids: dict[tuple[str, str, datetime], str]


@dataclass(frozen=True, slots=True)
class Said:
    """A message of a set: the set's id for it, its role or its speaker's name, its day if there is one."""

    id: str
    role: str
    name: str
    text: str
    when: datetime | None


def scorer() -> ModuleType:
    """The scoring module that stands beside the sets."""
    if not (SHARED / "eval" / "retrieval_eval.py").exists():
        raise SystemExit(f"no data sets at {SHARED}: set HUIMEM_BENCH_DATA")
    sys.path.insert(0, str(SHARED / "eval"))
    import retrieval_eval

    return retrieval_eval


def label(index: int) -> str:
    return f"conversation-{index}"


def public(name: str, folder: Path) -> Corpus:
    """One of `SETS` as a vault in `folder`; written once, then only read."""
    sets = scorer()
    load, file, sessions_of = SETS[name]
    conversations = getattr(sets, load)(SHARED / "datasets" / file)
    root = folder / name
    written = (root / "huimem.toml").exists()
    ids: dict[tuple[str, str, datetime], str] = {}
    with Memory.open(root) if written else Memory.create(root, tz="UTC") as memory:
        for index, conversation in enumerate(conversations):
            for session, said in sessions_of(conversation, file):
                messages = _dated(said)
                for line, message in zip(said, messages, strict=True):
                    ids[label(index), session, message["at"]] = line.id
                if not written:
                    memory.record(messages, session=session, namespace=label(index), people=name == "locomo")
    return Corpus(root, conversations, ids)


def _by_session(conversation: Any, file: str) -> Iterator[tuple[str, list[Said]]]:
    """Sets whose unit is a message: LoCoMo's have speakers, BEAM's have roles."""
    sessions: dict[str, list[Said]] = {}
    for turn in conversation.turns:
        name = "" if turn.speaker in ("user", "assistant") else turn.speaker
        role = "" if name else turn.speaker
        sessions.setdefault(turn.session, []).append(Said(turn.id, role, name, turn.text, turn.when))
    yield from sessions.items()


def _by_memory(conversation: Any, file: str) -> Iterator[tuple[str, list[Said]]]:
    """Sets whose unit is a memory of its own: MADial's are one line, MemHawk's a question and its answer."""
    for turn in conversation.turns:
        user, marked, assistant = turn.text.removeprefix("User: ").partition("\nAssistant: ")
        said = [Said(turn.id, "user", "", user, turn.when)]
        if marked:
            said.append(Said(turn.id, "assistant", "", assistant, turn.when))
        yield f"memory-{turn.id}", said


def _by_haystack(conversation: Any, file: str) -> Iterator[tuple[str, list[Said]]]:
    """LongMemEval's unit is a session, read here message by message."""
    sessions = json.loads((SHARED / "datasets" / file).read_text(encoding="utf-8"))["sessions"]
    for turn in conversation.turns:
        yield (
            turn.id,
            [
                Said(turn.id, one["role"], "", one["content"], turn.when)
                for one in sessions[turn.id]
                if one["content"].strip()
            ],
        )


SETS = {
    "locomo": ("load_locomo", "locomo10.json", _by_session),
    "beam": ("load_beam", "beam_100k.json.gz", _by_session),
    "madial-zh": ("load_madial", "madial_zh.json", _by_memory),
    "madial-en": ("load_madial", "madial_en.json", _by_memory),
    "longmemeval": ("load_longmemeval_mini", "longmemeval_mini.json", _by_haystack),
    "memhawk": ("load_memhawk", "memhawk_dataset.json", _by_memory),
}


def _dated(said: list[Said]) -> list[dict[str, Any]]:
    """Messages of one session, twenty seconds apart: the sets date sessions, not messages."""
    first = (said[0].when or START).replace(tzinfo=UTC)
    return [
        {"role": one.role or one.name, "content": one.text, "at": first + timedelta(seconds=20 * number)}
        | ({"name": one.name} if one.name else {})
        for number, one in enumerate(said)
    ]


def synthetic(turns: int, folder: Path, seed: int = 0) -> Path:
    """A bilingual vault of `turns` turns of 120 words (some 770 bytes), twenty a session, over ten years."""
    root = folder / f"synthetic-{turns}"
    if (root / "huimem.toml").exists():
        return root
    draw = random.Random(seed)
    english, chinese = _vocabulary()
    with Memory.create(root, tz="UTC") as memory:
        for session in range(turns // 20):
            at = FIRST + timedelta(minutes=session * TEN_YEARS // max(turns // 20, 1))
            messages = []
            for number in range(20):
                for role, words in (("user", 24), ("assistant", 96)):
                    at += timedelta(seconds=40)
                    text = _prose(draw, chinese if number % 2 else english, words)
                    messages.append({"role": role, "content": text, "at": at})
            memory.record(messages, session=f"session-{session:06}")
    return root


Weighed = tuple[list[str], list[int]]


def _prose(draw: random.Random, words: Weighed, count: int) -> str:
    """Words by their frequency in sentences of twelve, as each language writes them."""
    drawn = draw.choices(words[0], cum_weights=words[1], k=count)
    blank, stop = ("", "。") if not drawn[0].isascii() else (" ", ". ")
    sentences = (blank.join(drawn[at : at + 12]) for at in range(0, count, 12))
    return stop.join(sentences) + stop.strip()


def _vocabulary() -> tuple[Weighed, Weighed]:
    """Words with their frequencies: English from the language's own manual, Chinese from the dictionary."""
    from pydoc_data import topics

    import jieba

    english = Counter(re.findall(r"[a-z]{2,}", " ".join(topics.topics.values()).lower()))
    chinese: Counter[str] = Counter()
    with open(Path(jieba.__file__).parent / "dict.txt", encoding="utf-8") as lines:
        for line in lines:
            word, count, *_ = line.split(" ")
            chinese[word] = int(count)
    return _weighed(english), _weighed(chinese)


def _weighed(words: Counter[str]) -> Weighed:
    most = words.most_common(30_000)
    return [word for word, _ in most], list(accumulate(count for _, count in most))

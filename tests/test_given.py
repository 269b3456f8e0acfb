"""One where several are taken, messages where texts are, and what is neither: no text falls into letters."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from huimem import Memory, Ref, TimeRange, UsageError, overview
from huimem.given import texts
from huimem.recall.query import options
from huimem.recall.scan import finished
from huimem.records import Message
from huimem.vault.incoming import texts_from

ZONE = ZoneInfo("Asia/Shanghai")
NOW = datetime(2026, 5, 20, 10, 0, tzinfo=ZONE)
DAY = TimeRange.days_from(datetime(2026, 5, 1), 1, ZONE)
SAID = [
    {"role": "user", "content": "My knee hurts on stairs.", "at": "2026-05-01T10:00:00"},
    {"role": "assistant", "content": "Rest the knee, and put ice on it.", "at": "2026-05-01T10:01:00"},
]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    root = tmp_path_factory.mktemp("given") / "vault"
    Memory.create(root, tz="Asia/Shanghai").close()
    (root / "walks.md").write_text("---\ntags: [work]\n---\n\nThe knee likes flat walks.\n", "utf-8")
    with Memory.open(root, embedder="none", background=False) as made:
        made.record(SAID, session="knee")
        made.sync()
        yield made


# One alone, and the list of it.
ALONE: list[tuple[str, Any, Any]] = [
    ("roles", "user", ("user",)),
    ("kinds", "note", ("note",)),
    ("tags", "work", ("work",)),
    ("tags", "#work", ("work",)),
    ("history", "My knee hurts", ("My knee hurts",)),
    ("during", DAY, (DAY,)),
    ("roles", None, ()),
    ("during", (), None),
    ("kinds", {"note"}, ("note",)),
    ("roles", (one for one in ("user", "assistant")), ("user", "assistant")),
    ("history", [{"role": "user", "content": "My knee hurts"}], ("My knee hurts",)),
    ("history", {"role": "user", "text": "My knee hurts"}, ("My knee hurts",)),
    ("history", Message("user", "My knee hurts"), ("My knee hurts",)),
    (
        "history",
        ["a", Message("user", "b"), {"role": "user", "content": [{"type": "text", "text": "c"}]}],
        ("a", "b", "c"),
    ),
]


@pytest.mark.parametrize(("name", "given", "read"), ALONE)
def test_one_alone_is_a_list_of_one(name: str, given: Any, read: Any) -> None:
    assert getattr(options({name: given}), name) == read  # type: ignore[misc]


UNFIT: list[tuple[str, Any, str, str]] = [
    ("roles", 7, "`roles` is of the type int", 'roles=["user"]'),
    ("kinds", ["note", None], "`kinds` holds something of the type NoneType", 'kinds=["note"]'),
    ("tags", {"work": True}, "`tags` is of the type dict", 'tags=["work"]'),
    ("tags", b"work", "`tags` is of the type bytes", 'tags=["work"]'),
    ("during", "last week", "`during` is of the type str", 'when="last week"'),
    ("during", [DAY, "last week"], "`during` holds something of the type str", 'when="last week"'),
    ("history", 7, "`history` is of the type int", '"content"'),
    ("history", ["a", 7], "`history` holds something of the type int", '"content"'),
    ("history", [{"role": "user"}], "message 1 has no content", '"content"'),
    (
        "history",
        ["a", {"role": "user", "content": 7}],
        "message 2 has content that is no text",
        "give a text",
    ),
]


@pytest.mark.parametrize(("name", "given", "message", "hint"), UNFIT)
def test_what_is_of_another_kind_is_refused_with_a_remedy(
    name: str, given: Any, message: str, hint: str, memory: Memory
) -> None:
    keywords: Any = {name: given}
    for ask in (
        lambda: memory.recall("what now?", now=NOW, **keywords),
        lambda: finished(memory.scan("what now?", now=NOW, **keywords)),
        lambda: overview.listed(memory, now=NOW, **keywords),
    ):
        with pytest.raises(UsageError) as caught:
            ask()
        assert caught.value.message.startswith(message) and hint in caught.value.hint


@pytest.mark.parametrize("history", ["My knee hurts", SAID[:1], SAID[0], Message("user", "My knee hurts")])
def test_a_message_before_the_question_helps_however_it_is_handed_over(memory: Memory, history: Any) -> None:
    first, *_ = memory.recall("what now?", history=history, now=NOW).hits
    assert first.ref.session == "knee"


def test_one_filter_alone_filters(memory: Memory) -> None:
    assert [hit.path for hit in memory.recall("knee", kinds="note", now=NOW).hits] == ["walks.md"]
    assert [hit.path for hit in memory.recall("knee", tags="work", now=NOW).hits] == ["walks.md"]
    assert len(overview.listed(memory, roles="user", now=NOW)) == 1
    assert {hit.ref.session for hit in memory.recall("knee", during=DAY, now=NOW).hits} == {"knee"}


def test_what_writes_takes_one_alone_too(tmp_path: Path) -> None:
    with Memory.create(tmp_path / "v", tz="UTC", include="notes/**") as memory:
        assert memory.config.include == ("notes/**",)
    with Memory.open(tmp_path / "v", embedder="none", background=False) as memory:
        (ref,) = memory.record(
            [{"role": "user", "content": "Peanuts make me ill.", "at": "2026-05-01T10:00"}]
        )
        kept = memory.remember("No peanuts.", key="diet", tags="food", sources=ref, now=NOW)
        told = memory.recall("peanuts", kinds="fact", now=NOW).hits[0]
        assert (told.ref, told.tags) == (kept, ("food",))
        text = (tmp_path / "v" / "facts" / "diet.md").read_text("utf-8")
        assert str(ref) in text
        again = memory.remember("No nuts.", key="diet", sources=str(Ref.parse(str(ref))), now=NOW)
        assert again != kept
        assert memory.sync("facts/diet.md").report.changed == 1
        for write in (
            lambda: memory.remember("No nuts.", key="diet", tags=7),  # type: ignore[arg-type]
            lambda: memory.sync(7),  # type: ignore[arg-type]
            lambda: Memory.create(tmp_path / "w", include=7),  # type: ignore[arg-type]
        ):
            with pytest.raises(UsageError):
                write()


@pytest.mark.parametrize("said", [SAID[0], Message("user", "Knee.", datetime(2026, 5, 1, tzinfo=ZONE))])
def test_one_message_alone_is_recorded(said: Any, tmp_path: Path) -> None:
    with Memory.create(tmp_path / "v", tz="Asia/Shanghai") as memory:
        assert len(memory.record(said, session="one")) == 1


def test_texts_and_messages_keep_their_order() -> None:
    assert texts("roles", ["b", "a", "b"], "user") == ("b", "a", "b")
    assert texts_from(["b", {"content": "a"}, Message("user", "c")]) == ("b", "a", "c")

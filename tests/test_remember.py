"""Memory.remember: what is found of a fact right away, in this process and others, now and as of a time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from huimem import Memory, UsageError
from huimem.records import TimeRange
from tests.processes import code_of, start

NOW = datetime(2026, 4, 15, 10, 30, tzinfo=UTC)
A_DAY = timedelta(days=1)


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    monkeypatch.setenv("HUIMEM_EMBEDDER", "hashing:32")
    with Memory.create(tmp_path / "vault", tz="UTC") as memory:
        yield memory


def texts(memory: Memory, question: str, now: datetime = NOW, **asked: object) -> list[str]:
    return [hit.record.text for hit in memory.recall(question, now=now, **asked).hits]  # type: ignore[arg-type]


def test_the_next_question_finds_it_in_any_process(memory: Memory) -> None:
    with Memory.open(memory.vault.root) as other:
        assert texts(other, "walrus") == []
        ref = memory.remember("The walrus waves.", key="walrus", kind="preference", now=NOW)
        for asked in (memory, other):
            (hit,) = asked.recall("walrus", now=NOW).hits
            assert (hit.ref, hit.path, hit.record.kind) == (ref, "facts/walrus.md", "preference")
        memory.remember("A walrus a day.", now=NOW)
        assert sorted(texts(other, "walrus")) == ["A walrus a day.", "The walrus waves."]

    def look() -> None:
        with Memory.open(memory.vault.root, background=False) as anew:
            assert len(texts(anew, "walrus")) == 2

    memory.close()
    assert code_of(start(look)) == 0


def test_a_newer_version_takes_the_place_of_the_older_which_answers_for_its_time(memory: Memory) -> None:
    first = memory.remember("The walrus eats meat.", key="diet", now=NOW)
    second = memory.remember("The walrus eats fish.", key="Diet", now=NOW + A_DAY)
    later = NOW + 2 * A_DAY
    assert texts(memory, "walrus", later) == ["The walrus eats fish."]
    assert texts(memory, "walrus", later, as_of=NOW + A_DAY / 2) == ["The walrus eats meat."]
    assert texts(memory, "walrus", later, as_of=NOW - A_DAY) == []
    hits = memory.recall("walrus", now=later, include_superseded=True).hits
    assert {hit.ref for hit in hits} == {first, second}


def test_it_holds_as_long_as_is_said(memory: Memory) -> None:
    memory.remember("The walrus is on call.", key="call", valid="2026-05-01..2026-05-14", now=NOW)
    memory.remember("The walrus swims.", key="sport", valid="since 2026-05-01", now=NOW)
    memory.remember("The walrus rests.", valid=TimeRange(None, NOW + A_DAY), now=NOW)
    may = datetime(2026, 5, 14, 23, 59, tzinfo=UTC)
    assert texts(memory, "walrus") == ["The walrus rests."]
    assert sorted(texts(memory, "walrus", may)) == ["The walrus is on call.", "The walrus swims."]
    assert texts(memory, "walrus", may + A_DAY) == ["The walrus swims."]


NO_RANGE = ["recently", "soon", "2026-05-01 10:00:07..", "2026-04-01 and 2026-05-01"]


@pytest.mark.parametrize("phrase", NO_RANGE)
def test_a_phrase_that_is_no_one_exact_range_is_refused(phrase: str, memory: Memory) -> None:
    with pytest.raises(UsageError) as refused:
        memory.remember("The walrus waves.", key="walrus", valid=phrase, now=NOW)
    assert refused.value.hint and not memory.vault.scan().files


def test_the_same_again_changes_nothing(memory: Memory) -> None:
    for key in ("walrus", None):
        ref = memory.remember("The walrus waves.", key=key, at=NOW)
        before = dict(memory.vault.scan().files)
        assert memory.remember("The walrus waves.\n", key=key, now=NOW + timedelta(hours=1)) == ref
        assert dict(memory.vault.scan().files) == before


def test_a_time_without_a_zone_is_one_of_the_asker_and_written_in_the_vaults(memory: Memory) -> None:
    memory.zone = ZoneInfo("Asia/Shanghai")
    ref = memory.remember("The walrus waves.", key="walrus", at=datetime(2026, 4, 6, 9, 0, 0, 7))
    assert str(ref) == "walrus@20260406T010000"


def test_one_namespace_knows_nothing_of_another(memory: Memory) -> None:
    memory.remember("The walrus waves.", key="walrus", namespace="Alice", now=NOW)
    ref = memory.remember("The walrus sings.", key="walrus", now=NOW)
    assert texts(memory, "walrus") == ["The walrus sings."]
    assert texts(memory, "walrus", namespace="Alice") == ["The walrus waves."]
    assert str(ref) == "walrus@20260415T103000"


def test_what_was_forgotten_can_be_remembered_again(memory: Memory) -> None:
    ref = memory.remember("The walrus waves.", key="walrus", now=NOW)
    memory.forget(key="walrus", now=NOW)
    assert texts(memory, "walrus") == []
    again = memory.remember("The walrus waves.", key="walrus", now=NOW)
    assert again != ref and texts(memory, "walrus", NOW + A_DAY) == ["The walrus waves."]
    memory.forget(str(again), now=NOW)
    assert texts(memory, "walrus", NOW + A_DAY) == []

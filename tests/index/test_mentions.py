"""What a turn speaks of: its own time words at its own time, in the index, beside it and by which rules."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from huimem.index.filters import Filter
from huimem.index.index import Index
from huimem.index.mentions import LONGEST_TEXT, MOST, Times
from huimem.index.rows import milliseconds
from huimem.index.sync import Listing
from huimem.records import Message, Reading, Record, Ref, Resolution, TimeRange, Turn
from huimem.when import resolve
from tests.index.made import ALL, TIMES, Files, at, content, day, fact, opened, source, turn

SHANGHAI = ZoneInfo("Asia/Shanghai")
MAY = datetime(2026, 5, 2, 9, 0, tzinfo=SHANGHAI)


def local(first: str, days: int = 1) -> TimeRange:
    return TimeRange.days_from(datetime.fromisoformat(first), days, SHANGHAI)


def said(text: str, role: str = "user", when: datetime | None = MAY) -> Turn:
    return Turn(Ref("", "s", "t"), (Message(role, text, when),))


SPEAKING: list[tuple[Turn, Sequence[TimeRange]]] = [
    (said("We fired the kiln on 2026-05-01."), [local("2026-05-01")]),
    (said("2026-05-01 and 2026-04-28, then 2026-05-01 again"), [local("2026-05-01"), local("2026-04-28")]),
    (said("the week 2026-W17", role="assistant"), [local("2026-04-20", 7)]),
    (said("2026-05-01", role="person"), [local("2026-05-01")]),
    (said("the trip of 2026-06-01..2026-06-05 is booked"), [local("2026-06-01", 5)]),
    (said("from 2016-01-01 to 2025-12-31"), [local("2016-01-01", 3653)]),
    (said("no time at all"), []),
    (said("2026-05-01..", role="user"), []),  # open: it would speak of every day since
    (said("from 2010-01-01 to 2025-12-31"), []),  # an era
    (said("2026-05-01 12:00 connection refused", role="tool"), []),
    (said("Today is 2026-05-02.", role="system"), []),
    (said("<!-- 2026-05-01 -->kept from the reader"), []),
    (said("2026-05-01", when=None), []),
    (said("x" * LONGEST_TEXT + " 2026-05-01"), []),
    (said("x" * (LONGEST_TEXT - 11) + " 2026-05-01"), [local("2026-05-01")]),
    (said("x" * (LONGEST_TEXT - 8) + " 2026-05-01"), []),  # cut there it would be a month
]


@pytest.mark.parametrize(("record", "ranges"), SPEAKING, ids=[row[0].text[-40:] for row in SPEAKING])
def test_a_turn_speaks_of_the_closed_ranges_its_messages_name(record: Turn, ranges: list[TimeRange]) -> None:
    assert TIMES.mentioned(record) == tuple(ranges)


def test_each_message_speaks_at_its_own_time_and_what_came_with_the_turn_stays_first() -> None:
    asked: list[tuple[str, datetime]] = []

    def read(text: str, now: datetime) -> Resolution:
        asked.append((text, now))
        return Resolution(
            (Reading(local(f"{now - timedelta(days=1):%Y-%m-%d}"), "day", (0, 9), False, False, ""),)
        )

    later = MAY + timedelta(days=3)
    record = Turn(
        Ref("", "s", "t"), (Message("user", "yesterday", MAY), Message("assistant", "yesterday", later))
    )
    told = Times("", read).mentioned(record)
    assert told == (local("2026-05-01"), local("2026-05-04"))
    assert asked == [("yesterday", MAY), ("yesterday", later)]


def test_a_note_that_only_its_day_dates_speaks_from_that_days_end() -> None:
    asked: list[datetime] = []
    midnight = MAY.replace(hour=0)
    note = Message("note", "this morning", midnight)
    Times("", lambda text, now: asked.append(now)).mentioned(Turn(Ref("", "n", "p"), (note,), kind="note"))
    assert asked == [midnight.replace(hour=23, minute=59)]


def test_words_said_at_the_ends_of_the_calendar_keep_nobody_from_indexing_them() -> None:
    def read(text: str, now: datetime) -> Resolution:
        return Resolution(
            (Reading(TimeRange(now, now + timedelta(days=400)), "day", (0, 1), False, False, ""),)
        )

    late = datetime(9998, 12, 31, tzinfo=UTC)
    assert Times("", read).mentioned(said("next year", when=late)) == ()


def test_of_many_times_the_first_are_kept() -> None:
    text = " ".join(f"2026-04-{n:02}" for n in range(1, 31))
    assert TIMES.mentioned(said(text)) == tuple(local(f"2026-04-{n:02}") for n in range(1, MOST + 1))


def test_guessed_times_and_facts_tell_nothing_of_other_days() -> None:
    guessed = turn("2026-05-02", "2026-05-01", inferred=True)
    assert TIMES.mentioned(guessed) == ()
    assert TIMES.mentioned(fact("move", "2026-05-02", None, "moves out on 2026-06-01")) == ()


APRIL = Filter(during=((milliseconds(at("2026-04-01")), milliseconds(at("2026-05-01"))),))
ASKED = [
    # what a turn speaks of, the range asked for, whether it passes
    (day("2026-05-01"), ("2026-05-01", "2026-05-02"), True),
    (day("2026-05-01"), ("2026-05-02", "2026-05-03"), False),
    (day("2026-05-01", 7), ("2026-05-03", "2026-05-04"), True),
    (day("2026-05-01", 31), ("2026-05-03", "2026-05-04"), False),  # "in May" is no word on the third
    (day("2026-05-01", 31), ("2026-05-01", "2026-06-01"), True),
    (day("2026-05-01", 31), ("2026-04-20", "2026-05-21"), True),
    (day("2026-01-01", 365), ("2026-05-01", "2026-06-01"), False),
    (day("2026-01-01", 365), ("2026-01-01", "2027-01-01"), True),
    (day("2026-05-01", 31), ("2026-04-30", None), True),
    (day("2026-05-01", 31), ("2026-05-05", None), False),
    (day("2026-05-01", 7), ("2026-05-05", None), True),
    (day("2026-05-01", 31), (None, "2026-06-01"), True),
]


@pytest.mark.parametrize(("mention", "asked", "passes"), ASKED)
def test_a_long_mention_speaks_only_of_ranges_as_long(
    mention: TimeRange, asked: tuple[str | None, str | None], passes: bool, tmp_path: Path
) -> None:
    when = "2025-06-09" if asked[1] is None else "2027-06-09"  # outside whatever is asked for
    files = Files()
    files.put(source("a.md", turn(when, "a plum", mentions=[mention])))
    files.put(source("b.md", turn(when, "a pear")))
    index = opened(tmp_path / "state", None)
    files.sync(index)
    edges = tuple(milliseconds(at(edge)) if edge else None for edge in asked)
    f = Filter(during=(edges,))  # type: ignore[arg-type]
    with index.snapshot() as snapshot:
        found = snapshot.texts(snapshot.rows(f))
        assert found == snapshot.texts(snapshot.find(["plum"], f)) == (["a plum"] if passes else [])
        assert len(snapshot.rows(Filter(during=f.during, said_only=True))) == 0


def spoken(index: Index) -> list[tuple[str, tuple[tuple[int | None, int | None], ...]]]:
    with index.snapshot() as snapshot:
        ids = [id for (id,) in snapshot.db.execute("SELECT id FROM record ORDER BY ref")]
        return [(record.ref, record.mentions) for record in snapshot.records(ids)]


TOLD: Record = turn("2026-05-02", "We fired the kiln on 2026-05-01.", session="a")
FIRST = milliseconds(at("2026-05-01")), milliseconds(at("2026-05-02"))


def test_the_index_keeps_them_and_an_edit_changes_them(tmp_path: Path) -> None:
    files = Files()
    files.put(source("a.md", TOLD))
    index = opened(tmp_path / "state", None)
    files.sync(index)
    assert spoken(index) == [("a#20260502T000000", (FIRST,))]
    files.put(source("a.md", turn("2026-05-02", "We fired it on 2026-04-30.", session="a")))
    files.sync(index)
    assert [spans for _, spans in spoken(index)] == [
        ((milliseconds(at("2026-04-30")), milliseconds(at("2026-05-01"))),)
    ]


def test_the_same_words_in_another_zone_speak_of_another_day(tmp_path: Path) -> None:
    files, index = Files(), opened(tmp_path / "state", None)
    for zone, start in ((UTC, at("2026-05-01")), (SHANGHAI, local("2026-05-01").start)):
        when = at("2026-05-02 03:00").astimezone(zone)
        files.put(source("a.md", Turn(Ref("", "a", "t"), (Message("user", "fired on 2026-05-01", when),))))
        files.sync(index)
        assert start is not None
        assert [spans[0][0] for _, spans in spoken(index)] == [milliseconds(start)]


def test_what_lies_beside_the_index_speaks_of_the_same(tmp_path: Path) -> None:
    files, alone = Files(), Files()
    index, fresh = opened(tmp_path / "state", None), opened(tmp_path / "fresh", None)
    files.put(source("old.md", turn("2026-04-02", "an older one", session="o")))
    files.sync(index)
    for each in (files, alone):
        each.put(source("a.md", TOLD))
    alone.sync(fresh)
    overlay = index.beside(lambda: Listing(files.stamps), files.read, seconds=5)
    assert overlay is not None
    with overlay.snapshot as beside, fresh.snapshot() as whole:
        assert content(beside) == content(whole)
        assert [record.mentions for record in beside.records([1])] == [(FIRST,)]


def test_other_rules_make_the_index_anew_and_whoever_has_none_does_not_mind(tmp_path: Path) -> None:
    files = Files()
    files.put(source("a.md", TOLD))

    def made(times: Times | None) -> tuple[Index, tuple[str, ...]]:
        index = Index.open(tmp_path / "state", None, vault_id="v", times=times)
        return index, files.sync(index).warnings

    first, _ = made(Times("rules 1", lambda text, now: None))
    assert [spans for _, spans in spoken(first)] == [()]
    first.close()
    unminding, said_of_it = made(None)
    assert said_of_it == ()
    unminding.close()
    second, said_of_it = made(Times("rules 2", resolve))
    assert [spans for _, spans in spoken(second)] == [(FIRST,)]
    assert said_of_it == ("the index is rebuilt from the files: its times were read by other rules",)
    assert second.identity() and len(spoken(second)) == 1
    second.close()


def test_filters_see_them_by_words_and_by_rows(tmp_path: Path) -> None:
    files = Files()
    files.put(source("a.md", TOLD))
    index = opened(tmp_path / "state", None)
    files.sync(index)
    with index.snapshot() as snapshot:
        assert len(snapshot.rows(ALL)) == 1 and len(snapshot.rows(APRIL)) == 0
        f = Filter(during=(FIRST,))
        assert snapshot.find(["kiln"], f).tolist() == snapshot.rows(f).tolist() != []
        assert len(snapshot.rows(Filter(during=(FIRST,), said_only=True))) == 0

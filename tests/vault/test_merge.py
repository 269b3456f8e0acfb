"""Which messages of a list are new: `U9:00=hi` is a user's "hi" at nine, `A=yes` an undated answer."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from huimem.records import Message
from huimem.vault.merge import merge

NOW = datetime(2026, 4, 6, 12, tzinfo=UTC)
ROLES = {"U": "user", "A": "assistant", "P": "person"}


def message(text: str) -> Message:
    head, _, said = text.partition("=")
    clock = head[1:]
    at = datetime.combine(NOW.date(), datetime.strptime(clock, "%H:%M").time(), UTC) if clock else None
    return Message(ROLES[head[0]], said, at)


def shown(m: Message) -> str:
    return f"{m.role[0].upper()}{m.at:%-H:%M}={m.text}" if m.at else "?"


# What the session holds, what is recorded, what is new of it.
CASES = [
    ("", "U9:00=hi", "U9:00=hi"),
    ("U9:00=hi", "U9:00=hi", ""),
    ("U9:00=hi A9:01=hey", "U9:00=hi A9:01=hey U9:02=ok", "U9:02=ok"),
    ("U9:00=hi", "U9:00=hi U9:00=hi", "U9:00=hi"),
    ("U9:00=hi U9:00=hi", "U9:00=hi", ""),
    ("U9:00=hi", "A9:00=hi", "A9:00=hi"),
    ("U9:00=hi", "U9:00=ho", "U9:00=ho"),
    ("U9:00=hi", "U9:01=hi", "U9:01=hi"),
    ("U9:05=later", "U9:00=earlier", "U9:00=earlier"),
    ("U9:00=hi", "U9:00=  hi", "U9:00=  hi"),
    ("U9:00=hi", "U9:00=\n\nhi\n", ""),
    ("U9:00=hi", "U9:00=hi \t", ""),
    ("U9:00=hi \t", "U9:00=hi", ""),
    ("U9:00=hi", "U9:00=hi  U9:00=hi", "U9:00=hi"),
    ("U11:00=hi A11:00=hey ", "U=hi  A=hey U=ok", "U12:00=ok"),
    # A message without a time takes that of the one before it.
    ("", "U9:00=hi A=hey", "U9:00=hi A9:00=hey"),
    ("U9:00=hi A9:00=hey", "U9:00=hi A=hey U=ok", "U9:00=ok"),
    # A list without any time is known by its order.
    ("", "U=hi A=hey", "U12:00=hi A12:00=hey"),
    ("U11:00=hi A11:00=hey", "U=hi A=hey", ""),
    ("U11:00=hi A11:00=hey", "U=hi A=hey U=ok", "U12:00=ok"),
    ("U11:00=hi A11:00=hey", "A=hey U=ok", "U12:00=ok"),
    ("U11:00=hi A11:00=hey", "U=ok A=fine", "U12:00=ok A12:00=fine"),
    ("U11:00=a A11:00=b U11:01=c A11:01=d", "U=a A=b", ""),
    ("U11:00=ok A11:00=yes", "U=ok", ""),
    ("U11:00=x A11:00=yes U11:01=ok A11:01=yes", "U=ok", "U12:00=ok"),
    # What was recorded without times is known by its order when it comes again with them.
    ("U11:00=hi A11:00=hey", "U9:00=hi A9:01=hey", ""),
    ("U11:00=hi A11:00=hey", "U9:00=hi A9:01=hey U9:02=ok", "U9:02=ok"),
    ("U11:00=hi A11:00=hey U11:05=ok A11:05=fine", "U9:00=hi A9:01=hey U9:02=ok A9:03=fine", ""),
    ("U11:00=hi A11:00=hey U11:00=ok", "U9:00=hi A9:01=hey", ""),
    ("U11:00=hi A11:00=hey U9:02=ok", "U9:00=hi A9:01=hey U9:02=ok A9:03=fine", "A9:03=fine"),
    ("U11:00=hi A11:00=hey", "U9:00=hi A9:01=hey U=ok", "U9:01=ok"),
    ("U11:00=hi A11:00=hey", "U=hi A9:01=hey", ""),
    ("U9:00=hi A9:01=hey", "U=hi A=hey", ""),
    # What was said again, later or in another rhythm, is another conversation.
    ("U9:00=hi A9:00=hey", "U9:05=hi A9:06=hey", "U9:05=hi A9:06=hey"),
    ("U9:00=hi A9:01=hey", "U8:00=hi A8:01=hey", "U8:00=hi A8:01=hey"),
    ("U9:00=hi A9:00=hey", "U8:00=hi A8:00=hey", "U8:00=hi A8:00=hey"),
    ("U9:00=hi", "U8:00=hi A8:01=hey", "U8:00=hi A8:01=hey"),
    ("U11:00=hi A11:00=hey", "U9:00=hi A9:01=ho", "U9:00=hi A9:01=ho"),
    # It never goes before what is there.
    ("U13:00=x A13:00=y", "U=z", "U13:00=z"),
]


@pytest.mark.parametrize(("held", "recorded", "fresh"), CASES)
def test_merge(held: str, recorded: str, fresh: str) -> None:
    merged = merge(parsed(held), parsed(recorded), NOW)
    assert [shown(m) for m in merged.fresh] == [shown(m) for m in parsed(fresh)]


# What the session holds, what is recorded, the text of its last message then, what is new of the rest.
GROWN = [
    ("U9:00=go A9:01=Roses are", "A9:01=Roses are red", "Roses are red", ""),
    ("U9:00=go A9:01=Roses are", "U9:00=go A9:01=Roses are red U9:02=ok", "Roses are red", "U9:02=ok"),
    ("U11:00=go A11:00=Roses are", "U=go A=Roses are red", "Roses are red", ""),
    ("U11:00=go A11:00=Roses are", "U=go A=Roses are red U=ok", "Roses are red", "U12:00=ok"),
    ("U11:00=go A11:00=Roses are", "U9:00=go A9:01=Roses are red", "Roses are red", ""),
    ("U11:00=a A11:00=b U11:01=go A11:01=Ro", "U=go A=Roses", "Roses", ""),
    ("U9:00=go A9:01=Roses are ", "A9:01=Roses are red", "Roses are red", ""),
    ("U9:00=go A9:01=Ro", "A9:01=Ro A9:01=Roses", None, "A9:01=Roses"),
    ("U9:00=go A9:01=Ro", "A9:01=Roses A9:01=Ro", None, "A9:01=Roses"),
    ("U9:00=go A9:01=Roses", "A9:01=Ro", None, "A9:01=Ro"),
    ("U9:00=go A9:01=Ro", "A9:02=Roses", None, "A9:02=Roses"),
    ("U9:00=go A9:01=Ro", "A9:01=Red roses", None, "A9:01=Red roses"),
    ("U9:00=go A9:01=Ro U9:02=ok", "A9:01=Roses", None, "A9:01=Roses"),
    ("U9:00=go", "U9:00=go on", None, "U9:00=go on"),
    ("U11:00=a A11:00=b U11:01=go A11:01=Ro", "A=Roses", None, "A12:00=Roses"),
]


@pytest.mark.parametrize(("held", "recorded", "grown", "fresh"), GROWN)
def test_an_answer_recorded_before_it_was_whole(
    held: str, recorded: str, grown: str | None, fresh: str
) -> None:
    merged = merge(parsed(held), parsed(recorded), NOW, grow=True)
    assert (merged.grown, [shown(m) for m in merged.fresh]) == (grown, [shown(m) for m in parsed(fresh)])
    assert grown is None or len(parsed(held)) - 1 in merged.present


@pytest.mark.parametrize("row", [row for row in GROWN if row[2]])
def test_without_leave_to_grow_the_longer_text_is_new(row: tuple[str, str, str | None, str]) -> None:
    held, recorded, longer, _ = row
    merged = merge(parsed(held), parsed(recorded), NOW)
    assert merged.grown is None and longer in [m.text for m in merged.fresh]


def parsed(text: str) -> list[Message]:
    """Messages of a row: a blank begins the next one only before a role and a clock or `=`."""
    return [message(part) for part in re.split(r" (?=[UAP](?:\d+:\d\d)?=)", text) if part]


def test_what_stands_there_is_told_by_its_place() -> None:
    existing = parsed("U9:00=a A9:01=b U9:02=c")
    assert merge(existing, parsed("U9:02=c U9:00=a"), NOW).present == {0, 2}
    assert merge(existing, parsed("U=a A=b"), NOW).present == {0, 1}


def test_times_moved_on_to_be_unique_are_known_again() -> None:
    at = datetime(2026, 4, 6, 9, tzinfo=UTC)
    given = [Message("user", f"line {n}", at) for n in range(1500)]
    stored = [Message("user", f"line {n}", at + timedelta(milliseconds=n)) for n in range(1500)]
    merged = merge(stored, given, NOW)
    assert not merged.fresh and len(merged.present) == 1500

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
    # It never goes before what is there.
    ("U13:00=x A13:00=y", "U=z", "U13:00=z"),
]


@pytest.mark.parametrize(("held", "recorded", "fresh"), CASES)
def test_merge(held: str, recorded: str, fresh: str) -> None:
    merged = merge(parsed(held), parsed(recorded), NOW)
    assert [shown(m) for m in merged.fresh] == [shown(m) for m in parsed(fresh)]


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

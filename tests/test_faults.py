"""The table of faults, `faults.tsv`: each with the tests that show what huimem does, or why none does.

Priorities: P1 loses data or opens a door, P2 answers wrongly or too late, P3 is a matter of comfort.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.promises import Promise, unproven

TABLE = Path(__file__).with_name("faults.tsv")
GROUPS = {"A": 21, "B": 19, "C": 13, "D": 14, "E": 12, "F": 22, "G": 20, "H": 8, "I": 8, "J": 15, "K": 10}
STATES = {"shown", "partly", "missing", "elsewhere"}
ROWS = [line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines()[1:]]


def test_every_fault_of_the_catalogue_has_its_row() -> None:
    expected = [f"{group}{number}" for group, count in GROUPS.items() for number in range(1, count + 1)]
    assert [row[0] for row in ROWS] == expected


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_a_row_is_proved_or_says_why_not(row: list[str]) -> None:
    name, priority, state, proofs, note = row
    assert priority in ("P1", "P2", "P3") and state in STATES
    tests = tuple(filter(None, proofs.split(", ")))
    assert bool(tests) if state == "shown" else bool(note), name
    assert list(unproven([Promise(0, name, note or name, tests)])) == []


@pytest.mark.parametrize(("priority", "least"), [("P1", 0.95), ("P2", 0.8)])
def test_so_many_of_a_priority_are_shown(priority: str, least: float) -> None:
    """Of those that there is something of: what is not built has no faults yet."""
    states = [row[2] for row in ROWS if row[1] == priority and row[2] != "elsewhere"]
    assert states.count("shown") / len(states) >= least

"""Where passages sit: side by side in a session, far apart otherwise, and who is near a leader."""

from __future__ import annotations

import numpy as np
import pytest

from huimem.recall.candidates import REACH, Seated, _seated
from huimem.recall.rank import NEAR

FAR = 2 * NEAR  # seats of passages that are not in one run differ by more


# Seats, from rows with their sources and the places of their records; −1 is a record without passages.
# Each table row: (row, source, place)s in any order, then the runs of rows that must come out.
SEATS = [
    ("nothing", [], []),
    ("one", [(5, 1, 0)], [[5]]),
    ("one-line turns", [(5, 1, 0), (6, 1, 1), (7, 1, 2)], [[5, 6, 7]]),
    ("in any order", [(7, 1, 2), (5, 1, 0), (6, 1, 1)], [[5, 6, 7]]),
    ("a long turn", [(5, 1, 0), (6, 1, 0), (7, 1, 0), (8, 1, 1)], [[5, 6, 7, 8]]),
    ("named twice", [(5, 1, 0), (6, 1, 1), (5, 1, 0), (6, 1, 1)], [[5, 6]]),
    ("rows of a rewritten turn are new", [(9, 1, 0), (5, 1, 1), (6, 1, 2)], [[9, 5, 6]]),
    ("a record without passages between", [(5, 1, 0), (-1, 1, 1), (6, 1, 2)], [[5, 6]]),
    ("several of them", [(5, 1, 0), (-1, 1, 1), (-1, 1, 2), (6, 1, 3)], [[5, 6]]),
    ("one of them named twice", [(5, 1, 0), (-1, 1, 1), (-1, 1, 1), (6, 1, 2)], [[5, 6]]),
    ("at the beginning", [(-1, 1, 0), (5, 1, 1)], [[5]]),
    ("at the end", [(5, 1, 0), (-1, 1, 1)], [[5]]),
    ("nothing else", [(-1, 1, 0), (-1, 1, 1)], []),
    ("a record that was not read between", [(5, 1, 0), (7, 1, 2)], [[5], [7]]),
    ("behind it one without passages", [(5, 1, 0), (-1, 1, 4), (7, 1, 5)], [[5], [7]]),
    ("two sources", [(5, 1, 0), (6, 1, 1), (7, 2, 0), (8, 2, 1)], [[5, 6], [7, 8]]),
    ("the next source goes on where the last ended", [(5, 1, 3), (6, 2, 4)], [[5], [6]]),
    ("one without passages at a session's border", [(5, 1, 0), (-1, 2, 0), (6, 2, 1)], [[5], [6]]),
    ("two such, of two sources at one place", [(5, 1, 0), (-1, 1, 1), (-1, 2, 1), (6, 2, 2)], [[5], [6]]),
]


def runs(seated: Seated) -> list[list[int]]:
    """Rows by runs of seats that rise by one; what is not in one run must sit far away."""
    found: list[list[int]] = []
    before: int | None = None
    for row, seat in zip(seated.rows.tolist(), seated.seats.tolist(), strict=True):
        if before is not None and seat - before == 1:
            found[-1].append(row)
        else:
            assert before is None or seat - before > FAR
            found.append([row])
        before = seat
    return found


def near(*entries: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    columns = np.array(entries, np.int64).reshape(-1, 3).T
    return columns[0], columns[1], columns[2]


@pytest.mark.parametrize(("what", "entries", "expected"), SEATS)
def test_passages_next_to_each_other_sit_side_by_side(
    what: str, entries: list[tuple[int, int, int]], expected: list[list[int]]
) -> None:
    assert runs(_seated(near(*entries))) == expected, what


LACKING = [
    ("a border is a border, whichever it is", 2 * REACH, {*range(REACH), *range(REACH, 2 * REACH)}),
    ("the middle of one more", 2 * REACH + 1, {*range(2 * REACH + 1)} - {REACH}),
    ("the middle of many", 50, {*range(REACH), *range(50 - REACH, 50)}),
]


@pytest.mark.parametrize(("what", "count", "expected"), LACKING)
def test_what_lacks_passages_on_one_side(what: str, count: int, expected: set[int]) -> None:
    line = Seated(np.arange(count), np.arange(count) + 7)
    assert set(line.lacking(np.arange(count)).tolist()) == expected, what
    assert set(line.lacking(np.array([0, REACH])).tolist()) == expected & {0, REACH}


def test_a_run_of_its_own_lacks_on_both_sides() -> None:
    two = Seated(np.arange(30), np.concatenate((np.arange(25), 100 + np.arange(5))))
    assert set(two.lacking(np.arange(30)).tolist()) == {*range(30)} - {*range(REACH, 25 - REACH)}


CLOSE = [
    ("one leader", [20], {*range(20 - REACH, 20 + REACH + 1)}),
    ("two near each other", [20, 23], {*range(20 - REACH, 23 + REACH + 1)}),
    ("at the beginning", [0], {*range(REACH + 1)}),
    ("at the end", [59], {*range(59 - REACH, 60)}),
    ("two far apart", [5, 50], {*range(5 + REACH + 1), *range(50 - REACH, 60)}),
    ("none", [], set()),
    ("not there", [77], set()),
]


@pytest.mark.parametrize(("what", "led", "expected"), CLOSE)
def test_only_what_is_close_to_a_leader_stays(what: str, led: list[int], expected: set[int]) -> None:
    line = Seated(np.arange(60), np.arange(60))
    close = line.close_to(np.array(led, np.int64))
    assert set(close.rows.tolist()) == expected, what
    assert (close.rows == close.seats).all()


def test_what_has_no_seat_sits_by_itself() -> None:
    order, seats = Seated(np.array([4, 2]), np.array([10, 11])).order(np.array([2, 3, 4, 9]))
    assert order.tolist() == [2, 0, 1, 3]
    assert seats[:2].tolist() == [10, 11]
    assert (np.diff(seats[1:]) > FAR).all()


def test_nothing_close_leaves_all_by_themselves() -> None:
    none = np.zeros(0, np.int64)
    order, seats = Seated(none, none).order(np.array([3, 1]))
    assert order.tolist() == [0, 1]
    assert (np.diff(seats) > FAR).all()

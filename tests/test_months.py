"""Months and the paths of what is packed in them: each path means one thing, and none but ours means any."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from huimem.months import Archived, archived, is_cold, month_of, months_between

SHANGHAI, NEW_YORK = ZoneInfo("Asia/Shanghai"), ZoneInfo("America/New_York")

PATHS: list[tuple[str, tuple[str, str, str] | None]] = [
    ("archive/2025-12.tar.zst", ("", "2025-12", "")),
    ("archive/2025-12.tar.zst/sessions/2025-W49/a.md", ("", "2025-12", "sessions/2025-W49/a.md")),
    ("archive/2025-12.tar.zst/sessions/2025-W49/雨.md", ("", "2025-12", "sessions/2025-W49/雨.md")),
    ("archive/2025-12.tar.zst/sessions/w/a\nb.md", ("", "2025-12", "sessions/w/a\nb.md")),
    ("namespaces/a/archive/2025-01.tar.zst", ("namespaces/a/", "2025-01", "")),
    ("namespaces/a/namespaces/b/archive/2025-01.tar.zst/x", ("namespaces/a/namespaces/b/", "2025-01", "x")),
    ("namespaces/archive/archive/2025-01.tar.zst", ("namespaces/archive/", "2025-01", "")),
    ("archive/2025-12.tar.zst/archive/2025-11.tar.zst", ("", "2025-12", "archive/2025-11.tar.zst")),
    ("archive/2025-12.tar.zst/", None),
    ("archive/2025-12.tar.zst2", None),
    ("archive/2025-12.tar.zst\n", None),
    ("archive/2025-12.tar", None),
    ("archive/2025-12.md", None),
    ("archive/2025-12.json", None),
    ("archive/2025-13.tar.zst", None),
    ("archive/2025-00.tar.zst", None),
    ("archive/2025-1.tar.zst", None),
    ("archive/25-12.tar.zst", None),
    ("archive/２０２５-12.tar.zst", None),
    ("archive/2025-12 (conflicted copy).tar.zst", None),
    ("archive/2025-12.sync-conflict-1.tar.zst", None),
    ("archive/old/2025-12.tar.zst", None),
    ("Archive/2025-12.tar.zst", None),
    ("notes/archive/2025-12.tar.zst", None),
    ("/archive/2025-12.tar.zst", None),
    ("../archive/2025-12.tar.zst", None),
    ("namespaces/archive/2025-12.tar.zst", None),
    ("namespaces/a/sessions/2025-W49/a.md", None),
    ("sessions/2025-W49/archive/2025-12.tar.zst", None),
    ("", None),
]


@pytest.mark.parametrize(("path", "parts"), PATHS)
def test_what_a_path_names_in_an_archive(path: str, parts: tuple[str, str, str] | None) -> None:
    """F7: nothing but an archive at its place is taken for one."""
    found = archived(path)
    assert found == (Archived(*parts) if parts else None)
    assert found is None or str(found) == path


def test_what_lies_beside_an_archive() -> None:
    place = Archived("namespaces/a/", "2025-12", "sessions/2025-W49/a.md")
    assert place.archive == "namespaces/a/archive/2025-12.tar.zst"
    assert place.manifest == "namespaces/a/archive/2025-12.json"
    assert place.listing == "namespaces/a/archive/2025-12.md"
    assert place.original == "namespaces/a/sessions/2025-W49/a.md"
    assert place.file("x.md") == "namespaces/a/archive/2025-12.tar.zst/x.md"
    assert str(place) == "namespaces/a/archive/2025-12.tar.zst/sessions/2025-W49/a.md"
    assert str(Archived("", "2025-12")) == "archive/2025-12.tar.zst"


_LABEL = st.text(st.characters(exclude_characters="/"), min_size=1, max_size=8)
_MONTHS = st.builds("{:04}-{:02}".format, st.integers(0, 9999), st.integers(1, 12))


@given(st.lists(_LABEL, max_size=3), _MONTHS, st.text(max_size=20))
def test_a_path_comes_back(labels: list[str], month: str, name: str) -> None:
    owner = "".join(f"namespaces/{label}/" for label in labels)
    place = Archived(owner, month, name)
    assert archived(str(place)) == place


MOMENTS: list[tuple[str, tzinfo, str]] = [
    ("2025-12-31T15:59:59+00:00", SHANGHAI, "2025-12"),
    ("2025-12-31T16:00:00+00:00", SHANGHAI, "2026-01"),
    ("2026-01-01T04:59:59+00:00", NEW_YORK, "2025-12"),
    ("2026-03-01T00:30:00+08:00", UTC, "2026-02"),
    ("2024-02-29T23:59:59.999999+00:00", UTC, "2024-02"),
    ("0202-04-06T09:00:00+00:00", UTC, "0202-04"),
    ("0999-12-31T23:30:00+00:00", timezone(timedelta(hours=1)), "1000-01"),
]


@pytest.mark.parametrize(("at", "zone", "month"), MOMENTS)
def test_the_month_that_holds_an_instant(at: str, zone: tzinfo, month: str) -> None:
    """Of four digits also where somebody mistyped a year, so that months compare as text."""
    found = month_of(datetime.fromisoformat(at), zone)
    assert found == month and archived(f"archive/{found}.tar.zst") == Archived("", found)


BETWEEN = [
    ("2025-12", "2025-12", 0),
    ("2025-12", "2026-01", 1),
    ("2026-01", "2025-12", -1),
    ("2025-01", "2025-12", 11),
    ("2024-02", "2026-02", 24),
    ("2026-11", "2024-12", -23),
]


@pytest.mark.parametrize(("earlier", "later", "months"), BETWEEN)
def test_months_between(earlier: str, later: str, months: int) -> None:
    assert months_between(earlier, later) == months


# On 1 April 2026, soon after midnight in Shanghai; elsewhere it is still March.
COLD: list[tuple[str, tzinfo, int, bool]] = [
    ("2025-12", SHANGHAI, 3, True),
    ("2026-01", SHANGHAI, 3, False),
    ("2025-12", NEW_YORK, 3, False),
    ("2025-11", NEW_YORK, 3, True),
    ("2026-03", SHANGHAI, 0, True),
    ("2026-04", SHANGHAI, 0, False),
    ("2026-03", NEW_YORK, 0, False),
    ("1970-01", SHANGHAI, 3, True),
    ("2026-05", SHANGHAI, 0, False),
    ("2099-01", SHANGHAI, 3, False),
    ("2025-12", SHANGHAI, 1200, False),
]


@pytest.mark.parametrize(("month", "zone", "keep", "cold"), COLD)
def test_cold_months(month: str, zone: tzinfo, keep: int, cold: bool) -> None:
    """H4: what is of the future is never cold."""
    assert is_cold(month, datetime(2026, 3, 31, 16, 30, tzinfo=UTC), zone, keep) is cold


@pytest.mark.parametrize("now", [datetime(1970, 1, 1, tzinfo=UTC), datetime(2000, 1, 1, tzinfo=UTC)])
def test_a_clock_set_back_makes_nothing_cold(now: datetime) -> None:
    """H4"""
    assert not any(is_cold(month, now, SHANGHAI, 0) for month in ("2025-12", "2026-01", "2099-12"))

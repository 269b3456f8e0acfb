"""The Chinese calendar against published dates: new years, leap months, short months, solar terms."""

from __future__ import annotations

import subprocess
import sys
from datetime import date, timedelta

import pytest

from huimem.when.lunar import lunar_date, lunar_month, solar_term_qingming, solar_term_winter_solstice

# year, month, day, leap, the date
DATES = [
    (1900, 1, 1, False, "1900-01-31"),
    (1970, 1, 1, False, "1970-02-06"),
    (1976, 8, 8, True, "1976-10-01"),
    (1985, 1, 1, False, "1985-02-20"),
    (1999, 1, 1, False, "1999-02-16"),
    (2000, 1, 1, False, "2000-02-05"),
    (2012, 8, 15, False, "2012-09-30"),
    (2017, 6, 1, False, "2017-06-24"),
    (2017, 6, 1, True, "2017-07-23"),
    (2020, 4, 1, False, "2020-04-23"),
    (2020, 4, 1, True, "2020-05-23"),
    (2020, 5, 5, False, "2020-06-25"),
    (2023, 2, 1, True, "2023-03-22"),
    (2023, 3, 1, False, "2023-04-20"),
    (2024, 12, 29, False, "2025-01-28"),
    (2025, 6, 1, True, "2025-07-25"),
    (2025, 12, 8, False, "2026-01-26"),
    (2033, 11, 1, True, "2033-12-22"),
    (2099, 1, 1, False, "2099-01-21"),
]
NO_DATES = [
    (2024, 12, 30, False),  # that year ended on the 29th
    (2025, 4, 1, True),  # its leap month was the sixth
    (2021, 5, 1, True),  # no leap month at all
    (2020, 4, 30, True),  # a leap month of 29 days
    (2020, 1, 31, False),
    (2020, 1, 0, False),
    (2020, 13, 1, False),
    (2020, 0, 1, False),
    (2020, 1, -1, False),
    (1899, 12, 1, False),
    (2100, 1, 1, False),
    (0, 1, 1, False),
    (-5, 1, 1, False),
    (10_000, 1, 1, False),
]
MONTHS = [
    (2025, 1, False, "2025-01-29", "2025-02-27"),
    (2024, 12, False, "2024-12-31", "2025-01-28"),
    (2025, 12, False, "2026-01-19", "2026-02-16"),
    (2020, 4, False, "2020-04-23", "2020-05-22"),
    (2020, 4, True, "2020-05-23", "2020-06-20"),
    (2023, 2, True, "2023-03-22", "2023-04-19"),
]
QINGMING = {
    1943: 6, 1970: 5, 1976: 4, 1999: 5, 2000: 4, 2015: 5, 2016: 4, 2017: 4, 2018: 5, 2019: 5, 2020: 4,
    2021: 4, 2022: 5, 2023: 5, 2024: 4, 2025: 4, 2026: 5, 2027: 5, 2028: 4, 2029: 4, 2030: 5, 2088: 4,
}  # fmt: skip
WINTER_SOLSTICE = {
    1918: 22, 1970: 22, 1999: 22, 2000: 21, 2015: 22, 2016: 21, 2017: 22, 2018: 22, 2019: 22, 2020: 21,
    2021: 21, 2022: 22, 2023: 22, 2024: 21, 2025: 21, 2026: 22, 2027: 22, 2028: 21, 2029: 21, 2030: 22,
    2088: 21,
}  # fmt: skip


@pytest.mark.parametrize(("year", "month", "day", "leap", "expected"), DATES)
def test_a_lunar_date(year: int, month: int, day: int, leap: bool, expected: str) -> None:
    assert lunar_date(year, month, day, leap) == date.fromisoformat(expected)


@pytest.mark.parametrize(("year", "month", "day", "leap"), NO_DATES)
def test_a_day_that_the_calendar_does_not_have(year: int, month: int, day: int, leap: bool) -> None:
    assert lunar_date(year, month, day, leap) is None


@pytest.mark.parametrize(("year", "month", "leap", "first", "last"), MONTHS)
def test_a_lunar_month(year: int, month: int, leap: bool, first: str, last: str) -> None:
    assert lunar_month(year, month, leap) == (date.fromisoformat(first), date.fromisoformat(last))


@pytest.mark.parametrize(("year", "month", "leap"), [(2021, 5, True), (2020, 13, False), (2100, 1, False)])
def test_a_month_that_the_calendar_does_not_have(year: int, month: int, leap: bool) -> None:
    assert lunar_month(year, month, leap) is None


def test_months_follow_one_another_without_a_gap() -> None:
    day = date(1900, 1, 31)
    for year in range(1900, 2100):
        for month in range(1, 13):
            for leap in (False, True):
                if days := lunar_month(year, month, leap):
                    assert days[0] == day
                    day = days[1] + timedelta(days=1)
    assert day == date(2100, 2, 9)  # the new year of 2100


@pytest.mark.parametrize(("year", "day"), QINGMING.items())
def test_qingming(year: int, day: int) -> None:
    assert solar_term_qingming(year) == date(year, 4, day)


@pytest.mark.parametrize(("year", "day"), WINTER_SOLSTICE.items())
def test_winter_solstice(year: int, day: int) -> None:
    assert solar_term_winter_solstice(year) == date(year, 12, day)


def test_solar_terms_keep_to_their_three_days_and_to_their_years() -> None:
    for year in range(1900, 2200):
        qingming, solstice = solar_term_qingming(year), solar_term_winter_solstice(year)
        assert qingming is not None and date(year, 4, 4) <= qingming <= date(year, 4, 6)
        assert solstice is not None and date(year, 12, 21) <= solstice <= date(year, 12, 23)
    for year in (-1, 0, 1899, 2200, 10_000):
        assert solar_term_qingming(year) is solar_term_winter_solstice(year) is None


def test_the_winter_solstice_lies_in_the_eleventh_month() -> None:
    """The rule that fixes the months of the calendar."""
    for year in range(1950, 2030):
        solstice = solar_term_winter_solstice(year)
        months = [lunar_month(year, 11, leap) for leap in (False, True)]
        assert solstice and any(days and days[0] <= solstice <= days[1] for days in months)


def test_the_lunar_calendar_loads_on_use() -> None:
    program = (
        "import sys, huimem.when.holidays\nprint('lunardate' in sys.modules)\n"
        "huimem.when.holidays.HOLIDAYS['qixi'].day(2025)\nprint('lunardate' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]

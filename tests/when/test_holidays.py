"""Holidays against published calendars: days, periods, weekends, several years of each."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from datetime import date, timedelta

import pytest

from huimem.when.holidays import HOLIDAYS

YEARS = range(2024, 2031)

# identifier, its days (month-day) from 2024 to 2030
SEVEN_YEARS = [
    ("martin_luther_king", "01-15 01-20 01-19 01-18 01-17 01-15 01-21"),
    ("presidents_day", "02-19 02-17 02-16 02-15 02-21 02-19 02-18"),
    ("mothers_day", "05-12 05-11 05-10 05-09 05-14 05-13 05-12"),
    ("memorial_day", "05-27 05-26 05-25 05-31 05-29 05-28 05-27"),
    ("fathers_day", "06-16 06-15 06-21 06-20 06-18 06-17 06-16"),
    ("labor_day_us", "09-02 09-01 09-07 09-06 09-04 09-03 09-02"),
    ("columbus_day", "10-14 10-13 10-12 10-11 10-09 10-08 10-14"),
    ("canadian_thanksgiving", "10-14 10-13 10-12 10-11 10-09 10-08 10-14"),
    ("election_day_us", "11-05 11-04 11-03 11-02 11-07 11-06 11-05"),
    ("thanksgiving", "11-28 11-27 11-26 11-25 11-23 11-22 11-28"),
    ("black_friday", "11-29 11-28 11-27 11-26 11-24 11-23 11-29"),
    ("cyber_monday", "12-02 12-01 11-30 11-29 11-27 11-26 12-02"),
    ("giving_tuesday", "12-03 12-02 12-01 11-30 11-28 11-27 12-03"),
    ("mardi_gras", "02-13 03-04 02-17 02-09 02-29 02-13 03-05"),
    ("ash_wednesday", "02-14 03-05 02-18 02-10 03-01 02-14 03-06"),
    ("mothering_sunday", "03-10 03-30 03-15 03-07 03-26 03-11 03-31"),
    ("palm_sunday", "03-24 04-13 03-29 03-21 04-09 03-25 04-14"),
    ("maundy_thursday", "03-28 04-17 04-02 03-25 04-13 03-29 04-18"),
    ("good_friday", "03-29 04-18 04-03 03-26 04-14 03-30 04-19"),
    ("holy_saturday", "03-30 04-19 04-04 03-27 04-15 03-31 04-20"),
    ("easter", "03-31 04-20 04-05 03-28 04-16 04-01 04-21"),
    ("easter_monday", "04-01 04-21 04-06 03-29 04-17 04-02 04-22"),
    ("ascension", "05-09 05-29 05-14 05-06 05-25 05-10 05-30"),
    ("pentecost", "05-19 06-08 05-24 05-16 06-04 05-20 06-09"),
    ("whit_monday", "05-20 06-09 05-25 05-17 06-05 05-21 06-10"),
    ("laba", "01-18 01-07 01-26 01-15 01-04 01-22 01-11"),
    ("little_new_year", "02-02 01-22 02-10 01-30 01-19 02-06 01-26"),
    ("little_new_year_south", "02-03 01-23 02-11 01-31 01-20 02-07 01-27"),
    ("lunar_new_year_eve", "02-09 01-28 02-16 02-05 01-25 02-12 02-02"),
    ("spring_festival", "02-10 01-29 02-17 02-06 01-26 02-13 02-03"),
    ("lantern", "02-24 02-12 03-03 02-20 02-09 02-27 02-17"),
    ("cold_food", "04-03 04-03 04-04 04-04 04-03 04-03 04-04"),
    ("qingming", "04-04 04-04 04-05 04-05 04-04 04-04 04-05"),
    ("dragon_boat", "06-10 05-31 06-19 06-09 05-28 06-16 06-05"),
    ("qixi", "08-10 08-29 08-19 08-08 08-26 08-16 08-05"),
    ("ghost_festival", "08-18 09-06 08-27 08-16 09-03 08-24 08-13"),
    ("mid_autumn", "09-17 10-06 09-25 09-15 10-03 09-22 09-12"),
    ("double_ninth", "10-11 10-29 10-18 10-08 10-26 10-16 10-05"),
    ("winter_solstice", "12-21 12-21 12-22 12-22 12-21 12-21 12-22"),
]
OTHER_YEARS = [
    ("easter", "1583-04-10 1818-03-22 1943-04-25 1954-04-18 1961-04-02 1970-03-29 1981-04-19 1999-04-04"),
    ("easter", "2000-04-23 2008-03-23 2011-04-24 2019-04-21 2020-04-12 2038-04-25 2100-03-28 2199-04-14"),
    ("good_friday", "1970-03-27 1999-04-02 2000-04-21 2020-04-10 2100-03-26"),
    ("thanksgiving", "1970-11-26 1999-11-25 2000-11-23 2018-11-22 2019-11-28 2020-11-26 2100-11-25"),
    ("thanksgiving", "2199-11-28"),
    ("labor_day_us", "1970-09-07 1999-09-06 2000-09-04 2020-09-07 2100-09-06 2199-09-02"),
    ("memorial_day", "1999-05-31 2000-05-29 2020-05-25 2100-05-31 2199-05-27"),
    ("mothers_day", "1970-05-10 1999-05-09 2000-05-14 2020-05-10 2100-05-09 2199-05-12"),
    ("spring_festival", "1970-02-06 1999-02-16 2000-02-05 2012-01-23 2015-02-19 2020-01-25 2023-01-22"),
    ("lunar_new_year_eve", "1970-02-05 1999-02-15 2000-02-04 2020-01-24 2023-01-21"),
    ("lantern", "1999-03-02 2000-02-19 2020-02-08 2023-02-05"),
    ("dragon_boat", "1999-06-18 2000-06-06 2009-05-28 2020-06-25 2023-06-22"),
    ("qixi", "1999-08-17 2000-08-06 2020-08-25 2023-08-22"),
    ("ghost_festival", "2020-09-02 2023-08-30"),
    ("mid_autumn", "1970-09-15 1999-09-24 2000-09-12 2012-09-30 2020-10-01 2023-09-29"),
    ("double_ninth", "1999-10-17 2000-10-06 2020-10-25 2023-10-23"),
    ("qingming", "1970-04-05 1999-04-05 2000-04-04 2020-04-04 2100-04-05"),
]
SAME_EVERY_YEAR = [
    ("new_year", "01-01"), ("epiphany", "01-06"), ("burns_night", "01-25"), ("australia_day", "01-26"),
    ("groundhog_day", "02-02"), ("valentine", "02-14"), ("st_david", "03-01"), ("womens_day", "03-08"),
    ("arbor_day_cn", "03-12"), ("pi_day", "03-14"), ("white_day", "03-14"), ("consumer_day", "03-15"),
    ("st_patrick", "03-17"), ("april_fools", "04-01"), ("earth_day", "04-22"), ("st_george", "04-23"),
    ("book_day", "04-23"), ("anzac_day", "04-25"), ("workers_day", "05-01"), ("youth_day", "05-04"),
    ("cinco_de_mayo", "05-05"), ("nurses_day", "05-12"), ("love_day_cn", "05-20"), ("childrens_day", "06-01"),
    ("flag_day", "06-14"), ("shopping_618", "06-18"), ("juneteenth", "06-19"), ("party_day", "07-01"),
    ("canada_day", "07-01"), ("independence_day", "07-04"), ("bastille_day", "07-14"), ("army_day", "08-01"),
    ("doctors_day_cn", "08-19"), ("victory_day_cn", "09-03"), ("teachers_day", "09-10"),
    ("martyrs_day", "09-30"), ("national_day_cn", "10-01"), ("double_tenth", "10-10"),
    ("halloween", "10-31"), ("all_saints", "11-01"), ("all_souls", "11-02"), ("bonfire_night", "11-05"),
    ("journalists_day_cn", "11-08"), ("veterans_day", "11-11"), ("remembrance_day", "11-11"),
    ("singles_day", "11-11"), ("st_andrew", "11-30"), ("st_nicholas", "12-06"), ("double_twelve", "12-12"),
    ("nanjing_memorial_day", "12-13"), ("christmas_eve", "12-24"), ("christmas", "12-25"),
    ("boxing_day", "12-26"), ("new_year_eve", "12-31"), ("the_holidays", "12-24"),
]  # fmt: skip
# Lunar days that no other table names: 龙抬头, 上巳, 浴佛节, 寒衣节, 下元节 of 2024.
REST = [
    ("dragon_head", "2024-03-11"),
    ("shangsi", "2024-04-11"),
    ("buddha_birthday", "2024-05-15"),
    ("cold_clothes", "2024-11-01"),
    ("xiayuan", "2024-11-15"),
]
PERIODS = [
    ("spring_festival", 2026, "2026-02-16", "2026-02-23"),
    ("spring_festival", 2025, "2025-01-28", "2025-02-04"),
    ("spring_festival", 2023, "2023-01-21", "2023-01-28"),
    ("national_day_cn", 2025, "2025-10-01", "2025-10-07"),
    ("workers_day", 2025, "2025-05-01", "2025-05-05"),
    ("new_year", 2026, "2025-12-31", "2026-01-02"),
    ("qingming", 2026, "2026-04-04", "2026-04-06"),
    ("dragon_boat", 2025, "2025-05-30", "2025-06-01"),
    ("mid_autumn", 2025, "2025-10-05", "2025-10-07"),
    ("christmas", 2025, "2025-12-24", "2025-12-26"),
    ("the_holidays", 2025, "2025-12-24", "2026-01-01"),
    ("thanksgiving", 2025, "2025-11-27", "2025-11-30"),
    ("easter", 2026, "2026-04-03", "2026-04-06"),
    ("halloween", 2025, "2025-10-31", "2025-10-31"),
    ("lunar_new_year_eve", 2026, "2026-02-16", "2026-02-16"),
]
WEEKENDS = [
    ("easter", 2026, "2026-04-03", "2026-04-06"),
    ("thanksgiving", 2025, "2025-11-27", "2025-11-30"),
    ("labor_day_us", 2025, "2025-08-30", "2025-09-01"),
    ("memorial_day", 2026, "2026-05-23", "2026-05-25"),
    ("independence_day", 2022, "2022-07-02", "2022-07-04"),  # a Monday
    ("independence_day", 2023, "2023-07-01", "2023-07-04"),  # a Tuesday
    ("independence_day", 2018, "2018-07-04", "2018-07-08"),  # a Wednesday
    ("independence_day", 2024, "2024-07-04", "2024-07-07"),  # a Thursday
    ("independence_day", 2025, "2025-07-04", "2025-07-06"),  # a Friday
    ("independence_day", 2026, "2026-07-04", "2026-07-05"),  # a Saturday
    ("independence_day", 2021, "2021-07-03", "2021-07-04"),  # a Sunday
    ("mothers_day", 2026, "2026-05-09", "2026-05-10"),
    ("new_year", 2024, "2023-12-30", "2024-01-01"),
]
WITHIN = [
    ("laba", 2022, ["2022-01-10", "2022-12-30"]),
    ("laba", 2023, []),
    ("laba", 2024, ["2024-01-18"]),
    ("laba", 2026, ["2026-01-26"]),
    ("lunar_new_year_eve", 2026, ["2026-02-16"]),
    ("little_new_year", 2020, ["2020-01-17"]),
    ("spring_festival", 2023, ["2023-01-22"]),
    ("new_year", 2026, ["2026-01-01"]),
    ("new_year_eve", 2026, ["2026-12-31"]),
    ("dragon_boat", 2020, ["2020-06-25"]),
]
LUNAR = [
    "laba", "little_new_year", "little_new_year_south", "lunar_new_year_eve", "spring_festival", "lantern",
    "dragon_head", "shangsi", "buddha_birthday", "dragon_boat", "qixi", "ghost_festival", "mid_autumn",
    "double_ninth", "cold_clothes", "xiayuan",
]  # fmt: skip


def dates(text: str) -> list[date]:
    return [date.fromisoformat(day) for day in text.split()]


def both(first: str, last: str) -> tuple[date, date]:
    return date.fromisoformat(first), date.fromisoformat(last)


@pytest.mark.parametrize(("name", "days"), SEVEN_YEARS, ids=[name for name, _ in SEVEN_YEARS])
def test_days_of_seven_years(name: str, days: str) -> None:
    expected = [date.fromisoformat(f"{y}-{day}") for y, day in zip(YEARS, days.split(), strict=True)]
    assert [HOLIDAYS[name].day(year) for year in YEARS] == expected


@pytest.mark.parametrize(("name", "days"), [*OTHER_YEARS, *REST])
def test_days_of_other_years(name: str, days: str) -> None:
    expected = dates(days)
    assert [HOLIDAYS[name].day(day.year) for day in expected] == expected


@pytest.mark.parametrize(("name", "day"), SAME_EVERY_YEAR)
@pytest.mark.parametrize("year", [1970, 1999, 2000, 2020, 2026, 2100, 2199])
def test_days_that_never_move(name: str, day: str, year: int) -> None:
    assert HOLIDAYS[name].day(year) == date.fromisoformat(f"{year}-{day}")


def test_every_holiday_is_tested() -> None:
    tables = (SEVEN_YEARS, SAME_EVERY_YEAR, REST)
    assert {name for table in tables for name, _ in table} == {*HOLIDAYS}


@pytest.mark.parametrize(("name", "year", "first", "last"), PERIODS)
def test_the_whole_holiday(name: str, year: int, first: str, last: str) -> None:
    assert HOLIDAYS[name].period(year) == both(first, last)


@pytest.mark.parametrize(("name", "year", "first", "last"), WEEKENDS)
def test_its_weekend(name: str, year: int, first: str, last: str) -> None:
    assert HOLIDAYS[name].weekend(year) == both(first, last)


@pytest.mark.parametrize(("name", "year", "days"), WITHIN)
def test_days_within_a_year(name: str, year: int, days: list[str]) -> None:
    assert HOLIDAYS[name].days(year) == tuple(dates(" ".join(days)))


def test_a_laba_belongs_to_the_spring_festival_after_it() -> None:
    assert HOLIDAYS["laba"].day(2023) == date(2022, 12, 30)


def test_no_day_of_many_years_is_lost_or_told_twice() -> None:
    for holiday in HOLIDAYS.values():
        told = [day for year in range(1901, 2099) for day in holiday.days(year)]
        assert told == sorted({*told})
        assert len(told) in (197, 198, 199)


def test_which_bare_names_mean_the_period() -> None:
    long = {"spring_festival", "national_day_cn", "workers_day", "the_holidays"}
    assert {name for name, holiday in HOLIDAYS.items() if holiday.long} == long


@pytest.mark.parametrize("name", LUNAR)
@pytest.mark.parametrize("year", [1850, 2102, 2199, 9999])
def test_a_lunar_holiday_is_unknown_outside_the_calendar(name: str, year: int) -> None:
    holiday = HOLIDAYS[name]
    assert holiday.day(year) is holiday.period(year) is holiday.weekend(year) is None
    assert holiday.days(year) == ()


@pytest.mark.parametrize("name", HOLIDAYS)
@pytest.mark.parametrize("year", [-1, 0, 1, 9999, 10_000])
def test_no_year_is_refused(name: str, year: int) -> None:
    holiday = HOLIDAYS[name]
    days = [
        holiday.day(year),
        *holiday.days(year),
        *(holiday.period(year) or ()),
        *(holiday.weekend(year) or ()),
    ]
    assert all(day is None or abs(day.year - year) <= 1 for day in days)


def test_the_edges_of_the_calendar() -> None:
    assert HOLIDAYS["easter"].day(1582) is None
    assert HOLIDAYS["the_holidays"].period(9999) is None
    assert HOLIDAYS["new_year"].period(1) is None
    assert HOLIDAYS["new_year"].day(1) == date(1, 1, 1)


@pytest.mark.parametrize("name", HOLIDAYS)
def test_a_holiday_lies_inside_its_period_and_its_weekend(name: str) -> None:
    for year in range(1990, 2060):
        day, period, weekend = (
            HOLIDAYS[name].day(year),
            HOLIDAYS[name].period(year),
            HOLIDAYS[name].weekend(year),
        )
        assert day and period and weekend
        assert period[0] <= day <= period[1] and weekend[0] <= day <= weekend[1]
        held = {weekend[0] + timedelta(days=n) for n in range((weekend[1] - weekend[0]).days + 1)}
        assert {day.weekday() for day in held} >= {5, 6} and len(held) <= 5


def test_the_table_is_frozen() -> None:
    with pytest.raises(TypeError):
        HOLIDAYS["new_year"] = HOLIDAYS["easter"]  # type: ignore[index]
    with pytest.raises(FrozenInstanceError):
        HOLIDAYS["new_year"].long = True  # type: ignore[misc]

"""The Chinese calendar: lunar dates → dates, and the days of two solar terms. Pure."""

from __future__ import annotations

from datetime import date
from functools import lru_cache

# A term falls on day ⌊0.2422·y + C⌋ − ⌊y/4⌋ of its month, y the last two digits of the year: C for each
# century from 1900 on, and the years in which the formula errs by so many days.
_QINGMING: tuple[tuple[float, ...], dict[int, int]] = (5.59, 4.81, 5.02), {}
_WINTER_SOLSTICE = (22.66, 21.94, 22.18), {1918: -1, 2021: -1, 2190: 1}
_FIRST_TERM_YEAR = 1900


@lru_cache(maxsize=4096)
def lunar_date(year: int, month: int, day: int, leap: bool = False) -> date | None:
    """The date of a day of the lunar calendar; `leap` for the month that repeats `month`.

    `year` is the lunar year, named by the Gregorian year in which it begins. None where there is no
    such day (the 30th of a month of 29 days, a leap month in a year without it) and outside the
    calendar's known years, 1900–2099.
    """
    from lunardate import LunarDate

    try:
        found: date = LunarDate(year, month, day, leap).to_solar_date()
    except ValueError:
        return None
    return found


def lunar_month(year: int, month: int, leap: bool = False) -> tuple[date, date] | None:
    """First and last day of a lunar month (29 or 30 days); None where there is no such month."""
    first = lunar_date(year, month, 1, leap)
    last = lunar_date(year, month, 30, leap) or lunar_date(year, month, 29, leap)
    return (first, last) if first and last else None


def solar_term_qingming(year: int) -> date | None:
    """清明, the sun at 15°: 4, 5 or 6 April in China, 1900–2199; None outside these years.

    By the common formula of Chinese almanacs (通用寿星公式 [Y×D+C]−L: D = 0.2422, C = 5.59 in the 20th and
    4.81 in the 21st century). C of the 22nd is fitted to an ephemeris (the tables of 寿星天文历), which
    gives the same day in each of the 300 years.
    """
    return _term(year, 4, *_QINGMING)


def solar_term_winter_solstice(year: int) -> date | None:
    """冬至, the sun at 270°: 21, 22 or 23 December in China, 1900–2199; None outside these years.

    By the same formula with C = 21.94 in the 21st century and its published exceptions, 1918 and 2021.
    C of the 20th and 22nd is fitted to the same ephemeris: the published 22.60 errs in five years.
    """
    return _term(year, 12, *_WINTER_SOLSTICE)


def _term(year: int, month: int, constants: tuple[float, ...], errors: dict[int, int]) -> date | None:
    century, rest = divmod(year - _FIRST_TERM_YEAR, 100)
    if not 0 <= century < len(constants):
        return None
    return date(year, month, int(rest * 0.2422 + constants[century]) - rest // 4 + errors.get(year, 0))

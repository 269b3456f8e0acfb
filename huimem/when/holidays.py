"""Holidays by identifier: which day of a year each is, its period and its weekend. Pure.

Every holiday follows today's rule in all years, also before it was first kept. The names that people
give them belong to the languages and stand there.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, date, timedelta
from types import MappingProxyType

from huimem.when.lunar import lunar_date, solar_term_qingming, solar_term_winter_solstice

Rule = Callable[[int], date | None]
Days = tuple[date, date]
MONDAY, THURSDAY, SATURDAY, SUNDAY = 0, 3, 5, 6
_FIRST_EASTER = 1583  # the first of the Gregorian calendar


@dataclass(frozen=True, slots=True)
class Holiday:
    """A day of the year that has a name.

    `around` says how many days its period holds before and after the day, `weekend_around` the same
    for its weekend (None: the nearest Saturday and Sunday with the day itself). `long`: its bare name,
    where the language has long holidays (Chinese), means the period and not the day.
    """

    rule: Rule
    around: tuple[int, int] = (0, 0)
    weekend_around: tuple[int, int] | None = None
    long: bool = False

    def day(self, year: int) -> date | None:
        """The day that people call this holiday of `year`; None where the calendar has none.

        It may fall just outside the Gregorian year: days of the last lunar month belong to the spring
        festival that follows them.
        """
        return self.rule(year) if MINYEAR <= year <= MAXYEAR else None

    def days(self, year: int) -> tuple[date, ...]:
        """All its days within the Gregorian year, in order: mostly one, 腊八 none to two."""
        named = (self.day(year), self.day(year + 1))
        return tuple(day for day in named if day is not None and day.year == year)

    def period(self, year: int) -> Days | None:
        """First and last day of the whole holiday of `year`, both inside."""
        day = self.day(year)
        return _around(day, self.around) if day else None

    def weekend(self, year: int) -> Days | None:
        """First and last day of its weekend, the holiday itself inside: never longer than five days."""
        day = self.day(year)
        return _around(day, self.weekend_around or _to_weekend(day)) if day else None


def _around(day: date, around: tuple[int, int]) -> Days | None:
    try:
        return day - timedelta(days=around[0]), day + timedelta(days=around[1])
    except OverflowError:
        return None


def _to_weekend(day: date) -> tuple[int, int]:
    """Days back and on from `day` to the far end of the nearest weekend; a Wednesday looks ahead."""
    weekday = day.weekday()
    if weekday >= SATURDAY:
        return weekday - SATURDAY, SUNDAY - weekday
    return (weekday + 2, 0) if weekday < 2 else (0, SUNDAY - weekday)


def fixed(month: int, day: int) -> Rule:
    return lambda year: date(year, month, day)


def counted(number: int, weekday: int, month: int) -> Rule:
    """The first, second … such weekday of the month; the last for −1."""

    def rule(year: int) -> date:
        if number < 0:
            last = date(year, month, monthrange(year, month)[1])
            return last - timedelta(days=(last.weekday() - weekday) % 7)
        first = date(year, month, 1)
        return first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (number - 1))

    return rule


def shifted(rule: Rule, days: int) -> Rule:
    """So many days after the day of another rule."""

    def moved(year: int) -> date | None:
        day = rule(year)
        return day + timedelta(days=days) if day else None

    return moved


def lunar(month: int, day: int) -> Rule:
    """A day of the lunar year that begins in the year; never in a leap month."""
    return lambda year: lunar_date(year, month, day)


def before_spring_festival(month: int, day: int) -> Rule:
    """A day of the lunar year that ends with the spring festival of the year."""
    return lambda year: lunar_date(year - 1, month, day)


def easter_sunday(year: int) -> date | None:
    """Western Easter by the Gregorian computus (Knuth, The Art of Computer Programming 1.3.2, ex. 14)."""
    if year < _FIRST_EASTER:
        return None
    golden, century = year % 19 + 1, year // 100 + 1
    skipped_leap_years = 3 * century // 4 - 12
    moon_correction = (8 * century + 5) // 25 - 5
    sunday = 5 * year // 4 - skipped_leap_years - 10
    epact = (11 * golden + 20 + moon_correction - skipped_leap_years) % 30
    if epact == 24 or (epact == 25 and golden > 11):
        epact += 1
    full_moon = 44 - epact if epact <= 23 else 74 - epact  # as a day of March
    return date(year, 3, 1) + timedelta(days=full_moon + 6 - (sunday + full_moon) % 7)


_SPRING_FESTIVAL = lunar(1, 1)
_THANKSGIVING = counted(4, THURSDAY, 11)
_A_DAY_EACH_SIDE = (1, 1)

CHRISTIAN = {
    "epiphany": Holiday(fixed(1, 6)),
    "mardi_gras": Holiday(shifted(easter_sunday, -47)),
    "ash_wednesday": Holiday(shifted(easter_sunday, -46)),
    "mothering_sunday": Holiday(shifted(easter_sunday, -21)),
    "palm_sunday": Holiday(shifted(easter_sunday, -7)),
    "maundy_thursday": Holiday(shifted(easter_sunday, -3)),
    "good_friday": Holiday(shifted(easter_sunday, -2)),
    "holy_saturday": Holiday(shifted(easter_sunday, -1)),
    "easter": Holiday(easter_sunday, around=(2, 1), weekend_around=(2, 1)),
    "easter_monday": Holiday(shifted(easter_sunday, 1)),
    "ascension": Holiday(shifted(easter_sunday, 39)),
    "pentecost": Holiday(shifted(easter_sunday, 49)),
    "whit_monday": Holiday(shifted(easter_sunday, 50)),
    "all_saints": Holiday(fixed(11, 1)),
    "all_souls": Holiday(fixed(11, 2)),
    "st_nicholas": Holiday(fixed(12, 6)),
    "christmas_eve": Holiday(fixed(12, 24)),
    "christmas": Holiday(fixed(12, 25), around=_A_DAY_EACH_SIDE),
    "boxing_day": Holiday(fixed(12, 26)),
}
AMERICAN = {
    "martin_luther_king": Holiday(counted(3, MONDAY, 1)),
    "groundhog_day": Holiday(fixed(2, 2)),
    "presidents_day": Holiday(counted(3, MONDAY, 2)),
    "cinco_de_mayo": Holiday(fixed(5, 5)),
    "memorial_day": Holiday(counted(-1, MONDAY, 5)),
    "flag_day": Holiday(fixed(6, 14)),
    "juneteenth": Holiday(fixed(6, 19)),
    "independence_day": Holiday(fixed(7, 4)),
    "labor_day_us": Holiday(counted(1, MONDAY, 9)),
    "columbus_day": Holiday(counted(2, MONDAY, 10)),
    "election_day_us": Holiday(shifted(counted(1, MONDAY, 11), 1)),
    "veterans_day": Holiday(fixed(11, 11)),
    "thanksgiving": Holiday(_THANKSGIVING, around=(0, 3), weekend_around=(0, 3)),
    "black_friday": Holiday(shifted(_THANKSGIVING, 1)),
    "cyber_monday": Holiday(shifted(_THANKSGIVING, 4)),
    "giving_tuesday": Holiday(shifted(_THANKSGIVING, 5)),
}
COMMON = {
    "new_year": Holiday(fixed(1, 1), around=_A_DAY_EACH_SIDE),
    "valentine": Holiday(fixed(2, 14)),
    "womens_day": Holiday(fixed(3, 8)),
    "pi_day": Holiday(fixed(3, 14)),
    "white_day": Holiday(fixed(3, 14)),
    "st_patrick": Holiday(fixed(3, 17)),
    "april_fools": Holiday(fixed(4, 1)),
    "earth_day": Holiday(fixed(4, 22)),
    "book_day": Holiday(fixed(4, 23)),
    "nurses_day": Holiday(fixed(5, 12)),
    "mothers_day": Holiday(counted(2, SUNDAY, 5)),
    "fathers_day": Holiday(counted(3, SUNDAY, 6)),
    "halloween": Holiday(fixed(10, 31)),
    "new_year_eve": Holiday(fixed(12, 31)),
    # "The holidays" are a period without a day of their own, so every name of it means the period.
    "the_holidays": Holiday(fixed(12, 24), around=(0, 8), long=True),
}
OTHER_COUNTRIES = {
    "burns_night": Holiday(fixed(1, 25)),
    "australia_day": Holiday(fixed(1, 26)),
    "st_david": Holiday(fixed(3, 1)),
    "st_george": Holiday(fixed(4, 23)),
    "anzac_day": Holiday(fixed(4, 25)),
    "canada_day": Holiday(fixed(7, 1)),
    "bastille_day": Holiday(fixed(7, 14)),
    "canadian_thanksgiving": Holiday(counted(2, MONDAY, 10)),
    "bonfire_night": Holiday(fixed(11, 5)),
    "remembrance_day": Holiday(fixed(11, 11)),
    "st_andrew": Holiday(fixed(11, 30)),
}
CHINESE = {
    "arbor_day_cn": Holiday(fixed(3, 12)),
    "consumer_day": Holiday(fixed(3, 15)),
    "cold_food": Holiday(shifted(solar_term_qingming, -1)),
    "qingming": Holiday(solar_term_qingming, around=_A_DAY_EACH_SIDE),
    "workers_day": Holiday(fixed(5, 1), around=(0, 4), long=True),
    "youth_day": Holiday(fixed(5, 4)),
    "love_day_cn": Holiday(fixed(5, 20)),
    "childrens_day": Holiday(fixed(6, 1)),
    "shopping_618": Holiday(fixed(6, 18)),
    "party_day": Holiday(fixed(7, 1)),
    "army_day": Holiday(fixed(8, 1)),
    "doctors_day_cn": Holiday(fixed(8, 19)),
    "victory_day_cn": Holiday(fixed(9, 3)),
    "teachers_day": Holiday(fixed(9, 10)),
    "martyrs_day": Holiday(fixed(9, 30)),
    "national_day_cn": Holiday(fixed(10, 1), around=(0, 6), long=True),
    "double_tenth": Holiday(fixed(10, 10)),
    "journalists_day_cn": Holiday(fixed(11, 8)),
    "singles_day": Holiday(fixed(11, 11)),
    "double_twelve": Holiday(fixed(12, 12)),
    "nanjing_memorial_day": Holiday(fixed(12, 13)),
    "winter_solstice": Holiday(solar_term_winter_solstice),
}
LUNAR = {
    "laba": Holiday(before_spring_festival(12, 8)),
    "little_new_year": Holiday(before_spring_festival(12, 23)),
    "little_new_year_south": Holiday(before_spring_festival(12, 24)),
    "lunar_new_year_eve": Holiday(shifted(_SPRING_FESTIVAL, -1)),
    "spring_festival": Holiday(_SPRING_FESTIVAL, around=(1, 6), long=True),
    "lantern": Holiday(lunar(1, 15)),
    "dragon_head": Holiday(lunar(2, 2)),
    "shangsi": Holiday(lunar(3, 3)),
    "buddha_birthday": Holiday(lunar(4, 8)),
    "dragon_boat": Holiday(lunar(5, 5), around=_A_DAY_EACH_SIDE),
    "qixi": Holiday(lunar(7, 7)),
    "ghost_festival": Holiday(lunar(7, 15)),
    "mid_autumn": Holiday(lunar(8, 15), around=_A_DAY_EACH_SIDE),
    "double_ninth": Holiday(lunar(9, 9)),
    "cold_clothes": Holiday(lunar(10, 1)),
    "xiayuan": Holiday(lunar(10, 15)),
}

HOLIDAYS: Mapping[str, Holiday] = MappingProxyType(
    {**COMMON, **CHRISTIAN, **AMERICAN, **OTHER_COUNTRIES, **CHINESE, **LUNAR}
)

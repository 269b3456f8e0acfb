"""English: the names of holidays, and which one of them is meant."""

from __future__ import annotations

from typing import Any

from huimem.when.expressions import Ago, Expression, Festival, MonthDay, WeekOf, Which, Within
from huimem.when.grammar import Rule
from huimem.when.making import which, word

# Holidays by identifier: a pattern of all that they are called.
_NAMES = {
    "christmas": "(christmas day|time?)|christmastime",
    "christmas_eve": "christmas eve",
    "boxing_day": "boxing day",
    "new_year_eve": "nye|(new years|year '|'s? eve)",
    "new_year": "(new years|year '|'s? day?)",
    "halloween": "halloween|hallowe'en",
    "valentine": "(valentines day?)|(st? valentine 's day?)|(valentine day)",
    "easter": "easter sunday|day?",
    "good_friday": "good friday",
    "easter_monday": "easter monday",
    "palm_sunday": "palm sunday",
    "ash_wednesday": "ash wednesday",
    "mardi_gras": "(mardi gras)|(shrove|fat tuesday)|(pancake day)",
    "pentecost": "pentecost|(whit sunday)",
    "whit_monday": "whit monday",
    "ascension": "ascension day",
    "all_saints": "all saints|saint '|'s? day",
    "thanksgiving": "thanksgiving day?",
    "canadian_thanksgiving": "canadian thanksgiving",
    "black_friday": "black friday",
    "cyber_monday": "cyber monday",
    "giving_tuesday": "giving tuesday",
    "labor_day_us": "labor|labour day",
    "memorial_day": "memorial day",
    "independence_day": "(independence day)|(the? <ordinal> of july)",
    "juneteenth": "juneteenth",
    "flag_day": "flag day",
    "groundhog_day": "groundhog day",
    "martin_luther_king": "mlk|(martin luther king '|'s?) day",
    "presidents_day": "presidents|president '|'s? day",
    "veterans_day": "veterans|veteran '|'s? day",
    "columbus_day": "columbus day",
    "election_day_us": "election day",
    "cinco_de_mayo": "cinco de mayo",
    "mothers_day": "mothers|mother '|'s? day",
    "fathers_day": "fathers|father '|'s? day",
    "earth_day": "earth day",
    "pi_day": "pi day",
    "st_patrick": "st|saint? patrick|patricks|paddy|paddys 's? day",
    "april_fools": "april fool|fools '|'s? day?",
    "womens_day": "international? women|womens '|'s? day",
    "workers_day": "(may day)|(international workers|worker '|'s? day)",
    "burns_night": "burns night",
    "australia_day": "australia day",
    "anzac_day": "anzac day",
    "canada_day": "canada day",
    "bastille_day": "bastille day",
    "bonfire_night": "(bonfire night)|(guy fawkes night|day)",
    "remembrance_day": "remembrance|armistice day",
    "singles_day": "singles|single '|'s? day",
    "spring_festival": "(chinese|lunar new year '|'s? day?)|(spring festival)",
    "lunar_new_year_eve": "chinese|lunar new year '|'s? eve",
    "lantern": "lantern festival",
    "dragon_boat": "dragon boat festival",
    "qixi": "qixi festival?",
    "mid_autumn": "(mid -? autumn)|moon festival",
    "double_ninth": "double ninth festival",
    "qingming": "(qingming festival?)|(tomb sweeping day)",
    "winter_solstice": "the? winter solstice",
}


def _named(identifier: str) -> Any:
    """The fourth of July is a holiday, the third is none."""

    def make(number: int | None = None) -> Expression | None:
        return Festival(identifier) if number in (None, 4) else None

    return make


HOLIDAYS = [Rule(names, "holiday", _named(identifier)) for identifier, names in _NAMES.items()]


def _as(form: Any) -> Any:
    def make(holiday: Expression) -> Expression | None:
        return Festival(holiday.name, form) if isinstance(holiday, Festival) else None

    return make


def _of_year(form: Any) -> Any:
    def make(holiday: Expression, year: Expression) -> Expression | None:
        return Within(year, Festival(holiday.name, form)) if isinstance(holiday, Festival) else None

    return make


def _year_first(year: Expression, holiday: Expression) -> Expression:
    return Within(year, holiday)


def _fourth_of_july(date: Expression) -> Expression | None:
    return Festival("independence_day", "weekend") if date == MonthDay(7, 4) else None


LORE = [
    Rule("<holiday> <lore>", "word", word),
]
_HOLIDAYS = Festival("the_holidays", "period")
HOLIDAY_DAYS = [
    Rule("the? <which> <holiday>", "day", which),
    Rule("the|this? past <holiday>", "day", lambda holiday: Which(holiday, "last")),
    Rule("the? <holiday> before last", "day", lambda holiday: Which(holiday, "last", 1)),
    Rule("<holiday> of|in|,? <some year>", "day", lambda holiday, year: Within(year, holiday)),
    Rule("<some year> 's? at|on|for? <holiday>", "day", _year_first),
    Rule("the? <holiday> weekend of|in|,? <some year>", "weekend", _of_year("weekend")),
    Rule("over the? <holiday> (holiday|holidays|period|break|season)?", "period", _as("period")),
    Rule("over the? <holiday> of|in|,? <some year>", "period", _of_year("period")),
    Rule("over? the? <holiday> weekend", "weekend", _as("weekend")),
    Rule("<holiday> <count> years|year|yrs ago", "day", (
        lambda holiday, n: Within(Ago(((n, "year"),)), holiday))),
    Rule("the? <holiday> week !-", "period", WeekOf),
    Rule("the? <bare date> weekend", "weekend", _fourth_of_july),
    Rule("the? <holiday> holiday|holidays|period|break|season", "period", _as("period")),
    Rule("the? <holiday> holiday|holidays|period|break|season of|in|,? <some year>", "period", (
        _of_year("period"))),
    Rule("the|these|over|this holidays", "period", lambda: _HOLIDAYS),
    Rule("the holiday season", "period", lambda: _HOLIDAYS),
]  # fmt: skip
